//! The AVX-512 level: products of pairs with VNNI, which adds them up, too. Everything else is that of AVX2.

mod depthwise_conv2d;
mod requantize;

use core::arch::x86_64::{
    __m256i, __m512i, _mm_add_epi32, _mm_setzero_si128, _mm256_add_epi32, _mm256_castsi256_si128, _mm256_dpbusd_epi32,
    _mm256_dpwssd_epi32, _mm256_extracti128_si256, _mm256_set1_epi32, _mm256_setzero_si256, _mm512_castsi512_si256,
    _mm512_cvtepi8_epi16, _mm512_dpwssd_epi32, _mm512_extracti64x4_epi64, _mm512_setzero_si512,
};

use bytemuck::{cast, cast_mut};

use super::{avx2, sse2};
use crate::kernels::Level;
use crate::kernels::int8::portable::gather::{self, Gather};
use crate::kernels::int8::portable::packed::{Block, PackedForm, PackedLoops};
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
    packed: Some(QUADS),
    ..avx2::LOOPS
};

/// Packed weights for products of bytes, of which the first must not be negative: inputs plus 128.
const QUADS: PackedLoops = PackedLoops {
    form: &PackedForm::QUADS,
    elem_bytes: 1,
    // SAFETY: as for `LOOPS`.
    gather: |gather, rows| unsafe { all_bytes(gather, bytemuck::cast_slice_mut(rows)) },
    // SAFETY: as for `LOOPS`.
    products: |rows, len, blocks, sums| unsafe { all_packed_products(rows, len, blocks, sums) },
};

#[target_feature(enable = "avx512bw,avx512vl")]
fn all_bytes(gather: &Gather<'_>, rows: &mut [u8]) {
    gather::gather(gather, rows);
}

#[inline(never)]
#[target_feature(enable = "avx512vl,avx512vnni")]
fn all_packed_products(rows: &[i16], len: usize, blocks: &[Block<'_>], sums: &mut [Sums]) {
    let mut pairs = blocks.chunks_exact(2).zip(sums.chunks_exact_mut(2));
    for (blocks, sums) in &mut pairs {
        packed_products::<2>(rows, len, blocks, sums);
    }
    if blocks.len() % 2 == 1 {
        let last = blocks.len() - 1;
        packed_products::<1>(rows, len, &blocks[last..], &mut sums[last..]);
    }
}

/// The products of a strip with `B` blocks.
#[inline]
#[target_feature(enable = "avx512vl,avx512vnni")]
fn packed_products<const B: usize>(rows: &[i16], len: usize, blocks: &[Block<'_>], all_sums: &mut [Sums]) {
    let quads = len / 4;
    let Some(input) = bytemuck::cast_slice::<i16, u8>(rows).as_chunks::<4>().0.get(..STRIP * quads) else { return };
    let mut weights = [&[][..]; B];
    let mut sums = [[_mm256_setzero_si256(); STRIP]; B];
    for b in 0..B {
        let (Some(block), Some(held)) = (blocks.get(b), all_sums.get(b)) else { return };
        let Some(quads) = block.weights.as_chunks::<{ 4 * BLOCK }>().0.get(..quads) else { return };
        weights[b] = quads;
        sums[b] = match block.offsets {
            Some(offsets) => [cast(*offsets); STRIP],
            None => cast(*held),
        };
    }
    for k in 0..quads {
        let mut w = [_mm256_setzero_si256(); B];
        for (w, weights) in w.iter_mut().zip(weights) {
            // SAFETY: every block has `quads` quads of each output.
            *w = cast(unsafe { *weights.as_ptr().add(k) });
        }
        let mut row = input.as_ptr();
        for r in 0..STRIP {
            // SAFETY: quad `k` of row `r`, of rows of `quads` quads.
            let x = _mm256_set1_epi32(cast(unsafe { *row.add(k) }));
            for (sums, w) in sums.iter_mut().zip(w) {
                sums[r] = _mm256_dpbusd_epi32(sums[r], x, w);
            }
            row = row.wrapping_add(quads);
        }
    }
    for (all_sums, sums) in all_sums.iter_mut().zip(sums) {
        *all_sums = cast(sums);
    }
}

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
    portable::conv2d::run(args, &LOOPS);
}

/// The AVX-512 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::Avx512,
    conv2d,
    dense: |args| portable::dense::run(args, conv2d),
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    ..avx2::KERNELS
};
