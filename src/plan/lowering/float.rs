//! What a float step has besides: scratch memory and packed weights.

use crate::kernels::{
    conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_scratch_elems, grn_scratch_elems, packed_elems,
    packed_row_elems,
};
use crate::plan::steps::{Op, Step};

/// Bytes of scratch memory that the float kernels need for a step.
pub(super) fn scratch_bytes(op: Op, step: &Step) -> u32 {
    let window = &step.window;
    match op {
        Op::Conv2d => 4 * conv2d_scratch_elems(window),
        Op::Dense => 4 * dense_scratch_elems(window.in_h, window.in_c, window.out_c),
        Op::DepthwiseConv2d => 4 * depthwise_conv2d_scratch_elems(window),
        Op::Grn => 4 * grn_scratch_elems(window.in_c),
        _ => 0,
    }
}

/// Bytes of the packed weights of a step; 0 where its kernel cannot use any.
pub(crate) fn packed_bytes(step: &Step) -> usize {
    let (pixels, outputs, k) = (step.pixels(), step.window.out_c as usize, step.weights_per_channel());
    let elems = match step.op() {
        Some(Op::Dense) if pixels == 1 => packed_row_elems(outputs, k),
        Some(Op::Conv2d | Op::Dense) => packed_elems(pixels, outputs, k),
        _ => 0,
    };
    elems.saturating_mul(size_of::<f32>())
}
