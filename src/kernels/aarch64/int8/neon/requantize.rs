//! Requantising a block of channels.
//!
//! `sqrdmulh` is the doubling product of the definition: halves up, saturating where both factors are -2^31. `srshl` shifts
//! to the right and rounds halves up; those of negative products must not, so these become one unit less before.

use core::arch::aarch64::{
    int8x8_t, int16x8_t, int32x4_t, vaddq_s32, vcombine_s16, vdup_n_s8, vdupq_n_s16, vdupq_n_s32, vget_low_s16,
    vmax_s8, vmin_s8, vmovl_high_s16, vmovl_s8, vmovl_s16, vqaddq_s16, vqmovn_s16, vqmovn_s32, vqrdmulhq_s32,
    vrshlq_s32, vsraq_n_s32,
};

use bytemuck::{Pod, Zeroable, cast, cast_ref};

use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::{BLOCK, STRIP, Sums, Tables};
use crate::kernels::simd::int8::store;

/// The form of [`Tables`].
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Form {
    bias: [int32x4_t; 2],
    multipliers: [int32x4_t; 2],
    /// Negative.
    shifts: [int32x4_t; 2],
    zero_point: int16x8_t,
    min: int8x8_t,
    max: int8x8_t,
    /// Not 0 if [`Requantize::is_plain`].
    is_plain: [i32; 4],
    unused: [int32x4_t; 11],
}

#[inline]
#[target_feature(enable = "neon")]
pub(in super::super) fn tables(requantize: &Requantize<'_>, first: usize) -> Option<Tables> {
    let channels = Channels::of(requantize, first)?;
    let shifts = vmovl_s8(cast(channels.shifts));
    Some(Tables(cast(Form {
        bias: cast(channels.bias),
        multipliers: cast(channels.multipliers),
        shifts: [vmovl_s16(vget_low_s16(shifts)), vmovl_high_s16(shifts)],
        zero_point: vdupq_n_s16(requantize.output_zero_point as i16),
        min: vdup_n_s8(requantize.min),
        max: vdup_n_s8(requantize.max),
        is_plain: [requantize.is_plain().into(); 4],
        unused: [vdupq_n_s32(0); 11],
    })))
}

/// Writes the codes of the first `count` pixels.
#[target_feature(enable = "neon")]
pub(in super::super) fn all_codes(tables: &Tables, sums: &Sums, count: usize, output: &mut [i8], pitch: usize) {
    let form: &Form = cast_ref(&tables.0);
    let codes =
        if form.is_plain[0] != 0 { codes::<true>(form, sums, count) } else { codes::<false>(form, sums, count) };
    store(&codes, count, output, pitch);
}

/// The codes of a strip.
#[inline(never)]
#[target_feature(enable = "neon")]
fn codes<const IS_PLAIN: bool>(form: &Form, sums: &Sums, count: usize) -> [[i8; BLOCK]; STRIP] {
    let mut codes = [[0; BLOCK]; STRIP];
    for (codes, sums) in codes.iter_mut().zip(sums).take(count) {
        let [low, high] = cast(*sums);
        let low = vqmovn_s32(scaled::<IS_PLAIN>(form, 0, low));
        let high = vqmovn_s32(scaled::<IS_PLAIN>(form, 1, high));
        // 16 bits are enough: what saturates there is clamped anyway.
        let short = vqmovn_s16(vqaddq_s16(vcombine_s16(low, high), form.zero_point));
        *codes = cast(if IS_PLAIN { short } else { vmin_s8(vmax_s8(short, form.min), form.max) });
    }
    codes
}

/// The sums of half a block times their multipliers, rounded twice.
#[inline]
#[target_feature(enable = "neon")]
fn scaled<const IS_PLAIN: bool>(form: &Form, half: usize, sums: int32x4_t) -> int32x4_t {
    let product = vqrdmulhq_s32(vaddq_s32(sums, form.bias[half]), form.multipliers[half]);
    if IS_PLAIN {
        return vrshlq_s32(product, form.shifts[half]);
    }
    vrshlq_s32(vsraq_n_s32::<31>(product, product), form.shifts[half])
}
