//! Products of packed weights: two products of i16 at a time, of weights that are widened as they pass.

use core::arch::x86_64::{_mm256_set1_epi32, _mm256_setzero_si256};

use bytemuck::cast;

use super::loops::{add_product, widen};
use crate::kernels::int8::portable::packed::{PackedForm, PackedLoops, Tile, TileSums};
use crate::kernels::int8::portable::staged::{Buffer, Staging, stage};
use crate::kernels::simd::int8::tiles;

/// Packed weights for these products.
pub(super) const PAIRS: PackedLoops = PackedLoops {
    form: &PackedForm::PAIRS,
    elem_bytes: 2,
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the feature.
    stage: |staging, buffer| unsafe { all_rows(staging, buffer) },
    // SAFETY: see above.
    products: |tile, sums| unsafe { all_tiles(tile, sums) },
    finish: None,
};

#[target_feature(enable = "avx2")]
fn all_rows(staging: &Staging<'_>, buffer: &mut Buffer) {
    stage::<i16>(staging, &mut buffer.0);
}

tiles!("avx2", i16, 2, 8, [2], _mm256_setzero_si256, _mm256_set1_epi32, widen, add_product);
