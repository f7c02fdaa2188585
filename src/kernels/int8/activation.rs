//! Tables of the activations of int8 layers: the code of the result for each code of the argument. They are made when a model is
//! loaded, in integers and alike on every target.

use super::real::Real;
use crate::format::quant::QuantParams;
use crate::kernels::Activation;

/// Arguments of the logistic function from which on `256 / (1 + exp(-x))` rounds to 129, 130 and so on to 256:
/// `ln((127.5 + n) / (128.5 - n))` with 29 fraction bits.
#[rustfmt::skip]
const LOGISTIC_STEPS: [u32; 128] = [
    4_194_325, 12_583_488, 20_974_187, 29_367_449, 37_764_300, 46_165_770, 54_572_894, 62_986_709, 71_408_257, 79_838_587,
    88_278_754, 96_729_819, 105_192_854, 113_668_937, 122_159_158, 130_664_616, 139_186_424, 147_725_704, 156_283_595,
    164_861_247, 173_459_830, 182_080_526, 190_724_536, 199_393_080, 208_087_398, 216_808_751, 225_558_421, 234_337_713,
    243_147_959, 251_990_515, 260_866_765, 269_778_124, 278_726_034, 287_711_972, 296_737_447, 305_804_005, 314_913_229,
    324_066_742, 333_266_207, 342_513_334, 351_809_875, 361_157_633, 370_558_461, 380_014_268, 389_527_015, 399_098_726,
    408_731_487, 418_427_449, 428_188_834, 438_017_936, 447_917_128, 457_888_862, 467_935_678, 478_060_208, 488_265_179,
    498_553_418, 508_927_862, 519_391_561, 529_947_686, 540_599_534, 551_350_540, 562_204_281, 573_164_487, 584_235_052,
    595_420_039, 606_723_699, 618_150_477, 629_705_027, 641_392_226, 653_217_190, 665_185_289, 677_302_168, 689_573_764,
    702_006_327, 714_606_447, 727_381_077, 740_337_562, 753_483_667, 766_827_618, 780_378_132, 794_144_462, 808_136_444,
    822_364_543, 836_839_916, 851_574_467, 866_580_925, 881_872_917, 897_465_057, 913_373_047, 929_613_786, 946_205_498,
    963_167_876, 980_522_242, 998_291_739, 1_016_501_540, 1_035_179_098, 1_054_354_428, 1_074_060_444, 1_094_333_337,
    1_115_213_036, 1_136_743_736, 1_158_974_535, 1_181_960_188, 1_205_762_008, 1_230_448_969, 1_256_099_031, 1_282_800_781,
    1_310_655_456, 1_339_779_476, 1_370_307_647, 1_402_397_247, 1_436_233_325, 1_472_035_651, 1_510_067_994, 1_550_650_711,
    1_594_178_204, 1_641_143_658, 1_692_175_072, 1_748_089_375, 1_809_976_753, 1_879_338_008, 1_958_320_800, 2_050_154_765,
    2_160_027_955, 2_297_081_804, 2_479_845_983, 2_756_207_069, 3_348_125_429,
];

/// The code of an activation of the number that `code` stands for, rounded half away from zero to a step of the output and
/// saturated. Sigmoid has steps of 1/256 from -128 on, tanh steps of 1/128 around 0, whatever `output` says.
pub fn code_of(activation: Activation, code: i8, input: QuantParams, output: QuantParams) -> i8 {
    let steps = i32::from(code) - input.zero_point;
    // Nothing is left of a scale that is no positive number.
    let Some(size) = Real::of(input.scale).map(|scale| scale.times(steps.unsigned_abs())) else { return i8::MIN };
    let (size, is_negative) = (size, steps < 0);
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

/// How many steps of 1/256 the logistic function of a number lies above 1/2.
fn logistic_steps(x: Real) -> u32 {
    const FRACTION_BITS: i32 = 29;
    let x = x.scaled(FRACTION_BITS).truncated();
    LOGISTIC_STEPS.iter().take_while(|&&step| step <= x).count() as u32
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
        (libm::round(y / f64::from(scale)) + f64::from(zero_point)).clamp(-128.0, 127.0) as i8
    }

    #[test]
    fn the_steps_of_the_logistic_function_are_logarithms() {
        for (n, step) in (1..=128).zip(LOGISTIC_STEPS) {
            let exact = libm::log((127.5 + f64::from(n)) / (128.5 - f64::from(n))) * 536_870_912.0;
            assert!((exact - f64::from(step)).abs() <= 0.5001, "{n}");
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
