//! LEAKY_RELU.

use super::fixed_point::Factor;
use super::{Call, Data, clamp};
use crate::tflite::model::Params;

/// int8: one factor for codes of numbers below 0, one for the others.
pub fn run(call: &Call<'_, '_>, alpha: f32) -> Option<Data> {
    match call.value(0)? {
        Data::Real(x) => Some(Data::Real(x.iter().map(|&x| if x < 0.0 { x * f64::from(alpha) } else { x }).collect())),
        Data::Int8(x) => {
            let (input, output) = (call.tensor(0)?.params()?, call.output().params()?);
            Some(Data::Int8(x.iter().map(|&q| code(q, alpha, input, output)).collect()))
        }
    }
}

/// The result of a code.
pub fn code(code: i8, alpha: f32, input: Params, output: Params) -> i8 {
    let centred = i32::from(code) - input.zero_point;
    let slope = if centred >= 0 { 1.0 } else { f64::from(alpha) };
    let factor = Factor::of(f64::from(input.scale) * slope / f64::from(output.scale));
    clamp(factor.times(centred).saturating_add(output.zero_point), (-128, 127))
}
