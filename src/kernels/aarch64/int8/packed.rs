//! Products of packed weights with `sdot`: a quad of k of 16 outputs meets a quad of a row in all lanes. Rows are codes as they
//! are.

use core::arch::aarch64::{int32x4_t, vdupq_n_s32};

use bytemuck::{cast, cast_slice_mut};

use super::dotprod::add_products;
use super::neon::{all_codes, tables};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::packed::{
    Codes, PackedForm, PackedLoops, PanelFinish, PanelTables, Tile, TileSums, WIDTH,
};
use crate::kernels::int8::portable::staged::{Staging, stage};
use crate::kernels::int8::portable::tile::{BLOCK, STRIP, Sums};
use crate::kernels::simd::int8_packed::{block_start, panel_finish, tiles};

/// Packed weights for these products.
pub(super) const QUADS: PackedLoops = PackedLoops {
    form: &PackedForm::SIGNED_QUADS,
    min_pixels: 1,
    elem_bytes: 1,
    stage: all_rows,
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the feature.
    products: |tile, sums| unsafe { all_tiles(tile, sums) },
    finish: FINISH,
};

fn all_rows(staging: &Staging<'_>, buffer: &mut [i16]) {
    stage::<i8>(staging, cast_slice_mut(buffer), |codes, _, out| out.copy_from_slice(codes));
}

panel_finish!("neon");
tiles!("neon,dotprod", i8, 4, 4, [4], zero, broadcast, cast, add_quads);

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> int32x4_t {
    vdupq_n_s32(0)
}

/// A quad of a row in all lanes.
#[inline]
#[target_feature(enable = "neon")]
fn broadcast(quad: i32) -> int32x4_t {
    vdupq_n_s32(quad)
}

#[inline]
#[target_feature(enable = "neon,dotprod")]
fn add_quads(sums: int32x4_t, x: int32x4_t, w: int32x4_t) -> int32x4_t {
    add_products(sums, cast(x), cast(w))
}
