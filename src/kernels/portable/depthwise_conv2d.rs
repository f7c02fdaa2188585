//! Depthwise convolution: every channel has a kernel of its own.
//!
//! Channels are the lanes. The weights of a block of channels are transposed into scratch as `[tap][channel]`; then one
//! output pixel's block is a sum over taps of input vectors times weight vectors, kept in registers. Clipping at the
//! border is a matter of which taps are visited, decided once per pixel.
//!
//! ```text
//! blocks of 32        the sums fill the registers
//! 16, then 8          what is left of the channels; the last block may reach past them, its surplus lanes are dropped
//! ```

use crate::kernels::args::{Columns, DepthwiseConv2d};
use crate::kernels::portable::Portable;
use crate::kernels::portable::epilogue::{Finish, activate_pixels, lanes};
use crate::kernels::portable::tile::{InnerLoops, add_product, part, settle, transpose};
use crate::tensor::{Taps, Window};

/// Channels of the widest block.
const WIDE: usize = 32;
/// Channels of the second widest block.
const MEDIUM: usize = 16;
/// Channels of the narrowest block.
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
    run::<Portable>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut DepthwiseConv2d<'_>) {
    let channels = args.window.in_c as usize;
    let widest = widest_block(&args.window);
    let mut first = 0;
    while first < channels {
        let left = channels - first;
        first += if widest >= WIDE && left >= WIDE {
            block::<WIDE>(args, first)
        } else if widest >= MEDIUM && left >= MEDIUM {
            block::<MEDIUM>(args, first)
        } else if widest >= NARROW {
            block::<NARROW>(args, first)
        } else {
            block_in_place(args, first)
        };
    }
    let columns = Columns { pitch: channels, first: 0 };
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    activate_pixels(&args.epilogue, columns, channels, 0..pixels, args.output, I::activate);
}

/// `B` channels of the whole map; returns `B`.
#[inline(always)]
fn block<const B: usize>(args: &mut DepthwiseConv2d<'_>, first: usize) -> usize {
    let window = args.window;
    let taps = window.kernel_h as usize * window.kernel_w as usize;
    let panel = args.scratch.as_chunks_mut::<B>().0.get_mut(..taps).unwrap_or_default();
    transpose(args.weights, first, panel);
    let finish = Finish::new(&args.epilogue, first, window.in_c as usize);
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
    B
}

/// Sums of one output pixel over its kernel rows and columns inside the input.
#[inline(always)]
fn pixel<const B: usize>(window: &Window, input: &[f32], panel: &[[f32; B]], rows: Taps, columns: Taps) -> [f32; B] {
    let channels = window.in_c as usize;
    let mut sums = [0.0; B];
    for row in 0..rows.count {
        let mut at = ((rows.input + row) * window.in_w as usize + columns.input) * channels;
        let tap = (rows.first + row) * window.kernel_w as usize + columns.first;
        for weights in part(panel, tap, columns.count) {
            let input = input.get(at..).unwrap_or_default();
            let padded: [f32; B];
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
#[inline(always)]
fn block_in_place(args: &mut DepthwiseConv2d<'_>, first: usize) -> usize {
    let window = args.window;
    let channels = window.in_c as usize;
    let taps = window.kernel_h as usize * window.kernel_w as usize;
    let weights = part(args.weights, first * taps, taps);
    let finish = Finish::<1>::new(&args.epilogue, first, channels);
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
