//! Residual addition with vectors of any length.
//!
//! The multiplier of the term with the larger scale is 1/2, so its product is a shift. That of the other term takes two
//! products of pairs: see [`Scale`]. Codes become 32 bits by unpacking the halves of quarters and return by packing them, so
//! that nothing has to change places.

use crate::kernels::int8::Add;
use crate::kernels::int8::portable::add::{Scale, SumScales};
use crate::kernels::int8::portable::finish::Channels;

/// An addition whose first or second term has the multiplier 1/2.
pub(super) struct Halved {
    /// Whether it is the second one.
    pub(super) is_swapped: bool,
    pub(super) zero_point: i16,
    /// The other term.
    pub(super) scale: Scale,
    pub(super) multiplier: i32,
    /// To the right, not 0.
    pub(super) shift: u8,
}

impl Halved {
    /// Nothing where the addition is not of that form.
    pub(super) fn of(args: &Add<'_>) -> Option<Self> {
        let (own, other) = (Scale::new(args.own)?, Scale::new(args.other_term)?);
        let (halved, scale) = if own.is_half() { (own, other) } else { (other, own) };
        let Channels { multipliers: [multiplier, ..], shifts: [shift, ..], .. } =
            Channels::of(&SumScales::of(args).requantize(args), 0)?;
        let shift = shift.unsigned_abs();
        let is_swapped = !own.is_half();
        halved.is_half().then_some(Self { is_swapped, zero_point: halved.zero_point, scale, multiplier, shift })
    }
}

/// `add` of one instruction set: how it is enabled, and bytes and type of its vectors. Who compiles it has the instructions
/// in scope, without the prefixes of their names, and the inner loops for other additions.
macro_rules! add {
    ($features:literal, $bytes:literal, $vector:ty) => {
        pub(super) fn add(args: &mut Add<'_>) {
            match Halved::of(args) {
                // SAFETY: only the kernels of this level lead here, and they run where the processor was seen to have the
                // features.
                Some(halved) => unsafe { add_halved(args, &halved) },
                None => portable::add::run(args, &LOOPS),
            }
        }

        #[target_feature(enable = $features)]
        fn add_halved(args: &mut Add<'_>, halved: &Halved) {
            let factors = Factors::new(args, halved);
            let (data, rest) = args.data.as_chunks_mut::<$bytes>();
            let (other, other_rest) = args.other.as_chunks::<$bytes>();
            for (data, other) in data.iter_mut().zip(other) {
                *data = cast(factors.codes(cast(*data), cast(*other)));
            }
            let (mut padded, mut other) = ([0; $bytes], [0; $bytes]);
            padded.iter_mut().zip(&*rest).for_each(|(to, code)| *to = *code);
            other.iter_mut().zip(other_rest).for_each(|(to, code)| *to = *code);
            let sums: [i8; $bytes] = cast(factors.codes(cast(padded), cast(other)));
            rest.iter_mut().zip(sums).for_each(|(to, code)| *to = code);
        }

        /// What every vector of codes meets.
        struct Factors {
            is_swapped: bool,
            /// Of the halved term, times 8.
            halved_zero_point: $vector,
            zero_point: $vector,
            /// Parts of the multiplier beside each other: the middle and the high one; the low one and half of its unit.
            high: $vector,
            low: $vector,
            half: $vector,
            is_rounded: $vector,
            right: __m128i,
            multiplier: $vector,
            /// Half a unit of each rounding of the sum.
            halves: $vector,
            shift: __m128i,
            output_zero_point: $vector,
            min: $vector,
            max: $vector,
        }

        impl Factors {
            #[inline]
            #[target_feature(enable = $features)]
            fn new(args: &Add<'_>, halved: &Halved) -> Self {
                let scale = &halved.scale;
                let pair = |low: i16, high: i16| i32::from(low) & 0xFFFF | i32::from(high) << 16;
                Self {
                    is_swapped: halved.is_swapped,
                    halved_zero_point: set1_epi16(8 * halved.zero_point),
                    zero_point: set1_epi16(scale.zero_point),
                    high: set1_epi32(pair(scale.middle, scale.high << 5)),
                    low: set1_epi32(pair(scale.low, 1 << 10)),
                    half: set1_epi32(scale.half),
                    is_rounded: set1_epi32(scale.is_rounded),
                    right: _mm_cvtsi32_si128(scale.right as i32),
                    multiplier: set1_epi32(halved.multiplier),
                    halves: set1_epi64((1 << 30) + (1 << (30 + halved.shift))),
                    shift: _mm_cvtsi32_si128(i32::from(halved.shift)),
                    output_zero_point: set1_epi16(args.output.zero_point as i16),
                    min: set1_epi8(args.min),
                    max: set1_epi8(args.max),
                }
            }

            /// The codes of sums.
            #[inline]
            #[target_feature(enable = $features)]
            fn codes(&self, data: $vector, other: $vector) -> $vector {
                let (halved, other) = if self.is_swapped { (other, data) } else { (data, other) };
                let zero = setzero();
                let shorts = [
                    self.half_of_codes(unpacklo_epi8(zero, halved), unpacklo_epi8(zero, other)),
                    self.half_of_codes(unpackhi_epi8(zero, halved), unpackhi_epi8(zero, other)),
                ];
                min_epi8(max_epi8(packs_epi16(shorts[0], shorts[1]), self.min), self.max)
            }

            /// From codes times 256 to codes of sums in 16 bits: what saturates there is clamped anyway.
            #[inline]
            #[target_feature(enable = $features)]
            fn half_of_codes(&self, halved: $vector, other: $vector) -> $vector {
                let zero = setzero();
                let halved = sub_epi16(srai_epi16::<5>(halved), self.halved_zero_point);
                let other = sub_epi16(srai_epi16::<8>(other), self.zero_point);
                let (shifted, one) = (slli_epi16::<5>(other), set1_epi16(1));
                let low =
                    self.sum(unpacklo_epi16(zero, halved), unpacklo_epi16(other, shifted), unpacklo_epi16(other, one));
                let high =
                    self.sum(unpackhi_epi16(zero, halved), unpackhi_epi16(other, shifted), unpackhi_epi16(other, one));
                adds_epi16(packs_epi32(low, high), self.output_zero_point)
            }

            /// The scaled sum of a halved term, and another one as factors of its multiplier's parts.
            #[inline]
            #[target_feature(enable = $features)]
            fn sum(&self, halved: $vector, with_high: $vector, with_low: $vector) -> $vector {
                let low = srai_epi32::<11>(madd_epi16(with_low, self.low));
                let product = add_epi32(madd_epi16(with_high, self.high), low);
                // Halves away from zero, as in `Scale::apply`.
                let half = add_epi32(and(srai_epi32::<31>(product), self.is_rounded), self.half);
                let sum = add_epi32(halved, sra_epi32(add_epi32(product, half), self.right));
                let even = add_epi64(mul_epi32(sum, self.multiplier), self.halves);
                let odd = add_epi64(mul_epi32(swap_pairs(sum), self.multiplier), self.halves);
                let product = even_and_odd(srli_epi64::<31>(even), slli_epi64::<1>(odd));
                // Halves of negative products, too: see `scaled` of the convolutions.
                sra_epi32(add_epi32(product, srai_epi32::<31>(sum)), self.shift)
            }
        }
    };
}

pub(super) use add;
