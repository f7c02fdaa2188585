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
use super::tile::{InnerLoops, OUTPUTS, PANEL, PANEL_ROWS, Pairs, part};
use crate::kernels::int8::Conv2d;
use crate::tensor::{Taps, Window, checked_product};

/// Longest row that is worth transposing its weights.
const MAX_PANEL_K: u32 = 48;
/// Fewest pixels that pay for transposing.
const MIN_PANEL_PIXELS: usize = 16;
/// Most scratch in elements, unless one row alone needs more: 4 KiB.
const MAX_SCRATCH_ELEMS: usize = 2048;
/// Pixels whose sums are collected before they are finished: 256 bytes of sums.
const STRIP: usize = 16;
const PANEL_STRIP: usize = 8;

/// Scratch in i16 elements: some rows, and panels of weights where rows are short.
pub fn scratch_elems(window: &Window) -> u32 {
    let Some(k) = checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) else { return 0 };
    let k = k as usize;
    let panels = panel_count::<Baseline>(window);
    let elems = if panels == 0 { k * row_count(window, k) } else { 2 * k.div_ceil(2) * (PANEL_STRIP + panels * PANEL) };
    elems as u32
}

/// Rows in scratch.
fn row_count(window: &Window, k: usize) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    (MAX_SCRATCH_ELEMS / k.max(1)).clamp(1, STRIP).min(pixels)
}

/// Panels of weights in scratch; 0 when the weights are read in place.
fn panel_count<I: InnerLoops>(window: &Window) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    match checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) {
        Some(k) if I::HAS_OUTER && k <= MAX_PANEL_K && pixels >= MIN_PANEL_PIXELS => {
            let fitting = (MAX_SCRATCH_ELEMS / (2 * k.div_ceil(2)).max(1) as usize - PANEL_STRIP) / PANEL;
            fitting.min((window.out_c as usize).div_ceil(PANEL))
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
        for first in (0..outputs).step_by(panels * PANEL) {
            transposed::<I>(args, k, first..outputs.min(first + panels * PANEL));
        }
        return;
    }
    let pixels = window.out_h as usize * window.out_w as usize;
    let rows = row_count(&window, k);
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
    for first in (0..outputs).step_by(OUTPUTS) {
        // Past the last output the tile repeats it, and drops the result.
        let weights = array::from_fn(|o| part(args.weights, (first + o).min(outputs - 1) * k, k));
        let mut sums = [[0; OUTPUTS]; STRIP];
        for (tile, sums) in sums.chunks_mut(2).enumerate() {
            let r = 2 * tile;
            match sums {
                [a, b] if r + 1 < count => [*a, *b] = I::dot([row(r), row(r + 1)], weights),
                [a, ..] if r < count => [*a] = I::dot([row(r)], weights),
                _ => break,
            }
        }
        if requantize.weight_zero_point != 0 {
            for (sums, offset) in sums.iter_mut().zip(offsets) {
                *sums = sums.map(|sum| sum.wrapping_sub(offset));
            }
        }
        let finish = Finish::new(&requantize, first);
        let sums = sums.get(..count).unwrap_or_default();
        finish.store(sums, args.output, pixels.start * outputs + first, outputs);
    }
}

/// Some outputs of all pixels, by way of transposed weights.
#[inline(always)]
fn transposed<I: InnerLoops>(args: &mut Conv2d<'_>, k: usize, outputs: Range<usize>) {
    let requantize = args.requantize;
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    let pitch = requantize.bias.len();
    let pairs = k.div_ceil(2);
    let (rows, panels) = args.scratch.split_at_mut_checked(PANEL_STRIP * 2 * pairs).unwrap_or_default();
    // The weights' zero point goes into the panels: `weight - zero_point` still fits an i16.
    let panels = bytemuck::cast_slice_mut::<i16, Pairs>(panels.as_chunks_mut::<{ 2 * PANEL }>().0.as_flattened_mut());
    for (first, panel) in outputs.clone().step_by(PANEL).zip(panels.chunks_mut(pairs.max(1))) {
        transpose(args.weights, k, requantize.weight_zero_point, first..pitch, panel);
    }
    for start in (0..pixels).step_by(PANEL_STRIP) {
        let strip = start..pixels.min(start + PANEL_STRIP);
        let count = strip.len();
        gather_pixels(&args.window, args.input, requantize.input_zero_point, strip, 2 * pairs, rows);
        let input = rows.as_chunks::<2>().0;
        for (first, panel) in outputs.clone().step_by(PANEL).zip(panels.chunks(pairs.max(1))) {
            let mut sums = [[0; PANEL]; PANEL_STRIP];
            for (tile, sums) in sums.chunks_mut(PANEL_ROWS).enumerate().take(count.div_ceil(PANEL_ROWS)) {
                // Past the last pixel the tile repeats it, and the result is dropped.
                let row = |r: usize| part(input, (tile * PANEL_ROWS + r).min(count - 1) * pairs, pairs);
                for (sums, tile) in sums.iter_mut().zip(I::outer(array::from_fn(row), panel)) {
                    *sums = tile;
                }
            }
            let finish = Finish::new(&requantize, first);
            finish.store(sums.get(..count).unwrap_or_default(), args.output, start * pitch + first, pitch);
        }
    }
}

/// Writes the weights of the outputs from the first on into a panel, zero where there is no output or no k.
#[inline(always)]
fn transpose(weights: &[i8], k: usize, zero_point: i32, outputs: Range<usize>, panel: &mut [Pairs]) {
    let rows: [&[i8]; PANEL] = array::from_fn(|o| {
        if outputs.start + o < outputs.end { part(weights, (outputs.start + o) * k, k) } else { &[] }
    });
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
