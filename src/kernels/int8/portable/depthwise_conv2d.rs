//! Depthwise convolution, blocks of channels at a time.
//!
//! The product of a code and a negated weight is at least -2^14, and at most 127 * 128: two of them fit an i16, whatever
//! the values. So taps are multiplied and added in pairs of i16, twice as many lanes as i32 has, and subtracted from the
//! sums. The zero point is left out of the products; its share, `zero_point * sum of the weights inside the input`, is
//! the same for all pixels away from the border.

use core::hint::black_box;

use super::finish::{Finish, lanes};
use super::tile::part;
use crate::kernels::int8::DepthwiseConv2d;
use crate::tensor::{Taps, Window};

/// Channels of a block.
const BLOCK: usize = 8;
/// Most weights in scratch: 4 KiB. Larger kernels read them in place.
const MAX_SCRATCH_ELEMS: u64 = 2048;

/// Scratch in i16 elements: the weights of one block, transposed and negated.
pub fn scratch_elems(window: &Window) -> u32 {
    let elems = u64::from(window.kernel_h) * u64::from(window.kernel_w) * BLOCK as u64;
    if elems <= MAX_SCRATCH_ELEMS { elems as u32 } else { 0 }
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::int8::Kernels::depthwise_conv2d) as every target has it.
#[inline(always)]
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    if scratch_elems(&args.window) == 0 {
        crate::kernels::int8::reference::depthwise_conv2d::depthwise_conv2d(args);
        return;
    }
    for first in (0..args.window.in_c as usize).step_by(BLOCK) {
        block(args, first);
    }
}

/// Some channels of the whole map.
#[inline(always)]
fn block(args: &mut DepthwiseConv2d<'_>, first: usize) {
    let window = args.window;
    let (requantize, channels) = (args.requantize, window.in_c as usize);
    let panel = args.scratch.as_chunks_mut::<BLOCK>().0;
    transpose(args.weights, first..channels, panel);
    let finish = Finish::<BLOCK>::new(&requantize, first);
    let input = args.input.get(first..).unwrap_or_default();
    let mut at = first;
    let mut inside = None;
    let mut share = [0; BLOCK];
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let columns = window.columns_at(x);
            let taps = (rows.first, rows.count, columns.first, columns.count);
            if inside != Some(taps) {
                inside = Some(taps);
                share = zero_point_share(&window, panel, rows, columns, requantize.input_zero_point);
            }
            let sums = pixel(&window, input, panel, rows, columns, share);
            finish.store(&[sums], args.output, at, channels);
            at += channels;
        }
    }
}

/// `zero_point * sum of the negated weights inside the input`
#[inline(always)]
fn zero_point_share(window: &Window, panel: &[[i16; BLOCK]], rows: Taps, columns: Taps, zero_point: i32) -> [i32; BLOCK] {
    let mut sums = [0i32; BLOCK];
    for row in 0..rows.count {
        let tap = (rows.first + row) * window.kernel_w as usize + columns.first;
        for weights in part(panel, tap, columns.count) {
            for (sum, &w) in sums.iter_mut().zip(weights) {
                *sum += i32::from(w);
            }
        }
    }
    sums.map(|sum| sum.wrapping_mul(zero_point))
}

/// Sums of one output pixel, from the share of the zero point on.
#[inline(always)]
fn pixel(
    window: &Window,
    input: &[i8],
    panel: &[[i16; BLOCK]],
    rows: Taps,
    columns: Taps,
    share: [i32; BLOCK],
) -> [i32; BLOCK] {
    let channels = window.in_c as usize;
    let mut sums = share;
    for row in 0..rows.count {
        let mut at = ((rows.input + row) * window.in_w as usize + columns.input) * channels;
        let tap = (rows.first + row) * window.kernel_w as usize + columns.first;
        let (pairs, rest) = part(panel, tap, columns.count).as_chunks::<2>();
        for [a, b] in pairs {
            let (x, y) = (vector(input, at), vector(input, at + channels));
            for (i, sum) in sums.iter_mut().enumerate() {
                let products = (x[i].wrapping_mul(a[i])).wrapping_add(y[i].wrapping_mul(b[i]));
                *sum = sum.wrapping_sub(i32::from(products));
            }
            at += 2 * channels;
        }
        if let [a] = rest {
            let x = vector(input, at);
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = sum.wrapping_sub(i32::from(x[i].wrapping_mul(a[i])));
            }
        }
    }
    black_box(sums)
}

/// The codes of a block of channels, zero past the last one.
#[inline(always)]
fn vector(input: &[i8], at: usize) -> [i16; BLOCK] {
    let input = input.get(at..).unwrap_or_default();
    match input.first_chunk::<BLOCK>() {
        Some(codes) => codes.map(i16::from),
        None => lanes::<i8, BLOCK>(input, 0).map(i16::from),
    }
}

/// Writes the negated weights of a block of channels into `panel[tap][..]`, zero where there is no channel.
#[inline(always)]
fn transpose(weights: &[i8], channels: core::ops::Range<usize>, panel: &mut [[i16; BLOCK]]) {
    let taps = panel.len();
    let weights = weights.get(channels.start * taps..channels.end * taps).unwrap_or_default();
    for (tap, out) in panel.iter_mut().enumerate() {
        for (c, out) in out.iter_mut().enumerate() {
            *out = weights.get(c * taps + tap).map_or(0, |&w| -i16::from(w));
        }
    }
}
