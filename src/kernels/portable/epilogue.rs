//! From accumulators to outputs: bias, batch norm, residual, activation.
//!
//! What a few vector instructions can do happens while the sums are still in registers. The activations that need an
//! exponential run afterwards over whole rows, block by block, while the block is still in the cache.

use core::array;
use core::ops::Range;

use crate::kernels::args::{Activation, Columns, Epilogue};

/// The elementwise activation kernel of a level, for the activations that need an exponential.
pub(super) type Activate = fn(&mut [f32], Activation);

/// The epilogue of `N` output channels next to each other, read once and applied to many pixels.
pub(super) struct Finish<const N: usize> {
    bias: [f32; N],
    scale: [f32; N],
    shift: [f32; N],
    /// Channels that exist; the rest of the lanes is computed and dropped.
    valid: usize,
    accumulate: bool,
    activation: Activation,
}

impl<const N: usize> Finish<N> {
    /// Epilogue of the channels from `first` on, of `channels` in all. Without a norm the sums are scaled by one: cheaper
    /// than a branch.
    #[inline(always)]
    pub(super) fn new(epilogue: &Epilogue<'_>, first: usize, channels: usize) -> Self {
        let (scale, shift) = epilogue.norm.unwrap_or_default();
        Self {
            bias: lanes(epilogue.bias, first, 0.0),
            scale: lanes(scale, first, 1.0),
            shift: lanes(shift, first, 0.0),
            valid: channels.saturating_sub(first).min(N),
            accumulate: epilogue.accumulate,
            activation: epilogue.activation,
        }
    }

    /// Finishes the sums of pixels that are `pitch` elements apart, the first one at `output[at..]`.
    #[inline(always)]
    pub(super) fn store(&self, sums: &[[f32; N]], output: &mut [f32], at: usize, pitch: usize) {
        let pixels = output.get_mut(at..).unwrap_or_default().chunks_mut(pitch.max(1)).zip(sums);
        match self.activation {
            Activation::Relu => self.store_with(pixels, |x| if x > 0.0 { x } else { 0.0 }),
            Activation::LeakyRelu(alpha) => self.store_with(pixels, |x| if x > 0.0 { x } else { alpha * x }),
            Activation::Relu6 => self.store_with(pixels, |x| {
                let x = if x < 0.0 { 0.0 } else { x };
                if x > 6.0 { 6.0 } else { x }
            }),
            Activation::None | Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu => {
                self.store_with(pixels, |x| x);
            }
        }
    }

    #[inline(always)]
    fn store_with<'a>(
        &self,
        pixels: impl Iterator<Item = (&'a mut [f32], &'a [f32; N])>,
        activation: impl Fn(f32) -> f32,
    ) {
        for (pixel, sums) in pixels {
            let mut values: [f32; N] = array::from_fn(|i| (sums[i] + self.bias[i]) * self.scale[i] + self.shift[i]);
            match pixel.first_chunk_mut() {
                Some(output) if self.valid == N => {
                    if self.accumulate {
                        values = array::from_fn(|i| values[i] + output[i]);
                    }
                    *output = values.map(&activation);
                }
                _ => {
                    for (output, value) in pixel.iter_mut().zip(values).take(self.valid) {
                        *output = activation(if self.accumulate { value + *output } else { value });
                    }
                }
            }
        }
    }
}

/// `N` values from `first` on, `fill` where there is none.
#[inline(always)]
pub(super) fn lanes<const N: usize>(values: &[f32], first: usize, fill: f32) -> [f32; N] {
    let values = values.get(first..).unwrap_or_default();
    values.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [fill; N];
        for (lane, value) in padded.iter_mut().zip(values) {
            *lane = *value;
        }
        padded
    })
}

/// Applies the activations that [`Finish`] leaves out to the given pixels of the output, which have `channels` channels.
#[inline(always)]
pub(super) fn activate_pixels(
    epilogue: &Epilogue<'_>,
    columns: Columns,
    channels: usize,
    pixels: Range<usize>,
    output: &mut [f32],
    activate: Activate,
) {
    match epilogue.activation {
        Activation::None | Activation::Relu | Activation::LeakyRelu(_) | Activation::Relu6 => {}
        activation @ (Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu) => {
            let rows = output.get_mut(pixels.start * columns.pitch..pixels.end * columns.pitch).unwrap_or_default();
            if channels == columns.pitch {
                activate(rows, activation);
            } else {
                for row in rows.chunks_mut(columns.pitch.max(1)) {
                    activate(row.get_mut(columns.first..columns.first + channels).unwrap_or_default(), activation);
                }
            }
        }
    }
}
