//! Operators that are a function of each element, and SOFTMAX: they become part of the layer in front of them, or of a layer
//! that changes nothing.

use netkit::format::quant::QuantParams;

use super::{Call, Translated, exact};
use crate::lower::expand;
use crate::lower::import::Trouble;
use crate::lower::ir::{Activation, Affine, Conv, Depthwise, Kind, Quant, Window};
use crate::tflite::interpret;
use crate::tflite::model::{FusedActivation, Params};

/// Most elements of a row for which a matrix that changes nothing is made.
const MAX_SQUARE: usize = 2048;
/// Result of int8 LOGISTIC and SOFTMAX.
const PROBABILITY: QuantParams = QuantParams { scale: 1.0 / 256.0, zero_point: -128 };
/// Result of int8 TANH.
const TANH: QuantParams = QuantParams { scale: 1.0 / 128.0, zero_point: 0 };

/// LOGISTIC.
pub fn logistic(call: &mut Call<'_, '_, '_>) -> Result<Translated, Trouble> {
    let function = |x: f64| 1.0 / (1.0 + (-x).exp());
    table(call, Activation::Sigmoid, PROBABILITY, function, interpret::logistic_code)
}

/// TANH.
pub fn tanh(call: &mut Call<'_, '_, '_>) -> Result<Translated, Trouble> {
    table(call, Activation::Tanh, TANH, f64::tanh, interpret::tanh_code)
}

/// LEAKY_RELU; in int8 with the same scale and zero point before and behind it.
pub fn leaky_relu(call: &mut Call<'_, '_, '_>, alpha: f32) -> Result<Translated, Trouble> {
    let activation = Activation::Leaky(f64::from(alpha));
    if !call.is_int8() {
        return behind(call, activation, (-128, 127));
    }
    let output = call.params(Some(call.output()))?;
    if call.params(call.tensor(0))? != output {
        return Err(Trouble::advise(
            "another scale or zero point behind it".into(),
            "an int8 leaky ReLU of a .nk layer keeps them",
            "use RELU, or quantise both tensors with one scale",
        ));
    }
    let function = |x: f64| if x < 0.0 { x * f64::from(alpha) } else { x };
    let own = Params { scale: output.scale, zero_point: output.zero_point };
    table(call, activation, output, function, |code, input| interpret::leaky_relu_code(code, alpha, input, own))
}

/// An activation that is a table in int8.
fn table(
    call: &mut Call<'_, '_, '_>,
    activation: Activation,
    expected: QuantParams,
    function: impl Fn(f64) -> f64,
    code: impl Fn(i8, Params) -> i8,
) -> Result<Translated, Trouble> {
    if call.is_int8() {
        let (input, output) = (call.params(call.tensor(0))?, call.params(Some(call.output()))?);
        if output != expected {
            let found = format!("a result of {output:?}, expected {expected:?}");
            return Err(Trouble::refuse(found, "its int8 form has this scale and zero point"));
        }
        if !exact::table_agrees(input, output, function, code) {
            let found = format!("an input of {input:?}");
            return Err(Trouble::refuse(found, "the engine's table of this activation rounds a code differently"));
        }
    }
    behind(call, activation, (-128, 127))
}

/// RELU and RELU6.
pub fn relu(call: &mut Call<'_, '_, '_>, fused: FusedActivation) -> Result<Translated, Trouble> {
    if !call.is_int8() {
        return behind(call, exact::plain(fused)?, (-128, 127));
    }
    let (input, output) = (call.params(call.tensor(0))?, call.params(Some(call.output()))?);
    let (activation, range) = exact::clamp(fused, output)?;
    if input == output {
        return behind(call, activation, range);
    }
    if fused == FusedActivation::Relu6 {
        let found = format!("codes of {input:?} taken for {output:?}");
        return Err(Trouble::refuse(found, "the operator clamps codes and does not move them to another scale"));
    }
    // The factor of scales is that of a convolution with weights of 1.
    let quant = Quant { input, scales: vec![1.0], weight_zero_point: 0, output };
    unchanged(call, activation, Some(quant), range)
}

/// SOFTMAX over the last dimension.
pub fn softmax(call: &mut Call<'_, '_, '_>, beta: f32) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.extent(input);
    let classes = call.tensor(0).and_then(|tensor| tensor.shape.last().copied()).unwrap_or(0);
    if beta != 1.0 {
        return Err(Trouble::refuse(format!("beta = {beta}"), "a .nk softmax has 1"));
    }
    if classes != extent.elements() {
        let found = format!("{classes} classes for {extent:?}");
        return Err(Trouble::refuse(found, "a .nk softmax goes over the whole row"));
    }
    if call.is_int8() {
        call.params(call.tensor(0))?;
        let output = call.params(Some(call.output()))?;
        if output != PROBABILITY {
            let found = format!("a result of {output:?}, expected {PROBABILITY:?}");
            return Err(Trouble::refuse(found, "its int8 form has this scale and zero point"));
        }
    }
    behind(call, Activation::Softmax, (-128, 127))
}

/// The activation as part of the layer that computes its operand, if that has none and nobody else reads it.
fn behind(call: &mut Call<'_, '_, '_>, activation: Activation, range: (i32, i32)) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    if !call.is_int8() {
        let extent = call.extent(input);
        let affine = Affine { scale: vec![1.0; extent.c], shift: vec![0.0; extent.c], activation };
        return Ok(call.push(Kind::Affine(affine), &[input], extent, range));
    }
    let (index, tensor) = (call.index, call.operator().outputs[0]);
    if let Some(op) = call.only_reader_of(0) {
        let is_row = op.extent.is_pixel();
        let free = match &mut op.kind {
            // An int8 softmax belongs to a dense layer.
            Kind::Conv(conv) if activation == Activation::Softmax && !conv.is_dense => {
                conv.is_dense = is_row && conv.window == Window::POINT;
                conv.is_dense.then_some(&mut conv.activation)
            }
            Kind::Conv(conv) => Some(&mut conv.activation),
            Kind::Depthwise(conv) if activation != Activation::Softmax => Some(&mut conv.activation),
            _ => None,
        };
        if let Some(own) = free.filter(|own| **own == Activation::None) {
            *own = activation;
            op.origin.nodes.insert(index);
            call.importer.note_params(input.id, tensor);
            return Ok(Translated { range, ..input });
        }
    }
    let own = call.params(call.tensor(0))?;
    let quant = Quant { input: own, scales: vec![1.0], weight_zero_point: 0, output: own };
    unchanged(call, activation, Some(quant), range)
}

/// A layer with weights of 1 for the activation: a matrix for a row that a matrix has computed, else a depthwise convolution.
fn unchanged(
    call: &mut Call<'_, '_, '_>,
    activation: Activation,
    quant: Option<Quant>,
    range: (i32, i32),
) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.extent(input);
    let is_row = extent.is_pixel();
    if is_row && extent.c > MAX_SQUARE {
        let found = format!("a function of each of {} elements of a row", extent.c);
        return Err(Trouble::advise(
            found,
            "its matrix would be too large",
            "put it directly behind a layer with weights",
        ));
    }
    let kind = if is_row {
        Kind::Conv(Conv { activation, quant, ..expand::identity(extent.c, true) })
    } else {
        let (weights, bias) = (vec![1.0; extent.c], vec![0.0; extent.c]);
        Kind::Depthwise(Depthwise { window: Window::POINT, weights, bias, activation, quant })
    };
    let result = call.push(kind, &[input], extent, range);
    Ok(call.rewritten(result, "activation on a layer with weights of 1"))
}
