//! Residual addition.

use super::machine::Machine;
use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::{ADD_LEFT_SHIFT, clamp, divide_by_power_of_two};
use crate::kernels::int8::{Add, reference};

/// The same integers as the reference, which takes over where a multiplier shifts left.
pub fn add<M: Machine>(args: &mut Add<'_>) {
    if [args.own, args.other_term, args.output].iter().any(|term| !(-31..=0).contains(&term.shift)) {
        return reference::add::add(args);
    }
    for (code, &other) in args.data.iter_mut().zip(args.other) {
        let sum = scaled::<M>(centred(*code, args.own), args.own)
            .wrapping_add(scaled::<M>(centred(other, args.other_term), args.other_term));
        let sum = scaled::<M>(sum, args.output).saturating_add(args.output.zero_point);
        *code = clamp(sum, args.min, args.max);
    }
}

#[inline(always)]
fn centred(code: i8, term: Term) -> i32 {
    (i32::from(code) - term.zero_point) << ADD_LEFT_SHIFT
}

/// [`multiply_by_quantized_multiplier`](crate::kernels::int8::multiply_by_quantized_multiplier) for shifts to the right.
#[inline(always)]
fn scaled<M: Machine>(value: i32, term: Term) -> i32 {
    divide_by_power_of_two(M::doubling_high_product(value, term.multiplier), term.shift.unsigned_abs().into())
}
