//! Fixed-point arithmetic of the integer kernels: every function says where it rounds.

/// A real factor: `multiplier * 2^(shift - 31)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// 31 bits of the fraction, with sign.
    pub multiplier: i32,
    /// Power of two.
    pub shift: i32,
}

impl Factor {
    /// The factor closest to `real`, halves away from zero; 0 below 2^-32.
    pub fn of(real: f64) -> Self {
        let (fraction, mut shift) = libm::frexp(real);
        let mut multiplier = (fraction * 2f64.powi(31)).round() as i64;
        if multiplier == 1 << 31 {
            multiplier /= 2;
            shift += 1;
        }
        match shift {
            ..-31 => Self { multiplier: 0, shift: 0 },
            31.. => Self { multiplier: i32::MAX, shift: 30 },
            _ => Self { multiplier: multiplier as i32, shift },
        }
    }

    /// `x` times this factor, rounded twice: to a multiple of 2^31 and to a multiple of `2^-shift`.
    pub fn times(self, x: i32) -> i32 {
        let (left, right) = (self.shift.max(0), (-self.shift).max(0));
        rounded_shift(high_product(x.wrapping_shl(left as u32), self.multiplier), right)
    }
}

/// `a * b / 2^31`, halves up; saturates where it does not fit.
pub fn high_product(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = i64::from(a) * i64::from(b);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// `x / 2^exponent`, halves away from zero.
pub fn rounded_shift(x: i32, exponent: i32) -> i32 {
    if exponent == 0 {
        return x;
    }
    let (x, half) = (i64::from(x), 1i64 << (exponent - 1));
    let magnitude = (x.abs() + half) >> exponent;
    (magnitude * x.signum()) as i32
}

/// `x * 2^exponent`, saturated.
pub fn saturating_shift(x: i32, exponent: u32) -> i32 {
    (i64::from(x) << exponent).clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// exp of a number that is not above 0 and has `integer_bits` bits before the point, 4 or 5; the result has none.
pub fn exp_of_negative(x: i32, integer_bits: u32) -> i32 {
    /// exp(-1/4), exp(-1/2), exp(-1), ... with 31 fraction bits.
    const POWERS: [i32; 7] = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];
    if x == 0 {
        return i32::MAX;
    }
    let fraction_bits = 31 - integer_bits;
    let quarter = 1i32 << (fraction_bits - 2);
    let rest = (x & (quarter - 1)) - quarter;
    let quarters = rest.wrapping_sub(x);
    let mut result = exp_of_quarter(saturating_shift(rest, integer_bits));
    for (index, power) in POWERS.iter().take(integer_bits as usize + 2).enumerate() {
        if quarters & (quarter << index) != 0 {
            result = high_product(result, *power);
        }
    }
    result
}

/// exp in [-1/4, 0): a polynomial around -1/8.
fn exp_of_quarter(x: i32) -> i32 {
    const EXP_OF_MINUS_EIGHTH: i32 = 1_895_147_668;
    const THIRD: i32 = 715_827_883;
    let t = x + (1 << 28);
    let t2 = high_product(t, t);
    let t3 = high_product(t2, t);
    let t4_over_4 = rounded_shift(high_product(t2, t2), 2);
    let tail = rounded_shift(high_product(t4_over_4 + t3, THIRD) + t2, 1);
    EXP_OF_MINUS_EIGHTH + high_product(EXP_OF_MINUS_EIGHTH, t + tail)
}

/// `2 / (1 + x)` with two bits before the point for `x` from 0 to 1 with none: three steps of Newton's method.
fn twice_reciprocal(x: i32) -> i32 {
    const FORTY_EIGHT_17THS: i32 = 1_515_870_810;
    const MINUS_THIRTY_TWO_17THS: i32 = -1_010_580_540;
    const ONE: i32 = 1 << 29;
    // Half of x + 1, halves up.
    let half = ((i64::from(x) + i64::from(i32::MAX) + 1) / 2) as i32;
    let mut result = FORTY_EIGHT_17THS + high_product(half, MINUS_THIRTY_TWO_17THS);
    for _ in 0..3 {
        let error = ONE - high_product(half, result);
        result += saturating_shift(high_product(result, error), 2);
    }
    result
}

/// `1 / (1 + x)` for `x` from 0 to 1, both without bits before the point.
pub fn reciprocal_of_one_plus(x: i32) -> i32 {
    saturating_shift(twice_reciprocal(x), 1)
}

/// `(1 - x) / (1 + x)` for `x` from 0 to 1, both without bits before the point.
pub fn one_minus_over_one_plus(x: i32) -> i32 {
    saturating_shift(twice_reciprocal(x) - (1 << 29), 2)
}
