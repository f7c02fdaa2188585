//! Convolution: the inputs under the windows of four pixels as rows, times the weights of one filter after the other. A
//! single pixel goes four filters at a time.

use core::ops::Range;

use super::finish::Finish;
use super::machine::{GROUP, Machine, Native, SIDE};
use super::rows::{Map, Side, pixel_at};
use crate::kernels::Filters;
use crate::kernels::int8::Conv2d;
use crate::kernels::int8::portable::gather::is_pointwise;
use crate::tensor::{Window, checked_product};

/// Longest part of the rows of four pixels that is in scratch at a time.
const MAX_PIECE: usize = 512;
/// Filters whose sums are kept while parts of the rows pass.
const KEPT: usize = 8;

/// Values of a code.
const CODES: usize = 256;
/// Outputs of all codes that a table in scratch holds.
const TABLE: usize = 8;

/// Scratch in i16 elements for a machine: rows, and what aligns them.
pub fn scratch_elems_of<M: Machine>(window: &Window, pooled: bool) -> u32 {
    if has_tables(window, pooled) {
        return (CODES * TABLE / 2) as u32;
    }
    let Some(k) = checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) else { return 0 };
    let (k, single) = (k as usize, is_single(window));
    let (most, words) = if single { (SIDE * MAX_PIECE, M::SINGLE_WORDS) } else { (MAX_PIECE, M::GROUP_WORDS) };
    (k.min(most).div_ceil(GROUP) * words * 2 + 1) as u32
}

/// Scratch in i16 elements.
pub fn scratch_elems(window: &Window, pooled: bool) -> u32 {
    scratch_elems_of::<Native>(window, pooled)
}

/// Whether each pixel is one code, and there are enough of them to compute the outputs of all codes instead.
fn has_tables(window: &Window, pooled: bool) -> bool {
    let pixels = window.out_h as u64 * window.out_w as u64;
    !pooled && window.in_c == 1 && is_pointwise(window) && pixels >= 2 * CODES as u64
}

/// Whether an output can be pooled: every one.
pub fn can_pool(_window: &Window) -> bool {
    true
}

fn is_single(window: &Window) -> bool {
    window.out_h as u64 * window.out_w as u64 == 1
}

/// [`Kernels::conv2d`](crate::kernels::int8::Kernels::conv2d).
pub fn conv2d<M: Machine>(args: &mut Conv2d<'_>) {
    let filters = args.filters();
    let k = filters.elems();
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    let has_tables = has_tables(&args.window, args.pooled);
    let map = Map { window: &args.window, input: args.input, zero_point: args.requantize.input_zero_point };
    let convolution = Convolution {
        map,
        filters,
        weight_zero_point: args.requantize.weight_zero_point,
        outputs: args.requantize.bias.len(),
        finish: Finish::new(&args.requantize, k),
        pooled: args.pooled,
        k,
    };
    if has_tables {
        return convolution.by_tables::<M>(bytemuck::cast_slice_mut(args.scratch), args.output);
    }
    let rows = bytemuck::pod_align_to_mut::<i16, i32>(args.scratch).1;
    if is_single(&args.window) {
        return convolution.single_pixel::<M>(rows, args.output);
    }
    for start in (0..pixels).step_by(SIDE) {
        let at = if args.pooled { start / SIDE } else { start } * convolution.outputs;
        let output = args.output.get_mut(at..).unwrap_or_default();
        convolution.four_pixels::<M>(rows, start..pixels.min(start + SIDE), output);
    }
}

/// What all pixels share.
struct Convolution<'a> {
    map: Map<'a>,
    filters: Filters<'a, i8>,
    weight_zero_point: i32,
    outputs: usize,
    finish: Finish<'a>,
    pooled: bool,
    /// Products of a sum.
    k: usize,
}

impl Convolution<'_> {
    fn four_pixels<M: Machine>(&self, rows: &mut [i32], pixels: Range<usize>, output: &mut [i8]) {
        let piece = rows.len() / M::GROUP_WORDS * GROUP;
        if self.k > piece {
            return self.in_pieces::<M>(rows, pixels, piece, output);
        }
        self.gather::<M>(rows, &pixels, 0..self.k);
        let start = self.weight_excess::<M>(rows, self.k);
        if !self.filters.are_whole() {
            for filter in 0..self.outputs {
                let mut sums = start;
                self.products::<M>(rows, filter, 0..self.k, &mut sums);
                self.store::<M>(sums, filter, pixels.len(), output);
            }
            return;
        }
        if self.pooled {
            self.whole_filters::<M, true>(rows, &start, pixels.len(), output);
        } else {
            self.whole_filters::<M, false>(rows, &start, pixels.len(), output);
        }
    }

    /// Filters whose weights follow each other, times whole rows. A function of its own, which keeps its state in registers.
    #[inline(never)]
    fn whole_filters<M: Machine, const POOLED: bool>(
        &self,
        rows: &[i32],
        start: &[i32; SIDE],
        pixels: usize,
        output: &mut [i8],
    ) {
        let whole = self.k.next_multiple_of(GROUP);
        let rows = rows.get(..whole / GROUP * M::GROUP_WORDS).unwrap_or_default();
        let mut weights = self.filters.weights;
        for (filter, channel) in self.finish.channels().enumerate() {
            let mut sums = *start;
            if let Some(weights) = weights.get(..whole) {
                // Weights of the next filter meet zeros at the end of the rows.
                M::four_pixels(rows, weights, &mut sums);
            } else {
                self.products::<M>(rows, filter, 0..self.k, &mut sums);
            }
            weights = weights.get(self.filters.pitch.filter..).unwrap_or_default();
            let output = output.get_mut(filter..).unwrap_or_default();
            if POOLED {
                self.finish.largest::<M>(&channel, &sums, output);
            } else {
                self.finish.codes::<M>(&channel, sums.get(..pixels).unwrap_or(&sums), output, self.outputs);
            }
        }
    }

    /// Pixels of one code each: the outputs of all codes, looked up.
    #[inline(never)]
    fn by_tables<M: Machine>(&self, scratch: &mut [i8], output: &mut [i8]) {
        let table = scratch.as_chunks_mut::<TABLE>().0;
        let mut weights = self.filters.weights.chunks(self.filters.pitch.filter.max(1));
        for first in (0..self.outputs).step_by(TABLE) {
            let count = TABLE.min(self.outputs - first);
            for (column, weights) in (0..count).zip(&mut weights) {
                let channel = self.finish.channel(first + column);
                let weight = weights.first().map_or(0, |&weight| i32::from(weight)) - self.weight_zero_point;
                for (code, entries) in (i32::from(i8::MIN)..).step_by(SIDE).zip(table.chunks_mut(SIDE)) {
                    let sum = |i: i32| (code + i - self.map.zero_point).wrapping_mul(weight);
                    let entries = entries.as_flattened_mut().get_mut(column..).unwrap_or_default();
                    self.finish.codes::<M>(&channel, &[sum(0), sum(1), sum(2), sum(3)], entries, TABLE);
                }
            }
            let output = output.get_mut(first..).unwrap_or_default();
            for (output, &code) in output.chunks_mut(self.outputs.max(1)).zip(self.map.input) {
                // From -128 up.
                let Some(entry) = table.get(usize::from(code as u8 ^ 0x80)) else { return };
                if count < TABLE {
                    for (output, &code) in output.iter_mut().zip(entry).take(count) {
                        *output = code;
                    }
                } else if let Some(output) = output.first_chunk_mut() {
                    *output = *entry;
                }
            }
        }
    }

    /// Rows that do not fit the scratch.
    #[inline(never)]
    fn in_pieces<M: Machine>(&self, rows: &mut [i32], pixels: Range<usize>, piece: usize, output: &mut [i8]) {
        for first in (0..self.outputs).step_by(KEPT) {
            let mut sums = [[0i32; SIDE]; KEPT];
            for start in (0..self.k).step_by(piece.max(1)) {
                let range = start..self.k.min(start + piece);
                self.gather::<M>(rows, &pixels, range.clone());
                let excess = self.weight_excess::<M>(rows, range.len());
                for (filter, sums) in (first..self.outputs).zip(&mut sums) {
                    for (sum, excess) in sums.iter_mut().zip(excess) {
                        *sum = sum.wrapping_add(excess);
                    }
                    self.products::<M>(rows, filter, range.clone(), sums);
                }
            }
            for (filter, sums) in (first..self.outputs).zip(sums) {
                self.store::<M>(sums, filter, pixels.len(), output);
            }
        }
    }

    /// What the zero point of the weights adds to the products of `len` inputs.
    fn weight_excess<M: Machine>(&self, rows: &[i32], len: usize) -> [i32; SIDE] {
        if self.weight_zero_point == 0 {
            return [0; SIDE];
        }
        core::array::from_fn(|pixel| {
            let inputs = (0..len).fold(0i32, |sum, k| sum.wrapping_add(M::get(rows, k, pixel)));
            inputs.wrapping_mul(-self.weight_zero_point)
        })
    }

    /// Writes the codes of a filter.
    #[inline(never)]
    fn store<M: Machine>(&self, sums: [i32; SIDE], filter: usize, pixels: usize, output: &mut [i8]) {
        let output = output.get_mut(filter..).unwrap_or_default();
        let channel = self.finish.channel(filter);
        if self.pooled {
            return self.finish.largest::<M>(&channel, &sums, output);
        }
        self.finish.write::<M>(&channel, sums.get(..pixels).unwrap_or(&sums), output, self.outputs);
    }

    /// Writes part of the rows of four pixels, with zeros behind up to a whole group.
    fn gather<M: Machine>(&self, rows: &mut [i32], pixels: &Range<usize>, range: Range<usize>) {
        let out_w = self.map.window.out_w as usize;
        for side in 0..SIDE {
            let index = pixels.start + side;
            let at = (index < pixels.end).then(|| pixel_at(index, out_w, self.pooled));
            self.map.gather::<M>(rows, Side::Pixel(side), at, range.clone());
            for k in range.len()..range.len().next_multiple_of(GROUP) {
                M::set(rows, k, side, 0);
            }
        }
    }

    /// Adds the products of part of k, which the rows hold, whatever the weights have between their rows and behind them.
    #[inline(never)]
    fn products<M: Machine>(&self, rows: &[i32], filter: usize, range: Range<usize>, sums: &mut [i32; SIDE]) {
        for (k, weights) in stretches(&self.filters, filter, range) {
            let whole = if k.is_multiple_of(GROUP) { weights.len() / GROUP * GROUP } else { 0 };
            let (groups, rest) = weights.split_at_checked(whole).unwrap_or_default();
            if !groups.is_empty() {
                M::four_pixels(rows.get(k / GROUP * M::GROUP_WORDS..).unwrap_or_default(), groups, sums);
            }
            for (i, &weight) in rest.iter().enumerate() {
                for (pixel, sum) in sums.iter_mut().enumerate() {
                    let product = M::get(rows, k + whole + i, pixel).wrapping_mul(i32::from(weight));
                    *sum = sum.wrapping_add(product);
                }
            }
        }
    }

    /// A dense layer over one row, or a window that covers all of the input.
    fn single_pixel<M: Machine>(&self, row: &mut [i32], output: &mut [i8]) {
        let piece = row.len() / M::SINGLE_WORDS * GROUP;
        if self.k <= piece {
            self.map.gather::<M>(row, Side::Single, Some((0, 0)), 0..self.k);
        }
        for first in (0..self.outputs).step_by(SIDE) {
            let mut sums = [0i32; SIDE];
            let mut inputs = 0;
            for start in (0..self.k).step_by(piece.max(1)) {
                let range = start..self.k.min(start + piece);
                if self.k > piece {
                    self.map.gather::<M>(row, Side::Single, Some((0, 0)), range.clone());
                }
                self.single_products::<M>(row, first, range.clone(), &mut sums);
                if self.weight_zero_point != 0 {
                    inputs = (0..range.len()).fold(inputs, |sum: i32, k| sum.wrapping_add(M::get_single(row, k)));
                }
            }
            let excess = inputs.wrapping_mul(self.weight_zero_point);
            for (filter, sum) in (first..self.outputs).zip(sums) {
                let code = output.get_mut(filter..).unwrap_or_default();
                self.finish.write::<M>(&self.finish.channel(filter), &[sum.wrapping_sub(excess)], code, 1);
            }
        }
    }

    /// Adds the products of part of k with four filters.
    fn single_products<M: Machine>(&self, row: &[i32], first: usize, range: Range<usize>, sums: &mut [i32; SIDE]) {
        let mut done = 0;
        if self.filters.are_whole() && first + SIDE <= self.outputs {
            let pitch = self.filters.pitch.filter;
            let weights = self.filters.weights.get(first * pitch + range.start..).unwrap_or_default();
            done = range.len() / GROUP * GROUP;
            M::four_filters(row, weights, pitch, done, sums);
        }
        if done == range.len() {
            return;
        }
        for (filter, sum) in (first..self.outputs).zip(sums) {
            for (k, weights) in stretches(&self.filters, filter, range.start + done..range.end) {
                for (i, &weight) in weights.iter().enumerate() {
                    let product = M::get_single(row, done + k + i).wrapping_mul(i32::from(weight));
                    *sum = sum.wrapping_add(product);
                }
            }
        }
    }
}

/// The weights of a part of a filter that lie together, each with its place in that part.
fn stretches<'a>(
    filters: &Filters<'a, i8>,
    filter: usize,
    range: Range<usize>,
) -> impl Iterator<Item = (usize, &'a [i8])> {
    let (elems, row) =
        (if filters.are_whole() { filters.elems() } else { filters.row_elems }.max(1), filters.pitch.row);
    let weights = filters.weights.get(filter * filters.pitch.filter..).unwrap_or_default();
    let mut at = range.start;
    core::iter::from_fn(move || {
        if at >= range.end {
            return None;
        }
        let line = at.checked_div(elems)?;
        let column = at - line * elems;
        let len = (elems - column).min(range.end - at);
        let first = line * row + column;
        let stretch = (at - range.start, weights.get(first..first + len).unwrap_or_default());
        at += len;
        Some(stretch)
    })
}
