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

    /// Finishes the sums of pixels that are `pitch` elements apart, the first one at `output[at..]`.
    #[inline(always)]
    pub(super) fn store(&self, sums: &[[f32; N]], output: &mut [f32], at: usize, pitch: usize) {
        let pixels = output.get_mut(at..).unwrap_or_default().chunks_mut(pitch.max(1)).zip(sums);
        match self.activation {
            Activation::Relu => self.store_with(pixels, relu),
            Activation::LeakyRelu(alpha) => self.store_with(pixels, |x| leaky_relu(x, alpha)),
            Activation::Relu6 => self.store_with(pixels, relu6),
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
            if self.accumulate {
                let held: [f32; N] = lanes(pixel, 0, 0.0);
                values = array::from_fn(|i| values[i] + held[i]);
            }
            values = values.map(&activation);
            match pixel.first_chunk_mut() {
                Some(output) if self.valid == N => *output = values,
                _ => pixel.iter_mut().zip(values).take(self.valid).for_each(|(output, value)| *output = value),
            }
        }
    }
}

/// What sums of scaled weights begin or end with: `bias * scale + shift` of `N` channels from `first` on; anything for
/// channels that there are not.
#[inline(always)]
pub(super) fn offsets<const N: usize>(epilogue: &Epilogue<'_>, first: usize) -> [f32; N] {
    let bias: [f32; N] = lanes(epilogue.bias, first, 0.0);
    let Some((scale, shift)) = epilogue.norm else { return bias };
    let (scale, shift): ([f32; N], [f32; N]) = (lanes(scale, first, 1.0), lanes(shift, first, 0.0));
    array::from_fn(|i| bias[i] * scale[i] + shift[i])
}

/// Applies an activation that needs no exponential.
#[inline(always)]
pub(in crate::kernels) fn activate(values: &mut [f32], activation: Activation) {
    match activation {
        Activation::Relu => values.iter_mut().for_each(|x| *x = relu(*x)),
        Activation::LeakyRelu(alpha) => values.iter_mut().for_each(|x| *x = leaky_relu(*x, alpha)),
        Activation::Relu6 => values.iter_mut().for_each(|x| *x = relu6(*x)),
        Activation::None | Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu => {}
    }
}

/// NaN becomes 0.
#[inline(always)]
pub(super) fn relu(x: f32) -> f32 {
    if x > 0.0 { x } else { 0.0 }
}

#[inline(always)]
pub(super) fn leaky_relu(x: f32, alpha: f32) -> f32 {
    if x > 0.0 { x } else { alpha * x }
}

/// NaN stays NaN.
#[inline(always)]
pub(super) fn relu6(x: f32) -> f32 {
    let x = if x < 0.0 { 0.0 } else { x };
    if x > 6.0 { 6.0 } else { x }
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
