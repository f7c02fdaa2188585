//! Convolution without an unrolled copy of the input.
//!
//! Under a window whose columns all lie inside the input, one kernel row is contiguous in the input and in the weights:
//! `kernel_w * in_c` elements. An output is a sum of `kernel_h` such dot products. Neighbouring pixels share the weights,
//! so a span holds many of them: in the interior those of a row, in the border, where the kernel is clipped, those of a
//! column, or tap by tap all that have the tap inside the input.
//!
//! ```text
//! packed, 3 x 3       36 products for 16 outputs, where there is scratch enough: winograd.rs
//! packed weights      panels of up to 32 outputs as they are, some output rows at a time: packed.rs
//! 16 pixels or more   the same panels, transposed in scratch chunk after chunk, for the whole map: panel.rs
//! everything else     a block of output rows whose input stays in the cache; for four outputs at a time their
//!                     weights stay in the first-level cache while the block passes
//! ```

use core::iter;
use core::ops::Range;

use crate::kernels::args::{Conv2d, KernelPitch};
use crate::kernels::portable::PORTABLE;
use crate::kernels::portable::epilogue::{Finish, activate_pixels, offsets};
use crate::kernels::portable::packed::{self, Packed};
use crate::kernels::portable::panel::{
    Chunk, Chunks, Ends, Panel, Span, WIDE, ends_of, scale_panel, transpose_rows, with_stride,
};
use crate::kernels::portable::tile::{InnerLoops, OUTPUTS, ProductLoops, Rows, STRIP, Weights};
use crate::kernels::portable::winograd;
use crate::tensor::{Taps, Window};

/// Input elements that are kept in the cache while all weights pass.
const BLOCK_ELEMS: usize = 32 * 1024;

/// Scratch in elements: one panel of weights when there are pixels enough, nothing otherwise.
pub fn scratch_elems(window: &Window) -> u32 {
    let pixels = u64::from(window.out_h) * u64::from(window.out_w);
    chunks(window).scratch_elems(window.out_c, pixels)
}

/// The chunks of the kernel that are in a panel at a time.
#[inline(always)]
fn chunks(window: &Window) -> Chunks {
    Chunks::new(window.kernel_h as usize, window.kernel_w as usize * window.in_c as usize)
}

/// [`Kernels::conv2d`](crate::kernels::Kernels::conv2d) for any target.
pub fn conv2d(args: &mut Conv2d<'_>) {
    run(args, &PORTABLE);
}

/// The kernel with the inner loops of a level.
#[inline(never)]
pub(in crate::kernels) fn run(args: &mut Conv2d<'_>, loops: &InnerLoops) {
    let window = args.window;
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    let is_packed = cfg!(feature = "simd") && !args.packed.is_empty();
    let at_once = if is_packed { winograd::tiles_at_once(&window, args.scratch.len()) } else { 0 };
    if at_once > 0 {
        winograd::run(args, loops, at_once);
        activate_pixels(&args.epilogue, args.columns, 0..out_h * out_w, args.output, loops.activate);
        return;
    }
    let first = if is_packed { in_packed_panels(args, loops) } else { in_panels(args, loops) };
    let input_per_row = window.step(window.in_w as usize * window.in_c as usize);
    let block_rows = BLOCK_ELEMS.checked_div(input_per_row).unwrap_or(1).max(1);
    for start in (0..out_h).step_by(block_rows) {
        let rows = start..out_h.min(start + block_rows);
        row_block(args, loops, first, rows.clone());
        activate_pixels(
            &args.epilogue,
            args.columns,
            rows.start * out_w..rows.end * out_w,
            args.output,
            loops.activate,
        );
    }
}

/// The outputs from `first` on of some output rows.
fn row_block(args: &mut Conv2d<'_>, loops: &InnerLoops, first: usize, rows: Range<usize>) {
    let window = with_stride(&args.window);
    let outputs = args.epilogue.bias.len();
    let interior = window.interior_columns();
    for first in (first..outputs).step_by(OUTPUTS) {
        let filters = args.filters();
        let weights = Weights::new(filters.weights, filters.pitch.filter, filters.span(), first, outputs);
        let finish = Finish::new(&args.epilogue, first);
        for y in rows.clone() {
            let mut x = 0;
            while x < window.out_w as usize {
                // In the interior, pixels lie evenly in the input and share the weights; elsewhere each is a strip of its own.
                let pixels = if interior.contains(&x) { STRIP.min(interior.end - x) } else { 1 };
                let mut sums = [[0.0; OUTPUTS]; STRIP];
                let sums = sums.get_mut(..pixels).unwrap_or_default();
                let (start, rows, weights) = strip(&window, filters.pitch, y, x, &weights);
                (loops.dot)(args.input.get(start..).unwrap_or_default(), rows, weights, sums);
                let at = (y * window.out_w as usize + x) * args.columns.pitch + args.columns.first + first;
                finish.store(sums, args.output, at, args.columns.pitch);
                x += pixels;
            }
        }
    }
}

/// Where the input of the pixels from column `x` of output row `y` on begins and how it lies, and the weights that meet it.
#[inline(always)]
fn strip<'a>(
    window: &Window,
    pitch: KernelPitch,
    y: usize,
    x: usize,
    weights: &Weights<'a, OUTPUTS>,
) -> (usize, Rows, Weights<'a, OUTPUTS>) {
    let channels = window.in_c as usize;
    let (rows, columns) = (window.rows_at(y), window.columns_at(x));
    let stretch = window.in_w as usize * channels;
    let first = rows.first * pitch.row + columns.first * channels;
    (
        rows.input * stretch + columns.input * channels,
        Rows { pieces: rows.count, stretch, step: window.step(channels), len: columns.count * channels },
        weights.from(first, pitch.row),
    )
}

/// As many outputs as fill panels, for the whole map; returns how many.
fn in_panels(args: &mut Conv2d<'_>, loops: &InnerLoops) -> usize {
    let outputs = args.epilogue.bias.len();
    let mut first = 0;
    if args.scratch.is_empty() {
        return first;
    }
    while let Some(product) = loops.widest(outputs - first) {
        panels(args, product, first);
        first += product.outputs;
    }
    first
}

/// The outputs from `first` on that fill one panel, for the whole map.
fn panels(args: &mut Conv2d<'_>, product: &ProductLoops, first: usize) {
    let window = with_stride(&args.window);
    let (pitch, width) = (args.columns.pitch, product.outputs);
    let (chunks, filters) = (chunks(&window), args.filters());
    let offsets: [f32; WIDE] = offsets(&args.epilogue, first);
    for chunk in chunks.iter() {
        let Some(weights) = args.scratch.get_mut(..chunk.rows * chunk.len * width) else { break };
        let part = (chunk.row, chunk.first, chunk.len);
        transpose_rows(product.transpose, &filters, first, part, (weights, width));
        scale_panel(&args.epilogue, first, weights, width);
        let held = Held { weights, row: chunk.row, first: chunk.first, step: chunk.len };
        let (fresh, ends) = ends_of(&args.epilogue, &chunks, &chunk, offsets.get(..width).unwrap_or_default());
        let output = args.output.get_mut(args.columns.first + first..).unwrap_or_default();
        let pass = Pass { window, chunk, product, held, pitch, fresh, ends };
        pass.add(0..window.out_h as usize, args.input, output);
    }
}

/// As many outputs as lie in packed panels, for the whole map; returns how many.
fn in_packed_panels(args: &mut Conv2d<'_>, loops: &InnerLoops) -> usize {
    let window = with_stride(&args.window);
    let mut end = 0;
    for panel in packed::panels(args.packed, args.epilogue.bias.len(), args.filters().elems()) {
        packed_panel(args, &window, loops, panel);
        end = panel.first + panel.width;
    }
    end
}

/// The outputs of one packed panel. Some output rows stay in the cache while the chunks of the kernel pass.
fn packed_panel(args: &mut Conv2d<'_>, window: &Window, loops: &InnerLoops, panel: Packed<'_>) {
    let Some(product) = loops.widest(panel.width) else { return };
    let (out_h, out_w) = (window.out_h as usize, window.out_w as usize);
    let chunks = packed::chunks(window, panel.width);
    let row_len = window.kernel_w as usize * window.in_c as usize;
    let block = packed::BLOCK_PIXELS.checked_div(out_w).unwrap_or(1).max(1);
    for start in (0..out_h).step_by(block) {
        for chunk in chunks.iter() {
            let (fresh, ends) = ends_of(&args.epilogue, &chunks, &chunk, panel.offsets);
            let next = panel.behind(chunk.row * row_len + chunk.first + chunk.rows * chunk.len, chunk.rows * chunk.len);
            let pass = Pass {
                window: *window,
                chunk,
                product,
                held: Held { weights: panel.weights, row: 0, first: 0, step: row_len },
                pitch: args.columns.pitch,
                fresh,
                ends: Ends { next, ..ends },
            };
            let output = args.output.get_mut(args.columns.first + panel.first..).unwrap_or_default();
            pass.add(start..out_h.min(start + block), args.input, output);
        }
    }
}

/// A panel in scratch or a packed one: it begins with element `first` of kernel row `row`, rows are `step` elements apart.
#[derive(Clone, Copy)]
struct Held<'a> {
    weights: &'a [f32],
    row: usize,
    first: usize,
    step: usize,
}

/// What a chunk of the kernel contributes to the outputs of a panel.
struct Pass<'a> {
    window: Window,
    chunk: Chunk,
    product: &'a ProductLoops,
    held: Held<'a>,
    /// Elements from one output pixel to the next.
    pitch: usize,
    /// Whether sums begin here.
    fresh: bool,
    ends: Ends<'a>,
}

/// Output pixels below each other or side by side that meet the same taps: evenly spaced in the input and in the output.
struct Line<'a> {
    y: usize,
    x: usize,
    pixels: usize,
    is_column: bool,
    columns: Taps,
    /// Weights to fetch meanwhile.
    next: &'a [f32],
}

impl Pass<'_> {
    /// Adds to the output rows `ys`; `output` begins with the panel's first channel of the first pixel.
    fn add(&self, ys: Range<usize>, input: &[f32], output: &mut [f32]) {
        // Each row of the output fetches its share of the next weights.
        let share = self.ends.next.len().div_ceil(ys.len().max(1));
        let shares = self.ends.next.chunks(share.max(1)).chain(iter::repeat(&[][..]));
        let only_tap = self.chunk.only_tap(self.window.in_c as usize);
        for (y, next) in ys.clone().zip(shares) {
            match only_tap {
                Some(tap) => self.add_tap(tap, y, next, input, output),
                None => self.add_interior(y, next, input, output),
            }
        }
        if only_tap.is_none() {
            self.add_border(ys, input, output);
        }
    }

    /// With the taps of one kernel column, the pixels that have it inside the input lie evenly there, those at the border, too.
    fn add_tap(&self, tap: usize, y: usize, next: &[f32], input: &[f32], output: &mut [f32]) {
        let window = &self.window;
        let inside = window.columns_inside(tap..tap + 1);
        let mut add = |columns: Range<usize>, taps: Taps, next| {
            let line = Line { y, x: columns.start, pixels: columns.len(), is_column: false, columns: taps, next };
            self.add_line(&line, input, output);
        };
        let outside = Taps { first: tap, count: 0, input: 0 };
        add(0..inside.start, outside, &[]);
        if !inside.is_empty() {
            let input = window.step(inside.start) + tap - window.pad_left as usize;
            add(inside.clone(), Taps { first: tap, count: 1, input }, next);
        }
        add(inside.end..window.out_w as usize, outside, &[]);
    }

    /// In the interior, the pixels of a row meet the same taps.
    fn add_interior(&self, y: usize, next: &[f32], input: &[f32], output: &mut [f32]) {
        let interior = self.window.interior_columns();
        if !interior.is_empty() {
            let columns = self.window.columns_at(interior.start);
            let line = Line { y, x: interior.start, pixels: interior.len(), is_column: false, columns, next };
            self.add_line(&line, input, output);
        }
    }

    /// At the border, the pixels of a column do.
    fn add_border(&self, ys: Range<usize>, input: &[f32], output: &mut [f32]) {
        let window = &self.window;
        let interior = window.interior_columns();
        for x in (0..interior.start).chain(interior.end..window.out_w as usize) {
            let columns = window.columns_at(x);
            let mut y = ys.start;
            while y < ys.end {
                let pixels = window.rows_alike(y).min(ys.end - y);
                self.add_line(&Line { y, x, pixels, is_column: true, columns, next: &[] }, input, output);
                y += pixels;
            }
        }
    }

    fn add_line(&self, line: &Line<'_>, input: &[f32], output: &mut [f32]) {
        let (window, chunk, held) = (&self.window, &self.chunk, &self.held);
        let channels = window.in_c as usize;
        let stretch = window.in_w as usize * channels;
        let (rows, taps) = (window.rows_at(line.y), line.columns);
        let row = rows.first.max(chunk.row);
        let (left, right) = (taps.first * channels, (taps.first + taps.count) * channels);
        let first = left.max(chunk.first);
        let len = right.min(chunk.first + chunk.len).saturating_sub(first);
        let pieces = (rows.first + rows.count).min(chunk.row + chunk.rows).saturating_sub(row);
        let pieces = if len == 0 { 0 } else { pieces };
        if line.pixels == 0 || pieces == 0 && !self.fresh && self.ends.is_open() {
            return;
        }
        let start = (rows.input + row - rows.first) * stretch + taps.input * channels + first - left;
        let step = window.step(if line.is_column { stretch } else { channels });
        let at = (row - held.row) * held.step + first - held.first;
        let panel = held.weights.get(at * self.product.outputs..).unwrap_or_default();
        let output = output.get_mut((line.y * window.out_w as usize + line.x) * self.pitch..).unwrap_or_default();
        let pitch = if line.is_column { window.out_w as usize * self.pitch } else { self.pitch };
        (self.product.outer)(
            input.get(start..).unwrap_or_default(),
            Rows { pieces, stretch, step, len },
            Panel { weights: panel, step: held.step },
            output,
            Span { pixels: line.pixels, pitch, fresh: self.fresh },
            Ends { next: line.next, ..self.ends },
        );
    }
}
