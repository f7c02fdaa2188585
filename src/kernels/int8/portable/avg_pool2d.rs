//! Average pooling.

use crate::kernels::int8::{Pool2d, reference};
use crate::kernels::pooling::{Maps, reduce_windows};

/// Most taps whose codes always add up to an i16, and that can be divided by with one product.
const MAX_TAPS: u64 = 256;

/// Sums of the codes first; zero point and rounding at the end.
#[inline(always)]
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    let window = &args.window;
    if u64::from(window.kernel_h) * u64::from(window.kernel_w) > MAX_TAPS {
        reference::avg_pool2d::avg_pool2d(args);
        return;
    }
    let zero_point = args.zero_point;
    reduce_windows(
        Maps { window, input: args.input, output: args.output },
        0i16,
        |sum, x| sum.wrapping_add(i16::from(x)),
        |sum, taps| {
            let taps = taps as u32;
            let sum = i32::from(sum).wrapping_sub(zero_point.wrapping_mul(taps as i32));
            // a / taps = (a * ceil) >> 32: the error a * taps / 2^32 of the product is below one unit for a <= 256 taps.
            let ceil = (1u64 << 32) / u64::from(taps.max(1)) + 1;
            let magnitude = ((u64::from(sum.unsigned_abs() + taps / 2) * ceil) >> 32) as i32;
            let mean = if sum < 0 { -magnitude } else { magnitude };
            mean.wrapping_add(zero_point).max(i32::from(i8::MIN)).min(i32::from(i8::MAX)) as i8
        },
    );
}
