//! The kernels: everything that computes with tensor elements.
//!
//! ```text
//! reference/   scalar, written to be read: the specification of every kernel
//! portable/    the same results, blocked so that the compiler vectorises it on any target
//! x86_64/      detection, and kernels for AVX2 and AVX-512
//! aarch64/     detection, and kernels for NEON
//! compact/     the same results for processors without vectors, where it is the portable level
//! arm/         inner loops of the int8 kernels for microcontrollers
//! simd/        what the kernels of these two share
//! int8/        the same for int8
//! float.rs     which float kernels run
//! level.rs     which level runs
//! cap.rs       what lowers the level on a host
//! ```
//!
//! One [`Kernels`] table exists per [`Level`]. The executor asks [`active`] once per run. Kernels get slices whose lengths
//! the planner has proved; they never read or write outside them, allocate nothing and cannot fail.

pub mod args;
#[cfg(feature = "host")]
mod cap;
#[cfg(feature = "f32")]
pub mod compact;
#[cfg(feature = "f32")]
mod float;
#[cfg(feature = "int8")]
pub mod int8;
mod level;
#[cfg(not(any(
    all(target_arch = "x86_64", feature = "simd"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon", feature = "simd")
)))]
#[path = "absent.rs"]
mod native;
mod pooling;
#[cfg(feature = "f32")]
pub mod portable;
#[cfg(feature = "f32")]
pub mod reference;

// Little-endian with NEON: all but a few bare-metal targets of this architecture.
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
#[cfg(any(feature = "simd", feature = "int8"))]
mod aarch64;
#[cfg(all(arm_instructions, feature = "int8"))]
mod arm;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")))]
#[cfg(any(feature = "simd", feature = "int8"))]
mod simd;
#[cfg(target_arch = "x86_64")]
#[cfg(any(feature = "simd", feature = "int8"))]
mod x86_64;

// What this target has above the portable level.
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon", feature = "simd"))]
use aarch64 as native;
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
use x86_64 as native;

/// Whether this build has kernels that gain from weights in an order of their own, and packs them.
pub const PACKS: bool = cfg!(all(feature = "simd", not(any(target_arch = "arm", target_arch = "riscv32"))));

pub use args::{Activation, Conv2d, Dense, DepthwiseConv2d, Epilogue, Filters, Grn, KernelPitch, Pool2d};
#[cfg(feature = "host")]
pub use cap::cap_level;
#[cfg(feature = "f32")]
pub use float::*;
pub use level::{Level, active_level, best_level, supported_levels};

/// Kernels of one level. All levels agree within the bound that `docs/kernels.md` states; every float kernel of the
/// reference level is a plain loop in the order of the formula.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Level these kernels belong to.
    pub level: Level,
    /// 2-D convolution with a kernel of any rows and columns.
    pub conv2d: fn(&mut Conv2d<'_>),
    /// Rows times a weight matrix: dense layers, and 1x1 convolutions with stride 1 and no padding.
    pub dense: fn(&mut Dense<'_>),
    /// Depthwise 2-D convolution with multiplier 1.
    pub depthwise_conv2d: fn(&mut DepthwiseConv2d<'_>),
    /// Maximum over the taps inside the input; -3.4028235e38 where there is none.
    pub max_pool2d: fn(&mut Pool2d<'_>),
    /// Mean over the taps inside the input; 0 where there is none.
    pub avg_pool2d: fn(&mut Pool2d<'_>),
    /// `x * scale[c] + shift[c]` in place.
    pub batch_norm2d: fn(data: &mut [f32], scale: &[f32], shift: &[f32]),
    /// Layer normalisation over the channels of each pixel, in place: `(x - mean) / sqrt(var + eps) * gamma + beta` with
    /// the population variance.
    pub layernorm2d: fn(data: &mut [f32], gamma: &[f32], beta: &[f32], eps: f32),
    /// Global response normalisation (ConvNeXt V2), in place.
    pub grn: fn(&mut Grn<'_>),
    /// Softmax of each row of `row_elems` elements, in place, maximum subtracted.
    pub softmax: fn(data: &mut [f32], row_elems: usize),
    /// Activation function of every element, in place.
    pub activate: fn(data: &mut [f32], activation: Activation),
    /// `data[i] += other[i]`.
    pub add: fn(data: &mut [f32], other: &[f32]),
    /// `data[y][x] += half[y / 2][x / 2]`: `data` is `[2h, 2w, c]`, `half` is `[h, w, c]`; nearest-neighbour upsampling.
    pub add_upsampled2x: fn(data: &mut [f32], half: &[f32], half_w: usize, channels: usize),
}
