//! Global response normalisation.

use super::math;
use crate::kernels::Grn;

/// One factor per channel.
pub fn scratch_elems(channels: u32) -> u32 {
    channels
}

/// Squares are added up in f64 like in the reference; channels go in blocks whose sums stay in registers over all
/// pixels.
#[inline(always)]
pub fn grn(args: &mut Grn<'_>) {
    if args.gamma.is_empty() {
        return;
    }
    let channels = args.gamma.len();
    let factors = args.scratch.get_mut(..channels).unwrap_or_default();
    let rest = norms::<16>(args.data, channels, factors, 0);
    let rest = norms::<4>(args.data, channels, rest, channels - rest.len());
    norms::<1>(args.data, channels, rest, channels - rest.len());

    let mean = math::sum(factors, |norm| norm) / channels as f32;
    for factor in factors.iter_mut() {
        *factor /= mean + args.eps;
    }
    for pixel in args.data.chunks_mut(channels) {
        respond(pixel, factors, args.gamma, args.beta);
    }
}

/// Writes the norms of the channels from `first` on, `N` at a time, and returns the places of the last few that do not
/// fill a block.
#[inline(always)]
fn norms<'a, const N: usize>(data: &[f32], channels: usize, norms: &'a mut [f32], first: usize) -> &'a mut [f32] {
    let (blocks, rest) = norms.as_chunks_mut::<N>();
    for (at, block) in blocks.iter_mut().enumerate() {
        let mut squares = [0.0f64; N];
        for pixel in data.get(first + at * N..).unwrap_or_default().chunks(channels) {
            for (sum, &x) in squares.iter_mut().zip(pixel.first_chunk::<N>().unwrap_or(&[0.0; N])) {
                *sum += f64::from(x) * f64::from(x);
            }
        }
        for (norm, sum) in block.iter_mut().zip(squares) {
            *norm = libm::sqrtf(sum as f32);
        }
    }
    rest
}

/// `gamma * (x * factor) + beta + x` for the channels of one pixel.
#[inline(always)]
fn respond(pixel: &mut [f32], factors: &[f32], gamma: &[f32], beta: &[f32]) {
    for (((x, factor), gamma), beta) in pixel.iter_mut().zip(factors).zip(gamma).zip(beta) {
        *x = gamma * (*x * factor) + beta + *x;
    }
}
