//! Depthwise 2-D convolution, padded with the input's zero point.

use super::conv2d::largest_of_block;
use crate::kernels::int8::DepthwiseConv2d;

/// Each channel is convolved with its own kernel. Taps outside the input contribute nothing. Sums wrap; a loaded model
/// never gets there.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    let block = if args.pooled { 2 } else { 1 };
    let (out_h, out_w) = (args.window.out_h as usize / block, args.window.out_w as usize / block);
    let channels = args.window.out_c as usize;
    for y in 0..out_h {
        for x in 0..out_w {
            for c in 0..channels {
                let code = |y, x| args.requantize.output(c, accumulate(args, y, x, c));
                args.output[(y * out_w + x) * channels + c] = largest_of_block(block, y, x, code);
            }
        }
    }
}

fn accumulate(args: &DepthwiseConv2d<'_>, y: usize, x: usize, c: usize) -> i32 {
    let window = &args.window;
    let (channels, in_w) = (window.out_c as usize, window.in_w as usize);
    let (kernel_h, kernel_w) = (window.kernel_h as usize, window.kernel_w as usize);
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let mut acc = 0i32;
    for row in 0..rows.count {
        for column in 0..columns.count {
            let input = ((rows.input + row) * in_w + columns.input + column) * channels + c;
            let weight = (c * kernel_h + rows.first + row) * kernel_w + columns.first + column;
            let centred = i32::from(args.input[input]) - args.requantize.input_zero_point;
            acc = acc.wrapping_add(centred * i32::from(args.weights[weight]));
        }
    }
    acc
}
