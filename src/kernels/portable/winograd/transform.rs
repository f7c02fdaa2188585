//! The transforms of Winograd's method, for the points 0, `a`, `-a`, `b`, `-b` and infinity.

use core::array;

use super::{PATCH, POINTS, Patch, TILE};
use crate::kernels::Activation;
use crate::kernels::portable::epilogue::{leaky_relu, relu, relu6};

const A: f32 = 0.75;
const B: f32 = 1.5;
const A2: f32 = A * A;
const B2: f32 = B * B;

/// `G k G^T` of `N` kernels: their values at the points of both axes, each divided by what the interpolation multiplies it with.
pub(super) fn kernel<const N: usize>(kernel: &[[[f64; N]; 3]; 3]) -> [[[f64; N]; PATCH]; PATCH] {
    let columns: [[[f64; N]; 3]; PATCH] = {
        let by_column: [[[f64; N]; PATCH]; 3] = array::from_fn(|x| values_of(&array::from_fn(|y| kernel[y][x])));
        array::from_fn(|i| array::from_fn(|x| by_column[x][i]))
    };
    array::from_fn(|i| values_of(&columns[i]))
}

/// `G k` of one axis.
fn values_of<const N: usize>(k: &[[f64; N]; 3]) -> [[f64; N]; PATCH] {
    let (a2, b2) = (f64::from(A2), f64::from(B2));
    let pair = |p: f64, p2: f64, other: f64| {
        let factor = 1.0 / (2.0 * p2 * (p2 - other));
        let even: [f64; N] = array::from_fn(|n| (k[0][n] + p2 * k[2][n]) * factor);
        let odd: [f64; N] = array::from_fn(|n| p * k[1][n] * factor);
        [array::from_fn(|n| even[n] + odd[n]), array::from_fn(|n| even[n] - odd[n])]
    };
    let [a_plus, a_minus] = pair(f64::from(A), a2, b2);
    let [b_plus, b_minus] = pair(f64::from(B), b2, a2);
    [array::from_fn(|n| k[0][n] / (a2 * b2)), a_plus, a_minus, b_plus, b_minus, k[2]]
}

/// Writes the points of a patch, `B^T d B` of each channel: point `p` from `points[p * step..]` on. `L` divides the channels.
#[inline(always)]
pub(in crate::kernels) fn input_tile<const L: usize>(patch: &Patch<'_>, points: &mut [f32], step: usize) {
    let pixels = patch.map(|row| row.map(|pixel| pixel.as_chunks::<L>().0));
    let vectors = pixels[0][0].len();
    if pixels.as_flattened().iter().any(|pixel| pixel.len() != vectors)
        || points.len() < (POINTS - 1) * step + vectors * L
    {
        return;
    }
    #[expect(clippy::needless_range_loop, reason = "places of arrays of arrays")]
    for v in 0..vectors {
        let columns: [[[f32; L]; PATCH]; PATCH] = array::from_fn(|j| evaluate(&array::from_fn(|i| pixels[i][j][v])));
        for i in 0..PATCH {
            let row = evaluate(&array::from_fn(|j| columns[j][i]));
            for (j, values) in row.iter().enumerate() {
                let at = (i * PATCH + j) * step + v * L;
                let Some(to) = points.get_mut(at..).and_then(|points| points.first_chunk_mut::<L>()) else { return };
                *to = *values;
            }
        }
    }
}

/// `B^T d` of one axis.
#[inline(always)]
fn evaluate<const L: usize>(d: &[[f32; L]; PATCH]) -> [[f32; L]; PATCH] {
    let zero = array::from_fn(|l| d[4][l] - (A2 + B2) * d[2][l] + A2 * B2 * d[0][l]);
    let infinity = array::from_fn(|l| d[5][l] - (A2 + B2) * d[3][l] + A2 * B2 * d[1][l]);
    let [a_plus, a_minus] = evaluate_pair(d, A, B2);
    let [b_plus, b_minus] = evaluate_pair(d, B, A2);
    [zero, a_plus, a_minus, b_plus, b_minus, infinity]
}

/// The values at `p` and `-p`, where `other` is the square of the other pair.
#[inline(always)]
fn evaluate_pair<const L: usize>(d: &[[f32; L]; PATCH], p: f32, other: f32) -> [[f32; L]; 2] {
    let even: [f32; L] = array::from_fn(|l| d[4][l] - other * d[2][l]);
    let odd: [f32; L] = array::from_fn(|l| p * (d[3][l] - other * d[1][l]));
    [array::from_fn(|l| even[l] + odd[l]), array::from_fn(|l| even[l] - odd[l])]
}

/// `A^T m` of one axis.
#[inline(always)]
fn interpolate<const L: usize>(m: &[[f32; L]; PATCH]) -> [[f32; L]; TILE] {
    let sum = |i: usize, j: usize| -> [f32; L] { array::from_fn(|l| m[i][l] + m[j][l]) };
    let difference = |i: usize, j: usize| -> [f32; L] { array::from_fn(|l| m[i][l] - m[j][l]) };
    let (a_even, a_odd, b_even, b_odd) = (sum(1, 2), difference(1, 2), sum(3, 4), difference(3, 4));
    [
        array::from_fn(|l| m[0][l] + a_even[l] + b_even[l]),
        array::from_fn(|l| A * a_odd[l] + B * b_odd[l]),
        array::from_fn(|l| A2 * a_even[l] + B2 * b_even[l]),
        array::from_fn(|l| m[5][l] + A2 * A * a_odd[l] + B2 * B * b_odd[l]),
    ]
}

/// Where the outputs of a tile go, and what becomes of them.
#[derive(Clone, Copy)]
pub(in crate::kernels) struct Corner {
    /// Rows and columns of the tile that the map has.
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Elements from one output pixel to the next, and from one row to the next.
    pub(super) pitch: usize,
    pub(super) row_pitch: usize,
    pub(super) accumulate: bool,
    pub(super) activation: Activation,
}

/// Writes the outputs of a tile, `A^T m A` of each output channel and the epilogue; point `p` lies in `sums[p * step..]`. There
/// are as many channels as offsets, a multiple of `L`.
#[inline(always)]
pub(in crate::kernels) fn output_tile<const L: usize>(
    sums: &[f32],
    step: usize,
    offsets: &[f32],
    output: &mut [f32],
    corner: Corner,
) {
    for (v, offsets) in offsets.as_chunks::<L>().0.iter().enumerate() {
        let point = |i: usize, j: usize| -> [f32; L] {
            sums.get((i * PATCH + j) * step + v * L..).and_then(|sums| sums.first_chunk()).copied().unwrap_or([0.0; L])
        };
        let columns: [[[f32; L]; TILE]; PATCH] = array::from_fn(|j| interpolate(&array::from_fn(|i| point(i, j))));
        let tile: [[[f32; L]; TILE]; TILE] = array::from_fn(|y| interpolate(&array::from_fn(|j| columns[j][y])));
        for (y, row) in tile.iter().enumerate().take(corner.rows) {
            for (x, values) in row.iter().enumerate().take(corner.columns) {
                let at = y * corner.row_pitch + x * corner.pitch + v * L;
                let Some(to) = output.get_mut(at..).and_then(|output| output.first_chunk_mut::<L>()) else { return };
                finish(to, values, offsets, corner);
            }
        }
    }
}

#[inline(always)]
fn finish<const L: usize>(to: &mut [f32; L], values: &[f32; L], offsets: &[f32; L], corner: Corner) {
    let mut values: [f32; L] = array::from_fn(|l| values[l] + offsets[l]);
    if corner.accumulate {
        values = array::from_fn(|l| values[l] + to[l]);
    }
    *to = match corner.activation {
        Activation::Relu => values.map(relu),
        Activation::LeakyRelu(alpha) => values.map(|x| leaky_relu(x, alpha)),
        Activation::Relu6 => values.map(relu6),
        Activation::None | Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu => values,
    };
}
