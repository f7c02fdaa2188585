//! Requantising a block of channels with vectors of 128 bits, which have no shift of its own for each lane.
//!
//! Mostly all shifts of a block are close together, the form [`narrow!`]; elsewhere a second product does the whole shift,
//! [`Wide`](super::sse2::requantize::Wide).

use core::arch::x86_64::{__m128i, _mm_adds_epi16, _mm_max_epi16, _mm_min_epi16, _mm_set1_epi16};

use bytemuck::{Pod, Zeroable};

use crate::kernels::int8::Requantize;

/// The first element of tables says which form they have: this is `Wide` ...
pub(super) const WIDE: i32 = 0;
/// ... this is `Narrow` ...
pub(super) const NARROW: i32 = 1;
/// ... and so is this, where also [`Requantize::is_plain`].
pub(super) const NARROW_AND_PLAIN: i32 = 2;

/// The end of the way to codes. 16 bits are enough: what saturates there is clamped anyway.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Clamp {
    zero_point: __m128i,
    min: __m128i,
    max: __m128i,
}

impl Clamp {
    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn new(requantize: &Requantize<'_>) -> Self {
        Self {
            zero_point: _mm_set1_epi16(requantize.output_zero_point as i16),
            min: _mm_set1_epi16(i16::from(requantize.min)),
            max: _mm_set1_epi16(i16::from(requantize.max)),
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn apply<const IS_PLAIN: bool>(&self, scaled: __m128i) -> __m128i {
        let short = _mm_adds_epi16(scaled, self.zero_point);
        if IS_PLAIN { short } else { _mm_min_epi16(_mm_max_epi16(short, self.min), self.max) }
    }
}

/// `tables`, `all_codes` and `Narrow` for an instruction set with `$scaled`, the sums of half a block times their
/// multipliers plus half a unit of the shift, and `$Factors`, what that needs for a block.
macro_rules! narrow {
    ($feature:literal, $Factors:ident, $scaled:ident) => {
        #[inline(never)]
        #[target_feature(enable = $feature)]
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
        #[target_feature(enable = $feature)]
        pub(super) fn all_codes(tables: &Tables, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
            match tables.0[0][0] {
                WIDE => cast_ref::<_, Wide>(&tables.0).codes(sums, count, output, pitch),
                form => {
                    cast_ref::<_, Narrow>(&tables.0).codes(form == NARROW_AND_PLAIN, sums, count, output, pitch);
                }
            }
        }

        /// Shifts close together: a shift by the same `a` for all, with `2 <= r - a <= 6`, leaves numbers that may
        /// saturate in 16 bits (they are far outside the range of codes then), and a product of 16 bits by a power of two
        /// does the rest. Half a unit is added before all that; [`Channels`] has seen to it that the sum fits.
        #[derive(Clone, Copy, Pod, Zeroable)]
        #[repr(C)]
        struct Narrow {
            form: [i32; 4],
            factors: $Factors,
            /// The common shift `a`.
            shift: __m128i,
            /// As i16: `2^(16 - (r - a))`.
            power: __m128i,
            clamp: Clamp,
            unused: [__m128i; 4],
        }

        impl Narrow {
            #[inline]
            #[target_feature(enable = $feature)]
            fn new(channels: &Channels, requantize: &Requantize<'_>, right: &[u8; BLOCK], shift: u8) -> Self {
                let power = right.map(|r| power_of_two(16 + shift - r) as i16);
                Self {
                    form: [if requantize.is_plain() { NARROW_AND_PLAIN } else { NARROW }; 4],
                    factors: $Factors::new(channels, right),
                    shift: _mm_cvtsi32_si128(i32::from(shift)),
                    power: cast(power),
                    clamp: Clamp::new(requantize),
                    unused: [_mm_setzero_si128(); 4],
                }
            }

            /// Writes the codes of the first `count` pixels.
            #[inline]
            #[target_feature(enable = $feature)]
            fn codes(&self, is_plain: bool, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
                let mut rest = output;
                for (half, sums) in sums.as_chunks().0.iter().enumerate() {
                    let count = count.saturating_sub(4 * half).min(4);
                    if count > 0 {
                        let codes =
                            if is_plain { self.four_pixels::<true>(sums) } else { self.four_pixels::<false>(sums) };
                        store(&codes, count, rest, pitch);
                        rest = rest.get_mut(4 * pitch..).unwrap_or_default();
                    }
                }
            }

            /// Not a loop, in front of which the compiler would copy all tables to the stack.
            #[inline(never)]
            #[target_feature(enable = $feature)]
            fn four_pixels<const IS_PLAIN: bool>(&self, sums: &[[i32; BLOCK]; 4]) -> [[i8; BLOCK]; 4] {
                cast([
                    _mm_packs_epi16(self.short::<IS_PLAIN>(&sums[0]), self.short::<IS_PLAIN>(&sums[1])),
                    _mm_packs_epi16(self.short::<IS_PLAIN>(&sums[2]), self.short::<IS_PLAIN>(&sums[3])),
                ])
            }

            /// Codes as i16.
            #[inline]
            #[target_feature(enable = $feature)]
            fn short<const IS_PLAIN: bool>(&self, sums: &[i32; BLOCK]) -> __m128i {
                let mut shifted: [__m128i; 2] = cast(*sums);
                for (half, shifted) in shifted.iter_mut().enumerate() {
                    let product = $scaled::<IS_PLAIN>(&self.factors, half, *shifted);
                    *shifted = _mm_sra_epi32(product, self.shift);
                }
                let scaled = _mm_mulhi_epi16(_mm_packs_epi32(shifted[0], shifted[1]), self.power);
                self.clamp.apply::<IS_PLAIN>(scaled)
            }
        }
    };
}

pub(super) use narrow;
