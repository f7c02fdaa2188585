//! CONV_2D.

use super::window::{axes, for_each_pixel};
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::Sliding;

/// int8: sums of products of centred inputs in int32, a factor for each channel, the zero point, a clamp.
pub fn run(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    let (input, weights, output) = (call.tensor(0)?, call.tensor(1)?, call.output());
    let [filters, height, width, channels] = weights.shape[..] else { return None };
    let axes = axes(sliding, (height, width), input)?;
    let area = height * width;
    if !call.is_int8() {
        let (x, kernel, bias) = (call.reals(0)?, weights.real()?, call.real_bias(filters)?);
        let mut y = Vec::with_capacity(output.elements());
        for_each_pixel(axes, |_, taps| {
            for filter in 0..filters {
                let product = |&(tap, pixel): &(usize, usize)| {
                    let row = &kernel[(filter * area + tap) * channels..][..channels];
                    x[pixel * channels..][..channels].iter().zip(row).map(|(x, w)| x * w).sum::<f64>()
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
                let row = &kernel[(filter * area + tap) * channels..][..channels];
                let pairs = x[pixel * channels..][..channels].iter().zip(row);
                pairs.map(|(&x, &w)| (i32::from(x) - zero) * i32::from(w)).fold(0, i32::wrapping_add)
            };
            let sum = taps.iter().map(product).fold(bias[filter], i32::wrapping_add);
            y.push(clamp(factors[filter].times(sum).saturating_add(params.zero_point), range));
        }
    });
    Some(Data::Int8(y))
}
