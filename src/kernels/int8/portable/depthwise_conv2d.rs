//! Depthwise convolution, blocks of channels at a time.
//!
//! The input under a strip of windows is widened in scratch once, without its zero point and with zeros for the padding.
//! There and in the weights kernel rows lie in pairs, so that two products at a time can be added up.

use super::Baseline;
use super::finish::Finish;
use super::tile::{BLOCK, InnerLoops, Pairs, STRIP, Windows};
use crate::kernels::int8::{DepthwiseConv2d, reference};
use crate::tensor::{Window, checked_product};

/// Most scratch: 8 KiB.
const MAX_SCRATCH_ELEMS: u32 = 4096;

/// Scratch in i16 elements: the weights of one block and the input of one strip. Nothing where channels are too few for a
/// block or kernels too large: these go through the reference.
pub fn scratch_elems(window: &Window) -> u32 {
    if window.in_c < BLOCK as u32 || window.out_w == 0 {
        return 0;
    }
    let columns = strip_columns(window).checked_add(u64::from(window.kernel_w));
    let columns = columns.and_then(|columns| u32::try_from(columns).ok()).unwrap_or(u32::MAX);
    match checked_product(&[window.kernel_h.div_ceil(2), columns, 2 * BLOCK as u32]) {
        Some(elems) if elems <= MAX_SCRATCH_ELEMS => elems,
        _ => 0,
    }
}

/// Windows of a strip.
fn strip_windows(window: &Window) -> u64 {
    u64::from(window.out_w).min(STRIP as u64)
}

/// Input columns under a strip.
fn strip_columns(window: &Window) -> u64 {
    strip_windows(window).saturating_sub(1) * u64::from(window.stride) + u64::from(window.kernel_w)
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::int8::Kernels::depthwise_conv2d) as every target has it.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    run::<Baseline>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut DepthwiseConv2d<'_>) {
    if scratch_elems(&args.window) == 0 {
        reference::depthwise_conv2d::depthwise_conv2d(args);
        return;
    }
    let channels = args.window.in_c as usize;
    for first in (0..channels).step_by(BLOCK) {
        // The last block overlaps its neighbour rather than reach past the end.
        block::<I>(args, first.min(channels - BLOCK));
    }
}

/// Some channels of the whole map.
#[inline(always)]
fn block<I: InnerLoops>(args: &mut DepthwiseConv2d<'_>, first: usize) {
    let window = args.window;
    let (requantize, channels) = (args.requantize, window.in_c as usize);
    let (out_h, out_w, kernel_w) = (window.out_h as usize, window.out_w as usize, window.kernel_w as usize);
    let scratch = args.scratch.as_chunks_mut::<{ 2 * BLOCK }>().0.as_flattened_mut();
    let scratch = bytemuck::cast_slice_mut::<i16, Pairs>(scratch);
    let pair_rows = window.kernel_h.div_ceil(2) as usize;
    let (weights, columns) = scratch.split_at_mut_checked(pair_rows * kernel_w).unwrap_or_default();
    transpose(&window, args.weights, first, weights);
    let finish = Finish::new::<I>(&requantize, first, out_h * out_w);
    let input = args.input.get(first..).unwrap_or_default();
    let (strip, width) = (strip_windows(&window) as usize, strip_columns(&window) as usize);
    for y in 0..out_h {
        for x in (0..out_w).step_by(strip) {
            let count = strip.min(out_w - x);
            stage::<I>(&window, input, requantize.input_zero_point as i8, (y, x), width, columns);
            let windows = Windows { count, columns, width, step: window.stride as usize, weights, kernel_w };
            let mut sums = [[0; BLOCK]; STRIP];
            I::taps(&windows, &mut sums);
            let sums = sums.get(..count).unwrap_or_default();
            finish.store::<I>(sums, args.output, (y * out_w + x) * channels + first, channels);
        }
    }
}

/// Widens the input under the strip that starts with window `(y, x)`.
#[inline(always)]
fn stage<I: InnerLoops>(
    window: &Window,
    input: &[i8],
    zero_point: i8,
    (y, x): (usize, usize),
    width: usize,
    columns: &mut [Pairs],
) {
    let (in_w, channels, stride) = (window.in_w as usize, window.in_c as usize, window.stride as usize);
    let rows = window.rows_at(y);
    // Columns of the strip inside the input.
    let (start, pad) = (x * stride, window.pad_left as usize);
    let begin = pad.saturating_sub(start).min(width);
    let end = (in_w + pad).saturating_sub(start).clamp(begin, width);
    let column = (start + begin).saturating_sub(pad);
    for (pair, out) in columns.chunks_mut(width.max(1)).enumerate() {
        let row = |row: usize| {
            let row = row.checked_sub(rows.first).filter(|&row| row < rows.count)? + rows.input;
            input.get((row * in_w + column) * channels..)
        };
        let (Some((before, rest)), inside) = (out.split_at_mut_checked(begin), end - begin) else { return };
        let Some((out, after)) = rest.split_at_mut_checked(inside) else { return };
        before.fill([[0; 2]; BLOCK]);
        I::stage([row(2 * pair), row(2 * pair + 1)], channels, zero_point, out);
        after.fill([[0; 2]; BLOCK]);
    }
}

/// Writes the weights of the channels from `first` on, kernel rows in pairs, zero past the last row.
#[inline(always)]
fn transpose(window: &Window, weights: &[i8], first: usize, out: &mut [Pairs]) {
    let kernel_w = window.kernel_w as usize;
    let kernel_elems = window.kernel_h as usize * kernel_w;
    let kernels = weights.get(first * kernel_elems..).unwrap_or_default();
    for (pair, out) in out.chunks_mut(kernel_w.max(1)).enumerate() {
        for (column, out) in out.iter_mut().enumerate() {
            for (kernel, out) in kernels.chunks(kernel_elems.max(1)).zip(out) {
                let weight = |row: usize| kernel.get(row * kernel_w + column).map_or(0, |&weight| i16::from(weight));
                *out = [weight(2 * pair), weight(2 * pair + 1)];
            }
        }
    }
}
