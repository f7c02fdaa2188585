//! The specification of every kernel: one scalar loop nest per file, in the order of the formula.
//!
//! Nothing here is fast and nothing here should become fast. Other levels are tested against these functions, so each
//! one says what the result is for every input, padding-only windows, NaN and infinities included. Sums are f32 and
//! run in the order of the loops, unless the file says otherwise.

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
pub mod max_pool2d;
pub mod softmax;

use super::{Kernels, Level};

/// The reference kernels.
pub static KERNELS: Kernels = Kernels {
    level: Level::Reference,
    conv2d: conv2d::conv2d,
    dense: dense::dense,
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    max_pool2d: max_pool2d::max_pool2d,
    avg_pool2d: avg_pool2d::avg_pool2d,
    batch_norm2d: batch_norm2d::batch_norm2d,
    layernorm2d: layernorm2d::layernorm2d,
    grn: grn::grn,
    softmax: softmax::softmax,
    activate: activation::activate,
    add: add::add,
    add_upsampled2x: add::add_upsampled2x,
};
