//! What a float step has besides: scratch memory.

use crate::kernels::{conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_scratch_elems, grn_scratch_elems};
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
