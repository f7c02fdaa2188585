//! Rows times a weight matrix.
//!
//! ```text
//! one row             every weight is used once: eight weight rows at a time stream past the input
//! short rows          the weights of eight outputs, transposed in scratch, for all input rows
//! everything else     a block of input rows that stays in the cache; for four outputs at a time their weights
//!                     stay in the first-level cache while the block passes, two rows at a time
//! ```

use core::array;

use crate::kernels::args::Dense;
use crate::kernels::portable::Portable;
use crate::kernels::portable::epilogue::{Finish, activate_pixels};
use crate::kernels::portable::tile::{PANEL, PANEL_STRIP, Pieces, Rows, STRIP, InnerLoops, transpose};

/// Longest row that is worth a transposed panel; the panel then has 3 KiB.
const MAX_PANEL_K: u32 = 96;
/// Fewest rows that pay for transposing.
const MIN_PANEL_ROWS: u32 = 16;
/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 16 * 1024;

/// Input rows and outputs of a tile in the general case.
const ROWS: usize = 2;
const OUTPUTS: usize = 4;
/// Outputs of a tile when there is one row.
const SINGLE_OUTPUTS: usize = 8;
/// Scratch in elements: one transposed panel of weights for short rows, nothing otherwise.
pub fn scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    let _ = out_features;
    if rows >= MIN_PANEL_ROWS && in_features <= MAX_PANEL_K { in_features * PANEL as u32 } else { 0 }
}

/// [`Kernels::dense`](crate::kernels::Kernels::dense) as every target has it.
pub fn dense(args: &mut Dense<'_>) {
    run::<Portable>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut Dense<'_>) {
    let Some(k) = args.input.len().checked_div(args.rows) else { return };
    let outputs = args.epilogue.bias.len();
    let panel_elems = scratch_elems(args.rows as u32, k as u32, outputs as u32) as usize;
    if panel_elems > 0 {
        short_rows::<I>(args, k, panel_elems);
        activate_pixels(&args.epilogue, args.columns, 0..args.rows, args.output, I::activate);
    } else if args.rows == 1 {
        single_row::<I>(args, k);
        activate_pixels(&args.epilogue, args.columns, 0..1, args.output, I::activate);
    } else {
        let block_rows = (BLOCK_ELEMS / k.max(1)).next_multiple_of(ROWS).max(ROWS);
        for first in (0..args.rows).step_by(block_rows) {
            let end = args.rows.min(first + block_rows);
            row_block::<I>(args, k, first, end);
            activate_pixels(&args.epilogue, args.columns, first..end, args.output, I::activate);
        }
    }
}

/// All outputs of the only row.
#[inline(always)]
fn single_row<I: InnerLoops>(args: &mut Dense<'_>, k: usize) {
    let outputs = args.epilogue.bias.len();
    let input = Pieces::whole(args.input, [0], k);
    for first in (0..outputs).step_by(SINGLE_OUTPUTS) {
        let weights = Pieces::whole(args.weights, starts::<SINGLE_OUTPUTS>(first, outputs, k), k);
        let sums = I::dot::<1, SINGLE_OUTPUTS>(1, k, &input, &weights);
        Finish::new(&args.epilogue, first).store(&sums, args.output, args.columns.first + first, args.columns.pitch);
    }
}

/// All outputs of the rows `start..end`.
#[inline(always)]
fn row_block<I: InnerLoops>(args: &mut Dense<'_>, k: usize, start: usize, end: usize) {
    let outputs = args.epilogue.bias.len();
    for first in (0..outputs).step_by(OUTPUTS) {
        let weights = Pieces::whole(args.weights, starts::<OUTPUTS>(first, outputs, k), k);
        for row in (start..end).step_by(STRIP) {
            let rows = STRIP.min(end - row);
            let mut strip = [[0.0; OUTPUTS]; STRIP];
            for (tile, sums) in strip[..rows].chunks_mut(ROWS).enumerate() {
                let input = Pieces::whole(args.input, starts::<ROWS>(row + tile * ROWS, end, k), k);
                for (sums, tile) in sums.iter_mut().zip(I::dot::<ROWS, OUTPUTS>(1, k, &input, &weights)) {
                    *sums = tile;
                }
            }
            let at = row * args.columns.pitch + args.columns.first + first;
            Finish::new(&args.epilogue, first).store(&strip[..rows], args.output, at, args.columns.pitch);
        }
    }
}

/// All outputs of all rows, panel after panel.
#[inline(always)]
fn short_rows<I: InnerLoops>(args: &mut Dense<'_>, k: usize, panel_elems: usize) {
    let panel = args.scratch.get_mut(..panel_elems).unwrap_or_default().as_chunks_mut().0;
    for first in (0..args.epilogue.bias.len()).step_by(PANEL) {
        transpose(args.weights, first, panel);
        for (strip, input) in args.input.chunks(PANEL_STRIP * k).enumerate() {
            let mut sums = [[0.0; PANEL]; PANEL_STRIP];
            let sums = sums.get_mut(..input.len() / k).unwrap_or_default();
            I::outer(input, Rows { pieces: 1, step: k, len: k }, panel, sums);
            let at = strip * PANEL_STRIP * args.columns.pitch + args.columns.first + first;
            Finish::new(&args.epilogue, first).store(sums, args.output, at, args.columns.pitch);
        }
    }
}

/// Where `N` rows of `k` elements from row `first` on begin. At the end the last one is repeated; what it gives is dropped.
#[inline(always)]
fn starts<const N: usize>(first: usize, end: usize, k: usize) -> [usize; N] {
    array::from_fn(|i| (first + i).min(end - 1) * k)
}
