//! Average pooling.

use crate::kernels::int8::Pool2d;
use crate::kernels::int8::requantize::clamp;

/// The mean of the input elements under the window minus the zero point, rounded half away from zero, plus the zero
/// point; thus halves move away from the code of 0. Padding does not count, and a window that lies in it gives the zero
/// point.
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    let window = &args.window;
    let (in_w, channels) = (window.in_w as usize, window.in_c as usize);
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            let (rows, columns) = (window.rows_at(y), window.columns_at(x));
            for c in 0..channels {
                let mut sum = 0i64;
                for row in rows.input..rows.input + rows.count {
                    for column in columns.input..columns.input + columns.count {
                        let value = args.input[(row * in_w + column) * channels + c];
                        sum += i64::from(value) - i64::from(args.zero_point);
                    }
                }
                let mean = rounded_mean(sum, (rows.count * columns.count) as i64);
                let code = (mean as i32).saturating_add(args.zero_point);
                args.output[(y * out_w + x) * channels + c] = clamp(code, i8::MIN, i8::MAX);
            }
        }
    }
}

/// `sum / count`, halves away from zero; 0 for nothing.
fn rounded_mean(sum: i64, count: i64) -> i64 {
    let magnitude = (sum.abs() + count / 2) / count.max(1);
    if sum < 0 { -magnitude } else { magnitude }
}
