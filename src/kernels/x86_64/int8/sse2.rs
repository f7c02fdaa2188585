//! Inner loops with the vectors of every x86-64.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_add_epi64, _mm_adds_epi16, _mm_castps_si128, _mm_castsi128_ps, _mm_cvtsi32_si128,
    _mm_cvtsi64_si128, _mm_madd_epi16, _mm_max_epi16, _mm_min_epi16, _mm_mul_epu32, _mm_mulhi_epi16, _mm_or_si128,
    _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi16, _mm_set1_epi32, _mm_set1_epi64x, _mm_setzero_si128,
    _mm_shuffle_epi32, _mm_shuffle_ps, _mm_slli_epi32, _mm_sra_epi32, _mm_srai_epi16, _mm_srai_epi32, _mm_srli_epi32,
    _mm_srli_epi64, _mm_sub_epi16, _mm_sub_epi32, _mm_unpackhi_epi8, _mm_unpackhi_epi32, _mm_unpackhi_epi64,
    _mm_unpacklo_epi8, _mm_unpacklo_epi32, _mm_unpacklo_epi64,
};

use bytemuck::{cast, cast_mut};

use super::masks;
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, Pairs, STRIP, Windows, add_rest, block_at};

/// Rows of a tile over a panel; a strip is two of them.
const PANEL_ROWS: usize = STRIP / 2;

static MASKS: [[i16; 8]; 8] = masks();

/// Vectors of 128 bits.
pub(in crate::kernels) struct Sse2;

impl InnerLoops for Sse2 {
    const HAS_VECTORS: bool = true;
    const MIN_PIXELS: usize = 3;

    #[inline(always)]
    fn dot<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
            dot!(8, MASKS, _mm_setzero_si128, widen, add_codes, add_up, input, weights)
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, weights) }
    }

    #[inline(always)]
    fn outer(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
            let mut rest = input;
            for all_sums in all_sums.as_chunks_mut::<PANEL_ROWS>().0 {
                let mut rows = [rest; PANEL_ROWS];
                for row in &mut rows {
                    let Some((first, others)) = rest.split_at_checked(panel.len()) else { return };
                    (*row, rest) = (first, others);
                }
                let mut sums = [[_mm_setzero_si128(); 2]; PANEL_ROWS];
                for (k, weights) in panel.iter().enumerate() {
                    let weights: [__m128i; 2] = cast(*weights);
                    for r in 0..PANEL_ROWS {
                        let x = _mm_set1_epi32(cast(rows[r][k]));
                        for half in 0..2 {
                            sums[r][half] = add_product(sums[r][half], x, weights[half]);
                        }
                    }
                }
                *all_sums = cast(sums);
            }
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, panel, all_sums) }
    }

    #[inline(always)]
    fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
            let centre = _mm_set1_epi16(i16::from(zero_point));
            for (column, out) in out.iter_mut().enumerate() {
                let upper = block_at(rows[0], column * channels, zero_point);
                let lower = block_at(rows[1], column * channels, zero_point);
                *out = alternate(upper, lower, centre);
            }
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(rows, channels, zero_point, out) }
    }

    #[inline(always)]
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { all_taps(windows, sums) }
    }

    type Tables = Tables;

    #[inline(always)]
    fn tables(requantize: &Requantize<'_>, first: usize) -> Option<Tables> {
        let channels = Channels::of(requantize, first)?;
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        Some(unsafe { Tables::new(&channels, requantize) })
    }

    #[inline(always)]
    fn codes(tables: &Tables, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe {
            if tables.is_narrow {
                codes_narrow(tables, sums, output, pitch);
            } else {
                codes_wide(tables, sums, output, pitch);
            }
        }
    }
}

taps!("sse2", 2, [0, 1], __m128i, _mm_setzero_si128, add_product, lower);

#[inline]
#[target_feature(enable = "sse2")]
fn widen(codes: [i8; 8]) -> __m128i {
    let codes = _mm_cvtsi64_si128(cast(codes));
    _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes))
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_codes(sums: __m128i, x: [i16; 8], w: __m128i) -> __m128i {
    add_product(sums, cast(x), w)
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_product(sums: __m128i, x: __m128i, w: __m128i) -> __m128i {
    _mm_add_epi32(sums, _mm_madd_epi16(x, w))
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "sse2")]
fn add_up(vectors: [__m128i; 4]) -> [i32; 4] {
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

/// The pairs of a kernel that is one row lower: the second of the pairs above, the first of these.
#[inline]
#[target_feature(enable = "sse2")]
fn lower(above: __m128i, pairs: __m128i) -> __m128i {
    _mm_or_si128(_mm_srli_epi32::<16>(above), _mm_slli_epi32::<16>(pairs))
}

/// What requantising a block of channels needs.
///
/// There are unsigned products of 32 by 32 bits only, see [`double_high`]. So everything is moved up by 2^31 and kept
/// unsigned: for `u = x + 2^31` and a multiplier `m`
///
/// ```text
/// (x * m + 2^30) >> 31  =  ((u * 2m + 2^31) >> 32) - m
/// ```
///
/// because `2^31 * m` is a multiple of 2^31.
///
/// The shift to the right by `r` differs from channel to channel, and there is no instruction for that. Mostly all `r` of a
/// block are close together (`is_narrow`): a shift by the same `a` for all, with 2 <= r - a <= 6, leaves numbers that may
/// saturate in 16 bits (they are far outside the range of codes then), and a product of 16 bits by a power of two does the
/// rest. Elsewhere a second product of 32 bits does the whole shift.
pub(in crate::kernels) struct Tables {
    is_narrow: bool,
    /// The bias, plus 2^31.
    bias: [__m128i; 2],
    twice_multiplier: [__m128i; 2],
    /// The multiplier, in the order of [`double_high`].
    multiplier: [__m128i; 2],
    /// Narrow: the common shift `a`.
    shift: __m128i,
    /// Narrow, as i16: `2^(r - a - 1)` and `2^(16 - (r - a))`.
    half: __m128i,
    power: __m128i,
    /// Wide, in the order of [`double_high`]: `2^(32 - r)`; and `2^(31 - r)` in the order of the channels.
    twice_power: [__m128i; 2],
    single_power: [__m128i; 2],
    zero_point: __m128i,
    min: __m128i,
    max: __m128i,
}

/// The channels of a half block in the order of [`double_high`].
const ORDER: [usize; 4] = [0, 2, 1, 3];

impl Tables {
    #[inline(never)]
    #[target_feature(enable = "sse2")]
    fn new(channels: &Channels, requantize: &Requantize<'_>) -> Self {
        let right = channels.shifts.map(i8::unsigned_abs);
        let (mut least, mut most) = (right[0], right[0]);
        for r in right {
            (least, most) = (least.min(r), most.max(r));
        }
        let shift = least.saturating_sub(2);
        let is_narrow = least >= 2 && most - shift <= 6;
        let (mut half, mut power) = ([0i16; BLOCK], [0i16; BLOCK]);
        let (mut twice_power, mut single_power) = ([0u32; BLOCK], [0u32; BLOCK]);
        for i in 0..BLOCK {
            let ordered = i / 4 * 4 + ORDER[i % 4];
            if is_narrow {
                let rest = right[i] - shift;
                half[i] = 1 << ((rest - 1) & 15);
                power[i] = (1u16 << ((16 - rest) & 15)) as i16;
            } else {
                // Shifts to the right: compilers turn several to the left at once into float conversions on SSE2.
                twice_power[i] = 2 * (HIGH_BIT as u32 >> (right[ordered] & 31));
                single_power[i] = HIGH_BIT as u32 >> (right[i] & 31);
            }
        }
        let (bias, multipliers): ([__m128i; 2], [__m128i; 2]) = (cast(channels.bias), cast(channels.multipliers));
        let mut tables = Self {
            is_narrow,
            bias,
            twice_multiplier: multipliers,
            multiplier: multipliers,
            shift: _mm_cvtsi32_si128(i32::from(shift)),
            half: cast(half),
            power: cast(power),
            twice_power: cast(twice_power),
            single_power: cast(single_power),
            zero_point: _mm_set1_epi16(requantize.output_zero_point as i16),
            min: _mm_set1_epi16(i16::from(requantize.min)),
            max: _mm_set1_epi16(i16::from(requantize.max)),
        };
        for i in 0..2 {
            tables.bias[i] = _mm_add_epi32(bias[i], _mm_set1_epi32(HIGH_BIT));
            tables.twice_multiplier[i] = _mm_add_epi32(multipliers[i], multipliers[i]);
            tables.multiplier[i] = _mm_shuffle_epi32::<0b11_01_10_00>(multipliers[i]);
        }
        tables
    }
}

const HIGH_BIT: i32 = i32::MIN;

/// The upper halves of 64-bit lanes, those of `even` first.
#[inline]
#[target_feature(enable = "sse2")]
fn upper_halves(even: __m128i, odd: __m128i) -> __m128i {
    _mm_castps_si128(_mm_shuffle_ps::<0b11_01_11_01>(_mm_castsi128_ps(even), _mm_castsi128_ps(odd)))
}

/// `(a * b + 2^31) >> 32` for an even `b`, all unsigned; lanes 0, 2, 1, 3.
#[inline]
#[target_feature(enable = "sse2")]
fn double_high(a: __m128i, b: __m128i) -> __m128i {
    let half = _mm_set1_epi64x(1 << 31);
    let even = _mm_add_epi64(_mm_mul_epu32(a, b), half);
    let odd = _mm_add_epi64(_mm_mul_epu32(_mm_srli_epi64::<32>(a), _mm_srli_epi64::<32>(b)), half);
    upper_halves(even, odd)
}

/// The rounded products of half a block, in the order of [`double_high`].
#[inline]
#[target_feature(enable = "sse2")]
fn product(tables: &Tables, sums: __m128i, half: usize) -> __m128i {
    let biased = _mm_add_epi32(sums, tables.bias[half]);
    _mm_sub_epi32(double_high(biased, tables.twice_multiplier[half]), tables.multiplier[half])
}

/// Halves round up. Those of negative products must not, so these become one unit less.
#[inline]
#[target_feature(enable = "sse2")]
fn away_from_zero(product: __m128i) -> __m128i {
    _mm_add_epi32(product, _mm_srai_epi32::<31>(product))
}

#[inline(never)]
#[target_feature(enable = "sse2")]
fn codes_narrow(tables: &Tables, sums: &[[i32; BLOCK]], mut output: &mut [i8], pitch: usize) {
    for sums in sums {
        let sums: [__m128i; 2] = cast(*sums);
        let low = _mm_sra_epi32(away_from_zero(product(tables, sums[0], 0)), tables.shift);
        let high = _mm_sra_epi32(away_from_zero(product(tables, sums[1], 1)), tables.shift);
        let short = _mm_packs_epi32(_mm_shuffle_epi32::<0b11_01_10_00>(low), _mm_shuffle_epi32::<0b11_01_10_00>(high));
        let scaled = _mm_mulhi_epi16(_mm_adds_epi16(short, tables.half), tables.power);
        let Some(codes) = output.first_chunk_mut() else { return };
        *codes = clamped(tables, scaled);
        output = output.get_mut(pitch..).unwrap_or_default();
    }
}

#[inline(never)]
#[target_feature(enable = "sse2")]
fn codes_wide(tables: &Tables, sums: &[[i32; BLOCK]], mut output: &mut [i8], pitch: usize) {
    for sums in sums {
        let mut scaled: [__m128i; 2] = cast(*sums);
        for (half, scaled) in scaled.iter_mut().enumerate() {
            let product = away_from_zero(product(tables, *scaled, half));
            let moved = _mm_add_epi32(product, _mm_set1_epi32(HIGH_BIT));
            // The second of two such products restores the order.
            let shifted = double_high(moved, tables.twice_power[half]);
            *scaled = _mm_sub_epi32(shifted, tables.single_power[half]);
        }
        let Some(codes) = output.first_chunk_mut() else { return };
        *codes = clamped(tables, _mm_packs_epi32(scaled[0], scaled[1]));
        output = output.get_mut(pitch..).unwrap_or_default();
    }
}

/// The codes of scaled sums. 16 bits are enough: what saturates there is clamped anyway.
#[inline]
#[target_feature(enable = "sse2")]
fn clamped(tables: &Tables, scaled: __m128i) -> [i8; BLOCK] {
    let short = _mm_adds_epi16(scaled, tables.zero_point);
    let short = _mm_min_epi16(_mm_max_epi16(short, tables.min), tables.max);
    let [codes, _]: [[i8; BLOCK]; 2] = cast(_mm_packs_epi16(short, short));
    codes
}
