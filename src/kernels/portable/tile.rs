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

/// Outputs next to each other in a transposed panel of weights.
pub(super) const PANEL: usize = 8;

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}

/// `N` operands cut into pieces: piece `p` of each is the `len` elements from `p * step` on.
pub(super) struct Pieces<'a, T, const N: usize> {
    pub(super) operands: [&'a [T]; N],
    pub(super) step: usize,
    pub(super) len: usize,
}

impl<'a, T, const N: usize> Pieces<'a, T, N> {
    /// Operands of one piece each, `len` elements from each start on.
    #[inline(always)]
    pub(super) fn whole(data: &'a [T], starts: [usize; N], len: usize) -> Self {
        Self { operands: starts.map(|start| part(data, start, len)), step: 0, len }
    }

    #[inline(always)]
    fn piece(&self, p: usize) -> [&'a [T]; N] {
        self.operands.map(|operand| part(operand, p * self.step, self.len))
    }
}

/// Sums over `k` of `input[r][k] * weights[o][k]`, where `k` runs over all pieces.
#[inline(always)]
pub(super) fn dot<const L: usize, const R: usize, const O: usize>(
    pieces: usize,
    input: &Pieces<'_, f32, R>,
    weights: &Pieces<'_, f32, O>,
) -> [[f32; O]; R] {
    let mut lanes = [[[0.0; L]; O]; R];
    for p in 0..pieces {
        add_vectors(&mut lanes, input.piece(p), weights.piece(p));
    }
    // The tile passes through memory here. Otherwise the compiler sees sums of neighbouring outputs and may decide to put
    // outputs, whose weights are far apart, into the lanes of one vector.
    let mut sums = black_box(lanes).map(|row| row.map(add_up));
    if !input.len.is_multiple_of(L) {
        for p in 0..pieces {
            add_rest::<L, R, O>(&mut sums, input.piece(p), weights.piece(p));
        }
    }
    sums
}

/// The whole vectors of one piece.
#[inline(always)]
fn add_vectors<const L: usize, const R: usize, const O: usize>(
    lanes: &mut [[[f32; L]; O]; R],
    input: [&[f32]; R],
    weights: [&[f32]; O],
) {
    let input = input.map(|row| row.as_chunks::<L>().0);
    let weights = weights.map(|row| row.as_chunks::<L>().0);
    let vectors = input[0].len();
    if input.iter().any(|row| row.len() != vectors) || weights.iter().any(|row| row.len() != vectors) {
        return;
    }
    for k in 0..vectors {
        for (lanes, input) in lanes.iter_mut().zip(&input) {
            for (lanes, weights) in lanes.iter_mut().zip(&weights) {
                add_product(lanes, &input[k], &weights[k]);
            }
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

/// Sum of all lanes, halves first.
#[inline(always)]
fn add_up<const L: usize>(mut lanes: [f32; L]) -> f32 {
    let mut half = L / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] += lanes[i + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Sums over `k` of `input[r][k] * panel[k][..]`, where `k` runs over all pieces.
#[inline(always)]
pub(super) fn outer<const R: usize>(
    pieces: usize,
    input: &Pieces<'_, f32, R>,
    panel: &Pieces<'_, [f32; PANEL], 1>,
) -> [[f32; PANEL]; R] {
    let mut sums = [[0.0; PANEL]; R];
    for p in 0..pieces {
        let input = input.piece(p);
        let [panel] = panel.piece(p);
        if input.iter().any(|row| row.len() != panel.len()) {
            continue;
        }
        for (k, weights) in panel.iter().enumerate() {
            for (sums, input) in sums.iter_mut().zip(&input) {
                add_product(sums, &[input[k]; PANEL], weights);
            }
        }
    }
    black_box(sums)
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
