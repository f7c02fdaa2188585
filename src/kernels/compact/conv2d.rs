//! 2-D convolution: for each pixel the rows of its window, times four filters.

use super::dot::{FILTERS, add_products};
use crate::kernels::Conv2d;
use crate::kernels::reference::epilogue::finish;
use crate::tensor::Window;

/// No scratch.
pub const fn scratch_elems(_window: &Window) -> u32 {
    0
}

/// [`Kernels::conv2d`](crate::kernels::Kernels::conv2d).
pub fn conv2d(args: &mut Conv2d<'_>) {
    let window = &args.window;
    let (channels, filters) = (window.in_c as usize, window.out_c as usize);
    let row_elems = window.in_w as usize * channels;
    let pitch = args.kernel_pitch;
    let mut pixel = 0;
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let columns = window.columns_at(x);
            let len = columns.count * channels;
            for first in (0..filters).step_by(FILTERS) {
                let mut sums = [0.0; FILTERS];
                for row in 0..rows.count {
                    let input = (rows.input + row) * row_elems + columns.input * channels;
                    let input = args.input.get(input..).and_then(|rest| rest.get(..len)).unwrap_or_default();
                    let taps = (rows.first + row) * pitch.row + columns.first * channels;
                    let weights = args.weights.get(first * pitch.filter + taps..).unwrap_or_default();
                    add_products(input, weights, pitch.filter, &mut sums);
                }
                let outputs = args.output.get_mut(pixel * args.columns.pitch + args.columns.first + first..);
                for ((filter, output), sum) in (first..filters).zip(outputs.unwrap_or_default()).zip(sums) {
                    *output = finish(sum, filter, *output, &args.epilogue);
                }
            }
            pixel += 1;
        }
    }
}
