//! int8 kernels in plain safe Rust, shaped so that the compiler vectorises them for whatever target it compiles.

pub mod add;
pub mod avg_pool2d;
pub mod conv2d;
pub mod dense;
pub mod depthwise_conv2d;
pub mod lookup;
pub mod max_pool2d;
pub mod softmax;

use super::Kernels;
use crate::kernels::Level;

/// The portable level.
pub static KERNELS: Kernels = Kernels {
    level: Level::Portable,
    conv2d: conv2d::conv2d,
    dense: dense::dense,
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    max_pool2d: max_pool2d::max_pool2d,
    avg_pool2d: avg_pool2d::avg_pool2d,
    add: add::add,
    softmax: softmax::softmax,
    lookup: lookup::lookup,
};
