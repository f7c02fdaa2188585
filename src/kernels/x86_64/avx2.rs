//! The portable kernels, compiled for AVX2 and FMA.
//!
//! The portable functions are always inlined, so each function here holds its kernel whole, with vectors of eight lanes.

use core::arch::x86_64::{__m256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps};

use crate::kernels::portable;
use crate::kernels::portable::tile::{self, InnerLoops, OUTPUTS, PANEL, ROWS, Rows, Weights};
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Grn, Kernels, Level, Pool2d};

/// Lanes of a vector.
const LANES: usize = 8;

/// The inner loops with vectors of eight lanes, and fused additions where the portable loop does not vectorise.
struct Avx2;

impl InnerLoops for Avx2 {
    #[inline(always)]
    fn dot(input: &[f32], rows: Rows, weights: Weights<'_>, sums: &mut [[f32; OUTPUTS]]) {
        // SAFETY: see `kernels!`.
        unsafe { dot(input, rows, weights, sums) }
    }

    #[inline(always)]
    fn outer(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]) {
        #[target_feature(enable = "avx2,fma")]
        fn compiled(input: &[f32], rows: Rows, panel: &[[f32; PANEL]], sums: &mut [[f32; PANEL]]) {
            tile::outer(input, rows, panel, sums);
        }
        // SAFETY: see `kernels!`.
        unsafe { compiled(input, rows, panel, sums) }
    }

    #[inline(always)]
    fn activate(data: &mut [f32], activation: Activation) {
        activate(data, activation);
    }
}

/// [`tile::dot`] with explicit vectors.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn dot(input: &[f32], rows: Rows, weights: Weights<'_>, sums: &mut [[f32; OUTPUTS]]) {
    for (first, sums) in (0..).step_by(ROWS).zip(sums.chunks_mut(ROWS)) {
        match sums.len() {
            ROWS => dot_tile::<ROWS>(input, rows, first, weights, sums),
            _ => dot_tile::<1>(input, rows, first, weights, sums),
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn dot_tile<const R: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_>,
    sums: &mut [[f32; OUTPUTS]],
) {
    let mut tile = [[_mm256_setzero_ps(); OUTPUTS]; R];
    for p in 0..rows.pieces {
        let Some((vectors, input, weights)) = tile::vectors::<LANES, R>(input, rows, p, first, weights) else { return };
        for k in 0..vectors {
            for (sums, input) in tile.iter_mut().zip(input) {
                let input = load(&input[k]);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm256_fmadd_ps(input, load(&weights[k]), *sum);
                }
            }
        }
    }
    for (sums, tile) in sums.iter_mut().zip(tile) {
        let mut lanes = [[0.0; LANES]; OUTPUTS];
        for (lanes, vector) in lanes.iter_mut().zip(tile) {
            store(vector, lanes);
        }
        *sums = tile::add_up(lanes);
    }
    tile::add_rest::<LANES>(input, rows, first, weights, sums);
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn load(values: &[f32; LANES]) -> __m256 {
    // SAFETY: the array has the 32 bytes that are read.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(vector: __m256, values: &mut [f32; LANES]) {
    // SAFETY: the array has the 32 bytes that are written.
    unsafe { _mm256_storeu_ps(values.as_mut_ptr(), vector) }
}

/// One kernel per line: its name and parameters, and the portable function that it compiles.
macro_rules! kernels {
    ($($name:ident($($arg:ident: $type:ty),*) = $portable:expr;)*) => {
        $(#[inline(never)]
        fn $name($($arg: $type),*) {
            #[target_feature(enable = "avx2,fma")]
            fn compiled($($arg: $type),*) {
                $portable
            }
            // SAFETY: `KERNELS` alone names this function, and only `kernels::table` hands `KERNELS` out, after
            // `has_avx2` has found both features.
            unsafe { compiled($($arg),*) }
        })*

        /// The AVX2 level. Must be reached through [`kernels::table`](crate::kernels::table) only.
        pub(in crate::kernels) static KERNELS: Kernels = Kernels { level: Level::Avx2, $($name),* };
    };
}

kernels! {
    conv2d(args: &mut Conv2d<'_>) = portable::conv2d::run::<Avx2>(args);
    dense(args: &mut Dense<'_>) = portable::dense::run::<Avx2>(args);
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::run::<Avx2>(args);
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
        = portable::add::add_upsampled2x(data, half, half_w, channels);
}
