//! Kernels in plain safe Rust, shaped so that the compiler vectorises them for whatever target it compiles.
//!
//! ```text
//! packed.rs           weights packed when a model is loaded, for the same
//! panel.rs            convolutions and dense layers with their weights in panels: outputs are the lanes
//! tile.rs             the same with the weights in place, for few rows; what the levels compile for themselves
//! epilogue.rs         bias, batch norm, residual and activation of conv2d.rs, dense.rs and depthwise_conv2d.rs
//! math.rs             exp and its relatives without a call, for activation.rs and softmax.rs
//! everything else     one kernel per file
//! ```
//!
//! The elementwise and window kernels are inlined whole into whoever calls them. Thus `kernels/x86_64/float/avx2.rs` compiles the
//! same source with vectors of eight, and no instruction set appears in this directory. The three convolutions are too large
//! for that: they exist once, and only their inner loops (`tile::InnerLoops`) belong to a level.

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
pub mod packed;
pub(super) mod panel;
pub mod softmax;
pub(super) mod tile;
#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod winograd;
#[cfg(not(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "winograd/absent.rs"]
pub mod winograd;

use crate::kernels::{Activation, Kernels, Level};
use panel::{Ends, MEDIUM, NARROW, Panel, Span, WIDE, transpose_part};
use tile::{DepthwiseLoops, InnerLoops, Line, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, Weights};
#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
use winograd::WinogradLoops;

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
    activate,
    add: add::add,
    add_upsampled2x: add::add_upsampled2x,
};

/// The inner loops with vectors of four lanes.
static PORTABLE: InnerLoops = InnerLoops {
    dot,
    dot_single,
    // As many rows as keep eight vectors of sums.
    products: [product::<WIDE, 1>(), product::<MEDIUM, 2>(), product::<NARROW, 4>()],
    depthwise: [depthwise::<WIDE>(), depthwise::<MEDIUM>(), depthwise::<NARROW>()],
    #[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
    winograd: WinogradLoops { input: winograd::input_tile::<4>, output: winograd::output_tile::<4> },
    activate,
};

const fn product<const P: usize, const R: usize>() -> ProductLoops {
    ProductLoops { outputs: P, transpose: transpose_part::<P>, outer: outer::<P, R>, single: None }
}

const fn depthwise<const B: usize>() -> DepthwiseLoops {
    DepthwiseLoops { channels: B, taps: taps::<B> }
}

fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
    tile::dot::<4>(input, rows, weights, sums);
}

fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
    tile::dot_single::<4>(input, weights)
}

fn outer<const P: usize, const R: usize>(
    input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    output: &mut [f32],
    span: Span,
    ends: Ends<'_>,
) {
    panel::outer::<P, R>(input, rows, panel, output, span, ends);
}

fn taps<const B: usize>(line: &Line<'_>, output: &mut [f32]) {
    depthwise_conv2d::taps::<B>(line, output);
}

fn activate(data: &mut [f32], activation: Activation) {
    activation::activate(data, activation);
}
