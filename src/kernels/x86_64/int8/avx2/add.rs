//! Residual addition with vectors of 256 bits.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_cvtsi32_si128, _mm256_add_epi32 as add_epi32, _mm256_add_epi64 as add_epi64,
    _mm256_adds_epi16 as adds_epi16, _mm256_and_si256 as and, _mm256_blend_epi32, _mm256_madd_epi16 as madd_epi16,
    _mm256_max_epi8 as max_epi8, _mm256_min_epi8 as min_epi8, _mm256_mul_epi32 as mul_epi32,
    _mm256_packs_epi16 as packs_epi16, _mm256_packs_epi32 as packs_epi32, _mm256_set1_epi8 as set1_epi8,
    _mm256_set1_epi16 as set1_epi16, _mm256_set1_epi32 as set1_epi32, _mm256_set1_epi64x as set1_epi64,
    _mm256_setzero_si256 as setzero, _mm256_shuffle_epi32, _mm256_slli_epi16 as slli_epi16,
    _mm256_slli_epi64 as slli_epi64, _mm256_sra_epi32 as sra_epi32, _mm256_srai_epi16 as srai_epi16,
    _mm256_srai_epi32 as srai_epi32, _mm256_srli_epi64 as srli_epi64, _mm256_sub_epi16 as sub_epi16,
    _mm256_unpackhi_epi8 as unpackhi_epi8, _mm256_unpackhi_epi16 as unpackhi_epi16,
    _mm256_unpacklo_epi8 as unpacklo_epi8, _mm256_unpacklo_epi16 as unpacklo_epi16,
};

use bytemuck::cast;

use super::super::add::{Halved, add};
use super::LOOPS;
use crate::kernels::int8::{Add, portable};

add!("avx2", 32, __m256i);

/// The odd lanes in place of the even ones.
#[inline]
#[target_feature(enable = "avx2")]
fn swap_pairs(x: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0xF5>(x)
}

#[inline]
#[target_feature(enable = "avx2")]
fn even_and_odd(even: __m256i, odd: __m256i) -> __m256i {
    _mm256_blend_epi32::<0b1010_1010>(even, odd)
}
