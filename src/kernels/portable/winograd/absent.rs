//! In place of Winograd's method in builds for microcontrollers, whose stack is too small for it, and in those without `simd`.

use crate::kernels::args::{Conv2d, Epilogue, Filters};
use crate::kernels::portable::tile::InnerLoops;
use crate::tensor::Window;

/// No scratch makes the method usable.
pub fn scratch_elems(_: &Window) -> Option<(usize, usize)> {
    None
}

/// Direct convolution is used.
pub fn tiles_at_once(_: &Window, _: usize) -> usize {
    0
}

/// There are no such weights.
pub fn packed_elems(_: &Window) -> usize {
    0
}

/// Nobody asks for them.
pub fn pack(_: &Filters<'_, f32>, _: &Epilogue<'_>, _: &mut [f32]) {}

/// Never runs.
pub(super) fn run(_: &mut Conv2d<'_>, _: &InnerLoops, _: usize) {}
