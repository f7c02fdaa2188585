//! Depthwise convolution: four channels at a time, whose weights are rearranged once for all pixels.

use core::array;
use core::ops::Range;

use super::finish::Finish;
use super::machine::{Machine, Native, Rectangle, SIDE};
use crate::kernels::int8::DepthwiseConv2d;
use crate::tensor::{Taps, Window, checked_product};

/// Most taps of a kernel: 1 KiB of words.
const MAX_TAPS: u32 = 256;

/// Scratch in i16 elements for a machine: the weights of four channels. Nothing where there are fewer channels, or more taps than a
/// kernel may have: these go one by one.
pub fn scratch_elems_of<M: Machine>(window: &Window) -> u32 {
    match checked_product(&[window.kernel_h, window.kernel_w]) {
        Some(taps) if taps <= MAX_TAPS && window.in_c >= SIDE as u32 => 2 * taps * M::TAP_WORDS as u32 + 1,
        _ => 0,
    }
}

/// Scratch in i16 elements.
pub fn scratch_elems(window: &Window) -> u32 {
    scratch_elems_of::<Native>(window)
}

/// Whether an output can be pooled: where four channels go together.
pub fn can_pool(window: &Window) -> bool {
    scratch_elems(window) > 0
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::int8::Kernels::depthwise_conv2d).
pub fn depthwise_conv2d<M: Machine>(args: &mut DepthwiseConv2d<'_>) {
    if scratch_elems_of::<M>(&args.window) == 0 {
        return one_by_one::<M>(args);
    }
    let channels = args.window.in_c as usize;
    for first in (0..channels).step_by(SIDE) {
        // The last block overlaps its neighbour rather than reach past the end.
        four_channels::<M>(args, first.min(channels - SIDE));
    }
}

/// Channels of their own, which are never pooled.
#[inline(never)]
fn one_by_one<M: Machine>(args: &mut DepthwiseConv2d<'_>) {
    let window = &args.window;
    let (channels, kernel_w) = (window.in_c as usize, window.kernel_w as usize);
    let elems = window.kernel_h as usize * kernel_w;
    let finish = Finish::new(&args.requantize, elems);
    for c in 0..channels {
        let channel = finish.channel(c);
        let weights = args.weights.get(c * elems..).unwrap_or_default();
        let mut output = c;
        for y in 0..window.out_h as usize {
            let rows = window.rows_at(y);
            for x in 0..window.out_w as usize {
                let columns = window.columns_at(x);
                let mut sum = 0i32;
                for row in 0..rows.count {
                    let line = (rows.input + row) * window.in_w as usize + columns.input;
                    let taps = (rows.first + row) * kernel_w + columns.first;
                    for tap in 0..columns.count {
                        let input = args.input.get((line + tap) * channels + c).map_or(0, |&code| i32::from(code));
                        let weight = weights.get(taps + tap).map_or(0, |&weight| i32::from(weight));
                        sum = sum.wrapping_add((input - args.requantize.input_zero_point) * weight);
                    }
                }
                finish.write::<M>(&channel, &[sum], args.output.get_mut(output..).unwrap_or_default(), 1);
                output += channels;
            }
        }
    }
}

/// Four channels of all pixels.
fn four_channels<M: Machine>(args: &mut DepthwiseConv2d<'_>, first: usize) {
    let window = args.window;
    let taps = bytemuck::pod_align_to_mut::<i16, i32>(args.scratch).1;
    let count = window.kernel_h as usize * window.kernel_w as usize;
    let weights = args.weights.get(first * count..).unwrap_or_default();
    for tap in 0..count {
        let mut channels = weights.iter().skip(tap).step_by(count.max(1)).copied();
        M::set_tap(taps, tap, array::from_fn(|_| channels.next().unwrap_or_default()));
    }
    let zero_point = args.requantize.input_zero_point;
    let block = Block::new(&window, args.input, taps, weights, first, zero_point);
    let finish = Finish::new(&args.requantize, count);
    let channels: [_; SIDE] = array::from_fn(|i| finish.channel(first + i));
    let size = if args.pooled { 2 } else { 1 };
    let outputs = args.output.chunks_mut((window.out_w as usize / size * window.in_c as usize).max(1));
    for (y, outputs) in outputs.enumerate().take(window.out_h as usize / size) {
        let rows = [0, 1].map(|row| window.rows_at((size * y + row).min(window.out_h as usize - 1)));
        for (x, codes) in outputs.chunks_mut(window.in_c as usize).enumerate() {
            let Some(codes) = codes.get_mut(first..).and_then(<[i8]>::first_chunk_mut::<SIDE>) else { return };
            if args.pooled {
                let [mut a, mut b, mut c, mut d] = [block.everywhere; SIDE];
                block.sums::<M>(&rows[0], 2 * x, &mut a);
                block.sums::<M>(&rows[0], 2 * x + 1, &mut b);
                block.sums::<M>(&rows[1], 2 * x, &mut c);
                block.sums::<M>(&rows[1], 2 * x + 1, &mut d);
                for (i, (code, channel)) in codes.chunks_mut(1).zip(&channels).enumerate() {
                    finish.largest::<M>(channel, &[a[i], b[i], c[i], d[i]], code);
                }
            } else {
                let mut sums = block.everywhere;
                block.sums::<M>(&rows[0], x, &mut sums);
                for ((code, channel), sum) in codes.chunks_mut(1).zip(&channels).zip(sums) {
                    finish.codes::<M>(channel, &[sum], code, 1);
                }
            }
        }
    }
}

/// Four channels.
struct Block<'a> {
    window: &'a Window,
    input: &'a [i8],
    /// Their weights as the machine multiplies them.
    taps: &'a [i32],
    /// The same as the file has them.
    weights: &'a [i8],
    /// The first of them.
    first: usize,
    zero_point: i32,
    /// Output columns whose windows lie inside the input from left to right.
    interior: Range<usize>,
    /// The rectangle of all taps.
    all_taps: Rectangle,
    /// What the zero point adds where all of a window lies inside the input.
    everywhere: [i32; SIDE],
}

impl<'a> Block<'a> {
    fn new(
        window: &'a Window,
        input: &'a [i8],
        taps: &'a [i32],
        weights: &'a [i8],
        first: usize,
        zero_point: i32,
    ) -> Self {
        let (rows, columns, channels) = (window.kernel_h as usize, window.kernel_w as usize, window.in_c as usize);
        let input_row = window.in_w as usize * channels;
        let all_taps = Rectangle { rows, columns, channels, input_row, kernel_row: columns };
        let interior = window.interior_columns();
        let mut block =
            Self { window, input, taps, weights, first, zero_point, interior, all_taps, everywhere: [0; SIDE] };
        block.everywhere = block.excess(0..rows, 0..columns);
        block
    }

    /// Adds the products of a window to sums that begin as [`Self::everywhere`].
    #[inline(never)]
    fn sums<M: Machine>(&self, rows: &Taps, x: usize, sums: &mut [i32; SIDE]) {
        if rows.count != self.all_taps.rows || !self.interior.contains(&x) {
            *sums = self.border::<M>(rows, &self.window.columns_at(x));
            return;
        }
        let column = x * self.window.stride as usize - self.window.pad_left as usize;
        let input = rows.input * self.all_taps.input_row + column * self.all_taps.channels + self.first;
        M::four_channels(self.input.get(input..).unwrap_or_default(), self.taps, &self.all_taps, sums);
    }

    /// The sums of a window that lies partly outside the input.
    #[inline(never)]
    fn border<M: Machine>(&self, rows: &Taps, columns: &Taps) -> [i32; SIDE] {
        if rows.count == 0 || columns.count == 0 {
            return [0; SIDE];
        }
        let mut sums = self.excess(rows.first..rows.first + rows.count, columns.first..columns.first + columns.count);
        let rectangle = Rectangle { rows: rows.count, columns: columns.count, ..self.all_taps };
        let input = rows.input * rectangle.input_row + columns.input * rectangle.channels + self.first;
        let tap = rows.first * rectangle.kernel_row + columns.first;
        let (input, taps) = (self.input.get(input..), self.taps.get(tap * M::TAP_WORDS..));
        M::four_channels(input.unwrap_or_default(), taps.unwrap_or_default(), &rectangle, &mut sums);
        sums
    }

    /// What the zero point adds to the products of these taps.
    fn excess(&self, rows: Range<usize>, columns: Range<usize>) -> [i32; SIDE] {
        let kernel_w = self.all_taps.columns.max(1);
        let mut weights = self.weights.chunks((self.all_taps.rows * kernel_w).max(1));
        array::from_fn(|_| {
            let lines = weights.next().unwrap_or_default().chunks(kernel_w).skip(rows.start).take(rows.len());
            let taps = lines.flat_map(|line| line.get(columns.clone()).unwrap_or_default());
            taps.fold(0i32, |sum, &weight| sum + i32::from(weight)).wrapping_mul(-self.zero_point)
        })
    }
}
