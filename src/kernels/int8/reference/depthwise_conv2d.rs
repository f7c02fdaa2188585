//! Depthwise 2-D convolution, padded with the input's zero point.

use crate::kernels::int8::DepthwiseConv2d;

/// Each channel is convolved with its own kernel. Taps outside the input contribute nothing. Sums wrap; a loaded model
/// never gets there.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    let window = args.window;
    let (out_h, out_w, channels) = (window.out_h as usize, window.out_w as usize, window.out_c as usize);
    let (kernel_h, kernel_w, in_w) = (window.kernel_h as usize, window.kernel_w as usize, window.in_w as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            let (rows, columns) = (window.rows_at(y), window.columns_at(x));
            for c in 0..channels {
                let mut acc = 0i32;
                for row in 0..rows.count {
                    for column in 0..columns.count {
                        let input = ((rows.input + row) * in_w + columns.input + column) * channels + c;
                        let weight = (c * kernel_h + rows.first + row) * kernel_w + columns.first + column;
                        let centred = i32::from(args.input[input]) - args.requantize.input_zero_point;
                        acc = acc.wrapping_add(centred * i32::from(args.weights[weight]));
                    }
                }
                args.output[(y * out_w + x) * channels + c] = args.requantize.output(c, acc);
            }
        }
    }
}
