//! float32: the inner loops of the convolutions with vectors of four and fused additions. Everything else is that of the
//! portable level, which the compiler vectorises with NEON already.

use core::arch::aarch64::{
    float32x4_t, vaddq_f32, vbslq_f32, vcgtq_f32, vcltq_f32, vdupq_n_f32, vfmaq_f32, vld1q_f32, vst1q_f32,
};

use core::hint::black_box;

use crate::kernels::portable;
use crate::kernels::portable::epilogue::activate as activate_in_place;
use crate::kernels::portable::panel::{self, Ends, MEDIUM, NARROW, Panel, Span, WIDE, transpose_part};
use crate::kernels::portable::tile::{
    self, DepthwiseLoops, InnerLoops, Line, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, Weights,
};
use crate::kernels::portable::winograd::{self, Corner, Patch, WinogradLoops};
use crate::kernels::simd::depthwise_conv2d::{depthwise_loops, is_inside};
use crate::kernels::simd::float::loops;
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Kernels, Level};

/// The inner loops with vectors of four lanes. Their sums take 24 of the 32 registers, or 16.
static LOOPS: InnerLoops = InnerLoops {
    dot: safe::dot,
    dot_single: safe::dot_single,
    products: [product::<WIDE, 8, 4, 6>(), product::<MEDIUM, 4, 4, 6>(), product::<NARROW, 2, 2, 8>()],
    depthwise: [depthwise::<WIDE, 8, 2>(), depthwise::<MEDIUM, 4, 4>(), depthwise::<NARROW, 2, 8>()],
    winograd: WINOGRAD,
    activate: portable::KERNELS.activate,
};

loops!("neon", 4, float32x4_t, 4, zero, vdupq_n_f32, multiply_add, vaddq_f32, min, max, vld1q_f32, vst1q_f32, prefetch);
depthwise_loops!("neon", 4, float32x4_t, zero, multiply_add, vaddq_f32);

/// Elements of a line of the cache.
const LINE: usize = 64 / size_of::<f32>();

/// The processor fetches what lies ahead by itself.
#[inline]
fn prefetch(_: &[f32]) {}

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> float32x4_t {
    vdupq_n_f32(0.0)
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply_add(x: float32x4_t, w: float32x4_t, sum: float32x4_t) -> float32x4_t {
    vfmaq_f32(sum, x, w)
}

/// The second operand where one is NaN, other than `fmin` has it.
#[inline]
#[target_feature(enable = "neon")]
fn min(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    vbslq_f32(vcltq_f32(a, b), a, b)
}

#[inline]
#[target_feature(enable = "neon")]
fn max(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    vbslq_f32(vcgtq_f32(a, b), a, b)
}

/// The NEON level. Must be reached through [`kernels::table`](crate::kernels::table) only.
pub(super) const NEON: Kernels = Kernels {
    level: Level::Neon,
    conv2d: |args: &mut Conv2d<'_>| portable::conv2d::run(args, &LOOPS),
    dense: |args: &mut Dense<'_>| portable::dense::run(args, &LOOPS),
    depthwise_conv2d: |args: &mut DepthwiseConv2d<'_>| portable::depthwise_conv2d::run(args, &LOOPS),
    ..portable::KERNELS
};

/// The same: float32 has nothing from the products of i8.
pub(super) static NEON_DOTPROD: Kernels = Kernels { level: Level::NeonDotprod, ..NEON };
