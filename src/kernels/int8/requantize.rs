//! The one way from an accumulator to an int8 value, and the tables it needs.
//!
//! A factor such as `input scale * weight scale / output scale` becomes a 31-bit fraction and a power of two when the
//! model is loaded. What runs per inference multiplies, rounds and shifts integers. `docs/quantization.md` has the
//! arithmetic with worked examples at ties and at saturation.

use super::args::{Requantize, Term};

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
    pub const fn from_real(real: f64) -> Self {
        const FRACTION_BITS: u32 = 52;
        let bits = real.to_bits();
        let biased_exponent = (bits >> FRACTION_BITS) as i32 & 0x7ff;
        // Zero, negative, NaN; and subnormals, which are far below the least factor.
        if real.is_nan() || real.is_sign_negative() || biased_exponent == 0 {
            return Self::ZERO;
        }
        // real = significand / 2^53 * 2^exponent, where the fraction is in [0.5, 1).
        let significand = bits & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
        let mut exponent = biased_exponent - 1022;
        let mut rounded = (significand + (1 << 21)) >> 22;
        if rounded == 1 << 31 {
            rounded >>= 1;
            exponent += 1;
        }
        match exponent {
            ..=-32 => Self::ZERO,
            31.. => Self::MAX,
            _ => Self { multiplier: rounded as i32, shift: exponent as i8 },
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
            let six = round_to_i64(6.0 / f64::from(out_scale)).saturating_add(i64::from(out_zero_point));
            (zero, six.clamp(i64::from(zero), i64::from(i8::MAX)) as i8)
        }
        RELU | RELU6 => (zero, i8::MAX),
        _ => (i8::MIN, i8::MAX),
    }
}

/// The nearest integer to a positive number, halves up; saturates.
fn round_to_i64(x: f64) -> i64 {
    let whole = x as i64;
    whole.saturating_add((x - whole as f64 >= 0.5) as i64)
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
    let (scale_a, scale_b, out_scale) = (f64::from(scale_a), f64::from(scale_b), f64::from(out_scale));
    let twice_larger = 2.0 * if scale_a > scale_b { scale_a } else { scale_b };
    (
        Multiplier::from_real(scale_a / twice_larger).term(zero_point_a),
        Multiplier::from_real(scale_b / twice_larger).term(zero_point_b),
        Multiplier::from_real(twice_larger / (f64::from(1 << ADD_LEFT_SHIFT) * out_scale)).term(out_zero_point),
    )
}

/// Bits by which both terms of an addition are shifted left, to keep fractions of a step.
pub(super) const ADD_LEFT_SHIFT: u32 = 20;

/// Multiplier, shift and `diff_min` of [`Softmax`](super::Softmax) for logits of this scale; one that is not positive
/// counts as 1. Runs at load only.
pub fn softmax_params(scale: f32) -> (i32, i8, i32) {
    let scale = if scale > 0.0 { f64::from(scale) } else { 1.0 };
    let beta = scale * f64::from(1 << SOFTMAX_FRACTION_BITS);
    let Multiplier { multiplier, shift } = Multiplier::from_real(beta.min(f64::from(i32::MAX)));
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

    /// The same with the library's frexp and round.
    fn model(real: f64) -> Multiplier {
        if real.is_nan() || real <= 0.0 {
            return Multiplier::ZERO;
        }
        if real.is_infinite() {
            return Multiplier::MAX;
        }
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
    fn multipliers_agree_with_frexp_and_round() {
        let mut state = 1u64;
        for _ in 0..300_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Exponents around the limits, fractions that often sit at a tie or just below a power of two.
            let exponent = 1022 - 36 + (state >> 32) % 72;
            let fraction = match state >> 60 {
                0..4 => (1 << 52) - 1 - (state >> 50) % 8,
                4..8 => ((state >> 20) & ((1 << 52) - 1)) >> 21 << 21,
                _ => (state >> 8) & ((1 << 52) - 1),
            };
            let real = f64::from_bits(exponent << 52 | fraction);
            assert_eq!(Multiplier::from_real(real), model(real), "{real:e}");
            assert_eq!(Multiplier::from_real(-real), Multiplier::ZERO, "-{real:e}");
        }
        for real in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            assert_eq!(Multiplier::from_real(real), model(real), "{real:e}");
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
