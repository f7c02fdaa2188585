//! Depthwise convolution, blocks of channels at a time, taps in pairs.

use super::Baseline;
use super::finish::Finish;
use super::tile::{BLOCK, InnerLoops, Pairs, STRIP, Windows};
use crate::kernels::int8::{DepthwiseConv2d, reference};
use crate::tensor::{Window, checked_product};

/// Most weights in scratch: 4 KiB.
const MAX_SCRATCH_ELEMS: u32 = 2048;

/// Scratch in i16 elements: the weights of one block, transposed, in pairs of kernel columns. Nothing where channels are
/// too few for a block or kernels too large: these go through the reference.
pub fn scratch_elems(window: &Window) -> u32 {
    let pairs = window.kernel_w.div_ceil(2);
    match checked_product(&[window.kernel_h, pairs, 2 * BLOCK as u32]) {
        Some(elems) if elems <= MAX_SCRATCH_ELEMS && window.in_c >= BLOCK as u32 => elems,
        _ => 0,
    }
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
    let (in_w, out_h, out_w) = (window.in_w as usize, window.out_h as usize, window.out_w as usize);
    let panel = args.scratch.as_chunks_mut::<{ 2 * BLOCK }>().0.as_flattened_mut();
    let panel = bytemuck::cast_slice_mut::<i16, Pairs>(panel);
    let row_pairs = window.kernel_w.div_ceil(2) as usize;
    transpose(&window, args.weights, first, panel);
    let finish = Finish::new::<I>(&requantize, first, out_h * out_w);
    let input = args.input.get(first..).unwrap_or_default();
    let interior = window.interior_columns();
    for y in 0..out_h {
        let rows = window.rows_at(y);
        let mut x = 0;
        while x < out_w {
            let columns = window.columns_at(x);
            let count = if interior.contains(&x) { (interior.end - x).min(STRIP) } else { 1 };
            let windows = Windows {
                input: input.get((rows.input * in_w + columns.input) * channels..).unwrap_or_default(),
                step: window.stride as usize * channels,
                in_row: in_w * channels,
                channels,
                zero_point: requantize.input_zero_point as i8,
                weights: panel.get(rows.first * row_pairs..).unwrap_or_default(),
                row_pairs,
                rows: rows.count,
                columns: columns.first..columns.first + columns.count,
            };
            let mut sums = [[0; BLOCK]; STRIP];
            let sums = sums.get_mut(..count).unwrap_or_default();
            I::taps(&windows, sums);
            finish.store::<I>(sums, args.output, (y * out_w + x) * channels + first, channels);
            x += count;
        }
    }
}

/// Writes the weights of the channels from `first` on into the panel, zero past the last kernel column.
#[inline(always)]
fn transpose(window: &Window, weights: &[i8], first: usize, panel: &mut [Pairs]) {
    let kernel_w = window.kernel_w as usize;
    let kernel_elems = window.kernel_h as usize * kernel_w;
    let weights = weights.get(first * kernel_elems..).unwrap_or_default();
    for (row, pairs) in panel.chunks_mut(kernel_w.div_ceil(2).max(1)).enumerate() {
        for (pair, out) in pairs.iter_mut().enumerate() {
            for (c, out) in out.iter_mut().enumerate() {
                let weight = |column: usize| match weights.get(c * kernel_elems + row * kernel_w + column) {
                    Some(&weight) if column < kernel_w => i16::from(weight),
                    _ => 0,
                };
                *out = [weight(2 * pair), weight(2 * pair + 1)];
            }
        }
    }
}
