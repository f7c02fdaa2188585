//! Max pooling.

use crate::kernels::int8::Pool2d;
use crate::kernels::pooling::{Maps, halve, halves, reduce_windows};

/// The largest element under each window, 0 where there is none.
#[inline(always)]
pub fn max_pool2d(args: &mut Pool2d<'_>) {
    let maps = Maps { window: &args.window, input: args.input, output: args.output };
    if halves(maps.window) {
        halve(maps, |[a, b, c, d]: [i8; 4]| a.max(b).max(c.max(d)));
    } else {
        let finish = |largest: i8, taps| if taps == 0 { 0 } else { largest };
        reduce_windows(maps, i8::MIN, |largest, x| largest.max(x), finish);
    }
}
