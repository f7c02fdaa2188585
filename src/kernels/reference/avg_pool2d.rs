//! Average pooling.

use crate::kernels::Pool2d;

/// The sum of the input elements under the window, divided by their number; 0 where the window lies in the padding.
/// Padding counts neither in the sum nor in the number.
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    let window = &args.window;
    let (in_w, channels) = (window.in_w as usize, window.in_c as usize);
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            let (rows, columns) = (window.rows_at(y), window.columns_at(x));
            let count = rows.count * columns.count;
            for c in 0..channels {
                let mut sum = 0.0;
                for row in rows.input..rows.input + rows.count {
                    for column in columns.input..columns.input + columns.count {
                        sum += args.input[(row * in_w + column) * channels + c];
                    }
                }
                args.output[(y * out_w + x) * channels + c] = if count == 0 { 0.0 } else { sum / count as f32 };
            }
        }
    }
}
