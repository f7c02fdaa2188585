//! The float kernels of each level, and the scratch memory that they need.

use super::{Epilogue, Filters, Kernels, Level, PACKS, active_level, native, portable, reference};
// The portable level of this target.
#[cfg(any(target_arch = "arm", target_arch = "riscv32"))]
pub(super) use super::compact as baseline;
#[cfg(not(any(target_arch = "arm", target_arch = "riscv32")))]
pub(super) use super::portable as baseline;
use crate::tensor::Window;

/// The kernels of [`level.or_below()`](Level::or_below).
pub fn table(level: Level) -> &'static Kernels {
    match level.or_below() {
        Level::Reference => &reference::KERNELS,
        Level::Portable => &baseline::KERNELS,
        above => native::float_table(above),
    }
}

/// The float kernels that this process uses: those of [`active_level`].
pub fn active() -> &'static Kernels {
    table(active_level())
}

/// Elements of the packed weights of a convolution or dense layer: `outputs` outputs with `k` weights each, over `pixels`
/// pixels or rows. 0 where weights are better read in place.
pub fn packed_elems(pixels: usize, outputs: usize, k: usize) -> usize {
    if PACKS { portable::packed::elems(pixels, outputs, k) } else { 0 }
}

/// The same for a dense layer over one row.
pub fn packed_row_elems(outputs: usize, k: usize) -> usize {
    if PACKS { portable::packed::row_elems(outputs, k) } else { 0 }
}

/// The least and the most elements of scratch with which [`Conv2d`](super::Conv2d) with packed weights needs fewer products,
/// besides those of [`conv2d_scratch_elems`]; none where its geometry does not suit that.
pub fn spare_scratch_elems(window: &Window) -> Option<(usize, usize)> {
    portable::winograd::scratch_elems(window)
}

/// Whether a convolution with packed weights and so many elements of scratch uses Winograd's method, whose packed weights are
/// others: [`packed_winograd_elems`] elements, written by [`pack_winograd`].
pub fn is_winograd(window: &Window, scratch_elems: usize) -> bool {
    portable::winograd::tiles_at_once(window, scratch_elems) > 0
}

/// See [`is_winograd`].
pub fn packed_winograd_elems(window: &Window) -> usize {
    portable::winograd::packed_elems(window)
}

/// See [`is_winograd`].
pub fn pack_winograd(filters: &Filters<'_, f32>, epilogue: &Epilogue<'_>, packed: &mut [f32]) {
    portable::winograd::pack(filters, epilogue, packed);
}

/// Packs weights and what the epilogue does to the sums, for [`Conv2d::packed`](super::Conv2d) and
/// [`Dense::packed`](super::Dense). `packed` has [`packed_elems`] elements.
pub fn pack(filters: &Filters<'_, f32>, epilogue: &Epilogue<'_>, packed: &mut [f32]) {
    portable::packed::pack(filters, epilogue, packed);
}

/// Packs the weights of a dense layer over one row, the norm apart; `packed` has [`packed_row_elems`] elements.
pub fn pack_row(filters: &Filters<'_, f32>, epilogue: &Epilogue<'_>, packed: &mut [f32]) {
    pack(filters, &Epilogue { norm: None, ..*epilogue }, packed);
}

/// Scratch that every level's `conv2d` needs for this geometry, in elements.
pub fn conv2d_scratch_elems(window: &Window) -> u32 {
    baseline::conv2d::scratch_elems(window)
}

/// Scratch that every level's `dense` needs, in elements.
pub fn dense_scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    baseline::dense::scratch_elems(rows, in_features, out_features)
}

/// Scratch that every level's `depthwise_conv2d` needs for this geometry, in elements.
pub fn depthwise_conv2d_scratch_elems(window: &Window) -> u32 {
    baseline::depthwise_conv2d::scratch_elems(window)
}

/// Scratch that every level's `grn` needs, in elements.
pub fn grn_scratch_elems(channels: u32) -> u32 {
    portable::grn::scratch_elems(channels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_belongs_to_the_level_asked_for_or_the_best_below() {
        for level in Level::ALL {
            assert_eq!(table(level).level, level.or_below());
        }
    }
}
