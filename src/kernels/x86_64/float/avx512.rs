//! The AVX-512 level: wider vectors for the convolutions; what is left is limited by memory and stays with AVX2.

use core::arch::x86_64::{
    __m512, _mm512_add_ps, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_max_ps, _mm512_min_ps, _mm512_set1_ps,
    _mm512_setzero_ps, _mm512_storeu_ps,
};

use core::hint::black_box;

use super::{avx2, prefetch};
use crate::kernels::portable;
use crate::kernels::portable::epilogue::activate as activate_in_place;
use crate::kernels::portable::panel::{self, Ends, MEDIUM, Panel, Span, WIDE, transpose_part};
use crate::kernels::portable::tile::{
    self, DepthwiseLoops, InnerLoops, Line, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, Weights,
};
use crate::kernels::simd::depthwise_conv2d::{depthwise_loops, is_inside};
use crate::kernels::simd::float::loops;
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Kernels, Level};

/// The inner loops with vectors of sixteen lanes. Must be reached through `KERNELS` only.
static LOOPS: InnerLoops = InnerLoops {
    dot: safe::dot,
    // Its weights come from memory once, which narrower vectors keep busy, too.
    dot_single: avx2::LOOPS.dot_single,
    products: [product::<WIDE, 2, 2, 8>(), product::<MEDIUM, 1, 1, 8>(), avx2::NARROW_PRODUCT],
    depthwise: [depthwise::<WIDE, 2, 8>(), depthwise::<MEDIUM, 1, 8>(), avx2::NARROW_DEPTHWISE],
    activate: avx2::KERNELS.activate,
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
    _mm512_set1_ps,
    _mm512_fmadd_ps,
    _mm512_add_ps,
    _mm512_min_ps,
    _mm512_max_ps
);

/// The AVX-512 level. Must be reached through [`kernels::table`](crate::kernels::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::Avx512,
    conv2d: |args: &mut Conv2d<'_>| portable::conv2d::run(args, &LOOPS),
    dense: |args: &mut Dense<'_>| portable::dense::run(args, &LOOPS),
    depthwise_conv2d: |args: &mut DepthwiseConv2d<'_>| portable::depthwise_conv2d::run(args, &LOOPS),
    ..avx2::KERNELS
};
