//! 2-D convolution (cross-correlation), padded with the input's zero point.

use crate::kernels::int8::Conv2d;

/// Taps outside the input contribute nothing: padding has the value 0, whose code is the zero point. Sums wrap; a loaded
/// model never gets there.
pub fn conv2d(args: &mut Conv2d<'_>) {
    let block = if args.pooled { 2 } else { 1 };
    let (out_h, out_w) = (args.window.out_h as usize / block, args.window.out_w as usize / block);
    let out_c = args.window.out_c as usize;
    for y in 0..out_h {
        for x in 0..out_w {
            for o in 0..out_c {
                let code = |y, x| args.requantize.output(o, accumulate(args, y, x, o));
                args.output[(y * out_w + x) * out_c + o] = largest_of_block(block, y, x, code);
            }
        }
    }
}

/// The largest code of a block of `size` x `size` outputs.
pub(super) fn largest_of_block(size: usize, y: usize, x: usize, code: impl Fn(usize, usize) -> i8) -> i8 {
    let rows = size * y..size * (y + 1);
    rows.flat_map(|y| (size * x..size * (x + 1)).map(move |x| (y, x)))
        .fold(i8::MIN, |most, (y, x)| most.max(code(y, x)))
}

fn accumulate(args: &Conv2d<'_>, y: usize, x: usize, o: usize) -> i32 {
    let window = &args.window;
    let (in_w, in_c) = (window.in_w as usize, window.in_c as usize);
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let mut acc = 0i32;
    for row in 0..rows.count {
        for column in 0..columns.count {
            for i in 0..in_c {
                let input = ((rows.input + row) * in_w + columns.input + column) * in_c + i;
                let (ky, kx) = (rows.first + row, columns.first + column);
                let weight = o * args.kernel_pitch.filter + ky * args.kernel_pitch.row + kx * in_c + i;
                let centred = i32::from(args.input[input]) - args.requantize.input_zero_point;
                acc = acc.wrapping_add(centred * i32::from(args.weights[weight]));
            }
        }
    }
    acc
}
