//! CONV_2D.

use super::filters::{self, Tap};
use super::{Call, Data};
use crate::tflite::model::Sliding;

/// A tap adds the products of all channels.
pub fn run(call: &Call<'_, '_>, sliding: &Sliding) -> Option<Data> {
    let [filters, height, width, channels] = call.tensor(1)?.shape[..] else { return None };
    let row = |at: &Tap| (at.filter * height * width + at.tap) * channels;
    let real = |x: &[f64], kernel: &[f64], at: Tap| {
        let row = &kernel[row(&at)..][..channels];
        x[at.pixel * channels..][..channels].iter().zip(row).map(|(x, w)| x * w).sum()
    };
    let code = |(x, zero): (&[i8], i32), kernel: &[i8], at: Tap| {
        let row = &kernel[row(&at)..][..channels];
        let pairs = x[at.pixel * channels..][..channels].iter().zip(row);
        pairs.map(|(&x, &w)| (i32::from(x) - zero) * i32::from(w)).fold(0, i32::wrapping_add)
    };
    filters::run(call, sliding, (height, width), filters, real, code)
}
