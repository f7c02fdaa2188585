//! x86-64: which vector units the processor and the operating system offer, and the kernels for them.
#![expect(unsafe_code, reason = "a detected instruction set is beyond what the compiler can check")]

#[cfg(feature = "simd")]
mod detect;
#[cfg(all(feature = "simd", feature = "f32"))]
mod float;
#[cfg(feature = "int8")]
pub(super) mod int8;

#[cfg(feature = "simd")]
use super::Level;
#[cfg(all(feature = "simd", feature = "int8"))]
use super::int8::portable::packed::PackedForm;
#[cfg(feature = "simd")]
pub(super) use detect::best_level;

/// The float kernels of a level of this architecture.
#[cfg(all(feature = "simd", feature = "f32"))]
pub(super) fn float_table(level: Level) -> &'static super::Kernels {
    match level {
        Level::Avx512 => &float::avx512::KERNELS,
        Level::Avx2 => &float::avx2::KERNELS,
        Level::Sse41 => &float::SSE41,
        _ => &super::portable::KERNELS,
    }
}

/// How int8 weights are packed for a level of this architecture.
#[cfg(all(feature = "simd", feature = "int8"))]
pub(super) fn packed_form(level: Level) -> Option<&'static PackedForm> {
    match level {
        Level::Avx512 => Some(&PackedForm::QUADS),
        Level::Avx2 => Some(&PackedForm::PAIRS),
        _ => None,
    }
}

/// The int8 kernels of a level of this architecture.
#[cfg(all(feature = "simd", feature = "int8"))]
pub(super) fn int8_table(level: Level) -> &'static super::int8::Kernels {
    match level {
        Level::Avx512 => &int8::avx512::KERNELS,
        Level::Avx2 => &int8::avx2::KERNELS,
        Level::Sse41 => &int8::sse41::KERNELS,
        _ => &super::int8::portable::KERNELS,
    }
}
