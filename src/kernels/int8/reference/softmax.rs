//! Softmax in fixed point.
//!
//! ```text
//! d = logit - largest of the row
//! e = exp(d * scale)               Q0.31, by range reduction and a polynomial
//! p = e / sum of all e             by a reciprocal of the sum; in steps of 1/256, from -128 on
//! ```
//!
//! Differences below `diff_min` are so small that they count as probability 0.

use crate::kernels::int8::Softmax;
use crate::kernels::int8::requantize::doubling_high_product;

/// Row by row; rows of no elements are no work. A sum that leaves 32 bits saturates there: a row with that many likely
/// classes has only probabilities below half a step.
pub fn softmax(args: &mut Softmax<'_>) {
    let Softmax { ref mut data, row_elems, multiplier, shift, diff_min } = *args;
    for row in data.chunks_mut(row_elems.max(1)) {
        let largest = row.iter().copied().max().unwrap_or(0);
        let exponential = |logit| exponential([multiplier, shift.into(), diff_min], logit, largest);
        let mut sum = 0u32;
        for &mut logit in &mut *row {
            if let Some(exp) = exponential(logit) {
                sum = sum.saturating_add(rounded_shift(exp, SUM_SHIFT) as u32);
            }
        }
        let (reciprocal, shift) = reciprocal(sum);
        for code in row {
            *code = exponential(*code).map_or(i8::MIN, |exp| probability(exp, reciprocal, shift));
        }
    }
}

/// exp of a logit's scaled distance from the largest one, 31 fraction bits; nothing below `diff_min`. `multiplier` and `shift`
/// are those of [`Softmax`].
pub(in crate::kernels::int8) fn exponential(
    [multiplier, shift, diff_min]: [i32; 3],
    logit: i8,
    largest: i8,
) -> Option<i32> {
    let difference = i32::from(logit) - i32::from(largest);
    if difference < diff_min {
        return None;
    }
    // A negative exponent belongs to a scale so small that every scaled difference is 0.
    let shifted = if shift < 0 { 0 } else { difference.wrapping_shl(shift as u32) };
    Some(exp_of_negative(doubling_high_product(shifted, multiplier)))
}

/// Bits dropped from each exponential before it is added up: 12 integer bits for the sum.
pub(in crate::kernels::int8) const SUM_SHIFT: u32 = 12;

/// exp(-1/8) and 1/3, 31 fraction bits.
const EXP_OF_MINUS_EIGHTH: i32 = 1_895_147_668;
const THIRD: i32 = 715_827_883;

/// exp(-2^(i - 2)), 31 fraction bits.
const EXP_OF_MINUS_POWERS: [i32; 7] =
    [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

/// exp of a number in (-32, 0] with 26 fraction bits, as a number with 31.
///
/// The number is a fraction in [-1/4, 0) minus quarters. The fraction goes through a polynomial of fourth degree around
/// -1/8, and each bit of the number of quarters multiplies the result with its own exponential.
#[inline]
pub(in crate::kernels::int8) const fn exp_of_negative(x: i32) -> i32 {
    if x == 0 {
        return i32::MAX;
    }
    const QUARTER: i32 = 1 << 24;
    let fraction = (x & (QUARTER - 1)) - QUARTER;
    let quarters = fraction.wrapping_sub(x) >> 24;
    // Five more fraction bits, relative to -1/8.
    let t = (fraction << 5) + (1 << 28);
    let t2 = doubling_high_product(t, t);
    let t3 = doubling_high_product(t2, t);
    let t4 = doubling_high_product(t2, t2);
    // t + t^2/2 + t^3/6 + t^4/24
    let tail = rounded_shift(doubling_high_product(rounded_shift(t4, 2) + t3, THIRD) + t2, 1);
    let mut exp = EXP_OF_MINUS_EIGHTH + doubling_high_product(EXP_OF_MINUS_EIGHTH, t + tail);
    let mut i = 0;
    while i < EXP_OF_MINUS_POWERS.len() {
        if quarters >> i & 1 != 0 {
            exp = doubling_high_product(exp, EXP_OF_MINUS_POWERS[i]);
        }
        i += 1;
    }
    exp
}

/// `2^31 / (sum / 2^head)` where `head` zeros lead `sum`, and by how much the product with an exponential has to be
/// shifted right for a result in steps of 1/256. Three steps of Newton's method: its last bits are not those of a division.
#[inline]
pub(in crate::kernels::int8) const fn reciprocal(sum: u32) -> (i32, u32) {
    /// 48/17 and -32/17 with 29 fraction bits.
    const START: i32 = 1_515_870_810;
    const SLOPE: i32 = -1_010_580_540;
    const ONE: i32 = 1 << 29;
    let head = sum.leading_zeros();
    // From 1/2 on, below 1, with 31 fraction bits.
    let half = (((sum as u64) << head) >> 1) as i32;
    let mut twice = START + doubling_high_product(half, SLOPE);
    let mut step = 0;
    while step < 3 {
        let error = ONE - doubling_high_product(half, twice);
        twice = twice.wrapping_add(doubling_high_product(twice, error).saturating_mul(4));
        step += 1;
    }
    (twice.saturating_mul(2), 35 - head)
}

/// The code of a probability.
#[inline]
pub(in crate::kernels::int8) const fn probability(exp: i32, reciprocal: i32, shift: u32) -> i8 {
    let steps = rounded_shift(doubling_high_product(reciprocal, exp), shift) - 128;
    if steps > 127 { 127 } else { steps as i8 }
}

/// `x / 2^exponent`, halves away from zero; exponents 1 to 35.
#[inline]
pub(in crate::kernels::int8) const fn rounded_shift(x: i32, exponent: u32) -> i32 {
    ((x as i64 - x.is_negative() as i64 + (1 << (exponent - 1))) >> exponent) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums and reciprocals of `tests/oracle/int8_softmax.py`; a division gives others.
    #[test]
    fn reciprocals_are_those_of_three_newton_steps() {
        let cases = [
            (524_288, 2_147_483_647),
            (524_289, 2_147_479_552),
            (600_001, 1_876_496_718),
            (777_777, 1_447_587_042),
            (1_048_575, 1_073_742_844),
            (1_048_576, 2_147_483_647),
            (1_234_567, 1_823_959_182),
            (3_000_017, 1_501_191_370),
            (6_000_001, 1_501_199_624),
            (2_147_483_647, 1_073_741_820),
            (2_147_483_648, 2_147_483_647),
        ];
        for (sum, expected) in cases {
            assert_eq!(reciprocal(sum), (expected, 35 - sum.leading_zeros()), "{sum}");
        }
    }
}
