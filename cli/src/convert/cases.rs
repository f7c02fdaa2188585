//! Test cases that the `.nk` file carries.

use std::collections::BTreeMap;
use std::path::Path;

use netkit::format::write::CasesSpec;
use netkit::format::{Case, Values};
use netkit_convert::network::Network;
use netkit_convert::proof::{self, Answer, CaseData, MAX_CASE_FLOATS, MAX_CASES};
use netkit_convert::source::{Conversion, Source};

use super::unproved;
use crate::args::ConvertArgs;
use crate::failure::Failure;
use crate::npy::{self, Array};
use crate::npz::Archive;

/// Most bytes of an array: more than 16 test cases of 16,384 numbers in double precision need.
const MOST_ARRAY_BYTES: u64 = 64 << 20;

/// Cases with what a file of tests says about them.
pub(super) struct Cases {
    cases: Vec<(CaseData, Option<i32>)>,
    tolerance: f32,
    /// Whether inputs are codes.
    is_int8: bool,
}

/// The cases that were asked for; `answers` are what the proof has computed already.
pub(super) fn gather(
    args: &ConvertArgs,
    source: &Source<'_>,
    conversion: &Conversion,
    answers: &[Answer],
) -> Result<Option<Cases>, Failure> {
    let network = &conversion.lowered.network;
    let cases = if let Some(path) = &args.tests {
        let mut cases = read(path, network)?;
        let inputs = cases.iter_mut().flat_map(|(case, _)| &mut case.input);
        inputs.for_each(|number| *number = source.reference().fed(*number));
        cases
    } else if let Some(count) = args.embed_tests {
        let (count, placement) = (usize::from(count), conversion.placement());
        let cases = proof::embeddable_cases(source.reference(), placement, count, args.seed, answers);
        let cases = cases.map_err(|error| unproved(&args.model, error))?;
        if cases.is_empty() {
            let message =
                format!("no test case fits: inputs and outputs of cases have at most {MAX_CASE_FLOATS} numbers");
            return Err(Failure::file(&args.model, message).with_hint("leave out --embed-tests"));
        }
        cases.into_iter().map(|case| (case, None)).collect()
    } else {
        return Ok(None);
    };
    let largest = cases.iter().flat_map(|(case, _)| &case.expected).fold(0.0f32, |most, y| most.max(y.abs()));
    let relative = args.tolerance.unwrap_or(proof::DEFAULT_TOLERANCE) as f32;
    let is_int8 = network.is_quantized();
    let source = source.reference();
    let slack = source.slack() * (source.real(1.0) - source.real(0.0));
    Ok(Some(Cases { cases, tolerance: (relative * largest.max(1.0)).max(slack as f32), is_int8 }))
}

/// All arrays of an archive by their names.
fn arrays(path: &Path) -> Result<BTreeMap<String, Array>, Failure> {
    let mut archive = Archive::open(path, "the archive")?;
    let mut arrays = BTreeMap::new();
    for (index, name) in archive.names().to_vec().into_iter().enumerate() {
        let bytes = archive.bytes(index, MOST_ARRAY_BYTES)?;
        if bytes.len() as u64 > MOST_ARRAY_BYTES {
            return Err(Failure::file(path, format_args!("array \"{name}\" has more than {MOST_ARRAY_BYTES} bytes")));
        }
        let fault = |reason| Failure::file(path, format_args!("cannot read the archive: array \"{name}\": {reason}"));
        arrays.insert(name.clone(), npy::read(&bytes).map_err(fault)?);
    }
    Ok(arrays)
}

/// The arrays `inputs`, `outputs` and, if there is one, `labels`: one case for each index of the first axis.
fn read(path: &Path, network: &Network) -> Result<Vec<(CaseData, Option<i32>)>, Failure> {
    let arrays = arrays(path)?;
    let rows = |name: &str, elements: usize| {
        let array = arrays.get(name).ok_or_else(|| {
            let names: Vec<&str> = arrays.keys().map(String::as_str).collect();
            Failure::file(path, format_args!("no array \"{name}\", only {names:?}"))
                .with_hint("test cases are the arrays `inputs` and `outputs`, one case per row, and maybe `labels`")
        })?;
        let count = array.shape.first().copied().unwrap_or(0) as usize;
        if count == 0 || array.values.len() != count * elements {
            let message = format!("array \"{name}\" has shape {:?}, expected cases of {elements} numbers", array.shape);
            return Err(Failure::file(path, message));
        }
        Ok(array.values.chunks(elements).map(<[f32]>::to_vec).collect::<Vec<_>>())
    };
    let inputs = rows("inputs", network.input.shape.iter().product())?;
    let outputs = rows("outputs", network.output.shape.iter().product())?;
    let labels = if arrays.contains_key("labels") { Some(rows("labels", 1)?) } else { None };
    let counts = [inputs.len(), outputs.len(), labels.as_ref().map_or(inputs.len(), Vec::len)];
    if counts.iter().any(|&count| count != inputs.len()) || inputs.len() > MAX_CASES {
        let message =
            format!("{counts:?} inputs, outputs and labels; expected the same number of each, at most {MAX_CASES}");
        return Err(Failure::file(path, message));
    }
    let case = |(index, (input, output)): (usize, (Vec<f32>, Vec<f32>))| {
        let label = labels.as_ref().map(|labels| labels[index][0] as i32);
        let name = label.map_or(format!("case {index}"), |label| format!("case {index}, class {label}"));
        (CaseData { name, input: network.input.to_memory(&input), expected: network.output.to_memory(&output) }, label)
    };
    Ok(inputs.into_iter().zip(outputs).enumerate().map(case).collect())
}

impl Cases {
    pub(super) fn len(&self) -> usize {
        self.cases.len()
    }

    /// Calls `write` with the section of the file.
    pub(super) fn with_spec<T>(&self, write: impl FnOnce(CasesSpec<'_>) -> T) -> T {
        let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let codes = |values: &[f32]| values.iter().map(|&value| value as i8 as u8).collect();
        let input = |values: &[f32]| if self.is_int8 { codes(values) } else { bytes(values) };
        let raw: Vec<(Vec<u8>, Vec<u8>)> =
            self.cases.iter().map(|(case, _)| (input(&case.input), bytes(&case.expected))).collect();
        let cases: Vec<Case<'_>> = self
            .cases
            .iter()
            .zip(&raw)
            .map(|((case, label), (input, expected))| Case {
                name: &case.name,
                input: if self.is_int8 { Values::Int8(input) } else { Values::Float32(input) },
                expected: Values::Float32(expected),
                label: label.unwrap_or(-1),
            })
            .collect();
        write(CasesSpec { tolerance: self.tolerance, cases: &cases })
    }
}
