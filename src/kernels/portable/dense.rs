//! Rows times a weight matrix.
//!
//! ```text
//! one row             eight outputs at a time: every weight is used once, streaming past the row
//! 16 rows or more     panels of up to 32 outputs, transposed in scratch chunk after chunk, for all rows: panel.rs
//! everything else     a block of input rows that stays in the cache; for four outputs at a time their weights
//!                     stay in the first-level cache while the block passes
//! ```

use core::ops::Range;

use crate::kernels::args::Dense;
use crate::kernels::portable::Portable;
use crate::kernels::portable::epilogue::{Finish, activate_pixels};
use crate::kernels::portable::panel::{Chunks, MEDIUM, NARROW, Panel, Span, WIDE, can_finish, transpose_part};
use crate::kernels::portable::tile::{InnerLoops, OUTPUTS, Rows, SINGLE_OUTPUTS, STRIP, Weights, part};

/// Rows that are finished while they are still in the cache.
const PANEL_ROWS: usize = 32;
/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 32 * 1024;

/// Scratch in elements: one panel of weights when there are rows enough, nothing otherwise.
pub fn scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    Chunks::new(1, in_features as usize).scratch_elems(out_features, rows.into())
}

/// [`Kernels::dense`](crate::kernels::Kernels::dense) for any target.
pub fn dense(args: &mut Dense<'_>) {
    run::<Portable>(args);
}

/// The kernel with the inner loops of a level.
#[inline(always)]
pub(in crate::kernels) fn run<I: InnerLoops>(args: &mut Dense<'_>) {
    let Some(k) = args.input.len().checked_div(args.rows) else { return };
    if args.rows == 1 {
        single_row::<I>(args, k);
        activate_pixels(&args.epilogue, args.columns, 0..1, args.output, I::activate);
        return;
    }
    let first = in_panels::<I>(args, k);
    let block_rows = (BLOCK_ELEMS / k.max(1)).next_multiple_of(STRIP).max(STRIP);
    for start in (0..args.rows).step_by(block_rows) {
        let end = args.rows.min(start + block_rows);
        row_block::<I>(args, k, first, start..end);
        activate_pixels(&args.epilogue, args.columns, start..end, args.output, I::activate);
    }
}

/// All outputs of the only row.
#[inline(always)]
fn single_row<I: InnerLoops>(args: &mut Dense<'_>, k: usize) {
    let outputs = args.epilogue.bias.len();
    for first in (0..outputs).step_by(SINGLE_OUTPUTS) {
        let sums = [I::dot_single(args.input, Weights::new(args.weights, k, first, outputs))];
        Finish::new(&args.epilogue, first).store(&sums, args.output, args.columns.first + first, args.columns.pitch);
    }
}

/// As many outputs as fill panels, for all rows; returns how many.
#[inline(always)]
fn in_panels<I: InnerLoops>(args: &mut Dense<'_>, k: usize) -> usize {
    let outputs = args.epilogue.bias.len();
    let mut first = 0;
    if args.scratch.is_empty() || !can_finish(&args.epilogue) {
        return first;
    }
    loop {
        match outputs - first {
            WIDE.. => first += panels::<I, WIDE>(args, k, first),
            MEDIUM.. => first += panels::<I, MEDIUM>(args, k, first),
            NARROW.. => first += panels::<I, NARROW>(args, k, first),
            _ => return first,
        }
    }
}

/// The `P` outputs from `first` on of all rows; returns `P`.
#[inline(always)]
fn panels<I: InnerLoops, const P: usize>(args: &mut Dense<'_>, k: usize, first: usize) -> usize {
    let pitch = args.columns.pitch;
    let chunks = Chunks::new(1, k);
    for chunk in chunks.iter() {
        let Some(weights) = args.scratch.as_chunks_mut().0.get_mut(..chunk.len) else { break };
        transpose_part::<P>(args.weights, k, first, chunk.first, weights);
        for row in (0..args.rows).step_by(PANEL_ROWS) {
            let span = Span {
                pixels: PANEL_ROWS.min(args.rows - row),
                pitch,
                fresh: chunk.first == 0 && !args.epilogue.accumulate,
            };
            let input = args.input.get(row * k + chunk.first..).unwrap_or_default();
            let output = args.output.get_mut(row * pitch + args.columns.first + first..).unwrap_or_default();
            let rows = Rows { pieces: 1, stretch: 0, step: k, len: chunk.len };
            I::outer(input, rows, Panel { weights, step: 0 }, output, span);
            if chunks.is_last(&chunk) {
                I::finish::<P>(&args.epilogue, first, output, span);
            }
        }
    }
    P
}

/// The outputs from `first` on of some rows.
#[inline(always)]
fn row_block<I: InnerLoops>(args: &mut Dense<'_>, k: usize, first: usize, rows: Range<usize>) {
    let outputs = args.epilogue.bias.len();
    for first in (first..outputs).step_by(OUTPUTS) {
        let weights = Weights::new(args.weights, k, first, outputs);
        let finish = Finish::new(&args.epilogue, first);
        for row in rows.clone().step_by(STRIP) {
            let mut sums = [[0.0; OUTPUTS]; STRIP];
            let sums = sums.get_mut(..STRIP.min(rows.end - row)).unwrap_or_default();
            I::dot(part(args.input, row * k, sums.len() * k), Rows::contiguous(k), weights, sums);
            let at = row * args.columns.pitch + args.columns.first + first;
            finish.store(sums, args.output, at, args.columns.pitch);
        }
    }
}
