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
//! The shift to the right by `r` that follows differs from channel to channel, and there is no instruction for that. Mostly
//! all `r` of a block are close together ([`Narrow`]), elsewhere a second product does the whole shift ([`Wide`]).

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_adds_epi16, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpgt_epi32,
    _mm_cvtsi32_si128, _mm_max_epi16, _mm_min_epi16, _mm_mul_epu32, _mm_mulhi_epi16, _mm_packs_epi16, _mm_packs_epi32,
    _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_setzero_si128, _mm_shuffle_epi32, _mm_shuffle_ps,
    _mm_sra_epi32, _mm_srai_epi32, _mm_srli_epi64, _mm_sub_epi32,
};

use bytemuck::{Pod, Zeroable, cast, cast_ref};

use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::{BLOCK, STRIP, Sums, Tables};
use crate::kernels::simd::int8::store;

const HIGH_BIT: i32 = i32::MIN;

/// The first element of tables says which form they have: this is [`Wide`] ...
const WIDE: i32 = 0;
/// ... this is [`Narrow`] ...
const NARROW: i32 = 1;
/// ... and so is this, where also [`Requantize::is_plain`].
const NARROW_AND_PLAIN: i32 = 2;

#[inline(never)]
#[target_feature(enable = "sse2")]
pub(super) fn tables(requantize: &Requantize<'_>, first: usize) -> Option<Tables> {
    let channels = Channels::of(requantize, first)?;
    let right = channels.shifts.map(i8::unsigned_abs);
    let (mut least, mut most) = (right[0], right[0]);
    for r in right {
        (least, most) = (least.min(r), most.max(r));
    }
    Some(Tables(if least >= 2 && most - least <= 4 {
        cast(Narrow::new(&channels, requantize, &right, least - 2))
    } else {
        cast(Wide::new(&channels, requantize, &right))
    }))
}

/// Writes the codes of the first `count` pixels.
#[target_feature(enable = "sse2")]
pub(super) fn all_codes(tables: &Tables, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
    match tables.0[0][0] {
        WIDE => cast_ref::<_, Wide>(&tables.0).codes(sums, count, output, pitch),
        form => cast_ref::<_, Narrow>(&tables.0).codes(form == NARROW_AND_PLAIN, sums, count, output, pitch),
    }
}

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
fn power_of_two(exponent: u8) -> u32 {
    POWERS[usize::from(exponent & 31)]
}

/// The end of the way to codes. 16 bits are enough: what saturates there is clamped anyway.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Clamp {
    zero_point: __m128i,
    min: __m128i,
    max: __m128i,
}

impl Clamp {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new(requantize: &Requantize<'_>) -> Self {
        Self {
            zero_point: _mm_set1_epi16(requantize.output_zero_point as i16),
            min: _mm_set1_epi16(i16::from(requantize.min)),
            max: _mm_set1_epi16(i16::from(requantize.max)),
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn apply(&self, scaled: __m128i) -> __m128i {
        let short = _mm_adds_epi16(scaled, self.zero_point);
        _mm_min_epi16(_mm_max_epi16(short, self.min), self.max)
    }
}

/// Shifts close together: a shift by the same `a` for all, with `2 <= r - a <= 6`, leaves numbers that may saturate in 16
/// bits (they are far outside the range of codes then), and a product of 16 bits by a power of two does the rest. Half a
/// unit is added before all that; [`Channels`] has seen to it that the sum fits.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Narrow {
    form: [i32; 4],
    multipliers: Multipliers,
    /// `m - 2^(r - 1)`, and `2^(r - 1)`.
    offset: [__m128i; 2],
    half: [__m128i; 2],
    /// The common shift `a`.
    shift: __m128i,
    /// As i16: `2^(16 - (r - a))`.
    power: __m128i,
    clamp: Clamp,
    unused: [__m128i; 4],
}

impl Narrow {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new(channels: &Channels, requantize: &Requantize<'_>, right: &[u8; BLOCK], shift: u8) -> Self {
        let half: [__m128i; 2] = cast(right.map(|r| power_of_two(r - 1)));
        let power = right.map(|r| power_of_two(16 + shift - r) as i16);
        let multipliers: [__m128i; 2] = cast(channels.multipliers);
        Self {
            form: [if requantize.is_plain() { NARROW_AND_PLAIN } else { NARROW }; 4],
            multipliers: Multipliers::new(channels),
            offset: [_mm_sub_epi32(multipliers[0], half[0]), _mm_sub_epi32(multipliers[1], half[1])],
            half,
            shift: _mm_cvtsi32_si128(i32::from(shift)),
            power: cast(power),
            clamp: Clamp::new(requantize),
            unused: [_mm_setzero_si128(); 4],
        }
    }

    /// Writes the codes of the first `count` pixels.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn codes(&self, is_plain: bool, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
        let mut rest = output;
        for (half, sums) in sums.as_chunks().0.iter().enumerate() {
            let count = count.saturating_sub(4 * half).min(4);
            if count > 0 {
                let codes = if is_plain { self.four_pixels::<true>(sums) } else { self.four_pixels::<false>(sums) };
                store(&codes, count, rest, pitch);
                rest = rest.get_mut(4 * pitch..).unwrap_or_default();
            }
        }
    }

    /// Not a loop, in front of which the compiler would copy all tables to the stack.
    #[inline(never)]
    #[target_feature(enable = "sse2")]
    fn four_pixels<const IS_PLAIN: bool>(&self, sums: &[[i32; BLOCK]; 4]) -> [[i8; BLOCK]; 4] {
        cast([
            _mm_packs_epi16(self.short::<IS_PLAIN>(&sums[0]), self.short::<IS_PLAIN>(&sums[1])),
            _mm_packs_epi16(self.short::<IS_PLAIN>(&sums[2]), self.short::<IS_PLAIN>(&sums[3])),
        ])
    }

    /// Codes as i16.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn short<const IS_PLAIN: bool>(&self, sums: &[i32; BLOCK]) -> __m128i {
        let mut shifted: [__m128i; 2] = cast(*sums);
        for (half, shifted) in shifted.iter_mut().enumerate() {
            let biased = _mm_add_epi32(*shifted, self.multipliers.bias[half]);
            let mut product = in_order(products(biased, self.multipliers.twice[half]));
            product = _mm_sub_epi32(product, self.offset[half]);
            if !IS_PLAIN {
                // Halves round up. Those of negative products must not, so these become one unit less.
                product = _mm_add_epi32(product, _mm_cmpgt_epi32(self.half[half], product));
            }
            *shifted = _mm_sra_epi32(product, self.shift);
        }
        let scaled = _mm_mulhi_epi16(_mm_packs_epi32(shifted[0], shifted[1]), self.power);
        if IS_PLAIN { _mm_adds_epi16(scaled, self.clamp.zero_point) } else { self.clamp.apply(scaled) }
    }
}

/// Any shifts: a second product by `2^(32 - r)`, rounded the same way, does the whole shift.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Wide {
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
    fn new(channels: &Channels, requantize: &Requantize<'_>, right: &[u8; BLOCK]) -> Self {
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
    fn codes(&self, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
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
            let short = self.clamp.apply(_mm_packs_epi32(scaled[0], scaled[1]));
            [*codes, _] = cast(_mm_packs_epi16(short, short));
        }
        store(&strip, count, output, pitch);
    }
}
