//! Rows times a weight matrix.
//!
//! ```text
//! one row             eight outputs at a time: every weight is used once, streaming past the row; or packed, with AVX-512: row.rs there
//! packed weights      panels of up to 32 outputs as they are, some rows at a time: packed.rs
//! 16 rows or more     the same panels, transposed in scratch chunk after chunk, for all rows: panel.rs
//! everything else     a block of input rows that stays in the cache; for four outputs at a time their weights
//!                     stay in the first-level cache while the block passes
//! ```

use core::ops::Range;
use core::slice::from_ref;

use crate::kernels::args::Dense;
use crate::kernels::portable::PORTABLE;
use crate::kernels::portable::epilogue::{Finish, activate_pixels, offsets};
use crate::kernels::portable::packed;
use crate::kernels::portable::panel::{Chunks, Ends, Panel, Span, WIDE, ends_of, scale_panel};
use crate::kernels::portable::tile::{InnerLoops, OUTPUTS, ProductLoops, Rows, SINGLE_OUTPUTS, STRIP, Weights, part};

/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 32 * 1024;

/// Scratch in elements: one panel of weights when there are rows enough, nothing otherwise.
pub fn scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    Chunks::new(1, in_features as usize).scratch_elems(out_features, rows.into())
}

/// [`Kernels::dense`](crate::kernels::Kernels::dense) for any target.
pub fn dense(args: &mut Dense<'_>) {
    run(args, &PORTABLE);
}

/// The kernel with the inner loops of a level.
#[inline(never)]
pub(in crate::kernels) fn run(args: &mut Dense<'_>, loops: &InnerLoops) {
    let Some(k) = args.input.len().checked_div(args.rows) else { return };
    if args.rows == 1 {
        single_row(args, loops, k);
        activate_pixels(&args.epilogue, args.columns, 0..1, args.output, loops.activate);
        return;
    }
    let is_packed = cfg!(feature = "simd") && !args.packed.is_empty();
    let first = if is_packed { in_packed_panels(args, loops, k) } else { in_panels(args, loops, k) };
    let block_rows = (BLOCK_ELEMS / k.max(1)).next_multiple_of(STRIP).max(STRIP);
    for start in (0..args.rows).step_by(block_rows) {
        let end = args.rows.min(start + block_rows);
        row_block(args, loops, k, first, start..end);
        activate_pixels(&args.epilogue, args.columns, start..end, args.output, loops.activate);
    }
}

/// All outputs of the only row.
fn single_row(args: &mut Dense<'_>, loops: &InnerLoops, k: usize) {
    let outputs = args.epilogue.bias.len();
    let is_packed = cfg!(feature = "simd") && !args.packed.is_empty();
    let packed = if is_packed { packed_single_row(args, loops, k) } else { 0 };
    for first in (packed..outputs).step_by(SINGLE_OUTPUTS) {
        let sums = [(loops.dot_single)(args.input, Weights::new(args.weights, k, k, first, outputs))];
        Finish::new(&args.epilogue, first).store(&sums, args.output, args.columns.first + first, args.columns.pitch);
    }
}

/// As many outputs of the only row as lie in packed panels; returns how many.
fn packed_single_row(args: &mut Dense<'_>, loops: &InnerLoops, k: usize) -> usize {
    let mut end = 0;
    for panel in packed::panels(args.packed, args.epilogue.bias.len(), k) {
        let Some(single) = loops.widest(panel.width).and_then(|product| product.single) else { break };
        let mut sums = [0.0; WIDE];
        let sums = sums.get_mut(..panel.width).unwrap_or_default();
        single(args.input, panel.weights, sums);
        for (first, sums) in (panel.first..).step_by(SINGLE_OUTPUTS).zip(sums.as_chunks::<SINGLE_OUTPUTS>().0) {
            let finish = Finish::new(&args.epilogue, first);
            finish.store(from_ref(sums), args.output, args.columns.first + first, args.columns.pitch);
        }
        end = panel.first + panel.width;
    }
    end
}

/// As many outputs as fill panels, for all rows; returns how many.
fn in_panels(args: &mut Dense<'_>, loops: &InnerLoops, k: usize) -> usize {
    let outputs = args.epilogue.bias.len();
    let mut first = 0;
    if args.scratch.is_empty() {
        return first;
    }
    while let Some(product) = loops.widest(outputs - first) {
        panels(args, product, k, first);
        first += product.outputs;
    }
    first
}

/// The outputs from `first` on that fill one panel, for all rows.
fn panels(args: &mut Dense<'_>, product: &ProductLoops, k: usize, first: usize) {
    let (pitch, width) = (args.columns.pitch, product.outputs);
    let chunks = Chunks::new(1, k);
    let offsets: [f32; WIDE] = offsets(&args.epilogue, first);
    for chunk in chunks.iter() {
        let Some(weights) = args.scratch.get_mut(..chunk.len * width) else { break };
        (product.transpose)(args.weights, k, first, chunk.first, weights);
        scale_panel(&args.epilogue, first, weights, width);
        let (fresh, ends) = ends_of(&args.epilogue, &chunks, &chunk, offsets.get(..width).unwrap_or_default());
        let input = args.input.get(chunk.first..).unwrap_or_default();
        let output = args.output.get_mut(args.columns.first + first..).unwrap_or_default();
        let rows = Rows { pieces: 1, stretch: 0, step: k, len: chunk.len };
        let span = Span { pixels: args.rows, pitch, fresh };
        (product.outer)(input, rows, Panel { weights, step: 0 }, output, span, ends);
    }
}

/// As many outputs as lie in packed panels, for all rows; returns how many.
fn in_packed_panels(args: &mut Dense<'_>, loops: &InnerLoops, k: usize) -> usize {
    let pitch = args.columns.pitch;
    let mut end = 0;
    for panel in packed::panels(args.packed, args.epilogue.bias.len(), k) {
        let Some(product) = loops.widest(panel.width) else { break };
        let chunks = packed::row_chunks(k, panel.width);
        for row in (0..args.rows).step_by(packed::BLOCK_PIXELS) {
            for chunk in chunks.iter() {
                let (fresh, ends) = ends_of(&args.epilogue, &chunks, &chunk, panel.offsets);
                let ends = Ends { next: panel.behind(chunk.first + chunk.len, chunk.len), ..ends };
                let span = Span { pixels: packed::BLOCK_PIXELS.min(args.rows - row), pitch, fresh };
                let input = args.input.get(row * k + chunk.first..).unwrap_or_default();
                let weights = panel.weights.get(chunk.first * panel.width..).unwrap_or_default();
                let output = args.output.get_mut(row * pitch + args.columns.first + panel.first..).unwrap_or_default();
                let rows = Rows { pieces: 1, stretch: 0, step: k, len: chunk.len };
                (product.outer)(input, rows, Panel { weights, step: 0 }, output, span, ends);
            }
        }
        end = panel.first + panel.width;
    }
    end
}

/// The outputs from `first` on of some rows.
fn row_block(args: &mut Dense<'_>, loops: &InnerLoops, k: usize, first: usize, rows: Range<usize>) {
    let outputs = args.epilogue.bias.len();
    for first in (first..outputs).step_by(OUTPUTS) {
        let weights = Weights::new(args.weights, k, k, first, outputs);
        let finish = Finish::new(&args.epilogue, first);
        for row in rows.clone().step_by(STRIP) {
            let mut sums = [[0.0; OUTPUTS]; STRIP];
            let sums = sums.get_mut(..STRIP.min(rows.end - row)).unwrap_or_default();
            (loops.dot)(part(args.input, row * k, sums.len() * k), Rows::contiguous(k), weights, sums);
            let at = row * args.columns.pitch + args.columns.first + first;
            finish.store(sums, args.output, at, args.columns.pitch);
        }
    }
}
