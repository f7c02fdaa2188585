//! From sums to codes: [`Requantize::output`] for a block of channels of several pixels.

use super::tile::{BLOCK, InnerLoops, RequantizeLoops, STRIP, Sums, Tables};
use crate::kernels::int8::Requantize;

/// The tables of [`BLOCK`] channels next to each other, read once and applied to many pixels.
pub(super) struct Finish<'a> {
    requantize: &'a Requantize<'a>,
    first: usize,
    /// Nothing where the level has no vector form for these channels.
    tables: Option<(&'static RequantizeLoops, Tables)>,
}

impl<'a> Finish<'a> {
    /// Tables of the channels from `first` on, for so many pixels.
    #[inline(always)]
    pub(super) fn new(loops: &'static InnerLoops, requantize: &'a Requantize<'a>, first: usize, pixels: usize) -> Self {
        let loops = loops.requantize.as_ref().filter(|loops| pixels >= loops.min_pixels);
        let tables = loops.and_then(|loops| Some((loops, (loops.tables)(requantize, first)?)));
        Self { requantize, first, tables }
    }

    /// Writes the codes of the first `count` pixels, which are `pitch` elements apart, the first one at `output[at..]`.
    #[inline(always)]
    pub(super) fn store(&self, sums: &Sums, count: usize, output: &mut [i8], at: usize, pitch: usize) {
        let output = output.get_mut(at..).unwrap_or_default();
        match &self.tables {
            Some((loops, tables)) => (loops.codes)(tables, sums, count, output, pitch),
            None => one_by_one(self.requantize, self.first, sums.get(..count).unwrap_or(sums), output, pitch),
        }
    }

    /// Writes the largest code of each block of four pixels, which become `pitch` elements apart.
    pub(super) fn store_pooled(&self, blocks: &[[&[i32; BLOCK]; 4]], output: &mut [i8], at: usize, pitch: usize) {
        let output = output.get_mut(at..).unwrap_or_default();
        let Some((loops, tables)) = &self.tables else {
            for (block, out) in blocks.iter().zip(output.chunks_mut(pitch.max(1))) {
                largest_one_by_one(self.requantize, self.first, *block, out);
            }
            return;
        };
        // Multipliers are not negative, and nothing is shifted to the left: a larger sum never has a smaller code.
        let mut sums = [[0; BLOCK]; STRIP];
        (loops.largest)(blocks, &mut sums);
        (loops.codes)(tables, &sums, blocks.len(), output, pitch);
    }
}

/// [`Finish::store`] for channels that are not finished again soon.
pub(super) fn store_once(
    loops: &'static InnerLoops,
    requantize: &Requantize<'_>,
    first: usize,
    (sums, count): (&Sums, usize),
    output: &mut [i8],
    pitch: usize,
) {
    let loops = loops.requantize.as_ref().filter(|loops| count >= loops.min_pixels);
    if !loops.is_some_and(|loops| (loops.once)(requantize, first, sums, count, output, pitch)) {
        one_by_one(requantize, first, sums.get(..count).unwrap_or(sums), output, pitch);
    }
}

/// The largest sums of some blocks of four pixels, channel by channel.
#[allow(dead_code, reason = "for loops with vectors")]
#[inline(always)]
pub(in crate::kernels) fn largest(blocks: &[[&[i32; BLOCK]; 4]], sums: &mut Sums) {
    for (sums, [a, b, c, d]) in sums.iter_mut().zip(blocks) {
        for i in 0..BLOCK {
            sums[i] = a[i].max(b[i]).max(c[i].max(d[i]));
        }
    }
}

/// Channel by channel, for any requantisation.
#[inline(never)]
fn largest_one_by_one(requantize: &Requantize<'_>, first: usize, block: [&[i32; BLOCK]; 4], out: &mut [i8]) {
    let channels = requantize.bias.len().saturating_sub(first);
    for (i, code) in out.iter_mut().enumerate().take(channels.min(BLOCK)) {
        let codes = block.map(|sums| requantize.output(first + i, sums[i]));
        *code = codes.into_iter().fold(i8::MIN, i8::max);
    }
}

/// Channel by channel, for any requantisation and any number of channels.
#[inline(never)]
fn one_by_one(requantize: &Requantize<'_>, first: usize, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
    let channels = requantize.bias.len().saturating_sub(first);
    for (codes, sums) in output.chunks_mut(pitch.max(1)).zip(sums) {
        for (i, (code, &sum)) in codes.iter_mut().zip(sums).take(channels).enumerate() {
            *code = requantize.output(first + i, sum);
        }
    }
}

/// What the tables of a block hold, where all its channels exist, all multipliers are below 1/2, and half a unit can be
/// added to any product: for a multiplier `m` and a shift to the right by `r`, products reach from `-m - 1` to `m`, and
/// `m + 2^(r - 1) < 2^31`.
#[allow(dead_code, reason = "for loops with vectors")]
pub(in crate::kernels) struct Channels {
    pub(in crate::kernels) bias: [i32; BLOCK],
    pub(in crate::kernels) multipliers: [i32; BLOCK],
    /// Negative.
    pub(in crate::kernels) shifts: [i8; BLOCK],
}

#[allow(dead_code, reason = "for loops with vectors")]
impl Channels {
    /// The channels from `first` on.
    #[inline(always)]
    pub(in crate::kernels) fn of(requantize: &Requantize<'_>, first: usize) -> Option<Self> {
        let bias = *requantize.bias.get(first..)?.first_chunk()?;
        let multipliers = *requantize.multipliers.get(first..)?.first_chunk()?;
        let shifts: [i8; BLOCK] = *requantize.shifts.get(first..)?.first_chunk()?;
        let is_regular = |(&shift, &multiplier): (&i8, &i32)| {
            (-31..0).contains(&shift) && multiplier <= i32::MAX - (1 << ((-1 - i32::from(shift)) & 31))
        };
        let is_regular = shifts.iter().zip(&multipliers).fold(true, |all, channel| all & is_regular(channel));
        is_regular.then_some(Self { bias, multipliers, shifts })
    }
}
