//! Where the engine's int8 arithmetic and that of TensorFlow Lite Micro must be made to agree: clamps, factors and tables.

use netkit::format::quant::QuantParams;

use crate::lower::import::Trouble;
use crate::lower::ir::Activation;
use crate::tflite::interpret::fixed_point::Factor;
use crate::tflite::interpret::range;
use crate::tflite::model::{FusedActivation, Params};

/// Neighbours of a scale that are tried, in both directions.
const TRIED: u32 = 1 << 13;

impl From<Params> for QuantParams {
    fn from(params: Params) -> Self {
        Self { scale: params.scale, zero_point: params.zero_point }
    }
}

/// The activation of a float operator.
pub fn plain(activation: FusedActivation) -> Result<Activation, Trouble> {
    Ok(match activation {
        FusedActivation::None => Activation::None,
        FusedActivation::Relu => Activation::Relu,
        FusedActivation::Relu6 => Activation::Relu6,
        FusedActivation::Unknown => {
            let advice = "use RELU, RELU6 or none";
            return Err(Trouble::advise("another fused activation".into(), "it has no form in a .nk model", advice));
        }
    })
}

/// The activation whose clamp in the engine is that of the operator, with its least and largest code.
///
/// Where several are, it is the simplest that the operator may mean: blocks ask for ReLU, and where codes end at 6 a ReLU6 is
/// one.
pub fn clamp(activation: FusedActivation, output: QuantParams) -> Result<(Activation, (i32, i32)), Trouble> {
    plain(activation)?;
    let params = Params { scale: output.scale, zero_point: output.zero_point };
    let range = range(activation, params).unwrap_or((-128, 127));
    let candidates: &[Activation] = match activation {
        FusedActivation::None => &[Activation::None],
        _ => &[Activation::Relu, Activation::Relu6, Activation::None],
    };
    let found = candidates.iter().find(|&&candidate| clamp_of_engine(candidate, output) == range);
    found.map(|&activation| (activation, range)).ok_or_else(|| {
        let found =
            format!("a clamp to the codes {range:?} at scale {} and zero point {}", params.scale, params.zero_point);
        Trouble::refuse(found, "the engine rounds 6 to another code")
    })
}

fn clamp_of_engine(activation: Activation, output: QuantParams) -> (i32, i32) {
    match activation {
        Activation::Relu => (output.zero_point, 127),
        Activation::Relu6 => {
            let six = (6.0 / f64::from(output.scale)).round() + f64::from(output.zero_point);
            (output.zero_point, six.min(127.0) as i32)
        }
        _ => (-128, 127),
    }
}

/// Scales of an input and of weights that make the engine multiply with exactly this factor: `input`, or a number next to it,
/// and a scale that fits.
pub fn scales(factor: Factor, input: f32, output: f32) -> Option<(f32, f32)> {
    let real = f64::from(factor.multiplier) * 2f64.powi(factor.shift - 31);
    let neighbour = |scale: f32, steps: i64| f32::from_bits((i64::from(scale.to_bits()) + steps) as u32);
    let fits = |input: f32| {
        let weights = (real * f64::from(output) / f64::from(input)) as f32;
        let found = (-1..=1).map(|steps| neighbour(weights, steps)).find(|&weights| {
            weights.is_normal() && Factor::of(f64::from(input) * f64::from(weights) / f64::from(output)) == factor
        });
        Some((input, found?))
    };
    (0..i64::from(TRIED)).flat_map(|steps| [steps, -steps]).find_map(|steps| fits(neighbour(input, steps)))
}

/// A mean as weighted sums: all weights are the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The weight.
    pub weight: i8,
    /// The bias.
    pub bias: i32,
    /// Scale of the input.
    pub input_scale: f32,
    /// Scale of the weights.
    pub weight_scale: f32,
}

/// The sums whose codes are those of a factor for all sums of centred codes from `least` to `most`.
///
/// A factor whose multiplier has all 31 bits is one of the engine. With fewer bits, the operator rounds in larger steps, so that
/// it rounds up earlier. For sums that are never negative a bias does the same; whether it does is tried for every sum.
pub fn mean(factor: Factor, (least, most): (i32, i32), input: f32, output: f32) -> Option<Mean> {
    if let Some((input_scale, weight_scale)) = scales(factor, input, output) {
        return Some(Mean { weight: 1, bias: 0, input_scale, weight_scale });
    }
    if least < 0 || factor.shift >= 0 {
        return None;
    }
    let real = f64::from(factor.multiplier) * 2f64.powi(factor.shift - 31);
    MEAN_WEIGHTS.iter().find_map(|&weight| {
        let finer = Factor::of(real / f64::from(weight));
        let early = 2f64.powi(factor.shift - 1) - 2f64.powi(finer.shift - 1);
        let bias = (f64::from(weight) / real * early).round() as i32;
        let (input_scale, weight_scale) = scales(finer, input, output)?;
        let fits = i64::from(weight) * i64::from(most) + i64::from(bias) <= i64::from(i32::MAX);
        let agrees = |sum: i32| finer.times(i32::from(weight) * sum + bias) == factor.times(sum);
        (fits && (least..=most).all(agrees)).then_some(Mean { weight, bias, input_scale, weight_scale })
    })
}

/// Weights that are tried.
const MEAN_WEIGHTS: [i8; 5] = [64, 127, 100, 32, 16];

/// Whether the engine's table of an activation, computed from real numbers, has the codes that `expected` gives.
pub fn table_agrees(
    input: QuantParams,
    output: QuantParams,
    function: impl Fn(f64) -> f64,
    expected: impl Fn(i8, Params) -> i8,
) -> bool {
    (-128i8..=127).all(|code| {
        let x = f64::from(input.scale) * f64::from(i32::from(code) - input.zero_point);
        let rounded = (function(x) / f64::from(output.scale)).round() + f64::from(output.zero_point);
        let params = Params { scale: input.scale, zero_point: input.zero_point };
        rounded.clamp(-128.0, 127.0) as i8 == expected(code, params)
    })
}
