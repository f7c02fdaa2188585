//! Requantising a block of channels with signed products of 32 by 32 bits.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_blend_epi16, _mm_cvtsi32_si128, _mm_mul_epi32, _mm_mulhi_epi16,
    _mm_packs_epi16, _mm_packs_epi32, _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_epi64, _mm_sra_epi32,
    _mm_srai_epi32, _mm_srli_epi64,
};

use bytemuck::{Pod, Zeroable, cast, cast_ref};

use super::super::narrow::{Clamp, NARROW, NARROW_AND_PLAIN, WIDE, narrow};
use super::super::sse2::requantize::{Wide, power_of_two};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::{BLOCK, Sums, Tables};
use crate::kernels::simd::int8::store;

narrow!("sse4.1", Factors, scaled);

/// Bias and multipliers, and half a unit of each shift to the right.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Factors {
    bias: [__m128i; 2],
    /// Of channels 0 and 2 of each half, and of channels 1 and 3.
    multipliers: [[__m128i; 2]; 2],
    /// The same of `2^30 + 2^(30 + r)`. [`Channels`] has seen to it that the upper half of the sum fits.
    halves: [[__m128i; 2]; 2],
}

impl Factors {
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn new(channels: &Channels, right: &[u8; BLOCK]) -> Self {
        let multipliers: [__m128i; 2] = cast(channels.multipliers);
        let half = |channel: usize| (1 << 30) + (u64::from(power_of_two(right[channel])) << 30);
        let pair = |channel: usize| cast([half(channel), half(channel + 2)]);
        Self {
            bias: cast(channels.bias),
            multipliers: [
                [multipliers[0], _mm_srli_epi64::<32>(multipliers[0])],
                [multipliers[1], _mm_srli_epi64::<32>(multipliers[1])],
            ],
            halves: [[pair(0), pair(1)], [pair(4), pair(5)]],
        }
    }
}

/// The sums of half a block times their multipliers, plus half a unit of the shift.
#[inline]
#[target_feature(enable = "sse4.1")]
fn scaled<const IS_PLAIN: bool>(factors: &Factors, half: usize, sums: __m128i) -> __m128i {
    let ([even_m, odd_m], [even_half, odd_half]) = (factors.multipliers[half], factors.halves[half]);
    let x = _mm_add_epi32(sums, factors.bias[half]);
    let odd_x = _mm_shuffle_epi32::<0xF5>(x);
    let even = _mm_add_epi64(_mm_mul_epi32(x, even_m), even_half);
    let odd = _mm_add_epi64(_mm_mul_epi32(odd_x, odd_m), odd_half);
    let product = _mm_blend_epi16::<0b1100_1100>(_mm_srli_epi64::<31>(even), _mm_slli_epi64::<1>(odd));
    if IS_PLAIN {
        return product;
    }
    // Halves round up. Those of negative products must not, so these become one unit less. So does the product 0 of a
    // negative sum, but that does not change what it is rounded to.
    _mm_add_epi32(product, _mm_srai_epi32::<31>(x))
}
