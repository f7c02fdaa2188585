//! Cases of int8 models. Their expected outputs come from many sources: exact ones, simulations in floats, the outputs of
//! the float model. What all agree on is the class, so that is what decides; strict mode is for exact expectations.

use super::{Buffers, Failure, Report, announce, argmax, argmax_of, load};
use crate::format::quant::QuantParams;
use crate::format::{Case, Model};
use crate::plan::MemoryPlan;
use crate::text::{Decimal4, Dims, General};

/// Granted beyond one step of the output: expected values are rounded to float.
const EXTRA: f32 = 1e-6;
/// Values that the line of the input shows.
const SHOWN_INPUTS: usize = crate::text::MAX_PRINTED;

pub(super) fn run_case(
    model: &Model<'_>,
    case: &Case<'_>,
    input: &[u8],
    tolerance: f32,
    plan: &MemoryPlan,
    memory: &mut [u8],
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let buffers = Buffers::<i8>::split(memory, plan)?;
    buffers.input.copy_from_slice(bytemuck::cast_slice(input));
    let mut network = load(model, buffers.arena, report)?;
    print_input(plan, buffers.input, report);
    announce(model, "running forward...", report);
    network.run_int8(buffers.input, buffers.output)?;
    let params = plan.output_quant.ok_or(Failure::Kind("the model has no output scale"))?;
    judge(case, buffers.output, &Bound::new(params, tolerance, report.options.strict), report)
}

/// How far outputs may be from the expected ones.
struct Bound {
    params: QuantParams,
    /// Largest difference; `None` when only the class counts.
    difference: Option<f32>,
}

impl Bound {
    fn new(params: QuantParams, tolerance: f32, strict: bool) -> Self {
        Self { params, difference: strict.then_some(tolerance.max(params.scale + EXTRA)) }
    }

    /// The real value that `q` stands for.
    fn real(&self, q: i8) -> f32 {
        self.params.dequantize(q)
    }

    /// False for NaN, and never when only the class counts.
    fn allows(&self, actual: f32, expected: f32) -> bool {
        self.difference.is_none_or(|largest| (actual - expected).abs() <= largest)
    }
}

fn print_input(plan: &MemoryPlan, values: &[i8], report: &mut Report<'_>) {
    if !report.shows(values.len()) {
        return;
    }
    let (dims, rank) = plan.input.dims();
    let _ = write!(report.out, "Input: shape={} values=[", Dims(dims.get(..rank as usize).unwrap_or(&[])));
    for (index, value) in values.iter().take(SHOWN_INPUTS).enumerate() {
        let _ = write!(report.out, "{}{value}", if index == 0 { "" } else { ", " });
    }
    match values.len() {
        0..=SHOWN_INPUTS => report.line(format_args!("]")),
        total => report.line(format_args!(", ... ({total} total)]")),
    }
}

/// Compares the class and, in strict mode, each output.
fn judge(case: &Case<'_>, actual: &[i8], bound: &Bound, report: &mut Report<'_>) -> Result<(), Failure> {
    let compared = compare(case, actual, bound, report);
    let classified = judge_class(case, actual, report);
    compared?;
    classified?;
    match bound.difference {
        None => report.line(format_args!("PASS {} (int8 argmax classification correct)", case.name)),
        Some(largest) => report.line(format_args!(
            "PASS {} (int8 argmax classification correct, {} outputs within {})",
            case.name,
            actual.len(),
            General(largest)
        )),
    }
    Ok(())
}

/// Prints the outputs and finds the first that is too far from the expected one.
fn compare(case: &Case<'_>, actual: &[i8], bound: &Bound, report: &mut Report<'_>) -> Result<(), Failure> {
    let mut result = Ok(());
    let shows = report.shows(actual.len());
    for (index, (&q, expected)) in actual.iter().zip(case.expected.floats()).enumerate() {
        let real = bound.real(q);
        let is_right = bound.allows(real, expected);
        if shows {
            let verdict = match bound.difference {
                None => "",
                Some(_) if is_right => "  OK",
                Some(_) => "  MISMATCH",
            };
            let (real, expected) = (Decimal4(real), Decimal4(expected));
            report.line(format_args!("  out[{index}]: q={q}  actual={real}  expected={expected}{verdict}"));
        }
        if !is_right && result.is_ok() {
            let difference = (real - expected).abs();
            result = Err(Failure::Mismatch { index, actual: real, expected, difference });
        }
    }
    result
}

/// Compares the class of the largest output with the label or, without one, with that of the expected outputs.
fn judge_class(case: &Case<'_>, actual: &[i8], report: &mut Report<'_>) -> Result<(), Failure> {
    let predicted = argmax(actual);
    if case.label < 0 {
        let expected = argmax_of(case.expected.floats());
        report.line(format_args!("  predicted class: {predicted}  (expected {expected})"));
        return if predicted == expected { Ok(()) } else { Err(Failure::ExpectedClass { predicted, expected }) };
    }
    report.line(format_args!("  predicted class: {predicted}  (label {})", case.label));
    if usize::try_from(case.label) == Ok(predicted) {
        return Ok(());
    }
    Err(Failure::Classification { predicted, label: case.label })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: QuantParams = QuantParams { scale: 0.25, zero_point: -3 };

    #[test]
    fn without_strict_every_value_is_allowed() {
        let bound = Bound::new(PARAMS, 0.0, false);
        assert!(bound.allows(0.0, 1e30) && bound.allows(0.0, f32::NAN));
    }

    #[test]
    fn strict_allows_the_tolerance_or_one_step() {
        let step = Bound::new(PARAMS, 0.1, true);
        assert!(step.allows(0.0, 0.25) && !step.allows(0.0, 0.2501));
        let tolerance = Bound::new(PARAMS, 0.5, true);
        assert!(tolerance.allows(0.0, -0.5) && !tolerance.allows(0.0, -0.501));
        assert!(!tolerance.allows(0.0, f32::NAN));
    }

    #[test]
    fn values_are_scaled_from_the_zero_point() {
        let bound = Bound::new(PARAMS, 0.0, true);
        assert_eq!([-128, -3, 127].map(|q| bound.real(q)), [-31.25, 0.0, 32.5]);
    }
}
