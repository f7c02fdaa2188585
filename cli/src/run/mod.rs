//! `netkit run`: inputs through a model.
//!
//! ```text
//! tensor.rs   inputs and outputs for people, files and JSON
//! ```

mod tensor;

use std::io::Write;

use netkit::format::quant::QuantParams;
use netkit::text::Dims;
use netkit::{Error, ErrorKind, MemoryPlan, Model, Network};
use serde::Serialize;

use crate::args::RunArgs;
use crate::codes;
use crate::failure::{Failure, Outcome, display, warn};
use crate::input::{self, Inputs, Kind, ValueFile};
use crate::model_file::ModelFile;
use crate::output::{Output, escaped};
use crate::progress::Progress;
use crate::top::{self, Top};

pub(crate) use tensor::{JsonFloat, shortest};
use tensor::{Tensor, Tensors};

/// The document of `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    path: String,
    name: &'a str,
    kernels: &'static str,
    #[serde(flatten)]
    answers: Answers,
    output_file: Option<String>,
}

/// The answer to one input stands in the document itself, those to a batch in a list.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Answers {
    One(Answer),
    Batch { results: Vec<Answer> },
}

#[derive(Debug, Serialize)]
struct Answer {
    input: Tensor,
    output: Tensor,
    /// With `--top`.
    #[serde(skip_serializing_if = "Option::is_none")]
    top: Option<Vec<Top>>,
}

pub(crate) fn execute(args: &RunArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let target = args.output.as_deref().map(output_file).transpose()?;
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    let plan = MemoryPlan::of(&model).map_err(|error| file.failure(&error))?;
    let (inputs, outputs) = match (plan.input_quant, plan.output_quant) {
        (Some(input), Some(output)) => run_int8(&file, &model, &plan, args, (input, output))?,
        _ => run_float(&file, &model, &plan, args)?,
    };
    if let Some(target) = &target {
        outputs.write(target, args.raw)?;
    }
    let answers = answers(&inputs, &outputs, args)?;
    let target = target.as_ref().map(|target| display(target.path()));
    if args.json {
        out.json(&Report {
            schema: "netkit.run/1",
            path: display(&file.path),
            name: &file.name,
            kernels: netkit::kernels::active_level().name(),
            answers,
            output_file: target,
        })?;
    } else if args.quiet {
        answers.print_quiet(args.raw, target.is_none(), out)?;
    } else {
        let mut summary = String::new();
        // Writing to a string cannot fail.
        let _ = netkit::summary::write(&model, &escaped(&file.name), &mut summary);
        writeln!(out, "{summary}")?;
        answers.print(args.raw, target.is_none(), out)?;
        if let Some(path) = target {
            writeln!(out, "Output: shape={} written to {}", Dims(&outputs.whole_shape()), escaped(&path))?;
        }
    }
    Ok(Outcome::Done)
}

/// Each input with its output.
fn answers(inputs: &Tensors, outputs: &Tensors, args: &RunArgs) -> Result<Answers, Failure> {
    let labels = args.labels.as_deref().map(|path| top::read_labels(path, outputs.elements())).transpose()?;
    let top = |output: &Tensor| Some(top::largest(&output.values, args.top? as usize, labels.as_deref()));
    let answer = |(input, output)| Answer { top: top(&output), input, output };
    let mut results: Vec<Answer> = inputs.split().zip(outputs.split()).map(answer).collect();
    Ok(match (inputs.is_batch(), results.len()) {
        (false, 1) => Answers::One(results.remove(0)),
        _ => Answers::Batch { results },
    })
}

impl Answers {
    /// Each answer, with the number of its input in a batch.
    fn numbered(&self) -> impl Iterator<Item = (Option<usize>, &Answer)> {
        let (answers, is_batch) = match self {
            Self::One(answer) => (std::slice::from_ref(answer), false),
            Self::Batch { results } => (&results[..], true),
        };
        answers.iter().enumerate().map(move |(index, answer)| (is_batch.then_some(index), answer))
    }

    /// A block for each input: its values, and those of the output or the largest.
    fn print(&self, raw: bool, with_output: bool, out: &mut Output) -> Result<(), Failure> {
        for (number, answer) in self.numbered() {
            let [input, output] =
                ["Input", "Output"].map(|label| number.map_or(label.to_owned(), |number| format!("{label}[{number}]")));
            if number.is_some_and(|number| number > 0) {
                writeln!(out)?;
            }
            answer.input.print(&input, raw, out)?;
            match &answer.top {
                None if with_output => answer.output.print(&output, raw, out)?,
                None => {}
                Some(top) => {
                    if with_output {
                        writeln!(out, "{output}: shape={}", Dims(&answer.output.shape))?;
                    }
                    top::print(top, out)?;
                }
            }
        }
        Ok(())
    }

    /// A line of values for each input, or lines of the largest, which begin with the number of the input in a batch.
    fn print_quiet(&self, raw: bool, with_output: bool, out: &mut Output) -> Result<(), Failure> {
        for (number, answer) in self.numbered() {
            match &answer.top {
                Some(top) => top::print_quiet(top, number, out)?,
                None if with_output => answer.output.print_values(raw, out)?,
                None => {}
            }
        }
        Ok(())
    }
}

fn run_float(
    file: &ModelFile,
    model: &Model<'_>,
    plan: &MemoryPlan,
    args: &RunArgs,
) -> Result<(Tensors, Tensors), Failure> {
    if args.raw {
        let failure = Failure::file(&file.path, "this is a float32 model; --raw is for int8 models");
        return Err(failure.with_hint("leave out --raw"));
    }
    let Inputs { values, batch } = input::read(&args.inputs, plan.input, Kind::Real, &args.prepare)?;
    let run = |network: &mut Network<'_, '_>, input: &[f32], output: &mut [f32]| network.run(input, output);
    let outputs = infer(model, plan, &values, run).map_err(|error| file.failure(&error))?;
    Ok((Tensors::new(plan.input, batch, values), Tensors::new(plan.output, batch, outputs)))
}

/// Runs an int8 model on real numbers or on codes.
fn run_int8(
    file: &ModelFile,
    model: &Model<'_>,
    plan: &MemoryPlan,
    args: &RunArgs,
    (input_params, output_params): (QuantParams, QuantParams),
) -> Result<(Tensors, Tensors), Failure> {
    let kind = if args.raw { Kind::Int8 } else { Kind::Quantised };
    let Inputs { values, batch } = input::read(&args.inputs, plan.input, kind, &args.prepare)?;
    let (values, codes, doubts) = if args.raw {
        let codes: Vec<i8> = values.into_iter().map(|value| value as i8).collect();
        let doubts = codes::narrow(&codes).into_iter().collect();
        (codes::dequantize(&codes, input_params), codes, doubts)
    } else {
        let codes = codes::quantize(&values, input_params);
        let doubts = codes::doubts(&values, &codes, input_params);
        (values, codes, doubts)
    };
    for doubt in doubts {
        warn(&file.path, &doubt);
    }
    let run = |network: &mut Network<'_, '_>, input: &[i8], output: &mut [i8]| network.run_int8(input, output);
    let outputs = infer(model, plan, &codes, run).map_err(|error| file.failure(&error))?;
    let real = codes::dequantize(&outputs, output_params);
    let inputs = Tensors::new(plan.input, batch, values).with_codes(codes, input_params);
    Ok((inputs, Tensors::new(plan.output, batch, real).with_codes(outputs, output_params)))
}

fn output_file(text: &str) -> Result<ValueFile, Failure> {
    ValueFile::named(text).ok_or_else(|| {
        Failure::Usage(format!(
            "--output {}: the name must end with .npy, or begin with @ for raw values",
            escaped(text)
        ))
    })
}

/// Loads the model into memory of exactly the planned size and runs it on one input after another. Weights stay as they are
/// for batches too: an input has the same output, to the bit, alone and among others.
fn infer<T: Copy + Default>(
    model: &Model<'_>,
    plan: &MemoryPlan,
    inputs: &[T],
    run: impl Fn(&mut Network<'_, '_>, &[T], &mut [T]) -> Result<(), Error>,
) -> Result<Vec<T>, Error> {
    let (input_len, output_len) = (plan.input.elements()? as usize, plan.output.elements()? as usize);
    let count = inputs.len() / input_len;
    let mut outputs = zeroed(output_len.saturating_mul(count))?;
    let mut region = zeroed(plan.arena_bytes)?;
    let mut network = Network::load_planned(model, plan, &mut region)?;
    let mut progress = Progress::new();
    for (index, (input, output)) in inputs.chunks(input_len).zip(outputs.chunks_mut(output_len)).enumerate() {
        progress.update(index as f64 / count as f64, "running");
        run(&mut network, input, output)?;
    }
    Ok(outputs)
}

/// A vector of zeros; a size that this machine does not have is an error.
pub(crate) fn zeroed<T: Copy + Default>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    let too_large = Error::new(ErrorKind::Arena).field("memory for the model").found(bytes);
    values.try_reserve_exact(len).map_err(|_| too_large.note("this machine does not have as many bytes"))?;
    values.resize(len, T::default());
    Ok(values)
}
