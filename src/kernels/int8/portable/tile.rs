//! Register tiles: the inner loops of products.
//!
//! ```text
//! dot    weights in place [out][k], both operands contiguous in k: 4 rows x 2 outputs or 1 x 4
//! outer  weights widened and transposed in pairs [k / 2][out][2], for short k: 4 rows x 8 outputs
//! taps   a depthwise kernel under several windows: 8 channels
//! ```
//!
//! Inputs of products are i16 with the zero point subtracted. Sums wrap, so their order does not matter.

use core::array;
use core::ops::Range;

use super::finish::{self, Lanes};

/// Channels that are finished together, and outputs of a transposed panel of weights.
pub(in crate::kernels) const BLOCK: usize = 8;
/// Pixels whose sums are collected before they are finished: 256 bytes of sums.
pub(in crate::kernels) const STRIP: usize = 8;
/// Rows of a tile over a panel; a strip is two of them.
pub(in crate::kernels) const PANEL_ROWS: usize = STRIP / 2;
/// Outputs of the tiles of one row and of several rows.
pub(super) const ONE_ROW_OUTPUTS: usize = 4;
pub(super) const ROWS_OUTPUTS: usize = 2;

/// Weights of two neighbouring k, or of two neighbouring taps, of each output.
pub(in crate::kernels) type Pairs = [[i16; 2]; BLOCK];

/// The inner loops as one level compiles them. Each is a function of its own: inside a larger function the compiler keeps
/// less in registers and finds fewer vectors.
pub(in crate::kernels) trait InnerLoops {
    /// Whether to prefer forms that pay with vectors only.
    const HAS_VECTORS: bool;

    /// `sums[r][o]` over k of `input[r][k] * weights[o][k]`; all slices have one length.
    fn dot<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R];

    /// `sums[r][o]` over k of `input[r][k] * panel[k][o]`, where rows of the panel's length follow each other in `input`.
    fn outer(input: &[[i16; 2]], panel: &[Pairs], sums: &mut [[i32; BLOCK]; STRIP]);

    /// The sums of one window after the other over all taps.
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]]);

    /// See [`finish::codes`].
    fn codes(lanes: &Lanes, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize);
}

/// Depthwise windows next to each other that have the same taps inside the input.
pub(in crate::kernels) struct Windows<'a> {
    /// A block of channels, from the first kernel column of the first window on.
    pub(in crate::kernels) input: &'a [i8],
    /// Input elements from one window to the next.
    pub(in crate::kernels) step: usize,
    /// Input elements from one kernel row to the next.
    pub(in crate::kernels) in_row: usize,
    /// Input elements from one kernel column to the next.
    pub(in crate::kernels) channels: usize,
    /// Subtracted from each element.
    pub(in crate::kernels) zero_point: i8,
    /// Pairs of kernel columns: of the first row inside the input, of the second, and so on.
    pub(in crate::kernels) weights: &'a [Pairs],
    /// Pairs of one kernel row.
    pub(in crate::kernels) row_pairs: usize,
    /// Kernel rows inside the input.
    pub(in crate::kernels) rows: usize,
    /// Kernel columns inside the input; the first of them is the first column of `input`.
    pub(in crate::kernels) columns: Range<usize>,
}

impl<'a> Windows<'a> {
    /// The input from the first column of kernel row `row` of window `at` on, and the weights of the row's pairs.
    #[inline(always)]
    pub(in crate::kernels) fn row(&self, at: usize, row: usize) -> Option<Row<'a>> {
        let input = self.input.get(at * self.step + row * self.in_row..)?;
        let weights = self.weights.get(row * self.row_pairs..(row + 1) * self.row_pairs)?;
        let pairs = weights.get(self.columns.start / 2..self.columns.end.div_ceil(2))?;
        let starts_odd = !self.columns.start.is_multiple_of(2);
        Some(Row { input, channels: self.channels, left: self.columns.len(), starts_odd, padding: self.zero_point, pairs })
    }
}

/// What is left of one kernel row under one window.
pub(in crate::kernels) struct Row<'a> {
    input: &'a [i8],
    channels: usize,
    /// Columns.
    left: usize,
    /// Whether the first column is the second of its pair.
    starts_odd: bool,
    padding: i8,
    pairs: &'a [Pairs],
}

impl<'a> Row<'a> {
    /// Codes and weights of the next pair of kernel columns. A column outside the input is all zero points.
    #[inline(always)]
    pub(in crate::kernels) fn next_pair(&mut self) -> Option<([i8; BLOCK], [i8; BLOCK], &'a Pairs)> {
        let (weights, pairs) = self.pairs.split_first()?;
        self.pairs = pairs;
        let first = *self.input.first_chunk()?;
        if self.left >= 2 && !self.starts_odd {
            self.left -= 2;
            let second = *self.input.get(self.channels..)?.first_chunk()?;
            self.input = self.input.get(2 * self.channels..).unwrap_or_default();
            return Some((first, second, weights));
        }
        self.left -= 1;
        self.input = self.input.get(self.channels..).unwrap_or_default();
        let padding = [self.padding; BLOCK];
        if self.starts_odd {
            self.starts_odd = false;
            return Some((padding, first, weights));
        }
        Some((first, padding, weights))
    }
}

/// For targets without vectors of integers.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
pub(in crate::kernels) struct Scalar;

impl InnerLoops for Scalar {
    const HAS_VECTORS: bool = false;

    #[inline(never)]
    fn dot<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
        let mut sums = [[0; O]; R];
        add_rest(&mut sums, input, weights);
        sums
    }

    #[inline(never)]
    fn outer(input: &[[i16; 2]], panel: &[Pairs], sums: &mut [[i32; BLOCK]; STRIP]) {
        for (sums, input) in sums.iter_mut().zip(input.chunks(panel.len().max(1))) {
            *sums = [0; BLOCK];
            for (&x, weights) in input.iter().zip(panel) {
                add_pair(sums, [x; BLOCK], weights);
            }
        }
    }

    #[inline(never)]
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]]) {
        let centred = |code: i8| i16::from(code) - i16::from(windows.zero_point);
        for (at, sums) in sums.iter_mut().enumerate() {
            *sums = [0; BLOCK];
            for row in 0..windows.rows {
                let Some(mut row) = windows.row(at, row) else { return };
                while let Some((x, y, weights)) = row.next_pair() {
                    add_pair(sums, array::from_fn(|i| [centred(x[i]), centred(y[i])]), weights);
                }
            }
        }
    }

    #[inline(never)]
    fn codes(lanes: &Lanes, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
        finish::codes(lanes, sums, output, pitch);
    }
}

#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
#[inline(always)]
fn add_pair(sums: &mut [i32; BLOCK], x: Pairs, weights: &Pairs) {
    for ((sum, x), w) in sums.iter_mut().zip(x).zip(weights) {
        let products = i32::from(x[0]) * i32::from(w[0]) + i32::from(x[1]) * i32::from(w[1]);
        *sum = sum.wrapping_add(products);
    }
}

/// Adds `input[r][k] * weights[o][k]` to `sums[r][o]`, one k after the other.
#[inline(always)]
pub(in crate::kernels) fn add_rest<const R: usize, const O: usize>(
    sums: &mut [[i32; O]; R],
    input: [&[i16]; R],
    weights: [&[i8]; O],
) {
    let len = input.iter().map(|x| x.len()).chain(weights.iter().map(|w| w.len())).min().unwrap_or(0);
    for k in 0..len {
        for (sums, input) in sums.iter_mut().zip(input) {
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = sum.wrapping_add(i32::from(input[k]) * i32::from(weights[k]));
            }
        }
    }
}

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}
