//! The AVX-512 level: wider vectors for the convolutions, activations and layer norms; what is left is limited by memory and
//! stays with AVX2.

use core::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_min_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_storeu_ps,
};

use core::hint::black_box;

use super::{LINE, avx2, prefetch, row};
use crate::kernels::portable;
use crate::kernels::portable::epilogue::activate as activate_in_place;
use crate::kernels::portable::panel::{self, Ends, MEDIUM, Panel, Span, WIDE, transpose_part};
use crate::kernels::portable::tile::{
    self, DepthwiseLoops, InnerLoops, Line, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, Weights,
};
use crate::kernels::portable::winograd::{self, Corner, Patch, WinogradLoops};
use crate::kernels::simd::depthwise_conv2d::{depthwise_loops, is_inside};
use crate::kernels::simd::float::loops;
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Kernels, Level};

/// Lanes of `dot_single`, which a row times a panel keeps, too.
const SINGLE_LANES: usize = 8;

/// The inner loops with vectors of sixteen lanes. Must be reached through `KERNELS` only.
static LOOPS: InnerLoops = InnerLoops {
    dot: safe::dot,
    // Weights in place lie anywhere, and wide loads would often cross lines of the cache.
    dot_single: avx2::LOOPS.dot_single,
    products: [
        ProductLoops { single: Some(single::<WIDE, 2>), ..product::<WIDE, 2, 2, 8>() },
        ProductLoops { single: Some(single::<MEDIUM, 1>), ..product::<MEDIUM, 1, 1, 8>() },
        avx2::NARROW_PRODUCT,
    ],
    depthwise: [depthwise::<WIDE, 2, 8>(), depthwise::<MEDIUM, 1, 8>(), avx2::NARROW_DEPTHWISE],
    winograd: WINOGRAD,
    activate,
};

loops!(
    "avx512f,avx512vl,avx512bw,avx512dq,fma",
    16,
    __m512,
    4,
    _mm512_setzero_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps,
    _mm512_min_ps,
    _mm512_max_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    prefetch
);

depthwise_loops!(
    "avx512f,avx512vl,avx512bw,avx512dq,fma",
    16,
    __m512,
    _mm512_setzero_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps
);

compiled! { "avx512f,avx512vl,avx512bw,avx512dq,fma":
    layernorm2d(data: &mut [f32], gamma: &[f32], beta: &[f32], eps: f32)
        = portable::layernorm2d::layernorm2d(data, gamma, beta, eps);
    activate(data: &mut [f32], activation: Activation) = portable::activation::activate(data, activation);
}

/// The AVX-512 level. Must be reached through [`kernels::table`](crate::kernels::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::Avx512,
    conv2d: |args: &mut Conv2d<'_>| portable::conv2d::run(args, &LOOPS),
    dense: |args: &mut Dense<'_>| portable::dense::run(args, &LOOPS),
    depthwise_conv2d: |args: &mut DepthwiseConv2d<'_>| portable::depthwise_conv2d::run(args, &LOOPS),
    layernorm2d,
    activate,
    ..avx2::KERNELS
};

/// [`ProductLoops::single`] for panels of `P` outputs in `V` vectors.
fn single<const P: usize, const V: usize>(input: &[f32], weights: &[f32], sums: &mut [f32]) {
    // SAFETY: only `LOOPS` leads here, and only the kernels of its level use that, on processors with the features.
    unsafe { row_times_panel::<P, V>(input, weights, sums) }
}

/// All lanes of all outputs in registers: sixteen of them keep both units busy.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,fma")]
fn row_times_panel<const P: usize, const V: usize>(input: &[f32], weights: &[f32], sums: &mut [f32]) {
    const { assert!(P == 16 * V) };
    let weights = weights.as_chunks::<P>().0;
    let Some(sums) = sums.first_chunk_mut::<P>() else { return };
    let (steps, rest) = input.as_chunks::<SINGLE_LANES>();
    let mut tile = [[_mm512_setzero_ps(); V]; SINGLE_LANES];
    for (step, weights) in steps.iter().zip(weights.as_chunks::<SINGLE_LANES>().0) {
        for ((tile, x), weights) in tile.iter_mut().zip(step).zip(weights) {
            let x = _mm512_set1_ps(*x);
            for (sum, weights) in tile.iter_mut().zip(weights.as_chunks().0) {
                *sum = _mm512_fmadd_ps(x, load(weights), *sum);
            }
        }
    }
    let mut lanes = [[0.0; P]; SINGLE_LANES];
    for (lanes, tile) in lanes.iter_mut().zip(tile) {
        for (lanes, vector) in lanes.as_chunks_mut().0.iter_mut().zip(tile) {
            store(vector, lanes);
        }
    }
    *sums = row::add_up(&lanes);
    let weights = weights.get(input.len() - rest.len()..).unwrap_or_default();
    row::add_rest(rest, weights, sums);
}
