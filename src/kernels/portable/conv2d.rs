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

use core::array;
use core::ops::Range;

use crate::kernels::args::Conv2d;
use crate::kernels::portable::activation;
use crate::kernels::portable::epilogue::{Activate, Finish, activate_pixels};
use crate::kernels::portable::tile::{PANEL, Pieces, dot, outer, part, transpose};
use crate::tensor::{Taps, Window, checked_product};

/// Largest kernel (elements of one output) that is worth a transposed panel; the panel then has 3 KiB.
const MAX_PANEL_K: u32 = 96;
/// Fewest pixels that pay for transposing.
const MIN_PANEL_PIXELS: u64 = 16;
/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 16 * 1024;

/// Pixels and outputs of a tile in the general case.
const PIXELS: usize = 2;
const OUTPUTS: usize = 4;
/// Pixels of a tile over a panel.
const PANEL_PIXELS: usize = 4;

/// Scratch in elements: one transposed panel of weights for small kernels, nothing otherwise.
pub fn scratch_elems(window: &Window) -> u32 {
    let pixels = u64::from(window.out_h) * u64::from(window.out_w);
    match checked_product(&[window.kernel_h, window.kernel_w, window.in_c]) {
        Some(k) if k <= MAX_PANEL_K && pixels >= MIN_PANEL_PIXELS => k * PANEL as u32,
        _ => 0,
    }
}

/// [`Kernels::conv2d`](crate::kernels::Kernels::conv2d) with vectors of four lanes.
pub fn conv2d(args: &mut Conv2d<'_>) {
    run::<4>(args, activation::activate);
}

/// The kernel with vectors of `L` lanes.
#[inline(always)]
pub fn run<const L: usize>(args: &mut Conv2d<'_>, activate: Activate) {
    let window = &args.window;
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    let panel_elems = scratch_elems(window) as usize;
    if panel_elems > 0 {
        small_kernel(args, panel_elems);
        activate_pixels(&args.epilogue, args.columns, 0..out_h * out_w, args.output, activate);
        return;
    }
    let input_per_row = window.stride as usize * window.in_w as usize * window.in_c as usize;
    let block_rows = (BLOCK_ELEMS / input_per_row.max(1)).max(1);
    for start in (0..out_h).step_by(block_rows) {
        let rows = start..out_h.min(start + block_rows);
        row_block::<L>(args, rows.clone());
        activate_pixels(&args.epilogue, args.columns, rows.start * out_w..rows.end * out_w, args.output, activate);
    }
}

/// All outputs of some output rows.
#[inline(always)]
fn row_block<const L: usize>(args: &mut Conv2d<'_>, rows: Range<usize>) {
    let window = args.window;
    let k = window.kernel_h as usize * window.kernel_w as usize * window.in_c as usize;
    let outputs = args.epilogue.bias.len();
    let interior = window.interior_columns();
    for first in (0..outputs).step_by(OUTPUTS) {
        // Past the last output the tile repeats it, and drops the result.
        let weights: [&[f32]; OUTPUTS] = array::from_fn(|o| part(args.weights, (first + o).min(outputs - 1) * k, k));
        let finish = Finish::new(&args.epilogue, first);
        for y in rows.clone() {
            let place = |x| (y * window.out_w as usize + x) * args.columns.pitch + args.columns.first + first;
            for x in border(&window, &interior) {
                let tile = Tile::<1>::new(&window, y, x..x + 1);
                let [sums] = dot::<L, 1, OUTPUTS>(tile.rows.count, &tile.input(args.input), &tile.weights(weights));
                finish.store(&sums, args.output, place(x));
            }
            for x in interior.clone().step_by(PIXELS) {
                let tile = Tile::<PIXELS>::new(&window, y, x..interior.end);
                let sums = dot::<L, PIXELS, OUTPUTS>(tile.rows.count, &tile.input(args.input), &tile.weights(weights));
                for (x, sums) in (x..interior.end).zip(&sums) {
                    finish.store(sums, args.output, place(x));
                }
            }
        }
    }
}

/// All outputs of the whole map, panel after panel.
#[inline(always)]
fn small_kernel(args: &mut Conv2d<'_>, panel_elems: usize) {
    let window = args.window;
    let interior = window.interior_columns();
    let panel = args.scratch.get_mut(..panel_elems).unwrap_or_default().as_chunks_mut::<PANEL>().0;
    for first in (0..args.epilogue.bias.len()).step_by(PANEL) {
        transpose(args.weights, first, panel);
        let finish = Finish::new(&args.epilogue, first);
        for y in 0..window.out_h as usize {
            let place = |x| (y * window.out_w as usize + x) * args.columns.pitch + args.columns.first + first;
            for x in border(&window, &interior) {
                let tile = Tile::<1>::new(&window, y, x..x + 1);
                let [sums] = outer(tile.rows.count, &tile.input(args.input), &tile.weights([panel]));
                finish.store(&sums, args.output, place(x));
            }
            for x in interior.clone().step_by(PANEL_PIXELS) {
                let tile = Tile::<PANEL_PIXELS>::new(&window, y, x..interior.end);
                let sums = outer(tile.rows.count, &tile.input(args.input), &tile.weights([panel]));
                for (x, sums) in (x..interior.end).zip(&sums) {
                    finish.store(sums, args.output, place(x));
                }
            }
        }
    }
}

/// Output columns outside `interior`.
#[inline(always)]
fn border(window: &Window, interior: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
    (0..interior.start).chain(interior.end..window.out_w as usize)
}

/// Where `P` pixels of one output row find their input, for kernel positions that are the same for all of them.
struct Tile<const P: usize> {
    /// Kernel rows inside the input: a piece of k each.
    rows: Taps,
    /// First element of a kernel row that lies inside the input, and how many do.
    first: usize,
    len: usize,
    /// Elements of a whole kernel row, and of an input row.
    kernel_row: usize,
    input_row: usize,
    /// Where the input of each pixel begins.
    starts: [usize; P],
}

impl<const P: usize> Tile<P> {
    /// The first `P` pixels of `columns` in output row `y`; past its end the last one is repeated.
    #[inline(always)]
    fn new(window: &Window, y: usize, columns: Range<usize>) -> Self {
        let channels = window.in_c as usize;
        let input_row = window.in_w as usize * channels;
        let rows = window.rows_at(y);
        let taps = window.columns_at(columns.start);
        Self {
            rows,
            first: taps.first * channels,
            len: taps.count * channels,
            kernel_row: window.kernel_w as usize * channels,
            input_row,
            starts: array::from_fn(|p| {
                let x = (columns.start + p).min(columns.end - 1);
                rows.input * input_row + window.columns_at(x).input * channels
            }),
        }
    }

    /// What the pixels read.
    #[inline(always)]
    fn input<'a>(&self, input: &'a [f32]) -> Pieces<'a, f32, P> {
        let operands = self.starts.map(|start| input.get(start..).unwrap_or_default());
        Pieces { operands, step: self.input_row, len: self.len }
    }

    /// The weights that meet it: of some outputs, or of a panel of outputs.
    #[inline(always)]
    fn weights<'a, T, const N: usize>(&self, weights: [&'a [T]; N]) -> Pieces<'a, T, N> {
        let start = self.rows.first * self.kernel_row + self.first;
        let operands = weights.map(|weights| weights.get(start..).unwrap_or_default());
        Pieces { operands, step: self.kernel_row, len: self.len }
    }
}
