//! int8 weights and int32 biases of a convolution or dense layer.

use netkit::format::quant::QuantParams;

use crate::form::Linear;

/// Largest magnitude of a weight code: symmetric, so that -w is w with the other sign.
const LARGEST_CODE: f64 = 127.0;
/// Largest magnitude of a bias, which leaves as much again for the products.
const LARGEST_BIAS: f64 = (1u32 << 30) as f64;
/// By how much a scale grows while the sums of a channel can leave 32 bits.
const GROWTH: f64 = 1.125;
/// Two numbers of float32 that are meant to be the same code differ by less.
const SAME_CODE: f64 = 1e-3;
/// Scale of weights that are all 0.
const SCALE_OF_NOTHING: f32 = 1.0 / 127.0;

/// Integers of a linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Codes {
    /// Weights in the order of the linear.
    pub weights: Vec<i8>,
    /// One for each output channel.
    pub bias: Vec<i32>,
    /// Scales of the weights: one for each output channel, or one for all.
    pub scales: Vec<f32>,
}

impl Codes {
    /// The largest scale.
    pub fn largest_scale(&self) -> f32 {
        self.scales.iter().copied().fold(f32::MIN_POSITIVE, f32::max)
    }
}

/// The integers of a linear that reads inputs with these parameters.
pub fn quantize(linear: &Linear, input: QuantParams, per_channel: bool) -> Codes {
    let channels = channels(linear, input);
    let fitting: Vec<Option<f32>> = channels.iter().map(Channel::fitting_scale).collect();
    // A larger scale makes smaller integers, so what fits the most demanding channel fits all.
    let common = fitting.iter().copied().flatten().reduce(f32::max).unwrap_or(SCALE_OF_NOTHING);
    let scales: Vec<f32> = match per_channel {
        true => fitting.into_iter().map(|scale| scale.unwrap_or(common)).collect(),
        false => vec![common],
    };
    codes(&channels, scales)
}

/// The integers of a linear whose weights are multiples of these scales, one for each output channel or one for all;
/// `None` if they are not, or leave int8, or the bias leaves int32.
pub fn with_scales(linear: &Linear, input: QuantParams, scales: &[f32]) -> Option<Codes> {
    if scales.len() != 1 && scales.len() != linear.channels() {
        return None;
    }
    let channels = channels(linear, input);
    let is_multiple = |weight: &f64, scale: f32| {
        let code = weight / f64::from(scale);
        (code - code.round()).abs() < SAME_CODE && (-128.0..=127.0).contains(&code.round())
    };
    let fits = channels.iter().enumerate().all(|(index, channel)| {
        let scale = scales[index.min(scales.len() - 1)];
        channel.weights.iter().all(|weight| is_multiple(weight, scale))
            && i32::try_from(channel.bias_code(scale)).is_ok()
    });
    fits.then(|| codes(&channels, scales.to_vec()))
}

fn channels(linear: &Linear, input: QuantParams) -> Vec<Channel<'_>> {
    linear.rows().zip(&linear.bias).map(|(weights, &bias)| Channel { weights, bias, input }).collect()
}

fn codes(channels: &[Channel<'_>], scales: Vec<f32>) -> Codes {
    let scale_of = |channel: usize| scales[channel.min(scales.len() - 1)];
    let weights = channels.iter().enumerate().flat_map(|(index, channel)| channel.weight_codes(scale_of(index)));
    let bias = channels.iter().enumerate().map(|(index, channel)| channel.bias_code(scale_of(index)) as i32);
    Codes { weights: weights.collect(), bias: bias.collect(), scales }
}

struct Channel<'w> {
    weights: &'w [f64],
    bias: f64,
    input: QuantParams,
}

impl Channel<'_> {
    /// The least scale with which no weight is clipped, the bias fits, and no input makes sums leave 32 bits;
    /// `None` if there is nothing but zeros.
    fn fitting_scale(&self) -> Option<f32> {
        let largest = self.weights.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        let for_bias = self.bias.abs() / (f64::from(self.input.scale) * LARGEST_BIAS);
        let mut scale = (largest / LARGEST_CODE).max(for_bias);
        if scale == 0.0 {
            return None;
        }
        while self.largest_sum(as_scale(scale)) > i64::from(i32::MAX) {
            scale *= GROWTH;
        }
        Some(as_scale(scale))
    }

    /// The largest magnitude that a sum can have for any input.
    fn largest_sum(&self, scale: f32) -> i64 {
        let reach = i64::from((127 - self.input.zero_point).max(self.input.zero_point + 128));
        let weights: i64 = self.weight_codes(scale).map(|code| i64::from(code.unsigned_abs())).sum();
        weights * reach + self.bias_code(scale).abs()
    }

    fn weight_codes(&self, scale: f32) -> impl Iterator<Item = i8> {
        // Scales that were chosen here reach the largest code; those of others may reach -128 too.
        let code = move |weight: &f64| (weight / f64::from(scale)).round().clamp(-128.0, LARGEST_CODE) as i8;
        self.weights.iter().map(code)
    }

    fn bias_code(&self, scale: f32) -> i64 {
        (self.bias / (f64::from(self.input.scale) * f64::from(scale))).round() as i64
    }
}

/// As float32, which is never 0.
fn as_scale(scale: f64) -> f32 {
    (scale as f32).max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use netkit::format::Layer;
    use netkit::format::records::{ActivationCode, Dense};

    use super::*;

    const INPUT: QuantParams = QuantParams { scale: 0.02, zero_point: -128 };

    fn linear(weights: Vec<f64>, bias: Vec<f64>) -> Linear {
        let record = Dense { units: bias.len() as u32, activation: ActivationCode::NONE, alpha: 0.0 };
        let dims = vec![bias.len() as u32, (weights.len() / bias.len()) as u32];
        Linear { role: "", record: Layer::Dense(record), dims, weights, bias }
    }

    #[test]
    fn each_channel_uses_all_codes() {
        let codes = quantize(&linear(vec![1.27, -0.5, 0.001, -0.0127], vec![0.02, 0.0]), INPUT, true);
        assert_eq!(codes.weights, [127, -50, 10, -127]);
        assert_eq!(codes.scales, [0.01, 0.0001]);
        assert_eq!(codes.bias, [100, 0]);
        let codes = quantize(&linear(vec![1.27, -0.5, 0.001, -0.0127], vec![0.02, 0.0]), INPUT, false);
        assert_eq!((codes.weights, codes.scales), (vec![127, -50, 0, -1], vec![0.01]));
    }

    #[test]
    fn a_scale_grows_until_the_bias_fits() {
        let codes = quantize(&linear(vec![1e-9, -1e-9], vec![5.0]), INPUT, true);
        assert!((1 << 29..(1 << 30) + 1000).contains(&codes.bias[0]), "{codes:?}");
        let real = f64::from(codes.bias[0]) * f64::from(INPUT.scale) * f64::from(codes.scales[0]);
        assert!((real - 5.0).abs() < 1e-6, "{real}");
    }

    #[test]
    fn a_scale_grows_until_sums_fit() {
        let many = 100_000;
        let codes = quantize(&linear(vec![0.5; many], vec![0.0]), INPUT, true);
        let sum: i64 = codes.weights.iter().map(|&code| i64::from(code) * 255).sum();
        assert!(sum <= i64::from(i32::MAX) && sum > i64::from(i32::MAX) / 2, "{sum}");
    }

    #[test]
    fn weights_must_be_multiples_of_given_scales() {
        let linear = linear(vec![1.28, -1.28, 0.03, 0.01], vec![0.02, 0.0]);
        let of = |scales: &[f32]| with_scales(&linear, INPUT, scales);
        assert_eq!(of(&[0.01]), None, "128 is no code");
        let codes = of(&[0.02, 0.01]).expect("multiples");
        assert_eq!((codes.weights, codes.bias), (vec![64, -64, 3, 1], vec![50, 0]));
        assert_eq!((of(&[0.02, 0.02]), of(&[0.02, 0.01, 0.01])), (None, None));
        assert_eq!(of(&[1e-9, 0.01]), None);
    }

    #[test]
    fn a_channel_of_nothing_has_the_scale_of_others() {
        assert_eq!(quantize(&linear(vec![0.0; 4], vec![0.0; 2]), INPUT, true).scales, [SCALE_OF_NOTHING; 2]);
        assert_eq!(quantize(&linear(vec![0.0, 1.27], vec![0.0; 2]), INPUT, false).weights, [0, 127]);
        let codes = quantize(&linear(vec![0.0; 4], vec![0.0, 3.0]), INPUT, true);
        assert_eq!(codes.scales[0], codes.scales[1]);
        let real = f64::from(codes.bias[1]) * f64::from(INPUT.scale) * f64::from(codes.scales[1]);
        assert!((real - 3.0).abs() < 1e-6, "{real}");
    }
}
