//! Kernels in plain safe Rust, shaped so that the compiler vectorises them for whatever target it compiles.
//!
//! ```text
//! tile.rs             the two register tiles that conv2d.rs and dense.rs share
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
mod epilogue;
pub mod grn;
pub mod layernorm2d;
mod math;
pub mod max_pool2d;
pub mod softmax;
pub(super) mod tile;

use crate::kernels::{Activation, Kernels, Level};
use tile::{InnerLoops, OUTPUTS, PANEL, Rows, Weights};

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
    fn dot(input: &[f32], rows: Rows, weights: Weights<'_>, sums: &mut [[f32; OUTPUTS]]) {
        tile::dot::<4>(input, rows, weights, sums);
    }

    #[inline(never)]
    fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]) {
        tile::outer(input, rows, panel, sums);
    }

    #[inline(never)]
    fn activate(data: &mut [f32], activation: Activation) {
        activation::activate(data, activation);
    }
}
