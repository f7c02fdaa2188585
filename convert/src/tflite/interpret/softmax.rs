//! SOFTMAX over the last dimension.

use super::fixed_point::{Factor, exp_of_negative, high_product, reciprocal_of_one_plus, rounded_shift};
use super::{Call, Data};

/// Bits before the point of the differences of logits.
const DIFFERENCE_BITS: i32 = 5;
/// Bits before the point of the sum.
const SUM_BITS: i32 = 12;

/// int8: probabilities in steps of 1/256 from -128 on.
pub fn run(call: &Call<'_, '_>, beta: f32) -> Option<Data> {
    let classes = *call.tensor(0)?.shape.last()?;
    match call.value(0)? {
        Data::Real(x) => Some(Data::Real(x.chunks_exact(classes).flat_map(|row| real(row, f64::from(beta))).collect())),
        Data::Int8(x) => {
            let scale = f64::from(call.tensor(0)?.params()?.scale) * f64::from(beta);
            let most = f64::from(i32::MAX);
            let factor = Factor::of((scale * f64::from(1 << (31 - DIFFERENCE_BITS))).min(most));
            Some(Data::Int8(x.chunks_exact(classes).flat_map(|row| integer(row, factor)).collect()))
        }
    }
}

fn real(row: &[f64], beta: f64) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exps: Vec<f64> = row.iter().map(|x| ((x - largest) * beta).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.into_iter().map(|exp| exp / sum).collect()
}

fn integer(row: &[i8], factor: Factor) -> Vec<i8> {
    // The least difference that has 5 bits before the point once it is scaled.
    let least = -((31.0 * 2f64.powi(31 - DIFFERENCE_BITS) / 2f64.powi(factor.shift)).floor() as i64);
    let largest = row.iter().copied().max().map_or(0, i32::from);
    let exp = |&code: &i8| {
        let difference = i32::from(code) - largest;
        (i64::from(difference) >= least).then(|| exp_of_negative(factor.times(difference), DIFFERENCE_BITS as u32))
    };
    let exps: Vec<Option<i32>> = row.iter().map(exp).collect();
    let sum = exps.iter().flatten().map(|&exp| rounded_shift(exp, SUM_BITS)).fold(0, i32::wrapping_add);
    let headroom = sum.leading_zeros() as i32;
    let fraction = ((sum as u32).wrapping_shl(headroom as u32)).wrapping_sub(1 << 31) as i32;
    let reciprocal = reciprocal_of_one_plus(fraction);
    let shift = SUM_BITS - headroom + 31 - 8;
    let code = |exp: Option<i32>| match exp {
        Some(exp) => (rounded_shift(high_product(reciprocal, exp), shift) - 128).clamp(-128, 127) as i8,
        None => -128,
    };
    exps.into_iter().map(code).collect()
}
