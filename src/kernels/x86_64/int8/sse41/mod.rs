//! The SSE4.1 level: codes widened in one instruction, signed products for requantising; products of pairs are those of SSE2.

mod requantize;

use core::arch::x86_64::{
    __m128i, _mm_cvtepi8_epi16, _mm_cvtsi64_si128, _mm_set1_epi16, _mm_setzero_si128, _mm_sub_epi16,
    _mm_unpackhi_epi64, _mm_unpacklo_epi8,
};

use bytemuck::cast;

use super::sse2::{add_codes, add_up, all_panel_products, all_taps};
use crate::kernels::Level;
use crate::kernels::int8::portable::add::{Scale, add_terms};
use crate::kernels::int8::portable::finish::largest;
use crate::kernels::int8::portable::gather::{self, Gather};
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, Pairs, Products, RequantizeLoops, Sums};
use crate::kernels::int8::{Conv2d, Kernels, Pool2d, Requantize, Softmax, portable};
use crate::kernels::simd::int8::{dot, inner_loops, masks, stage};
use requantize::{all_codes, tables};

inner_loops!("sse4.1", 3, None);
dot!("sse4.1", 8, 2, __m128i, _mm_setzero_si128, widen, add_codes, add_up);
stage!("sse4.1", _mm_set1_epi16, alternate);

#[inline]
#[target_feature(enable = "sse4.1")]
fn widen(codes: [i8; 8]) -> __m128i {
    _mm_cvtepi8_epi16(_mm_cvtsi64_si128(cast(codes)))
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "sse4.1")]
fn alternate(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: __m128i) -> Pairs {
    let codes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(cast(upper)), _mm_cvtsi64_si128(cast(lower)));
    let (low, high) = (_mm_cvtepi8_epi16(codes), _mm_cvtepi8_epi16(_mm_unpackhi_epi64(codes, codes)));
    cast([_mm_sub_epi16(low, zero_point), _mm_sub_epi16(high, zero_point)])
}

compiled!("sse4.1");

fn conv2d(args: &mut Conv2d<'_>) {
    portable::conv2d::run(args, &LOOPS);
}

/// The SSE4.1 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
pub(in crate::kernels) static KERNELS: Kernels = Kernels {
    level: Level::Sse41,
    conv2d,
    dense: |args| portable::dense::run(args, conv2d),
    depthwise_conv2d: |args| portable::depthwise_conv2d::run(args, &LOOPS),
    max_pool2d,
    avg_pool2d,
    add: |args| portable::add::run(args, &LOOPS),
    softmax,
    ..portable::KERNELS
};
