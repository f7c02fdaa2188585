//! ADD: the sum that closes a residual block.

use super::{Call, Translated, exact};
use crate::lower::import::Trouble;
use crate::lower::ir::{Activation, Affine, Kind};
use crate::tflite::model::FusedActivation;

/// A sum of two tensors of the same shape; which blocks are layers is decided when all operators are known.
pub fn add(call: &mut Call<'_, '_, '_>, activation: FusedActivation) -> Result<Translated, Trouble> {
    let (left, right) = (call.operand(0)?, call.operand(1)?);
    let (extent, other) = (call.extent(left), call.extent(right));
    let shapes = call.tensor(0).zip(call.tensor(1)).map(|(left, right)| (&left.shape, &right.shape));
    if extent != other || shapes.is_none_or(|(left, right)| left != right) {
        let found = format!("shapes {shapes:?}");
        return Err(Trouble::refuse(found, "both terms of a residual sum have the same shape"));
    }
    let (activation, range) = if call.is_int8() {
        call.params(call.tensor(0))?;
        call.params(call.tensor(1))?;
        exact::clamp(activation, call.params(Some(call.output()))?)?
    } else {
        (exact::plain(activation)?, (-128, 127))
    };
    let sum = call.push(Kind::Add, &[left, right], extent, range);
    if activation == Activation::None {
        return Ok(sum);
    }
    let affine = Affine { scale: vec![1.0; extent.c], shift: vec![0.0; extent.c], activation };
    Ok(call.push(Kind::Affine(affine), &[sum], extent, range))
}
