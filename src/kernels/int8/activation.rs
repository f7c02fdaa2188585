//! Tables of the activations of int8 layers: the code of the result for each code of the argument. They are made when a model is
//! loaded, in integers and alike on every target.

use super::real::Real;
use crate::format::quant::QuantParams;
use crate::kernels::Activation;

/// Fraction bits of arguments of the logistic function.
const FRACTION_BITS: i32 = 58;

/// -ln(1 - 2^-k) for k from 1 on.
#[rustfmt::skip]
const LOGARITHMS: [u64; 29] = [
    199_786_072_581_291_495, 82_918_711_954_880_808, 38_487_803_524_228_063, 18_601_962_223_757_338,
    9_150_939_257_538_697, 4_539_154_852_698_183, 2_260_641_989_816_121, 1_128_104_673_551_053,
    563_500_426_113_300, 281_612_505_208_201, 140_771_859_282_604, 70_377_335_510_613, 35_186_519_747_259,
    17_592_722_937_174, 8_796_227_242_667, 4_398_080_065_877, 2_199_031_644_203, 1_099_513_724_933,
    549_756_338_177, 274_878_038_016, 137_438_986_240, 68_719_484_928, 34_359_740_416, 17_179_869_696,
    8_589_934_720, 4_294_967_328, 2_147_483_656, 1_073_741_826, 536_870_913,
];

/// The code of an activation of the number that `code` stands for, rounded half away from zero to a step of the output and
/// saturated. Sigmoid has steps of 1/256 from -128 on, tanh steps of 1/128 around 0, whatever `output` says.
pub fn code_of(activation: Activation, code: i8, input: QuantParams, output: QuantParams) -> i8 {
    let steps = i32::from(code) - input.zero_point;
    // Nothing is left of a scale that is no positive number.
    let Some(size) = Real::of(input.scale).map(|scale| scale.times(steps.unsigned_abs())) else { return i8::MIN };
    let is_negative = steps < 0;
    let (code, is_negative) = match activation {
        Activation::Sigmoid => (logistic_steps(size), is_negative),
        // 128 tanh(x) = 256 sigmoid(2 x) - 128
        Activation::Tanh => (logistic_steps(size.scaled(1)), is_negative),
        Activation::LeakyRelu(slope) if is_negative => {
            let size = Real::of(slope.abs()).map(|slope| size.product(slope));
            (in_steps(size, output.scale), slope > 0.0)
        }
        _ => (in_steps(Some(size), output.scale), is_negative),
    };
    let zero_point = if matches!(activation, Activation::Sigmoid | Activation::Tanh) { 0 } else { output.zero_point };
    let signed = if is_negative { -(code as i32) } else { code as i32 };
    signed.saturating_add(zero_point).clamp(i8::MIN.into(), i8::MAX.into()) as i8
}

/// More steps than int8 has.
const MOST: u32 = 1 << 16;

/// A number in steps of the output.
fn in_steps(size: Option<Real>, scale: f32) -> u32 {
    match (size, Real::of(scale)) {
        (Some(size), Some(scale)) if !size.is_zero() => size.quotient(scale).rounded(MOST),
        _ => 0,
    }
}

/// How many steps of 1/256 the logistic function of a number lies above 1/2. Float64 says the same unless the function
/// comes within about 2^-52 of a half step, where float64 is not exact either.
fn logistic_steps(x: Real) -> u32 {
    const ONE: u64 = 1 << 54;
    // The nearest whole number to 256 / (1 + exp(-x)), everything times the divisor.
    let divisor = ONE + (exp_of_negative(x.fixed(FRACTION_BITS)) >> 8);
    (1..=128).take_while(|step| (255 + 2 * step) * divisor <= 512 * ONE).count() as u32
}

/// exp(-x) with 62 fraction bits. What x loses by a logarithm takes the 2^k-th part away, and the rest of x, which is
/// below 2^-28, takes itself away. From 32 on it counts as 0.
fn exp_of_negative(mut x: u64) -> u64 {
    if x >= 32 << FRACTION_BITS {
        return 0;
    }
    let mut exp = 1 << 62;
    for (logarithm, k) in LOGARITHMS.into_iter().zip(1..) {
        while x >= logarithm {
            x -= logarithm;
            exp -= exp >> k;
        }
    }
    exp - (((exp >> 32) * x) >> 26)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same in float64.
    fn model(activation: Activation, code: i8, input: QuantParams, output: QuantParams) -> i8 {
        let x = f64::from(input.scale) * f64::from(i32::from(code) - input.zero_point);
        let (y, scale, zero_point) = match activation {
            Activation::Sigmoid => (1.0 / (1.0 + libm::exp(-x)), 1.0 / 256.0, -128),
            Activation::Tanh => (libm::tanh(x), 1.0 / 128.0, 0),
            Activation::LeakyRelu(alpha) if x < 0.0 => (x * f64::from(alpha), output.scale.into(), output.zero_point),
            _ => (x, output.scale.into(), output.zero_point),
        };
        (libm::round(y / scale) + f64::from(zero_point)).clamp(-128.0, 127.0) as i8
    }

    #[test]
    fn exponentials_are_those_of_float64() {
        for i in 0..320_000 {
            let x = f64::from(i) / 10_000.1;
            let exp = exp_of_negative((x * 2f64.powi(FRACTION_BITS)) as u64) as f64 / 2f64.powi(62);
            assert!((exp - libm::exp(-x)).abs() < 2f64.powi(-52), "{x}");
        }
    }

    /// Scales around those that lead to a half step: a product with the number of steps has more bits than a float.
    #[test]
    fn codes_beside_half_steps_are_those_of_float64() {
        for n in 1..=128 {
            let half_step = libm::log((127.5 + f64::from(n)) / (128.5 - f64::from(n)));
            for steps in 1..=255u8 {
                let nearest = (half_step / f64::from(steps)) as f32;
                for scale in [nearest.next_down(), nearest, nearest.next_up()] {
                    let input = QuantParams { scale, zero_point: -128 };
                    let code = (i32::from(steps) - 128) as i8;
                    let expected = model(Activation::Sigmoid, code, input, input);
                    assert_eq!(code_of(Activation::Sigmoid, code, input, input), expected, "{scale:e} * {steps}");
                    let input = QuantParams { scale: scale / 2.0, ..input };
                    let expected = model(Activation::Tanh, code, input, input);
                    assert_eq!(code_of(Activation::Tanh, code, input, input), expected, "{scale:e} / 2 * {steps}");
                }
            }
        }
    }

    #[test]
    fn codes_are_those_of_float64() {
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 16_777_216.0
        };
        for _ in 0..4000 {
            let mut params =
                || QuantParams { scale: libm::expf(draw() * 16.0 - 13.0), zero_point: (draw() * 256.0) as i32 - 128 };
            let (input, output) = (params(), params());
            let slope = 2.0 * draw() - 0.5;
            for activation in
                [Activation::Sigmoid, Activation::Tanh, Activation::LeakyRelu(slope), Activation::LeakyRelu(0.25)]
            {
                for code in i8::MIN..=i8::MAX {
                    let expected = model(activation, code, input, output);
                    assert_eq!(
                        code_of(activation, code, input, output),
                        expected,
                        "{activation:?} {code} {input:?} {output:?}"
                    );
                }
            }
        }
    }
}
