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
    /// Epilogue of the channels from `first` on. Without a norm the sums are scaled by one: cheaper than a branch.
    #[inline(always)]
    pub(super) fn new(epilogue: &Epilogue<'_>, first: usize) -> Self {
        let (scale, shift) = epilogue.norm.unwrap_or_default();
        Self {
            bias: lanes(epilogue.bias, first, 0.0),
            scale: lanes(scale, first, 1.0),
            shift: lanes(shift, first, 0.0),
            valid: epilogue.bias.len().saturating_sub(first).min(N),
            accumulate: epilogue.accumulate,
            activation: epilogue.activation,
        }
    }

    /// Finishes one pixel's sums and writes them to `output[at..]`.
    #[inline(always)]
    pub(super) fn store(&self, sums: &[f32; N], output: &mut [f32], at: usize) {
        let Some(output) = output.get_mut(at..at + self.valid) else { return };
        if let Ok(output) = <&mut [f32; N]>::try_from(&mut *output) {
            *output = self.apply(sums, output);
        } else {
            let present = lanes(output, 0, 0.0);
            let finished = self.apply(sums, &present);
            for (out, value) in output.iter_mut().zip(finished) {
                *out = value;
            }
        }
    }

    #[inline(always)]
    fn apply(&self, sums: &[f32; N], present: &[f32; N]) -> [f32; N] {
        let mut x: [f32; N] = array::from_fn(|i| (sums[i] + self.bias[i]) * self.scale[i] + self.shift[i]);
        if self.accumulate {
            x = array::from_fn(|i| x[i] + present[i]);
        }
        match self.activation {
            Activation::Relu => x.map(|x| if x > 0.0 { x } else { 0.0 }),
            Activation::LeakyRelu(alpha) => x.map(|x| if x > 0.0 { x } else { alpha * x }),
            Activation::Relu6 => x.map(|x| {
                let x = if x < 0.0 { 0.0 } else { x };
                if x > 6.0 { 6.0 } else { x }
            }),
            Activation::None | Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu => x,
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

/// Applies the activations that [`Finish`] leaves out to the given pixels of the output.
#[inline(always)]
pub(super) fn activate_pixels(
    epilogue: &Epilogue<'_>,
    columns: Columns,
    pixels: Range<usize>,
    output: &mut [f32],
    activate: Activate,
) {
    match epilogue.activation {
        Activation::None | Activation::Relu | Activation::LeakyRelu(_) | Activation::Relu6 => {}
        activation @ (Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu) => {
            let channels = epilogue.bias.len();
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
