//! Products of packed weights: two products of i16 at a time, of weights that are widened as they pass.

use core::arch::x86_64::{_mm256_set1_epi32, _mm256_setzero_si256};

use bytemuck::cast;

use super::loops::{add_product, all_codes, tables, widen};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::gather;
use crate::kernels::int8::portable::packed::{
    Codes, PackedForm, PackedLoops, PanelFinish, PanelTables, Tile, TileSums, WIDTH,
};
use crate::kernels::int8::portable::staged::{Staging, stage};
use crate::kernels::int8::portable::tile::{BLOCK, STRIP, Sums};
use crate::kernels::simd::int8_packed::{block_start, panel_finish, tiles};

/// Packed weights for these products.
pub(super) const PAIRS: PackedLoops = PackedLoops {
    form: &PackedForm::PAIRS,
    min_pixels: 2,
    elem_bytes: 2,
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the feature.
    stage: |staging, buffer| unsafe { all_rows(staging, buffer) },
    // SAFETY: see above.
    products: |tile, sums| unsafe { all_tiles(tile, sums) },
    finish: FINISH,
};

#[target_feature(enable = "avx2")]
fn all_rows(staging: &Staging<'_>, buffer: &mut [i16]) {
    stage(staging, buffer, |codes, zero_point, out| copy_run(codes, zero_point, out));
}

#[target_feature(enable = "avx2")]
fn copy_run(codes: &[i8], zero_point: i16, out: &mut [i16]) {
    gather::widen(codes, zero_point, out);
}

tiles!("avx2", i16, 2, 8, [2], _mm256_setzero_si256, _mm256_set1_epi32, widen, add_product);
panel_finish!("avx2");
