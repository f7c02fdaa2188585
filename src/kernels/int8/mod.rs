//! The int8 kernels: integers only, and bit-identical on every level.
//!
//! ```text
//! requantize.rs   the one way from an accumulator to an int8 value, and how its multipliers are made
//! activation.rs   tables of activations that are no clamps
//! real.rs         float64 arithmetic in integers, for both
//! reference/      scalar, written to be read: the specification of every kernel
//! portable/       the same results, blocked so that the compiler vectorises it
//! compact/        the same results for targets without vectors, where it is the portable level
//! ```
//!
//! Activations are affine per tensor, `real = scale * (q - zero_point)`; weights are symmetric, per tensor or per output
//! channel. `docs/quantization.md` derives the arithmetic with worked examples.

pub mod activation;
pub mod args;
pub mod compact;
pub mod portable;
mod real;
pub mod reference;
pub mod requantize;

pub use args::{Add, Conv2d, Dense, DepthwiseConv2d, Pool2d, Requantize, Softmax};
pub use requantize::{Multiplier, multiply_by_quantized_multiplier};

use super::{Filters, Level, native};
use crate::tensor::Window;
// The portable level of this target.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
)))]
use compact as baseline;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
use portable as baseline;

/// int8 kernels of one level.
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    /// Level these kernels belong to.
    pub level: Level,
    /// 2-D convolution.
    pub conv2d: fn(&mut Conv2d<'_>),
    /// Rows times a weight matrix: dense layers, and 1x1 convolutions with stride 1 and no padding.
    pub dense: fn(&mut Dense<'_>),
    /// Depthwise 2-D convolution with multiplier 1.
    pub depthwise_conv2d: fn(&mut DepthwiseConv2d<'_>),
    /// Maximum over the taps inside the input; 0 where there is none.
    pub max_pool2d: fn(&mut Pool2d<'_>),
    /// Mean over the taps inside the input, rounded half away from zero; the zero point where there is none.
    pub avg_pool2d: fn(&mut Pool2d<'_>),
    /// Residual addition of two tensors with scales of their own, in place.
    pub add: fn(&mut Add<'_>),
    /// Softmax of each row, in place; the result has scale 1/256 and zero point -128.
    pub softmax: fn(&mut Softmax<'_>),
    /// `data[i] = table[data[i] + 128]`: elementwise activations.
    pub lookup: fn(data: &mut [i8], table: &[i8; 256]),
}

/// The int8 kernels of [`level.or_below()`](Level::or_below).
pub fn table(level: Level) -> &'static Kernels {
    match level.or_below() {
        Level::Reference => &reference::KERNELS,
        Level::Portable => &baseline::KERNELS,
        above => native::int8_table(above),
    }
}

/// Packs the weights of a convolution or dense layer, which requantises as told, for [`Conv2d::packed`] and [`Dense::packed`]
/// of a level; `packed` has [`packed_bytes`] bytes. Other levels may not know the form, and read the weights in place.
pub fn pack(level: Level, filters: &Filters<'_, i8>, requantize: &Requantize<'_>, packed: &mut [i8]) {
    portable::packed::pack(native::packed_form(level.or_below()), filters, requantize, packed);
}

/// Bytes of the packed weights of a convolution or dense layer: `outputs` filters of so many rows and elements of a row, over
/// `pixels` pixels or rows. 0 where weights are better read in place.
pub fn packed_bytes(pixels: usize, outputs: usize, rows: usize, row_elems: usize) -> usize {
    let is_packed = cfg!(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")));
    if is_packed { portable::packed::bytes(pixels, outputs, rows, row_elems) } else { 0 }
}

/// Packs the weights of a depthwise convolution, for [`DepthwiseConv2d::packed`]; `packed` has [`depthwise_packed_bytes`]
/// bytes. All levels that use them know the form.
pub fn pack_depthwise(window: &Window, weights: &[i8], requantize: &Requantize<'_>, packed: &mut [i8]) {
    portable::depthwise_packed::pack(window, weights, requantize, packed);
}

/// Bytes of the packed weights of a depthwise convolution; 0 where weights are better read in place.
pub fn depthwise_packed_bytes(window: &Window) -> usize {
    let is_packed = cfg!(all(feature = "simd", target_arch = "x86_64"));
    if is_packed { portable::depthwise_packed::bytes(window) } else { 0 }
}

/// The int8 kernels that this process uses: those of [`active_level`](super::active_level).
pub fn active() -> &'static Kernels {
    table(super::active_level())
}
