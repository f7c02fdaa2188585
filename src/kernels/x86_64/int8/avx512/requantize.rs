//! Requantising 16 channels at a time, straight from registers: see [`Requantize::output`].
//!
//! Both roundings are one shift of the 64-bit product, whose half units are added before: [`Channels`] says why that fits.
//!
//! [`Channels`]: crate::kernels::int8::portable::finish::Channels

use core::arch::x86_64::{
    __m512i, _mm_maskz_loadu_epi8, _mm512_add_epi32, _mm512_add_epi64, _mm512_adds_epi16, _mm512_and_si512,
    _mm512_cmpeq_epi32_mask, _mm512_cmpgt_epi32_mask, _mm512_cvtepi8_epi32, _mm512_loadu_si512,
    _mm512_mask_blend_epi32, _mm512_mask_sub_epi32, _mm512_maskz_loadu_epi32, _mm512_max_epi8, _mm512_min_epi8,
    _mm512_mul_epi32, _mm512_packs_epi16, _mm512_packs_epi32, _mm512_permutexvar_epi32, _mm512_set1_epi8,
    _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shuffle_epi32,
    _mm512_slli_epi64, _mm512_sllv_epi32, _mm512_sllv_epi64, _mm512_srai_epi32, _mm512_srav_epi32, _mm512_srav_epi64,
    _mm512_srli_epi64, _mm512_sub_epi32, _mm512_sub_epi64,
};

use bytemuck::{Pod, Zeroable};

use crate::kernels::int8::Requantize;

/// Channels that are finished together.
pub(super) const LANES: usize = 16;

/// What requantising some channels next to each other needs.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Factors {
    /// Of the even channels, and of the odd ones.
    multipliers: [__m512i; 2],
    /// What is added to their products: half a unit of each rounding, `2^30 + 2^(30 + r)` with a second shift by `r`.
    halves: [__m512i; 2],
    /// Where [`Requantize::is_plain`], `31 + r` of the even channels and `r - 1` of the odd ones in 64 bits, which bring
    /// results to the lower half of products and to the upper half. Elsewhere the first is `r` of all channels in 32 bits.
    shifts: [__m512i; 2],
}

impl Factors {
    /// Those of up to 16 channels from `first` on; nothing where a channel does not fit this form.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    pub(super) fn of(requantize: &Requantize<'_>, first: usize) -> Option<Self> {
        let multipliers = requantize.multipliers.get(first..)?;
        let shifts = requantize.shifts.get(first..)?;
        let count = multipliers.len().min(shifts.len()).min(LANES);
        let mask = u16::MAX.checked_shr((LANES - count) as u32).unwrap_or(0);
        // SAFETY: `count` elements of each are there, and no others are read.
        let (multiplier, left) = unsafe {
            (
                _mm512_maskz_loadu_epi32(mask, multipliers.as_ptr()),
                _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(mask, shifts.as_ptr())),
            )
        };
        // A factor of 0 has no shift, but any will do.
        let none = _mm512_cmpeq_epi32_mask(multiplier, _mm512_setzero_si512());
        let shift = _mm512_mask_sub_epi32(_mm512_set1_epi32(1), !none, _mm512_setzero_si512(), left);
        let one = _mm512_set1_epi32(1);
        // Shifts of -31 to -1, and multipliers up to 2^31 - 1 - 2^(r - 1).
        let half = _mm512_sllv_epi32(one, _mm512_sub_epi32(shift, one));
        let most = _mm512_sub_epi32(_mm512_set1_epi32(i32::MAX), half);
        let is_right = _mm512_cmpgt_epi32_mask(shift, _mm512_setzero_si512())
            & !_mm512_cmpgt_epi32_mask(shift, _mm512_set1_epi32(31));
        if (is_right & !_mm512_cmpgt_epi32_mask(multiplier, most)) & mask != mask {
            return None;
        }
        let unit = _mm512_set1_epi64(1 << 30);
        let (even, odd) = (_mm512_and_si512(shift, _mm512_set1_epi64(0xFF)), _mm512_srli_epi64::<32>(shift));
        Some(Self {
            multipliers: [multiplier, _mm512_srli_epi64::<32>(multiplier)],
            halves: [
                _mm512_add_epi64(unit, _mm512_sllv_epi64(unit, even)),
                _mm512_add_epi64(unit, _mm512_sllv_epi64(unit, odd)),
            ],
            shifts: if requantize.is_plain() {
                [_mm512_add_epi64(even, _mm512_set1_epi64(31)), _mm512_sub_epi64(odd, _mm512_set1_epi64(1))]
            } else {
                [shift; 2]
            },
        })
    }

    /// Sums, which include the bias, times the multipliers, rounded twice. Where `IS_PLAIN`, negative results are rounded
    /// in another way: see [`Requantize::is_plain`].
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn scaled<const IS_PLAIN: bool>(&self, sums: __m512i) -> __m512i {
        // Not shifted to the right, because the compiler makes products of 64 bits of that.
        let odd_sums = _mm512_shuffle_epi32::<0xF5>(sums);
        let even = _mm512_add_epi64(_mm512_mul_epi32(sums, self.multipliers[0]), self.halves[0]);
        let odd = _mm512_add_epi64(_mm512_mul_epi32(odd_sums, self.multipliers[1]), self.halves[1]);
        if IS_PLAIN {
            let even = _mm512_srav_epi64(even, self.shifts[0]);
            return _mm512_mask_blend_epi32(ODD, even, _mm512_srav_epi64(odd, self.shifts[1]));
        }
        let product = _mm512_mask_blend_epi32(ODD, _mm512_srli_epi64::<31>(even), _mm512_slli_epi64::<1>(odd));
        // Halves round up. Those of negative products must not, so these become one unit less. So does the product 0 of a
        // negative sum, but that does not change what it is rounded to.
        let product = _mm512_add_epi32(product, _mm512_srai_epi32::<31>(sums));
        _mm512_srav_epi32(product, self.shifts[0])
    }
}

/// The upper halves of lanes of 64 bits.
const ODD: u16 = 0xAAAA;

/// The end of the way to codes: the same for all channels.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Clamp {
    zero_point: __m512i,
    min: __m512i,
    max: __m512i,
}

impl Clamp {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn new(requantize: &Requantize<'_>) -> Self {
        Self {
            zero_point: _mm512_set1_epi16(requantize.output_zero_point as i16),
            min: _mm512_set1_epi8(requantize.min),
            max: _mm512_set1_epi8(requantize.max),
        }
    }

    /// The codes of four vectors of scaled sums, one vector after the other.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn codes<const IS_PLAIN: bool>(&self, scaled: [__m512i; 4]) -> __m512i {
        // 16 bits are enough: what saturates there is clamped anyway.
        let [a, b, c, d] = scaled;
        let ab = _mm512_adds_epi16(_mm512_packs_epi32(a, b), self.zero_point);
        let cd = _mm512_adds_epi16(_mm512_packs_epi32(c, d), self.zero_point);
        // Each quarter of the result has four bytes of every vector.
        // SAFETY: 16 elements are there.
        let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
        let codes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(ab, cd));
        if IS_PLAIN { codes } else { _mm512_min_epi8(_mm512_max_epi8(codes, self.min), self.max) }
    }
}

/// Swaps quarters of a vector and what each has of four vectors.
pub(super) static ORDER: [i32; LANES] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
