//! Maximum and average pooling: one walk over the windows, one output after another.

use crate::kernels::int8::Pool2d;

/// [`Kernels::max_pool2d`](crate::kernels::int8::Kernels::max_pool2d).
pub fn max_pool2d(args: &mut Pool2d<'_>) {
    pool2d(args, true);
}

/// [`Kernels::avg_pool2d`](crate::kernels::int8::Kernels::avg_pool2d).
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    pool2d(args, false);
}

#[inline(never)]
fn pool2d(args: &mut Pool2d<'_>, is_max: bool) {
    let window = &args.window;
    let channels = window.in_c as usize;
    let row_elems = window.in_w as usize * channels;
    let mut outputs = args.output.iter_mut();
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let columns = window.columns_at(x);
            let first = rows.input * row_elems + columns.input * channels;
            let taps = rows.count * columns.count;
            for channel in first..first + channels {
                let (mut sum, mut largest) = (0i64, i8::MIN);
                for row in 0..rows.count {
                    let mut at = channel + row * row_elems;
                    for _ in 0..columns.count {
                        let Some(&value) = args.input.get(at) else { break };
                        sum += i64::from(value);
                        largest = largest.max(value);
                        at += channels;
                    }
                }
                let Some(output) = outputs.next() else { return };
                *output = match (is_max, taps) {
                    (true, 0) => 0,
                    (true, _) => largest,
                    (false, _) => mean(sum, taps as u64, args.zero_point),
                };
            }
        }
    }
}

/// The code of the mean: around the zero point, halves away from it; the zero point for nothing.
fn mean(sum: i64, taps: u64, zero_point: i32) -> i8 {
    let sum = sum.wrapping_sub(taps as i64 * i64::from(zero_point));
    let rounded = sum.unsigned_abs() + taps / 2;
    let magnitude = match (u32::try_from(rounded), u32::try_from(taps)) {
        (Ok(rounded), Ok(taps)) => rounded / taps.max(1),
        _ => quotient(rounded, taps),
    };
    let mean = if sum < 0 { -(magnitude as i32) } else { magnitude as i32 };
    mean.saturating_add(zero_point).clamp(i8::MIN.into(), i8::MAX.into()) as i8
}

/// A quotient of at most nine bits, as those of means are.
#[cold]
fn quotient(mut dividend: u64, divisor: u64) -> u32 {
    let mut quotient = 0;
    for bit in (0..9).rev() {
        if dividend >= divisor << bit {
            dividend -= divisor << bit;
            quotient |= 1 << bit;
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_many_taps_need_no_more_than_nine_bits() {
        for taps in [1 << 33, 3 << 31, (1 << 34) + 1] {
            for code in [-128, -1, 0, 5, 127] {
                assert_eq!(i64::from(mean(code * taps, taps as u64, -128)), code);
                assert_eq!(i64::from(mean(code * taps, taps as u64, 127)), code);
            }
        }
        assert_eq!([mean(3, 2, 0), mean(-3, 2, 0), mean(0, 0, 7)], [2, -2, 7]);
    }
}
