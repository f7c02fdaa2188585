//! Register tiles: the inner loops of products.
//!
//! ```text
//! dot    weights in place [out][k], both operands contiguous in k; with vectors 4 rows x 2 outputs, or up to 3 x 4
//! outer  weights widened and transposed in pairs [k / 2][out][2], for short k: 4 or 8 rows x 8 outputs
//! taps   a depthwise kernel under several windows: 8 channels
//! ```
//!
//! Inputs of products are i16 with the zero point subtracted. Sums wrap, so their order does not matter.

use super::BASELINE;
use super::add::Scale;
use super::gather::Gather;
use super::packed::PackedLoops;
use crate::kernels::int8::Requantize;

/// Channels that are finished together, and outputs of a transposed panel of weights.
pub(in crate::kernels) const BLOCK: usize = 8;
/// Pixels whose sums are collected before they are finished: 256 bytes of sums.
pub(in crate::kernels) const STRIP: usize = 8;

/// Two neighbouring k, or two kernel rows, of each output or channel.
pub(in crate::kernels) type Pairs = [[i16; 2]; BLOCK];

/// Two neighbouring kernel rows of the input, where they lie inside it.
pub(in crate::kernels) type PairOfRows<'a> = [Option<&'a [i8]>; 2];

/// The sums of a strip.
pub(in crate::kernels) type Sums = [[i32; BLOCK]; STRIP];

/// Whether the loops of all levels of this target have vectors, so that forms which pay with vectors only are preferred.
pub(in crate::kernels) const HAS_VECTORS: bool = BASELINE.requantize.is_some();

/// The inner loops of one level. Everything around them exists once for all levels and reaches them through this table:
/// they are functions of their own anyway, because inside a larger function the compiler keeps less in registers and finds
/// fewer vectors.
pub(in crate::kernels) struct InnerLoops {
    /// See [`gather`](crate::kernels::int8::portable::gather::gather).
    pub(in crate::kernels) gather: fn(&Gather<'_>, &mut [i16]),
    /// Adds products to the sums of some rows, at least one.
    pub(in crate::kernels) dot: fn(&Products<'_>, &mut [[i32; BLOCK]]),
    /// `sums[r][o]` over k of `input[r][k] * panel[k][o]`, where rows of the panel's length follow each other in `input`.
    pub(in crate::kernels) outer: fn(input: &[[i16; 2]], panel: &[Pairs], sums: &mut Sums),
    /// Writes `[upper - zero_point, lower - zero_point]` of a block of channels of columns that are `channels` elements
    /// apart; a row outside the input counts as zero points.
    pub(in crate::kernels) stage: fn(rows: PairOfRows<'_>, channels: usize, zero_point: i8, out: &mut [Pairs]),
    /// The sums of one window after the other over all taps; anything past the last of `count`.
    pub(in crate::kernels) taps: fn(&Windows<'_>, &mut Sums),
    /// See [`add_terms`](crate::kernels::int8::portable::add::add_terms).
    pub(in crate::kernels) add_terms: fn(terms: [Scale; 2], data: &[i8], other: &[i8], sums: &mut Sums),
    /// Products with packed weights; nothing where the level has none.
    pub(in crate::kernels) packed: Option<PackedLoops>,
    /// Requantising with vectors; nothing where there are none.
    pub(in crate::kernels) requantize: Option<RequantizeLoops>,
}

/// Requantising blocks of channels with the vectors of one level.
pub(in crate::kernels) struct RequantizeLoops {
    /// Fewest pixels that pay for the tables.
    pub(in crate::kernels) min_pixels: usize,
    /// The tables of the channels from `first` on; nothing where they are fewer than a block, or do not fit the form.
    pub(in crate::kernels) tables: fn(&Requantize<'_>, first: usize) -> Option<Tables>,
    /// Writes the codes of a block of channels of the first `count` pixels, which are `pitch` elements apart.
    pub(in crate::kernels) codes: fn(&Tables, &Sums, count: usize, output: &mut [i8], pitch: usize),
    /// Both at once, for channels whose tables serve one strip only; false where there are no tables.
    pub(in crate::kernels) once:
        fn(&Requantize<'_>, first: usize, &Sums, count: usize, output: &mut [i8], pitch: usize) -> bool,
    /// The largest sums of some blocks of four pixels.
    pub(in crate::kernels) largest: fn(&[[&[i32; BLOCK]; 4]], &mut Sums),
}

/// What requantising a block of channels needs, in the form of the level that made it.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(in crate::kernels) struct Tables(pub(in crate::kernels) [[i32; 8]; TABLES_LEN]);

impl Tables {
    pub(super) const EMPTY: Self = Self([[0; 8]; TABLES_LEN]);
}

/// Vectors of 256 bits that the largest form takes.
const TABLES_LEN: usize = if HAS_VECTORS { 10 } else { 0 };

/// Products over k of some rows and of the outputs of a block: `input[r][k] * weights[o][k]`.
pub(in crate::kernels) struct Products<'a> {
    /// Rows of `len` elements, `step` elements apart.
    pub(in crate::kernels) input: &'a [i16],
    /// Number of k.
    pub(in crate::kernels) len: usize,
    /// Elements from one row to the next.
    pub(in crate::kernels) step: usize,
    /// Weights of the outputs, `pitch` elements apart.
    pub(in crate::kernels) weights: &'a [i8],
    pub(in crate::kernels) pitch: usize,
    /// Outputs that there are; what is added to other sums of a block has no meaning.
    pub(in crate::kernels) outputs: usize,
}

impl Products<'_> {
    /// Whether so many rows and all weights are there.
    #[allow(dead_code, reason = "for loops without checks")]
    #[inline(always)]
    pub(in crate::kernels) fn are_inside(&self, rows: usize) -> bool {
        rows > 0
            && (rows - 1) * self.step + self.len <= self.input.len()
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
    #[allow(dead_code, reason = "for loops without checks")]
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

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}
