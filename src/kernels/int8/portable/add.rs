//! Residual addition.
//!
//! Multipliers of a term are at most 1, so everything but the last step is one product and a shift that is the same for
//! all elements; see `finish.rs` for the products.

use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::ADD_LEFT_SHIFT;
use crate::kernels::int8::{Add, reference};

/// The same integers as the reference, which takes over where a multiplier shifts left.
#[inline(always)]
pub fn add(args: &mut Add<'_>) {
    if ![args.own, args.other_term, args.output].iter().all(|term| (-31..=0).contains(&term.shift)) {
        reference::add::add(args);
        return;
    }
    let (own, other_term, output) = (Scale::new(args.own), Scale::new(args.other_term), Scale::new(args.output));
    let (min, max) = (i32::from(args.min), i32::from(args.max));
    // The clamp before the zero point: no sum can then overflow.
    let (low, high) = (min - args.output.zero_point, max - args.output.zero_point);
    for (code, &other) in args.data.iter_mut().zip(args.other) {
        let own = own.apply((i32::from(*code) - args.own.zero_point) << ADD_LEFT_SHIFT);
        let other = other_term.apply((i32::from(other) - args.other_term.zero_point) << ADD_LEFT_SHIFT);
        let sum = output.apply(own.wrapping_add(other));
        *code = (sum.max(low).min(high) + args.output.zero_point) as i8;
    }
}

/// A multiplier of at most 1 and the constants that go with it.
#[derive(Clone, Copy)]
struct Scale {
    multiplier: u32,
    right: u32,
    mask: i32,
}

impl Scale {
    #[inline(always)]
    fn new(term: Term) -> Self {
        let right = u32::from(term.shift.unsigned_abs() & 31);
        // A shift to the right: compilers turn several shifts to the left at once into float conversions on SSE2.
        let mask = (u64::from(u32::MAX) >> (32 - right)) as u32;
        Self { multiplier: term.multiplier as u32, right, mask: mask as i32 }
    }

    /// `multiply_by_quantized_multiplier` for a shift to the right.
    #[inline(always)]
    fn apply(self, x: i32) -> i32 {
        let moved = u64::from(x as u32 ^ 1 << 31);
        let product = ((moved * u64::from(self.multiplier) + (1 << 30)) >> 31) as u32;
        let product = product.wrapping_sub(self.multiplier) as i32;
        let threshold = (self.mask >> 1) - (product >> 31);
        (product >> self.right) + i32::from((product & self.mask) > threshold)
    }
}
