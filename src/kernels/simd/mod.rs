//! Inner loops with explicit vectors, written once as macros that each instruction set compiles with its own vectors: what
//! the levels of `x86_64/` and `aarch64/` share.

#[cfg(all(feature = "simd", feature = "f32"))]
pub(super) mod depthwise_conv2d;
#[cfg(all(feature = "simd", feature = "f32"))]
pub(super) mod float;
#[cfg(feature = "int8")]
pub(super) mod int8;
#[cfg(all(feature = "simd", feature = "int8"))]
pub(super) mod int8_packed;
