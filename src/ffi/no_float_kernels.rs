//! In place of the float kernels, in a build without them: operations on tensors are refused.

use super::ops::Refusal;
use crate::element;
use crate::kernels::Kernels;
use crate::tensor::Window;

const NONE: Refusal = Refusal::Tensor(element::NO_F32);

pub(super) fn active() -> Result<&'static Kernels, Refusal> {
    Err(NONE)
}

pub(super) fn for_conv2d(_: &Window, _: bool) -> Result<&'static Kernels, Refusal> {
    Err(NONE)
}

pub(super) fn for_depthwise_conv2d(_: &Window, _: bool) -> Result<&'static Kernels, Refusal> {
    Err(NONE)
}

/// Nobody gets here without kernels.
pub(super) fn softmax_of_every(_: usize, _: &mut [f32]) {}
