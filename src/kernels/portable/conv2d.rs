//! Convolution without an unrolled copy of the input.
//!
//! Under a window whose columns all lie inside the input, one kernel row is contiguous in the input and in the weights:
//! `kernel_w * in_c` elements. An output is a sum of `kernel_h` such dot products. Neighbouring pixels share the weights,
//! so a tile holds several of them; in the border, where the kernel is clipped, a tile holds one pixel.
//!
//! ```text
//! small kernels       the weights of eight outputs, transposed in scratch, for the whole map
//! everything else     a block of output rows whose input stays in the cache; for four outputs at a time their
//!                     weights stay in the first-level cache while the block passes
//! ```

use core::ops::Range;

use crate::kernels::args::Conv2d;
use crate::kernels::portable::Portable;
use crate::kernels::portable::epilogue::{Finish, activate_pixels};
use crate::kernels::portable::tile::{InnerLoops, OUTPUTS, PANEL, PANEL_STRIP, Rows, STRIP, Weights, part, transpose};
use crate::tensor::{Window, checked_product};

/// Largest kernel (elements of one output) that is worth gathering and transposing.
const MAX_PANEL_K: u32 = 48;
/// Fewest pixels that pay for transposing.
const MIN_PANEL_PIXELS: u64 = 16;
/// Most scratch, in elements: 3 KiB.
const MAX_SCRATCH_ELEMS: usize = 768;
/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 32 * 1024;

/// Scratch in elements, for small kernels: the gathered input of a few pixels, and as many panels of weights as there are
/// or as 3 KiB can hold. Nothing for other kernels.
pub fn scratch_elems(window: &Window) -> u32 {
    let panels = panel_count(window);
    if panels == 0 { 0 } else { (copy_elems(window, PANEL_STRIP) + kernel_elems(window) * panels * PANEL) as u32 }
}

/// Panels of weights in scratch; 0 when the weights are read in place.
fn panel_count(window: &Window) -> usize {
    let pixels = u64::from(window.out_h) * u64::from(window.out_w);
    match checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) {
        Some(k) if k <= MAX_PANEL_K && pixels >= MIN_PANEL_PIXELS => {
            let fitting = (MAX_SCRATCH_ELEMS - copy_elems(window, PANEL_STRIP)) / (k.max(1) as usize * PANEL);
            fitting.min((window.out_c as usize).div_ceil(PANEL))
        }
        _ => 0,
    }
}

/// [`Kernels::conv2d`](crate::kernels::Kernels::conv2d) for any target.
pub fn conv2d(args: &mut Conv2d<'_>) {
    run::<Portable>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut Conv2d<'_>) {
    let window = &args.window;
    let (out_h, out_w, outputs) = (window.out_h as usize, window.out_w as usize, window.out_c as usize);
    if panel_count(window) > 0 {
        small_kernel::<I>(args);
        activate_pixels(&args.epilogue, args.columns, outputs, 0..out_h * out_w, args.output, I::activate);
        return;
    }
    let input_per_row = window.stride as usize * window.in_w as usize * window.in_c as usize;
    let block_rows = (BLOCK_ELEMS / input_per_row.max(1)).max(1);
    for start in (0..out_h).step_by(block_rows) {
        let rows = start..out_h.min(start + block_rows);
        row_block::<I>(args, rows.clone());
        let pixels = rows.start * out_w..rows.end * out_w;
        activate_pixels(&args.epilogue, args.columns, outputs, pixels, args.output, I::activate);
    }
}

/// All outputs of some output rows.
#[inline(always)]
fn row_block<I: InnerLoops>(args: &mut Conv2d<'_>, rows: Range<usize>) {
    let window = args.window;
    let outputs = window.out_c as usize;
    let interior = window.interior_columns();
    for first in (0..outputs).step_by(OUTPUTS) {
        let weights = Weights::new(args.weights, kernel_elems(&window), first, outputs);
        let finish = Finish::new(&args.epilogue, first, outputs);
        for y in rows.clone() {
            let mut x = 0;
            while x < window.out_w as usize {
                // In the interior, pixels lie evenly in the input and share the weights; elsewhere each is a strip of its own.
                let pixels = if interior.contains(&x) { STRIP.min(interior.end - x) } else { 1 };
                let mut sums = [[0.0; OUTPUTS]; STRIP];
                let sums = sums.get_mut(..pixels).unwrap_or_default();
                let (start, rows, weights) = strip(&window, y, x, &weights);
                I::dot(args.input.get(start..).unwrap_or_default(), rows, weights, sums);
                let at = (y * window.out_w as usize + x) * args.columns.pitch + args.columns.first + first;
                finish.store(sums, args.output, at, args.columns.pitch);
                x += pixels;
            }
        }
    }
}

/// Where the input of the pixels from column `x` of output row `y` on begins and how it lies, and the weights that meet it.
#[inline(always)]
fn strip<'a>(
    window: &Window,
    y: usize,
    x: usize,
    weights: &Weights<'a, OUTPUTS>,
) -> (usize, Rows, Weights<'a, OUTPUTS>) {
    let channels = window.in_c as usize;
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let stretch = window.in_w as usize * channels;
    let kernel_row = window.kernel_w as usize * channels;
    let first = rows.first * kernel_row + columns.first * channels;
    (
        rows.input * stretch + columns.input * channels,
        Rows { pieces: rows.count, stretch, step: window.stride as usize * channels, len: columns.count * channels },
        weights.from(first, kernel_row),
    )
}

/// All outputs of the whole map, some panels after each other. The input of a few pixels is copied, with its padding, and
/// serves all these panels.
#[inline(always)]
fn small_kernel<I: InnerLoops>(args: &mut Conv2d<'_>) {
    let window = args.window;
    let (out_h, out_w, k) = (window.out_h as usize, window.out_w as usize, kernel_elems(&window));
    let outputs = window.out_c as usize;
    let Some((copy, panels)) = args.scratch.split_at_mut_checked(copy_elems(&window, PANEL_STRIP)) else { return };
    let panels = panels.get_mut(..panel_count(&window) * k * PANEL).unwrap_or_default().as_chunks_mut::<PANEL>().0;
    for group in (0..outputs).step_by(panels.len() / k * PANEL) {
        for (i, panel) in panels.chunks_mut(k).enumerate() {
            transpose(args.weights, group + i * PANEL, panel);
        }
        for y in 0..out_h {
            for x in (0..out_w).step_by(PANEL_STRIP) {
                let pixels = PANEL_STRIP.min(out_w - x);
                let copy = copy.get_mut(..copy_elems(&window, pixels)).unwrap_or_default();
                copy_with_padding(&window, y, x, pixels, args.input, copy);
                for (panel, first) in panels.chunks(k).zip((group..outputs).step_by(PANEL)) {
                    let mut sums = [[0.0; PANEL]; PANEL_STRIP];
                    let sums = sums.get_mut(..pixels).unwrap_or_default();
                    I::outer(copy, copied_rows(&window, pixels), panel, sums);
                    let at = (y * out_w + x) * args.columns.pitch + args.columns.first + first;
                    Finish::new(&args.epilogue, first, outputs).store(sums, args.output, at, args.columns.pitch);
                }
            }
        }
    }
}

/// How the windows of `pixels` neighbouring pixels lie in the copy of their input: overlapping, or end to end when the
/// stride skips columns.
#[inline(always)]
fn copied_rows(window: &Window, pixels: usize) -> Rows {
    let channels = window.in_c as usize;
    let step = window.stride.min(window.kernel_w) as usize * channels;
    let len = window.kernel_w as usize * channels;
    Rows { pieces: window.kernel_h as usize, stretch: pixels.saturating_sub(1) * step + len, step, len }
}

/// Elements of that copy.
#[inline(always)]
fn copy_elems(window: &Window, pixels: usize) -> usize {
    let rows = copied_rows(window, pixels);
    rows.pieces * rows.stretch
}

/// Copies what the pixels from column `x` of output row `y` on read: for each kernel row a stretch of input, zero in the
/// padding.
#[inline(always)]
fn copy_with_padding(window: &Window, y: usize, x: usize, pixels: usize, input: &[f32], copy: &mut [f32]) {
    let (channels, stride) = (window.in_c as usize, window.stride as usize);
    let Rows { stretch, step, len, .. } = copied_rows(window, pixels);
    // Overlapping windows are one run of columns, others a run each.
    let run = if stride * channels == step { stretch } else { len };
    let rows = window.rows_at(y);
    for (kernel_row, copy) in copy.chunks_mut(stretch).enumerate() {
        let inside = kernel_row.checked_sub(rows.first).filter(|&row| row < rows.count);
        for (pixel, copy) in copy.chunks_mut(run).enumerate() {
            let start = (x + pixel) * stride;
            let pad = window.pad_left as usize;
            let end = (window.in_w as usize + pad).saturating_sub(start).min(run / channels);
            let first = pad.saturating_sub(start).min(end);
            let Some(row) = inside.filter(|_| first < end) else {
                copy.fill(0.0);
                continue;
            };
            let from = ((rows.input + row) * window.in_w as usize + start + first - pad) * channels;
            let from = part(input, from, (end - first) * channels);
            copy_padded(copy, first * channels, from);
        }
    }
}

/// `to` becomes zeros, with `from` in place of those from `at` on.
#[inline(always)]
fn copy_padded(to: &mut [f32], at: usize, from: &[f32]) {
    let (before, rest) = to.split_at_mut_checked(at).unwrap_or_default();
    let (inside, after) = rest.split_at_mut_checked(from.len()).unwrap_or_default();
    before.fill(0.0);
    inside.copy_from_slice(from);
    after.fill(0.0);
}

/// Elements of the kernel of one output.
fn kernel_elems(window: &Window) -> usize {
    window.kernel_h as usize * window.kernel_w as usize * window.in_c as usize
}
