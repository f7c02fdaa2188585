//! Average pooling.

use crate::kernels::Pool2d;
use crate::kernels::pooling::{Maps, reduce_windows};

/// Bit-identical with the reference: the same additions in the same order, and one division per element.
#[inline(always)]
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    // A window without taps has the sum 0 and thus the mean 0.
    let maps = Maps { window: &args.window, input: args.input, output: args.output };
    reduce_windows(maps, 0.0, |sum, value| sum + value, |sum, taps| sum / taps.max(1) as f32);
}
