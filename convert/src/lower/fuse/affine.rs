//! Scales, shifts and activations: merged with each other, into the operation before, or into the one behind.

use crate::lower::ir::{Activation, Affine, Id, Ir, Kind};

/// Drops `x * 1 + 0`.
pub fn drop_plain(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    if affine.activation != Activation::None || !affine.is_plain() {
        return false;
    }
    let (input, origin) = (ir.input(id), ir.ops[id].origin.clone());
    ir.ops[input].origin.nodes.extend(&origin.nodes);
    ir.bypass(id, input);
    true
}

/// `(x * a + b) * c + d` is one scale and shift.
pub fn merge(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Affine(outer) = &ir.ops[id].kind else { return false };
    let input = ir.input(id);
    let Kind::Affine(inner) = &ir.ops[input].kind else { return false };
    if inner.activation != Activation::None || reads[input] != 1 {
        return false;
    }
    let channels = ir.ops[id].extent.c;
    let length = outer.scale.len().max(inner.scale.len());
    let at = |values: &[f64], index: usize| values[index % values.len()];
    let merged = Affine {
        scale: (0..length).map(|index| at(&inner.scale, index) * at(&outer.scale, index)).collect(),
        shift: (0..length)
            .map(|index| at(&inner.shift, index) * at(&outer.scale, index) + at(&outer.shift, index))
            .collect(),
        activation: outer.activation,
    };
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin);
    let inputs = ir.ops[input].inputs.clone();
    ir.replace(id, Kind::Affine(merged.aligned(channels)), inputs, origin);
    true
}

/// Moves scale, shift and activation into the operation before, which nobody else reads.
pub fn into_operand(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    let input = ir.input(id);
    if reads[input] != 1 || affine.scale.len() != ir.ops[id].extent.c {
        return false;
    }
    let affine = affine.clone();
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin);
    match &mut ir.ops[input].kind {
        Kind::Conv(conv) if conv.activation == Activation::None => {
            scale_rows(&mut conv.weights, &mut conv.bias, &affine);
            conv.activation = affine.activation;
        }
        Kind::Depthwise(conv) if conv.activation == Activation::None => {
            scale_rows(&mut conv.weights, &mut conv.bias, &affine);
            conv.activation = affine.activation;
        }
        Kind::LayerNorm(norm) if affine.activation == Activation::None => {
            scale_rows(&mut norm.gamma, &mut norm.beta, &affine);
        }
        _ => return false,
    }
    let is_scaled = !affine.is_plain();
    let rewrite = if is_scaled { "scale and shift folded into the weights" } else { "activation joined to its layer" };
    ir.ops[input].origin = origin.by(rewrite);
    ir.bypass(id, input);
    true
}

/// `weights` holds one row for each channel.
fn scale_rows(weights: &mut [f64], bias: &mut [f64], affine: &Affine) {
    let length = weights.len() / bias.len();
    for (channel, row) in weights.chunks_exact_mut(length).enumerate() {
        row.iter_mut().for_each(|weight| *weight *= affine.scale[channel]);
        bias[channel] = bias[channel] * affine.scale[channel] + affine.shift[channel];
    }
}

/// Drops an activation that changes nothing behind the one before it.
pub fn repeat(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    let input = ir.input(id);
    let before = match &ir.ops[input].kind {
        Kind::Conv(conv) => conv.activation,
        Kind::Depthwise(conv) => conv.activation,
        Kind::Affine(affine) => affine.activation,
        _ => return false,
    };
    let changes_nothing = affine.is_plain()
        && match affine.activation {
            Activation::Relu => before.is_nonnegative(),
            Activation::Leaky(_) => before.is_nonnegative(),
            Activation::Relu6 => matches!(before, Activation::Relu6 | Activation::Sigmoid | Activation::Softmax),
            _ => false,
        };
    if changes_nothing {
        let origin = ir.ops[input].origin.clone().and(&ir.ops[id].origin);
        ir.ops[input].origin = origin.by("activation dropped that changes nothing");
        ir.bypass(id, input);
    }
    changes_nothing
}

/// Moves a scale and shift into the convolution behind it. Zero padding would have to be shifted too, so a shift must meet none.
pub fn into_reader(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Some(&input) = ir.ops[id].inputs.first() else { return false };
    let Kind::Affine(affine) = &ir.ops[input].kind else { return false };
    if affine.activation != Activation::None || reads[input] != 1 {
        return false;
    }
    let (before, extent) = (ir.ops[input].extent, ir.ops[id].extent);
    let is_per_channel = affine.scale.len() == before.c;
    let is_shifted = affine.shift.iter().any(|&shift| shift != 0.0);
    let affine = affine.clone();
    match &mut ir.ops[id].kind {
        Kind::Conv(conv) => {
            let inside = conv.window.stays_inside(before, extent);
            let is_whole_map = inside && conv.window.kernel == (before.h, before.w);
            if is_shifted && !inside || !is_per_channel && !is_whole_map {
                return false;
            }
            let row = conv.weights.len() / conv.bias.len();
            for (weights, bias) in conv.weights.chunks_exact_mut(row).zip(&mut conv.bias) {
                for (index, weight) in weights.iter_mut().enumerate() {
                    *bias += *weight * affine.shift[index % affine.shift.len()];
                    *weight *= affine.scale[index % affine.scale.len()];
                }
            }
        }
        Kind::Depthwise(conv) => {
            if is_shifted && !conv.window.stays_inside(before, extent) || !is_per_channel {
                return false;
            }
            let row = conv.window.area();
            for (channel, weights) in conv.weights.chunks_exact_mut(row).enumerate() {
                conv.bias[channel] += weights.iter().sum::<f64>() * affine.shift[channel];
                weights.iter_mut().for_each(|weight| *weight *= affine.scale[channel]);
            }
        }
        _ => return false,
    }
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin);
    ir.ops[id].origin = origin.by("scale and shift folded into the weights");
    ir.ops[id].inputs = ir.ops[input].inputs.clone();
    true
}
