//! Depthwise 2-D convolution: every channel has its own kernel.

use super::epilogue::finish;
use crate::kernels::DepthwiseConv2d;

/// Taps outside the input are skipped; the others are added up from 0 in the order kernel row, kernel column.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    let (out_h, out_w, channels) = (args.window.out_h as usize, args.window.out_w as usize, args.window.out_c as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            for c in 0..channels {
                let acc = accumulate(args, y, x, c);
                let at = (y * out_w + x) * channels + c;
                args.output[at] = finish(acc, c, args.output[at], &args.epilogue);
            }
        }
    }
}

fn accumulate(args: &DepthwiseConv2d<'_>, y: usize, x: usize, c: usize) -> f32 {
    let window = &args.window;
    let (kernel_h, kernel_w) = (window.kernel_h as usize, window.kernel_w as usize);
    let (in_w, channels) = (window.in_w as usize, window.in_c as usize);
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let mut acc = 0.0;
    for row in 0..rows.count {
        for column in 0..columns.count {
            let input = ((rows.input + row) * in_w + columns.input + column) * channels + c;
            let (ky, kx) = (rows.first + row, columns.first + column);
            acc += args.input[input] * args.weights[(c * kernel_h + ky) * kernel_w + kx];
        }
    }
    acc
}
