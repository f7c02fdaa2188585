//! Kernels in plain safe Rust, shaped so that the compiler vectorises them for whatever target it compiles.
//!
//! ```text
//! panel.rs            convolutions and dense layers with their weights in panels: outputs are the lanes
//! tile.rs             the same with the weights in place, for few rows; what the levels compile for themselves
//! epilogue.rs         bias, batch norm, residual and activation of conv2d.rs, dense.rs and depthwise_conv2d.rs
//! math.rs             exp and its relatives without a call, for activation.rs and softmax.rs
//! everything else     one kernel per file
//! ```
//!
//! The kernels are inlined whole into whoever calls them. Thus `kernels/x86_64/avx2.rs` compiles the same source with
//! vectors of eight, and no instruction set appears in this directory.

pub mod activation;
pub mod add;
pub mod avg_pool2d;
pub mod batch_norm2d;
pub mod conv2d;
pub mod dense;
pub mod depthwise_conv2d;
pub(super) mod epilogue;
pub mod grn;
pub mod layernorm2d;
mod math;
pub mod max_pool2d;
pub(super) mod panel;
pub mod softmax;
pub(super) mod tile;

use crate::kernels::{Activation, Epilogue, Kernels, Level};
use panel::{Panel, Span};
use tile::{InnerLoops, OUTPUTS, Rows, SINGLE_OUTPUTS, Weights};

/// The portable level.
pub static KERNELS: Kernels = Kernels {
    level: Level::Portable,
    conv2d: conv2d::conv2d,
    dense: dense::dense,
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    max_pool2d: max_pool2d::max_pool2d,
    avg_pool2d: avg_pool2d::avg_pool2d,
    batch_norm2d: batch_norm2d::batch_norm2d,
    layernorm2d: layernorm2d::layernorm2d,
    grn: grn::grn,
    softmax: softmax::softmax,
    activate: Portable::activate,
    add: add::add,
    add_upsampled2x: add::add_upsampled2x,
};

/// The inner loops with vectors of four lanes.
pub(super) struct Portable;

impl InnerLoops for Portable {
    #[inline(never)]
    fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
        tile::dot::<4>(input, rows, weights, sums);
    }

    #[inline(never)]
    fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
        tile::dot_single::<4>(input, weights)
    }

    #[inline(never)]
    fn outer<const P: usize>(input: &[f32], rows: Rows, panel: Panel<'_, P>, output: &mut [f32], span: Span) {
        // As many rows as keep eight vectors of sums.
        match P {
            panel::WIDE => panel::outer::<P, 1>(input, rows, panel, output, span),
            panel::MEDIUM => panel::outer::<P, 2>(input, rows, panel, output, span),
            _ => panel::outer::<P, 4>(input, rows, panel, output, span),
        }
    }

    #[inline(never)]
    fn taps<const B: usize>(input: &[f32], rows: Rows, panel: Panel<'_, B>, output: &mut [f32], span: Span) {
        depthwise_conv2d::taps(input, rows, panel, output, span);
    }

    #[inline(never)]
    fn finish<const P: usize>(epilogue: &Epilogue<'_>, first: usize, output: &mut [f32], span: Span) {
        epilogue::finish_sums::<P>(epilogue, first, output, span);
    }

    #[inline(never)]
    fn activate(data: &mut [f32], activation: Activation) {
        activation::activate(data, activation);
    }
}
