//! LOGISTIC.

use super::fixed_point::{exp_of_negative, reciprocal_of_one_plus, rounded_shift};
use super::tanh::{INPUT_BITS, scaled};
use super::{Call, Data};
use crate::tflite::model::Params;

/// int8: steps of 1/256 from -128 on.
pub fn run(call: &Call<'_, '_>) -> Option<Data> {
    call.each(|x| 1.0 / (1.0 + (-x).exp()), code)
}

/// The result of a code.
pub fn code(code: i8, input: Params) -> i8 {
    let x = match scaled(code, input) {
        Ok(x) => x,
        Err(end) => return end,
    };
    let of_positive = reciprocal_of_one_plus(exp_of_negative(-x.abs(), INPUT_BITS));
    let logistic = match x {
        0 => 1 << 30,
        1.. => of_positive,
        _ => i32::MAX - of_positive,
    };
    (rounded_shift(logistic, 31 - 8) - 128).clamp(-128, 127) as i8
}
