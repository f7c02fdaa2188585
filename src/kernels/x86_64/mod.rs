//! x86-64: which vector units the processor and the operating system offer, and the kernels for them.
#![expect(unsafe_code, reason = "a detected instruction set is beyond what the compiler can check")]

#[cfg(feature = "simd")]
mod detect;
#[cfg(all(feature = "simd", feature = "f32"))]
pub(super) mod float;
#[cfg(feature = "int8")]
pub(super) mod int8;

#[cfg(feature = "simd")]
pub(super) use detect::best_level;
