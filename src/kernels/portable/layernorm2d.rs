//! Layer normalisation over the channels of each pixel.

use super::math;

/// Mean and population variance in two passes, then `(x - mean) * (1 / sqrt(var + eps)) * gamma + beta`.
#[inline(always)]
pub fn layernorm2d(data: &mut [f32], gamma: &[f32], beta: &[f32], eps: f32) {
    if gamma.is_empty() {
        return;
    }
    let channels = gamma.len() as f32;
    for pixel in data.chunks_mut(gamma.len()) {
        let mean = math::sum(pixel, |x| x) / channels;
        let variance = math::sum(pixel, |x| (x - mean) * (x - mean)) / channels;
        let factor = math::inverse_sqrt(variance + eps);
        for ((x, gamma), beta) in pixel.iter_mut().zip(gamma).zip(beta) {
            *x = (*x - mean) * factor * gamma + beta;
        }
    }
}
