//! RELU and RELU6.

use super::fixed_point::Factor;
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::FusedActivation;

/// int8: the result may have another scale.
pub fn run(call: &Call<'_, '_>, activation: FusedActivation) -> Option<Data> {
    match call.value(0)? {
        Data::Real(x) => x.iter().map(|&x| activate(activation, x)).collect::<Option<_>>().map(Data::Real),
        Data::Int8(x) => {
            let (input, output) = (call.tensor(0)?.params()?, call.output().params()?);
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
