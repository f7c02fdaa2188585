//! From sums to codes: [`Requantize::output`] for several channels at once.
//!
//! A vector unit without 64-bit arithmetic shifts still multiplies 32 by 32 unsigned bits and takes the upper half. So
//! everything is moved up by 2^31 and kept unsigned: for `u = x + 2^31` and a multiplier `m`
//!
//! ```text
//! (x * m + 2^30) >> 31  =  ((u * 2m + 2^31) >> 32) - m
//! ```
//!
//! because `2^31 * m` is a multiple of 2^31. The shift to the right is another such product, with a power of two: shifts
//! that differ from lane to lane are slow on most vector units.

use core::array;

use super::tile::{BLOCK, InnerLoops};
use crate::kernels::int8::Requantize;

/// The tables of [`BLOCK`] channels next to each other, read once and applied to many pixels.
pub(super) struct Finish<'a> {
    requantize: &'a Requantize<'a>,
    first: usize,
    /// False where fewer channels are left, a multiplier is 1/2 or more, or the target has no vectors.
    is_regular: bool,
    lanes: Lanes,
}

/// Constants of each channel; see [`codes`].
#[derive(Default)]
pub(in crate::kernels) struct Lanes {
    /// The bias, plus 2^31.
    bias: [u32; BLOCK],
    twice_multiplier: [u32; BLOCK],
    /// `2^31 - 1 - multiplier`
    offset: [u32; BLOCK],
    /// `2^(32 - r)` for a shift to the right by r.
    twice_power: [u32; BLOCK],
    /// `2^(31 - r)`
    power: [u32; BLOCK],
    zero_point: i16,
    min: i16,
    max: i16,
}

const HIGH_BIT: u32 = 1 << 31;

impl<'a> Finish<'a> {
    /// Tables of the channels from `first` on, for so many pixels.
    #[inline(always)]
    pub(super) fn new<I: InnerLoops>(requantize: &'a Requantize<'a>, first: usize, pixels: usize) -> Self {
        // The tables cost as much as a few pixels do one by one.
        let mut finish = Self { requantize, first, is_regular: false, lanes: Lanes::default() };
        finish.is_regular = I::HAS_VECTORS && pixels >= 3 && finish.lanes.fill(requantize, first).is_some();
        finish
    }

    /// Writes the codes of pixels that are `pitch` elements apart, the first one at `output[at..]`.
    #[inline(always)]
    pub(super) fn store<I: InnerLoops>(&self, sums: &[[i32; BLOCK]], output: &mut [i8], at: usize, pitch: usize) {
        let output = output.get_mut(at..).unwrap_or_default();
        if self.is_regular {
            I::codes(&self.lanes, sums, output, pitch);
        } else {
            one_by_one(self.requantize, self.first, sums, output, pitch);
        }
    }
}

/// [`codes`] channel by channel, for any requantisation and any number of channels.
#[inline(never)]
fn one_by_one(requantize: &Requantize<'_>, first: usize, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
    let channels = requantize.bias.len().saturating_sub(first);
    for (codes, sums) in output.chunks_mut(pitch.max(1)).zip(sums) {
        for (i, (code, &sum)) in codes.iter_mut().zip(sums).take(channels).enumerate() {
            *code = requantize.output(first + i, sum);
        }
    }
}

impl Lanes {
    #[inline(never)]
    fn fill(&mut self, requantize: &Requantize<'_>, first: usize) -> Option<()> {
        let bias: &[i32; BLOCK] = requantize.bias.get(first..)?.first_chunk()?;
        let multipliers: &[i32; BLOCK] = requantize.multipliers.get(first..)?.first_chunk()?;
        let shifts: &[i8; BLOCK] = requantize.shifts.get(first..)?.first_chunk()?;
        if shifts.iter().any(|shift| !(-31..0).contains(shift)) {
            return None;
        }
        for i in 0..BLOCK {
            let (multiplier, power) = (multipliers[i] as u32, HIGH_BIT >> (shifts[i].unsigned_abs() & 31));
            self.bias[i] = bias[i] as u32 ^ HIGH_BIT;
            self.twice_multiplier[i] = multiplier.wrapping_mul(2);
            self.offset[i] = (HIGH_BIT - 1).wrapping_sub(multiplier);
            self.power[i] = power;
            self.twice_power[i] = 2 * power;
        }
        self.zero_point = requantize.output_zero_point as i16;
        self.min = i16::from(requantize.min);
        self.max = i16::from(requantize.max);
        Some(())
    }
}

/// Writes the codes of a block of channels of pixels that are `pitch` elements apart.
#[inline(always)]
pub(in crate::kernels) fn codes(lanes: &Lanes, sums: &[[i32; BLOCK]], mut output: &mut [i8], pitch: usize) {
    for sums in sums {
        let Some(codes) = output.first_chunk_mut() else { return };
        codes_of_pixel(lanes, sums, codes);
        output = output.get_mut(pitch..).unwrap_or_default();
    }
}

#[inline(always)]
fn codes_of_pixel(lanes: &Lanes, sums: &[i32; BLOCK], codes: &mut [i8; BLOCK]) {
    let biased: [u32; BLOCK] = array::from_fn(|i| (sums[i] as u32).wrapping_add(lanes.bias[i]));
    // The rounded product, plus 2^31 - 1: at least 0, because the product is above -2^31.
    let product: [u32; BLOCK] =
        array::from_fn(|i| rounded_upper_half(biased[i], lanes.twice_multiplier[i]).wrapping_add(lanes.offset[i]));
    // Halves round up. Those of negative products must not, so these stay one unit low; positive ones get it back. So
    // would zero, but one unit less does not change what it is rounded to.
    let adjusted: [u32; BLOCK] = array::from_fn(|i| product[i].wrapping_add(product[i] >> 31));
    let scaled: [i32; BLOCK] =
        array::from_fn(|i| rounded_upper_half(adjusted[i], lanes.twice_power[i]).wrapping_sub(lanes.power[i]) as i32);
    let short = scaled.map(|x| x.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16);
    for (code, x) in codes.iter_mut().zip(short) {
        *code = x.saturating_add(lanes.zero_point).max(lanes.min).min(lanes.max) as i8;
    }
}

/// `(a * b + 2^31) >> 32`; the sum fits 64 bits because `b` is even.
#[inline(always)]
fn rounded_upper_half(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b) + u64::from(HIGH_BIT)) >> 32) as u32
}
