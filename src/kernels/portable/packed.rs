//! Weights packed when a model is loaded, so that no run has to transpose them.
//!
//! ```text
//! [ panel of 32 outputs | panel | ... | panel of 16 | panel of 8 ]      outputs left over are read in place
//!   a panel of P outputs: offsets [P], weights [k][P]
//! ```
//!
//! k runs over the kernel as in the file: rows, columns, channels. A batch norm is part of both, so that a run adds and
//! nothing else: weights are `w * scale`, offsets `bias * scale + shift`. Where there is one row only, weights are as in the
//! file and offsets are not used.

use core::iter;

use crate::kernels::args::{Epilogue, Filters};
use crate::kernels::portable::epilogue::offsets;
use crate::kernels::portable::panel::{
    Chunks, MEDIUM, MIN_PIXELS, NARROW, WIDE, scale_panel, transpose_part, transpose_rows,
};
use crate::tensor::Window;

/// Elements of a panel that stay in the first-level cache while input passes: 32 KiB, of which one tile reads half.
const CHUNK_ELEMS: usize = 8192;
/// Weights of a single row that a second-level cache holds besides other things: 1 MiB.
const ROW_ELEMS: usize = 256 * 1024;
/// Output pixels of a panel whose sums stay in the cache until all chunks of the kernel have passed: up to 32 KiB.
pub(super) const BLOCK_PIXELS: usize = 256;
/// Columns of the narrowest map whose border is worth a line of its own; below it, each tap passes by itself.
const WIDE_MAP: usize = 12;

/// Packed elements for `outputs` outputs with `k` weights each over `pixels` pixels or rows; 0 where packing brings nothing,
/// because few pixels meet each weight.
pub fn elems(pixels: usize, outputs: usize, k: usize) -> usize {
    if pixels < MIN_PIXELS as usize { 0 } else { (outputs - outputs % NARROW).saturating_mul(k.saturating_add(1)) }
}

/// The same for a single row, whose weights are read once, so that packing pays only in the order of the reads: in the caches,
/// while memory is no faster for it.
pub fn row_elems(outputs: usize, k: usize) -> usize {
    let elems = elems(MIN_PIXELS as usize, outputs, k);
    if elems > ROW_ELEMS { 0 } else { elems }
}

/// Packs the weights and what the epilogue does to the sums; `packed` has [`elems`] elements.
pub fn pack(filters: &Filters<'_, f32>, epilogue: &Epilogue<'_>, packed: &mut [f32]) {
    for (panel, (first, width)) in panels_mut(packed, epilogue.bias.len(), filters.elems()) {
        let (begin, rows) = panel.split_at_mut(width);
        let transpose = match width {
            WIDE => transpose_part::<WIDE>,
            MEDIUM => transpose_part::<MEDIUM>,
            _ => transpose_part::<NARROW>,
        };
        transpose_rows(transpose, filters, first, (0, 0, filters.row_elems), (rows, width));
        begin.iter_mut().zip(offsets::<WIDE>(epilogue, first)).for_each(|(to, offset)| *to = offset);
        scale_panel(epilogue, first, rows, width);
    }
}

/// The panels that `outputs` outputs with `k` weights each fill, with their first output and width.
pub(super) fn panels_mut(
    packed: &mut [f32],
    outputs: usize,
    k: usize,
) -> impl Iterator<Item = (&mut [f32], (usize, usize))> {
    let mut rest = packed;
    widths(outputs).map_while(move |(first, width)| Some((rest.split_off_mut(..(k + 1) * width)?, (first, width))))
}

/// A panel of `width` outputs from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    pub(super) first: usize,
    pub(super) width: usize,
    pub(super) offsets: &'a [f32],
    pub(super) weights: &'a [f32],
    /// The panels that follow.
    rest: &'a [f32],
}

impl<'a> Packed<'a> {
    /// What is read after the first `k` elements of each output: up to `len` of each, of this panel or of those that follow.
    pub(super) fn behind(&self, k: usize, len: usize) -> &'a [f32] {
        let own = self.weights.get(k * self.width..).unwrap_or_default();
        let next = if own.is_empty() { self.rest } else { own };
        next.get(..len * self.width).unwrap_or(next)
    }
}

/// The panels of `outputs` outputs with `k` weights each.
pub(super) fn panels(packed: &[f32], outputs: usize, k: usize) -> impl Iterator<Item = Packed<'_>> {
    let mut rest = packed;
    widths(outputs).map_while(move |(first, width)| {
        let (panel, others) = rest.split_at_checked((k + 1) * width)?;
        rest = others;
        let (offsets, weights) = panel.split_at(width);
        Some(Packed { first, width, offsets, weights, rest })
    })
}

/// First output and width of every panel.
fn widths(outputs: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut first = 0;
    iter::from_fn(move || {
        let width = [WIDE, MEDIUM, NARROW].into_iter().find(|width| first + width <= outputs)?;
        first += width;
        Some((first - width, width))
    })
}

/// The chunks of a kernel that pass one after another through panels of `width` outputs.
pub(super) fn chunks(window: &Window, width: usize) -> Chunks {
    let (rows, columns, channels) = (window.kernel_h as usize, window.kernel_w as usize, window.in_c as usize);
    let longest = CHUNK_ELEMS.checked_div(width).unwrap_or(1);
    let has_border = window.interior_columns().len() < window.out_w as usize;
    let by_tap = has_border && columns > 1 && (window.out_w as usize) < WIDE_MAP;
    Chunks::of(rows, columns * channels, if by_tap { longest.min(channels) } else { longest })
}

/// The same for rows of `k` elements.
pub(super) fn row_chunks(k: usize, width: usize) -> Chunks {
    Chunks::of(1, k, CHUNK_ELEMS.checked_div(width).unwrap_or(1))
}
