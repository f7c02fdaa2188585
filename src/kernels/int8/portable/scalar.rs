//! Inner loops for targets without vectors of integers.

use core::array;

use super::add::add_terms;
use super::gather::gather;
use super::tile::{BLOCK, InnerLoops, Pairs, Products, Sums, Windows};

pub(in crate::kernels) const LOOPS: InnerLoops =
    InnerLoops { gather, dot, outer, stage, taps, add_terms, packed: None, requantize: None };

fn dot(products: &Products<'_>, sums: &mut [[i32; BLOCK]]) {
    let rows = products.input.chunks(products.step.max(1));
    for (row, sums) in rows.zip(sums) {
        let row = row.get(..products.len).unwrap_or_default();
        let weights = products.weights.chunks(products.pitch.max(1)).take(products.outputs);
        for (sum, weights) in sums.iter_mut().zip(weights) {
            let products = row.iter().zip(weights).map(|(&x, &w)| i32::from(x) * i32::from(w));
            *sum = products.fold(*sum, i32::wrapping_add);
        }
    }
}

fn outer(input: &[[i16; 2]], panel: &[Pairs], sums: &mut Sums) {
    for (sums, input) in sums.iter_mut().zip(input.chunks(panel.len().max(1))) {
        *sums = [0; BLOCK];
        for (&x, weights) in input.iter().zip(panel) {
            add_pair(sums, [x; BLOCK], weights);
        }
    }
}

fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
    for (column, out) in out.iter_mut().enumerate() {
        let [upper, lower] = rows.map(|row| block_at(row, column * channels, zero_point));
        let centred = |code: i8| i16::from(code) - i16::from(zero_point);
        *out = array::from_fn(|i| [centred(upper[i]), centred(lower[i])]);
    }
}

fn taps(windows: &Windows<'_>, sums: &mut Sums) {
    for (at, sums) in sums.iter_mut().take(windows.count).enumerate() {
        *sums = [0; BLOCK];
        for (row, weights) in windows.weights.chunks(windows.kernel_w.max(1)).take(windows.pair_rows).enumerate() {
            let line = windows.columns.get(windows.line_start(row) + at * windows.step..).unwrap_or_default();
            for (x, weights) in line.iter().zip(weights) {
                add_pair(sums, *x, weights);
            }
        }
    }
}

/// The codes of a block of channels.
#[inline(always)]
fn block_at(row: Option<&[i8]>, at: usize, zero_point: i8) -> [i8; BLOCK] {
    row.and_then(|row| row.get(at..at + BLOCK)?.first_chunk().copied()).unwrap_or([zero_point; BLOCK])
}

#[inline(always)]
fn add_pair(sums: &mut [i32; BLOCK], x: Pairs, weights: &Pairs) {
    for ((sum, x), w) in sums.iter_mut().zip(x).zip(weights) {
        let products = i32::from(x[0]) * i32::from(w[0]) + i32::from(x[1]) * i32::from(w[1]);
        *sum = sum.wrapping_add(products);
    }
}
