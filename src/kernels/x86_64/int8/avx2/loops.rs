//! Inner loops with vectors of 256 bits.

use core::arch::x86_64::{
    __m256i, _mm_add_epi32, _mm_cvtsi64_si128, _mm_unpacklo_epi8, _mm256_add_epi32, _mm256_add_epi64,
    _mm256_adds_epi16, _mm256_and_si256, _mm256_blend_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
    _mm256_cvtepi8_epi32, _mm256_extracti128_si256, _mm256_hadd_epi32, _mm256_madd_epi16, _mm256_max_epi8,
    _mm256_min_epi8, _mm256_mul_epi32, _mm256_packs_epi16, _mm256_packs_epi32, _mm256_permutevar8x32_epi32,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256,
    _mm256_shuffle_epi32, _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srai_epi32, _mm256_srav_epi32,
    _mm256_srli_epi64, _mm256_sub_epi16, _mm256_sub_epi32,
};

use bytemuck::{Pod, Zeroable, cast, cast_mut, cast_ref};

use super::packed::PAIRS;
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::add::{Scale, add_terms};
use crate::kernels::int8::portable::finish::{Channels, largest};
use crate::kernels::int8::portable::gather::{self, Gather};
use crate::kernels::int8::portable::tile::{
    BLOCK, InnerLoops, Pairs, Products, RequantizeLoops, STRIP, Sums, Tables, Windows,
};
use crate::kernels::simd::int8::{dot, inner_loops, masks, stage, store, taps};

inner_loops!("avx2", 1, Some(PAIRS));
dot!("avx2", 16, 2, __m256i, _mm256_setzero_si256, widen, add_codes, add_up);
stage!("avx2", _mm256_set1_epi16, alternate);
outer!("avx2", add_product);
taps!("avx2", 1, [0], __m256i, _mm256_setzero_si256, add_product, cast);

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn widen(codes: [i8; 16]) -> __m256i {
    _mm256_cvtepi8_epi16(cast(codes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_codes(sums: __m256i, x: [i16; 16], w: __m256i) -> __m256i {
    add_product(sums, cast(x), w)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn add_product(sums: __m256i, x: __m256i, w: __m256i) -> __m256i {
    _mm256_add_epi32(sums, _mm256_madd_epi16(x, w))
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "avx2")]
fn add_up(vectors: [__m256i; 4]) -> [i32; 4] {
    let [a, b, c, d] = vectors;
    let sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    cast(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums)))
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "avx2")]
fn alternate(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: __m256i) -> Pairs {
    let codes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(cast(upper)), _mm_cvtsi64_si128(cast(lower)));
    cast(_mm256_sub_epi16(_mm256_cvtepi8_epi16(codes), zero_point))
}

/// What requantising a block of channels needs: the form of [`Tables`].
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Form {
    bias: __m256i,
    /// Multipliers of the even channels, and of the odd ones.
    multipliers: [__m256i; 2],
    /// What is added to products of the even channels and of the odd ones: half a unit of each of the two shifts to the
    /// right, `2^30 + 2^(30 + r)`. [`Channels`] has seen to it that the upper half of the sum fits.
    halves: [__m256i; 2],
    /// Second shift to the right.
    shift: __m256i,
    zero_point: __m256i,
    min: __m256i,
    max: __m256i,
    /// Not 0 if [`Requantize::is_plain`].
    is_plain: [i32; 8],
}

impl Form {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(channels: &Channels, requantize: &Requantize<'_>) -> Self {
        let left = _mm256_cvtepi8_epi32(_mm_cvtsi64_si128(cast(channels.shifts)));
        let shift = _mm256_sub_epi32(_mm256_setzero_si256(), left);
        let multiplier = cast(channels.multipliers);
        let one = _mm256_set1_epi64x(1 << 30);
        let halves = |shift: __m256i| _mm256_add_epi64(one, _mm256_sllv_epi64(one, shift));
        Self {
            bias: cast(channels.bias),
            multipliers: [multiplier, _mm256_srli_epi64::<32>(multiplier)],
            halves: [halves(_mm256_and_si256(shift, _mm256_set1_epi64x(0xFF))), halves(_mm256_srli_epi64::<32>(shift))],
            shift,
            zero_point: _mm256_set1_epi16(requantize.output_zero_point as i16),
            min: _mm256_set1_epi8(requantize.min),
            max: _mm256_set1_epi8(requantize.max),
            is_plain: [requantize.is_plain().into(); 8],
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn tables(requantize: &Requantize<'_>, first: usize) -> Option<Tables> {
    Channels::of(requantize, first).map(|channels| Tables(cast(Form::new(&channels, requantize))))
}

#[target_feature(enable = "avx2")]
pub(super) fn all_codes(tables: &Tables, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
    let form: &Form = cast_ref(&tables.0);
    let codes =
        if form.is_plain[0] != 0 { codes::<true>(form, sums, count) } else { codes::<false>(form, sums, count) };
    store(&codes, count, output, pitch);
}

/// The sums of a block times their multipliers, rounded twice.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn scaled<const IS_PLAIN: bool>(form: &Form, sums: [i32; BLOCK]) -> __m256i {
    let x = _mm256_add_epi32(cast(sums), form.bias);
    // Not shifted to the right, because the compiler makes products of 64 bits of that.
    let odd_x = _mm256_shuffle_epi32::<0xF5>(x);
    let even = _mm256_add_epi64(_mm256_mul_epi32(x, form.multipliers[0]), form.halves[0]);
    let odd = _mm256_add_epi64(_mm256_mul_epi32(odd_x, form.multipliers[1]), form.halves[1]);
    let mut product = _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<31>(even), _mm256_slli_epi64::<1>(odd));
    if !IS_PLAIN {
        // Halves round up. Those of negative products must not, so these become one unit less. So does the product 0 of a
        // negative sum, but that does not change what it is rounded to.
        product = _mm256_add_epi32(product, _mm256_srai_epi32::<31>(x));
    }
    _mm256_srav_epi32(product, form.shift)
}

/// The codes of a strip.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn codes<const IS_PLAIN: bool>(form: &Form, sums: &Sums, count: usize) -> [[i8; BLOCK]; STRIP] {
    let [a, b, c, d, e, f, g, h] = sums;
    let first = four_pixels::<IS_PLAIN>(form, [a, b, c, d]);
    let second = if count > 4 { four_pixels::<IS_PLAIN>(form, [e, f, g, h]) } else { first };
    cast([first, second])
}

#[inline]
#[target_feature(enable = "avx2")]
fn four_pixels<const IS_PLAIN: bool>(form: &Form, sums: [&[i32; BLOCK]; 4]) -> __m256i {
    // 16 bits are enough: what saturates there is clamped anyway.
    let ab = _mm256_packs_epi32(scaled::<IS_PLAIN>(form, *sums[0]), scaled::<IS_PLAIN>(form, *sums[1]));
    let cd = _mm256_packs_epi32(scaled::<IS_PLAIN>(form, *sums[2]), scaled::<IS_PLAIN>(form, *sums[3]));
    let (ab, cd) = (_mm256_adds_epi16(ab, form.zero_point), _mm256_adds_epi16(cd, form.zero_point));
    // The four bytes of each lane, back to the order of pixels.
    let order = cast([0, 4, 1, 5, 2, 6, 3, 7]);
    let codes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
    if IS_PLAIN { codes } else { _mm256_min_epi8(_mm256_max_epi8(codes, form.min), form.max) }
}
