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

use core::array;
use core::iter;
use core::ops::Range;

use super::conv2d::{POOLED, store_strip};
use super::finish::Finish;
use super::staged::{Buffer, Staging, Strip, Strips};
use super::tile::{BLOCK, InnerLoops, STRIP, Sums};
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
/// Fewest pixels that pay for packing.
const MIN_PIXELS: usize = 4;

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
    /// Bytes of an element of a staged row.
    pub(in crate::kernels) elem_bytes: usize,
    /// See [`stage`](super::staged::stage).
    pub(in crate::kernels) stage: fn(&Staging<'_>, &mut Buffer),
    /// Computes the sums of a tile, or adds to them.
    pub(in crate::kernels) products: fn(&Tile<'_>, &mut TileSums),
    /// Finishing whole panels; nothing where blocks of channels are finished as everywhere.
    pub(in crate::kernels) finish: Option<PanelFinish>,
}

/// From the sums of a panel to codes.
pub(in crate::kernels) struct PanelFinish {
    /// The tables of a panel of so many outputs from `first` on, past the last one as well; nothing where channels do not fit
    /// the form.
    pub(in crate::kernels) tables: fn(&Requantize<'_>, first: usize, width: usize) -> Option<PanelTables>,
    /// Writes the codes of some pixels, or of the largest sums of four if pooled.
    pub(in crate::kernels) codes: fn(&PanelTables, &TileSums, Codes<'_>),
}

/// What [`PanelFinish`] needs for a panel, in the form of the level that made it.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(in crate::kernels) struct PanelTables(pub(in crate::kernels) [[i32; 16]; 28]);

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

/// The sums of a tile.
pub(in crate::kernels) type TileSums = [[i32; MAX_WIDTH]; TILE];

/// Some pixels and a panel of weights.
pub(in crate::kernels) struct Tile<'a> {
    pub(in crate::kernels) staged: &'a Buffer,
    /// Where the windows of the pixels start, in elements.
    pub(in crate::kernels) starts: [usize; TILE],
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
        let starts = self.starts.get(..self.pixels).unwrap_or_default();
        let last = starts.iter().fold(0, |last, &start| start.max(last));
        let reach = last + self.kernel_rows.saturating_sub(1) * self.pitch + self.run;
        self.pixels > 0
            && starts.len() == self.pixels
            && reach * elem_bytes <= size_of::<Buffer>()
            && self.width <= MAX_WIDTH
            && self.kernel_rows * self.run * self.width <= self.weights.len()
            && self.offsets.is_none_or(|offsets| offsets.len() == self.width * size_of::<i32>())
    }
}

/// Packed bytes of `outputs` filters of so many rows over `pixels` pixels or rows; 0 where packing brings nothing.
pub fn bytes(pixels: usize, outputs: usize, rows: usize, row_elems: usize) -> usize {
    if pixels < MIN_PIXELS || outputs == 0 {
        return 0;
    }
    panel_bytes(1, rows, row_elems).saturating_mul(outputs.div_ceil(WIDTH)).saturating_add(LINE)
}

/// Bytes of a panel of so many blocks.
fn panel_bytes(blocks: usize, rows: usize, row_elems: usize) -> usize {
    let weights = rows.saturating_mul(row_elems.next_multiple_of(QUAD));
    weights.saturating_add(size_of::<i32>()).saturating_mul(blocks * WIDTH)
}

/// First output and blocks of every panel.
fn panels(form: &PackedForm, outputs: usize) -> impl Iterator<Item = (usize, usize)> {
    let (mut first, mut blocks) = (0, form.blocks);
    iter::from_fn(move || {
        let left = outputs.saturating_sub(first).div_ceil(WIDTH);
        while blocks > left.max(1) {
            blocks /= 2;
        }
        let panel = (first, blocks);
        first += blocks * WIDTH;
        (left > 0).then_some(panel)
    })
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
    for (first, blocks) in panels(form, requantize.bias.len()) {
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
    if args.packed.first() != Some(&(packed_loops.form.number as i8)) {
        return false;
    }
    let capacity = size_of::<Buffer>() / packed_loops.elem_bytes;
    let Some(strips) = Strips::new(&args.window, args.pooled, capacity) else { return false };
    let mut buffer = Buffer::new();
    let window = args.window;
    for strip in strips.all(&window) {
        all_panels(args, loops, packed_loops, &strip, &mut buffer);
    }
    true
}

/// All outputs of a strip of pixels.
#[inline(never)]
fn all_panels(
    args: &mut Conv2d<'_>,
    loops: &'static InnerLoops,
    packed: &'static PackedLoops,
    strip: &Strip,
    buffer: &mut Buffer,
) {
    let (window, requantize) = (args.window, args.requantize);
    let (outputs, row_elems) = (args.requantize.bias.len(), window.kernel_w as usize * window.in_c as usize);
    let (kernel_h, run) = (window.kernel_h as usize, row_elems.next_multiple_of(QUAD));
    let mut rest = args.packed.get(LINE..).unwrap_or_default();
    // The first row of the kernel whose input is staged.
    let mut staged = None;
    let mut sums = [[0; MAX_WIDTH]; TILE];
    for (first, blocks) in panels(packed.form, outputs) {
        let width = blocks * WIDTH;
        let Some((panel, others)) = rest.split_at_checked(panel_bytes(blocks, kernel_h, row_elems)) else { return };
        let (offsets, weights) = panel.split_at(width * size_of::<i32>());
        let ending = Ending::new(loops, packed, &requantize, (first, width), strip.pixels());
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
                    starts: array::from_fn(|i| strip.start_of(&staging, pixels.start + i)),
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
            ending.store(args, packed.form, &sums, pixels, (first, width));
        }
        rest = others;
    }
}

/// How the sums of a panel become codes.
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Ending<'a> {
    Panel(&'a PanelFinish, PanelTables),
    Blocks([Finish<'a>; MAX_WIDTH / BLOCK]),
}

impl<'a> Ending<'a> {
    /// For a panel of `width` outputs from `first` on, and so many pixels.
    fn new(
        loops: &'static InnerLoops,
        packed: &'static PackedLoops,
        requantize: &'a Requantize<'a>,
        (first, width): (usize, usize),
        pixels: usize,
    ) -> Self {
        let panel = packed.finish.as_ref();
        match panel.and_then(|panel| Some((panel, (panel.tables)(requantize, first, width)?))) {
            Some((panel, tables)) => Self::Panel(panel, tables),
            None => Self::Blocks(array::from_fn(|block| {
                let is_used = block < width / BLOCK;
                let first = if is_used { first + block * BLOCK } else { requantize.bias.len() };
                Finish::new(loops, requantize, first, pixels)
            })),
        }
    }

    /// Writes the codes of a tile, whose pixels are told.
    fn store(
        &self,
        args: &mut Conv2d<'_>,
        form: &PackedForm,
        sums: &TileSums,
        pixels: Range<usize>,
        (first, width): (usize, usize),
    ) {
        let pitch = args.requantize.bias.len();
        match self {
            Self::Panel(panel, tables) => {
                let pixel = if args.pooled { pixels.start / POOLED } else { pixels.start };
                let codes = Codes {
                    output: args.output.get_mut(pixel * pitch + first..).unwrap_or_default(),
                    pitch,
                    pixels: pixels.len(),
                    width,
                    outputs: width.min(pitch - first),
                    pooled: args.pooled,
                };
                (panel.codes)(tables, sums, codes);
            }
            Self::Blocks(blocks) => {
                let firsts = (first..pitch.min(first + width)).step_by(BLOCK);
                for (block, (finish, at)) in blocks.iter().zip(firsts).enumerate() {
                    let mut block_sums = sums_of_block(sums, block);
                    if form.has_bias {
                        without_bias(&mut block_sums, args.requantize.bias.get(at..).unwrap_or_default());
                    }
                    store_strip(finish, &block_sums, args.pooled, args.output, pixels.clone(), (at, pitch));
                }
            }
        }
    }
}

#[inline(always)]
fn sums_of_block(sums: &TileSums, block: usize) -> Sums {
    let mut block_sums = [[0; BLOCK]; STRIP];
    for (to, sums) in block_sums.iter_mut().zip(sums) {
        if let Some(sums) = sums.as_chunks().0.get(block) {
            *to = *sums;
        }
    }
    block_sums
}

fn without_bias(sums: &mut Sums, bias: &[i32]) {
    for sums in sums {
        for (sum, &bias) in sums.iter_mut().zip(bias) {
            *sum = sum.wrapping_sub(bias);
        }
    }
}
