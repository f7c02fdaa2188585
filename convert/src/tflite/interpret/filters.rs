//! What convolutions have in common: each filter adds up products of its taps under a window.

use super::window::{axes, for_each_pixel};
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::Sliding;

/// A tap of a filter: its number, that of the tap in the kernel, and the pixel of the map that it meets.
pub struct Tap {
    pub filter: usize,
    pub tap: usize,
    pub pixel: usize,
}

/// Filters with kernels of `kernel` rows and columns. `real` and `code` tell what a tap adds to the sum, given the input
/// and the weights; codes of the input come with their zero point.
///
/// int8: sums of products of centred inputs in int32, a factor for each channel, the zero point, a clamp.
pub fn run(
    call: &Call<'_, '_>,
    sliding: &Sliding,
    kernel: (usize, usize),
    filters: usize,
    real: impl Fn(&[f64], &[f64], Tap) -> f64,
    code: impl Fn((&[i8], i32), &[i8], Tap) -> i32,
) -> Option<Data> {
    let (input, weights, output) = (call.tensor(0)?, call.tensor(1)?, call.output());
    let axes = axes(sliding, kernel, input)?;
    if !call.is_int8() {
        let (x, weights, bias) = (call.reals(0)?, weights.real()?, call.real_bias(filters)?);
        let mut y = Vec::with_capacity(output.elements());
        for_each_pixel(axes, |_, taps| {
            for (filter, bias) in bias.iter().enumerate() {
                let product = |&(tap, pixel): &(usize, usize)| real(x, &weights, Tap { filter, tap, pixel });
                y.push(taps.iter().map(product).sum::<f64>() + bias);
            }
        });
        return y.into_iter().map(|y| activate(sliding.activation, y)).collect::<Option<_>>().map(Data::Real);
    }
    let (x, weights, bias, factors) = (call.codes(0)?, weights.int8()?, call.bias(filters)?, call.factors(filters)?);
    let (zero, params) = (input.params()?.zero_point, output.params()?);
    let range = range(sliding.activation, params)?;
    let mut y = Vec::with_capacity(output.elements());
    for_each_pixel(axes, |_, taps| {
        for (filter, (&bias, factor)) in bias.iter().zip(&factors).enumerate() {
            let product = |&(tap, pixel): &(usize, usize)| code((x, zero), &weights, Tap { filter, tap, pixel });
            let sum = taps.iter().map(product).fold(bias, i32::wrapping_add);
            y.push(clamp(factor.times(sum).saturating_add(params.zero_point), range));
        }
    });
    Some(Data::Int8(y))
}
