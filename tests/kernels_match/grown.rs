//! Kernels that are grown with zeros.

use netkit::tensor::Window;
use proptest::prelude::*;

/// Rows and columns of zeros around a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges {
    top: u32,
    left: u32,
    bottom: u32,
    right: u32,
}

pub(crate) fn edges() -> impl Strategy<Value = Edges> {
    (0..=3u32, 0..=3u32, 0..=3u32, 0..=3u32).prop_map(|(top, left, bottom, right)| Edges { top, left, bottom, right })
}

impl Edges {
    /// The window with the zeros, and the first element of the kernel inside it.
    pub(crate) fn around(&self, inner: Window) -> (Window, usize) {
        let outer = Window {
            kernel_h: self.top + inner.kernel_h + self.bottom,
            kernel_w: self.left + inner.kernel_w + self.right,
            pad_top: inner.pad_top + self.top,
            pad_left: inner.pad_left + self.left,
            ..inner
        };
        (outer, ((self.top * outer.kernel_w + self.left) * inner.in_c) as usize)
    }

    /// Puts zeros where the edges are.
    pub(crate) fn clear<T: Copy>(&self, inner: &Window, outer: &Window, weights: &mut [T], zeros: &[T]) {
        for (at, weight) in weights.iter_mut().enumerate() {
            let tap = at as u32 / outer.in_c;
            let (row, column) = (tap / outer.kernel_w % outer.kernel_h, tap % outer.kernel_w);
            let rows = self.top..self.top + inner.kernel_h;
            let columns = self.left..self.left + inner.kernel_w;
            if !rows.contains(&row) || !columns.contains(&column) {
                *weight = zeros[at % zeros.len()];
            }
        }
    }
}
