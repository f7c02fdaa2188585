//! Layer normalisation over the channels of each pixel.

/// Two passes over a pixel, so that a mean far from 0 does not cancel the variance: first the mean, then the mean of
/// the squared differences (the population variance).
pub fn layernorm2d(data: &mut [f32], gamma: &[f32], beta: &[f32], eps: f32) {
    let channels = gamma.len();
    if channels == 0 {
        return;
    }
    for pixel in data.chunks_exact_mut(channels) {
        let mut sum = 0.0;
        for x in pixel.iter() {
            sum += x;
        }
        let mean = sum / channels as f32;
        let mut squares = 0.0;
        for x in pixel.iter() {
            squares += (x - mean) * (x - mean);
        }
        let deviation = libm::sqrtf(squares / channels as f32 + eps);
        for c in 0..channels {
            pixel[c] = (pixel[c] - mean) / deviation * gamma[c] + beta[c];
        }
    }
}
