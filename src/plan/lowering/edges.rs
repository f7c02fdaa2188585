//! Rows and columns at the edges of a kernel that are zero in every filter and channel.
//!
//! Files have square kernels only, so that others are grown with zeros. What is zero is not computed: the step's window is
//! that of the smaller kernel, whose weights stay where they lie.

use core::ops::Range;

use super::{Lowering, Weighted};
use crate::tensor::Window;

impl Lowering<'_, '_> {
    /// The window of a convolution without such rows and columns, and the first element that it reads of each filter. A row
    /// above or a column to the left stays where the window would begin inside the map without it.
    pub(super) fn without_zero_edges(&self, step: &Weighted) -> (Window, u32) {
        let w = step.window;
        let start = step.tensors.weights as usize * self.elem_bytes() as usize;
        let bytes = self.model.payload().get(start..).unwrap_or_default();
        let tap = w.in_c as usize * self.elem_bytes() as usize;
        let kernel = Kernel { bytes, window: w, tap, is_float: !self.is_quantized() };
        let rows = inner(w.kernel_h, w.pad_top, |row| kernel.is_zero_row(row));
        let columns = inner(w.kernel_w, w.pad_left, |column| kernel.is_zero_column(column));
        let window = Window {
            kernel_h: rows.len() as u32,
            kernel_w: columns.len() as u32,
            pad_top: w.pad_top - rows.start,
            pad_left: w.pad_left - columns.start,
            ..w
        };
        (window, (rows.start * w.kernel_w + columns.start) * w.in_c)
    }
}

/// What is left of an axis of `size` taps without those at its ends that are zero: at least one, and at most `pad` less at
/// the begin.
fn inner(size: u32, pad: u32, is_zero: impl Fn(u32) -> bool) -> Range<u32> {
    let last = size.saturating_sub(1);
    let start = (0..last.min(pad)).take_while(|&tap| is_zero(tap)).count() as u32;
    let behind = (start + 1..size).rev().take_while(|&tap| is_zero(tap)).count() as u32;
    start..size - behind
}

/// The weights of a convolution as they lie in the model.
struct Kernel<'m> {
    bytes: &'m [u8],
    window: Window,
    /// Bytes of one tap: all channels.
    tap: usize,
    is_float: bool,
}

impl Kernel<'_> {
    fn is_zero_row(&self, row: u32) -> bool {
        let len = self.window.kernel_w as usize * self.tap;
        self.filters().all(|filter| self.is_zero(filter, row as usize * len, len))
    }

    fn is_zero_column(&self, column: u32) -> bool {
        let (rows, row) = (self.window.kernel_h as usize, self.window.kernel_w as usize * self.tap);
        let start = column as usize * self.tap;
        self.filters().all(|filter| (0..rows).all(|y| self.is_zero(filter, y * row + start, self.tap)))
    }

    fn filters(&self) -> impl Iterator<Item = &[u8]> {
        let len = self.window.kernel_h as usize * self.window.kernel_w as usize * self.tap;
        self.bytes.chunks_exact(len.max(1)).take(self.window.out_c as usize)
    }

    /// Whether these bytes are numbers that are 0 or -0.
    fn is_zero(&self, filter: &[u8], start: usize, len: usize) -> bool {
        let bytes = filter.get(start..start + len).unwrap_or_default();
        if self.is_float {
            bytes.as_chunks().0.iter().all(|&number| f32::from_le_bytes(number) == 0.0)
        } else {
            bytes.iter().all(|&code| code == 0)
        }
    }
}
