//! Convolution: the inputs under a few pixels' windows gathered as i16 rows, times the weights.
//!
//! ```text
//! short rows          the weights of eight outputs at a time, widened and transposed in scratch
//! everything else     a few rows in scratch, all weights read in place as they pass
//! ```
//!
//! A row holds `input - zero_point`, thus 0 where the window lies in the padding.

use core::array;
use core::ops::Range;

use super::Baseline;
use super::finish::Finish;
use super::tile::{BLOCK, InnerLoops, ONE_ROW_OUTPUTS, Pairs, ROWS_OUTPUTS, STRIP, part};
use crate::kernels::int8::Conv2d;
use crate::tensor::{Taps, Window, checked_product};

/// Longest row that is worth transposing its weights.
const MAX_PANEL_K: u32 = 48;
/// Fewest pixels that pay for transposing.
const MIN_PANEL_PIXELS: usize = 16;
/// Most elements of the rows that are gathered at a time for transposed weights, unless one strip needs more.
const MAX_PANEL_ROWS_ELEMS: usize = 640;
/// Most scratch in elements, unless the rows of one tile need more: 4 KiB.
const MAX_SCRATCH_ELEMS: usize = 2048;

/// Scratch in i16 elements: some rows, and panels of weights where rows are short.
pub fn scratch_elems(window: &Window) -> u32 {
    let Some(k) = checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) else { return 0 };
    let k = k as usize;
    let panels = panel_count::<Baseline>(window);
    let elems = if panels == 0 {
        k * row_count::<Baseline>(window, k)
    } else {
        2 * k.div_ceil(2) * (panel_pixels(window, k) + panels * BLOCK)
    };
    elems as u32
}

/// Pixels that are gathered at a time for transposed weights: some strips.
fn panel_pixels(window: &Window, k: usize) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    let strips = MAX_PANEL_ROWS_ELEMS / (STRIP * 2 * k.div_ceil(2)).max(1);
    strips.clamp(1, pixels.div_ceil(STRIP).min(4)) * STRIP
}

/// Rows in scratch: whole tiles if possible.
fn row_count<I: InnerLoops>(window: &Window, k: usize) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    let rows = if 8 * k <= MAX_SCRATCH_ELEMS {
        8
    } else if I::HAS_VECTORS {
        4
    } else {
        2
    };
    rows.min(pixels).min(STRIP)
}

/// Panels of weights in scratch; 0 when the weights are read in place.
fn panel_count<I: InnerLoops>(window: &Window) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    match checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) {
        Some(k) if I::HAS_VECTORS && k <= MAX_PANEL_K && pixels >= MIN_PANEL_PIXELS => {
            let k = k as usize;
            let fitting = (MAX_SCRATCH_ELEMS / (2 * k.div_ceil(2)).max(1) - panel_pixels(window, k)) / BLOCK;
            fitting.min((window.out_c as usize).div_ceil(BLOCK))
        }
        _ => 0,
    }
}

/// [`Kernels::conv2d`](crate::kernels::int8::Kernels::conv2d) as every target has it.
pub fn conv2d(args: &mut Conv2d<'_>) {
    run::<Baseline>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut Conv2d<'_>) {
    let window = args.window;
    let k = window.kernel_h as usize * window.kernel_w as usize * window.in_c as usize;
    let panels = panel_count::<I>(&window);
    if panels > 0 {
        let outputs = args.requantize.bias.len();
        for first in (0..outputs).step_by(panels * BLOCK) {
            transposed::<I>(args, k, first..outputs.min(first + panels * BLOCK));
        }
        return;
    }
    let pixels = window.out_h as usize * window.out_w as usize;
    let rows = row_count::<I>(&window, k);
    for start in (0..pixels).step_by(rows.max(1)) {
        in_place::<I>(args, k, start..pixels.min(start + rows));
    }
}

/// All outputs of at most [`STRIP`] pixels.
#[inline(always)]
fn in_place<I: InnerLoops>(args: &mut Conv2d<'_>, k: usize, pixels: Range<usize>) {
    let requantize = args.requantize;
    let outputs = requantize.bias.len();
    let count = pixels.len();
    gather_pixels(&args.window, args.input, requantize.input_zero_point, pixels.clone(), k, args.scratch);
    let row = |r: usize| part(args.scratch, r * k, k);
    let mut offsets = [0i32; STRIP];
    if requantize.weight_zero_point != 0 {
        for (r, offset) in offsets.iter_mut().take(count).enumerate() {
            let sum = row(r).iter().fold(0i32, |sum, &x| sum.wrapping_add(i32::from(x)));
            *offset = sum.wrapping_mul(requantize.weight_zero_point);
        }
    }
    for first in blocks(0..outputs) {
        let mut sums = [[0; BLOCK]; STRIP];
        // Past the last output and the last row a tile repeats it, and the result is dropped.
        let weights = |o: usize| part(args.weights, (first + o).min(outputs - 1) * k, k);
        if count == 1 {
            for o in (0..BLOCK).step_by(ONE_ROW_OUTPUTS) {
                let tile = I::dot::<1, ONE_ROW_OUTPUTS>([row(0)], array::from_fn(|i| weights(o + i)));
                put(&mut sums, o, &tile);
            }
        } else if I::HAS_VECTORS {
            tiles::<I, 4>(&mut sums, count, row, weights);
        } else {
            tiles::<I, 2>(&mut sums, count, row, weights);
        }
        for (sums, offset) in sums.iter_mut().zip(offsets) {
            *sums = sums.map(|sum| sum.wrapping_sub(offset));
        }
        let finish = Finish::new::<I>(&requantize, first, count);
        let sums = sums.get(..count).unwrap_or_default();
        finish.store::<I>(sums, args.output, pixels.start * outputs + first, outputs);
    }
}

/// Starts of blocks that cover the outputs. The last one overlaps its neighbour rather than reach past the end, unless
/// there are too few outputs for one block.
#[inline(always)]
fn blocks(outputs: Range<usize>) -> impl Iterator<Item = usize> + Clone {
    let last = outputs.end.saturating_sub(BLOCK).max(outputs.start);
    outputs.step_by(BLOCK).map(move |first| first.min(last))
}

/// The sums of `count` rows, in tiles of `R` rows.
#[inline(always)]
fn tiles<'a, I: InnerLoops, const R: usize>(
    sums: &mut [[i32; BLOCK]; STRIP],
    count: usize,
    row: impl Fn(usize) -> &'a [i16],
    weights: impl Fn(usize) -> &'a [i8],
) {
    for o in (0..BLOCK).step_by(ROWS_OUTPUTS) {
        let weights: [&[i8]; ROWS_OUTPUTS] = array::from_fn(|i| weights(o + i));
        for (tile, sums) in sums.chunks_mut(R).take(count.div_ceil(R)).enumerate() {
            let input: [&[i16]; R] = array::from_fn(|r| row((tile * R + r).min(count - 1)));
            put(sums, o, &I::dot(input, weights));
        }
    }
}

/// Copies a tile to the outputs from `first` on.
#[inline(always)]
fn put<const O: usize>(sums: &mut [[i32; BLOCK]], first: usize, tile: &[[i32; O]]) {
    for (sums, tile) in sums.iter_mut().zip(tile) {
        if let Some(sums) = sums.get_mut(first..first + O) {
            sums.copy_from_slice(tile);
        }
    }
}

/// Some outputs of all pixels, by way of transposed weights.
#[inline(always)]
fn transposed<I: InnerLoops>(args: &mut Conv2d<'_>, k: usize, outputs: Range<usize>) {
    let requantize = args.requantize;
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    let pitch = requantize.bias.len();
    let (pairs, gathered) = (k.div_ceil(2), panel_pixels(&args.window, k));
    let (rows, panels) = args.scratch.split_at_mut_checked(gathered * 2 * pairs).unwrap_or_default();
    // The weights' zero point goes into the panels: `weight - zero_point` still fits an i16.
    let panels = bytemuck::cast_slice_mut::<i16, Pairs>(panels.as_chunks_mut::<{ 2 * BLOCK }>().0.as_flattened_mut());
    for (first, panel) in blocks(outputs.clone()).zip(panels.chunks_mut(pairs.max(1))) {
        transpose(args.weights, k, requantize.weight_zero_point, first..pitch, panel);
    }
    for start in (0..pixels).step_by(gathered) {
        let count = gathered.min(pixels - start);
        gather_pixels(&args.window, args.input, requantize.input_zero_point, start..start + count, 2 * pairs, rows);
        let input = rows.as_chunks::<2>().0;
        for (first, panel) in blocks(outputs.clone()).zip(panels.chunks(pairs.max(1))) {
            let finish = Finish::new::<I>(&requantize, first, count);
            for (strip, input) in input.chunks(STRIP * pairs.max(1)).take(count.div_ceil(STRIP)).enumerate() {
                // Rows past the last pixel hold anything, and their sums are dropped.
                let mut sums = [[0; BLOCK]; STRIP];
                I::outer(input, panel, &mut sums);
                let sums = sums.get(..count - strip * STRIP).unwrap_or(&sums);
                finish.store::<I>(sums, args.output, (start + strip * STRIP) * pitch + first, pitch);
            }
        }
    }
}

/// Writes the weights of the outputs from the first on into a panel, zero where there is no output or no k.
#[inline(always)]
fn transpose(weights: &[i8], k: usize, zero_point: i32, outputs: Range<usize>, panel: &mut [Pairs]) {
    let rows: [&[i8]; BLOCK] =
        array::from_fn(
            |o| {
                if outputs.start + o < outputs.end { part(weights, (outputs.start + o) * k, k) } else { &[] }
            },
        );
    for (pair, out) in panel.iter_mut().enumerate() {
        for (out, row) in out.iter_mut().zip(rows) {
            let weight = |k: usize| row.get(k).map_or(0, |&w| i16::from(w).wrapping_sub(zero_point as i16));
            *out = [weight(2 * pair), weight(2 * pair + 1)];
        }
    }
}

/// Writes the rows of some pixels, `row_elems` apart; what is left at the end of each row becomes 0.
#[inline(always)]
fn gather_pixels(
    window: &Window,
    input: &[i8],
    zero_point: i32,
    pixels: Range<usize>,
    row_elems: usize,
    rows: &mut [i16],
) {
    let out_w = (window.out_w as usize).max(1);
    let (mut y, mut x) = (pixels.start / out_w, pixels.start % out_w);
    for row in rows.chunks_mut(row_elems.max(1)).take(pixels.len()) {
        gather(window, input, zero_point as i16, window.rows_at(y), window.columns_at(x), row);
        x += 1;
        if x == out_w {
            (y, x) = (y + 1, 0);
        }
    }
}

/// The input under one window, minus the zero point.
#[inline(never)]
fn gather(window: &Window, input: &[i8], zero_point: i16, rows: Taps, columns: Taps, out: &mut [i16]) {
    let channels = window.in_c as usize;
    let piece = window.kernel_w as usize * channels;
    let len = columns.count * channels;
    if rows.count < window.kernel_h as usize || len < piece {
        out.fill(0);
    } else if let Some(last) = out.last_mut() {
        // Overwritten, unless it is the pad of a row of odd length.
        *last = 0;
    }
    for row in 0..rows.count {
        let from = ((rows.input + row) * window.in_w as usize + columns.input) * channels;
        let to = (rows.first + row) * piece + columns.first * channels;
        let Some(out) = out.get_mut(to..to + len) else { return };
        widen(part(input, from, len), zero_point, out);
    }
}

/// `out[i] = codes[i] - zero_point` for slices of one length.
#[inline(always)]
fn widen(codes: &[i8], zero_point: i16, out: &mut [i16]) {
    for (out, &code) in out.iter_mut().zip(codes) {
        *out = i16::from(code).wrapping_sub(zero_point);
    }
}
