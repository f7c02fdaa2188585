//! AVERAGE_POOL_2D and MAX_POOL_2D.

use super::window::{axes, for_each_pixel};
use super::{Call, Data, activate, clamp, range};
use crate::tflite::model::Sliding;

/// Mean of what lies on the map. int8: of the codes as they are, halves away from code 0.
pub fn average(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    pool(
        call,
        sliding,
        |values| values.iter().sum::<f64>() / values.len() as f64,
        |codes| {
            let (sum, count) = (codes.iter().map(|&code| i32::from(code)).sum::<i32>(), codes.len() as i32);
            (if sum > 0 { sum + count / 2 } else { sum - count / 2 }) / count
        },
    )
}

/// Largest of what lies on the map.
pub fn largest(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    pool(
        call,
        sliding,
        |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        |codes| codes.iter().copied().max().map_or(-128, i32::from),
    )
}

fn pool(
    call: &Call<'_, '_>,
    sliding: &Sliding,
    of_reals: impl Fn(&[f64]) -> f64,
    of_codes: impl Fn(&[i8]) -> i32,
) -> Option<Data> {
    let axes = axes(sliding, sliding.kernel, call.tensor(0)?)?;
    let channels = *call.tensor(0)?.shape.last()?;
    match call.value(0)? {
        Data::Real(x) => {
            let y = over_windows(x, axes, channels, of_reals);
            y.into_iter().map(|y| activate(sliding.activation, y)).collect::<Option<_>>().map(Data::Real)
        }
        Data::Int8(x) => {
            let range = range(sliding.activation, call.output().params()?)?;
            let y = over_windows(x, axes, channels, of_codes);
            Some(Data::Int8(y.into_iter().map(|code| clamp(code, range)).collect()))
        }
    }
}

/// A function of the elements of each window, channel by channel.
fn over_windows<T: Copy, U>(x: &[T], axes: [super::Axis; 2], channels: usize, of: impl Fn(&[T]) -> U) -> Vec<U> {
    let (mut results, mut elements) = (Vec::new(), Vec::new());
    for_each_pixel(axes, |_, taps| {
        for channel in 0..channels {
            elements.clear();
            elements.extend(taps.iter().map(|&(_, pixel)| x[pixel * channels + channel]));
            results.push(of(&elements));
        }
    });
    results
}
