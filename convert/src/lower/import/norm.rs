//! Normalisations.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Affine, Kind, Norm};
use crate::lower::view::Axis;

/// `BatchNormalization` outside of training: a scale and a shift for each channel.
pub fn batch_normalization(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let eps = call.float("epsilon", f64::from(1e-5f32))?;
    call.ignore(&["momentum", "consumed_inputs"]);
    call.require_int("training_mode", 0, "statistics of the input would be used")?;
    call.require_int("spatial", 1, "statistics of single elements would be used")?;
    call.require_int("is_test", 1, "statistics of the input would be used")?;
    let rank = x.view.rank();
    let channels = x.view.shape().get(1).copied().unwrap_or(0);
    let mut spread = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for (position, values) in spread.iter_mut().enumerate() {
        let (elements, shape) = call.needed_weights(position + 1)?;
        if shape != [channels] {
            let found = format!("input {} of shape {shape:?} for {channels} channels", position + 1);
            return Err(Trouble::refuse(found, "there must be one number for each channel"));
        }
        *values = elements.to_vec();
    }
    let [gamma, beta, mean, variance] = spread;
    let scale: Vec<f64> =
        gamma.iter().zip(&variance).map(|(gamma, variance)| gamma / (variance + eps).sqrt()).collect();
    let shift: Vec<f64> = (0..channels).map(|channel| beta[channel] - mean[channel] * scale[channel]).collect();
    if scale.iter().any(|scale| !scale.is_finite()) {
        return Err(Trouble::refuse("a variance that is not above -epsilon".into(), "the scale is not finite"));
    }
    let mut shape = vec![1; rank - 1];
    shape[0] = channels;
    let affine = Affine {
        scale: call.spread(&x, (&scale, &shape))?,
        shift: call.spread(&x, (&shift, &shape))?,
        activation: Activation::None,
    };
    // Constant numbers may need fewer elements than others.
    let affine = affine.aligned(x.extent.c);
    Ok(call.push(Kind::Affine(affine), &[&x], x.extent, x.view.clone()))
}

/// `LayerNormalization` over the channels of each pixel.
pub fn layer_normalization(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let eps = call.float("epsilon", f64::from(1e-5f32))?;
    call.ignore(&["stash_type"]);
    let axis = call.int("axis", -1)?;
    let first = dimension(axis, x.view.rank())?;
    let dims: Vec<usize> = (first..x.view.rank()).collect();
    if !x.view.selects(&dims, &[Axis::C]) {
        let found = format!("axis = {axis} of an input of shape {:?}", x.view.shape());
        let advice = "move the channels to the end with a Transpose before";
        return Err(Trouble::advise(found, "a .nk layer norm runs over the channels of each pixel", advice));
    }
    let gamma = call.spread(&x, call.needed_weights(1)?)?;
    let beta = match call.weights(2)? {
        Some(beta) => call.spread(&x, beta)?,
        None => vec![0.0; x.extent.c],
    };
    if gamma.len() != x.extent.c || beta.len() != x.extent.c {
        let found = "a scale or a bias that differs from pixel to pixel".to_string();
        return Err(Trouble::refuse(found, "a .nk layer norm has one number for each channel"));
    }
    Ok(call.push(Kind::LayerNorm(Norm { gamma, beta, eps }), &[&x], x.extent, x.view.clone()))
}
