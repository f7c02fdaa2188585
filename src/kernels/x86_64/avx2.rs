//! The portable kernels, compiled for AVX2 and FMA.
//!
//! The inner loops of the convolutions have explicit vectors; the other portable functions are always inlined, so each
//! function here holds its kernel whole, with vectors of eight lanes.

use core::arch::x86_64::{
    __m256, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_storeu_ps,
};

use core::hint::black_box;

use crate::kernels::portable;
use crate::kernels::portable::epilogue::finish_sums;
use crate::kernels::portable::panel::{self, MEDIUM, NARROW, Panel, Span, WIDE, transpose_part};
use crate::kernels::portable::tile::{
    self, DepthwiseLoops, InnerLoops, OUTPUTS, ProductLoops, ROWS, Rows, SINGLE_OUTPUTS, Weights,
};
use crate::kernels::{Activation, Conv2d, Dense, DepthwiseConv2d, Epilogue, Grn, Kernels, Level, Pool2d};

/// Lanes of a vector.
const LANES: usize = 8;

/// The inner loops with vectors of eight lanes, and fused additions where the portable loop does not vectorise. Must be
/// reached through `KERNELS` only.
static AVX2: InnerLoops = InnerLoops {
    dot: safe::dot,
    dot_single: safe::dot_single,
    products: [product::<WIDE, 4, 2>(), product::<MEDIUM, 2, 4>(), product::<NARROW, 1, 4>()],
    depthwise: [depthwise::<WIDE>(), depthwise::<MEDIUM>()],
    activate,
};

const fn product<const P: usize, const V: usize, const R: usize>() -> ProductLoops {
    ProductLoops {
        outputs: P,
        transpose: transpose_part::<P>,
        outer: safe::outer::<P, V, R>,
        finish: safe::finish::<P>,
    }
}

const fn depthwise<const B: usize>() -> DepthwiseLoops {
    DepthwiseLoops { channels: B, taps: safe::taps::<B>, finish: safe::finish::<B> }
}

/// The inner loops as functions that a table can hold.
mod safe {
    use super::*;

    pub(super) fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
        // SAFETY: only `AVX2` names this function, and only the kernels below use that, on processors with the features.
        unsafe { super::dot(input, rows, weights, sums) }
    }

    pub(super) fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
        // SAFETY: as in `dot`.
        unsafe { super::dot_single(input, weights) }
    }

    pub(super) fn outer<const P: usize, const V: usize, const R: usize>(
        input: &[f32],
        rows: Rows,
        panel: Panel<'_>,
        output: &mut [f32],
        span: Span,
    ) {
        // SAFETY: as in `dot`.
        unsafe { super::outer::<P, V, R>(input, rows, panel, output, span) }
    }

    pub(super) fn taps<const B: usize>(input: &[f32], rows: Rows, panel: Panel<'_>, output: &mut [f32], span: Span) {
        // SAFETY: as in `dot`.
        unsafe { super::taps::<B>(input, rows, panel, output, span) }
    }

    pub(super) fn finish<const P: usize>(epilogue: &Epilogue<'_>, first: usize, output: &mut [f32], span: Span) {
        // SAFETY: as in `dot`.
        unsafe { super::finish::<P>(epilogue, first, output, span) }
    }
}

#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn taps<const B: usize>(input: &[f32], rows: Rows, panel: Panel<'_>, output: &mut [f32], span: Span) {
    portable::depthwise_conv2d::taps::<B>(input, rows, panel, output, span);
}

#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn finish<const P: usize>(epilogue: &Epilogue<'_>, first: usize, output: &mut [f32], span: Span) {
    finish_sums::<P>(epilogue, first, output, span);
}

/// [`tile::dot`] with explicit vectors.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
    for (first, sums) in (0..).step_by(ROWS).zip(sums.chunks_mut(ROWS)) {
        match sums.len() {
            ROWS => dot_tile::<ROWS, OUTPUTS>(input, rows, first, weights, sums),
            _ => dot_tile::<1, OUTPUTS>(input, rows, first, weights, sums),
        }
    }
}

/// [`tile::dot_single`] with explicit vectors.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
    let mut sums = [[0.0; SINGLE_OUTPUTS]];
    dot_tile::<1, SINGLE_OUTPUTS>(input, Rows::contiguous(input.len()), 0, weights, &mut sums);
    let [sums] = sums;
    sums
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn dot_tile<const R: usize, const O: usize>(
    input: &[f32],
    rows: Rows,
    first: usize,
    weights: Weights<'_, O>,
    sums: &mut [[f32; O]],
) {
    let mut tile = [[_mm256_setzero_ps(); O]; R];
    for p in 0..rows.pieces {
        let Some((vectors, input, weights)) = tile::vectors::<LANES, R, O>(input, rows, p, first, &weights) else {
            return;
        };
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
        let mut lanes = [[0.0; LANES]; O];
        for (lanes, vector) in lanes.iter_mut().zip(tile) {
            store(vector, lanes);
        }
        *sums = tile::add_up(lanes);
    }
    add_rest::<O>(input, rows, first, weights, sums);
}

/// The elements of each piece that do not fill a vector, for the rows from `first` on.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add_rest<const O: usize>(input: &[f32], rows: Rows, first: usize, weights: Weights<'_, O>, sums: &mut [[f32; O]]) {
    // Hidden from the optimiser, which knows that less than a vector is left and would write down each element of it.
    let whole = black_box(rows.len - rows.len % LANES);
    if whole == rows.len {
        return;
    }
    for p in 0..rows.pieces {
        let Some(mut weights) = weights.piece(p, rows.len) else { return };
        for weights in &mut weights {
            *weights = weights.get(whole..).unwrap_or_default();
        }
        for (r, sums) in (first..).zip(sums.iter_mut()) {
            let Some([input]) = rows.input(input, p, r) else { return };
            for (k, x) in input.get(whole..).unwrap_or_default().iter().enumerate() {
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum += x * weights.get(k).copied().unwrap_or_default();
                }
            }
        }
    }
}

/// [`panel::outer`] with explicit vectors: `P` outputs in `V` vectors, `R` rows.
#[inline(never)]
#[target_feature(enable = "avx2,fma")]
fn outer<const P: usize, const V: usize, const R: usize>(
    input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    output: &mut [f32],
    span: Span,
) {
    let (mut input, mut output, mut left) = (input, output, span.pixels);
    while left >= R {
        outer_tile::<P, V, R>(input, rows, panel, output, span);
        input = input.get(R * rows.step..).unwrap_or_default();
        output = output.get_mut(R * span.pitch..).unwrap_or_default();
        left -= R;
    }
    for _ in 0..left {
        outer_tile::<P, V, 1>(input, rows, panel, output, span);
        input = input.get(rows.step..).unwrap_or_default();
        output = output.get_mut(span.pitch..).unwrap_or_default();
    }
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn outer_tile<const P: usize, const V: usize, const R: usize>(
    mut input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    output: &mut [f32],
    span: Span,
) {
    let mut tile = [[_mm256_setzero_ps(); V]; R];
    if !span.fresh {
        for (r, tile) in tile.iter_mut().enumerate() {
            let Some(held) = panel::vectors::<V>(output, r * span.pitch) else { return };
            for (sum, held) in tile.iter_mut().zip(held) {
                *sum = load(held);
            }
        }
    }
    let mut weights = panel.rows::<P>();
    for _ in 0..rows.pieces {
        let (Some(piece), Some(vectors)) = (rows.first::<R>(input), weights.get(..rows.len)) else { return };
        let vectors = vectors.as_flattened().as_chunks().0.as_chunks::<V>().0;
        let k_elems = vectors.len();
        if panel::differ(&piece, k_elems) {
            return;
        }
        for k in 0..k_elems {
            for (tile, input) in tile.iter_mut().zip(piece) {
                let input = _mm256_set1_ps(input[k]);
                for (sum, weights) in tile.iter_mut().zip(&vectors[k]) {
                    *sum = _mm256_fmadd_ps(input, load(weights), *sum);
                }
            }
        }
        input = input.get(rows.stretch..).unwrap_or_default();
        weights = weights.get(panel.step..).unwrap_or_default();
    }
    for (r, tile) in tile.iter().enumerate() {
        let Some(output) = panel::vectors_mut::<V>(output, r * span.pitch) else { return };
        for (sum, output) in tile.iter().zip(output) {
            store(*sum, output);
        }
    }
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
    conv2d(args: &mut Conv2d<'_>) = portable::conv2d::run(args, &AVX2);
    dense(args: &mut Dense<'_>) = portable::dense::run(args, &AVX2);
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::run(args, &AVX2);
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
