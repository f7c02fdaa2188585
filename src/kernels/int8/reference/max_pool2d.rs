//! Max pooling.

use crate::kernels::int8::Pool2d;

/// The largest input element under the window; 0, whatever the zero point, where the window lies in the padding.
pub fn max_pool2d(args: &mut Pool2d<'_>) {
    let window = &args.window;
    let (in_w, channels) = (window.in_w as usize, window.in_c as usize);
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    for y in 0..out_h {
        for x in 0..out_w {
            let (rows, columns) = (window.rows_at(y), window.columns_at(x));
            for c in 0..channels {
                let mut largest = None;
                for row in rows.input..rows.input + rows.count {
                    for column in columns.input..columns.input + columns.count {
                        largest = largest.max(Some(args.input[(row * in_w + column) * channels + c]));
                    }
                }
                args.output[(y * out_w + x) * channels + c] = largest.unwrap_or(0);
            }
        }
    }
}
