//! Runs the test cases that a model carries and says in words what came out.
//!
//! ```text
//! mod.rs     cases, memory, the report
//! float.rs   outputs within the file's tolerance
//! int8.rs    the class of the largest output; in strict mode also each output, dequantised
//! ```

mod float;
mod int8;

use core::fmt::{self, Write};

use bytemuck::Pod;

use crate::error::{Error, ErrorKind};
use crate::format::{Case, Cases, Model, NETWORK_CNN, Values};
use crate::network::Network;
use crate::plan::MemoryPlan;
use crate::text::General;

/// Cases that passed and failed. A model that cannot be tested at all counts as one failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
}

/// How much is printed, and what is asked of int8 models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Also prints tensors of more than [`SHORT_TENSOR`] values.
    pub verbose: bool,
    /// Also compares each output of an int8 model with the expected one: the difference may be the file's tolerance or
    /// one step of the output, whichever is larger. Float models are always compared that closely.
    pub strict: bool,
}

/// Values up to which tensors are always printed.
pub const SHORT_TENSOR: usize = 64;

/// Bytes of memory that [`run`] needs for this model.
pub fn memory_bytes(model: &Model<'_>) -> Result<usize, Error> {
    let plan = MemoryPlan::of(model)?;
    let element = if model.is_quantized() { size_of::<i8>() } else { size_of::<f32>() };
    let values = plan.input.elements()? as usize + plan.output.elements()? as usize;
    let bytes = values.checked_mul(element).and_then(|bytes| bytes.checked_add(plan.arena_bytes));
    let bytes = bytes.and_then(|bytes| bytes.checked_add(element - 1));
    bytes.ok_or(Error::new(ErrorKind::SizeOverflow).field("memory for the test"))
}

/// Runs all test cases of `model`, each on a freshly loaded network in `memory`, and prints the lines of the report.
pub fn run(path: &str, model: &Model<'_>, memory: &mut [u8], options: Options, out: &mut dyn Write) -> Summary {
    let mut report = Report { out, options };
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
    Kind(&'static str),
    Length { what: &'static str, case: usize, model: usize },
    Mismatch { index: usize, actual: f32, expected: f32, difference: f32 },
    Classification { predicted: usize, label: i32 },
    ExpectedClass { predicted: usize, expected: usize },
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Library(error) => write!(f, "{error}"),
            Self::Kind(text) => f.write_str(text),
            Self::Length { what, case, model } => write!(f, "the case has {case} {what} values, the model {model}"),
            Self::Mismatch { index, actual, expected, difference } => {
                write!(f, "mismatch at out[{index}]: actual {actual}, expected {expected}, difference {difference}")
            }
            Self::Classification { predicted, label } => write!(f, "predicted class {predicted}, label {label}"),
            Self::ExpectedClass { predicted, expected } => {
                write!(f, "predicted class {predicted}, the expected outputs have class {expected}")
            }
        }
    }
}

/// The printer. A sink that fails loses text, not results.
struct Report<'a> {
    out: &'a mut dyn Write,
    options: Options,
}

impl Report<'_> {
    fn line(&mut self, text: fmt::Arguments<'_>) {
        let _ = writeln!(self.out, "{text}");
    }

    fn shows(&self, values: usize) -> bool {
        self.options.verbose || values <= SHORT_TENSOR
    }
}

/// The parts of the test's memory.
struct Buffers<'a, T> {
    input: &'a mut [T],
    output: &'a mut [T],
    arena: &'a mut [u8],
}

impl<'a, T: Pod> Buffers<'a, T> {
    /// Room for the values of `plan` in front of the arena.
    fn split(memory: &'a mut [u8], plan: &MemoryPlan) -> Result<Self, Error> {
        let (input, output) = (plan.input.elements()? as usize, plan.output.elements()? as usize);
        let too_small = Error::new(ErrorKind::Arena).field("memory for the test").found(memory.len() as u64);
        Self::carve(memory, input, output).ok_or(too_small)
    }

    fn carve(memory: &'a mut [u8], input: usize, output: usize) -> Option<Self> {
        let padding = memory.as_ptr().align_offset(align_of::<T>());
        let (_, memory) = memory.split_at_mut_checked(padding)?;
        let (values, arena) = memory.split_at_mut_checked(size_of::<T>() * (input + output))?;
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
    check_length("input", case.input.len(), plan.input.elements()?)?;
    check_length("output", case.expected.len(), plan.output.elements()?)?;
    match (case.input, model.is_quantized()) {
        (Values::Float32(_), false) => float::run_case(model, case, tolerance, &plan, memory, report),
        (Values::Int8(input), true) => int8::run_case(model, case, input, tolerance, &plan, memory, report),
        (Values::Float32(_), true) => {
            Err(Failure::Kind("the model is int8 but the case has float inputs: header flag 0x0004 is not set"))
        }
        (Values::Int8(_), false) => {
            Err(Failure::Kind("the model is float but the case has int8 inputs: header flag 0x0004 is set"))
        }
    }
}

fn check_length(what: &'static str, case: usize, model: u32) -> Result<(), Failure> {
    let model = model as usize;
    if case == model { Ok(()) } else { Err(Failure::Length { what, case, model }) }
}

/// Loads the model; the long report says so for a CNN, as it does before a run.
fn load<'m, 'a>(model: &Model<'m>, arena: &'a mut [u8], report: &mut Report<'_>) -> Result<Network<'m, 'a>, Failure> {
    announce(model, "loading weights...", report);
    Ok(Network::load(model, arena)?)
}

fn announce(model: &Model<'_>, step: &str, report: &mut Report<'_>) {
    if report.options.verbose && model.header().network == NETWORK_CNN {
        report.line(format_args!("  {step}"));
    }
}

/// Index of the largest value, the first of equal ones; 0 when there is none.
pub fn argmax<T: Copy + PartialOrd>(values: &[T]) -> usize {
    argmax_of(values.iter().copied())
}

fn argmax_of<T: PartialOrd>(values: impl Iterator<Item = T>) -> usize {
    let mut best: Option<(usize, T)> = None;
    for (index, value) in values.enumerate() {
        if best.as_ref().is_none_or(|(_, largest)| value > *largest) {
            best = Some((index, value));
        }
    }
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argmax_takes_the_first_of_equal_values() {
        assert_eq!(argmax(&[-1.0, 0.5, 2.0, 1.5, 2.0]), 2);
        assert_eq!(argmax(&[-128i8, 7, 7]), 1);
        assert_eq!(argmax::<f32>(&[]), 0);
    }
}
