//! Cases of float models: every output within the file's tolerance, and the class where the case has a label.

use super::{Buffers, Failure, Report, announce, argmax, load};
use crate::format::{Case, Model};
use crate::plan::MemoryPlan;
use crate::tensor::Shape;
use crate::text::{Decimal4, Labelled};

/// Outputs of a classifier below this are not worth a line.
const RUNNER_UP: f32 = 0.01;
/// Units in the last place that are granted beyond the file's absolute tolerance: the expected values themselves are
/// rounded, which matters for large outputs.
const EXTRA_ULPS: f32 = 4.0;

pub(super) fn run_case(
    model: &Model<'_>,
    case: &Case<'_>,
    tolerance: f32,
    plan: &MemoryPlan,
    memory: &mut [u8],
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let buffers = Buffers::split(memory, plan)?;
    buffers.input.iter_mut().zip(case.input.floats()).for_each(|(slot, value)| *slot = value);
    let mut network = load(model, buffers.arena, report)?;
    print_input(plan.input, buffers.input, report);
    announce(model, "running forward...", report);
    network.run(buffers.input, buffers.output)?;
    judge(case, buffers.output, tolerance, report)
}

fn print_input(shape: Shape, values: &[f32], report: &mut Report<'_>) {
    if report.shows(values.len()) {
        let (dims, rank) = shape.dims();
        let dims = dims.get(..rank as usize).unwrap_or(&[]);
        report.line(format_args!("{}", Labelled { label: "Input", dims, values, cut: true }));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerance_is_absolute_plus_four_ulp() {
        assert!(is_within(1.0, 1.0, 0.0));
        assert!(is_within(16_777_220.0, 16_777_216.0, 0.0));
        assert!(!is_within(16_777_232.0, 16_777_216.0, 0.0));
        assert!(!is_within(f32::NAN, 0.0, 1.0));
        assert!(!is_within(0.0, 1e-3, 1e-4));
    }
}
