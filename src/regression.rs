//! Runs the test cases that a model carries and says in words what came out.

use core::fmt::{self, Write};

use crate::error::{Error, ErrorKind};
use crate::format::{Case, Cases, Model, NETWORK_CNN};
use crate::network::Network;
use crate::plan::MemoryPlan;
use crate::tensor::Shape;
use crate::text::{Decimal4, General, Labelled};

/// Cases that passed and failed. A model that cannot be tested at all counts as one failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Also prints tensors of more than [`SHORT_TENSOR`] values.
    pub verbose: bool,
}

/// Values up to which tensors are always printed.
pub const SHORT_TENSOR: usize = 64;
/// Outputs of a classifier below this are not worth a line.
const RUNNER_UP: f32 = 0.01;
/// Units in the last place that are granted beyond the file's absolute tolerance: the expected values themselves are
/// rounded, which matters for large outputs.
const EXTRA_ULPS: f32 = 4.0;

/// Bytes of memory that [`run`] needs for this model.
pub fn memory_bytes(model: &Model<'_>) -> Result<usize, Error> {
    let plan = MemoryPlan::of(model)?;
    let values = plan.input.elements()? as usize + plan.output.elements()? as usize;
    let bytes = values.checked_mul(size_of::<f32>()).and_then(|bytes| bytes.checked_add(plan.arena_bytes));
    let bytes = bytes.and_then(|bytes| bytes.checked_add(align_of::<f32>() - 1));
    bytes.ok_or(Error::new(ErrorKind::SizeOverflow).field("memory for the test"))
}

/// Runs all test cases of `model`, each on a freshly loaded network in `memory`, and prints the lines of the report.
pub fn run(path: &str, model: &Model<'_>, memory: &mut [u8], options: Options, out: &mut dyn Write) -> Summary {
    let mut report = Report { out, verbose: options.verbose };
    let cases = match Cases::read(model) {
        Ok(cases) => cases,
        Err(error) => {
            report.line(format_args!("  Test load failed ({path}): {error}"));
            return Summary { passed: 0, failed: 1 };
        }
    };
    report.line(format_args!("Model: {path}"));
    report.line(format_args!("Embedded cases: {}", cases.len()));
    report.line(format_args!("Output tolerance: {}", General(cases.tolerance)));
    let mut summary = Summary::default();
    for case in cases.iter() {
        report.line(format_args!("\nCase: {}", case.name));
        match run_case(model, &case, cases.tolerance, memory, &mut report) {
            Ok(()) => summary.passed += 1,
            Err(failure) => {
                report.line(format_args!("FAIL {} ({failure})", case.name));
                summary.failed += 1;
            }
        }
    }
    summary
}

/// Why a case failed.
enum Failure {
    Library(Error),
    Length { what: &'static str, case: usize, model: usize },
    Mismatch { index: usize, actual: f32, expected: f32, difference: f32 },
    Classification { predicted: usize, label: i32 },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Library(error) => write!(f, "{error}"),
            Self::Length { what, case, model } => write!(f, "the case has {case} {what} values, the model {model}"),
            Self::Mismatch { index, actual, expected, difference } => {
                write!(f, "mismatch at out[{index}]: actual {actual}, expected {expected}, difference {difference}")
            }
            Self::Classification { predicted, label } => write!(f, "predicted class {predicted}, label {label}"),
        }
    }
}

/// The printer. A sink that fails loses text, not results.
struct Report<'a> {
    out: &'a mut dyn Write,
    verbose: bool,
}

impl Report<'_> {
    fn line(&mut self, text: fmt::Arguments<'_>) {
        let _ = writeln!(self.out, "{text}");
    }

    fn shows(&self, values: usize) -> bool {
        self.verbose || values <= SHORT_TENSOR
    }
}

/// The parts of the test's memory.
struct Buffers<'a> {
    input: &'a mut [f32],
    output: &'a mut [f32],
    arena: &'a mut [u8],
}

impl<'a> Buffers<'a> {
    fn split(memory: &'a mut [u8], input: usize, output: usize) -> Option<Self> {
        let padding = memory.as_ptr().align_offset(align_of::<f32>());
        let (_, memory) = memory.split_at_mut_checked(padding)?;
        let (values, arena) = memory.split_at_mut_checked(size_of::<f32>() * (input + output))?;
        let (input, output) = bytemuck::try_cast_slice_mut(values).ok()?.split_at_mut_checked(input)?;
        Some(Self { input, output, arena })
    }
}

fn run_case(
    model: &Model<'_>,
    case: &Case<'_>,
    tolerance: f32,
    memory: &mut [u8],
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let plan = MemoryPlan::of(model)?;
    let (input_elems, output_elems) = (plan.input.elements()? as usize, plan.output.elements()? as usize);
    check_length("input", case.input.len(), input_elems)?;
    check_length("output", case.expected.len(), output_elems)?;
    let too_small = Error::new(ErrorKind::Arena).field("memory for the test").found(memory.len() as u64);
    let buffers = Buffers::split(memory, input_elems, output_elems).ok_or(too_small)?;
    for (slot, value) in buffers.input.iter_mut().zip(case.input.floats()) {
        *slot = value;
    }
    let is_cnn = model.header().network == NETWORK_CNN;
    if is_cnn && report.verbose {
        report.line(format_args!("  loading weights..."));
    }
    let mut network = Network::load(model, buffers.arena)?;
    print_input(plan.input, buffers.input, report);
    if is_cnn && report.verbose {
        report.line(format_args!("  running forward..."));
    }
    network.run(buffers.input, buffers.output)?;
    judge(case, buffers.output, tolerance, report)
}

fn check_length(what: &'static str, case: usize, model: usize) -> Result<(), Failure> {
    if case == model { Ok(()) } else { Err(Failure::Length { what, case, model }) }
}

fn print_input(shape: Shape, values: &[f32], report: &mut Report<'_>) {
    if report.shows(values.len()) {
        let (dims, rank) = shape.dims();
        let dims = dims.get(..rank as usize).unwrap_or(&[]);
        report.line(format_args!("  {}", Labelled { label: "Input", dims, values, cut: true }));
    }
}

/// Compares with the expected outputs, and with the label when the case has one.
fn judge(case: &Case<'_>, actual: &[f32], tolerance: f32, report: &mut Report<'_>) -> Result<(), Failure> {
    let mut mismatch = None;
    let shows = report.shows(actual.len());
    for (index, (&actual, expected)) in actual.iter().zip(case.expected.floats()).enumerate() {
        let matches = is_within(actual, expected, tolerance);
        if shows {
            print_output("  out", index, actual, expected, matches, report);
        }
        if !matches && mismatch.is_none() {
            let difference = (actual - expected).abs();
            mismatch = Some(Failure::Mismatch { index, actual, expected, difference });
        }
    }
    let classified = if case.label < 0 { Ok(()) } else { judge_label(case, actual, tolerance, report) };
    mismatch.map_or(Ok(()), Err)?;
    classified?;
    if case.label < 0 {
        report.line(format_args!("PASS {} ({} outputs match within tolerance)", case.name, actual.len()));
    } else {
        let name = case.name;
        report.line(format_args!("PASS {name} (all neurons within tolerance, classification correct)"));
    }
    Ok(())
}

fn judge_label(case: &Case<'_>, actual: &[f32], tolerance: f32, report: &mut Report<'_>) -> Result<(), Failure> {
    let predicted = argmax(actual);
    report.line(format_args!("  predicted class: {predicted}  (label {})", case.label));
    for (index, (&actual, expected)) in actual.iter().zip(case.expected.floats()).enumerate() {
        let matches = is_within(actual, expected, tolerance);
        if index == predicted {
            print_output("  winner out", index, actual, expected, matches, report);
        } else if actual >= RUNNER_UP || expected >= RUNNER_UP {
            print_output("  runner-up out", index, actual, expected, matches, report);
        }
    }
    if usize::try_from(case.label) == Ok(predicted) {
        return Ok(());
    }
    Err(Failure::Classification { predicted, label: case.label })
}

fn print_output(label: &str, index: usize, actual: f32, expected: f32, matches: bool, report: &mut Report<'_>) {
    let verdict = if matches { "OK" } else { "MISMATCH" };
    let (actual, expected) = (Decimal4(actual), Decimal4(expected));
    report.line(format_args!("{label}[{index}]: actual={actual}  expected={expected}  {verdict}"));
}

/// `|actual - expected| <= tolerance + 4 ulp(expected)`; false for NaN.
fn is_within(actual: f32, expected: f32, tolerance: f32) -> bool {
    let ulp = expected.abs().next_up() - expected.abs();
    (actual - expected).abs() <= tolerance + EXTRA_ULPS * ulp
}

/// Index of the largest value, the first of equal ones; 0 when there is none.
pub fn argmax(values: &[f32]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if values.get(best).is_some_and(|largest| value > largest) {
            best = index;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_takes_the_first_of_equal_values() {
        assert_eq!(argmax(&[-1.0, 0.5, 2.0, 1.5, 2.0]), 2);
        assert_eq!(argmax(&[]), 0);
    }

    #[test]
    fn tolerance_is_absolute_plus_four_ulp() {
        assert!(is_within(1.0, 1.0, 0.0));
        assert!(is_within(16_777_220.0, 16_777_216.0, 0.0));
        assert!(!is_within(16_777_232.0, 16_777_216.0, 0.0));
        assert!(!is_within(f32::NAN, 0.0, 1.0));
        assert!(!is_within(0.0, 1e-3, 1e-4));
    }
}
