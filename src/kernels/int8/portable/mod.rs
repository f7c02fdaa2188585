//! int8 kernels in plain safe Rust, shaped so that the compiler vectorises them for whatever target it compiles. On x86-64
//! and AArch64 the inner loops come from `kernels/<arch>`: both have instructions for them that the compiler does not find
//! by itself.
//!
//! ```text
//! conv2d.rs           every product of rows and weights; dense.rs is a 1x1 convolution over its rows
//! tile.rs             what the inner loops take and give; scalar.rs has them for targets without vectors
//! packed.rs           products with weights that were packed when the model was loaded
//! staged.rs           the input under a few pixels for these
//! depthwise_packed.rs depthwise weights, packed likewise
//! gather.rs           the inputs under windows as rows
//! finish.rs           from sums to codes, a block of channels at a time
//! everything else     one kernel per file
//! ```
//!
//! Products, depthwise convolutions and additions exist once and call the inner loops of a level; the other kernels are
//! inlined whole into whoever calls them.

pub mod add;
pub mod avg_pool2d;
pub mod conv2d;
pub mod dense;
pub mod depthwise_conv2d;
#[allow(dead_code, reason = "levels above the portable one use it, if there are any")]
pub mod depthwise_packed;
pub(in crate::kernels) mod finish;
pub(in crate::kernels) mod gather;
pub mod lookup;
pub mod max_pool2d;
#[allow(dead_code, reason = "levels above the portable one use it, if there are any")]
pub mod packed;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
)))]
mod scalar;
pub mod softmax;
#[allow(dead_code, reason = "as for packed")]
pub(in crate::kernels) mod staged;
pub(in crate::kernels) mod tile;

use super::Kernels;
use crate::kernels::Level;

// The inner loops of the target's baseline.
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
use crate::kernels::aarch64::int8::neon::LOOPS as BASELINE;
#[cfg(target_arch = "x86_64")]
use crate::kernels::x86_64::int8::sse2::LOOPS as BASELINE;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
)))]
use scalar::LOOPS as BASELINE;

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
