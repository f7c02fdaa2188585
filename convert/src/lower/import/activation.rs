//! Functions of single elements, and softmax.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Kind};
use crate::lower::view::Axis;

/// `Relu`, `Sigmoid`, `Tanh`, `Abs`.
pub fn plain(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let activation = match call.node.op.as_str() {
        "Relu" => Activation::Relu,
        "Sigmoid" => Activation::Sigmoid,
        "Abs" => Activation::Leaky(-1.0),
        _ => Activation::Tanh,
    };
    Ok(call.push_affine(&x, 1.0, 0.0, activation))
}

/// `LeakyRelu`.
pub fn leaky_relu(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let slope = call.float("alpha", f64::from(0.01f32))?;
    Ok(call.push_affine(&x, 1.0, 0.0, Activation::Leaky(slope)))
}

/// `PRelu` with one slope, or one for each channel.
pub fn prelu(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let slopes = call.spread(&x, call.needed_weights(1)?)?;
    if slopes.iter().all(|slope| *slope == slopes[0]) {
        return Ok(call.push_affine(&x, 1.0, 0.0, Activation::Leaky(slopes[0])));
    }
    if slopes.len() != x.extent.c {
        let found = format!("slopes for single elements of a tensor of shape {:?}", x.view.shape());
        return Err(Trouble::advise(
            found,
            "they cannot be weights of a convolution",
            "use one slope for each channel",
        ));
    }
    Ok(call.push(Kind::PRelu(slopes), &[&x], x.extent, x.view.clone()))
}

/// `Clip`: bounds are attributes before operator set 11, inputs since.
pub fn clip(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    if call.opset() < 11 {
        low = call.float("min", low)?;
        high = call.float("max", high)?;
    }
    for (position, bound) in [(1, &mut low), (2, &mut high)] {
        if let Some(tensor) = call.constant(position)? {
            let Some(value) = tensor.scalar() else {
                return Err(Trouble::refuse(
                    format!("a bound of shape {:?}", tensor.shape()),
                    "it must be one real number",
                ));
            };
            *bound = value;
        }
    }
    clamp(call, &x, low, high)
}

/// `HardSigmoid`: `min(max(alpha * x + beta, 0), 1)`.
pub fn hard_sigmoid(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let (alpha, beta) = (call.float("alpha", f64::from(0.2f32))?, call.float("beta", 0.5)?);
    let line = call.push_affine(&x, alpha, beta, Activation::None);
    clamp(call, &line, 0.0, 1.0)
}

/// `min(max(x, low), high)` as ReLU or ReLU6 of a scaled and shifted `x`.
fn clamp(call: &mut Call<'_, '_>, x: &Operand, low: f64, high: f64) -> Result<Operand, Trouble> {
    let limit = f64::from(f32::MAX);
    let (has_low, has_high) = (low > -limit, high < limit);
    if low.is_nan() || high.is_nan() || low >= high {
        return Err(Trouble::refuse(format!("bounds {low} and {high}"), "the lower one must be below the upper one"));
    }
    Ok(match (has_low, has_high) {
        (false, false) => x.clone(),
        (true, false) => {
            let above = call.push_affine(x, 1.0, -low, Activation::Relu);
            call.push_affine(&above, 1.0, low, Activation::None)
        }
        (false, true) => {
            let below = call.push_affine(x, -1.0, high, Activation::Relu);
            call.push_affine(&below, -1.0, high, Activation::None)
        }
        (true, true) => {
            let unit = (high - low) / 6.0;
            let scaled = call.push_affine(x, 1.0 / unit, -low / unit, Activation::Relu6);
            call.push_affine(&scaled, unit, low, Activation::None)
        }
    })
}

/// `Softmax` over a whole row or map, or over the channels of each pixel.
pub fn softmax(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let rank = x.view.rank();
    let is_old = call.opset() < 13;
    let axis = call.int("axis", if is_old { 1 } else { -1 })?;
    let first = dimension(axis, rank)?;
    let dims: Vec<usize> = if is_old { (first..rank).collect() } else { vec![first] };
    let activation = if x.view.selects(&dims, &[Axis::H, Axis::W, Axis::C]) {
        Activation::Softmax
    } else if x.view.selects(&dims, &[Axis::C]) {
        Activation::PixelSoftmax
    } else {
        let found = format!("axis = {axis} of an input of shape {:?}", x.view.shape());
        let advice = "normalise all elements of a row, or leave softmax to the program that uses the model";
        return Err(Trouble::advise(found, "a .nk softmax runs over all elements of a row", advice));
    };
    Ok(call.push_affine(&x, 1.0, 0.0, activation))
}

/// `Gelu`, which only a ConvNeXt V2 block contains.
pub fn gelu(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let form = call.text("approximate", "none")?;
    let tanh = match form {
        "tanh" => true,
        "none" => false,
        _ => return Err(Trouble::refuse(format!("approximate = {form}"), "its meaning is not known here")),
    };
    Ok(call.push(Kind::Gelu { tanh }, &[&x], x.extent, x.view.clone()))
}
