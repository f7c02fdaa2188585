//! The specification of every int8 kernel: one scalar loop nest per file, in the order of the formula.
//!
//! Nothing here is fast and nothing here should become fast. Other levels give the same bits for every input, so each
//! file says what happens at the edges: windows in the padding, saturation, sums that leave i32.

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

/// The reference kernels.
pub static KERNELS: Kernels = Kernels {
    level: Level::Reference,
    conv2d: conv2d::conv2d,
    dense: dense::dense,
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    max_pool2d: max_pool2d::max_pool2d,
    avg_pool2d: avg_pool2d::avg_pool2d,
    add: add::add,
    softmax: softmax::softmax,
    lookup: lookup::lookup,
};
