//! Residual addition of two tensors with scales of their own.

use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::{ADD_LEFT_SHIFT, clamp};
use crate::kernels::int8::{Add, multiply_by_quantized_multiplier};

/// Both terms on the common scale, their sum on the output's scale. The sum of the terms wraps, which the multipliers of
/// [`add_terms`](crate::kernels::int8::requantize::add_terms) rule out.
pub fn add(args: &mut Add<'_>) {
    for i in 0..args.data.len() {
        let sum = scaled(args.data[i], args.own).wrapping_add(scaled(args.other[i], args.other_term));
        let sum = multiply_by_quantized_multiplier(sum, args.output.multiplier, args.output.shift);
        args.data[i] = clamp(sum.saturating_add(args.output.zero_point), args.min, args.max);
    }
}

fn scaled(code: i8, term: Term) -> i32 {
    let centred = i32::from(code) - term.zero_point;
    multiply_by_quantized_multiplier(centred << ADD_LEFT_SHIFT, term.multiplier, term.shift)
}
