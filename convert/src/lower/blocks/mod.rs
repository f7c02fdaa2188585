//! Blocks with a residual sum that are one `.nk` layer. A block is taken only where the sum stands in the graph and everything
//! agrees with what the layer computes: kernels, padding, strides, activations, and that nobody else reads what is inside.

mod convnext;
mod resnet;
mod uib;

use super::ir::{Activation, Conv, Depthwise, Id, Ir, Kind, Window};

/// Replaces all blocks. `may_split`: whether a part of a block may become a layer of its own, which takes floats.
pub fn recognise(ir: &mut Ir, may_split: bool) {
    for id in ir.order() {
        let reads = ir.reads();
        let _ = resnet::recognise(ir, id, &reads, may_split)
            || uib::recognise(ir, id, &reads)
            || convnext::recognise(ir, id, &reads);
    }
}

/// A convolution that nobody else reads.
fn conv<'i>(ir: &'i Ir, id: Id, reads: &[usize], activation: Activation) -> Option<(&'i Conv, Id)> {
    match &ir.ops[id].kind {
        Kind::Conv(conv) if reads[id] == 1 && conv.activation == activation => Some((conv, ir.input(id))),
        _ => None,
    }
}

/// A 1x1 convolution that nobody else reads.
fn pointwise<'i>(ir: &'i Ir, id: Id, reads: &[usize], activation: Activation) -> Option<(&'i Conv, Id)> {
    conv(ir, id, reads, activation).filter(|(conv, _)| conv.window == Window::POINT)
}

/// A depthwise convolution of odd kernel that keeps the size and that nobody else reads.
fn depthwise<'i>(ir: &'i Ir, id: Id, reads: &[usize], activation: Activation) -> Option<(&'i Depthwise, Id)> {
    let Kind::Depthwise(conv) = &ir.ops[id].kind else { return None };
    let kernel = conv.window.kernel.0;
    let same = Window { kernel: (kernel, kernel), stride: 1, before: (kernel / 2, kernel / 2) };
    let keeps_size = conv.window == same && kernel % 2 == 1 && ir.ops[id].extent == ir.input_extent(id);
    (reads[id] == 1 && conv.activation == activation && keeps_size).then(|| (conv, ir.input(id)))
}
