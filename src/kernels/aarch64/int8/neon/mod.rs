//! Inner loops with the vectors of every AArch64 that has vectors.
//!
//! Products of i16 are added to sums of 32 bits lane by lane. So where the elements of a vector are pairs, each product has a
//! sum of its own, and the two sums of a pair are added at the end.

mod requantize;

use core::arch::aarch64::{
    int8x8_t, int16x8_t, int32x4_t, vdup_n_s8, vdupq_n_s32, vget_low_s16, vmlal_high_s16, vmlal_s16, vmovl_s8,
    vpaddq_s32, vsubl_s8, vzip1_s8, vzip2_s8,
};

use bytemuck::{cast, cast_mut};

#[cfg(feature = "simd")]
use crate::kernels::Level;
#[cfg(feature = "simd")]
use crate::kernels::int8::Kernels;
use crate::kernels::int8::Requantize;
#[cfg(feature = "simd")]
use crate::kernels::int8::portable;
use crate::kernels::int8::portable::add::{Scale, add_terms};
use crate::kernels::int8::portable::finish::largest;
use crate::kernels::int8::portable::gather::{self, Gather};
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, Pairs, Products, RequantizeLoops, STRIP, Sums, Windows};
use crate::kernels::simd::int8::{dot, inner_loops, masks, stage, taps};
pub(super) use requantize::{all_codes, tables};

/// Rows that are multiplied by a panel at a time: their sums take 16 registers.
const PANEL_ROWS: usize = 4;

/// The NEON level: the portable one has its inner loops already. Must be reached through
/// [`int8::table`](crate::kernels::int8::table) only.
#[cfg(feature = "simd")]
pub(in crate::kernels) static KERNELS: Kernels = Kernels { level: Level::Neon, ..portable::KERNELS };

inner_loops!("neon", 1, None);
dot!("neon", 8, 4, int32x4_t, zero, widen, add_codes, add_up);
stage!("neon", centre, alternate);
taps!("neon", 2, [0, 1], int16x8_t, zero_pairs, add_pairs, add_up_pairs);

#[target_feature(enable = "neon")]
fn all_panel_products(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut Sums) {
    let pairs = panel.len();
    for (rows, all_sums) in input.chunks(PANEL_ROWS * pairs.max(1)).zip(all_sums.as_chunks_mut::<PANEL_ROWS>().0) {
        if rows.len() == PANEL_ROWS * pairs {
            // SAFETY: each of the rows has as many pairs as the panel.
            *all_sums = unsafe { panel_rows(rows, panel) };
        }
    }
}

/// Sums of rows that follow each other over a panel.
///
/// # Safety
///
/// `rows` holds `PANEL_ROWS` times as many pairs as the panel.
#[inline(never)]
#[target_feature(enable = "neon")]
unsafe fn panel_rows(rows: &[[i16; 2]], panel: &[Pairs]) -> [[i32; BLOCK]; PANEL_ROWS] {
    let mut tile = [[zero_pairs(); 2]; PANEL_ROWS];
    for (k, weights) in panel.iter().enumerate() {
        let weights: [int16x8_t; 2] = cast(*weights);
        for (r, sums) in tile.iter_mut().enumerate() {
            // SAFETY: pair `k` of row `r`.
            let x = unsafe { *rows.as_ptr().add(r * panel.len() + k) };
            let x: int16x8_t = cast(vdupq_n_s32(cast(x)));
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = add_pairs(*sum, x, weights);
            }
        }
    }
    let mut sums = [[0; BLOCK]; PANEL_ROWS];
    for (sums, [low, high]) in sums.iter_mut().zip(tile) {
        *sums = cast([add_up_pairs(low), add_up_pairs(high)]);
    }
    sums
}

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> int32x4_t {
    vdupq_n_s32(0)
}

#[inline]
#[target_feature(enable = "neon")]
fn widen(codes: [i8; 8]) -> int16x8_t {
    vmovl_s8(cast(codes))
}

#[inline]
#[target_feature(enable = "neon")]
fn add_codes(sums: int32x4_t, x: [i16; 8], w: int16x8_t) -> int32x4_t {
    let x: int16x8_t = cast(x);
    vmlal_high_s16(vmlal_s16(sums, vget_low_s16(x), vget_low_s16(w)), x, w)
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "neon")]
fn add_up(vectors: [int32x4_t; 4]) -> [i32; 4] {
    let [a, b, c, d] = vectors;
    cast(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)))
}

/// Sums of four pairs: those of their elements are apart.
#[inline]
#[target_feature(enable = "neon")]
fn zero_pairs() -> [int32x4_t; 2] {
    [zero(); 2]
}

#[inline]
#[target_feature(enable = "neon")]
fn add_pairs([low, high]: [int32x4_t; 2], x: int16x8_t, w: int16x8_t) -> [int32x4_t; 2] {
    [vmlal_s16(low, vget_low_s16(x), vget_low_s16(w)), vmlal_high_s16(high, x, w)]
}

#[inline]
#[target_feature(enable = "neon")]
fn add_up_pairs([low, high]: [int32x4_t; 2]) -> [i32; 4] {
    cast(vpaddq_s32(low, high))
}

#[inline]
#[target_feature(enable = "neon")]
fn centre(zero_point: i16) -> int8x8_t {
    vdup_n_s8(zero_point as i8)
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "neon")]
fn alternate(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: int8x8_t) -> Pairs {
    let (upper, lower) = (cast(upper), cast(lower));
    let (low, high) = (vzip1_s8(upper, lower), vzip2_s8(upper, lower));
    cast([vsubl_s8(low, zero_point), vsubl_s8(high, zero_point)])
}
