//! Half-precision numbers.

/// The value of an IEEE 754 half-precision number.
pub(crate) fn f16_to_f64(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff);
    sign * match (bits >> 10) & 0x1f {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    }
}

/// The value of a bfloat16 number: the upper half of a single-precision one.
pub(crate) fn bf16_to_f64(bits: u16) -> f64 {
    f64::from(f32::from_bits(u32::from(bits) << 16))
}

/// The nearest value with `fraction_bits` bits behind the point, an exponent of at least `least_exponent` and a
/// magnitude of at most `largest`; ties go to the even one, larger magnitudes to infinity.
fn round_to(value: f64, fraction_bits: i32, least_exponent: i32, largest: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = (((value.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(least_exponent);
    let unit = 2f64.powi(exponent - fraction_bits);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded.abs() > largest { f64::INFINITY.copysign(value) } else { rounded }
}

/// The nearest half-precision number.
pub(crate) fn round_to_f16(value: f64) -> f64 {
    round_to(value, 10, -14, 65504.0)
}

/// The nearest bfloat16 number.
pub(crate) fn round_to_bf16(value: f64) -> f64 {
    round_to(value, 7, -126, bf16_to_f64(0x7f7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_their_values() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x0001, 5.960464477539063e-8), (0x0400, 6.103515625e-5)]
        {
            assert_eq!(f16_to_f64(bits), value);
        }
        assert_eq!(f16_to_f64(0xfc00), f64::NEG_INFINITY);
        assert!(f16_to_f64(0x7e00).is_nan());
        assert_eq!(bf16_to_f64(0x3f80), 1.0);
    }

    #[test]
    fn every_half_rounds_to_itself_and_what_lies_between_to_the_nearest() {
        for bits in 0..=u16::MAX {
            let value = f16_to_f64(bits);
            assert!(value.is_nan() || round_to_f16(value) == value);
            let value = bf16_to_f64(bits);
            assert!(value.is_nan() || round_to_bf16(value) == value);
        }
        assert_eq!(round_to_f16(65519.9), 65504.0);
        assert_eq!(round_to_f16(65520.0), f64::INFINITY);
        assert_eq!(round_to_f16(1.0 + 2f64.powi(-11)), 1.0);
        assert_eq!(round_to_f16(1.0 + 3.0 * 2f64.powi(-11)), 1.0 + 2f64.powi(-9));
        assert_eq!(round_to_f16(2f64.powi(-26)), 0.0);
    }
}
