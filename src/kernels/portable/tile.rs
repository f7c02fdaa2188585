//! Register tiles: the inner loops that convolutions and dense layers share.
//!
//! ```text
//! dot      weights in place [out][k], both operands contiguous in k: two rows x four outputs, L partial sums each
//! outer    weights transposed [k][PANEL], for k too short to pay for adding up lanes: four rows x PANEL outputs
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

/// Outputs whose weights are read in place at the same time.
pub(in crate::kernels) const OUTPUTS: usize = 4;
/// Outputs next to each other in a transposed panel of weights.
pub(in crate::kernels) const PANEL: usize = 8;

/// Rows whose sums are collected before their epilogue: 256 bytes of sums of `OUTPUTS` outputs, or of a panel.
pub(super) const STRIP: usize = 16;
pub(super) const PANEL_STRIP: usize = 8;

/// Rows of a tile.
pub(in crate::kernels) const ROWS: usize = 2;
const PANEL_ROWS: usize = 4;

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
    pub(super) fn contiguous(len: usize) -> Self {
        Self { pieces: 1, stretch: 0, step: len, len }
    }

    /// Piece `p` of the rows from `first` on; past row `last` it is repeated, and the caller drops what it gives.
    #[inline(always)]
    pub(in crate::kernels) fn input<'a, const R: usize>(
        &self,
        input: &'a [f32],
        p: usize,
        first: usize,
        last: usize,
    ) -> [&'a [f32]; R] {
        array::from_fn(|r| part(input, p * self.stretch + (first + r).min(last) * self.step, self.len))
    }
}

/// The weights of some outputs: piece `p` of each begins `p * step` elements after the start of its slice.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Weights<'a> {
    pub(super) outputs: [&'a [f32]; OUTPUTS],
    pub(super) step: usize,
}

impl<'a> Weights<'a> {
    #[inline(always)]
    pub(in crate::kernels) fn piece(&self, p: usize, len: usize) -> [&'a [f32]; OUTPUTS] {
        self.outputs.map(|weights| part(weights, p * self.step, len))
    }
}

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}

/// The inner loops as one level compiles them. Each is a function of its own: inside the larger functions that call them,
/// the compiler would run out of registers.
pub(in crate::kernels) trait InnerLoops {
    /// See [`dot`].
    fn dot(input: &[f32], rows: Rows, weights: Weights<'_>, sums: &mut [[f32; OUTPUTS]]);

    /// See [`outer`].
    fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]);

    /// Any activation, elementwise.
    fn activate(data: &mut [f32], activation: Activation);
}

/// Sums over `k` of `input[r][k] * weights[o][k]` for `sums.len()` rows, with vectors of `L` lanes.
#[inline(always)]
pub(in crate::kernels) fn dot<const L: usize>(
    input: &[f32],
    rows: Rows,
    weights: Weights<'_>,
    sums: &mut [[f32; OUTPUTS]],
) {
    let mut tiles = sums.chunks_exact_mut(ROWS);
    let mut first = 0;
    for tile in &mut tiles {
        dot_tile::<L, ROWS>(input, rows, first, weights, tile);
        first += ROWS;
    }
    for tile in tiles.into_remainder().chunks_mut(1) {
        dot_tile::<L, 1>(input, rows, first, weights, tile);
    }
}

#[inline(always)]
fn dot_tile<const L: usize, const R: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_>,
    sums: &mut [[f32; OUTPUTS]],
) {
    let mut lanes = [[[0.0; L]; OUTPUTS]; R];
    for p in 0..rows.pieces {
        let Some((vectors, input, weights)) = vectors::<L, R>(input, rows, p, first, weights) else { return };
        for k in 0..vectors {
            for (lanes, input) in lanes.iter_mut().zip(input) {
                for (lanes, weights) in lanes.iter_mut().zip(weights) {
                    add_product(lanes, &input[k], &weights[k]);
                }
            }
        }
    }
    for (sums, lanes) in sums.iter_mut().zip(settle(lanes)) {
        *sums = add_up(lanes);
    }
    add_rest::<L>(input, rows, first, weights, sums);
}

/// The whole vectors of piece `p` of the rows from `first` on and of the weights, and how many there are of each.
#[inline(always)]
#[expect(clippy::type_complexity, reason = "two arrays of slices")]
pub(in crate::kernels) fn vectors<'a, const L: usize, const R: usize>(
    input: &'a [f32],
    rows: Rows,
    p: usize,
    first: usize,
    weights: Weights<'a>,
) -> Option<(usize, [&'a [[f32; L]]; R], [&'a [[f32; L]]; OUTPUTS])> {
    let input: [_; R] = rows.input(input, p, first, usize::MAX).map(|row| row.as_chunks().0);
    let weights = weights.piece(p, rows.len).map(|row| row.as_chunks().0);
    let count = input[0].len();
    let same = input.iter().all(|row| row.len() == count) && weights.iter().all(|row| row.len() == count);
    same.then_some((count, input, weights))
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

/// The sum of all lanes of each output; `L` is a multiple of four.
#[inline(always)]
pub(in crate::kernels) fn add_up<const L: usize>(lanes: [[f32; L]; OUTPUTS]) -> [f32; OUTPUTS] {
    let [a, b, c, d] = lanes.map(fold_to_four);
    // Each step is a few shuffles: to two lanes of two outputs, then to one of each.
    let ab = [a[0] + a[2], b[0] + b[2], a[1] + a[3], b[1] + b[3]];
    let cd = [c[0] + c[2], d[0] + d[2], c[1] + c[3], d[1] + d[3]];
    [ab[0] + ab[2], ab[1] + ab[3], cd[0] + cd[2], cd[1] + cd[3]]
}

/// Adds up every fourth lane.
#[inline(always)]
fn fold_to_four<const L: usize>(lanes: [f32; L]) -> [f32; 4] {
    let Some((first, rest)) = lanes.as_chunks::<4>().0.split_first() else { return [0.0; 4] };
    rest.iter().fold(*first, |sums, quad| array::from_fn(|i| sums[i] + quad[i]))
}

/// The elements of each piece that do not fill a vector of `L` lanes, for the rows from `first` on.
#[inline(always)]
pub(in crate::kernels) fn add_rest<const L: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_>,
    sums: &mut [[f32; OUTPUTS]],
) {
    if rows.len.is_multiple_of(L) {
        return;
    }
    for p in 0..rows.pieces {
        let weights = weights.piece(p, rows.len).map(|row| row.as_chunks::<L>().1);
        for (r, sums) in (first..).zip(sums.iter_mut()) {
            let [input] = rows.input(input, p, r, r);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = input.as_chunks::<L>().1.iter().zip(weights).fold(*sum, |sum, (x, w)| sum + x * w);
            }
        }
    }
}

/// Sums over `k` of `input[r][k] * panel[k][..]` for `sums.len()` rows.
#[inline(always)]
pub(in crate::kernels) fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]) {
    let last = sums.len().saturating_sub(1);
    for (first, sums) in (0..).step_by(PANEL_ROWS).zip(sums.chunks_mut(PANEL_ROWS)) {
        let mut tile = [[0.0; PANEL]; PANEL_ROWS];
        for p in 0..rows.pieces {
            let input = rows.input::<PANEL_ROWS>(input, p, first, last);
            let panel = part(panel, p * rows.len, rows.len);
            let k_elems = panel.len();
            if input.iter().any(|row| row.len() != k_elems) {
                break;
            }
            for k in 0..k_elems {
                for (sums, input) in tile.iter_mut().zip(input) {
                    add_product(sums, &[input[k]; PANEL], &panel[k]);
                }
            }
        }
        for (sums, tile) in sums.iter_mut().zip(settle(tile)) {
            *sums = tile;
        }
    }
}

/// Writes the weights of the outputs from `first` on into `panel[k][0..N]`, zero where there is no output.
#[inline(always)]
pub(super) fn transpose<const N: usize>(weights: &[f32], first: usize, panel: &mut [[f32; N]]) {
    let k_elems = panel.len();
    let rows: [&[f32]; N] = array::from_fn(|o| part(weights, (first + o) * k_elems, k_elems));
    for (k, out) in panel.iter_mut().enumerate() {
        for (out, row) in out.iter_mut().zip(&rows) {
            *out = row.get(k).copied().unwrap_or(0.0);
        }
    }
}

/// The weights of [`OUTPUTS`] outputs from `first` on, `k` each; past the last one it is repeated, and the caller drops
/// what it gives.
#[inline(always)]
pub(super) fn output_weights(weights: &[f32], k: usize, first: usize, outputs: usize) -> [&[f32]; OUTPUTS] {
    array::from_fn(|o| part(weights, (first + o).min(outputs - 1) * k, k))
}
