//! Products and quotients of scales, as float64 arithmetic gives them, in integers: microcontrollers have no float64, and its
//! emulation takes kilobytes. They are computed when a model is loaded, never while it runs.

/// A positive number `significand * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Real {
    significand: u64,
    exponent: i32,
}

/// Bits of a float64 significand.
const BITS: u32 = 53;

impl Real {
    /// One.
    pub const ONE: Self = Self { significand: 1, exponent: 0 };

    /// A float; `None` where it is not a positive number.
    pub const fn of(value: f32) -> Option<Self> {
        const FRACTION_BITS: u32 = 23;
        let bits = value.to_bits();
        // The sign would be part of it.
        let biased_exponent = (bits >> FRACTION_BITS) as i32;
        let fraction = bits & ((1 << FRACTION_BITS) - 1);
        match biased_exponent {
            0 if fraction != 0 => Some(Self { significand: fraction as u64, exponent: -149 }),
            1..=254 => {
                Some(Self { significand: (fraction | 1 << FRACTION_BITS) as u64, exponent: biased_exponent - 150 })
            }
            _ => None,
        }
    }

    /// The number times `2^exponent`, exactly.
    pub const fn scaled(self, exponent: i32) -> Self {
        Self { exponent: self.exponent + exponent, ..self }
    }

    /// The number times a whole number, exactly. Both together have 64 bits at most.
    pub const fn times(self, factor: u32) -> Self {
        Self { significand: self.significand * factor as u64, ..self }
    }

    /// The product, rounded to a float64. Both together have 64 bits at most, as a float and another or a product of
    /// [`Self::times`] have.
    pub const fn product(self, other: Self) -> Self {
        let significand = self.significand * other.significand;
        let exponent = self.exponent + other.exponent;
        let excess = (64 - significand.leading_zeros()).saturating_sub(BITS);
        if excess == 0 {
            return Self { significand, exponent };
        }
        let kept = significand >> excess;
        let (rest, half) = (significand & ((1 << excess) - 1), 1 << (excess - 1));
        Self { significand: kept + is_up(kept, rest, half) as u64, exponent: exponent + excess as i32 }
    }

    /// The quotient, rounded to a float64. The divisor is a float.
    pub const fn quotient(self, divisor: Self) -> Self {
        // Both get 62 bits, so that the quotient is between 1/2 and 2.
        let shifts = (self.significand.leading_zeros() - 2, divisor.significand.leading_zeros() - 2);
        let (mut rest, divided_by) = (self.significand << shifts.0, divisor.significand << shifts.1);
        let mut exponent = self.exponent - shifts.0 as i32 - (divisor.exponent - shifts.1 as i32);
        if rest < divided_by {
            rest <<= 1;
            exponent -= 1;
        }
        let mut significand = 0;
        let mut bit = 0;
        while bit < BITS {
            significand <<= 1;
            if rest >= divided_by {
                rest -= divided_by;
                significand |= 1;
            }
            rest <<= 1;
            bit += 1;
        }
        // The rest was doubled once more than bits were found.
        significand += is_up(significand, rest, divided_by) as u64;
        Self { significand, exponent: exponent - (BITS as i32 - 1) }
    }

    /// A fraction of 31 bits that is at least 1/2, and the power of two that it is times: `fraction / 2^31 * 2^exponent`, halves
    /// up.
    pub const fn fraction(self) -> (u32, i32) {
        let shift = self.significand.leading_zeros();
        let (fraction, exponent) = (self.significand << shift, self.exponent + 64 - shift as i32);
        let rounded = (fraction >> 33) + (fraction >> 32 & 1);
        if rounded == 1 << 31 { (1 << 30, exponent + 1) } else { (rounded as u32, exponent) }
    }

    /// Whether a factor was 0.
    pub const fn is_zero(self) -> bool {
        self.significand == 0
    }

    /// The number without what is behind the point; the largest of 32 bits where it has more.
    pub const fn truncated(self) -> u32 {
        let whole = self.fixed(0);
        if whole > u32::MAX as u64 { u32::MAX } else { whole as u32 }
    }

    /// The number with this many fraction bits, without those behind; the largest of 64 bits where it has more.
    pub const fn fixed(self, fraction_bits: i32) -> u64 {
        let left = self.exponent + fraction_bits;
        match left {
            _ if self.is_zero() => 0,
            0.. if left > self.significand.leading_zeros() as i32 => u64::MAX,
            0.. => self.significand << left,
            -63..0 => self.significand >> -left,
            _ => 0,
        }
    }

    /// The nearest whole number, halves up; at most `most`, which is below 2^31.
    pub const fn rounded(self, most: u32) -> u32 {
        let halves = self.scaled(1).truncated();
        let nearest = halves / 2 + halves % 2;
        if nearest > most { most } else { nearest }
    }
}

/// Whether a significand is rounded up for what is left of it: to nearest, halves to even.
const fn is_up(significand: u64, rest: u64, half: u64) -> bool {
    rest > half || rest == half && significand & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Real {
        fn to_f64(self) -> f64 {
            libm::ldexp(self.significand as f64, self.exponent)
        }
    }

    /// Positive floats of all sizes, many with few bits.
    fn floats(count: usize) -> impl Iterator<Item = [f32; 3]> {
        let mut state = 1u64;
        let mut draw = move || loop {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bits = (state >> 33) as u32;
            let bits = if state >> 20 & 3 == 0 { bits & 0xFFF0_0000 } else { bits };
            let bits = if state >> 22 & 3 == 0 { bits % (1 << 23) } else { bits };
            let value = f32::from_bits(bits);
            if value > 0.0 && value.is_finite() {
                break value;
            }
        };
        (0..count).map(move |_| [draw(), draw(), draw()])
    }

    #[test]
    fn products_and_quotients_are_those_of_float64() {
        for [a, b, c] in floats(1_000_000) {
            let [x, y, z] = [a, b, c].map(|value| Real::of(value).expect("positive"));
            let expected = f64::from(a) * f64::from(b) / f64::from(c);
            assert_eq!(x.product(y).quotient(z).to_f64(), expected, "{a:e} * {b:e} / {c:e}");
            let factor = a.to_bits() % 256;
            let expected = f64::from(a) * f64::from(factor) * f64::from(b);
            assert_eq!(x.times(factor).product(y).to_f64(), expected, "{a:e} * {factor} * {b:e}");
        }
    }

    #[test]
    fn whole_numbers_are_the_nearest() {
        for [a, b, _] in floats(200_000) {
            let quotient = Real::of(a).zip(Real::of(b)).map(|(a, b)| a.quotient(b)).expect("positive");
            let exact = f64::from(a) / f64::from(b);
            assert_eq!(quotient.truncated(), exact as u32, "{a:e} / {b:e}");
            // What is just below one half is not rounded up.
            if exact != 0.499_999_999_999_999_94 {
                assert_eq!(
                    f64::from(quotient.rounded(1 << 30)),
                    libm::round(exact).min(f64::from(1 << 30)),
                    "{a:e} / {b:e}"
                );
            }
        }
        let half = Real::ONE.scaled(-1);
        assert_eq!([half.rounded(9), half.times(3).rounded(9), half.times(99).rounded(9)], [1, 2, 9]);
        assert_eq!([half.truncated(), half.times(0).truncated(), Real::ONE.scaled(32).truncated()], [0, 0, u32::MAX]);
    }

    #[test]
    fn what_is_no_positive_number_is_none() {
        for value in [0.0, -0.0, -1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(Real::of(value), None, "{value}");
        }
        for value in [1.0, f32::MIN_POSITIVE, f32::from_bits(1), f32::MAX] {
            assert_eq!(Real::of(value).expect("positive").to_f64(), f64::from(value));
        }
    }
}
