//! `netkit test --per-layer`: the output of every layer against golden tensors from another implementation.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use netkit::format::{self, Cases};
use netkit::plan::LayerFacts;
use netkit::text::{Dims, General};
use netkit::{Error, MemoryPlan, Model, Watcher};

use crate::args::{Layout, TestArgs};
use crate::codes;
use crate::failure::{Failure, Outcome};
use crate::input::{self, Kind, channels_last};
use crate::inspect::facts::dims;
use crate::model_file::ModelFile;
use crate::npy::{self, Element};
use crate::output::{BAD, GOOD, Output};
use crate::run::zeroed;
use crate::runner::{Runner, Values};

/// Largest difference when neither the command line nor the model's test section says one.
const TOLERANCE: f32 = 1e-4;
/// An .npy file may have this many bytes beyond eight for each element.
const SLACK: u64 = 1 << 16;

/// What became of a layer.
enum Verdict {
    /// No golden tensor.
    Skipped,
    /// The next layer is computed along with this one, so there is no output to compare.
    Merged,
    /// Largest difference, element at which it occurs, and whether it is small enough.
    Compared { difference: f32, element: usize, is_same: bool },
}

pub(crate) fn execute(args: &TestArgs, folder: &Path, out: &mut Output) -> Result<Outcome, Failure> {
    if args.input.is_none() && args.prepare.changes_values() {
        return Err(Failure::Usage("--scale, --mean and --std belong to --input".to_owned()));
    }
    let [path] = &args.models[..] else {
        return Err(Failure::Usage("--per-layer compares one model".to_owned()));
    };
    let file = ModelFile::read(path)?;
    let model = file.parse()?;
    let invalid = |error: Error| file.failure(&error);
    let plan = MemoryPlan::of(&model).map_err(invalid)?;
    let files = golden_files(folder)?;
    let input = input(args, &file, &model, &plan)?;
    let mut region = zeroed(plan.arena_bytes).map_err(invalid)?;
    let mut outputs = Outputs::default();
    let mut runner = Runner::load(&model, &plan, &mut region, input).map_err(invalid)?;
    runner.run_layers(&mut outputs).map_err(invalid)?;
    let embedded = Cases::read(&model).ok().map(|cases| cases.tolerance);
    let tolerance = args.tolerance.or(embedded).unwrap_or(TOLERANCE);
    let verdicts = outputs.0.iter().map(|layer| {
        let golden = files.get(&layer.facts.index);
        golden.map_or(Ok(Verdict::Skipped), |path| layer.compare(path, tolerance, args.prepare.layout()))
    });
    let verdicts: Vec<Verdict> = verdicts.collect::<Result<_, _>>()?;
    print(&outputs.0, &verdicts, tolerance, out)
}

/// The `.npy` files of a folder by layer: `layer_3.npy`, or `03_name.npy`.
fn golden_files(folder: &Path) -> Result<BTreeMap<usize, PathBuf>, Failure> {
    let fault = |error| Failure::file(folder, format_args!("cannot read the folder: {error}"));
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let Some(index) = layer_index(&path) else { continue };
        if let Some(other) = files.insert(index, path.clone()) {
            let (path, other) = (path.display(), other.display());
            return Err(Failure::file(folder, format_args!("two tensors of layer {index}: {path} and {other}")));
        }
    }
    if files.is_empty() {
        let failure = Failure::file(folder, "no golden tensors: files called layer_0.npy or 00_name.npy");
        return Err(failure.with_hint("the number is the index of the layer, from 0"));
    }
    Ok(files)
}

fn layer_index(path: &Path) -> Option<usize> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".npy")?;
    match stem.strip_prefix("layer_") {
        Some(number) => number.parse().ok(),
        None => stem.split_once('_')?.0.parse().ok(),
    }
}

/// The input of the command line, else that of the first test case.
fn input(args: &TestArgs, file: &ModelFile, model: &Model<'_>, plan: &MemoryPlan) -> Result<Values, Failure> {
    if let Some(text) = &args.input {
        let kind = if plan.input_quant.is_some() { Kind::Quantised } else { Kind::Real };
        let values = input::read_one(text, plan.input, kind, &args.prepare)?;
        return Ok(match plan.input_quant {
            Some(params) => Values::Int8(codes::quantize(&values, params)),
            None => Values::Float(values),
        });
    }
    let invalid = |error: Error| file.failure(&error).with_hint("give an input with --input");
    let cases = Cases::read(model).map_err(invalid)?;
    let case = cases.iter().next().ok_or_else(|| Failure::file(&file.path, "there is no test case"))?;
    match (case.input, plan.input_quant) {
        (format::Values::Int8(bytes), Some(_)) => Ok(Values::Int8(bytes.iter().map(|&byte| byte as i8).collect())),
        (format::Values::Float32(_), None) => Ok(Values::Float(case.input.floats().collect())),
        _ => Err(Failure::file(&file.path, "the inputs of the test cases are not of the model's type")
            .with_hint("give an input with --input")),
    }
}

/// A layer with its result.
struct Layer {
    facts: LayerFacts,
    bytes: Vec<u8>,
}

/// Keeps the result of every layer.
#[derive(Default)]
struct Outputs(Vec<Layer>);

impl Watcher for Outputs {
    fn before(&mut self, _layer: &LayerFacts) -> Result<(), Error> {
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), Error> {
        self.0.push(Layer { facts: *layer, bytes: output.to_vec() });
        Ok(())
    }
}

impl Layer {
    fn compare(&self, path: &Path, tolerance: f32, layout: Layout) -> Result<Verdict, Failure> {
        let (facts, shape) = (&self.facts, self.facts.output);
        if facts.result_shape != shape {
            return Ok(Verdict::Merged);
        }
        let fault = |error| Failure::file(path, format_args!("cannot read the golden tensor: {error}"));
        let elements = self.bytes.len() / if facts.output_quant.is_some() { 1 } else { 4 };
        let bytes = input::read_file(path, 8 * elements as u64 + SLACK)
            .map_err(|failure| fault(failure.message().into_owned()))?;
        let array = npy::read(&bytes).map_err(fault)?;
        let mut expected: Vec<u64> = dims(shape).into_iter().map(u64::from).collect();
        let is_turned = layout == Layout::Nchw && !shape.is_rows;
        if is_turned {
            expected.rotate_right(1);
        }
        let without_one = array.shape.strip_prefix(&[1]).unwrap_or(&array.shape);
        if ![&array.shape[..], without_one].iter().any(|&found| found == expected || found == [elements as u64]) {
            let failure = Failure::file(
                path,
                format_args!("shape {:?}, but layer {} gives {expected:?}", array.shape, facts.index),
            );
            return Err(failure.with_hint("--layout nchw is for tensors with the channels first"));
        }
        let golden = if is_turned { channels_last(&array.values, shape) } else { array.values };
        let (values, allowed) = match facts.output_quant {
            // Codes against codes: a step more or less is rounding.
            Some(_) if array.element == Element::I8 => (self.codes().map(f32::from).collect(), 1.0),
            Some(params) => {
                (self.codes().map(|code| params.dequantize(code)).collect(), tolerance.max(params.scale * 1.001))
            }
            None => (self.floats(), tolerance),
        };
        Ok(largest_difference(&values, &golden, allowed))
    }

    fn codes(&self) -> impl Iterator<Item = i8> + '_ {
        self.bytes.iter().map(|&byte| byte as i8)
    }

    fn floats(&self) -> Vec<f32> {
        self.bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect()
    }
}

/// A value that is NaN on one side only differs by infinity.
fn largest_difference(values: &[f32], golden: &[f32], allowed: f32) -> Verdict {
    let difference = |(&a, &b): (&f32, &f32)| match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) if a == b => 0.0,
        (false, false) => (a - b).abs(),
        _ => f32::INFINITY,
    };
    let mut largest = (0, 0.0);
    for (element, difference) in values.iter().zip(golden).map(difference).enumerate() {
        if difference > largest.1 {
            largest = (element, difference);
        }
    }
    Verdict::Compared { difference: largest.1, element: largest.0, is_same: largest.1 <= allowed }
}

fn print(layers: &[Layer], verdicts: &[Verdict], tolerance: f32, out: &mut Output) -> Result<Outcome, Failure> {
    writeln!(out, "Layers against golden tensors, tolerance {}:", General(tolerance))?;
    let kind = |layer: &Layer| format::kind_name(layer.facts.kind).unwrap_or("unknown");
    let row = |(layer, verdict): (&Layer, &Verdict)| {
        let (difference, word) = match verdict {
            Verdict::Skipped => ("-".to_owned(), "no golden tensor"),
            Verdict::Merged => ("-".to_owned(), "computed with the next layer; compare that one"),
            Verdict::Compared { difference, is_same: true, .. } => (General(*difference).to_string(), "ok"),
            Verdict::Compared { difference, .. } => (General(*difference).to_string(), "deviates"),
        };
        let shape = Dims(&dims(layer.facts.output)).to_string();
        vec![format!("[{}]", layer.facts.index), kind(layer).to_owned(), shape, difference, word.to_owned()]
    };
    out.table(&["", "kind", "output", "max difference", ""], layers.iter().zip(verdicts).map(row).collect())?;
    let compared = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Compared { .. })).count();
    let first = layers.iter().zip(verdicts).find_map(|(layer, verdict)| match verdict {
        Verdict::Compared { difference, element, is_same: false } => Some((layer, difference, element)),
        _ => None,
    });
    let Some((layer, difference, element)) = first else {
        writeln!(out, "\n{GOOD}All of {compared} compared layers agree{GOOD:#}")?;
        return Ok(Outcome::Done);
    };
    let (index, name, difference) = (layer.facts.index, kind(layer), General(*difference));
    writeln!(
        out,
        "\n{BAD}Layer {index} ({name}) is the first that deviates{BAD:#}: by {difference} at element {element}"
    )?;
    Ok(Outcome::Negative)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_the_index_of_their_layer() {
        let index = |name: &str| layer_index(Path::new(name));
        assert_eq!([index("layer_3.npy"), index("x/03_conv.npy"), index("12_a_b.npy")], [Some(3), Some(3), Some(12)]);
        assert_eq!([index("layer_x.npy"), index("conv_3.npy"), index("3.npy"), index("layer_3.npz")], [None; 4]);
    }

    #[test]
    fn nan_and_infinities_are_equal_only_to_themselves() {
        let is_same =
            |a: f32, b: f32| matches!(largest_difference(&[a], &[b], 1.0), Verdict::Compared { is_same: true, .. });
        assert!(is_same(f32::NAN, f32::NAN) && is_same(f32::INFINITY, f32::INFINITY) && is_same(1.0, 2.0));
        assert!(!is_same(f32::NAN, 0.0) && !is_same(f32::INFINITY, 0.0) && !is_same(1.0, 2.5));
    }
}
