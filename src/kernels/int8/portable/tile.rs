//! Register tiles: the inner loops of products.
//!
//! ```text
//! dot    weights in place [out][k], both operands contiguous in k; with vectors 4 rows x 2 outputs, or up to 3 x 4
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

    /// Adds products to the sums of some rows, at least one.
    fn dot(products: &Products<'_>, sums: &mut [[i32; BLOCK]]);

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

    /// Writes the codes of a block of channels of the first `count` pixels, which are `pitch` elements apart.
    fn codes(tables: &Self::Tables, sums: &[[i32; BLOCK]; STRIP], count: usize, output: &mut [i8], pitch: usize);
}

/// Products over k of some rows and of the outputs of a block: `input[r][k] * weights[o][k]`.
pub(in crate::kernels) struct Products<'a> {
    /// Rows of `len` elements that follow each other.
    pub(in crate::kernels) input: &'a [i16],
    /// Number of k.
    pub(in crate::kernels) len: usize,
    /// Weights of the outputs, `pitch` elements apart.
    pub(in crate::kernels) weights: &'a [i8],
    pub(in crate::kernels) pitch: usize,
    /// Outputs that there are; what is added to other sums of a block has no meaning.
    pub(in crate::kernels) outputs: usize,
}

impl Products<'_> {
    /// Whether so many rows and all weights are there.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for loops without checks"))]
    #[inline(always)]
    pub(in crate::kernels) fn are_inside(&self, rows: usize) -> bool {
        rows > 0
            && rows * self.len <= self.input.len()
            && self.outputs > 0
            && (self.outputs.min(BLOCK) - 1) * self.pitch + self.len <= self.weights.len()
    }
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
}

impl Windows<'_> {
    /// Where the input of a pair of rows starts.
    #[inline(always)]
    pub(in crate::kernels) fn line_start(&self, pair_row: usize) -> usize {
        let line = self.first_line + pair_row;
        (if line >= self.pair_rows { line - self.pair_rows } else { line }) * self.width
    }

    /// Whether columns and weights are there for every window of the strip.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for loops without checks"))]
    #[inline(always)]
    pub(in crate::kernels) fn are_inside(&self) -> bool {
        let reach = self.strip.saturating_sub(1) * self.step + self.kernel_w;
        self.strip <= STRIP
            && self.count <= self.strip
            && self.first_line < self.pair_rows
            && reach <= self.width
            && self.pair_rows * self.width <= self.columns.len()
            && self.pair_rows * self.kernel_w <= self.weights.len()
    }
}

/// For targets without vectors of integers.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
pub(in crate::kernels) struct Scalar;

impl InnerLoops for Scalar {
    const HAS_VECTORS: bool = false;

    #[inline(never)]
    fn dot(products: &Products<'_>, sums: &mut [[i32; BLOCK]]) {
        let rows = products.input.chunks(products.len.max(1));
        for (row, sums) in rows.zip(sums) {
            let weights = products.weights.chunks(products.pitch.max(1)).take(products.outputs);
            for (sum, weights) in sums.iter_mut().zip(weights) {
                let products = row.iter().zip(weights).map(|(&x, &w)| i32::from(x) * i32::from(w));
                *sum = products.fold(*sum, i32::wrapping_add);
            }
        }
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
            for (row, weights) in windows.weights.chunks(windows.kernel_w.max(1)).take(windows.pair_rows).enumerate() {
                let line = windows.columns.get(windows.line_start(row) + at * windows.step..).unwrap_or_default();
                for (x, weights) in line.iter().zip(weights) {
                    add_pair(sums, *x, weights);
                }
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
    fn codes(tables: &Never, _: &[[i32; BLOCK]; STRIP], _: usize, _: &mut [i8], _: usize) {
        match *tables {}
    }
}

/// No value: requantisation without tables.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
pub(in crate::kernels) enum Never {}

/// The codes of a block of channels.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
#[inline(always)]
fn block_at(row: Option<&[i8]>, at: usize, zero_point: i8) -> [i8; BLOCK] {
    row.and_then(|row| row.get(at..at + BLOCK)?.first_chunk().copied()).unwrap_or([zero_point; BLOCK])
}

#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
#[inline(always)]
fn add_pair(sums: &mut [i32; BLOCK], x: Pairs, weights: &Pairs) {
    for ((sum, x), w) in sums.iter_mut().zip(x).zip(weights) {
        let products = i32::from(x[0]) * i32::from(w[0]) + i32::from(x[1]) * i32::from(w[1]);
        *sum = sum.wrapping_add(products);
    }
}

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}
