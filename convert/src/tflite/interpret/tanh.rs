//! TANH.

use super::fixed_point::{Factor, exp_of_negative, one_minus_over_one_plus, rounded_shift};
use super::{Call, Data};
use crate::tflite::model::Params;

/// Bits before the point of a scaled input.
pub const INPUT_BITS: u32 = 4;

/// int8: steps of 1/128.
pub fn run(call: &Call<'_, '_>) -> Option<Data> {
    call.each(f64::tanh, code)
}

/// The result of a code.
pub fn code(code: i8, input: Params) -> i8 {
    let x = match scaled(code, input) {
        Ok(x) => x,
        Err(end) => return end,
    };
    // tanh(-|x|) from exp(-2|x|): the same bits with one more before the point.
    let of_negative = one_minus_over_one_plus(exp_of_negative(-x.abs(), INPUT_BITS + 1));
    let tanh = of_negative * x.signum();
    rounded_shift(tanh, 31 - 7).clamp(-128, 127) as i8
}

/// The input with 4 bits before the point, or the end of the results where it has more.
pub fn scaled(code: i8, input: Params) -> Result<i32, i8> {
    let one = 1i64 << (31 - INPUT_BITS);
    let factor = Factor::of(f64::from(input.scale) * one as f64);
    let radius = (15.0 * one as f64 / 2f64.powi(factor.shift)).floor();
    let centred = i32::from(code) - input.zero_point;
    match f64::from(centred) {
        x if x <= -radius => Err(i8::MIN),
        x if x >= radius => Err(i8::MAX),
        _ => Ok(factor.times(centred)),
    }
}
