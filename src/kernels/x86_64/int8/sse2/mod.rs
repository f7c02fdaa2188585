//! Inner loops with the vectors of every x86-64.

pub(super) mod requantize;

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_loadu_si128, _mm_madd_epi16, _mm_set1_epi16,
    _mm_setzero_si128, _mm_shuffle_epi32, _mm_srai_epi16, _mm_sub_epi16, _mm_unpackhi_epi8, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
};

use bytemuck::{cast, cast_mut};

use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::add::{Scale, add_terms};
use crate::kernels::int8::portable::finish::largest;
use crate::kernels::int8::portable::gather::{self, Gather};
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, Pairs, Products, RequantizeLoops, STRIP, Sums, Windows};
use crate::kernels::simd::int8::{dot, inner_loops, masks, stage, taps};
use requantize::{all_codes, tables};

/// Rows that are multiplied by a panel at a time.
const PANEL_ROWS: usize = 2;

inner_loops!("sse2", 3, None);
dot!("sse2", 8, 2, __m128i, _mm_setzero_si128, widen, add_codes, add_up);
stage!("sse2", _mm_set1_epi16, alternate);
taps!("sse2", 2, [0, 1], __m128i, _mm_setzero_si128, add_product, cast);

#[target_feature(enable = "sse2")]
pub(super) fn all_panel_products(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut Sums) {
    let pairs = panel.len();
    for (rows, all_sums) in input.chunks(PANEL_ROWS * pairs.max(1)).zip(all_sums.as_chunks_mut::<PANEL_ROWS>().0) {
        if rows.len() == PANEL_ROWS * pairs {
            // SAFETY: each of the rows has as many pairs as the panel.
            *all_sums = unsafe { panel_rows(rows, panel) };
        }
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn widen(codes: [i8; 8]) -> __m128i {
    let codes = _mm_cvtsi64_si128(cast(codes));
    _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes))
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn add_codes(sums: __m128i, x: [i16; 8], w: __m128i) -> __m128i {
    add_product(sums, cast(x), w)
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_product(sums: __m128i, x: __m128i, w: __m128i) -> __m128i {
    _mm_add_epi32(sums, _mm_madd_epi16(x, w))
}

/// Sums of rows that follow each other over a panel.
///
/// # Safety
///
/// `rows` holds `PANEL_ROWS` times as many pairs as the panel.
#[inline]
#[target_feature(enable = "sse2")]
unsafe fn panel_rows(rows: &[[i16; 2]], panel: &[Pairs]) -> [[i32; BLOCK]; PANEL_ROWS] {
    let mut sums = [[_mm_setzero_si128(); 2]; PANEL_ROWS];
    let (fours, rest) = panel.as_chunks::<4>();
    for (k, weights) in fours.iter().enumerate() {
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: four pairs of row `r` from the one `4 * k` on, which the panel has, too.
            let x = unsafe { _mm_loadu_si128(rows.as_ptr().add(r * panel.len() + 4 * k).cast()) };
            add_pair::<0b00_00_00_00>(sums, x, &weights[0]);
            add_pair::<0b01_01_01_01>(sums, x, &weights[1]);
            add_pair::<0b10_10_10_10>(sums, x, &weights[2]);
            add_pair::<0b11_11_11_11>(sums, x, &weights[3]);
        }
    }
    for (k, weights) in rest.iter().enumerate() {
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the same for one pair behind those.
            let x = unsafe { *rows.as_ptr().add(r * panel.len() + 4 * fours.len() + k) };
            add_pair::<0>(sums, _mm_cvtsi32_si128(cast(x)), weights);
        }
    }
    cast(sums)
}

/// Adds the products of one pair of a row, the one that the shuffle picks.
#[inline]
#[target_feature(enable = "sse2")]
fn add_pair<const PICKED: i32>(sums: &mut [__m128i; 2], x: __m128i, weights: &Pairs) {
    let x = _mm_shuffle_epi32::<PICKED>(x);
    let weights: [__m128i; 2] = cast(*weights);
    for (sum, weights) in sums.iter_mut().zip(weights) {
        *sum = add_product(*sum, weights, x);
    }
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn add_up(vectors: [__m128i; 4]) -> [i32; 4] {
    let [a, b, c, d] = vectors;
    let ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    cast(_mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)))
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "sse2")]
fn alternate(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: __m128i) -> Pairs {
    let codes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(cast(upper)), _mm_cvtsi64_si128(cast(lower)));
    let low = _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes));
    let high = _mm_srai_epi16::<8>(_mm_unpackhi_epi8(codes, codes));
    cast([_mm_sub_epi16(low, zero_point), _mm_sub_epi16(high, zero_point)])
}
