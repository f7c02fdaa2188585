//! DEPTHWISE_CONV_2D: each channel has kernels of its own, as many as the multiplier says.

use super::window::{axes, for_each_pixel};
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::Sliding;

/// The arithmetic is that of CONV_2D; output channel `c` reads input channel `c / multiplier`.
pub fn run(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    let (input, weights, output) = (call.tensor(0)?, call.tensor(1)?, call.output());
    let [_, height, width, filters] = weights.shape[..] else { return None };
    let channels = *input.shape.last()?;
    let multiplier = filters.checked_div(channels).filter(|multiplier| multiplier * channels == filters)?;
    let axes = axes(sliding, (height, width), input)?;
    if !call.is_int8() {
        let (x, kernel, bias) = (call.reals(0)?, weights.real()?, call.real_bias(filters)?);
        let mut y = Vec::with_capacity(output.elements());
        for_each_pixel(axes, |_, taps| {
            for filter in 0..filters {
                let product = |&(tap, pixel): &(usize, usize)| {
                    x[pixel * channels + filter / multiplier] * kernel[tap * filters + filter]
                };
                y.push(taps.iter().map(product).sum::<f64>() + bias[filter]);
            }
        });
        return y.into_iter().map(|y| activate(sliding.activation, y)).collect::<Option<_>>().map(Data::Real);
    }
    let (x, kernel, bias, factors) = (call.codes(0)?, weights.int8()?, call.bias(filters)?, call.factors(filters)?);
    let (zero, params) = (input.params()?.zero_point, output.params()?);
    let range = range(sliding.activation, params)?;
    let mut y = Vec::with_capacity(output.elements());
    for_each_pixel(axes, |_, taps| {
        for filter in 0..filters {
            let product = |&(tap, pixel): &(usize, usize)| {
                let x = i32::from(x[pixel * channels + filter / multiplier]) - zero;
                x * i32::from(kernel[tap * filters + filter])
            };
            let sum = taps.iter().map(product).fold(bias[filter], i32::wrapping_add);
            y.push(clamp(factors[filter].times(sum).saturating_add(params.zero_point), range));
        }
    });
    Some(Data::Int8(y))
}
