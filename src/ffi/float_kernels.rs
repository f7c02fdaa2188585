//! The float kernels that single operations on tensors use.

use super::ops::Refusal;
use crate::kernels::reference::softmax;
use crate::kernels::{self, Kernels, Level, conv2d_scratch_elems, depthwise_conv2d_scratch_elems};
use crate::tensor::Window;

/// The kernels of the active level.
pub(super) fn active() -> Result<&'static Kernels, Refusal> {
    Ok(kernels::active())
}

/// Kernels for a convolution without scratch memory.
pub(super) fn for_conv2d(window: &Window, has_bias: bool) -> Result<&'static Kernels, Refusal> {
    Ok(without_scratch(conv2d_scratch_elems(window), has_bias))
}

/// Kernels for a depthwise convolution without scratch memory.
pub(super) fn for_depthwise_conv2d(window: &Window, has_bias: bool) -> Result<&'static Kernels, Refusal> {
    Ok(without_scratch(depthwise_conv2d_scratch_elems(window), has_bias))
}

/// The kernels of the active level if they need no scratch and there is a bias, else those of the reference, which work
/// without either.
fn without_scratch(elems: u32, has_bias: bool) -> &'static Kernels {
    if elems == 0 && has_bias { kernels::active() } else { kernels::table(Level::Reference) }
}

/// Softmax of the elements that lie `step` elements apart, beginning with the first.
pub(super) fn softmax_of_every(step: usize, data: &mut [f32]) {
    softmax::softmax_of_every(step, data);
}
