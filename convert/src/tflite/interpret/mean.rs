//! MEAN over height and width.

use super::fixed_point::Factor;
use super::{Call, Data, clamp};

/// int8: the sum of centred codes times one factor that divides by their number as well.
pub fn run(call: &Call<'_, '_>) -> Option<Data> {
    let [_, height, width, channels] = call.tensor(0)?.shape[..] else { return None };
    let pixels = height * width;
    if let Data::Real(x) = call.value(0)? {
        let mean = |channel: usize| x.iter().skip(channel).step_by(channels).sum::<f64>() / pixels as f64;
        return Some(Data::Real((0..channels).map(mean).collect()));
    }
    let (x, input, output) = (call.codes(0)?, call.tensor(0)?.params()?, call.output().params()?);
    let factor = factor(input.scale, output.scale, pixels);
    let code = |channel: usize| {
        let sum: i32 = x.iter().skip(channel).step_by(channels).map(|&code| i32::from(code) - input.zero_point).sum();
        clamp(factor.times(sum).saturating_add(output.zero_point), (-128, 127))
    };
    Some(Data::Int8((0..channels).map(code).collect()))
}

/// The ratio of scales divided by the number of elements, in integers, rounded down.
pub fn factor(input: f32, output: f32, elements: usize) -> Factor {
    let ratio = Factor::of(f64::from(input) / f64::from(output));
    let bits = (elements.ilog2() as i32).min(32).min(31 + ratio.shift);
    let multiplier = (i64::from(ratio.multiplier) << bits) / elements as i64;
    Factor { multiplier: multiplier as i32, shift: ratio.shift - bits }
}
