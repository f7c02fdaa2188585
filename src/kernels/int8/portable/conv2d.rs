//! Convolution: the inputs under a few pixels' windows gathered as i16 rows, times the weights.
//!
//! ```text
//! packed weights      packed.rs
//! single codes        a table in scratch of the eight outputs of each code
//! short rows          the weights of eight outputs at a time, widened and transposed in scratch
//! everything else     a few rows in scratch, all weights read in place as they pass
//! ```
//!
//! A row holds `input - zero_point`, thus 0 where the window lies in the padding.

use core::array;
use core::ops::Range;

use super::BASELINE;
use super::finish::{Finish, store_once};
use super::gather::{Gather, is_pointwise};
use super::packed;
use super::tile::{BLOCK, HAS_VECTORS, InnerLoops, Pairs, Products, STRIP, Sums, part};
use crate::kernels::Filters;
use crate::kernels::int8::Conv2d;
use crate::tensor::{Window, checked_product};

/// Values of an i8.
const CODES: usize = 256;
/// Longest row that is worth transposing its weights.
const MAX_PANEL_K: u32 = 48;
/// Pixels of a block that is pooled.
pub(super) const POOLED: usize = 4;
/// Most panels of transposed weights at a time.
const MAX_PANELS: usize = 8;
/// Fewest pixels that pay for transposing.
const MIN_PANEL_PIXELS: usize = 16;
/// Most elements of the rows that are gathered at a time for transposed weights, unless one strip needs more.
const MAX_PANEL_ROWS_ELEMS: usize = 640;
/// Most scratch in elements for panels and for whole strips: 5 KiB.
const MAX_SCRATCH_ELEMS: usize = 2560;
/// Most scratch in elements for single tiles: 6 KiB.
const MAX_TILE_ELEMS: usize = 3072;

/// Scratch in i16 elements: some rows, and panels of weights where rows are short.
pub fn scratch_elems(window: &Window, pooled: bool) -> u32 {
    let Some(k) = checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) else { return 0 };
    let k = k as usize;
    let panels = panel_count(window);
    let elems = if has_code_tables(window, pooled) {
        CODES * code_table_width(window) / 2
    } else if panels == 0 {
        let (rows, piece) = rows_and_piece(window, k, pooled);
        rows * piece
    } else {
        2 * k.div_ceil(2) * (panel_pixels(window, k) + panels * BLOCK)
    };
    elems as u32
}

/// Outputs that a table of codes holds.
fn code_table_width(window: &Window) -> usize {
    if (window.out_c as usize) < 2 * BLOCK { BLOCK } else { 2 * BLOCK }
}

/// Whether whole rows of the pixels of a block fit the scratch.
pub fn can_pool(window: &Window) -> bool {
    let k = checked_product(&[window.kernel_h, window.kernel_w, window.in_c]);
    k.is_some_and(|k| k as usize <= MAX_TILE_ELEMS / POOLED)
}

/// Whether each pixel is one code, and there are enough of them to compute the outputs of all codes instead.
pub(in crate::kernels) fn has_code_tables(window: &Window, pooled: bool) -> bool {
    let pixels = window.out_h as usize * window.out_w as usize;
    !pooled && window.in_c == 1 && is_pointwise(window) && pixels >= 2 * CODES && window.out_c as usize >= BLOCK
}

/// Pixels that are gathered at a time for transposed weights: some strips.
fn panel_pixels(window: &Window, k: usize) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    let strips = MAX_PANEL_ROWS_ELEMS / (STRIP * 2 * k.div_ceil(2)).max(1);
    strips.clamp(1, pixels.div_ceil(STRIP).min(4)) * STRIP
}

/// Rows in scratch, and how much of each is there at a time: whole rows of whole tiles if possible; if pooled, always the
/// whole rows of whole blocks.
fn rows_and_piece(window: &Window, k: usize, pooled: bool) -> (usize, usize) {
    let pixels = window.out_h as usize * window.out_w as usize;
    let tile = if HAS_VECTORS { 4 } else { 2 };
    let rows = if STRIP * k <= MAX_SCRATCH_ELEMS { STRIP } else { tile }.min(pixels);
    // Two rows at a time share weights enough. Below that it is better to gather pieces of rows again and again.
    let rows = if 2 * k <= MAX_TILE_ELEMS { rows.min(MAX_TILE_ELEMS / k.max(1)) } else { rows };
    if pooled {
        return ((rows / POOLED * POOLED).max(POOLED), k);
    }
    (rows, k.min(MAX_TILE_ELEMS / rows.max(1)))
}

/// Panels of weights in scratch; 0 when the weights are read in place.
fn panel_count(window: &Window) -> usize {
    let pixels = window.out_h as usize * window.out_w as usize;
    match checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) {
        Some(k) if HAS_VECTORS && k <= MAX_PANEL_K && pixels >= MIN_PANEL_PIXELS => {
            let k = k as usize;
            let fitting = (MAX_SCRATCH_ELEMS / (2 * k.div_ceil(2)).max(1) - panel_pixels(window, k)) / BLOCK;
            fitting.min((window.out_c as usize).div_ceil(BLOCK)).min(MAX_PANELS)
        }
        _ => 0,
    }
}

/// [`Kernels::conv2d`](crate::kernels::int8::Kernels::conv2d) as every target has it.
pub fn conv2d(args: &mut Conv2d<'_>) {
    run(args, &BASELINE);
}

/// The kernel with the inner loops of a level.
pub(in crate::kernels) fn run(args: &mut Conv2d<'_>, loops: &'static InnerLoops) {
    let window = args.window;
    let k = window.kernel_h as usize * window.kernel_w as usize * window.in_c as usize;
    if has_code_tables(&window, args.pooled) {
        match code_table_width(&window) {
            BLOCK => by_code_tables::<BLOCK>(args, loops),
            _ => by_code_tables::<{ 2 * BLOCK }>(args, loops),
        }
        return;
    }
    if packed::run(args, loops) {
        return;
    }
    let panels = panel_count(&window);
    if panels > 0 {
        let outputs = args.requantize.bias.len();
        for first in (0..outputs).step_by(panels * BLOCK) {
            transposed(args, loops, k, first..outputs.min(first + panels * BLOCK));
        }
        return;
    }
    let pixels = window.out_h as usize * window.out_w as usize;
    let (rows, piece) = rows_and_piece(&window, k, args.pooled);
    for start in (0..pixels).step_by(rows.max(1)) {
        let pixels = start..pixels.min(start + rows);
        if piece == k {
            let gather = Gather::new(args, pixels.clone(), (0, k), k);
            (loops.gather)(&gather, args.scratch);
            for first in blocks::<BLOCK>(0..args.requantize.bias.len()) {
                let mut sums = [[0; BLOCK]; STRIP];
                add_products(args, loops, k, 0..k, first, sums.get_mut(..pixels.len()).unwrap_or_default());
                store_sums(args, loops, &sums, pixels.clone(), first);
            }
        } else {
            in_pieces(args, loops, k, piece, pixels);
        }
    }
}

/// All outputs of all pixels, which are one code each: `W` outputs of all codes, looked up.
#[inline(never)]
fn by_code_tables<const W: usize>(args: &mut Conv2d<'_>, loops: &'static InnerLoops) {
    let requantize = args.requantize;
    let outputs = requantize.bias.len();
    let table = bytemuck::cast_slice_mut::<i16, i8>(args.scratch).as_chunks_mut::<W>().0;
    let Some(table) = table.first_chunk_mut::<CODES>() else { return };
    for first in blocks::<W>(0..outputs) {
        for column in (0..W).step_by(BLOCK) {
            let at = |i| args.weights.get((first + column + i) * args.kernel_pitch.filter).copied().unwrap_or_default();
            let weights: [_; BLOCK] = array::from_fn(|i| i32::from(at(i)) - requantize.weight_zero_point);
            let finish = Finish::new(loops, &requantize, first + column, CODES);
            let mut next = weights.map(|w| w * (i32::from(i8::MIN) - requantize.input_zero_point));
            for table in table.as_chunks_mut::<STRIP>().0 {
                let mut sums = [[0; BLOCK]; STRIP];
                multiples(&mut next, &weights, &mut sums);
                finish.store(&sums, STRIP, table.as_flattened_mut(), column, W);
            }
        }
        let output = args.output.get_mut(first..).unwrap_or_default();
        for (out, &code) in output.chunks_mut(outputs).zip(args.input) {
            if let Some(out) = out.first_chunk_mut() {
                // From -128 up.
                *out = table[usize::from(code as u8 ^ 0x80)];
            }
        }
    }
}

/// Writes `next` and adds the weights to it, again and again.
#[inline(never)]
fn multiples(next: &mut [i32; BLOCK], weights: &[i32; BLOCK], sums: &mut [[i32; BLOCK]; STRIP]) {
    let (mut sum, weights) = (*next, *weights);
    for sums in sums {
        *sums = sum;
        for i in 0..BLOCK {
            sum[i] = sum[i].wrapping_add(weights[i]);
        }
    }
    *next = sum;
}

/// All outputs of a few pixels whose rows do not fit the scratch. As many blocks as there is room for share a piece.
#[inline(never)]
fn in_pieces(args: &mut Conv2d<'_>, loops: &'static InnerLoops, k: usize, piece: usize, pixels: Range<usize>) {
    let (outputs, count) = (args.requantize.bias.len(), pixels.len());
    let mut all_blocks = blocks::<BLOCK>(0..outputs);
    loop {
        let group = all_blocks.clone().take(STRIP / count.max(1));
        let mut sums = [[0; BLOCK]; STRIP];
        for start in (0..k).step_by(piece.max(1)) {
            let range = start..k.min(start + piece);
            let len = range.len();
            let gather = Gather::new(args, pixels.clone(), (start, len), len);
            (loops.gather)(&gather, args.scratch);
            for (first, sums) in group.clone().zip(sums.chunks_mut(count.max(1))) {
                add_products(args, loops, k, range.clone(), first, sums);
            }
        }
        for (first, sums) in group.zip(sums.chunks(count.max(1))) {
            let mut strip = [[0; BLOCK]; STRIP];
            for (copy, sums) in strip.iter_mut().zip(sums) {
                *copy = *sums;
            }
            store_sums(args, loops, &strip, pixels.clone(), first);
        }
        if all_blocks.nth(STRIP / count.max(1) - 1).is_none() {
            return;
        }
    }
}

/// Adds the products of part of k to the sums of a block of outputs. The rows in scratch hold that part.
#[inline(never)]
fn add_products(
    args: &Conv2d<'_>,
    loops: &InnerLoops,
    k: usize,
    range: Range<usize>,
    first: usize,
    sums: &mut [[i32; BLOCK]],
) {
    let (outputs, zero_point) = (args.requantize.bias.len(), args.requantize.weight_zero_point);
    let filters = args.filters();
    // What lies together: the whole kernel, or one of its rows.
    let stretch = if filters.are_whole() { k } else { filters.row_elems };
    let mut start = range.start;
    while start < range.end {
        let (row, column) = (start / stretch.max(1), start % stretch.max(1));
        let len = (stretch - column).min(range.end - start);
        let products = Products {
            input: args.scratch.get(start - range.start..).unwrap_or_default(),
            len,
            step: range.len(),
            weights: args
                .weights
                .get(first * filters.pitch.filter + row * filters.pitch.row + column..)
                .unwrap_or_default(),
            pitch: filters.pitch.filter,
            outputs: BLOCK.min(outputs - first),
        };
        (loops.dot)(&products, sums);
        start += len.max(1);
    }
    if zero_point != 0 {
        for (row, sums) in args.scratch.chunks(range.len().max(1)).zip(sums) {
            let sum = row.iter().fold(0i32, |sum, &x| sum.wrapping_add(i32::from(x)));
            let offset = sum.wrapping_mul(zero_point);
            *sums = sums.map(|sum| sum.wrapping_sub(offset));
        }
    }
}

/// Writes the codes of a block of outputs.
#[inline(never)]
pub(in crate::kernels) fn store_sums(
    args: &mut Conv2d<'_>,
    loops: &'static InnerLoops,
    sums: &Sums,
    pixels: Range<usize>,
    first: usize,
) {
    let pitch = args.requantize.bias.len();
    if args.pooled {
        let finish = Finish::new(loops, &args.requantize, first, pixels.len());
        store_strip(&finish, sums, true, args.output, pixels, (first, pitch));
    } else {
        let output = args.output.get_mut(pixels.start * pitch + first..).unwrap_or_default();
        store_once(loops, &args.requantize, first, (sums, pixels.len()), output, pitch);
    }
}

/// Writes the codes of a strip of pixels: the channels from `first` on, of `pitch`.
#[inline(always)]
pub(super) fn store_strip(
    finish: &Finish<'_>,
    sums: &Sums,
    pooled: bool,
    output: &mut [i8],
    pixels: Range<usize>,
    (first, pitch): (usize, usize),
) {
    if pooled {
        let [a, b] = [0, 1].map(|block| array::from_fn(|pixel| &sums[POOLED * block + pixel]));
        let blocks = [a, b];
        let blocks = blocks.get(..pixels.len() / POOLED).unwrap_or_default();
        finish.store_pooled(blocks, output, pixels.start / POOLED * pitch + first, pitch);
    } else {
        finish.store(sums, pixels.len(), output, pixels.start * pitch + first, pitch);
    }
}

/// Starts of blocks of `W` that cover the outputs. The last one overlaps its neighbour rather than reach past the end, unless
/// there are too few outputs for one block.
#[inline(always)]
pub(in crate::kernels) fn blocks<const W: usize>(outputs: Range<usize>) -> impl Iterator<Item = usize> + Clone {
    let last = outputs.end.saturating_sub(W).max(outputs.start);
    outputs.step_by(W).map(move |first| first.min(last))
}

/// Some outputs of all pixels, by way of transposed weights.
#[inline(never)]
fn transposed(args: &mut Conv2d<'_>, loops: &'static InnerLoops, k: usize, outputs: Range<usize>) {
    let requantize = args.requantize;
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    let pitch = requantize.bias.len();
    let (pairs, gathered) = (k.div_ceil(2), panel_pixels(&args.window, k));
    let mut gather = Gather::new(args, 0..0, (0, k), 2 * pairs);
    let filters = args.filters();
    let (rows, panels) = args.scratch.split_at_mut_checked(gathered * 2 * pairs).unwrap_or_default();
    // The weights' zero point goes into the panels: `weight - zero_point` still fits an i16.
    let panels = bytemuck::cast_slice_mut::<i16, Pairs>(panels.as_chunks_mut::<{ 2 * BLOCK }>().0.as_flattened_mut());
    for (first, panel) in blocks::<BLOCK>(outputs.clone()).zip(panels.chunks_mut(pairs.max(1))) {
        transpose(&filters, requantize.weight_zero_point, first..pitch, panel);
    }
    let firsts = blocks::<BLOCK>(outputs.clone());
    let finishes: [Finish<'_>; MAX_PANELS] =
        array::from_fn(|panel| Finish::new(loops, &requantize, firsts.clone().nth(panel).unwrap_or(pitch), pixels));
    for start in (0..pixels).step_by(gathered) {
        let count = gathered.min(pixels - start);
        gather.pixels = start..start + count;
        (loops.gather)(&gather, rows);
        let input = rows.as_chunks::<2>().0;
        for ((first, finish), panel) in firsts.clone().zip(&finishes).zip(panels.chunks(pairs.max(1))) {
            for (strip, input) in input.chunks(STRIP * pairs.max(1)).take(count.div_ceil(STRIP)).enumerate() {
                // Rows past the last pixel hold anything, and their sums are dropped.
                let mut sums = [[0; BLOCK]; STRIP];
                (loops.outer)(input, panel, &mut sums);
                let from = start + strip * STRIP;
                let pixels = from..(from + STRIP).min(start + count);
                store_strip(finish, &sums, args.pooled, args.output, pixels, (first, pitch));
            }
        }
    }
}

/// Writes the weights of the outputs from the first on into a panel, zero where there is no output or no k.
#[inline(never)]
fn transpose(filters: &Filters<'_, i8>, zero_point: i32, outputs: Range<usize>, panel: &mut [Pairs]) {
    let centred = |w: i8| i16::from(w).wrapping_sub(zero_point as i16);
    if outputs.len() < BLOCK || filters.elems() % 2 == 1 {
        panel.fill([[0; 2]; BLOCK]);
    }
    for (output, filter) in outputs.take(BLOCK).enumerate() {
        let mut copy = [0; MAX_PANEL_K as usize];
        let (pairs, last) = without_gaps(filters, filter, &mut copy).as_chunks::<2>();
        for (out, pair) in panel.iter_mut().zip(pairs) {
            out[output] = pair.map(centred);
        }
        if let ([last], Some(out)) = (last, panel.get_mut(pairs.len())) {
            out[output][0] = centred(*last);
        }
    }
}

/// One filter without gaps: in place, or copied.
#[inline(always)]
fn without_gaps<'f>(filters: &Filters<'f, i8>, filter: usize, copy: &'f mut [i8; MAX_PANEL_K as usize]) -> &'f [i8] {
    if filters.are_whole() {
        return part(filters.weights, filter * filters.pitch.filter, filters.elems());
    }
    for (to, row) in copy.chunks_mut(filters.row_elems.max(1)).zip(filters.rows_of(filter)) {
        to.iter_mut().zip(row).for_each(|(to, &weight)| *to = weight);
    }
    part(copy, 0, filters.elems())
}
