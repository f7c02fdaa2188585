//! Depthwise convolution: every channel has a kernel of its own.
//!
//! Channels are the lanes. The weights of a block of channels are transposed into scratch as `[tap][channel]`; then one
//! output pixel's block is a sum over taps of input vectors times weight vectors, kept in registers. Pixels that meet the
//! same taps lie in lines: those of a row in the interior of the map, those of a column at its left and right border.
//!
//! ```text
//! blocks of 32, 16, 8    an inner loop of the level takes a line at a time, so that several pixels share the loaded weights
//! 8                      what is left of the channels: reaches past them, the surplus lanes are dropped
//! ```

use crate::kernels::args::{Columns, DepthwiseConv2d};
use crate::kernels::portable::PORTABLE;
use crate::kernels::portable::epilogue::{Finish, activate_pixels, lanes, offsets};
use crate::kernels::portable::panel::{Ends, Panel, Span, activate_span, scale_panel, with_stride};
use crate::kernels::portable::tile::{DepthwiseLoops, InnerLoops, Line, Rows, add_product, part, settle, transpose};
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
            Some(block) => full_block(args, loops, block, first),
            None if widest >= NARROW => last_block(args, first),
            None => block_in_place(args, first),
        };
    }
    let columns = Columns { pitch: channels, first: 0 };
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    activate_pixels(&args.epilogue, columns, 0..pixels, args.output, loops.activate);
}

/// The channels of a block, for the whole map. Returns how many.
fn full_block(args: &mut DepthwiseConv2d<'_>, loops: &InnerLoops, block: &DepthwiseLoops, first: usize) -> usize {
    let window = with_stride(&args.window);
    let taps = window.kernel_h as usize * window.kernel_w as usize;
    let width = block.channels;
    let (Some(panel), Some(product)) = (args.scratch.get_mut(..taps * width), loops.widest(width)) else {
        return width;
    };
    (product.transpose)(args.weights, taps, first, 0, panel);
    scale_panel(&args.epilogue, first, panel, width);
    let offsets: [f32; WIDE] = offsets(&args.epilogue, first);
    let bias = offsets.get(..width).unwrap_or_default();
    let ends = Ends { bias, activation: args.epilogue.activation, next: &[] };
    let fresh = !args.epilogue.accumulate;
    let mut map = Map {
        window,
        block,
        input: args.input.get(first..).unwrap_or_default(),
        panel,
        output: args.output.get_mut(first..).unwrap_or_default(),
        fresh,
        ends,
    };
    let (out_h, out_w, interior) = (window.out_h as usize, window.out_w as usize, window.interior_columns());
    for y in (0..out_h).filter(|_| !interior.is_empty()) {
        map.line(y, interior.start, interior.len(), false);
    }
    for x in (0..interior.start).chain(interior.end..out_w) {
        let mut y = 0;
        while y < out_h {
            let pixels = window.rows_alike(y);
            map.line(y, x, pixels, true);
            y += pixels;
        }
    }
    width
}

/// A block of channels of the whole map.
struct Map<'a> {
    window: Window,
    block: &'a DepthwiseLoops,
    /// From the first channel of the block on, like `output`.
    input: &'a [f32],
    panel: &'a [f32],
    output: &'a mut [f32],
    /// Whether sums begin at zero.
    fresh: bool,
    ends: Ends<'a>,
}

impl Map<'_> {
    /// Some pixels from row `y` and column `x` on, side by side or below each other, that meet the same taps.
    fn line(&mut self, y: usize, x: usize, pixels: usize, is_column: bool) {
        let window = &self.window;
        let (channels, kernel_w, out_w) = (window.in_c as usize, window.kernel_w as usize, window.out_w as usize);
        let stretch = window.in_w as usize * channels;
        let (rows, columns) = (window.rows_at(y), window.columns_at(x));
        let start = rows.input * stretch + columns.input * channels;
        let tap = rows.first * kernel_w + columns.first;
        let step = window.step(if is_column { stretch } else { channels });
        let pitch = if is_column { out_w * channels } else { channels };
        let line = Line {
            input: self.input.get(start..).unwrap_or_default(),
            rows: Rows { pieces: rows.count, stretch, step, len: columns.count },
            channels,
            panel: Panel { weights: self.panel.get(tap * self.block.channels..).unwrap_or_default(), step: kernel_w },
            span: Span { pixels, pitch, fresh: self.fresh },
            ends: self.ends,
        };
        (self.block.taps)(&line, self.output.get_mut((y * out_w + x) * channels..).unwrap_or_default());
    }
}

/// Sets each output pixel of a line to the sum over all taps of input times weight, or adds it.
#[inline(always)]
pub(in crate::kernels) fn taps<const B: usize>(line: &Line<'_>, output: &mut [f32]) {
    let Span { pixels, pitch, fresh } = line.span;
    let bias = line.ends.bias.first_chunk().copied().unwrap_or([0.0; B]);
    let mut input = line.input;
    for pixel in output.chunks_mut(pitch.max(1)).take(pixels) {
        let Some(sums) = pixel.first_chunk_mut() else { return };
        let mut start = bias;
        if !fresh {
            add_product(&mut start, sums, &[1.0; B]);
        }
        let Some(added) = add_taps(start, input, line) else { return };
        *sums = added;
        input = input.get(line.rows.step..).unwrap_or_default();
    }
    activate_span(line.ends.activation, output, line.span, B);
}

#[inline(always)]
fn add_taps<const B: usize>(mut sums: [f32; B], input: &[f32], line: &Line<'_>) -> Option<[f32; B]> {
    let weights = line.panel.rows::<B>();
    for piece in 0..line.rows.pieces {
        let mut at = piece * line.rows.stretch;
        for weights in weights.get(piece * line.panel.step..)?.get(..line.rows.len)? {
            add_product(&mut sums, input.get(at..)?.first_chunk()?, weights);
            at += line.channels;
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
