//! From sums to codes: [`Requantize::output`] for several channels at once.
//!
//! A vector unit without 64-bit arithmetic shifts still multiplies 32 by 32 unsigned bits. So everything is moved up by
//! 2^31 and kept unsigned: for `u = x + 2^31` and a multiplier `m`
//!
//! ```text
//! (x * m + 2^30) >> 31  =  ((u * m + 2^30) >> 31) - m
//! ```
//!
//! because `2^31 * m` is a multiple of 2^31. The shift to the right is another such product, with a power of two: shifts
//! that differ from lane to lane are slow on most vector units.

use core::array;

use crate::kernels::int8::Requantize;

/// The tables of `N` channels next to each other, read once and applied to many pixels.
pub(super) struct Finish<'a, const N: usize> {
    requantize: &'a Requantize<'a>,
    first: usize,
    /// Channels that exist.
    valid: usize,
    /// Whether `lanes` applies: all channels exist, and no multiplier shifts left.
    is_regular: bool,
    lanes: Lanes<N>,
}

/// Constants of each channel; see [`Lanes::codes`].
struct Lanes<const N: usize> {
    bias: [u32; N],
    multiplier: [u32; N],
    /// `2^(31 - shift)`
    power: [u32; N],
    /// One half of the last place, times `power`: 2^30, or 0 without a shift.
    half: [u32; N],
    /// 1, or 0 without a shift.
    tie: [u32; N],
    zero_point: i16,
    min: i16,
    max: i16,
}

const HIGH_BIT: u32 = 1 << 31;

impl<'a, const N: usize> Finish<'a, N> {
    /// Tables of the channels from `first` on.
    #[inline(always)]
    pub(super) fn new(requantize: &'a Requantize<'a>, first: usize) -> Self {
        let valid = requantize.bias.len().saturating_sub(first).min(N);
        let shifts = lanes::<i8, N>(requantize.shifts, first);
        let right = shifts.map(|shift| u32::from(shift.unsigned_abs() & 31));
        Self {
            requantize,
            first,
            valid,
            is_regular: cfg!(target_arch = "x86_64") && valid == N && shifts.iter().all(|&shift| shift <= 0),
            lanes: Lanes {
                bias: lanes::<i32, N>(requantize.bias, first).map(|bias| bias as u32 ^ HIGH_BIT),
                multiplier: lanes::<i32, N>(requantize.multipliers, first).map(|multiplier| multiplier as u32),
                power: right.map(|right| HIGH_BIT >> right),
                half: right.map(|right| if right == 0 { 0 } else { 1 << 30 }),
                tie: right.map(|right| u32::from(right != 0)),
                zero_point: requantize.output_zero_point as i16,
                min: i16::from(requantize.min),
                max: i16::from(requantize.max),
            },
        }
    }

    /// Writes the codes of pixels that are `pitch` elements apart, the first one at `output[at..]`.
    #[inline(always)]
    pub(super) fn store(&self, sums: &[[i32; N]], output: &mut [i8], at: usize, pitch: usize) {
        let mut rest = output.get_mut(at..).unwrap_or_default();
        for sums in sums {
            match rest.first_chunk_mut() {
                Some(codes) if self.is_regular => self.lanes.codes(sums, codes),
                _ => self.one_by_one(sums, rest),
            }
            rest = rest.get_mut(pitch..).unwrap_or_default();
        }
    }

    /// The same channel by channel.
    #[cold]
    #[inline(never)]
    fn one_by_one(&self, sums: &[i32; N], output: &mut [i8]) {
        for (i, (code, &sum)) in output.iter_mut().zip(sums).take(self.valid).enumerate() {
            *code = self.requantize.output(self.first + i, sum);
        }
    }
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn codes(&self, sums: &[i32; N], codes: &mut [i8; N]) {
        // The biased sum and its product, both plus 2^31. The product is above -2^31, so it stays above 0 here.
        let biased: [u32; N] = array::from_fn(|i| (sums[i] as u32).wrapping_add(self.bias[i]));
        let product: [u32; N] = array::from_fn(|i| {
            let shifted = high_product(biased[i], self.multiplier[i], 1 << 30);
            shifted.wrapping_sub(self.multiplier[i]) ^ HIGH_BIT
        });
        // Halves round up, those of negative products down: they are one unit too low to reach the next multiple.
        let adjusted: [u32; N] = array::from_fn(|i| product[i] - self.tie[i] + (product[i] >> 31 & self.tie[i]));
        let scaled: [i32; N] = array::from_fn(|i| {
            high_product(adjusted[i], self.power[i], self.half[i]).wrapping_sub(self.power[i]) as i32
        });
        let short = scaled.map(|x| x.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16);
        for (code, x) in codes.iter_mut().zip(short) {
            *code = x.saturating_add(self.zero_point).max(self.min).min(self.max) as i8;
        }
    }
}

/// `(a * b + c) >> 31`, which fits 32 bits for `b <= 2^31`.
#[inline(always)]
fn high_product(a: u32, b: u32, c: u32) -> u32 {
    ((u64::from(a) * u64::from(b) + u64::from(c)) >> 31) as u32
}

/// `N` values from `first` on, zero where there is none.
#[inline(always)]
pub(super) fn lanes<T: Copy + Default, const N: usize>(values: &[T], first: usize) -> [T; N] {
    let values = values.get(first..).unwrap_or_default();
    values.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [T::default(); N];
        for (lane, value) in padded.iter_mut().zip(values) {
            *lane = *value;
        }
        padded
    })
}
