//! The portable kernels, compiled for AVX2 and FMA.
//!
//! The inner loops of the convolutions have explicit vectors; the other portable functions are always inlined, so each
//! function here holds its kernel whole, with vectors of eight lanes.

use core::arch::x86_64::{
    __m256, _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_max_ps, _mm256_min_ps, _mm256_set1_ps,
    _mm256_setzero_ps, _mm256_storeu_ps,
};

use core::hint::black_box;

use super::{LINE, prefetch};
use crate::kernels::portable;
use crate::kernels::portable::epilogue::activate as activate_in_place;
use crate::kernels::portable::panel::{self, Ends, MEDIUM, NARROW, Panel, Span, WIDE, transpose_part};
use crate::kernels::portable::tile::{
    self, DepthwiseLoops, InnerLoops, Line, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, Weights,
};
use crate::kernels::portable::winograd::{self, Corner, Patch, WinogradLoops};
use crate::kernels::simd::depthwise_conv2d::{depthwise_loops, is_inside};
use crate::kernels::simd::float::loops;
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Grn, Kernels, Level, Pool2d};

/// The inner loops with vectors of eight lanes, and fused additions where the portable loop does not vectorise. Must be
/// reached through `KERNELS` only.
pub(super) const LOOPS: InnerLoops = InnerLoops {
    dot: safe::dot,
    dot_single: safe::dot_single,
    products: [product::<WIDE, 4, 2, 6>(), product::<MEDIUM, 2, 2, 6>(), NARROW_PRODUCT],
    depthwise: [depthwise::<WIDE, 4, 3>(), depthwise::<MEDIUM, 2, 6>(), NARROW_DEPTHWISE],
    winograd: WINOGRAD,
    activate,
};

/// The loops of the narrowest panels, which fill one vector of eight.
pub(super) const NARROW_PRODUCT: ProductLoops = product::<NARROW, 1, 1, 8>();
/// The loops of the narrowest blocks of channels likewise.
pub(super) const NARROW_DEPTHWISE: DepthwiseLoops = depthwise::<NARROW, 1, 8>();

loops!(
    "avx2,fma",
    8,
    __m256,
    2,
    _mm256_setzero_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps,
    _mm256_add_ps,
    _mm256_min_ps,
    _mm256_max_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    prefetch
);

depthwise_loops!("avx2,fma", 8, __m256, _mm256_setzero_ps, _mm256_fmadd_ps, _mm256_add_ps);

compiled! { "avx2,fma":
    conv2d(args: &mut Conv2d<'_>) = portable::conv2d::run(args, &LOOPS);
    dense(args: &mut Dense<'_>) = portable::dense::run(args, &LOOPS);
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::run(args, &LOOPS);
    max_pool2d(args: &mut Pool2d<'_>) = portable::max_pool2d::max_pool2d(args);
    avg_pool2d(args: &mut Pool2d<'_>) = portable::avg_pool2d::avg_pool2d(args);
    batch_norm2d(data: &mut [f32], scale: &[f32], shift: &[f32])
        = portable::batch_norm2d::batch_norm2d(data, scale, shift);
    layernorm2d(data: &mut [f32], gamma: &[f32], beta: &[f32], eps: f32)
        = portable::layernorm2d::layernorm2d(data, gamma, beta, eps);
    grn(args: &mut Grn<'_>) = portable::grn::grn(args);
    softmax(data: &mut [f32], row_elems: usize) = portable::softmax::softmax(data, row_elems);
    activate(data: &mut [f32], activation: Activation) = portable::activation::activate(data, activation);
    add(data: &mut [f32], other: &[f32]) = portable::add::add(data, other);
    add_upsampled2x(data: &mut [f32], half: &[f32], half_w: usize, channels: usize)
        = portable::add::upsampled2x(data, half, half_w, channels, add);
}

/// The AVX2 level. Must be reached through [`kernels::table`](crate::kernels::table) only.
pub(in crate::kernels) const KERNELS: Kernels = Kernels {
    level: Level::Avx2,
    conv2d,
    dense,
    depthwise_conv2d,
    max_pool2d,
    avg_pool2d,
    batch_norm2d,
    layernorm2d,
    grn,
    softmax,
    activate,
    add,
    add_upsampled2x,
};
