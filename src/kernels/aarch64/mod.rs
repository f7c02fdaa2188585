//! AArch64: which of its vector instructions beyond the baseline the processor has, and the kernels for them.
#![expect(unsafe_code, reason = "an instruction set is beyond what the compiler can check")]

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
        Level::NeonDotprod => &float::NEON_DOTPROD,
        Level::Neon => &float::NEON,
        _ => &super::portable::KERNELS,
    }
}

/// How int8 weights are packed for a level of this architecture.
#[cfg(all(feature = "simd", feature = "int8"))]
pub(super) fn packed_form(level: Level) -> Option<&'static PackedForm> {
    match level {
        Level::NeonDotprod => Some(&PackedForm::SIGNED_QUADS),
        _ => None,
    }
}

/// The int8 kernels of a level of this architecture.
#[cfg(all(feature = "simd", feature = "int8"))]
pub(super) fn int8_table(level: Level) -> &'static super::int8::Kernels {
    match level {
        Level::NeonDotprod => &int8::dotprod::KERNELS,
        Level::Neon => &int8::neon::KERNELS,
        _ => &super::int8::portable::KERNELS,
    }
}
