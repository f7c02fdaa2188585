//! Depthwise convolution: every channel has a kernel of its own.
//!
//! Channels are the lanes. The weights of a block of channels are transposed into scratch as `[tap][channel]`; then one
//! output pixel's block is a sum over taps of input vectors times weight vectors, kept in registers. Clipping at the
//! border is a matter of which taps are visited, decided once per pixel.
//!
//! ```text
//! blocks of 32, 16    the sums fill the registers; rows of them are finished in the output
//! 8                   what is left of the channels; the last block may reach past them, its surplus lanes are dropped
//! ```

use crate::kernels::args::{Columns, DepthwiseConv2d};
use crate::kernels::portable::PORTABLE;
use crate::kernels::portable::epilogue::{Finish, activate_pixels, lanes};
use crate::kernels::portable::panel::{Panel, Span, scale_panel, with_stride};
use crate::kernels::portable::tile::{DepthwiseLoops, InnerLoops, Rows, add_product, part, settle, transpose};
use crate::tensor::{Taps, Window};

/// Channels of the widest block.
const WIDE: usize = 32;
/// Channels of the second widest block.
const MEDIUM: usize = 16;
/// Channels of a block at the end, which may reach past the channels.
const NARROW: usize = 8;
/// Most scratch, in elements: 8 KiB.
const MAX_SCRATCH_ELEMS: u64 = 2048;

/// Scratch in elements: the weights of the widest block that the channels fill and that fits in 8 KiB; nothing for
/// kernels so large that not even the narrowest block fits.
pub fn scratch_elems(window: &Window) -> u32 {
    let taps = u64::from(window.kernel_h) * u64::from(window.kernel_w);
    (taps * widest_block(window) as u64) as u32
}

/// Channels of the widest block, 0 when the weights are read in place.
fn widest_block(window: &Window) -> usize {
    let taps = u64::from(window.kernel_h) * u64::from(window.kernel_w);
    let fits = |block: usize| taps * block as u64 <= MAX_SCRATCH_ELEMS;
    let wanted = |block: usize| window.in_c as usize >= block || block == NARROW;
    [WIDE, MEDIUM, NARROW].into_iter().find(|&block| wanted(block) && fits(block)).unwrap_or(0)
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::Kernels::depthwise_conv2d) for any target.
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    run(args, &PORTABLE);
}

/// The kernel with the inner loops of a level.
#[inline(never)]
pub(in crate::kernels) fn run(args: &mut DepthwiseConv2d<'_>, loops: &InnerLoops) {
    let channels = args.window.in_c as usize;
    let widest = widest_block(&args.window);
    let mut first = 0;
    while first < channels {
        let most = widest.min(channels - first);
        let block = loops.depthwise.iter().find(|block| block.channels <= most);
        first += match block {
            Some(block) => full_block(args, block, first),
            None if widest >= NARROW => last_block(args, first),
            None => block_in_place(args, first),
        };
    }
    let columns = Columns { pitch: channels, first: 0 };
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    activate_pixels(&args.epilogue, columns, 0..pixels, args.output, loops.activate);
}

/// The channels of a block, for the whole map; their sums are finished row by row in the output. Returns how many.
fn full_block(args: &mut DepthwiseConv2d<'_>, block: &DepthwiseLoops, first: usize) -> usize {
    let window = with_stride(&args.window);
    let (kernel_w, channels) = (window.kernel_w as usize, window.in_c as usize);
    let taps = window.kernel_h as usize * kernel_w;
    let width = block.channels;
    let Some(panel) = args.scratch.get_mut(..taps * width) else { return width };
    transpose(args.weights, first, panel, width);
    scale_panel(&args.epilogue, first, panel, width);
    let input = args.input.get(first..).unwrap_or_default();
    let stretch = window.in_w as usize * channels;
    let interior = window.interior_columns();
    let span = Span { pixels: window.out_w as usize, pitch: channels, fresh: !args.epilogue.accumulate };
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        let output = args.output.get_mut(y * span.pixels * channels + first..).unwrap_or_default();
        let mut x = 0;
        while x < span.pixels {
            let pixels = if interior.contains(&x) { interior.end - x } else { 1 };
            let columns = window.columns_at(x);
            let start = rows.input * stretch + columns.input * channels;
            let weights = panel.get((rows.first * kernel_w + columns.first) * width..).unwrap_or_default();
            (block.taps)(
                input.get(start..).unwrap_or_default(),
                Rows { pieces: rows.count, stretch, step: window.step(channels), len: columns.count },
                Panel { weights, step: kernel_w },
                output.get_mut(x * channels..).unwrap_or_default(),
                Span { pixels, ..span },
            );
            x += pixels;
        }
        (block.finish)(&args.epilogue, first, output, span);
    }
    width
}

/// Adds to each output pixel of `span` the sum over the pieces and their `len` taps of input times weight. Taps, like
/// pixels of the output, are `span.pitch` elements apart.
#[inline(always)]
pub(in crate::kernels) fn taps<const B: usize>(
    mut input: &[f32],
    rows: Rows,
    panel: Panel<'_>,
    mut output: &mut [f32],
    span: Span,
) {
    let weights = panel.rows::<B>();
    for _ in 0..span.pixels {
        let Some(sums) = output.first_chunk_mut() else { return };
        let start = if span.fresh { [0.0; B] } else { *sums };
        let Some(added) = add_taps(start, input, rows, (weights, panel.step), span.pitch) else { return };
        *sums = added;
        input = input.get(rows.step..).unwrap_or_default();
        output = output.get_mut(span.pitch..).unwrap_or_default();
    }
}

#[inline(always)]
fn add_taps<const B: usize>(
    mut sums: [f32; B],
    input: &[f32],
    rows: Rows,
    (weights, weights_step): (&[[f32; B]], usize),
    pitch: usize,
) -> Option<[f32; B]> {
    for piece in 0..rows.pieces {
        let mut at = piece * rows.stretch;
        for weights in weights.get(piece * weights_step..)?.get(..rows.len)? {
            add_product(&mut sums, input.get(at..)?.first_chunk()?, weights);
            at += pitch;
        }
    }
    Some(sums)
}

/// Up to `NARROW` channels of the whole map; returns `NARROW`.
fn last_block(args: &mut DepthwiseConv2d<'_>, first: usize) -> usize {
    let window = args.window;
    let taps = window.kernel_h as usize * window.kernel_w as usize;
    let panel = args.scratch.get_mut(..taps * NARROW).unwrap_or_default();
    transpose(args.weights, first, panel, NARROW);
    let panel = panel.as_chunks().0;
    let finish = Finish::new(&args.epilogue, first);
    let input = args.input.get(first..).unwrap_or_default();
    let mut at = first;
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let sums = [pixel(&window, input, panel, rows, window.columns_at(x))];
            finish.store(&sums, args.output, at, window.in_c as usize);
            at += window.in_c as usize;
        }
    }
    NARROW
}

/// Sums of one output pixel over its kernel rows and columns inside the input.
#[inline(always)]
fn pixel(window: &Window, input: &[f32], panel: &[[f32; NARROW]], rows: Taps, columns: Taps) -> [f32; NARROW] {
    let channels = window.in_c as usize;
    let mut sums = [0.0; NARROW];
    for row in 0..rows.count {
        let mut at = ((rows.input + row) * window.in_w as usize + columns.input) * channels;
        let tap = (rows.first + row) * window.kernel_w as usize + columns.first;
        for weights in part(panel, tap, columns.count) {
            let input = input.get(at..).unwrap_or_default();
            let padded: [f32; NARROW];
            let vector = match input.first_chunk() {
                Some(vector) => vector,
                None => {
                    padded = lanes(input, 0, 0.0);
                    &padded
                }
            };
            add_product(&mut sums, vector, weights);
            at += channels;
        }
    }
    settle(sums)
}

/// One channel of the whole map with the weights where they are; returns 1.
fn block_in_place(args: &mut DepthwiseConv2d<'_>, first: usize) -> usize {
    let window = args.window;
    let channels = window.in_c as usize;
    let taps = window.kernel_h as usize * window.kernel_w as usize;
    let weights = part(args.weights, first * taps, taps);
    let finish = Finish::<1>::new(&args.epilogue, first);
    let mut at = first;
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let columns = window.columns_at(x);
            let mut sum = 0.0;
            for row in 0..rows.count {
                let start = ((rows.input + row) * window.in_w as usize + columns.input) * channels + first;
                let input = args.input.get(start..).unwrap_or_default().iter().step_by(channels);
                let tap = (rows.first + row) * window.kernel_w as usize + columns.first;
                sum = part(weights, tap, columns.count).iter().zip(input).fold(sum, |sum, (w, x)| sum + x * w);
            }
            finish.store(&[[sum]], args.output, at, channels);
            at += channels;
        }
    }
    1
}
