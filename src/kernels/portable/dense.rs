//! Rows times a weight matrix.
//!
//! ```text
//! one row             eight outputs at a time: every weight is used once, streaming past the row
//! short rows          the weights of eight outputs, transposed in scratch, for all input rows
//! everything else     a block of input rows that stays in the cache; for four outputs at a time their weights
//!                     stay in the first-level cache while the block passes
//! ```

use crate::kernels::args::Dense;
use crate::kernels::portable::Portable;
use crate::kernels::portable::epilogue::{Finish, activate_pixels};
use crate::kernels::portable::tile::{
    InnerLoops, OUTPUTS, PANEL, PANEL_STRIP, Rows, SINGLE_OUTPUTS, STRIP, Weights, part, transpose,
};

/// Longest row that is worth a transposed panel; the panel then has 3 KiB.
const MAX_PANEL_K: u32 = 96;
/// Fewest rows that pay for transposing.
const MIN_PANEL_ROWS: u32 = 16;
/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 32 * 1024;

/// Scratch in elements: one transposed panel of weights for short rows, nothing otherwise.
pub fn scratch_elems(rows: u32, in_features: u32, _out_features: u32) -> u32 {
    if rows >= MIN_PANEL_ROWS && in_features <= MAX_PANEL_K { in_features * PANEL as u32 } else { 0 }
}

/// [`Kernels::dense`](crate::kernels::Kernels::dense) for any target.
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
        activate_pixels(&args.epilogue, args.columns, outputs, 0..args.rows, args.output, I::activate);
        return;
    }
    if args.rows == 1 {
        single_row::<I>(args, k);
        activate_pixels(&args.epilogue, args.columns, outputs, 0..1, args.output, I::activate);
        return;
    }
    let block_rows = (BLOCK_ELEMS / k.max(1)).next_multiple_of(STRIP).max(STRIP);
    for start in (0..args.rows).step_by(block_rows) {
        let end = args.rows.min(start + block_rows);
        row_block::<I>(args, k, start, end);
        activate_pixels(&args.epilogue, args.columns, outputs, start..end, args.output, I::activate);
    }
}

/// All outputs of the only row.
#[inline(always)]
fn single_row<I: InnerLoops>(args: &mut Dense<'_>, k: usize) {
    let outputs = args.epilogue.bias.len();
    for first in (0..outputs).step_by(SINGLE_OUTPUTS) {
        let sums = [I::dot_single(args.input, Weights::new(args.weights, k, first, outputs))];
        let finish = Finish::new(&args.epilogue, first, outputs);
        finish.store(&sums, args.output, args.columns.first + first, args.columns.pitch);
    }
}

/// All outputs of the rows `start..end`.
#[inline(always)]
fn row_block<I: InnerLoops>(args: &mut Dense<'_>, k: usize, start: usize, end: usize) {
    let outputs = args.epilogue.bias.len();
    for first in (0..outputs).step_by(OUTPUTS) {
        let weights = Weights::new(args.weights, k, first, outputs);
        let finish = Finish::new(&args.epilogue, first, outputs);
        for row in (start..end).step_by(STRIP) {
            let mut sums = [[0.0; OUTPUTS]; STRIP];
            let sums = sums.get_mut(..STRIP.min(end - row)).unwrap_or_default();
            I::dot(part(args.input, row * k, sums.len() * k), Rows::contiguous(k), weights, sums);
            let at = row * args.columns.pitch + args.columns.first + first;
            finish.store(sums, args.output, at, args.columns.pitch);
        }
    }
}

/// All outputs of all rows, panel after panel.
#[inline(always)]
fn short_rows<I: InnerLoops>(args: &mut Dense<'_>, k: usize, panel_elems: usize) {
    let panel = args.scratch.get_mut(..panel_elems).unwrap_or_default().as_chunks_mut().0;
    let outputs = args.epilogue.bias.len();
    for first in (0..outputs).step_by(PANEL) {
        transpose(args.weights, first, panel);
        let finish = Finish::new(&args.epilogue, first, outputs);
        for row in (0..args.rows).step_by(PANEL_STRIP) {
            let mut sums = [[0.0; PANEL]; PANEL_STRIP];
            let sums = sums.get_mut(..PANEL_STRIP.min(args.rows - row)).unwrap_or_default();
            I::outer(part(args.input, row * k, sums.len() * k), Rows::contiguous(k), panel, sums);
            let at = row * args.columns.pitch + args.columns.first + first;
            finish.store(sums, args.output, at, args.columns.pitch);
        }
    }
}
