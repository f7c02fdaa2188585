//! Depthwise convolution.

use crate::kernels::int8::DepthwiseConv2d;
use crate::tensor::Window;

/// Scratch in i16 elements.
pub fn scratch_elems(_window: &Window) -> u32 {
    0
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::int8::Kernels::depthwise_conv2d) as every target has it.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    crate::kernels::int8::reference::depthwise_conv2d::depthwise_conv2d(args);
}
