//! Targets, and builds without the feature `simd`, that have no level above the portable one.

use super::Level;

pub(super) fn best_level() -> Level {
    Level::Portable
}

#[cfg(feature = "f32")]
pub(super) fn float_table(_: Level) -> &'static super::Kernels {
    &super::float::baseline::KERNELS
}

#[cfg(feature = "int8")]
pub(super) fn int8_table(_: Level) -> &'static super::int8::Kernels {
    &super::int8::portable::KERNELS
}

/// No level packs int8 weights.
#[cfg(feature = "int8")]
pub(super) fn packed_form(_: Level) -> Option<&'static super::int8::portable::packed::PackedForm> {
    None
}
