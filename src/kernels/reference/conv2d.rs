//! 2-D convolution (cross-correlation) with zero padding.

use super::epilogue::finish;
use crate::kernels::Conv2d;

/// Taps outside the input are skipped; the others are added up from 0 in the order kernel row, kernel column, input
/// channel.
pub fn conv2d(args: &mut Conv2d<'_>) {
    let (out_h, out_w, out_c) = (args.window.out_h as usize, args.window.out_w as usize, args.window.out_c as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            for o in 0..out_c {
                let acc = accumulate(args, y, x, o);
                let at = (y * out_w + x) * args.columns.pitch + args.columns.first + o;
                args.output[at] = finish(acc, o, args.output[at], &args.epilogue);
            }
        }
    }
}

fn accumulate(args: &Conv2d<'_>, y: usize, x: usize, o: usize) -> f32 {
    let window = &args.window;
    let (in_w, in_c) = (window.in_w as usize, window.in_c as usize);
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let mut acc = 0.0;
    for row in 0..rows.count {
        for column in 0..columns.count {
            for i in 0..in_c {
                let input = ((rows.input + row) * in_w + columns.input + column) * in_c + i;
                let (ky, kx) = (rows.first + row, columns.first + column);
                let weight = o * args.kernel_pitch.filter + ky * args.kernel_pitch.row + kx * in_c + i;
                acc += args.input[input] * args.weights[weight];
            }
        }
    }
    acc
}
