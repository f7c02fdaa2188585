//! Register tiles: the inner loops of products.
//!
//! ```text
//! dot    weights in place [out][k], both operands contiguous in k: 4 rows x 2 outputs, or up to 3 x 4
//! outer  weights widened and transposed in pairs [k / 2][out][2], for short k: 4 or 8 rows x 8 outputs
//! taps   a depthwise kernel under several windows: 8 channels
//! ```
//!
//! Inputs of products are i16 with the zero point subtracted. Sums wrap, so their order does not matter.

use core::array;

use crate::kernels::int8::Requantize;

/// Channels that are finished together, and outputs of a transposed panel of weights.
pub(in crate::kernels) const BLOCK: usize = 8;
/// Pixels whose sums are collected before they are finished: 256 bytes of sums.
pub(in crate::kernels) const STRIP: usize = 8;

/// Two neighbouring k, or two kernel rows, of each output or channel.
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

    /// Writes `[upper - zero_point, lower - zero_point]` of a block of channels of columns that are `channels` elements
    /// apart; a row outside the input counts as zero points.
    fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]);

    /// The sums of one window after the other over all taps; anything past the last of `count`.
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]);

    /// What requantising a block of channels needs.
    type Tables;
    /// Fewest pixels that pay for the tables.
    const MIN_PIXELS: usize;

    /// The tables of the channels from `first` on; nothing where they are fewer than a block, or do not fit the form.
    fn tables(requantize: &Requantize<'_>, first: usize) -> Option<Self::Tables>;

    /// Writes the codes of a block of channels of pixels that are `pitch` elements apart.
    fn codes(tables: &Self::Tables, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize);
}

/// Depthwise windows next to each other.
pub(in crate::kernels) struct Windows<'a> {
    /// Windows whose sums are wanted.
    pub(in crate::kernels) count: usize,
    /// Windows that `columns` have room for, at most [`STRIP`].
    pub(in crate::kernels) strip: usize,
    /// Input of a block of channels, rows in pairs: lines of `width` columns. The line of the window's first two rows is
    /// `first_line`, and the first line follows the last.
    pub(in crate::kernels) columns: &'a [Pairs],
    pub(in crate::kernels) width: usize,
    pub(in crate::kernels) first_line: usize,
    /// Number of lines.
    pub(in crate::kernels) pair_rows: usize,
    /// Columns from one window to the next.
    pub(in crate::kernels) step: usize,
    /// Weights, rows in pairs likewise, from the first row on.
    pub(in crate::kernels) weights: &'a [Pairs],
    /// Columns of a window; not 0.
    pub(in crate::kernels) kernel_w: usize,
    /// Whether windows begin with the second row of their first pair. The last row of the kernel is then not the second
    /// of a pair.
    pub(in crate::kernels) is_lowered: bool,
}

impl Windows<'_> {
    /// Where the input of a pair of rows starts.
    #[inline(always)]
    pub(in crate::kernels) fn line_start(&self, pair_row: usize) -> usize {
        let line = self.first_line + pair_row;
        (if line >= self.pair_rows { line - self.pair_rows } else { line }) * self.width
    }
}

/// The codes of a block of channels.
#[inline(always)]
pub(in crate::kernels) fn block_at(row: Option<&[i8]>, at: usize, zero_point: i8) -> [i8; BLOCK] {
    row.and_then(|row| row.get(at..at + BLOCK)?.first_chunk().copied()).unwrap_or([zero_point; BLOCK])
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
    fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
        for (column, out) in out.iter_mut().enumerate() {
            let [upper, lower] = rows.map(|row| block_at(row, column * channels, zero_point));
            let centred = |code: i8| i16::from(code) - i16::from(zero_point);
            *out = array::from_fn(|i| [centred(upper[i]), centred(lower[i])]);
        }
    }

    #[inline(never)]
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
        for (at, sums) in sums.iter_mut().take(windows.count).enumerate() {
            *sums = [0; BLOCK];
            let mut above = None;
            for (row, weights) in windows.weights.chunks(windows.kernel_w.max(1)).enumerate() {
                let line = windows.columns.get(windows.line_start(row) + at * windows.step..).unwrap_or_default();
                for (column, (x, weights)) in line.iter().zip(weights).enumerate() {
                    if windows.is_lowered {
                        let above = above.and_then(|above: &[Pairs]| above.get(column)).unwrap_or(&[[0; 2]; BLOCK]);
                        add_pair(sums, *x, &array::from_fn(|i| [above[i][1], weights[i][0]]));
                    } else {
                        add_pair(sums, *x, weights);
                    }
                }
                above = Some(weights);
            }
        }
    }

    type Tables = Never;
    const MIN_PIXELS: usize = usize::MAX;

    #[inline(always)]
    fn tables(_: &Requantize<'_>, _: usize) -> Option<Never> {
        None
    }

    #[inline(always)]
    fn codes(tables: &Never, _: &[[i32; BLOCK]], _: &mut [i8], _: usize) {
        match *tables {}
    }
}

/// No value: requantisation without tables.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
pub(in crate::kernels) enum Never {}

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
