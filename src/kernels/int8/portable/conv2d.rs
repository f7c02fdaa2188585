//! Convolution.

use crate::kernels::int8::Conv2d;
use crate::tensor::Window;

/// Scratch in i16 elements.
pub fn scratch_elems(_window: &Window) -> u32 {
    0
}

/// [`Kernels::conv2d`](crate::kernels::int8::Kernels::conv2d) as every target has it.
pub fn conv2d(args: &mut Conv2d<'_>) {
    crate::kernels::int8::reference::conv2d::conv2d(args);
}
