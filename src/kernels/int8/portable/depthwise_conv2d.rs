//! Depthwise convolution, blocks of channels at a time.
//!
//! The input under a strip of windows is widened in scratch once, without its zero point and with zeros for the padding.
//! There and in the weights kernel rows lie in pairs, so that two products at a time can be added up.

use core::array;

use super::BASELINE;
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
    let weights = phases(window) as u64 * u64::from(window.kernel_w);
    let columns = strip_columns(window).checked_add(weights);
    let columns = columns.and_then(|columns| u32::try_from(columns).ok()).unwrap_or(u32::MAX);
    match checked_product(&[window.kernel_h.div_ceil(2), columns, 2 * BLOCK as u32]) {
        Some(elems) if elems <= MAX_SCRATCH_ELEMS => elems,
        _ => 0,
    }
}

/// Whether the windows of two rows are computed together, in whole blocks.
pub fn can_pool(window: &Window) -> bool {
    scratch_elems(window) > 0 && phases(window) == 2
}

/// Rows of windows that one pair of lines serves: an odd kernel leaves one row of its last pair free, and the same pairs
/// do for the windows one row below, with weights one row lower.
fn phases(window: &Window) -> usize {
    if window.stride == 1 && window.kernel_h % 2 == 1 { 2 } else { 1 }
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
    run(args, &BASELINE);
}

/// The kernel with the inner loops of a level.
pub(in crate::kernels) fn run(args: &mut DepthwiseConv2d<'_>, loops: &'static InnerLoops) {
    if scratch_elems(&args.window) == 0 {
        reference::depthwise_conv2d::depthwise_conv2d(args);
        return;
    }
    let channels = args.window.in_c as usize;
    for first in (0..channels).step_by(BLOCK) {
        // The last block overlaps its neighbour rather than reach past the end.
        block(args, loops, first.min(channels - BLOCK));
    }
}

/// Some channels of the whole map, a strip of windows from top to bottom at a time.
fn block(args: &mut DepthwiseConv2d<'_>, loops: &'static InnerLoops, first: usize) {
    let window = args.window;
    let (requantize, channels) = (args.requantize, window.in_c as usize);
    let (out_h, out_w, kernel_w) = (window.out_h as usize, window.out_w as usize, window.kernel_w as usize);
    let scratch = args.scratch.as_chunks_mut::<{ 2 * BLOCK }>().0.as_flattened_mut();
    let scratch = bytemuck::cast_slice_mut::<i16, Pairs>(scratch);
    let pair_rows = window.kernel_h.div_ceil(2) as usize;
    let (phases, kernel_pairs) = (phases(&window), pair_rows * kernel_w);
    let (weights, columns) = scratch.split_at_mut_checked(phases * kernel_pairs).unwrap_or_default();
    for (phase, weights) in weights.chunks_mut(kernel_pairs.max(1)).enumerate() {
        transpose(&window, args.weights, first, phase, weights);
    }
    let finish = Finish::new(loops, &requantize, first, out_h * out_w);
    let (strip, width, step) =
        (strip_windows(&window) as usize, strip_columns(&window) as usize, window.stride as usize);
    let (mut upper, mut lower) = ([[0; BLOCK]; STRIP], [[0; BLOCK]; STRIP]);
    // Lines that the next windows below reuse, where they start with a whole pair.
    let advance = phases * step;
    let kept = if advance % 2 == 0 { pair_rows.saturating_sub(advance / 2) } else { 0 };
    for x in (0..out_w).step_by(strip.max(1)) {
        let strip_at = Strip { window: &window, x, first, zero_point: requantize.input_zero_point as i8, width };
        let count = strip.min(out_w - x);
        let mut first_line = 0;
        for y in (0..out_h).step_by(phases) {
            let fresh = if y == 0 || kept == 0 { 0 } else { kept };
            // Both numbers are below `pair_rows`, and lines follow each other in a circle.
            let line = |line: usize| if line >= pair_rows { line - pair_rows } else { line };
            if fresh > 0 {
                first_line = line(first_line + advance / 2);
            }
            for pair in fresh..pair_rows {
                let start = line(first_line + pair) * width;
                let Some(line) = columns.get_mut(start..start + width) else { return };
                strip_at.stage(loops, args.input, y * step + 2 * pair, line);
            }
            let phases = weights.chunks(kernel_pairs.max(1)).take(out_h - y);
            for (phase, weights) in phases.enumerate() {
                let windows = Windows { count, strip, columns, width, first_line, pair_rows, step, weights, kernel_w };
                let sums = if phase == 0 { &mut upper } else { &mut lower };
                (loops.taps)(&windows, sums);
                if !args.pooled {
                    finish.store(sums, count, args.output, ((y + phase) * out_w + x) * channels + first, channels);
                }
            }
            if args.pooled {
                let blocks: [_; STRIP / 2] =
                    array::from_fn(|i| [&upper[2 * i], &upper[2 * i + 1], &lower[2 * i], &lower[2 * i + 1]]);
                let blocks = blocks.get(..count / 2).unwrap_or_default();
                finish.store_pooled(blocks, args.output, (y * out_w / 4 + x / 2) * channels + first, channels);
            }
        }
    }
}

/// The input columns under some windows, all the way down.
struct Strip<'a> {
    window: &'a Window,
    /// First window.
    x: usize,
    /// First channel.
    first: usize,
    zero_point: i8,
    width: usize,
}

impl Strip<'_> {
    /// Widens a pair of rows; the padded input begins with row 0.
    #[inline(always)]
    fn stage(&self, loops: &InnerLoops, input: &[i8], padded_row: usize, line: &mut [Pairs]) {
        let window = self.window;
        let (in_w, channels) = (window.in_w as usize, window.in_c as usize);
        // Columns inside the input.
        let (start, pad) = (self.x * window.stride as usize, window.pad_left as usize);
        let begin = pad.saturating_sub(start).min(self.width);
        let end = (in_w + pad).saturating_sub(start).clamp(begin, self.width);
        let column = (start + begin).saturating_sub(pad);
        let row = |padded: usize| {
            let row = padded.checked_sub(window.pad_top as usize).filter(|&row| row < window.in_h as usize)?;
            input.get((row * in_w + column) * channels + self.first..)
        };
        let (Some((before, rest)), inside) = (line.split_at_mut_checked(begin), end - begin) else { return };
        let Some((inside, after)) = rest.split_at_mut_checked(inside) else { return };
        before.fill([[0; 2]; BLOCK]);
        (loops.stage)([row(padded_row), row(padded_row + 1)], channels, self.zero_point, inside);
        after.fill([[0; 2]; BLOCK]);
    }
}

/// Writes the weights of the channels from `first` on, kernel rows in pairs, with `above` rows of zeros above them.
#[inline(never)]
fn transpose(window: &Window, weights: &[i8], first: usize, above: usize, out: &mut [Pairs]) {
    let (kernel_h, kernel_w) = (window.kernel_h as usize, (window.kernel_w as usize).max(1));
    let kernel_elems = kernel_h * kernel_w;
    let Some(kernels) = weights.get(first * kernel_elems..(first + BLOCK) * kernel_elems) else { return };
    for (pair, out) in out.chunks_mut(kernel_w).enumerate() {
        for (column, out) in out.iter_mut().enumerate() {
            for lane in 0..2 {
                let row = (2 * pair + lane).wrapping_sub(above);
                let taps = if row < kernel_h { kernels.get(row * kernel_w + column..) } else { None };
                let mut taps = taps.unwrap_or_default().iter().step_by(kernel_elems);
                for channel in out.iter_mut() {
                    channel[lane] = taps.next().map_or(0, |&weight| i16::from(weight));
                }
            }
        }
    }
}
