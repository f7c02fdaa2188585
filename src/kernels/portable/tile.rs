//! Register tiles: the inner loops that convolutions and dense layers share.
//!
//! ```text
//! dot      weights in place [out][k], both operands contiguous in k: two rows x four outputs, L partial sums each
//! outer    weights transposed in panels, see panel.rs
//! ```
//!
//! A row is the input of one pixel (or of one batch element). Each loaded vector meets several others before it is
//! dropped, so the arithmetic units and not the loads set the pace. Both loops walk over the pieces in which k is
//! contiguous in the input and in the weights: a dense layer has one, a convolution one per kernel row.
//!
//! Every sum is kept in explicit lanes, because the compiler must not reorder float additions on its own. Lengths are
//! compared once per piece; the loops then carry no bounds check.

use core::array;
use core::hint::black_box;

use crate::kernels::args::Activation;
use crate::kernels::portable::panel::{Ends, Panel, Span};
#[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
use crate::kernels::portable::winograd::WinogradLoops;

/// Outputs whose weights are read in place at the same time, and when there is one row only.
pub(in crate::kernels) const OUTPUTS: usize = 4;
pub(in crate::kernels) const SINGLE_OUTPUTS: usize = 8;
/// Rows whose sums are collected before their epilogue: 256 bytes.
pub(super) const STRIP: usize = 16;

/// Rows of a tile.
pub(in crate::kernels) const ROWS: usize = 2;

/// Where the rows of a strip lie in their input: piece `p` of row `r` is `len` elements from `p * stretch + r * step` on.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Rows {
    pub(in crate::kernels) pieces: usize,
    pub(in crate::kernels) stretch: usize,
    pub(in crate::kernels) step: usize,
    pub(in crate::kernels) len: usize,
}

impl Rows {
    /// Rows of `len` elements, each in one piece, one after the other.
    pub(in crate::kernels) fn contiguous(len: usize) -> Self {
        Self { pieces: 1, stretch: 0, step: len, len }
    }

    /// The piece that begins with the input, of `R` rows.
    #[inline(always)]
    pub(in crate::kernels) fn first<'a, const R: usize>(&self, input: &'a [f32]) -> Option<[&'a [f32]; R]> {
        self.input(input, 0, 0)
    }

    /// Piece `p` of `R` rows from `first` on. Nothing where the input is too short, which the planner rules out: a branch
    /// that is never taken costs less than a length that has to be selected.
    #[inline(always)]
    pub(in crate::kernels) fn input<'a, const R: usize>(
        &self,
        input: &'a [f32],
        p: usize,
        first: usize,
    ) -> Option<[&'a [f32]; R]> {
        let input = input.get(p * self.stretch + first * self.step..)?;
        let last = (R - 1) * self.step;
        if last.checked_add(self.len)? > input.len() {
            return None;
        }
        Some(array::from_fn(|r| part(input, r * self.step, self.len)))
    }
}

/// The weights of `O` outputs: piece `p` of each begins `p * step` elements after the start of its slice.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Weights<'a, const O: usize> {
    pub(super) outputs: [&'a [f32]; O],
    pub(super) step: usize,
}

impl<'a, const O: usize> Weights<'a, O> {
    /// Piece 0 of the outputs from `first` on: `len` elements each, `pitch` from one to the next. Past the last output it is
    /// repeated, and the caller drops what it gives.
    #[inline(always)]
    pub(super) fn new(weights: &'a [f32], pitch: usize, len: usize, first: usize, outputs: usize) -> Self {
        Self { outputs: array::from_fn(|o| part(weights, (first + o).min(outputs - 1) * pitch, len)), step: 0 }
    }

    /// The same outputs, from element `first` of their weights on and with `step` elements from piece to piece.
    #[inline(always)]
    pub(super) fn from(&self, first: usize, step: usize) -> Self {
        Self { outputs: self.outputs.map(|weights| weights.get(first..).unwrap_or_default()), step }
    }

    /// Piece `p` of each output, `len` elements; see [`Rows::input`].
    #[inline(always)]
    pub(in crate::kernels) fn piece(&self, p: usize, len: usize) -> Option<[&'a [f32]; O]> {
        let start = p * self.step;
        let end = start.checked_add(len)?;
        if self.outputs.iter().any(|weights| weights.len() < end) {
            return None;
        }
        Some(self.outputs.map(|weights| part(weights, start, len)))
    }
}

/// The whole vectors of piece `p` of the rows from `first` on and of the weights, as many of each.
#[inline(always)]
#[expect(clippy::type_complexity, reason = "two arrays of slices")]
pub(in crate::kernels) fn vectors<'a, const L: usize, const R: usize, const O: usize>(
    input: &'a [f32],
    rows: Rows,
    p: usize,
    first: usize,
    weights: &Weights<'a, O>,
) -> Option<(usize, [&'a [[f32; L]]; R], [&'a [[f32; L]]; O])> {
    let input = rows.input::<R>(input, p, first)?.map(|row| row.as_chunks().0);
    let weights = weights.piece(p, rows.len)?.map(|row| row.as_chunks().0);
    let count = rows.len / L;
    let same = input.iter().all(|row| row.len() == count) && weights.iter().all(|row| row.len() == count);
    same.then_some((count, input, weights))
}

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}

/// The inner loops of one level. Everything around them exists once for all levels and reaches them through this table:
/// they are functions of their own anyway, because inside larger ones the compiler would run out of registers.
pub(in crate::kernels) struct InnerLoops {
    /// See [`dot`].
    pub(in crate::kernels) dot: fn(&[f32], Rows, Weights<'_, OUTPUTS>, &mut [[f32; OUTPUTS]]),
    /// See [`dot_single`].
    pub(in crate::kernels) dot_single: fn(&[f32], Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS],
    /// For panels of weights, the widest first.
    pub(in crate::kernels) products: [ProductLoops; 3],
    /// For blocks of channels, the widest first.
    pub(in crate::kernels) depthwise: [DepthwiseLoops; 3],
    /// For convolutions of 3 x 3.
    #[cfg(all(feature = "simd", any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(in crate::kernels) winograd: WinogradLoops,
    /// Any activation, elementwise.
    pub(in crate::kernels) activate: fn(&mut [f32], Activation),
}

impl InnerLoops {
    /// The loops for the widest panel that `outputs` outputs fill.
    pub(super) fn widest(&self, outputs: usize) -> Option<&ProductLoops> {
        self.products.iter().find(|product| product.outputs <= outputs)
    }
}

/// The inner loops for panels of one width.
pub(in crate::kernels) struct ProductLoops {
    /// Outputs of a panel.
    pub(in crate::kernels) outputs: usize,
    /// See [`transpose_part`](crate::kernels::portable::panel::transpose_part).
    pub(in crate::kernels) transpose: fn(&[f32], usize, usize, usize, &mut [f32]),
    /// See [`outer`](crate::kernels::portable::panel::outer).
    pub(in crate::kernels) outer: fn(&[f32], Rows, Panel<'_>, &mut [f32], Span, Ends<'_>),
    /// The sums of a single row with the weights of a packed panel, the same to the bit as [`InnerLoops::dot_single`] gives;
    /// None where weights in place are as good.
    pub(in crate::kernels) single: Option<Single>,
}

/// Takes a row and the weights of a panel, and gives the sums.
pub(in crate::kernels) type Single = fn(&[f32], &[f32], &mut [f32]);

/// The inner loops for blocks of one width.
pub(in crate::kernels) struct DepthwiseLoops {
    /// Channels of a block.
    pub(in crate::kernels) channels: usize,
    /// See [`taps`](crate::kernels::portable::depthwise_conv2d::taps).
    pub(in crate::kernels) taps: fn(&Line<'_>, &mut [f32]),
}

/// Depthwise windows that meet the same taps.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Line<'a> {
    /// From the first tap of the first window on.
    pub(in crate::kernels) input: &'a [f32],
    /// Where the taps lie: pieces are kernel rows, of `len` taps each.
    pub(in crate::kernels) rows: Rows,
    /// Elements from one tap to the next.
    pub(in crate::kernels) channels: usize,
    /// The weights likewise.
    pub(in crate::kernels) panel: Panel<'a>,
    /// The output pixels.
    pub(in crate::kernels) span: Span,
    pub(in crate::kernels) ends: Ends<'a>,
}

/// Sums over `k` of `input[r][k] * weights[o][k]` for `sums.len()` rows, with `L` lanes per sum.
#[inline(always)]
pub(in crate::kernels) fn dot<const L: usize>(
    input: &[f32],
    rows: Rows,
    weights: Weights<'_, OUTPUTS>,
    sums: &mut [[f32; OUTPUTS]],
) {
    for (first, sums) in (0..).step_by(ROWS).zip(sums.chunks_mut(ROWS)) {
        match sums.len() {
            ROWS => dot_tile::<L, ROWS, OUTPUTS>(input, rows, first, weights, sums),
            _ => dot_tile::<L, 1, OUTPUTS>(input, rows, first, weights, sums),
        }
    }
}

/// [`dot`] for one row in one piece. More outputs at a time keep as many sums under way as two rows do, and read the
/// weights, which nothing else shares, in as many streams.
#[inline(always)]
pub(in crate::kernels) fn dot_single<const L: usize>(
    input: &[f32],
    weights: Weights<'_, SINGLE_OUTPUTS>,
) -> [f32; SINGLE_OUTPUTS] {
    let mut sums = [[0.0; SINGLE_OUTPUTS]];
    dot_tile::<L, 1, SINGLE_OUTPUTS>(input, Rows::contiguous(input.len()), 0, weights, &mut sums);
    let [sums] = sums;
    sums
}

#[inline(always)]
fn dot_tile<const L: usize, const R: usize, const O: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_, O>,
    sums: &mut [[f32; O]],
) {
    let mut lanes = [[[0.0; L]; O]; R];
    for p in 0..rows.pieces {
        let Some((vectors, input, weights)) = vectors::<L, R, O>(input, rows, p, first, &weights) else { break };
        for k in 0..vectors {
            for (lanes, input) in lanes.iter_mut().zip(&input) {
                for (lanes, weights) in lanes.iter_mut().zip(&weights) {
                    add_product(lanes, &input[k], &weights[k]);
                }
            }
        }
    }
    for (sums, lanes) in sums.iter_mut().zip(settle(lanes)) {
        *sums = add_up(lanes);
    }
    add_rest::<L, O>(input, rows, first, weights, sums);
}

/// `sums[i] += x[i] * w[i]`
#[inline(always)]
pub(super) fn add_product<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
    for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
        *sum += x * w;
    }
}

/// Passes a value through memory. Otherwise the compiler sees the sums of neighbouring outputs and may decide to put
/// outputs, whose weights are far apart, into the lanes of one vector.
#[inline(always)]
pub(super) fn settle<T>(value: T) -> T {
    black_box(value)
}

/// The sum of all lanes of each output; `L` and `O` are multiples of four.
#[inline(always)]
pub(in crate::kernels) fn add_up<const L: usize, const O: usize>(lanes: [[f32; L]; O]) -> [f32; O] {
    let mut sums = [0.0; O];
    for (sums, lanes) in sums.as_chunks_mut().0.iter_mut().zip(lanes.as_chunks::<4>().0) {
        let [a, b, c, d] = lanes.map(fold_to_four);
        // Each step is a few shuffles: to two lanes of two outputs, then to one of each.
        let ab = [a[0] + a[2], b[0] + b[2], a[1] + a[3], b[1] + b[3]];
        let cd = [c[0] + c[2], d[0] + d[2], c[1] + c[3], d[1] + d[3]];
        *sums = [ab[0] + ab[2], ab[1] + ab[3], cd[0] + cd[2], cd[1] + cd[3]];
    }
    sums
}

/// Adds up every fourth lane.
#[inline(always)]
fn fold_to_four<const L: usize>(lanes: [f32; L]) -> [f32; 4] {
    let Some((first, rest)) = lanes.as_chunks::<4>().0.split_first() else { return [0.0; 4] };
    rest.iter().fold(*first, |sums, quad| array::from_fn(|i| sums[i] + quad[i]))
}

/// The elements of each piece that do not fill a vector of `L` lanes, for the rows from `first` on.
#[inline(always)]
fn add_rest<const L: usize, const O: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_, O>,
    sums: &mut [[f32; O]],
) {
    if rows.len.is_multiple_of(L) {
        return;
    }
    for p in 0..rows.pieces {
        let Some(weights) = weights.piece(p, rows.len) else { break };
        for (r, sums) in (first..).zip(sums.iter_mut()) {
            let Some([input]) = rows.input(input, p, r) else { break };
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = input
                    .as_chunks::<L>()
                    .1
                    .iter()
                    .zip(weights.as_chunks::<L>().1)
                    .fold(*sum, |sum, (x, w)| sum + x * w);
            }
        }
    }
}

/// Writes the weights of the outputs from `first` on into `panel[k][0..width]`, zero behind the last output.
pub(super) fn transpose(weights: &[f32], first: usize, panel: &mut [f32], width: usize) {
    let k_elems = panel.len().checked_div(width).unwrap_or(0);
    for (k, row) in panel.chunks_exact_mut(width.max(1)).enumerate() {
        let mut at = first * k_elems + k;
        for out in row {
            *out = weights.get(at).copied().unwrap_or(0.0);
            at += k_elems;
        }
    }
}
