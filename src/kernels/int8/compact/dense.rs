//! Dense layers, and 1x1 convolutions as a matrix product: a 1x1 convolution over a map one pixel high.

use super::conv2d;
use super::machine::{Machine, Native};
use crate::kernels::int8::Dense;
use crate::kernels::int8::portable::dense::{as_window, run};

/// Scratch in i16 elements: see [`conv2d::scratch_elems`].
pub fn scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    scratch_elems_of::<Native>(rows, in_features, out_features)
}

/// The same for a machine.
pub fn scratch_elems_of<M: Machine>(rows: u32, in_features: u32, out_features: u32) -> u32 {
    conv2d::scratch_elems_of::<M>(&as_window(rows, in_features, out_features), false)
}

/// [`Kernels::dense`](crate::kernels::int8::Kernels::dense).
pub fn dense<M: Machine>(args: &mut Dense<'_>) {
    run(args, conv2d::conv2d::<M>);
}
