//! See the reference: row by row, with the exponentials of short rows computed once.

use core::mem::take;

use crate::kernels::int8::Softmax;
use crate::kernels::int8::reference::softmax::{SUM_SHIFT, exponential, probability, reciprocal, rounded_shift};

/// Most elements of a row whose exponentials are kept.
const KEPT: usize = 16;

/// See the reference.
#[inline(always)]
pub fn softmax(args: &mut Softmax<'_>) {
    if args.row_elems > KEPT {
        return crate::kernels::int8::reference::softmax::softmax(args);
    }
    for row in take(&mut args.data).chunks_mut(args.row_elems.max(1)) {
        let largest = row.iter().copied().max().unwrap_or(0);
        let mut kept = [None; KEPT];
        let mut sum = 0u32;
        for (exp, &logit) in kept.iter_mut().zip(&*row) {
            *exp = exponential([args.multiplier, args.shift.into(), args.diff_min], logit, largest);
            sum = sum.saturating_add(exp.map_or(0, |exp| rounded_shift(exp, SUM_SHIFT) as u32));
        }
        let (reciprocal, shift) = reciprocal(sum);
        for (code, exp) in row.iter_mut().zip(kept) {
            *code = exp.map_or(i8::MIN, |exp| probability(exp, reciprocal, shift));
        }
    }
}
