//! Residual addition.
//!
//! Multipliers of a term are at most 1, so everything but the last step is one product and a shift that is the same for
//! all elements. The last step is that of all layers: from sums to codes.

use super::BASELINE;
use super::finish::Finish;
use super::tile::{BLOCK, InnerLoops, STRIP, Sums};
use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::ADD_LEFT_SHIFT;
use crate::kernels::int8::{Add, Requantize, reference};

/// [`Kernels::add`](crate::kernels::int8::Kernels::add) as every target has it.
pub fn add(args: &mut Add<'_>) {
    run(args, &BASELINE);
}

/// The same integers as the reference, which takes over where a multiplier shifts left.
pub(in crate::kernels) fn run(args: &mut Add<'_>, loops: &'static InnerLoops) {
    let terms = Scale::new(args.own).zip(Scale::new(args.other_term));
    let Some((own, other)) = terms.filter(|_| (-31..=0).contains(&args.output.shift)) else {
        reference::add::add(args);
        return;
    };
    let scales = SumScales::of(args);
    let requantize = scales.requantize(args);
    let finish = Finish::new(loops, &requantize, 0, args.data.len() / BLOCK);
    for (data, codes) in args.data.chunks_mut(STRIP * BLOCK).zip(args.other.chunks(STRIP * BLOCK)) {
        let mut sums = [[0; BLOCK]; STRIP];
        (loops.add_terms)([own, other], data, codes, &mut sums);
        let (whole, rest) = (data.len() / BLOCK, data.len() % BLOCK);
        finish.store(&sums, whole, data, 0, BLOCK);
        let after = sums.get(whole..).unwrap_or_default();
        let rest_of_data = data.get_mut(whole * BLOCK..whole * BLOCK + rest).unwrap_or_default();
        for (code, &sum) in rest_of_data.iter_mut().zip(after.as_flattened()) {
            *code = requantize.output(0, sum);
        }
    }
}

/// The multipliers and shifts of a block of sums, all alike.
pub(in crate::kernels) struct SumScales {
    multipliers: [i32; BLOCK],
    shifts: [i8; BLOCK],
}

impl SumScales {
    pub(in crate::kernels) fn of(args: &Add<'_>) -> Self {
        Self { multipliers: [args.output.multiplier; BLOCK], shifts: [args.output.shift; BLOCK] }
    }

    /// From the sums of a block to codes, as if they were those of channels.
    pub(in crate::kernels) fn requantize(&self, args: &Add<'_>) -> Requantize<'_> {
        Requantize {
            bias: &[0; BLOCK],
            multipliers: &self.multipliers,
            shifts: &self.shifts,
            input_zero_point: 0,
            weight_zero_point: 0,
            output_zero_point: args.output.zero_point,
            min: args.min,
            max: args.max,
        }
    }
}

/// The sums of the scaled codes of two tensors.
#[inline(always)]
pub(in crate::kernels) fn add_terms([own, other]: [Scale; 2], data: &[i8], codes: &[i8], sums: &mut Sums) {
    for ((sum, &own_code), &other_code) in sums.as_flattened_mut().iter_mut().zip(data).zip(codes) {
        *sum = own.apply(own_code).wrapping_add(other.apply(other_code));
    }
}

/// A multiplier of at most 1 for differences of codes, in parts whose products need 32 bits only.
///
/// With `m = high * 2^21 + middle * 2^11 + low`, the product `((d << 20) * m + 2^30) >> 31` is
/// `high * 2^10 * d + middle * d + ((low * d + 2^10) >> 11)`.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Scale {
    pub(in crate::kernels) zero_point: i16,
    pub(in crate::kernels) high: i16,
    pub(in crate::kernels) middle: i16,
    pub(in crate::kernels) low: i16,
    pub(in crate::kernels) right: u32,
    pub(in crate::kernels) half: i32,
    /// -1 where there is a shift to the right, which rounds halves away from zero, else 0.
    pub(in crate::kernels) is_rounded: i32,
}

impl Scale {
    #[inline(always)]
    pub(in crate::kernels) fn new(term: Term) -> Option<Self> {
        if !(-31..=0).contains(&term.shift) {
            return None;
        }
        let right = u32::from(term.shift.unsigned_abs() & 31);
        Some(Self {
            zero_point: term.zero_point as i16,
            high: (term.multiplier >> 21) as i16,
            middle: (term.multiplier >> 11 & 0x3ff) as i16,
            low: (term.multiplier & 0x7ff) as i16,
            right,
            half: if right == 0 { 0 } else { 1 << (right - 1) },
            is_rounded: if right == 0 { 0 } else { -1 },
        })
    }

    /// Whether the multiplier is 1/2 exactly.
    #[allow(dead_code, reason = "for loops with vectors")]
    pub(in crate::kernels) fn is_half(&self) -> bool {
        (self.high, self.middle, self.low, self.right) == (1 << 9, 0, 0, 0)
    }

    /// `multiply_by_quantized_multiplier` of a code without its zero point, shifted to the left for more precision.
    #[inline(always)]
    fn apply(self, code: i8) -> i32 {
        const { assert!(ADD_LEFT_SHIFT == 20) };
        let difference = i16::from(code).wrapping_sub(self.zero_point);
        let times = |part: i16| i32::from(difference) * i32::from(part);
        let product = (times(self.high) << 10) + times(self.middle) + ((times(self.low) + (1 << 10)) >> 11);
        (product + (product >> 31 & self.is_rounded) + self.half) >> self.right
    }
}
