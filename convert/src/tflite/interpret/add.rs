//! ADD of two tensors of the same shape.

use super::fixed_point::Factor;
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::FusedActivation;

/// Bits by which both terms are moved to the left.
const LEFT_SHIFT: u32 = 20;

/// int8: both terms on twice the larger scale, their sum on that of the result.
pub fn run(call: &Call<'_, '_>, activation: FusedActivation) -> Option<Data> {
    if !call.is_int8() {
        let sums = call.reals(0)?.iter().zip(call.reals(1)?).map(|(a, b)| activate(activation, a + b));
        return sums.collect::<Option<_>>().map(Data::Real);
    }
    let (a, b, output) = (call.tensor(0)?.params()?, call.tensor(1)?.params()?, call.output().params()?);
    let twice = 2.0 * f64::from(a.scale.max(b.scale));
    let (factor_a, factor_b) = (Factor::of(f64::from(a.scale) / twice), Factor::of(f64::from(b.scale) / twice));
    let factor = Factor::of(twice / (f64::from(1 << LEFT_SHIFT) * f64::from(output.scale)));
    let range = range(activation, output)?;
    let sum = |(&x, &y): (&i8, &i8)| {
        let x = factor_a.times((i32::from(x) - a.zero_point) << LEFT_SHIFT);
        let y = factor_b.times((i32::from(y) - b.zero_point) << LEFT_SHIFT);
        clamp(factor.times(x.wrapping_add(y)).saturating_add(output.zero_point), range)
    };
    Some(Data::Int8(call.codes(0)?.iter().zip(call.codes(1)?).map(sum).collect()))
}
