//! Depthwise convolution with products of bytes that are added up in fours: four kernel rows of 16 channels at a time.

use core::arch::x86_64::{
    __m512i, __mmask64, _mm_cvtsi32_si128, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8, _mm512_max_epi32 as larger, _mm512_or_si512, _mm512_permutexvar_epi32, _mm512_set1_epi8,
    _mm512_setzero_si512 as zero, _mm512_sll_epi32, _mm512_srl_epi32, _mm512_unpackhi_epi8, _mm512_unpackhi_epi16,
    _mm512_unpacklo_epi8, _mm512_unpacklo_epi16, _mm512_xor_si512,
};

use bytemuck::{Zeroable, cast};

use super::super::depthwise_conv2d::{Columns, Cut, HALF, STRIP, VECTORS, depthwise};
use super::LOOPS;
use super::requantize::{Clamp, Factors, LANES, ORDER};
use crate::kernels::int8::portable::depthwise_packed::{
    LANES as WIDTH, Line, ROWS, lines, pack_channels, packed_lines,
};
use crate::kernels::int8::{DepthwiseConv2d, portable};
use crate::tensor::Window;

/// Vectors that there is room for in each of two memories of 10 KiB.
const ROOM: usize = 160;
/// Fewer channels are masked.
const MIN_CHANNELS: usize = 1;

depthwise!("avx512f,avx512bw,avx512vl,avx512vnni", __m512i);

/// The first channel and the number of channels of a block of up to so many vectors.
fn channels_of_block(first: usize, channels: usize, vectors: usize) -> (usize, usize) {
    (first, (channels - first).min(vectors * LANES))
}

/// The channels that there are, as bytes of a vector.
const fn mask_of(channels: usize) -> __mmask64 {
    u64::MAX >> (LANES * VECTORS - channels)
}

/// What stands for columns outside the input.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn padding(zero_point: i8) -> __m512i {
    _mm512_set1_epi8(zero_point ^ i8::MIN)
}

#[inline]
#[target_feature(enable = "avx512vnni")]
fn add_products(sums: __m512i, staged: __m512i, weights: __m512i) -> __m512i {
    _mm512_dpbusd_epi32(sums, staged, weights)
}

/// Writes the columns of `V` vectors of channels, `pitch` from one vector to the next.
///
/// # Safety
///
/// The channels of all pixels can be read.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn stage_columns<const V: usize>(columns: &Columns<ROWS>, staged: &mut [__m512i], pitch: usize) {
    assert!((V - 1) * pitch + columns.count <= staged.len());
    // SAFETY: 16 elements.
    let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
    let sign = _mm512_set1_epi8(i8::MIN);
    let mask = mask_of(columns.channels);
    let mut rows = columns.rows;
    for column in 0..columns.count {
        let mut x = [sign; ROWS];
        for i in 0..ROWS {
            // SAFETY: the channels of a pixel, and no others.
            let codes = unsafe { _mm512_maskz_loadu_epi8(mask, rows[i]) };
            // Each quarter gets four channels of every vector, so that what alternates in quarters comes out in order.
            x[i] = _mm512_xor_si512(_mm512_permutexvar_epi32(order, codes), sign);
            rows[i] = rows[i].wrapping_add(columns.steps[i]);
        }
        let [a, b, c, d] = x;
        let (ab, cd) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
        let out = staged.as_mut_ptr().wrapping_add(column);
        // SAFETY: the last column of the last vector is inside.
        unsafe {
            *out = _mm512_unpacklo_epi16(ab, cd);
            if V > 1 {
                *out.add(pitch) = _mm512_unpackhi_epi16(ab, cd);
            }
            if V > 2 {
                let (ab, cd) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
                *out.add(2 * pitch) = _mm512_unpacklo_epi16(ab, cd);
                *out.add(3 * pitch) = _mm512_unpackhi_epi16(ab, cd);
            }
        }
    }
}

impl Block {
    /// Writes the weights of a vector for every phase, lower by as many rows; returns what its sums begin with.
    #[target_feature(enable = "avx512f")]
    fn lower(&self, lines: &[Line], _: usize, weights: &mut [__m512i]) -> __m512i {
        let zero = zero();
        let Some((offsets, lines)) = lines.split_first() else { return zero };
        for (phase, weights) in weights.chunks_exact_mut(lines.len()).enumerate() {
            let bits = 8 * (phase * self.window.stride as usize) as i32;
            let (down, up) = (_mm_cvtsi32_si128(bits), _mm_cvtsi32_si128(32 - bits));
            for (at, (weights, line)) in weights.iter_mut().zip(lines).enumerate() {
                let above = match at.checked_sub(self.window.kernel_w as usize) {
                    Some(above) => cast(lines[above]),
                    None => zero,
                };
                *weights = _mm512_or_si512(_mm512_sll_epi32(cast(*line), down), _mm512_srl_epi32(above, up));
            }
        }
        cast(*offsets)
    }

    /// Writes the codes of `count` pixels, with which the output begins.
    ///
    /// # Safety
    ///
    /// The pixels lie in the output.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn finish<const IS_PLAIN: bool>(&self, sums: &[__m512i; STRIP * VECTORS], count: usize, output: &mut [i8]) {
        let (channels, width) = (self.window.in_c as usize, LANES * self.vectors);
        let mask = mask_of(self.count);
        let at_once = VECTORS / self.vectors;
        for (first, sums) in (0..count).step_by(at_once).zip(sums.as_chunks::<VECTORS>().0) {
            let mut scaled = *sums;
            for (scaled, factors) in scaled.iter_mut().zip(&self.factors) {
                *scaled = factors.scaled::<IS_PLAIN>(*scaled);
            }
            let codes = self.clamp.codes::<IS_PLAIN>(scaled);
            for i in 0..at_once.min(count - first) {
                let pixel = output.as_mut_ptr().wrapping_add((first + i) * channels);
                // SAFETY: channels that the pixel has; what is masked is not touched.
                unsafe { _mm512_mask_storeu_epi8(pixel.wrapping_sub(i * width), mask << (i * width), codes) };
            }
        }
    }
}
