//! Convolution with kernels of 3 x 3 and stride 1 by Winograd's method F(4 x 4, 3 x 3): 36 products for 16 outputs instead of 144.
//!
//! ```text
//! for some tiles at a time:
//!   patches     6 x 6 input pixels of each tile -> 36 points       [36][tiles][in_c]
//!   products    one matrix product for each point                  [36][tiles][outputs of a panel]
//!   tiles       36 points -> 4 x 4 output pixels, with the epilogue
//! ```
//!
//! The weights are transformed when a model is packed: panels as in [`super::packed`], with `[36][in_c][P]` weights.
//! The points of evaluation are 0, ±3/4, ±3/2 and infinity. Rounding grows much less than with the usual 0, ±1, ±2: sums of
//! a thousand products come out with about twice the error of direct ones. Source of the method: Lavin and Gray, "Fast
//! Algorithms for Convolutional Neural Networks", 2015; that the choice of points matters: Barabasz et al., "Error Analysis and
//! Improving the Accuracy of Winograd Convolution for Deep Neural Networks", 2018.

mod transform;

pub(in crate::kernels) use transform::{Corner, input_tile, output_tile};

use core::array;
use core::ops::Range;

use crate::kernels::Activation;
use crate::kernels::args::{Conv2d, Epilogue, Filters};
use crate::kernels::portable::epilogue::offsets;
use crate::kernels::portable::packed::{self, Packed};
use crate::kernels::portable::panel::{Ends, MEDIUM, NARROW, Panel, Span, WIDE};
use crate::kernels::portable::tile::{InnerLoops, ProductLoops, Rows, part};
use crate::tensor::Window;

/// Outputs of a tile on each axis, the inputs that they read, and the points of both axes.
const TILE: usize = 4;
pub(in crate::kernels) const PATCH: usize = TILE + 2;
pub(in crate::kernels) const POINTS: usize = PATCH * PATCH;

/// Fewest outputs of a map per tile, of 16, that pay.
const MIN_FILL: usize = 8;
/// Fewest tiles of a map, and at a time, that keep the matrix products busy.
const MIN_TILES: usize = 8;
const MIN_AT_ONCE: usize = 4;
/// Scratch that stays in the second-level cache, in elements: 1 MiB.
const CACHE_ELEMS: usize = 256 * 1024;

/// The pixels of a patch, each with all its channels.
pub(in crate::kernels) type Patch<'a> = [[&'a [f32]; PATCH]; PATCH];

/// Columns of tiles, and tiles.
fn tiles(window: &Window) -> (usize, usize) {
    let columns = (window.out_w as usize).div_ceil(TILE);
    (columns, columns.saturating_mul((window.out_h as usize).div_ceil(TILE)))
}

/// Whether the method suits this geometry.
fn suits(window: &Window) -> bool {
    let (_, tiles) = tiles(window);
    (window.kernel_h, window.kernel_w, window.stride) == (3, 3, 1)
        && window.in_c.is_multiple_of(MEDIUM as u32)
        && window.out_c.is_multiple_of(MEDIUM as u32)
        && tiles >= MIN_TILES
        && tiles.saturating_mul(MIN_FILL) <= window.out_h as usize * window.out_w as usize
}

/// Elements of scratch per tile, besides the zeros that stand for the padding.
const fn tile_elems(channels: usize) -> usize {
    POINTS * (channels + WIDE)
}

/// The least and the most elements of scratch with which the method is used and gains; none where it is not.
pub fn scratch_elems(window: &Window) -> Option<(usize, usize)> {
    let channels = window.in_c as usize;
    let most = tiles(window).1.min(CACHE_ELEMS / tile_elems(channels));
    let elems = |tiles: usize| channels + tiles * tile_elems(channels);
    (suits(window) && most >= MIN_AT_ONCE).then(|| (elems(MIN_AT_ONCE), elems(most)))
}

/// Tiles that pass at a time with so many elements of scratch; 0 where direct convolution is used.
pub fn tiles_at_once(window: &Window, given_elems: usize) -> usize {
    let Some((_, most)) = scratch_elems(window).filter(|&(least, _)| given_elems >= least) else { return 0 };
    let channels = window.in_c as usize;
    let (_, tiles) = tiles(window);
    let longest = (given_elems.min(most) - channels) / tile_elems(channels);
    // Evenly shared out, or the last part would be a small one.
    tiles.div_ceil(tiles.div_ceil(longest.max(1)))
}

/// Elements of the packed weights.
pub fn packed_elems(window: &Window) -> usize {
    (window.out_c as usize).saturating_mul(POINTS.saturating_mul(window.in_c as usize).saturating_add(1))
}

/// Packs weights and what the epilogue does to the sums; `packed` has [`packed_elems`] elements.
pub fn pack(filters: &Filters<'_, f32>, epilogue: &Epilogue<'_>, packed: &mut [f32]) {
    let channels = filters.row_elems / 3;
    for (panel, (first, width)) in packed::panels_mut(packed, epilogue.bias.len(), POINTS * channels) {
        let (begin, weights) = panel.split_at_mut(width);
        begin.iter_mut().zip(offsets::<WIDE>(epilogue, first)).for_each(|(to, offset)| *to = offset);
        for place in (0..width).step_by(NARROW) {
            pack_outputs(filters, epilogue, first + place, weights, (place, width));
        }
    }
}

/// The weights of [`NARROW`] outputs from `first` on, at their place of a panel of some width.
fn pack_outputs(
    filters: &Filters<'_, f32>,
    epilogue: &Epilogue<'_>,
    first: usize,
    weights: &mut [f32],
    (place, width): (usize, usize),
) {
    let channels = filters.row_elems / 3;
    let scales: [f64; NARROW] = array::from_fn(|o| {
        epilogue.norm.and_then(|(scale, _)| scale.get(first + o)).map_or(1.0, |scale| f64::from(*scale))
    });
    for channel in 0..channels {
        let kernel: [[[f64; NARROW]; 3]; 3] = array::from_fn(|y| {
            array::from_fn(|x| {
                array::from_fn(|o| {
                    let at = (first + o) * filters.pitch.filter + y * filters.pitch.row + x * channels + channel;
                    f64::from(filters.weights.get(at).copied().unwrap_or_default()) * scales[o]
                })
            })
        });
        for (point, values) in transform::kernel(&kernel).as_flattened().iter().enumerate() {
            let at = (point * channels + channel) * width + place;
            let Some(to) = weights.get_mut(at..at + NARROW) else { return };
            to.iter_mut().zip(values).for_each(|(to, value)| *to = *value as f32);
        }
    }
}

/// The loops of a level.
pub(in crate::kernels) struct WinogradLoops {
    /// See [`input_tile`].
    pub(in crate::kernels) input: fn(&Patch<'_>, &mut [f32], usize),
    /// See [`output_tile`].
    pub(in crate::kernels) output: fn(&[f32], usize, &[f32], &mut [f32], Corner),
}

/// Convolves with weights that [`pack`] wrote, `at_once` tiles at a time. Activations with an exponential are left to do.
pub(super) fn run(args: &mut Conv2d<'_>, loops: &InnerLoops, at_once: usize) {
    let (_, tiles) = tiles(&args.window);
    let channels = args.window.in_c as usize;
    let Some((zeros, rest)) = args.scratch.split_at_mut_checked(channels) else { return };
    let Some((patches, products)) = rest.split_at_mut_checked(POINTS * at_once * channels) else { return };
    zeros.fill(0.0);
    let mut pass = Pass {
        window: args.window,
        loops,
        at_once,
        zeros,
        patches,
        products,
        pitch: args.columns.pitch,
        accumulate: args.epilogue.accumulate,
        activation: args.epilogue.activation,
    };
    for first in (0..tiles).step_by(at_once) {
        let some = first..tiles.min(first + at_once);
        pass.transform_input(args.input, some.clone());
        for panel in packed::panels(args.packed, args.epilogue.bias.len(), POINTS * channels) {
            let Some(product) = loops.widest(panel.width) else { return };
            pass.multiply(product, &panel, some.len());
            let output = args.output.get_mut(args.columns.first + panel.first..).unwrap_or_default();
            pass.transform_output(&panel, some.clone(), output);
        }
    }
}

/// What some tiles need on their way.
struct Pass<'a> {
    window: Window,
    loops: &'a InnerLoops,
    at_once: usize,
    /// A pixel of the padding.
    zeros: &'a [f32],
    patches: &'a mut [f32],
    products: &'a mut [f32],
    /// Elements from one output pixel to the next.
    pitch: usize,
    accumulate: bool,
    activation: Activation,
}

impl Pass<'_> {
    fn transform_input(&mut self, input: &[f32], tiles: Range<usize>) {
        let channels = self.window.in_c as usize;
        for (place, tile) in tiles.enumerate() {
            let patch = patch(&self.window, input, self.zeros, tile);
            let points = self.patches.get_mut(place * channels..).unwrap_or_default();
            (self.loops.winograd.input)(&patch, points, self.at_once * channels);
        }
    }

    /// All points of `tiles` tiles times the weights of a panel.
    fn multiply(&mut self, product: &ProductLoops, panel: &Packed<'_>, tiles: usize) {
        let (channels, width) = (self.window.in_c as usize, panel.width);
        for point in 0..POINTS {
            let (weights, next) =
                panel.weights.get(point * channels * width..).unwrap_or_default().split_at(channels * width);
            (product.outer)(
                self.patches.get(point * self.at_once * channels..).unwrap_or_default(),
                Rows { pieces: 1, stretch: 0, step: channels, len: channels },
                Panel { weights, step: 0 },
                self.products.get_mut(point * self.at_once * width..).unwrap_or_default(),
                Span { pixels: tiles, pitch: width, fresh: true },
                Ends { bias: &[], activation: Activation::None, next: part(next, 0, channels * width) },
            );
        }
    }

    fn transform_output(&self, panel: &Packed<'_>, tiles: Range<usize>, output: &mut [f32]) {
        let window = &self.window;
        let (columns, _) = self::tiles(window);
        let (out_h, out_w, width) = (window.out_h as usize, window.out_w as usize, panel.width);
        for (place, tile) in tiles.enumerate() {
            let (y, x) = (tile / columns.max(1) * TILE, tile % columns.max(1) * TILE);
            let corner = Corner {
                rows: TILE.min(out_h - y),
                columns: TILE.min(out_w - x),
                pitch: self.pitch,
                row_pitch: out_w * self.pitch,
                accumulate: self.accumulate,
                activation: self.activation,
            };
            let sums = self.products.get(place * width..).unwrap_or_default();
            let output = output.get_mut((y * out_w + x) * self.pitch..).unwrap_or_default();
            (self.loops.winograd.output)(sums, self.at_once * width, panel.offsets, output, corner);
        }
    }
}

/// The input pixels of a tile; those in the padding are zeros.
fn patch<'a>(window: &Window, input: &'a [f32], zeros: &'a [f32], tile: usize) -> Patch<'a> {
    let (columns, _) = tiles(window);
    let (in_h, in_w, channels) = (window.in_h as usize, window.in_w as usize, window.in_c as usize);
    let (top, left) = (tile / columns.max(1) * TILE, tile % columns.max(1) * TILE);
    array::from_fn(|i| {
        let y = (top + i).checked_sub(window.pad_top as usize).filter(|&y| y < in_h);
        array::from_fn(|j| {
            let x = (left + j).checked_sub(window.pad_left as usize).filter(|&x| x < in_w);
            match (y, x) {
                (Some(y), Some(x)) => part(input, (y * in_w + x) * channels, channels),
                _ => zeros,
            }
        })
    })
}
