//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use netkit_quantize::range::Method;

/// Inspects, runs, tests and measures neural networks in .nk files.
#[derive(Debug, Parser)]
#[command(name = "netkit", version, arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colors; NO_COLOR=1 in the environment turns them off
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

const AFTER_HELP: &str = "\
A relative MODEL path that is not found is tried once more in the parent folder.

Exit codes: 0 done, 1 a test failed or a check found something, 2 wrong usage, 3 a file that cannot be read, written or used, 4 a model that has no .nk form, or no int8 form.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Turn an ONNX or TensorFlow Lite model into a .nk model with the same answers, and prove it
    Convert(ConvertArgs),
    /// Turn a float model into an int8 model, and tell layer by layer what that costs
    Quantize(QuantizeArgs),
    /// Describe a model: layers, memory, tensors
    Inspect(InspectArgs),
    /// Run a model on one or many inputs and print the outputs
    Run(RunArgs),
    /// Run the test cases that models carry
    Test(TestArgs),
    /// Measure how long a model takes
    Bench(BenchArgs),
    /// Turn a model into C source for firmware: code that needs no library, or data for the library
    Aot(AotArgs),
}

impl Command {
    /// The word that chooses it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Convert(_) => "convert",
            Command::Quantize(_) => "quantize",
            Command::Inspect(_) => "inspect",
            Command::Run(_) => "run",
            Command::Test(_) => "test",
            Command::Bench(_) => "bench",
            Command::Aot(_) => "aot",
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// The .nk file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Also show each layer's output shape, parameters, MACs and bytes of weights, and their totals
    #[arg(long)]
    pub(crate) layers: bool,
    /// Also show the memory that the model needs and the steps of its plan; nothing is run
    #[arg(long)]
    pub(crate) full: bool,
    /// Also show header, sections, layers, tensors, quantization and test cases
    #[arg(long)]
    pub(crate) tensors: bool,
    /// Check the whole model and name everything that is wrong; exit code 1 when something is
    #[arg(long, conflicts_with_all = ["full", "tensors", "layers", "json", "svg", "memory_svg"])]
    pub(crate) check: bool,
    /// Draw the network to this file
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw the plan of the activations to this file: steps against addresses
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) memory_svg: Option<PathBuf>,
    /// Print one JSON document (schema netkit.inspect/1)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The .nk file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Input values: numbers such as 1,2.5,-3e4, or a file: x.npy, x.npz, x.npz:NAME, x.png, or @x.f32 for raw
    /// little-endian float32; int8 models quantize them. An array may hold many inputs, which its first axis counts, and
    /// the option may be given more than once: a batch, which has as many outputs
    #[arg(short = 'i', long = "input", value_name = "VALUES|FILE|@FILE", allow_hyphen_values = true, required = true)]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// File for the output: y.npy, or @y.f32 for raw little-endian float32
    #[arg(short, long, value_name = "FILE.npy|@FILE")]
    pub(crate) output: Option<String>,
    /// Take and give the integers of an int8 model as they are: numbers, x.npy of int8, or @x.i8
    #[arg(long, conflicts_with_all = ["scale", "mean", "std"])]
    pub(crate) raw: bool,
    /// Print the K largest outputs instead of all
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: Option<u32>,
    /// Names of the outputs, one on each line
    #[arg(long, value_name = "FILE", requires = "top")]
    pub(crate) labels: Option<PathBuf>,
    /// Print only the output values, joined with commas, a line for each input
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON document (schema netkit.run/1)
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is done with input values first: `(value * scale - mean) / std`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PrepareArgs {
    /// Multiply input values, such as 0.5 or 1/255; without it 1/255 for images and 1 for all else
    #[arg(long, value_name = "X", value_parser = factor, allow_hyphen_values = true)]
    pub(crate) scale: Option<f32>,
    /// Then subtract this, one number or one for each channel
    #[arg(long, value_name = "X,...", value_parser = number, value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) mean: Vec<f32>,
    /// Then divide by this, one number or one for each channel
    #[arg(long, value_name = "X,...", value_parser = number, value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) std: Vec<f32>,
    /// Order of arrays and values [default: nhwc]
    #[arg(long, value_enum, value_name = "ORDER")]
    pub(crate) layout: Option<Layout>,
}

impl PrepareArgs {
    /// The order of arrays and values.
    pub(crate) fn layout(&self) -> Layout {
        self.layout.unwrap_or_default()
    }

    /// True when values are changed, not only their order.
    pub(crate) fn changes_values(&self) -> bool {
        self.scale.is_some() || !self.mean.is_empty() || !self.std.is_empty()
    }
}

/// Order of the axes of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// Height, width, channels: as models take it
    #[default]
    Nhwc,
    /// Channels, height, width
    Nchw,
}

fn number(text: &str) -> Result<f32, String> {
    let value = text.trim().parse().ok().filter(|value: &f32| value.is_finite());
    value.ok_or_else(|| "must be a number".to_owned())
}

/// A number or a fraction.
fn factor(text: &str) -> Result<f32, String> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    let value = number(above)? / number(below)?;
    if value.is_finite() { Ok(value) } else { Err("must be a number or a fraction such as 1/255".to_owned()) }
}

#[derive(Debug, clap::Args)]
pub(crate) struct TestArgs {
    /// The .nk files
    #[arg(value_name = "MODEL", required = true)]
    pub(crate) models: Vec<PathBuf>,
    /// Print long tensors too; NETKIT_REGRESSION_VERBOSE=1 or 0 decides when neither -v nor -q is given
    #[arg(short, long, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,
    /// Compare each output of int8 models too, within the file's tolerance or one step, not only the class
    #[arg(long)]
    pub(crate) strict: bool,
    /// Compare the output of each layer with DIR/layer_INDEX.npy or DIR/INDEX_name.npy, for the first test case
    #[arg(long, value_name = "DIR", conflicts_with_all = ["strict", "verbose", "quiet", "json"])]
    pub(crate) per_layer: Option<PathBuf>,
    /// Take this input instead of the first test case, in any form that `netkit run` takes
    #[arg(short, long, value_name = "VALUES|FILE|@FILE", allow_hyphen_values = true, requires = "per_layer")]
    pub(crate) input: Option<String>,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Largest difference of a layer; that of the test section if not given
    #[arg(long, value_name = "X", value_parser = number, requires = "per_layer")]
    pub(crate) tolerance: Option<f32>,
    /// Print only what failed, and the counts
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON document (schema netkit.test/1)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// The .nk file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Measure for this long; 1 without --runs
    #[arg(long, value_name = "S", value_parser = seconds, conflicts_with = "runs")]
    pub(crate) seconds: Option<f64>,
    /// Measure this many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4_194_304))]
    pub(crate) runs: Option<u32>,
    /// Also measure each layer, in as many runs again
    #[arg(long)]
    pub(crate) per_layer: bool,
    /// Read weights where they lie in the file, as in an arena without room for packed ones
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Print one JSON document (schema netkit.bench/1)
    #[arg(long)]
    pub(crate) json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let is_fit = |value: &f64| *value > 0.0 && *value <= 3600.0;
    text.parse().ok().filter(is_fit).ok_or_else(|| "must be above 0 and at most 3600".to_owned())
}

#[derive(Debug, Default, clap::Args)]
pub(crate) struct ConvertArgs {
    /// The .onnx or .tflite file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The file to write; default: the model's name with .nk
    #[arg(short = 'o', long = "out", value_name = "FILE.nk")]
    pub(crate) output: Option<PathBuf>,
    /// Shape of an input that the file leaves open: image=1,3,224,224, or only the numbers
    #[arg(long = "input-shape", value_name = "[NAME=]EXTENTS")]
    pub(crate) input_shapes: Vec<String>,
    /// Extent of a named dimension that the file leaves open: height=224
    #[arg(long = "dim", value_name = "NAME=EXTENT")]
    pub(crate) dimensions: Vec<String>,
    /// Convert up to this tensor instead of the output of the file
    #[arg(long = "output", value_name = "NAME")]
    pub(crate) outputs: Vec<String>,
    /// Keep linear layers in a row apart instead of multiplying them
    #[arg(long)]
    pub(crate) no_optimize: bool,
    /// Compute residual sums that no block has with up to three times the channels
    #[arg(long)]
    pub(crate) lower_residual: bool,
    /// Write without comparing with the source model
    #[arg(long)]
    pub(crate) no_verify: bool,
    /// Largest accepted difference, relative to the largest output [default: 1e-4; 1e-3 if approximated; 0 for int8]
    #[arg(long, value_name = "X")]
    pub(crate) tolerance: Option<f64>,
    /// Start of the random inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Embed this many test cases with answers of the source model
    #[arg(long, value_name = "N", conflicts_with = "tests", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) embed_tests: Option<u8>,
    /// Embed these test cases: arrays inputs, outputs and maybe labels, one case per row
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) tests: Option<PathBuf>,
    /// Form of the report; json has schema netkit.convert/1
    #[arg(long, value_enum, value_name = "FORM", default_value_t = ReportForm::Text)]
    pub(crate) report: ReportForm,
    /// Tell for each node of the source which layers compute it
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuantizeArgs {
    /// The float .nk file, or an .onnx file, which is converted first
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// The file to write
    #[arg(short = 'o', long = "out", value_name = "FILE.nk")]
    pub(crate) output: PathBuf,
    /// Inputs as the model will see them, one sample per row or image: a folder of PNG images, x.npy, x.npz, x.npz:NAME,
    /// x.csv, or @x.f32 for raw little-endian float32; in the order of the .onnx file if MODEL is one, unless --layout says
    /// otherwise
    #[arg(long, value_name = "DIR|FILE|@FILE")]
    pub(crate) calib: String,
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// How ranges are chosen: minmax, percentile, percentile=99.9 or mse
    #[arg(long, value_name = "METHOD", value_parser = method, default_value = "minmax")]
    pub(crate) method: Method,
    /// One weight scale for each tensor instead of one for each output channel
    #[arg(long)]
    pub(crate) per_tensor: bool,
    /// Take this many samples, drawn at random if there are more
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) samples: u32,
    /// Start of the random draw
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Right class of each sample, one number on each line: tells the accuracy of both models
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// Embed the first N samples as test cases with the answers of the int8 model; with --labels, those that it reads
    /// correctly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) embed_tests: Option<u8>,
    /// Print one JSON document (schema netkit.quantize/1)
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AotArgs {
    /// The .nk file
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Folder for the files, which is made if it is not there
    #[arg(short = 'o', long = "out", value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// What the files hold
    #[arg(long, value_enum, value_name = "MODE", default_value_t = AotMode::Lowered)]
    pub(crate) mode: AotMode,
    /// Begin all names with this instead of the name of the file
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Whose memory a lowered network computes in [default: static]
    #[arg(long, value_enum, value_name = "WHOSE")]
    pub(crate) scratch: Option<AotScratch>,
    /// Add the function NAME_selftest, which runs the embedded test cases and returns how many fail
    #[arg(long)]
    pub(crate) with_test: bool,
    /// Add a program that runs the network once, compiled where NETKIT_AOT_MAIN is defined
    #[arg(long)]
    pub(crate) main: bool,
    /// Write a library folder of the Arduino IDE, with a sketch
    #[arg(long, conflicts_with = "main")]
    pub(crate) arduino: bool,
    /// Print one JSON document (schema netkit.aot/1)
    #[arg(long)]
    pub(crate) json: bool,
}

/// What becomes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AotMode {
    /// C99 that needs nothing but a compiler
    Lowered,
    /// The bytes of the model as an array, and the calls of the library
    Embed,
}

/// Whose memory a network computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AotScratch {
    /// An array of its own
    Static,
    /// The caller hands it over with each run
    Caller,
}

/// `minmax`, `mse`, or `percentile` with a number of percent.
fn method(text: &str) -> Result<Method, String> {
    let percent = match text {
        "minmax" => return Ok(Method::MinMax),
        "mse" => return Ok(Method::Mse),
        "percentile" => 99.99,
        _ => text.strip_prefix("percentile=").and_then(|number| number.parse().ok()).unwrap_or(f64::NAN),
    };
    if (50.0..=100.0).contains(&percent) {
        return Ok(Method::Percentile(1.0 - percent / 100.0));
    }
    Err("must be minmax, mse, percentile or percentile=P with P from 50 to 100".to_owned())
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportForm {
    /// For people
    #[default]
    Text,
    /// One document
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal that can show them
    Auto,
    /// Also in pipes and files
    Always,
    /// Never
    Never,
}

impl Color {
    /// Makes this the choice for both streams of the process.
    pub(crate) fn apply(self) {
        let choice = match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}
