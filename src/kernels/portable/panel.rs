//! Weights in panels: `[k][P]`, P outputs next to each other, so that outputs are the lanes and no lanes need adding up.
//!
//! A panel in scratch is at most 4 KiB. Kernels that are longer pass in chunks: every chunk goes over the whole map, and
//! the sums wait in the output in between. That costs less than the lane sums of weights in place, and the inner loop has
//! two streams to read, so setting it up takes a few instructions. Packed panels are there whole and pass in chunks that
//! fit the first-level cache.

use core::array;

use crate::kernels::args::{Activation, Epilogue, Filters};
use crate::kernels::portable::epilogue::activate;
use crate::kernels::portable::tile::{Rows, add_product, part};
use crate::tensor::Window;

/// Outputs of the widest panel: their sums are eight vectors of four.
pub(in crate::kernels) const WIDE: usize = 32;
/// Outputs of the second widest panel.
pub(in crate::kernels) const MEDIUM: usize = 16;
/// Outputs of the narrowest panel.
pub(in crate::kernels) const NARROW: usize = 8;
/// Most elements of one output in a panel in scratch.
const SCRATCH_LEN: usize = 32;
/// Fewest pixels that pay for transposing.
pub(super) const MIN_PIXELS: u64 = 16;

/// The part of a kernel that is in the panel: of `rows` kernel rows from `row` on, `len` elements each from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub(super) row: usize,
    pub(super) rows: usize,
    pub(super) first: usize,
    pub(super) len: usize,
}

impl Chunk {
    /// The column of the kernel that the whole chunk belongs to, if it is one.
    #[inline(always)]
    pub(super) fn only_tap(&self, channels: usize) -> Option<usize> {
        let tap = self.first.checked_div(channels)?;
        (self.first + self.len <= (tap + 1) * channels).then_some(tap)
    }
}

/// How a kernel is cut into chunks: some whole rows, or a part of one row.
#[derive(Clone, Copy)]
pub(super) struct Chunks {
    kernel_rows: usize,
    row_len: usize,
    rows: usize,
    len: usize,
}

impl Chunks {
    /// For a kernel of `kernel_rows` rows of `row_len` elements, in panels in scratch.
    #[inline(always)]
    pub(super) fn new(kernel_rows: usize, row_len: usize) -> Self {
        Self::of(kernel_rows, row_len, SCRATCH_LEN)
    }

    /// The same with up to `max_len` elements in a chunk.
    #[inline(always)]
    pub(super) fn of(kernel_rows: usize, row_len: usize, max_len: usize) -> Self {
        let rows = max_len.checked_div(row_len).unwrap_or(1).clamp(1, kernel_rows.max(1));
        let parts = row_len.div_ceil(max_len.max(1)).max(1);
        Self { kernel_rows, row_len, rows, len: row_len.div_ceil(parts).max(1) }
    }

    #[inline(always)]
    pub(super) fn iter(self) -> impl Iterator<Item = Chunk> {
        let Self { kernel_rows, row_len, rows, len } = self;
        (0..kernel_rows).step_by(rows.max(1)).flat_map(move |row| {
            (0..row_len).step_by(len.max(1)).map(move |first| Chunk {
                row,
                rows: rows.min(kernel_rows - row),
                first,
                len: len.min(row_len - first),
            })
        })
    }

    /// True for the chunk that comes last.
    #[inline(always)]
    pub(super) fn is_last(&self, chunk: &Chunk) -> bool {
        chunk.row + chunk.rows == self.kernel_rows && chunk.first + chunk.len == self.row_len
    }

    /// Scratch for panels of `outputs` outputs over `pixels` pixels; 0 when the weights are better read in place.
    pub(super) fn scratch_elems(&self, outputs: u32, pixels: u64) -> u32 {
        let width = [WIDE, MEDIUM, NARROW].into_iter().find(|&width| width <= outputs as usize);
        if pixels >= MIN_PIXELS { (self.rows * self.len * width.unwrap_or(0)) as u32 } else { 0 }
    }
}

/// Multiplies the weights of a panel of `width` outputs from `first` on by the scale of the norm. Sums that wait in the output
/// begin with the residual, which is not scaled, and packed weights have the scale, too.
pub(super) fn scale_panel(epilogue: &Epilogue<'_>, first: usize, panel: &mut [f32], width: usize) {
    let Some((scale, _)) = epilogue.norm else { return };
    let scale = scale.get(first..).unwrap_or_default();
    for weights in panel.chunks_mut(width.max(1)) {
        for (weight, scale) in weights.iter_mut().zip(scale) {
            *weight *= scale;
        }
    }
}

/// The window with a stride that the compiler, too, knows not to be zero: no division can panic.
#[inline(always)]
pub(super) fn with_stride(window: &Window) -> Window {
    Window { stride: window.stride.max(1), ..*window }
}

/// Weights of some outputs next to each other as `[k][output]`: those of piece `p` begin at row `p * step`.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Panel<'a> {
    pub(in crate::kernels) weights: &'a [f32],
    pub(in crate::kernels) step: usize,
}

impl<'a> Panel<'a> {
    /// The weights as rows of `P` outputs.
    #[inline(always)]
    pub(in crate::kernels) fn rows<const P: usize>(&self) -> &'a [[f32; P]] {
        self.weights.as_chunks().0
    }
}

/// Output pixels, `pitch` elements apart. Their sums go on from what the output holds, or begin at zero.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Span {
    pub(in crate::kernels) pixels: usize,
    pub(in crate::kernels) pitch: usize,
    pub(in crate::kernels) fresh: bool,
}

/// What becomes of sums at the beginning and at the end of a panel, while they are in registers.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Ends<'a> {
    /// Added to the sums; none or one for each output of the panel.
    pub(in crate::kernels) bias: &'a [f32],
    /// Applied last: one of those without an exponential.
    pub(in crate::kernels) activation: Activation,
    /// Weights that are read after those of the panel, which may be fetched meanwhile.
    pub(in crate::kernels) next: &'a [f32],
}

impl Ends<'_> {
    /// True when sums are only added to.
    pub(super) fn is_open(&self) -> bool {
        self.bias.is_empty() && self.activation == Activation::None
    }
}

/// What sums begin with in this chunk, besides what the output holds, and end with; and whether they begin here.
pub(super) fn ends_of<'a>(
    epilogue: &Epilogue<'_>,
    chunks: &Chunks,
    chunk: &Chunk,
    offsets: &'a [f32],
) -> (bool, Ends<'a>) {
    let is_first = chunk.row == 0 && chunk.first == 0;
    let ends = Ends {
        bias: if is_first { offsets } else { &[] },
        activation: if chunks.is_last(chunk) { epilogue.activation } else { Activation::None },
        next: &[],
    };
    (is_first && !epilogue.accumulate, ends)
}

/// Adds to every output pixel of `span` the sum over `k` of `input[r][k] * panel[k][..]`, `R` pixels at a time.
#[inline(always)]
pub(in crate::kernels) fn outer<const P: usize, const R: usize>(
    input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    output: &mut [f32],
    span: Span,
    ends: Ends<'_>,
) {
    let (mut input, mut left) = (input, span.pixels);
    let mut at = 0;
    while left > 0 {
        let output = output.get_mut(at..).unwrap_or_default();
        let count = if left >= R { R } else { 1 };
        match count {
            1 => outer_tile::<P, 1>(input, rows, panel, output, span, ends),
            _ => outer_tile::<P, R>(input, rows, panel, output, span, ends),
        }
        input = input.get(count * rows.step..).unwrap_or_default();
        at += count * span.pitch;
        left -= count;
    }
    activate_span(ends.activation, output, span, P);
}

/// The activation of `width` outputs of every pixel. Apart from the tiles, each form of which would have the code of every
/// activation.
#[inline(never)]
pub(super) fn activate_span(activation: Activation, output: &mut [f32], span: Span, width: usize) {
    if activation != Activation::None {
        for pixel in output.chunks_mut(span.pitch.max(1)).take(span.pixels) {
            activate(pixel.get_mut(..width).unwrap_or_default(), activation);
        }
    }
}

#[inline(always)]
fn outer_tile<const P: usize, const R: usize>(
    mut input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    output: &mut [f32],
    span: Span,
    ends: Ends<'_>,
) {
    let mut sums = [[0.0; P]; R];
    if !span.fresh {
        for (r, sums) in sums.iter_mut().enumerate() {
            let Some(held) = output.get(r * span.pitch..).and_then(|pixel| pixel.first_chunk()) else { return };
            *sums = *held;
        }
    }
    if let Some(bias) = ends.bias.first_chunk::<P>() {
        for sums in &mut sums {
            add_product(sums, &[1.0; P], bias);
        }
    }
    let mut weights = panel.rows::<P>();
    let mut left = rows.pieces;
    while left > 0 {
        let (Some(piece), Some(vectors)) = (rows.first::<R>(input), weights.get(..rows.len)) else { return };
        if differ(&piece, rows.len) {
            return;
        }
        for k in 0..rows.len {
            for (sums, input) in sums.iter_mut().zip(piece) {
                add_product(sums, &[input[k]; P], &vectors[k]);
            }
        }
        left -= 1;
        if left > 0 {
            input = input.get(rows.stretch..).unwrap_or_default();
            weights = weights.get(panel.step..).unwrap_or_default();
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        let Some(output) = output.get_mut(r * span.pitch..).and_then(|pixel| pixel.first_chunk_mut()) else { return };
        *output = *sums;
    }
}

/// `V` vectors of `L` lanes from `at` on. Like the next two, here because closures that a level compiles for its instruction
/// set are not inlined.
#[allow(dead_code, reason = "for the levels with explicit vectors, if there are any")]
#[inline(always)]
pub(in crate::kernels) fn vectors<const L: usize, const V: usize>(values: &[f32], at: usize) -> Option<&[[f32; L]; V]> {
    values.get(at..)?.as_chunks().0.first_chunk()
}

#[allow(dead_code, reason = "for the levels with explicit vectors, if there are any")]
#[inline(always)]
pub(in crate::kernels) fn vectors_mut<const L: usize, const V: usize>(
    values: &mut [f32],
    at: usize,
) -> Option<&mut [[f32; L]; V]> {
    values.get_mut(at..)?.as_chunks_mut().0.first_chunk_mut()
}

/// True when a row has another length than `len`.
#[inline(always)]
pub(in crate::kernels) fn differ(rows: &[&[f32]], len: usize) -> bool {
    rows.iter().any(|row| row.len() != len)
}

/// Writes kernel rows from `row` on of the outputs from `first` on into a panel of `width` outputs that the rows fill: of each
/// row `len` elements from `from` on, which are all of them unless it is one row only.
pub(in crate::kernels) fn transpose_rows(
    transpose: Transpose,
    filters: &Filters<'_, f32>,
    first: usize,
    (row, from, len): (usize, usize, usize),
    (panel, width): (&mut [f32], usize),
) {
    let at_once = if filters.are_whole() { panel.len() } else { len * width };
    for (row, panel) in (row..).zip(panel.chunks_mut(at_once.max(1))) {
        transpose(filters.weights, filters.pitch.filter, first, row * filters.pitch.row + from, panel);
    }
}

/// See [`transpose_part`].
pub(in crate::kernels) type Transpose = fn(&[f32], usize, usize, usize, &mut [f32]);

/// Writes elements `from..` of the `k` weights of each output from `first` on into `panel[..][0..P]`.
#[inline(never)]
pub(in crate::kernels) fn transpose_part<const P: usize>(
    weights: &[f32],
    k: usize,
    first: usize,
    from: usize,
    panel: &mut [f32],
) {
    let panel = panel.as_chunks_mut::<P>().0;
    let len = panel.len();
    for quad in 0..P / 4 {
        let rows: [_; 4] = array::from_fn(|i| part(weights, (first + 4 * quad + i) * k + from, len).as_chunks::<4>());
        let (blocks, rest) = panel.as_chunks_mut::<4>();
        for (j, block) in blocks.iter_mut().enumerate() {
            let square = rows.map(|(quads, _)| quads.get(j).copied().unwrap_or_default());
            for (i, out) in block.iter_mut().enumerate() {
                if let Some(out) = out.as_chunks_mut().0.get_mut(quad) {
                    *out = square.map(|row| row[i]);
                }
            }
        }
        for (j, out) in rest.iter_mut().enumerate() {
            if let Some(out) = out.as_chunks_mut().0.get_mut(quad) {
                *out = rows.map(|(_, rest)| rest.get(j).copied().unwrap_or_default());
            }
        }
    }
}
