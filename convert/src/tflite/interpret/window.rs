//! Where windows lie on a map.

use crate::tflite::model::{Padding, Sliding, Tensor};

/// One axis of a window that moves over a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Size of the map.
    pub input: usize,
    /// Number of windows.
    pub output: usize,
    /// Taps of the kernel.
    pub kernel: usize,
    /// Step from window to window.
    pub stride: usize,
    /// Distance of neighbouring taps.
    pub dilation: usize,
    /// Padding before the map.
    pub before: usize,
}

impl Axis {
    /// The axis, unless a number is 0 or the window is larger than a map without padding.
    pub fn new(padding: Padding, input: usize, (kernel, stride, dilation): (usize, usize, usize)) -> Option<Self> {
        if [input, kernel, stride, dilation].contains(&0) {
            return None;
        }
        let covered = (kernel - 1).checked_mul(dilation)?.checked_add(1)?;
        let output = match padding {
            Padding::Same => input.div_ceil(stride),
            Padding::Valid => input.checked_sub(covered)? / stride + 1,
            Padding::Unknown => return None,
        };
        let reached = (output - 1).checked_mul(stride)?.checked_add(covered)?;
        let before = if padding == Padding::Same { reached.saturating_sub(input) / 2 } else { 0 };
        Some(Self { input, output, kernel, stride, dilation, before })
    }

    /// Taps of a window that lie on the map, with their places there.
    fn taps(self, output: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        (0..self.kernel).filter_map(move |tap| {
            let place = (output * self.stride + tap * self.dilation).checked_sub(self.before)?;
            (place < self.input).then_some((tap, place))
        })
    }
}

/// Rows and columns of an operator's window over its input `[1, h, w, c]`.
pub fn axes(sliding: &Sliding, kernel: (usize, usize), input: &Tensor<'_>) -> Option<[Axis; 2]> {
    let [_, height, width, _] = input.shape[..] else { return None };
    Some([
        Axis::new(sliding.padding, height, (kernel.0, sliding.stride.0, sliding.dilation.0))?,
        Axis::new(sliding.padding, width, (kernel.1, sliding.stride.1, sliding.dilation.1))?,
    ])
}

/// For each output pixel in order: the taps on the map as (tap of the kernel, pixel of the map).
pub fn for_each_pixel([rows, columns]: [Axis; 2], mut visit: impl FnMut(usize, &[(usize, usize)])) {
    let mut taps = Vec::with_capacity(rows.kernel * columns.kernel);
    for y in 0..rows.output {
        for x in 0..columns.output {
            taps.clear();
            for (row, at_row) in rows.taps(y) {
                taps.extend(
                    columns
                        .taps(x)
                        .map(|(column, at_column)| (row * columns.kernel + column, at_row * columns.input + at_column)),
                );
            }
            visit(y * columns.output + x, &taps);
        }
    }
}
