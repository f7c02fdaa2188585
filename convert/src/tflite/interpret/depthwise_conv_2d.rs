//! DEPTHWISE_CONV_2D: each channel has kernels of its own, as many as the multiplier says.

use super::filters::{self, Tap};
use super::{Call, Data};
use crate::tflite::model::Sliding;

/// Output channel `c` reads input channel `c / multiplier`.
pub fn run(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    let [_, height, width, filters] = call.tensor(1)?.shape[..] else { return None };
    let channels = *call.tensor(0)?.shape.last()?;
    let multiplier = filters.checked_div(channels).filter(|multiplier| multiplier * channels == filters)?;
    let places = |at: Tap| (at.pixel * channels + at.filter / multiplier, at.tap * filters + at.filter);
    let real = |x: &[f64], kernel: &[f64], at: Tap| {
        let (input, weight) = places(at);
        x[input] * kernel[weight]
    };
    let code = |(x, zero): (&[i8], i32), kernel: &[i8], at: Tap| {
        let (input, weight) = places(at);
        (i32::from(x[input]) - zero) * i32::from(kernel[weight])
    };
    filters::run(call, sliding, (height, width), filters, real, code)
}
