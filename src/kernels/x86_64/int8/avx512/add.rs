//! Residual addition with vectors of 512 bits.

use core::arch::x86_64::{
    __m128i, __m512i, _mm_cvtsi32_si128, _mm512_add_epi32 as add_epi32, _mm512_add_epi64 as add_epi64,
    _mm512_adds_epi16 as adds_epi16, _mm512_and_si512 as and, _mm512_madd_epi16 as madd_epi16, _mm512_mask_blend_epi32,
    _mm512_max_epi8 as max_epi8, _mm512_min_epi8 as min_epi8, _mm512_mul_epi32 as mul_epi32,
    _mm512_packs_epi16 as packs_epi16, _mm512_packs_epi32 as packs_epi32, _mm512_set1_epi8 as set1_epi8,
    _mm512_set1_epi16 as set1_epi16, _mm512_set1_epi32 as set1_epi32, _mm512_set1_epi64 as set1_epi64,
    _mm512_setzero_si512 as setzero, _mm512_shuffle_epi32, _mm512_slli_epi16 as slli_epi16,
    _mm512_slli_epi64 as slli_epi64, _mm512_sra_epi32 as sra_epi32, _mm512_srai_epi16 as srai_epi16,
    _mm512_srai_epi32 as srai_epi32, _mm512_srli_epi64 as srli_epi64, _mm512_sub_epi16 as sub_epi16,
    _mm512_unpackhi_epi8 as unpackhi_epi8, _mm512_unpackhi_epi16 as unpackhi_epi16,
    _mm512_unpacklo_epi8 as unpacklo_epi8, _mm512_unpacklo_epi16 as unpacklo_epi16,
};

use bytemuck::cast;

use super::super::add::{Halved, add};
use super::LOOPS;
use crate::kernels::int8::{Add, portable};

add!("avx512f,avx512bw", 64, __m512i);

/// The odd lanes in place of the even ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn swap_pairs(x: __m512i) -> __m512i {
    _mm512_shuffle_epi32::<0xF5>(x)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn even_and_odd(even: __m512i, odd: __m512i) -> __m512i {
    _mm512_mask_blend_epi32(0xAAAA, even, odd)
}
