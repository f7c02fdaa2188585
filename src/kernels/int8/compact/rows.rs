//! The inputs under the windows of four pixels, as rows in scratch.

use core::ops::Range;

use super::machine::{GROUP, Machine, SIDE};
use crate::kernels::int8::portable::gather::is_pointwise;
use crate::tensor::{Taps, Window};

/// The map that windows move over.
pub(super) struct Map<'a> {
    pub(super) window: &'a Window,
    pub(super) input: &'a [i8],
    pub(super) zero_point: i32,
}

impl Map<'_> {
    /// Writes the part `range` of the row of one pixel; nothing but zeros where there is none.
    pub(super) fn gather<M: Machine>(
        &self,
        rows: &mut [i32],
        side: Side,
        at: Option<(usize, usize)>,
        range: Range<usize>,
    ) {
        let Some((y, x)) = at else { return zeros::<M>(rows, side, 0..range.len()) };
        let window = self.window;
        if is_pointwise(window) {
            let pixel = (y * window.in_w as usize + x) * window.in_c as usize;
            let codes = self.input.get(pixel + range.start..pixel + range.end).unwrap_or_default();
            return self.widen::<M>(rows, side, 0, codes);
        }
        let (vertical, horizontal) = (window.rows_at(y), window.columns_at(x));
        let channels = window.in_c as usize;
        let row_elems = window.kernel_w as usize * channels;
        let is_inside = (vertical.count, horizontal.count) == (window.kernel_h as usize, window.kernel_w as usize);
        if is_inside && range == (0..vertical.count * row_elems) {
            let pitch = window.in_w as usize * channels;
            let mut lines = self.input.get(vertical.input * pitch + horizontal.input * channels..).unwrap_or_default();
            for row in 0..vertical.count {
                self.widen::<M>(rows, side, row * row_elems, lines.get(..row_elems).unwrap_or_default());
                lines = lines.get(pitch..).unwrap_or_default();
            }
            return;
        }
        let inside = horizontal.first * channels..(horizontal.first + horizontal.count) * channels;
        for row in range.start / row_elems.max(1)..range.end.div_ceil(row_elems.max(1)) {
            // Of this row of the kernel, what is wanted.
            let start = row * row_elems;
            let wanted = range.start.max(start) - start..range.end.min(start + row_elems) - start;
            let to = |at: usize| start + at - range.start;
            let codes = self.line(&vertical, row, horizontal.input * channels, inside.len());
            let inside = match codes {
                Some(_) => {
                    let within = |at: usize| at.max(wanted.start).min(wanted.end);
                    within(inside.start)..within(inside.end)
                }
                None => wanted.end..wanted.end,
            };
            zeros::<M>(rows, side, to(wanted.start)..to(inside.start));
            if let Some(codes) = codes {
                let first = inside.start.saturating_sub(horizontal.first * channels);
                let codes = codes.get(first..first + inside.len()).unwrap_or_default();
                self.widen::<M>(rows, side, to(inside.start), codes);
            }
            zeros::<M>(rows, side, to(inside.end)..to(wanted.end));
        }
    }

    /// The inputs under a row of the kernel, if it lies inside the map.
    fn line(&self, vertical: &Taps, row: usize, first: usize, len: usize) -> Option<&[i8]> {
        let row = row.checked_sub(vertical.first).filter(|&row| row < vertical.count)?;
        let start = (vertical.input + row) * self.window.in_w as usize * self.window.in_c as usize + first;
        self.input.get(start..start + len)
    }

    /// Inputs without their zero point, from `k` on.
    fn widen<M: Machine>(&self, rows: &mut [i32], side: Side, k: usize, codes: &[i8]) {
        let Side::Pixel(pixel) = side else {
            for (i, &code) in codes.iter().enumerate() {
                M::set_single(rows, k + i, i32::from(code) - self.zero_point);
            }
            return;
        };
        let whole = if k.is_multiple_of(GROUP) { codes.len() / GROUP * GROUP } else { 0 };
        let (groups, rest) = codes.split_at_checked(whole).unwrap_or_default();
        M::set_groups(rows, k, pixel, groups, self.zero_point);
        for (i, &code) in rest.iter().enumerate() {
            M::set(rows, k + whole + i, pixel, i32::from(code) - self.zero_point);
        }
    }
}

fn zeros<M: Machine>(rows: &mut [i32], side: Side, range: Range<usize>) {
    for k in range {
        match side {
            Side::Pixel(pixel) => M::set(rows, k, pixel, 0),
            Side::Single => M::set_single(rows, k, 0),
        }
    }
}

/// Which of the rows.
#[derive(Clone, Copy)]
pub(super) enum Side {
    /// One of several side by side.
    Pixel(usize),
    /// There is no other.
    Single,
}

/// Pixel of the output that is the `index`th: row by row, or, if pooled, block by block of 2 x 2.
pub(super) fn pixel_at(index: usize, out_w: usize, pooled: bool) -> (usize, usize) {
    let out_w = out_w.max(1);
    if !pooled {
        return (index / out_w, index % out_w);
    }
    let (block, corner) = (index / SIDE, index % SIDE);
    let blocks = (out_w / 2).max(1);
    (block / blocks * 2 + corner / 2, block % blocks * 2 + corner % 2)
}
