//! The input under a few output pixels, copied so that windows lie in it as they are: rows of the kernel are runs of
//! neighbouring elements, and the padding is there.

use core::ops::Range;

use super::conv2d::POOLED;
use super::gather::Gathered;
use super::packed::TILE;
use super::tile::part;
use crate::kernels::int8::Conv2d;
use crate::tensor::Window;

/// Most pixels of a strip: enough for a panel of weights to stay in the first-level cache while they pass.
const MAX_PIXELS: usize = 48;
/// Elements that a run, rounded up, reaches past the last row.
const SLACK: usize = 3;

/// Most bytes that are staged at a time.
pub(super) const STAGED_BYTES: usize = 8 * 1024;

/// How the output is cut: into rectangles of so many rows and columns, each computed from so many rows of the kernel at a
/// time. All rows of the kernel, unless that leaves no room for a tile of pixels; then a rectangle is one tile.
#[derive(Clone, Copy)]
pub(super) struct Strips {
    rows: usize,
    columns: usize,
    kernel_rows: usize,
    pooled: bool,
}

impl Strips {
    /// Nothing where not even one window's row fits.
    pub(super) fn new(window: &Window, pooled: bool, capacity: usize) -> Option<Self> {
        // What is pooled stays together.
        let unit = if pooled { 2 } else { 1 };
        let tile = if pooled { POOLED } else { TILE };
        let wanted = tile.min(unit * window.out_w as usize);
        let room = capacity.saturating_sub(SLACK);
        let kernel_rows = window.kernel_h as usize;
        if (window.out_h, window.out_w) == (1, 1) && columns_that_fit(window, (0, kernel_rows), room) > 0 && !pooled {
            return Some(Self { rows: 1, columns: 1, kernel_rows, pooled });
        }
        (1..=window.kernel_h as usize).rev().find_map(|kernel_rows| {
            let is_whole = kernel_rows == window.kernel_h as usize;
            let fitting = columns_that_fit(window, (unit - 1, kernel_rows), room);
            if fitting < unit || (kernel_rows > 1 && unit * fitting < wanted) {
                return None;
            }
            let most = if is_whole { MAX_PIXELS } else { tile };
            let columns = balanced(window.out_w as usize, fitting.min(most / unit), tile / unit, unit);
            let width = window.step(columns - 1).saturating_add(window.kernel_w as usize);
            let staged_rows = room / width.saturating_mul(window.in_c as usize).max(1);
            let fitting = staged_rows.saturating_sub(kernel_rows) / window.stride as usize + 1;
            let is_wide = columns < window.out_w as usize;
            let rows = if is_wide { unit } else { fitting.min(most / columns).max(unit) };
            let rows = balanced(window.out_h as usize, rows, unit, unit);
            Some(Self { rows, columns, kernel_rows, pooled })
        })
    }

    /// Elements of the largest.
    pub(super) fn elems(&self, window: &Window) -> usize {
        let rows = window.step(self.rows - 1).saturating_add(self.kernel_rows);
        let columns = window.step(self.columns - 1).saturating_add(window.kernel_w as usize);
        rows.saturating_mul(columns).saturating_mul(window.in_c as usize).saturating_add(SLACK)
    }

    /// All strips, which cover the output.
    pub(super) fn all(self, window: &Window) -> impl Iterator<Item = Strip> {
        let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
        (0..out_h).step_by(self.rows).flat_map(move |y| {
            (0..out_w).step_by(self.columns).map(move |x| Strip {
                y,
                x,
                rows: self.rows.min(out_h - y),
                columns: self.columns.min(out_w - x),
                kernel_rows: self.kernel_rows,
                pooled: self.pooled,
                // Strips are either as wide as the output or not higher than what is pooled.
                first_pixel: if self.pooled { y * out_w + 2 * x } else { y * out_w + x },
            })
        })
    }
}

/// Output columns whose input fits, where output rows besides the first and so many rows of the kernel are staged.
fn columns_that_fit(window: &Window, (more_rows, kernel_rows): (usize, usize), room: usize) -> usize {
    let rows = window.step(more_rows).saturating_add(kernel_rows);
    let columns = room / rows.saturating_mul(window.in_c as usize).max(1);
    columns.checked_sub(window.kernel_w as usize).map_or(0, |rest| rest / window.stride as usize + 1)
}

/// `extent` in parts of about the same size, a multiple of `unit` and at most `most`: of whole tiles where several fit.
fn balanced(extent: usize, most: usize, tile: usize, unit: usize) -> usize {
    let most = if most > tile { most / tile * tile } else { most / unit * unit };
    extent.div_ceil(extent.div_ceil(most.max(1)).max(1)).next_multiple_of(unit).max(unit)
}

/// A rectangle of output pixels. They follow each other row by row, or block by block if pooled; so they do in the output.
pub(super) struct Strip {
    y: usize,
    x: usize,
    rows: usize,
    columns: usize,
    /// Rows of the kernel that are staged at a time.
    pub(super) kernel_rows: usize,
    pooled: bool,
    /// Number of the first pixel in the output.
    pub(super) first_pixel: usize,
}

impl Strip {
    pub(super) fn pixels(&self) -> usize {
        self.rows * self.columns
    }

    /// The pixels in tiles of about the same size.
    pub(super) fn tiles(&self) -> impl Iterator<Item = Range<usize>> {
        let pixels = self.pixels();
        let count = if self.pooled { pixels / POOLED } else { pixels.div_ceil(TILE) };
        (0..count).map(move |tile| tile * pixels / count..(tile + 1) * pixels / count)
    }

    /// What is staged for some rows of the kernel.
    pub(super) fn staging<'a>(&self, args: &Conv2d<'a>, kernel_row: usize, kernel_rows: usize) -> Staging<'a> {
        let window = args.window;
        let (stride, channels) = (window.stride as usize, window.in_c as usize);
        let columns = (self.columns - 1) * stride + window.kernel_w as usize;
        // Columns in front of the input, inside it, and where these start.
        let start = self.x * stride;
        let left = (window.pad_left as usize).saturating_sub(start).min(columns);
        let from = (start + left).saturating_sub(window.pad_left as usize);
        let inside = (window.in_w as usize).saturating_sub(from).min(columns - left);
        Staging {
            input: args.input,
            zero_point: args.requantize.input_zero_point as i16,
            first_row: self.y * stride + kernel_row,
            rows: (self.rows - 1) * stride + kernel_rows,
            pad_top: window.pad_top as usize,
            in_pitch: window.in_w as usize * channels,
            from: from * channels,
            left: left * channels,
            inside: inside * channels,
            width: columns * channels,
            step: window.step(channels),
            line: window.step(columns * channels),
        }
    }

    /// Where the windows of the pixels start.
    pub(super) fn starts(&self, staging: &Staging<'_>) -> Starts {
        // Rows and columns that stay together.
        let unit = if self.pooled { 2 } else { 1 };
        let mut starts = Starts { all: [0; MAX_PIXELS], last: 0 };
        starts.last = (self.rows - 1) * staging.line + (self.columns - 1) * staging.step;
        let mut all = starts.all.iter_mut();
        for y in (0..self.rows).step_by(unit) {
            for x in (0..self.columns).step_by(unit) {
                let corners = [(0, 0), (0, 1), (1, 0), (1, 1)];
                for ((row, column), to) in corners.into_iter().take(unit * unit).zip(&mut all) {
                    *to = (y + row) * staging.line + (x + column) * staging.step;
                }
            }
        }
        starts
    }
}

/// Where the windows of the pixels of a strip start in the staged rows, in elements.
pub(in crate::kernels) struct Starts {
    all: [usize; MAX_PIXELS],
    /// None is larger.
    last: usize,
}

impl Starts {
    /// Whether so many pixels from `first` on have a place here, all of them at or before the start that is returned.
    #[inline(always)]
    pub(super) fn last_of(&self, first: usize, pixels: usize) -> Option<usize> {
        (first + pixels <= MAX_PIXELS).then_some(self.last)
    }

    #[inline(always)]
    pub(in crate::kernels) fn of(&self, pixel: usize) -> usize {
        self.all.get(pixel).copied().unwrap_or_default()
    }
}

/// Rows of the input, and where they go. Lengths are in elements.
pub(in crate::kernels) struct Staging<'a> {
    input: &'a [i8],
    zero_point: i16,
    /// Counted from the first row of the padding.
    first_row: usize,
    rows: usize,
    pad_top: usize,
    /// From one row of the input to the next.
    in_pitch: usize,
    /// What of a row is copied: `inside` elements, behind `left` in the padding.
    from: usize,
    left: usize,
    inside: usize,
    /// Of a staged row.
    pub(super) width: usize,
    /// From one pixel to the next.
    step: usize,
    /// From one row of pixels to the next.
    line: usize,
}

/// Stages the rows; `copy` writes what stands for some inputs, as [`widen`](super::gather::widen) does.
#[inline(always)]
pub(in crate::kernels) fn stage<T: Gathered>(staging: &Staging<'_>, out: &mut [T], copy: fn(&[i8], i16, &mut [T])) {
    let Staging { zero_point, left, inside, width, .. } = *staging;
    let padding = T::of(zero_point as i8, zero_point);
    let (rows, behind) = out.split_at_mut_checked(staging.rows * width).unwrap_or_default();
    for (row, out) in rows.chunks_exact_mut(width.max(1)).enumerate() {
        let codes = (staging.first_row + row)
            .checked_sub(staging.pad_top)
            .map_or(&[][..], |row| part(staging.input, row * staging.in_pitch + staging.from, inside));
        if codes.is_empty() {
            out.fill(padding);
            continue;
        }
        let (before, rest) = out.split_at_mut_checked(left).unwrap_or_default();
        let (middle, after) = rest.split_at_mut_checked(inside).unwrap_or_default();
        before.fill(padding);
        copy(codes, zero_point, middle);
        after.fill(padding);
    }
    behind.iter_mut().take(SLACK).for_each(|elem| *elem = padding);
}
