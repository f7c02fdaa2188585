//! The one way from an accumulator to an int8 value, and the tables it needs.
//!
//! A factor such as `input scale * weight scale / output scale` becomes a 31-bit fraction and a power of two when the
//! model is loaded. What runs per inference multiplies, rounds and shifts integers. `docs/quantization.md` has the
//! arithmetic with worked examples at ties and at saturation.

use super::args::{Requantize, Term};
use super::real::Real;

/// `multiplier * 2^(shift - 31)`: a non-negative factor for [`multiply_by_quantized_multiplier`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multiplier {
    /// 2^30 to 2^31 - 1, or 0.
    pub multiplier: i32,
    /// -31 to 30.
    pub shift: i8,
}

impl Multiplier {
    /// The factor 0.
    pub const ZERO: Self = Self { multiplier: 0, shift: 0 };
    /// The largest factor, a little below 2^30.
    pub const MAX: Self = Self { multiplier: i32::MAX, shift: 30 };

    /// The factor closest to `real`, halves away from zero: 0 unless `real` is at least about 2^-32, [`Self::MAX`] from
    /// 2^30 on. Runs at load only.
    pub(super) const fn of(real: Real) -> Self {
        let (fraction, exponent) = real.fraction();
        match exponent {
            ..=-32 => Self::ZERO,
            31.. => Self::MAX,
            _ => Self { multiplier: fraction as i32, shift: exponent as i8 },
        }
    }

    /// The factor from sums of products to outputs: `input * weights / output`, computed as in float64. 0 where a scale is no
    /// positive number.
    #[inline(never)]
    pub const fn of_scales(input: f32, weights: f32, output: f32) -> Self {
        match (Real::of(input), Real::of(weights), Real::of(output)) {
            (Some(input), Some(weights), Some(output)) => Self::of(input.product(weights).quotient(output)),
            _ => Self::ZERO,
        }
    }

    /// The term of an addition whose tensor has this zero point.
    const fn term(self, zero_point: i32) -> Term {
        Term { multiplier: self.multiplier, shift: self.shift, zero_point }
    }
}

/// `x * multiplier * 2^(shift - 31)` for a shift of -31 to 30, rounded twice: the 64-bit product to a multiple of 2^31,
/// halves up, and the result to a multiple of `2^-shift`, halves away from zero. A positive shift is applied to `x`
/// before, and bits above the 32nd are lost.
#[inline]
pub const fn multiply_by_quantized_multiplier(x: i32, multiplier: i32, shift: i8) -> i32 {
    if shift > 0 {
        doubling_high_product(x.wrapping_shl(shift as u32), multiplier)
    } else {
        divide_by_power_of_two(doubling_high_product(x, multiplier), shift.unsigned_abs() as u32)
    }
}

/// `a * b / 2^31`, halves up. Only -2^31 times itself does not fit; it saturates.
#[inline]
pub(super) const fn doubling_high_product(a: i32, b: i32) -> i32 {
    let rounded = (a as i64 * b as i64 + (1 << 30)) >> 31;
    if rounded > i32::MAX as i64 { i32::MAX } else { rounded as i32 }
}

/// `x / 2^exponent`, halves away from zero; exponents 0 to 31.
#[inline]
pub(super) const fn divide_by_power_of_two(x: i32, exponent: u32) -> i32 {
    let mask = 1u32.wrapping_shl(exponent).wrapping_sub(1) as i32;
    let remainder = x & mask;
    let threshold = (mask >> 1) + x.is_negative() as i32;
    x.wrapping_shr(exponent) + (remainder > threshold) as i32
}

impl Requantize<'_> {
    /// The output of `channel` whose products add up to `acc`.
    #[inline]
    pub fn output(&self, channel: usize, acc: i32) -> i8 {
        let biased = acc.wrapping_add(self.bias[channel]);
        let scaled = multiply_by_quantized_multiplier(biased, self.multipliers[channel], self.shifts[channel]);
        clamp(scaled.saturating_add(self.output_zero_point), self.min, self.max)
    }
}

/// `value` between `min` and `max`; `max` where they contradict each other.
#[inline]
pub(super) fn clamp(value: i32, min: i8, max: i8) -> i8 {
    value.max(i32::from(min)).min(i32::from(max)) as i8
}

/// The activation bytes of a `.nk` record that an int8 layer applies as a clamp.
const RELU: u8 = 1;
const RELU6: u8 = 5;

/// Least and largest output of a layer with this activation byte: the codes of 0 and of 6 as far as int8 has them, all
/// of int8 for every activation other than relu and relu6. Runs at load only.
pub fn clamp_range(activation: u8, out_scale: f32, out_zero_point: i32) -> (i8, i8) {
    let zero = clamp(out_zero_point, i8::MIN, i8::MAX);
    match activation {
        RELU6 if out_scale > 0.0 => {
            // 0 steps of a scale that is infinite.
            let six = Real::of(out_scale).map_or(0, |scale| Real::ONE.times(6).quotient(scale).rounded(1 << 30));
            let six = (six as i32).saturating_add(out_zero_point);
            (zero, six.clamp(i32::from(zero), i32::from(i8::MAX)) as i8)
        }
        RELU | RELU6 => (zero, i8::MAX),
        _ => (i8::MIN, i8::MAX),
    }
}

/// How the two tensors of a residual addition and their sum are scaled, see [`Add`](super::Add). Runs at load only.
pub fn add_terms(
    scale_a: f32,
    zero_point_a: i32,
    scale_b: f32,
    zero_point_b: i32,
    out_scale: f32,
    out_zero_point: i32,
) -> (Term, Term, Term) {
    let larger = if scale_a > scale_b { scale_a } else { scale_b };
    let ratio = |scale, to, exponent| match (Real::of(scale), Real::of(to)) {
        (Some(scale), Some(to)) => Multiplier::of(scale.quotient(to).scaled(exponent)),
        _ => Multiplier::ZERO,
    };
    (
        ratio(scale_a, larger, -1).term(zero_point_a),
        ratio(scale_b, larger, -1).term(zero_point_b),
        ratio(larger, out_scale, 1 - ADD_LEFT_SHIFT as i32).term(out_zero_point),
    )
}

/// Bits by which both terms of an addition are shifted left, to keep fractions of a step.
pub(super) const ADD_LEFT_SHIFT: u32 = 20;

/// Multiplier, shift and `diff_min` of [`Softmax`](super::Softmax) for logits of this scale; one that is not positive
/// counts as 1. Runs at load only.
pub fn softmax_params(scale: f32) -> (i32, i8, i32) {
    let scale = Real::of(scale).unwrap_or(if scale == f32::INFINITY { Real::ONE.scaled(64) } else { Real::ONE });
    let Multiplier { multiplier, shift } = Multiplier::of(scale.scaled(SOFTMAX_FRACTION_BITS as i32));
    // The scaled difference keeps five integer bits, so it must stay above -32: floor(31 * 2^(26 - shift)).
    let reach = 31i64 << SOFTMAX_FRACTION_BITS;
    let reach = if shift >= 0 { reach >> shift } else { reach << shift.unsigned_abs() };
    (multiplier, shift, -reach.min(i64::from(i32::MAX)) as i32)
}

/// Fraction bits of the scaled differences in a softmax.
const SOFTMAX_FRACTION_BITS: u32 = 26;

#[cfg(test)]
mod tests {
    use super::*;

    /// `real` with the library's frexp and round.
    fn model(real: f64) -> Multiplier {
        let (fraction, mut exponent) = libm::frexp(real);
        let mut rounded = libm::round(fraction * 2f64.powi(31)) as i64;
        if rounded == 1 << 31 {
            rounded /= 2;
            exponent += 1;
        }
        match exponent {
            ..=-32 => Multiplier::ZERO,
            31.. => Multiplier::MAX,
            _ => Multiplier { multiplier: rounded as i32, shift: exponent as i8 },
        }
    }

    #[test]
    fn multipliers_agree_with_frexp_and_round_of_float64() {
        let mut state = 1u64;
        let mut draw = |least: u32, count: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Fractions that often have few bits or nearly all, so that there are ties.
            let fraction = match state >> 60 {
                0..4 => (1 << 23) - 1 - (state >> 50) as u32 % 8,
                4..8 => (state >> 20) as u32 >> 17 << 17 & 0x7f_ffff,
                _ => (state >> 8) as u32 & 0x7f_ffff,
            };
            f32::from_bits((least + (state >> 32) as u32 % count) << 23 | fraction)
        };
        for _ in 0..1_000_000 {
            let [input, weights, output] = [draw(100, 60), draw(100, 60), draw(100, 60)];
            let real = f64::from(input) * f64::from(weights) / f64::from(output);
            let found = Multiplier::of_scales(input, weights, output);
            assert_eq!(found, model(real), "{input:e} * {weights:e} / {output:e}");
        }
        for none in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert_eq!(Multiplier::of_scales(none, 1.0, 1.0), Multiplier::ZERO);
            assert_eq!(Multiplier::of_scales(1.0, none, 1.0), Multiplier::ZERO);
            assert_eq!(Multiplier::of_scales(1.0, 1.0, none), Multiplier::ZERO);
        }
    }

    #[test]
    fn clamps_follow_the_activation() {
        assert_eq!(clamp_range(0, 0.5, 3), (-128, 127));
        assert_eq!(clamp_range(1, 0.5, 3), (3, 127));
        assert_eq!(clamp_range(5, 0.5, 3), (3, 15));
        assert_eq!(clamp_range(5, 0.01, -128), (-128, 127));
        assert_eq!(clamp_range(5, f32::MIN_POSITIVE, -128), (-128, 127));
        assert_eq!(clamp_range(5, f32::INFINITY, 3), (3, 3));
        // 6 / 4 = 1.5 is a tie and goes up; 6 / 13 is below one half.
        assert_eq!(clamp_range(5, 4.0, 0), (0, 2));
        assert_eq!(clamp_range(5, 13.0, 0), (0, 0));
        for scale in [0.0, -1.0, f32::NAN] {
            assert_eq!(clamp_range(5, scale, -7), (-7, 127));
        }
        for code in [2, 3, 4, 6, 255] {
            assert_eq!(clamp_range(code, 0.5, 3), (-128, 127));
        }
        assert_eq!(clamp_range(1, 1.0, 1000), (127, 127));
        assert_eq!(clamp_range(5, 1.0, -1000), (-128, -128));
    }

    #[test]
    fn terms_of_an_addition_are_scaled_to_twice_the_larger_scale() {
        let (a, b, out) = add_terms(0.5, 1, 0.125, 2, 1.0, 3);
        assert_eq!(a, Term { multiplier: 1 << 30, shift: 0, zero_point: 1 });
        assert_eq!(b, Term { multiplier: 1 << 30, shift: -2, zero_point: 2 });
        assert_eq!(out, Term { multiplier: 1 << 30, shift: -19, zero_point: 3 });
        let (swapped_b, swapped_a, same_out) = add_terms(0.125, 2, 0.5, 1, 1.0, 3);
        assert_eq!((swapped_a, swapped_b, same_out), (a, b, out));
    }

    #[test]
    fn softmax_reaches_as_far_down_as_five_integer_bits_do() {
        assert_eq!(softmax_params(1.0), (1 << 30, 27, -15));
        assert_eq!(softmax_params(0.0), softmax_params(1.0));
        assert_eq!(softmax_params(f32::NAN), softmax_params(1.0));
        assert_eq!(softmax_params(1.0 / 256.0), (1 << 30, 19, -31 * 128));
        assert_eq!(softmax_params(1e30), (i32::MAX, 30, -1));
        let (multiplier, shift, diff_min) = softmax_params(f32::MIN_POSITIVE);
        assert_eq!((multiplier, shift, diff_min), (0, 0, -31 << 26));
        let (_, shift, diff_min) = softmax_params(1e-12);
        assert_eq!((shift, diff_min), (-13, -i32::MAX));
    }
}
