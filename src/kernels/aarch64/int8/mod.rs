//! int8 on AArch64: inner loops with NEON, the baseline, and with its products of i8 in fours.

#[cfg(feature = "simd")]
pub(in crate::kernels) mod dotprod;
pub(in crate::kernels) mod neon;
#[cfg(feature = "simd")]
mod packed;
