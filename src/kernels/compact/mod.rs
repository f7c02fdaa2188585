//! Float kernels for processors without vectors: small code, no scratch, no weights in an order of their own.
//!
//! ```text
//! dot.rs                products of one row with four filters at a time, which share its loads
//! conv2d.rs             convolution: the rows of a window; dense.rs the same over whole rows
//! depthwise_conv2d.rs   depthwise convolution
//! ```
//!
//! What takes little time is computed by the reference.

pub mod conv2d;
pub mod dense;
pub mod depthwise_conv2d;
mod dot;

use super::{Kernels, Level, reference};

/// The kernels of processors without vectors, where they are the portable level.
pub static KERNELS: Kernels = Kernels {
    level: Level::Portable,
    conv2d: conv2d::conv2d,
    dense: dense::dense,
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    ..reference::KERNELS
};
