//! The channels of several convolutions of one operand are the filters of one convolution.

use super::linear::{Linear, common_root, common_window};
use super::matching::is_nonnegative;
use crate::lower::ir::{Activation, Conv, Id, Ir, Kind};

/// Merges the branches of a `Concat`.
pub fn merge(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Concat = ir.ops[id].kind else { return false };
    let parts = ir.ops[id].inputs.clone();
    let Some(root) = common_root(ir, &parts) else { return false };
    let branches: Option<Vec<Linear>> = parts.iter().map(|&part| Linear::of(ir, part, root, reads)).collect();
    let Some(mut branches) = branches else { return false };
    // ReLU changes nothing in what is never negative, so the operand itself may stand beside convolutions with ReLU.
    if branches.iter().any(|branch| branch.activation() == Activation::Relu) && is_nonnegative(ir, root) {
        let rectified = |(branch, &part): (&mut Linear, &Id)| {
            if part == root {
                branch.set_activation(Activation::Relu);
            }
        };
        branches.iter_mut().zip(&parts).for_each(rectified);
    }
    let activation = branches[0].activation();
    let is_softmax = matches!(activation, Activation::Softmax | Activation::PixelSoftmax);
    if is_softmax || branches.iter().any(|branch| branch.activation() != activation) {
        return false;
    }
    let channels = ir.ops[root].extent.c;
    let windows = branches.iter().map(|branch| Some(branch.window()));
    let window = windows.reduce(|a, b| common_window(a?, b?)).flatten();
    let Some(window) = window else { return false };
    let mut conv = Conv { window, weights: Vec::new(), bias: Vec::new(), activation, is_dense: false, quant: None };
    for branch in &branches {
        let part = branch.widened(window, channels);
        conv.weights.extend(part.weights);
        conv.bias.extend(part.bias);
        conv.is_dense |= branch.is_dense();
    }
    let own = parts.iter().filter(|&&part| part != root);
    let origin = own.fold(ir.ops[id].origin.clone(), |origin, &part| origin.and(&ir.ops[part].origin));
    ir.replace(id, Kind::Conv(conv), vec![root], origin.by("parallel branches as filters of one layer"));
    true
}
