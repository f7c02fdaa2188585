//! FULLY_CONNECTED.

use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::FusedActivation;

/// int8: both inputs and weights are centred; weights may have one scale for each unit.
pub fn run(call: &Call<'_, '_>, activation: FusedActivation) -> Option<Data> {
    let (weights, output) = (call.tensor(1)?, call.output());
    let [units, features] = weights.shape[..] else { return None };
    if features == 0 {
        return None;
    }
    if !call.is_int8() {
        let (x, matrix, bias) = (call.reals(0)?, weights.real()?, call.real_bias(units)?);
        let dot = |row: &[f64], unit: usize| {
            row.iter().zip(&matrix[unit * features..]).map(|(x, w)| x * w).sum::<f64>() + bias[unit]
        };
        let rows = x.chunks_exact(features).flat_map(|row| (0..units).map(move |unit| (row, unit)));
        return rows.map(|(row, unit)| activate(activation, dot(row, unit))).collect::<Option<_>>().map(Data::Real);
    }
    let (x, matrix, bias, factors) = (call.codes(0)?, weights.int8()?, call.bias(units)?, call.factors(units)?);
    let (zero, params) = (call.tensor(0)?.params()?.zero_point, output.params()?);
    let weight_zero = weights.quant?.zero_point(0)?;
    let range = range(activation, params)?;
    let code = |(row, unit): (&[i8], usize)| {
        let pairs = row.iter().zip(&matrix[unit * features..]);
        let product = |(&x, &w): (&i8, &i8)| (i32::from(x) - zero) * (i32::from(w) - weight_zero);
        let sum = pairs.map(product).fold(bias[unit], i32::wrapping_add);
        clamp(factors[unit].times(sum).saturating_add(params.zero_point), range)
    };
    let rows = x.chunks_exact(features).flat_map(|row| (0..units).map(move |unit| (row, unit)));
    Some(Data::Int8(rows.map(code).collect()))
}
