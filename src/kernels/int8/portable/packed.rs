//! Convolution with weights that were packed when the model was loaded.
//!
//! ```text
//! [ line: form | panel | panel | ... ]       panels of as many blocks of 16 outputs as the form has, then of half as many ...
//!   a panel of O outputs: offsets [O] as i32, weights [kernel row][run / G][O][G] as i8
//! ```
//!
//! A run is a row of the kernel, with zeros up to the next multiple of 4. A form is what a level's instructions multiply at
//! a time: G is 2 for products of i16, 4 for products of bytes. Offsets are what the sums begin with. Outputs past the last
//! have weights of 0.
//!
//! The input under a few output pixels is `staged.rs`; then each panel meets it, a tile of pixels at a time.

use core::iter;
use core::ops::Range;

use super::conv2d::POOLED;
use super::staged::{STAGED_BYTES, Staging, Starts, Strip, Strips};
use super::tile::{InnerLoops, Tables};
use crate::kernels::Filters;
use crate::kernels::int8::{Conv2d, Requantize};

/// In front of the panels, in bytes.
const LINE: usize = 64;
/// Outputs of a block.
pub(in crate::kernels) const WIDTH: usize = 16;
/// Most outputs of a panel.
pub(in crate::kernels) const MAX_WIDTH: usize = 4 * WIDTH;
/// Most pixels of a tile.
pub(in crate::kernels) const TILE: usize = 6;
/// What runs are a multiple of, in elements.
const QUAD: usize = 4;
/// Fewest pixels that pay for packing ...
const MIN_PIXELS: usize = 4;
/// ... unless the weights stay in the second-level cache from run to run, and make a whole panel: then it is how they are read
/// that takes the time.
const MAX_BYTES_OF_FEW_PIXELS: usize = 256 * 1024;
/// Weights in bytes that stay in the second-level cache while all strips of pixels pass.
const MAX_GROUP_BYTES: usize = 512 * 1024;

/// How weights are packed. Apart from the loops, so that loading a model does not need the kernels.
pub(in crate::kernels) struct PackedForm {
    /// Not 0.
    number: u8,
    /// k that are multiplied at a time.
    group: usize,
    /// Blocks of the widest panels: a power of two, at most 4.
    blocks: usize,
    /// What elements of staged rows are larger by than inputs without their zero point, which is given.
    excess: fn(zero_point: i32) -> i32,
    /// Whether offsets include the bias.
    has_bias: bool,
}

impl PackedForm {
    /// Whether weights are packed so.
    fn is_that_of(&self, packed: &[i8]) -> bool {
        packed.first() == Some(&(self.number as i8))
    }
}

#[cfg(feature = "simd")]
impl PackedForm {
    /// For rows of i16.
    #[cfg(target_arch = "x86_64")]
    pub(in crate::kernels) const PAIRS: Self = Self { number: 1, group: 2, blocks: 1, excess: |_| 0, has_bias: false };
    /// For rows of inputs plus 128.
    #[cfg(target_arch = "x86_64")]
    pub(in crate::kernels) const QUADS: Self =
        Self { number: 2, group: 4, blocks: 4, excess: |zero_point| 128 + zero_point, has_bias: true };
    /// For rows of inputs as they are.
    #[cfg(target_arch = "aarch64")]
    pub(in crate::kernels) const SIGNED_QUADS: Self =
        Self { number: 3, group: 4, blocks: 1, excess: |zero_point| zero_point, has_bias: false };
}

/// The inner loops for packed weights of one form.
pub(in crate::kernels) struct PackedLoops {
    pub(in crate::kernels) form: &'static PackedForm,
    /// Fewest pixels for which packed weights are faster than those in place.
    pub(in crate::kernels) min_pixels: usize,
    /// Bytes of an element of a staged row.
    pub(in crate::kernels) elem_bytes: usize,
    /// See [`stage`](super::staged::stage).
    pub(in crate::kernels) stage: fn(&Staging<'_>, &mut [i16]),
    /// Computes the sums of a tile, or adds to them.
    pub(in crate::kernels) products: fn(&Tile<'_>, &mut TileSums),
    pub(in crate::kernels) finish: PanelFinish,
}

/// From the sums of a panel to codes.
pub(in crate::kernels) struct PanelFinish {
    /// Writes the tables of a panel of so many outputs from `first` on, which may end past the last one; false where channels
    /// do not fit the form.
    pub(in crate::kernels) tables: fn(&Requantize<'_>, first: usize, width: usize, &mut PanelTables) -> bool,
    /// Writes the codes of some pixels, or of the largest sums of four if pooled.
    pub(in crate::kernels) codes: fn(&PanelTables, &mut TileSums, &mut Codes<'_>),
}

/// What [`PanelFinish`] needs for a panel, in the form of the level that made it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::kernels) struct PanelTables {
    /// For two blocks of channels.
    pub(in crate::kernels) blocks: [Tables; 2],
    /// For all channels.
    pub(in crate::kernels) wide: [[i32; 16]; 28],
}

impl PanelTables {
    const EMPTY: Self = Self { blocks: [Tables::EMPTY; 2], wide: [[0; 16]; 28] };
}

/// Where codes go.
pub(in crate::kernels) struct Codes<'a> {
    /// From the first code on.
    pub(in crate::kernels) output: &'a mut [i8],
    /// Elements from pixel to pixel.
    pub(in crate::kernels) pitch: usize,
    pub(in crate::kernels) pixels: usize,
    /// Outputs of the panel, and how many of them exist.
    pub(in crate::kernels) width: usize,
    pub(in crate::kernels) outputs: usize,
    /// Whether the sums are those of four pixels of which the largest is wanted.
    pub(in crate::kernels) pooled: bool,
}

/// The sums of a tile: the outputs of the panel of one pixel after the other.
pub(in crate::kernels) type TileSums = [i32; TILE * MAX_WIDTH];

/// Some pixels and a panel of weights.
pub(in crate::kernels) struct Tile<'a> {
    pub(in crate::kernels) staged: &'a [i16],
    /// Where the windows of the strip's pixels start.
    pub(in crate::kernels) starts: &'a Starts,
    /// The first pixel, and their number.
    pub(in crate::kernels) first: usize,
    pub(in crate::kernels) pixels: usize,
    pub(in crate::kernels) kernel_rows: usize,
    /// Elements from one staged row to the next.
    pub(in crate::kernels) pitch: usize,
    /// Elements of a row of the kernel: a multiple of 4.
    pub(in crate::kernels) run: usize,
    /// Outputs of the panel.
    pub(in crate::kernels) width: usize,
    /// `width` sums that all pixels begin with; nothing where sums go on.
    pub(in crate::kernels) offsets: Option<&'a [i8]>,
    pub(in crate::kernels) weights: &'a [i8],
}

impl Tile<'_> {
    /// Whether the windows of the pixels, in elements of so many bytes, and all weights are there.
    #[allow(dead_code, reason = "for loops without checks")]
    #[inline(always)]
    pub(in crate::kernels) fn is_inside(&self, elem_bytes: usize) -> bool {
        let Some(last) = self.starts.last_of(self.first, self.pixels) else { return false };
        let reach = last + self.kernel_rows.saturating_sub(1) * self.pitch + self.run;
        (1..=TILE).contains(&self.pixels)
            && reach * elem_bytes <= size_of_val(self.staged)
            && self.width <= MAX_WIDTH
            && self.kernel_rows * self.run * self.width <= self.weights.len()
            && self.offsets.is_none_or(|offsets| offsets.len() == self.width * size_of::<i32>())
    }
}

/// Packed bytes of `outputs` filters of so many rows over `pixels` pixels or rows; 0 where packing brings nothing.
pub fn bytes(pixels: usize, outputs: usize, rows: usize, row_elems: usize) -> usize {
    let bytes = panel_bytes(1, rows, row_elems).saturating_mul(outputs.div_ceil(WIDTH)).saturating_add(LINE);
    let pays_for_few = pixels > 0 && outputs >= MAX_WIDTH && bytes <= MAX_BYTES_OF_FEW_PIXELS;
    if outputs > 0 && (pixels >= MIN_PIXELS || pays_for_few) { bytes } else { 0 }
}

/// Bytes of a panel of so many blocks.
fn panel_bytes(blocks: usize, rows: usize, row_elems: usize) -> usize {
    let weights = rows.saturating_mul(row_elems.next_multiple_of(QUAD));
    weights.saturating_add(size_of::<i32>()).saturating_mul(blocks * WIDTH)
}

/// First output and blocks of every panel of these outputs, the first of which begins one of the widest panels.
fn panels(form: &PackedForm, outputs: Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let (mut first, mut blocks) = (outputs.start, form.blocks);
    iter::from_fn(move || {
        let left = outputs.end.saturating_sub(first).div_ceil(WIDTH);
        while blocks > left.max(1) {
            blocks /= 2;
        }
        let panel = (first, blocks);
        first += blocks * WIDTH;
        (left > 0).then_some(panel)
    })
}

/// First output, blocks and bytes of the panels of these outputs, the first of which begins one of the widest panels, of filters of
/// so many rows and elements of a row. Nothing where weights are not packed in this form.
pub(in crate::kernels) fn panels_of<'p>(
    form: &'static PackedForm,
    packed: &'p [i8],
    outputs: Range<usize>,
    (rows, row_elems): (usize, usize),
) -> Option<impl Iterator<Item = (usize, usize, &'p [i8])>> {
    let before = panel_bytes(1, rows, row_elems) * (outputs.start / WIDTH);
    let mut rest = packed.get(LINE + before..).filter(|_| form.is_that_of(packed))?;
    Some(panels(form, outputs).map_while(move |(first, blocks)| {
        Some((first, blocks, rest.split_off(..panel_bytes(blocks, rows, row_elems))?))
    }))
}

/// Packs weights in a form. Nothing is packed without one, and for weights with a zero point.
pub(in crate::kernels) fn pack(
    form: Option<&PackedForm>,
    filters: &Filters<'_, i8>,
    requantize: &Requantize<'_>,
    packed: &mut [i8],
) {
    let Some((line, mut rest)) = packed.split_at_mut_checked(LINE) else { return };
    line.fill(0);
    let Some(form) = form.filter(|_| requantize.weight_zero_point == 0) else { return };
    for (first, blocks) in panels(form, 0..requantize.bias.len()) {
        let Some((panel, others)) = rest.split_at_mut_checked(panel_bytes(blocks, filters.rows, filters.row_elems))
        else {
            return;
        };
        pack_panel(form, filters, requantize, (first, blocks * WIDTH), panel);
        rest = others;
    }
    if let Some(number) = line.first_mut() {
        *number = form.number as i8;
    }
}

fn pack_panel(
    form: &PackedForm,
    filters: &Filters<'_, i8>,
    requantize: &Requantize<'_>,
    (first, width): (usize, usize),
    panel: &mut [i8],
) {
    panel.fill(0);
    let Some((offsets, weights)) = panel.split_at_mut_checked(width * size_of::<i32>()) else { return };
    let excess = (form.excess)(requantize.input_zero_point);
    let bias = requantize.bias.get(first..).unwrap_or_default();
    for (output, (offset, &bias)) in offsets.as_chunks_mut::<4>().0.iter_mut().zip(bias).enumerate() {
        let sum = pack_filter(filters, first + output, form.group, (output, width), weights);
        let bias = if form.has_bias { bias } else { 0 };
        *offset = bias.wrapping_sub(sum.wrapping_mul(excess)).to_le_bytes().map(|byte| byte as i8);
    }
}

/// Writes the weights of a filter to its places in a panel, where it is one of `width`; returns their sum.
fn pack_filter(
    filters: &Filters<'_, i8>,
    filter: usize,
    group: usize,
    (output, width): (usize, usize),
    panel: &mut [i8],
) -> i32 {
    let mut sum = 0i32;
    let runs = panel.chunks_mut((filters.row_elems.next_multiple_of(QUAD) * width).max(1));
    for (row, run) in filters.rows_of(filter).zip(runs) {
        let groups = run.chunks_exact_mut(width * group);
        for (weights, groups) in row.chunks(group).zip(groups) {
            for (&weight, to) in weights.iter().zip(groups.get_mut(output * group..).unwrap_or_default()) {
                *to = weight;
                sum = sum.wrapping_add(i32::from(weight));
            }
        }
    }
    sum
}

/// Computes a convolution with packed weights; false, with nothing computed, where they have another form or there are none.
pub(super) fn run(args: &mut Conv2d<'_>, loops: &'static InnerLoops) -> bool {
    let Some(packed_loops) = loops.packed.as_ref().filter(|_| cfg!(feature = "simd")) else { return false };
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    if !packed_loops.form.is_that_of(args.packed) || pixels < packed_loops.min_pixels {
        return false;
    }
    let capacity = STAGED_BYTES / packed_loops.elem_bytes;
    let Some(strips) = Strips::new(&args.window, args.pooled, capacity) else { return false };
    let requantize = args.requantize;
    let mut ending = Ending::new(packed_loops, &requantize);
    // Filling a buffer takes as long as a small layer.
    match strips.elems(&args.window) {
        elems if elems <= capacity / 8 => buffered::<{ ALL / 8 }>(args, &mut ending, strips),
        elems if elems <= capacity / 4 => buffered::<{ ALL / 4 }>(args, &mut ending, strips),
        elems if elems <= capacity / 2 => buffered::<{ ALL / 2 }>(args, &mut ending, strips),
        _ => buffered::<ALL>(args, &mut ending, strips),
    }
    true
}

/// The whole buffer, in elements of its own.
const ALL: usize = STAGED_BYTES / size_of::<i16>();

#[inline(never)]
fn buffered<const N: usize>(args: &mut Conv2d<'_>, ending: &mut Ending<'_>, strips: Strips) {
    all_groups(args, ending, strips, &mut [0; N]);
}

/// All pixels, for one group of panels after the other.
#[inline(never)]
fn all_groups(args: &mut Conv2d<'_>, ending: &mut Ending<'_>, strips: Strips, buffer: &mut [i16]) {
    let window = args.window;
    let (outputs, row_elems) = (args.requantize.bias.len(), window.kernel_w as usize * window.in_c as usize);
    let widest = panel_bytes(ending.packed.form.blocks, window.kernel_h as usize, row_elems);
    let panels = (MAX_GROUP_BYTES / widest.max(1)).max(1);
    let group = panels * ending.packed.form.blocks * WIDTH;
    for first in (0..outputs).step_by(group) {
        for strip in strips.all(&window) {
            some_panels(args, ending, first..outputs.min(first + group), &strip, buffer);
        }
    }
}

/// Some outputs of a strip of pixels.
#[inline(never)]
fn some_panels(
    args: &mut Conv2d<'_>,
    ending: &mut Ending<'_>,
    outputs: Range<usize>,
    strip: &Strip,
    buffer: &mut [i16],
) {
    let (window, packed) = (args.window, ending.packed);
    let row_elems = window.kernel_w as usize * window.in_c as usize;
    let (kernel_h, run) = (window.kernel_h as usize, row_elems.next_multiple_of(QUAD));
    let Some(panels) = panels_of(packed.form, args.packed, outputs, (kernel_h, row_elems)) else { return };
    // The first row of the kernel whose input is staged.
    let mut staged = None;
    let starts = strip.starts(&strip.staging(args, 0, strip.kernel_rows.min(kernel_h)));
    let mut sums = [0; TILE * MAX_WIDTH];
    for (first, blocks, panel) in panels {
        let width = blocks * WIDTH;
        let (offsets, weights) = panel.split_at(width * size_of::<i32>());
        ending.prepare(first, width);
        for pixels in strip.tiles() {
            for row in (0..kernel_h).step_by(strip.kernel_rows) {
                let kernel_rows = strip.kernel_rows.min(kernel_h - row);
                let staging = strip.staging(args, row, kernel_rows);
                if staged != Some(row) {
                    (packed.stage)(&staging, buffer);
                    staged = Some(row);
                }
                let tile = Tile {
                    staged: buffer,
                    starts: &starts,
                    first: pixels.start,
                    pixels: pixels.len(),
                    kernel_rows,
                    pitch: staging.width,
                    run,
                    width,
                    offsets: (row == 0).then_some(offsets),
                    weights: weights.get(row * run * width..).unwrap_or_default(),
                };
                (packed.products)(&tile, &mut sums);
            }
            let pixels = strip.first_pixel + pixels.start..strip.first_pixel + pixels.end;
            ending.store(args, &mut sums, pixels);
        }
    }
}

/// How the sums of a panel become codes.
struct Ending<'a> {
    packed: &'static PackedLoops,
    requantize: &'a Requantize<'a>,
    /// The panel that this is for: its first output, and its width.
    panel: (usize, usize),
    tables: PanelTables,
    has_tables: bool,
}

impl<'a> Ending<'a> {
    fn new(packed: &'static PackedLoops, requantize: &'a Requantize<'a>) -> Self {
        Self { packed, requantize, panel: (0, 0), tables: PanelTables::EMPTY, has_tables: false }
    }

    /// For a panel of `width` outputs from `first` on.
    fn prepare(&mut self, first: usize, width: usize) {
        if self.panel != (first, width) {
            self.panel = (first, width);
            self.has_tables = (self.packed.finish.tables)(self.requantize, first, width, &mut self.tables);
        }
    }

    /// Writes the codes of a tile, whose pixels are told.
    fn store(&self, args: &mut Conv2d<'_>, sums: &mut TileSums, pixels: Range<usize>) {
        let (first, width) = self.panel;
        let pitch = self.requantize.bias.len();
        let pixel = if args.pooled { pixels.start / POOLED } else { pixels.start };
        let mut codes = Codes {
            output: args.output.get_mut(pixel * pitch + first..).unwrap_or_default(),
            pitch,
            pixels: pixels.len(),
            width,
            outputs: width.min(pitch - first),
            pooled: args.pooled,
        };
        if self.has_tables {
            (self.packed.finish.codes)(&self.tables, sums, &mut codes);
        } else {
            self.one_by_one(sums, codes);
        }
    }

    /// Channel by channel, for any requantisation.
    #[inline(never)]
    fn one_by_one(&self, sums: &TileSums, codes: Codes<'_>) {
        let mut pixels = sums.chunks(codes.width).take(codes.pixels);
        let together = if codes.pooled { POOLED } else { 1 };
        for output in codes.output.chunks_mut(codes.pitch).take(codes.pixels / together) {
            let output = output.get_mut(..codes.outputs).unwrap_or_default();
            output.fill(i8::MIN);
            for sums in pixels.by_ref().take(together) {
                for (i, (code, &sum)) in output.iter_mut().zip(sums).enumerate() {
                    let channel = self.panel.0 + i;
                    let bias = self.requantize.bias.get(channel).filter(|_| self.packed.form.has_bias);
                    let sum = sum.wrapping_sub(bias.copied().unwrap_or_default());
                    *code = self.requantize.output(channel, sum).max(*code);
                }
            }
        }
    }
}
