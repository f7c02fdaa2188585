//! Dense layers, and 1x1 convolutions as a matrix product: a 1x1 convolution over a map one pixel high.

use super::conv2d;
use crate::kernels::KernelPitch;
use crate::kernels::int8::{Conv2d, Dense};
use crate::tensor::Window;

/// Scratch in i16 elements: see [`conv2d::scratch_elems`].
pub fn scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    conv2d::scratch_elems(&as_window(rows, in_features, out_features), false)
}

pub(in crate::kernels) fn as_window(rows: u32, in_features: u32, out_features: u32) -> Window {
    Window {
        in_h: 1,
        in_w: rows,
        in_c: in_features,
        out_h: 1,
        out_w: rows,
        out_c: out_features,
        kernel_h: 1,
        kernel_w: 1,
        stride: 1,
        pad_top: 0,
        pad_left: 0,
    }
}

/// [`Kernels::dense`](crate::kernels::int8::Kernels::dense) as every target has it.
pub fn dense(args: &mut Dense<'_>) {
    run(args, conv2d::conv2d);
}

/// The kernel by way of a level's convolution.
#[inline(always)]
pub(in crate::kernels) fn run(args: &mut Dense<'_>, conv2d: fn(&mut Conv2d<'_>)) {
    let in_features = args.input.len().checked_div(args.rows).unwrap_or(0);
    let window = as_window(args.rows as u32, in_features as u32, args.requantize.bias.len() as u32);
    conv2d(&mut Conv2d {
        window,
        input: args.input,
        weights: args.weights,
        kernel_pitch: KernelPitch::dense(&window),
        packed: args.packed,
        requantize: args.requantize,
        pooled: false,
        scratch: args.scratch,
        output: args.output,
    });
}
