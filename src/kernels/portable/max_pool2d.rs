//! Max pooling.

use crate::kernels::Pool2d;
use crate::kernels::pooling::{Maps, halve, halves, reduce_windows};

/// Bit-identical with the reference: the same comparisons in the same order.
#[inline(always)]
pub fn max_pool2d(args: &mut Pool2d<'_>) {
    let maps = Maps { window: &args.window, input: args.input, output: args.output };
    if halves(maps.window) {
        halve(maps, |[a, b, c, d]| larger(larger(larger(larger(f32::MIN, a), b), c), d));
    } else {
        reduce_windows(maps, f32::MIN, larger, |largest, _| largest);
    }
}

/// The first operand where `value` is NaN: one maximum instruction.
#[inline(always)]
fn larger(best: f32, value: f32) -> f32 {
    if value > best { value } else { best }
}
