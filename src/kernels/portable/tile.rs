//! Register tiles: the two inner loops that convolutions and dense layers share.
//!
//! ```text
//! dot    weights in place [out][k], both operands contiguous in k: R rows x O outputs, L partial sums each
//! outer  weights transposed [k][PANEL], for k too short to pay for adding up lanes: R rows x PANEL outputs
//! ```
//!
//! A tile is a few rows (pixels) times a few outputs. Each loaded vector meets several others before it is dropped, so
//! the arithmetic units and not the loads set the pace. Both loops walk over pieces of k that are contiguous in the input
//! and in the weights: a dense layer has one, a convolution one per kernel row.
//!
//! Every sum is kept in explicit lanes, because the compiler must not reorder float additions on its own. Lengths are
//! compared once per piece; the loops then carry no bounds check.

use core::array;
use core::hint::black_box;

use crate::kernels::args::Activation;

/// Outputs next to each other in a transposed panel of weights.
pub(in crate::kernels) const PANEL: usize = 8;

/// Pixels whose sums are collected before their epilogue: 256 bytes of sums of four outputs, or of a panel.
pub(super) const STRIP: usize = 16;
pub(super) const PANEL_STRIP: usize = 8;
/// Rows of a tile over a panel.
const PANEL_ROWS: usize = 4;

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}

/// `N` operands cut into pieces: piece `p` of each is the `len` elements from `p * step` on.
pub(in crate::kernels) struct Pieces<'a, T, const N: usize> {
    pub(super) operands: [&'a [T]; N],
    pub(super) step: usize,
}

impl<'a, T, const N: usize> Pieces<'a, T, N> {
    /// Operands of one piece each, `len` elements from each start on.
    #[inline(always)]
    pub(super) fn whole(data: &'a [T], starts: [usize; N], len: usize) -> Self {
        Self { operands: starts.map(|start| part(data, start, len)), step: 0 }
    }

    /// Piece `p` of each operand, `None` where one is too short (which the planner rules out).
    #[inline(always)]
    fn piece(&self, p: usize, len: usize) -> Option<[&'a [T]; N]> {
        let start = p * self.step;
        let mut pieces = self.operands;
        for piece in &mut pieces {
            *piece = piece.get(start..start + len)?;
        }
        Some(pieces)
    }

    #[inline(always)]
    pub(in crate::kernels) fn vectors<const L: usize>(&self, p: usize, len: usize) -> Option<[&'a [[T; L]]; N]> {
        Some(self.piece(p, len)?.map(|piece| piece.as_chunks().0))
    }
}

/// The inner loops as one level compiles them. Each is a function of its own: inside the larger function that calls it, the
/// compiler would run out of registers.
pub(in crate::kernels) trait InnerLoops {
    /// See [`dot`].
    fn dot<const R: usize, const O: usize>(
        pieces: usize,
        len: usize,
        input: &Pieces<'_, f32, R>,
        weights: &Pieces<'_, f32, O>,
    ) -> [[f32; O]; R];

    /// See [`outer`].
    fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]);

    /// Any activation, elementwise.
    fn activate(data: &mut [f32], activation: Activation);
}

/// Sums over `k` of `input[r][k] * weights[o][k]`, where `k` runs over all pieces.
#[inline(always)]
pub(in crate::kernels) fn dot<const L: usize, const R: usize, const O: usize>(
    pieces: usize,
    len: usize,
    input: &Pieces<'_, f32, R>,
    weights: &Pieces<'_, f32, O>,
) -> [[f32; O]; R] {
    let mut lanes = [[[0.0; L]; O]; R];
    for p in 0..pieces {
        let (Some(input), Some(weights)) = (input.vectors(p, len), weights.vectors(p, len)) else { break };
        let vectors = len / L;
        if input.iter().any(|row| row.len() != vectors) || weights.iter().any(|row| row.len() != vectors) {
            break;
        }
        for k in 0..vectors {
            add_tile(&mut lanes, input.map(|row| &row[k]), weights.map(|row| &row[k]));
        }
    }
    finish_dot(pieces, len, input, weights, &settle(lanes))
}

/// Adds up the lanes, and adds the elements that did not fill a vector.
#[inline(always)]
pub(in crate::kernels) fn finish_dot<const L: usize, const R: usize, const O: usize>(
    pieces: usize,
    len: usize,
    input: &Pieces<'_, f32, R>,
    weights: &Pieces<'_, f32, O>,
    lanes: &[[[f32; L]; O]; R],
) -> [[f32; O]; R] {
    let mut sums = lanes.each_ref().map(add_up);
    if !len.is_multiple_of(L) {
        for p in 0..pieces {
            let (Some(input), Some(weights)) = (input.piece(p, len), weights.piece(p, len)) else { break };
            add_rest::<L, R, O>(&mut sums, input, weights);
        }
    }
    sums
}

/// Passes a value through memory. Otherwise the compiler sees the sums of neighbouring outputs and may decide to put
/// outputs, whose weights are far apart, into the lanes of one vector.
#[inline(always)]
fn settle<T>(value: T) -> T {
    black_box(value)
}

#[inline(always)]
fn add_tile<const L: usize, const R: usize, const O: usize>(
    lanes: &mut [[[f32; L]; O]; R],
    input: [&[f32; L]; R],
    weights: [&[f32; L]; O],
) {
    for (lanes, input) in lanes.iter_mut().zip(input) {
        for (lanes, weights) in lanes.iter_mut().zip(weights) {
            add_product(lanes, input, weights);
        }
    }
}

/// `sums[i] += x[i] * w[i]`
#[inline(always)]
pub(super) fn add_product<const N: usize>(sums: &mut [f32; N], x: &[f32; N], w: &[f32; N]) {
    for i in 0..N {
        sums[i] += x[i] * w[i];
    }
}

/// The elements of one piece that do not fill a vector.
#[inline(always)]
fn add_rest<const L: usize, const R: usize, const O: usize>(
    sums: &mut [[f32; O]; R],
    input: [&[f32]; R],
    weights: [&[f32]; O],
) {
    for (sums, input) in sums.iter_mut().zip(input) {
        for (sum, weights) in sums.iter_mut().zip(weights) {
            let pairs = input.as_chunks::<L>().1.iter().zip(weights.as_chunks::<L>().1);
            *sum = pairs.fold(*sum, |sum, (x, w)| sum + x * w);
        }
    }
}

/// The sum of all lanes of each output; `O` and `L` are multiples of four.
#[inline(always)]
fn add_up<const L: usize, const O: usize>(lanes: &[[f32; L]; O]) -> [f32; O] {
    let mut sums = [0.0; O];
    for (sums, lanes) in sums.as_chunks_mut().0.iter_mut().zip(lanes.as_chunks::<4>().0) {
        // Four outputs at once, each step a few shuffles: to four lanes, to two lanes of two outputs, to one of each.
        let [a, b, c, d] = lanes.map(fold_to_four);
        let ab = [a[0] + a[2], b[0] + b[2], a[1] + a[3], b[1] + b[3]];
        let cd = [c[0] + c[2], d[0] + d[2], c[1] + c[3], d[1] + d[3]];
        *sums = [ab[0] + ab[2], ab[1] + ab[3], cd[0] + cd[2], cd[1] + cd[3]];
    }
    sums
}

/// Adds up every fourth lane.
#[inline(always)]
fn fold_to_four<const L: usize>(lanes: [f32; L]) -> [f32; 4] {
    let (mut sums, rest) = lanes.as_chunks::<4>().0.split_first().map_or(([0.0; 4], &[][..]), |(q, rest)| (*q, rest));
    for quad in rest {
        sums = array::from_fn(|i| sums[i] + quad[i]);
    }
    sums
}

/// Where the rows that meet a panel lie: `pieces` stretches of input, in each of which row `r` has the `len` elements from
/// `r * step` on.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Rows {
    pub(super) pieces: usize,
    pub(super) step: usize,
    pub(super) len: usize,
}

/// Sums over `k` of `input[r][k] * panel[k][..]` for `sums.len()` rows.
#[inline(always)]
pub(in crate::kernels) fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]) {
    let stretch = input.len() / rows.pieces.max(1);
    let last = sums.len().saturating_sub(1);
    for (first, sums) in (0..).step_by(PANEL_ROWS).zip(sums.chunks_mut(PANEL_ROWS)) {
        // Past the last row the tile repeats it, and drops the result.
        let starts: [usize; PANEL_ROWS] = array::from_fn(|r| (first + r).min(last) * rows.step);
        let mut tile = [[0.0; PANEL]; PANEL_ROWS];
        for (input, panel) in input.chunks_exact(stretch.max(1)).zip(panel.chunks_exact(rows.len.max(1))) {
            add_outer(&mut tile, starts.map(|start| part(input, start, rows.len)), panel);
        }
        for (sums, tile) in sums.iter_mut().zip(settle(tile)) {
            *sums = tile;
        }
    }
}

#[inline(always)]
fn add_outer(sums: &mut [[f32; PANEL]; PANEL_ROWS], input: [&[f32]; PANEL_ROWS], panel: &[[f32; PANEL]]) {
    let k_elems = panel.len();
    if input.iter().any(|row| row.len() != k_elems) {
        return;
    }
    for k in 0..k_elems {
        for (sums, input) in sums.iter_mut().zip(&input) {
            add_product(sums, &[input[k]; PANEL], &panel[k]);
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
