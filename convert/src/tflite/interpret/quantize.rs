//! QUANTIZE of real numbers and DEQUANTIZE to them.

use super::{Call, Data, clamp};

/// The nearest code, halves away from zero.
pub fn quantize(call: &Call<'_, '_>) -> Option<Data> {
    let params = call.output().params()?;
    let code =
        |&x: &f64| clamp(((x as f32 / params.scale).round() as i32).saturating_add(params.zero_point), (-128, 127));
    Some(Data::Int8(call.reals(0)?.iter().map(code).collect()))
}

/// The number of a code.
pub fn dequantize(call: &Call<'_, '_>) -> Option<Data> {
    let params = call.tensor(0)?.params()?;
    let real = |&code: &i8| f64::from(params.scale) * f64::from(i32::from(code) - params.zero_point);
    Some(Data::Real(call.codes(0)?.iter().map(real).collect()))
}
