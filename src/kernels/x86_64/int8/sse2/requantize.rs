//! Requantising a block of channels with SSE2.
//!
//! There are unsigned products of 32 by 32 bits only. So sums are moved up by 2^31 and kept unsigned: for `u = x + 2^31` and
//! a multiplier `m`
//!
//! ```text
//! (x * m + 2^30) >> 31  =  ((u * 2m + 2^31) >> 32) - m
//! ```
//!
//! because `2^31 * m` is a multiple of 2^31.
//!
//! The shift to the right by `r` that follows differs from channel to channel, and there is no instruction for that: see
//! `narrow.rs`.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpgt_epi32, _mm_cvtsi32_si128,
    _mm_mul_epu32, _mm_mulhi_epi16, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32, _mm_set1_epi64x,
    _mm_setzero_si128, _mm_shuffle_epi32, _mm_shuffle_ps, _mm_sra_epi32, _mm_srai_epi32, _mm_srli_epi64, _mm_sub_epi32,
};

use bytemuck::{Pod, Zeroable, cast, cast_ref};

use super::super::narrow::{Clamp, NARROW, NARROW_AND_PLAIN, WIDE, narrow};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::{BLOCK, STRIP, Sums, Tables};
use crate::kernels::simd::int8::store;

const HIGH_BIT: i32 = i32::MIN;

/// Multipliers for [`products`], and the bias plus 2^31.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Multipliers {
    bias: [__m128i; 2],
    /// Twice the multipliers of channels 0 and 2 of each half, and those of channels 1 and 3.
    twice: [[__m128i; 2]; 2],
}

impl Multipliers {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new(channels: &Channels) -> Self {
        let (mut bias, multipliers): ([__m128i; 2], [__m128i; 2]) = (cast(channels.bias), cast(channels.multipliers));
        let mut twice = [[_mm_setzero_si128(); 2]; 2];
        for half in 0..2 {
            bias[half] = _mm_add_epi32(bias[half], _mm_set1_epi32(HIGH_BIT));
            let doubled = _mm_add_epi32(multipliers[half], multipliers[half]);
            twice[half] = [doubled, _mm_srli_epi64::<32>(doubled)];
        }
        Self { bias, twice }
    }
}

/// `(u * 2m + 2^31) >> 32` of half a block: those of its even channels and of its odd ones, in the upper halves of 64 bits.
#[inline]
#[target_feature(enable = "sse2")]
fn products(u: __m128i, twice: [__m128i; 2]) -> [__m128i; 2] {
    let half = _mm_set1_epi64x(1 << 31);
    [
        _mm_add_epi64(_mm_mul_epu32(u, twice[0]), half),
        _mm_add_epi64(_mm_mul_epu32(_mm_srli_epi64::<32>(u), twice[1]), half),
    ]
}

/// Products of half a block in the order of its channels.
#[inline]
#[target_feature(enable = "sse2")]
fn in_order(products: [__m128i; 2]) -> __m128i {
    let [even, odd] = products;
    let upper = _mm_shuffle_ps::<0b11_01_11_01>(_mm_castsi128_ps(even), _mm_castsi128_ps(odd));
    _mm_shuffle_epi32::<0b11_01_10_00>(_mm_castps_si128(upper))
}

/// Powers of two. Looked up, because the compiler turns several shifts by different amounts into float conversions.
static POWERS: [u32; 32] = {
    let mut powers = [0; 32];
    let mut exponent = 0;
    while exponent < 32 {
        powers[exponent] = 1 << exponent;
        exponent += 1;
    }
    powers
};

/// Two to the power of `exponent`, which is below 32.
pub(in super::super) fn power_of_two(exponent: u8) -> u32 {
    POWERS[usize::from(exponent & 31)]
}

narrow!("sse2", Factors, scaled);

/// Multipliers for [`products`], and half a unit of the shift that follows.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Factors {
    multipliers: Multipliers,
    /// `m - 2^(r - 1)`, and `2^(r - 1)`.
    offset: [__m128i; 2],
    half: [__m128i; 2],
}

impl Factors {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new(channels: &Channels, right: &[u8; BLOCK]) -> Self {
        let half: [__m128i; 2] = cast(right.map(|r| power_of_two(r - 1)));
        let multipliers: [__m128i; 2] = cast(channels.multipliers);
        Self {
            multipliers: Multipliers::new(channels),
            offset: [_mm_sub_epi32(multipliers[0], half[0]), _mm_sub_epi32(multipliers[1], half[1])],
            half,
        }
    }
}

/// The sums of half a block times their multipliers, plus half a unit of the shift.
#[inline]
#[target_feature(enable = "sse2")]
fn scaled<const IS_PLAIN: bool>(factors: &Factors, half: usize, sums: __m128i) -> __m128i {
    let biased = _mm_add_epi32(sums, factors.multipliers.bias[half]);
    let product = in_order(products(biased, factors.multipliers.twice[half]));
    let product = _mm_sub_epi32(product, factors.offset[half]);
    if IS_PLAIN {
        return product;
    }
    // Halves round up. Those of negative products must not, so these become one unit less.
    _mm_add_epi32(product, _mm_cmpgt_epi32(factors.half[half], product))
}

/// Any shifts: a second product by `2^(32 - r)`, rounded the same way, does the whole shift.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(in super::super) struct Wide {
    form: [i32; 4],
    multipliers: Multipliers,
    multiplier: [__m128i; 2],
    /// `2^(32 - r)`, as [`Multipliers`] has its numbers, and `2^(31 - r)`.
    twice_power: [[__m128i; 2]; 2],
    power: [__m128i; 2],
    clamp: Clamp,
    unused: [__m128i; 2],
}

impl Wide {
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(in super::super) fn new(channels: &Channels, requantize: &Requantize<'_>, right: &[u8; BLOCK]) -> Self {
        let power: [__m128i; 2] = cast(right.map(|r| power_of_two(31 - r)));
        let mut twice_power = [[_mm_setzero_si128(); 2]; 2];
        for (twice, power) in twice_power.iter_mut().zip(power) {
            let doubled = _mm_add_epi32(power, power);
            *twice = [doubled, _mm_srli_epi64::<32>(doubled)];
        }
        Self {
            form: [WIDE; 4],
            multipliers: Multipliers::new(channels),
            multiplier: cast(channels.multipliers),
            twice_power,
            power,
            clamp: Clamp::new(requantize),
            unused: [_mm_setzero_si128(); 2],
        }
    }

    /// Writes the codes of the first `count` pixels.
    #[inline(never)]
    #[target_feature(enable = "sse2")]
    pub(in super::super) fn codes(&self, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
        let mut strip = [[0; BLOCK]; STRIP];
        for (codes, sums) in strip.iter_mut().zip(sums).take(count) {
            let mut scaled: [__m128i; 2] = cast(*sums);
            for (half, scaled) in scaled.iter_mut().enumerate() {
                let biased = _mm_add_epi32(*scaled, self.multipliers.bias[half]);
                let product = in_order(products(biased, self.multipliers.twice[half]));
                let product = _mm_sub_epi32(product, self.multiplier[half]);
                // Halves round up. Those of negative products must not, so these become one unit less.
                let product = _mm_add_epi32(product, _mm_srai_epi32::<31>(product));
                let moved = _mm_add_epi32(product, _mm_set1_epi32(HIGH_BIT));
                *scaled = _mm_sub_epi32(in_order(products(moved, self.twice_power[half])), self.power[half]);
            }
            let short = self.clamp.apply::<false>(_mm_packs_epi32(scaled[0], scaled[1]));
            [*codes, _] = cast(_mm_packs_epi16(short, short));
        }
        store(&strip, count, output, pitch);
    }
}
