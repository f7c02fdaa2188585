//! The AVX-512 level: products with VNNI, which adds them up, too. Everything else is that of AVX2.
//!
//! ```text
//! packed.rs             convolutions and dense layers with packed weights, products of bytes in fours
//! row.rs                one row of a dense layer, weights in place
//! requantize.rs         16 channels at a time for these
//! everything else       one kernel per file; here, products of pairs for convolutions in place
//! ```

mod add;
mod depthwise_conv2d;
mod packed;
mod packed_row;
mod requantize;
mod row;

use core::arch::x86_64::{
    __m256i, __m512i, _mm_add_epi32, _mm_setzero_si128, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_dpwssd_epi32,
    _mm256_extracti128_si256, _mm256_set1_epi32, _mm256_setzero_si256, _mm512_castsi512_si256, _mm512_cvtepi8_epi16,
    _mm512_dpwssd_epi32, _mm512_extracti64x4_epi64, _mm512_setzero_si512,
};

use bytemuck::{cast, cast_mut};

use super::{avx2, sse2};
use crate::kernels::Level;
use crate::kernels::int8::portable::gather::is_pointwise;
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, Pairs, Products, STRIP, Sums, Windows};
use crate::kernels::int8::{Conv2d, Kernels, portable};
use crate::kernels::simd::int8::{dot, masks, taps};

const LOOPS: InnerLoops = InnerLoops {
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the
    // features.
    dot: |products, sums| unsafe { all_products(products, sums) },
    // SAFETY: see above.
    outer: |input, panel, sums| unsafe { all_panel_products(input, panel, sums) },
    // SAFETY: see above.
    taps: |windows, sums| unsafe { all_taps(windows, sums) },
    packed: Some(packed::QUADS),
    ..avx2::LOOPS
};

dot!("avx512bw,avx512vnni", 32, 4, __m512i, _mm512_setzero_si512, widen, add_codes, add_up);
outer!("avx512vl,avx512vnni", _mm256_dpwssd_epi32);
taps!("avx512vl,avx512vnni", 1, [0], __m256i, _mm256_setzero_si256, _mm256_dpwssd_epi32, cast);

#[inline]
#[target_feature(enable = "avx512bw")]
fn widen(codes: [i8; 32]) -> __m512i {
    _mm512_cvtepi8_epi16(cast(codes))
}

#[inline]
#[target_feature(enable = "avx512vnni")]
fn add_codes(sums: __m512i, x: [i16; 32], w: __m512i) -> __m512i {
    _mm512_dpwssd_epi32(sums, cast(x), w)
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "avx512bw,avx2")]
fn add_up(vectors: [__m512i; 4]) -> [i32; 4] {
    let mut quads = [_mm_setzero_si128(); 4];
    for (quad, vector) in quads.iter_mut().zip(vectors) {
        let halves = _mm256_add_epi32(_mm512_castsi512_si256(vector), _mm512_extracti64x4_epi64::<1>(vector));
        *quad = _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
    }
    sse2::add_up(quads)
}

fn conv2d(args: &mut Conv2d<'_>) {
    let is_done = is_row(args) && (row::run(args) || packed_row::run(args));
    if !is_done {
        portable::conv2d::run(args, &LOOPS);
    }
}

/// Whether there is one pixel, which the windows are: a dense layer over one row.
fn is_row(args: &Conv2d<'_>) -> bool {
    let window = &args.window;
    is_pointwise(window) && (window.out_h, window.out_w) == (1, 1) && !args.pooled
}

/// The AVX-512 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::Avx512,
    conv2d,
    dense: |args| portable::dense::run(args, conv2d),
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    add: add::add,
    ..avx2::KERNELS
};
