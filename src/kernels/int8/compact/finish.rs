//! From sums to codes.

use super::machine::{Machine, Quick, SIDE};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::requantize::{clamp, multiply_by_quantized_multiplier};

/// Sums that a channel may have to be quick, without its bias.
const MAX_SUM: usize = 1 << 29;

/// What all channels of a layer share.
#[derive(Clone, Copy)]
pub(super) struct Finish<'a> {
    requantize: &'a Requantize<'a>,
    /// Whether sums without their bias stay below [`MAX_SUM`].
    is_small: bool,
}

/// How a channel is requantised.
#[derive(Clone, Copy, Default)]
pub(super) struct Channel {
    quick: Quick,
    /// Whether the shift and all sums are as the quick way needs them.
    is_quick: bool,
}

impl<'a> Finish<'a> {
    /// Of a layer whose sums have `k` products.
    pub(super) fn new(requantize: &'a Requantize<'a>, k: usize) -> Self {
        // 255 * 255: a dense layer may have a weight zero point.
        Self { requantize, is_small: k < MAX_SUM / (255 * 255) }
    }

    /// The channels in their order.
    #[inline(always)]
    pub(super) fn channels(&self) -> impl Iterator<Item = Channel> + use<'a> {
        let (finish, start) = (*self, self.common());
        let scales = self.requantize.multipliers.iter().zip(self.requantize.shifts);
        let all = self.requantize.bias.iter().zip(scales);
        all.map(move |(&bias, (&multiplier, &shift))| finish.with(start, bias, multiplier, shift))
    }

    /// What a channel shares with the others.
    #[inline(always)]
    fn common(&self) -> Quick {
        Quick {
            zero_point: self.requantize.output_zero_point,
            min: self.requantize.min.into(),
            max: self.requantize.max.into(),
            ..Quick::default()
        }
    }

    #[inline(always)]
    fn with(&self, common: Quick, bias: i32, multiplier: i32, shift: i8) -> Channel {
        let right = -i32::from(shift);
        let is_quick = self.is_small && right > 0 && bias.unsigned_abs() < MAX_SUM as u32;
        let half = 1 << ((right - 1) & 31);
        Channel { quick: Quick { bias, multiplier, right, half, ..common }, is_quick }
    }

    /// One of them, where little time depends on it.
    #[inline(never)]
    pub(super) fn channel(&self, index: usize) -> Channel {
        let Requantize { bias, multipliers, shifts, .. } = self.requantize;
        match (bias.get(index), multipliers.get(index), shifts.get(index)) {
            (Some(&bias), Some(&multiplier), Some(&shift)) => self.with(self.common(), bias, multiplier, shift),
            _ => Channel::default(),
        }
    }

    /// [`Self::codes`] where little time depends on it.
    #[inline(never)]
    pub(super) fn write<M: Machine>(&self, channel: &Channel, sums: &[i32], output: &mut [i8], pitch: usize) {
        self.codes::<M>(channel, sums, output, pitch);
    }

    /// Writes the codes of sums, `pitch` apart: [`Requantize::output`].
    #[inline(always)]
    pub(super) fn codes<M: Machine>(&self, channel: &Channel, sums: &[i32], output: &mut [i8], pitch: usize) {
        if channel.is_quick {
            return M::codes(&channel.quick, sums, output, pitch);
        }
        self.slow(channel, sums, output, pitch);
    }

    /// For any shift and any sum.
    #[cold]
    #[inline(never)]
    fn slow(&self, channel: &Channel, sums: &[i32], output: &mut [i8], pitch: usize) {
        let Quick { bias, multiplier, right, .. } = channel.quick;
        for (code, &sum) in output.iter_mut().step_by(pitch.max(1)).zip(sums) {
            let product = multiply_by_quantized_multiplier(sum.wrapping_add(bias), multiplier, -right as i8);
            let shifted = product.saturating_add(self.requantize.output_zero_point);
            *code = clamp(shifted, self.requantize.min, self.requantize.max);
        }
    }

    /// The largest code of four sums.
    #[inline(always)]
    pub(super) fn largest<M: Machine>(&self, channel: &Channel, sums: &[i32; SIDE], output: &mut [i8]) {
        if channel.is_quick {
            // Multipliers are not negative and nothing is shifted to the left: a larger sum has no smaller code.
            let &[a, b, c, d] = sums;
            return M::codes(&channel.quick, &[a.max(b).max(c.max(d))], output, 1);
        }
        let mut codes = [i8::MIN; SIDE];
        self.slow(channel, sums, &mut codes, 1);
        if let Some(code) = output.first_mut() {
            *code = codes.into_iter().fold(i8::MIN, i8::max);
        }
    }
}
