//! `netkit inspect --check`: everything that is wrong with a model, at once.

use std::io::Write;

use netkit::format::{Case, Cases, FLAG_TESTS, TensorDesc};
use netkit::{Error, MemoryPlan, Model, Network};

use super::{chain, cost, facts};
use crate::failure::{Failure, Outcome, warn};
use crate::model_file::ModelFile;
use crate::output::{BAD, GOOD, Output, escaped};
use crate::run::zeroed;

/// Prints the problems, or that there are none.
pub(super) fn execute(file: &ModelFile, out: &mut Output) -> Result<Outcome, Failure> {
    let path = file.path.to_string_lossy();
    let path = escaped(&path);
    let model = match Model::parse(file.bytes()) {
        Ok(model) => model,
        // Nothing behind this place can be told.
        Err(error) => return report(&path, &[error.to_string()], out),
    };
    let (problems, plan) = problems(&model);
    out.finish()?;
    for warning in chain::doubts(&model, &facts::owners(&model)) {
        warn(&file.path, &warning);
    }
    if !problems.is_empty() {
        return report(&path, &problems, out);
    }
    let layers = model.layers().count();
    let (parameters, arena) = (cost::parameters(&model), plan.map_or(0, |plan| plan.arena_bytes));
    let cases = Cases::read(&model).map_or(0, |cases| cases.len());
    writeln!(out, "{GOOD}ok{GOOD:#}  {path}")?;
    writeln!(out, "  layers {layers}, parameters {parameters}, arena bytes {arena}, test cases {cases}")?;
    Ok(Outcome::Done)
}

fn report(path: &str, problems: &[String], out: &mut Output) -> Result<Outcome, Failure> {
    let noun = if problems.len() == 1 { "problem" } else { "problems" };
    writeln!(out, "{BAD}bad{BAD:#} {path}: {} {noun}", problems.len())?;
    for problem in problems {
        writeln!(out, "  {}", escaped(problem))?;
    }
    Ok(Outcome::Negative)
}

fn problems(model: &Model<'_>) -> (Vec<String>, Option<MemoryPlan>) {
    let mut problems = values(model);
    let plan = MemoryPlan::of(model);
    // The plan checks tensors too, the shapes all layers: one may know of a fault that the other does not reach.
    let faults = [plan.as_ref().err().copied(), netkit::plan::shapes(model).err()];
    for text in faults.into_iter().flatten().map(|error| error.to_string()) {
        if !problems.contains(&text) {
            problems.push(text);
        }
    }
    problems.extend(cases(model));
    if let (true, Ok(plan)) = (problems.is_empty(), &plan) {
        problems.extend(load(model, plan).err().map(|error| error.to_string()));
    }
    (problems, plan.ok())
}

fn load(model: &Model<'_>, plan: &MemoryPlan) -> Result<(), Error> {
    let mut region = zeroed(plan.arena_bytes)?;
    Network::load_planned(model, plan, &mut region).map(|_| ())
}

/// A sentence for each tensor with values that no model may have.
fn values(model: &Model<'_>) -> Vec<String> {
    if model.is_quantized() {
        return model.check_payload().err().map(|error| error.to_string()).into_iter().collect();
    }
    let owners = facts::owners(model);
    let weights = model.weight_tensors().enumerate().map(|(index, tensor)| ("weight", index, tensor));
    let biases = model.bias_tensors().enumerate().map(|(index, tensor)| ("bias", index, tensor));
    weights
        .chain(biases)
        .filter_map(|(name, index, tensor)| not_finite(model, &owners, (name, index), &tensor))
        .collect()
}

fn not_finite(
    model: &Model<'_>,
    owners: &[usize],
    (name, index): (&str, usize),
    tensor: &TensorDesc,
) -> Option<String> {
    let bytes = model.bytes().get(tensor.offset..)?.get(..tensor.entry.num_bytes() as usize)?;
    let floats = || bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    let first = floats().position(|value| !value.is_finite())?;
    let count = floats().filter(|value| !value.is_finite()).count();
    let layer = owners.get(index).map_or(String::new(), |layer| format!(" of layer {layer}"));
    let (total, at) = (tensor.entry.num_elements(), tensor.offset + 4 * first);
    Some(format!("{name}[{index}]{layer}: {count} of {total} values are NaN or infinite, the first at byte {at}"))
}

/// A sentence for each test case that does not fit the model.
fn cases(model: &Model<'_>) -> Vec<String> {
    if model.header().flags & FLAG_TESTS == 0 {
        return Vec::new();
    }
    let cases = match Cases::read(model) {
        Ok(cases) => cases,
        Err(error) => return vec![format!("test section: {error}")],
    };
    let Ok((input, output)) = netkit::plan::shapes(model) else { return Vec::new() };
    let (Ok(inputs), Ok(outputs)) = (input.elements(), output.elements()) else { return Vec::new() };
    let types = (cases.has_int8_inputs() != model.is_quantized())
        .then(|| "test section: int8 inputs (header flag 0x0004) belong to int8 models, and only to them".to_owned());
    let misfits = cases.iter().flat_map(|case| misfits(&case, inputs as usize, outputs as usize));
    types.into_iter().chain(misfits).collect()
}

fn misfits(case: &Case<'_>, inputs: usize, outputs: usize) -> Vec<String> {
    let name = case.name;
    let count = |what: &str, found: usize, expected: usize| {
        (found != expected).then(|| format!("test case \"{name}\": {found} {what} values, expected {expected}"))
    };
    let finite = |what: &str, is_finite: bool| {
        (!is_finite).then(|| format!("test case \"{name}\": {what} values that are NaN or infinite"))
    };
    let is_label = case.label < 0 || usize::try_from(case.label).is_ok_and(|label| label < outputs);
    [
        count("input", case.input.len(), inputs),
        count("output", case.expected.len(), outputs),
        (!is_label).then(|| format!("test case \"{name}\": label {}, expected less than {outputs}", case.label)),
        finite("input", case.input.floats().all(f32::is_finite)),
        finite("output", case.expected.floats().all(f32::is_finite)),
    ]
    .into_iter()
    .flatten()
    .collect()
}
