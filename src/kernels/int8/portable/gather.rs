//! Gathering the inputs under windows as rows: of i16 without their zero point, or of bytes.

use core::ops::Range;

use super::tile::part;
use crate::kernels::int8::Conv2d;
use crate::tensor::{Taps, Window};

/// Longest piece of a row that is widened as one vector.
const AT_ONCE: usize = 16;

/// Part of the rows of some pixels.
pub(in crate::kernels) struct Gather<'a> {
    window: Window,
    input: &'a [i8],
    zero_point: i16,
    /// Whether the pixels of each 2 x 2 block of the output follow each other.
    pooled: bool,
    pub(super) pixels: Range<usize>,
    /// First element of each row that is wanted, and their number.
    range: (usize, usize),
    /// Elements from row to row.
    row_elems: usize,
}

impl<'a> Gather<'a> {
    #[inline(always)]
    pub(in crate::kernels) fn new(
        args: &Conv2d<'a>,
        pixels: Range<usize>,
        range: (usize, usize),
        row_elems: usize,
    ) -> Self {
        let (window, zero_point) = (args.window, args.requantize.input_zero_point as i16);
        Self { window, input: args.input, zero_point, pooled: args.pooled, pixels, range, row_elems }
    }

    /// What stands for the zero point.
    #[inline(always)]
    fn padding<T: Gathered>(&self) -> T {
        T::of(self.zero_point as i8, self.zero_point)
    }
}

/// An element of a row.
pub(in crate::kernels) trait Gathered: Copy {
    /// The element that stands for an input.
    fn of(code: i8, zero_point: i16) -> Self;
}

/// `input - zero_point`
impl Gathered for i16 {
    #[inline(always)]
    fn of(code: i8, zero_point: i16) -> Self {
        i16::from(code).wrapping_sub(zero_point)
    }
}

/// `input + 128`
#[cfg(all(target_arch = "x86_64", feature = "simd"))]
impl Gathered for u8 {
    #[inline(always)]
    fn of(code: i8, _: i16) -> Self {
        code as u8 ^ 0x80
    }
}

/// `input`
#[cfg(all(target_arch = "aarch64", feature = "simd"))]
impl Gathered for i8 {
    #[inline(always)]
    fn of(code: i8, _: i16) -> Self {
        code
    }
}

/// Writes the rows. What is left at the end of each stands for the zero point, as padding does.
#[inline(always)]
pub(in crate::kernels) fn gather<T: Gathered>(gather: &Gather<'_>, rows: &mut [T]) {
    let Gather { ref window, zero_point, row_elems, .. } = *gather;
    let pixels = gather.pixels.clone();
    if is_pointwise(window) && !gather.pooled {
        // Rows follow each other in the input as they are.
        let channels = (window.in_c as usize).max(1);
        let (begin, count) = gather.range;
        let input = part(gather.input, pixels.start * channels, pixels.len() * channels);
        for (row, codes) in rows.chunks_mut(row_elems.max(1)).zip(input.chunks(channels)) {
            let (row, pad) = row.split_at_mut_checked(count).unwrap_or_default();
            widen(part(codes, begin, count), zero_point, row);
            pad.fill(gather.padding());
        }
        return;
    }
    let piece = window.kernel_w as usize * window.in_c as usize;
    let is_small = piece <= AT_ONCE && gather.range == (0, window.kernel_h as usize * piece);
    let mut walk = Walk::new(window, gather.pooled, pixels.start);
    let mut rest = rows;
    for _ in pixels {
        let (y, x) = walk.step();
        let taps = [window.rows_at(y), window.columns_at(x)];
        let is_done = is_small
            && match piece {
                0..=4 => gather_small::<T, 4>(gather, taps, rest),
                5..=8 => gather_small::<T, 8>(gather, taps, rest),
                _ => gather_small::<T, AT_ONCE>(gather, taps, rest),
            };
        if !is_done {
            gather_row(gather, taps, rest);
        }
        rest = rest.get_mut(row_elems..).unwrap_or_default();
    }
}

/// Goes through the output pixels: row by row, or, if pooled, from one 2 x 2 block to the next, starting with a whole one.
struct Walk {
    y: usize,
    x: usize,
    /// Pixel inside the block.
    corner: usize,
    out_w: usize,
    pooled: bool,
}

impl Walk {
    #[inline(always)]
    fn new(window: &Window, pooled: bool, pixel: usize) -> Self {
        let out_w = (window.out_w as usize).max(1);
        // The four pixels of each block of two rows follow each other.
        let (y, x) =
            if pooled { (pixel / (2 * out_w) * 2, pixel % (2 * out_w) / 2) } else { (pixel / out_w, pixel % out_w) };
        Self { y, x, corner: 0, out_w, pooled }
    }

    #[inline(always)]
    fn step(&mut self) -> (usize, usize) {
        let at = (self.y + self.corner / 2, self.x + self.corner % 2);
        let mut columns = 1;
        if self.pooled {
            self.corner = (self.corner + 1) % 4;
            columns = if self.corner == 0 { 2 } else { 0 };
        }
        self.x += columns;
        if self.x >= self.out_w {
            (self.y, self.x) = (self.y + if self.pooled { 2 } else { 1 }, 0);
        }
        at
    }
}

/// Whether every window is one input pixel, in the same order.
#[inline(always)]
pub(in crate::kernels) fn is_pointwise(window: &Window) -> bool {
    (window.kernel_h, window.kernel_w, window.stride) == (1, 1, 1)
        && (window.pad_top, window.pad_left) == (0, 0)
        && (window.out_h, window.out_w) == (window.in_h, window.in_w)
}

/// The input under a window of short rows that lies inside the input: each row as one vector of `N`, whose end is
/// overwritten by what comes next, or past the last row. False where that does not fit.
#[inline(always)]
fn gather_small<T: Gathered, const N: usize>(gather: &Gather<'_>, [rows, columns]: [Taps; 2], out: &mut [T]) -> bool {
    let window = &gather.window;
    let (channels, piece) = (window.in_c as usize, (window.kernel_w * window.in_c) as usize);
    if (rows.count, columns.count) != (window.kernel_h as usize, window.kernel_w as usize) {
        return false;
    }
    let pitch = window.in_w as usize * channels;
    let mut from = rows.input * pitch + columns.input * channels;
    for row in 0..rows.count {
        let codes = gather.input.get(from..).and_then(|input| input.first_chunk::<N>());
        let out = out.get_mut(row * piece..).and_then(|out| out.first_chunk_mut::<N>());
        let (Some(codes), Some(out)) = (codes, out) else { return false };
        widen(codes, gather.zero_point, out);
        from += pitch;
    }
    if let Some(pad) = out.get_mut(rows.count * piece..gather.row_elems) {
        pad.fill(gather.padding());
    }
    true
}

/// Part of the input under one window, minus the zero point.
#[inline(always)]
fn gather_row<T: Gathered>(gather: &Gather<'_>, [rows, columns]: [Taps; 2], out: &mut [T]) {
    let (window, (start, count)) = (&gather.window, gather.range);
    let channels = window.in_c as usize;
    let piece = window.kernel_w as usize * channels;
    let len = columns.count * channels;
    if let Some(row) = out.get_mut(..gather.row_elems) {
        if rows.count < window.kernel_h as usize || len < piece {
            row.fill(gather.padding());
        } else {
            // Overwritten, unless it is the pad of a row whose length is no multiple of four.
            row.iter_mut().rev().take(3).for_each(|last| *last = gather.padding());
        }
    }
    for row in 0..rows.count {
        let mut from = ((rows.input + row) * window.in_w as usize + columns.input) * channels;
        let to = (rows.first + row) * piece + columns.first * channels;
        // What of it lies in the part.
        let (begin, end) = (to.max(start), (to + len).min(start + count));
        if begin >= end {
            continue;
        }
        from += begin - to;
        let (out, count) = (out.get_mut(begin - start..).unwrap_or_default(), end - begin);
        widen(part(gather.input, from, count), gather.zero_point, out.get_mut(..count).unwrap_or_default());
    }
}

/// Writes what stands for the inputs into a slice of the same length.
#[inline(always)]
pub(in crate::kernels) fn widen<T: Gathered>(codes: &[i8], zero_point: i16, out: &mut [T]) {
    for (out, &code) in out.iter_mut().zip(codes) {
        *out = T::of(code, zero_point);
    }
}
