//! Convolutions with `sdot`, which adds four products of i8 to each of four sums of 32 bits: with weights in place, a vector of k of
//! four outputs and four rows at a time. `packed.rs` has those with packed weights.
//!
//! Rows are the codes themselves, where pixels follow each other in the input not even gathered. What their zero point
//! contributes is the same for all pixels: it is subtracted with the sum of the weights,
//! `sum((x - z) * w) = sum(x * w) - z * sum(w)`. In the padding stands the zero point.

use core::arch::aarch64::{int8x16_t, int32x4_t, vandq_s8, vdupq_n_s8, vdupq_n_s32, vpaddq_s32};
use core::arch::asm;

use bytemuck::{cast, cast_slice_mut};

use super::{neon, packed};
use crate::kernels::Level;
use crate::kernels::int8::portable::conv2d::{blocks, has_code_tables, store_sums};
use crate::kernels::int8::portable::gather::{Gather, gather, is_pointwise};
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, STRIP};
use crate::kernels::int8::{Conv2d, Kernels, portable};

/// Elements of a vector.
const LANES: usize = 16;
/// Rows and outputs of a tile.
const TILE: usize = 4;

/// The inner loops of NEON, and packed weights for `sdot`.
const LOOPS: InnerLoops = InnerLoops { packed: Some(packed::QUADS), ..neon::LOOPS };

/// The level with `sdot`. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::NeonDotprod,
    conv2d,
    dense: |args| portable::dense::run(args, conv2d),
    ..portable::KERNELS
};

fn conv2d(args: &mut Conv2d<'_>) {
    let window = args.window;
    let k = window.kernel_h as usize * window.kernel_w as usize * window.in_c as usize;
    let pixels = window.out_h as usize * window.out_w as usize;
    let is_direct = is_pointwise(&window) && !args.pooled;
    // Rows of codes that fit the scratch, in whole blocks if those are pooled.
    let fitting = if is_direct { STRIP } else { (2 * args.scratch.len() / k.max(1)).min(STRIP) };
    let rows = if args.pooled || fitting > TILE { fitting / TILE * TILE } else { fitting };
    let filters = args.filters();
    let is_worth_it = k >= LANES && rows >= pixels.min(2) && filters.are_whole();
    if !is_worth_it
        || !args.packed.is_empty()
        || args.requantize.weight_zero_point != 0
        || has_code_tables(&window, args.pooled)
    {
        return portable::conv2d::run(args, &LOOPS);
    }
    let scratch = cast_slice_mut::<i16, i8>(core::mem::take(&mut args.scratch));
    for start in (0..pixels).step_by(rows.max(1)) {
        let count = rows.min(pixels - start);
        let codes = if is_direct {
            args.input.get(start * k..).unwrap_or_default()
        } else {
            gather(&Gather::new(args, start..start + count, (0, k), k), scratch);
            &*scratch
        };
        for first in blocks::<BLOCK>(0..args.requantize.bias.len()) {
            let products = Products {
                codes,
                len: k,
                zero_point: args.requantize.input_zero_point,
                weights: args.weights.get(first * filters.pitch.filter..).unwrap_or_default(),
                pitch: filters.pitch.filter,
                outputs: BLOCK.min(args.requantize.bias.len() - first),
            };
            let mut sums = [[0; BLOCK]; STRIP];
            products.add_up(sums.get_mut(..count).unwrap_or_default());
            store_sums(args, &LOOPS, &sums, start..start + count, first);
        }
    }
}

/// Products of some rows of codes and of the weights of a block of outputs.
struct Products<'a> {
    /// Rows of `len` codes that follow each other.
    codes: &'a [i8],
    len: usize,
    zero_point: i32,
    /// Weights of the outputs, `pitch` elements apart.
    weights: &'a [i8],
    pitch: usize,
    outputs: usize,
}

impl Products<'_> {
    /// Writes the sums of some rows; those of outputs that do not exist have no meaning.
    fn add_up(&self, sums: &mut [[i32; BLOCK]]) {
        let is_inside = self.len >= LANES
            && self.outputs > 0
            && sums.len() * self.len <= self.codes.len()
            && (self.outputs.min(BLOCK) - 1) * self.pitch + self.len <= self.weights.len();
        if !is_inside {
            return;
        }
        for first in (0..BLOCK).step_by(TILE) {
            for (tile, sums) in sums.chunks_mut(TILE).enumerate() {
                // SAFETY: `conv2d` runs on processors with the feature only; all rows and outputs have been found inside,
                // at least one vector long.
                unsafe {
                    match sums.len() {
                        1 => self.tile::<1>(tile * TILE, first, sums),
                        2 => self.tile::<2>(tile * TILE, first, sums),
                        3 => self.tile::<3>(tile * TILE, first, sums),
                        _ => self.tile::<TILE>(tile * TILE, first, sums),
                    }
                }
            }
        }
    }

    /// The sums of `R` rows from `row` on and of the outputs from `first` on.
    ///
    /// # Safety
    ///
    /// The rows and [`Self::outputs`] are inside, and no shorter than a vector.
    #[inline(never)]
    #[target_feature(enable = "neon,dotprod")]
    unsafe fn tile<const R: usize>(&self, row: usize, first: usize, sums: &mut [[i32; BLOCK]]) {
        let mut codes = [self.codes.as_ptr(); R];
        for (r, codes) in codes.iter_mut().enumerate() {
            // SAFETY: where a row starts.
            *codes = unsafe { codes.add((row + r) * self.len) };
        }
        let mut weights = [self.weights.as_ptr(); TILE];
        for (o, weights) in weights.iter_mut().enumerate() {
            // Past the last output the tile repeats it.
            let output = (first + o).min(self.outputs - 1);
            // SAFETY: where the weights of an output start.
            *weights = unsafe { weights.add(output * self.pitch) };
        }
        let mut tile = Tile::<R>::new();
        let whole = self.len / LANES * LANES;
        for k in (0..whole).step_by(LANES) {
            // SAFETY: a whole vector from `k` on is inside.
            unsafe { tile.add(codes, weights, k, vdupq_n_s8(-1)) };
        }
        if whole < self.len {
            let mask = cast(MASKS[self.len - whole]);
            // SAFETY: there is at least one whole vector; what of the last one has been added already is masked.
            unsafe { tile.add(codes, weights, self.len - LANES, mask) };
        }
        let totals = tile.totals(self.zero_point);
        for (sums, totals) in sums.iter_mut().zip(totals) {
            for (o, total) in totals.into_iter().enumerate() {
                sums[first + o] = total;
            }
        }
    }
}

/// `MASKS[n]` keeps the last `n` lanes.
static MASKS: [[i8; LANES]; LANES] = {
    let mut masks = [[0; LANES]; LANES];
    let mut n = 0;
    while n < LANES {
        let mut lane = LANES - n;
        while lane < LANES {
            masks[n][lane] = -1;
            lane += 1;
        }
        n += 1;
    }
    masks
};

/// Sums of products of `R` rows, and of the weights alone.
struct Tile<const R: usize> {
    products: [[int32x4_t; TILE]; R],
    weights: [int32x4_t; TILE],
}

impl<const R: usize> Tile<R> {
    #[inline]
    #[target_feature(enable = "neon")]
    fn new() -> Self {
        Self { products: [[vdupq_n_s32(0); TILE]; R], weights: [vdupq_n_s32(0); TILE] }
    }

    /// Adds a vector of each row, the codes that the mask keeps.
    ///
    /// # Safety
    ///
    /// A vector from `k` on can be read behind each pointer.
    #[inline]
    #[target_feature(enable = "neon,dotprod")]
    unsafe fn add(&mut self, codes: [*const i8; R], weights: [*const i8; TILE], k: usize, mask: int8x16_t) {
        // SAFETY: the caller's duty.
        let (mut codes, weights) = unsafe { (vectors(codes, k), vectors(weights, k)) };
        for codes in &mut codes {
            *codes = vandq_s8(*codes, mask);
        }
        let ones = vandq_s8(vdupq_n_s8(1), mask);
        for (o, w) in weights.into_iter().enumerate() {
            for (sums, x) in self.products.iter_mut().zip(codes) {
                sums[o] = add_products(sums[o], x, w);
            }
            self.weights[o] = add_products(self.weights[o], ones, w);
        }
    }

    /// The sums of all lanes, without what the zero point contributes.
    #[inline]
    #[target_feature(enable = "neon")]
    fn totals(&self, zero_point: i32) -> [[i32; TILE]; R] {
        let weights = lane_sums(self.weights);
        let mut totals = [[0; TILE]; R];
        for (totals, products) in totals.iter_mut().zip(self.products) {
            for (total, (sum, weight)) in totals.iter_mut().zip(lane_sums(products).into_iter().zip(weights)) {
                *total = sum.wrapping_sub(weight.wrapping_mul(zero_point));
            }
        }
        totals
    }
}

/// A vector of each row, or of the weights of each output, from `k` on.
///
/// # Safety
///
/// It can be read.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn vectors<const N: usize>(starts: [*const i8; N], k: usize) -> [int8x16_t; N] {
    let mut vectors = [vdupq_n_s8(0); N];
    for (vector, start) in vectors.iter_mut().zip(starts) {
        // SAFETY: the caller's duty. Arrays of bytes have no alignment.
        let bytes: [i8; LANES] = unsafe { *start.add(k).cast() };
        *vector = cast(bytes);
    }
    vectors
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "neon")]
fn lane_sums(vectors: [int32x4_t; TILE]) -> [i32; TILE] {
    let [a, b, c, d] = vectors;
    cast(vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d)))
}

/// `sums[i] += x[4 i] * w[4 i] + ... + x[4 i + 3] * w[4 i + 3]`. The intrinsic is not stable yet.
#[inline]
#[target_feature(enable = "neon,dotprod")]
pub(super) fn add_products(mut sums: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t {
    // SAFETY: computes with registers only, with an instruction of the feature.
    unsafe {
        asm!(
            "sdot {sums:v}.4s, {x:v}.16b, {w:v}.16b",
            sums = inout(vreg) sums, x = in(vreg) x, w = in(vreg) w,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sums
}
