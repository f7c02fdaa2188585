//! RELU and RELU6.

use super::fixed_point::Factor;
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::FusedActivation;

/// int8: RELU moves codes to the scale of its result, RELU6 only clamps them in that of its input.
pub fn run(call: &Call<'_, '_>, activation: FusedActivation) -> Option<Data> {
    match call.value(0)? {
        Data::Real(x) => x.iter().map(|&x| activate(activation, x)).collect::<Option<_>>().map(Data::Real),
        Data::Int8(x) => {
            let input = call.tensor(0)?.params()?;
            if activation == FusedActivation::Relu6 {
                let range = range(activation, input)?;
                return Some(Data::Int8(x.iter().map(|&code| clamp(code.into(), range)).collect()));
            }
            let output = call.output().params()?;
            let factor = Factor::of(f64::from(input.scale) / f64::from(output.scale));
            let range = range(activation, output)?;
            let code = |&code: &i8| {
                let scaled = factor.times(i32::from(code) - input.zero_point);
                clamp(scaled.saturating_add(output.zero_point), range)
            };
            Some(Data::Int8(x.iter().map(code).collect()))
        }
    }
}
