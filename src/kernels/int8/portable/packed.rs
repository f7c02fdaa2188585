//! Convolution with weights that were packed when the model was loaded.
//!
//! ```text
//! [ line: form | block of 8 outputs | block | ... ]     the last block overlaps its neighbour rather than reach past the end
//!   a block: offsets [8] as i32, weights [k / G][8][G] as i8, zero from k to the next multiple of 4
//! ```
//!
//! A form is what a level's instructions multiply at a time: G is 2 for products of i16, 4 for products of bytes. Offsets
//! are what the sums begin with. Rows of a strip of pixels are gathered piece by piece, as the scratch allows; each piece
//! then meets the weights of some blocks.

use core::array;
use core::ops::Range;

use super::conv2d::{blocks, store_strip};
use super::finish::Finish;
use super::gather::Gather;
use super::tile::{BLOCK, InnerLoops, STRIP, Sums};
use crate::kernels::Filters;
use crate::kernels::int8::{Conv2d, Requantize};

/// In front of the blocks, in bytes.
const LINE: usize = 64;
/// Bytes of the offsets of a block.
const OFFSETS: usize = BLOCK * size_of::<i32>();
/// Blocks that a piece of rows meets before the next one is gathered.
const MAX_BLOCKS: usize = 8;
/// Fewest pixels that pay for packing.
const MIN_PIXELS: usize = 16;

/// How weights are packed. Apart from the loops, so that loading a model does not need the kernels.
pub(in crate::kernels) struct PackedForm {
    /// Not 0.
    number: u8,
    /// k that are multiplied at a time.
    group: usize,
    /// What elements of gathered rows are larger by than inputs without their zero point, which is given.
    excess: fn(zero_point: i32) -> i32,
}

#[cfg(feature = "simd")]
impl PackedForm {
    /// For rows of i16.
    #[cfg(target_arch = "x86_64")]
    pub(in crate::kernels) const PAIRS: Self = Self { number: 1, group: 2, excess: |_| 0 };
    /// For rows of inputs plus 128.
    #[cfg(target_arch = "x86_64")]
    pub(in crate::kernels) const QUADS: Self = Self { number: 2, group: 4, excess: |zero_point| 128 + zero_point };
    /// For rows of inputs as they are.
    #[cfg(target_arch = "aarch64")]
    pub(in crate::kernels) const SIGNED_QUADS: Self = Self { number: 3, group: 4, excess: |zero_point| zero_point };
}

/// The inner loops for packed weights of one form.
pub(in crate::kernels) struct PackedLoops {
    pub(in crate::kernels) form: &'static PackedForm,
    /// Bytes of an element of a gathered row.
    pub(in crate::kernels) elem_bytes: usize,
    /// Writes rows, see [`gather`](super::gather::gather), into memory for i16.
    pub(in crate::kernels) gather: fn(&Gather<'_>, &mut [i16]),
    /// Adds the products of a strip of rows of `len` elements with the weights of some blocks.
    pub(in crate::kernels) products: fn(rows: &[i16], len: usize, blocks: &[Block<'_>], sums: &mut [Sums]),
}

/// Weights of a block, or those of a piece of k.
#[derive(Clone, Copy, Default)]
pub(in crate::kernels) struct Block<'a> {
    /// What sums begin with; nothing where they go on.
    pub(in crate::kernels) offsets: Option<&'a [[u8; 4]; BLOCK]>,
    pub(in crate::kernels) weights: &'a [i8],
}

/// Packed bytes of `outputs` outputs with `k` weights each over `pixels` pixels or rows; 0 where packing brings nothing.
pub fn bytes(pixels: usize, outputs: usize, k: usize) -> usize {
    if pixels < MIN_PIXELS || outputs == 0 {
        return 0;
    }
    outputs.div_ceil(BLOCK).saturating_mul(block_bytes(k)).saturating_add(LINE)
}

fn block_bytes(k: usize) -> usize {
    k.next_multiple_of(4).saturating_mul(BLOCK).saturating_add(OFFSETS)
}

/// Packs weights in a form. Nothing is packed without one, and for weights with a zero point.
pub(in crate::kernels) fn pack(
    form: Option<&PackedForm>,
    filters: &Filters<'_, i8>,
    requantize: &Requantize<'_>,
    packed: &mut [i8],
) {
    let (outputs, k) = (requantize.bias.len(), filters.elems());
    let Some((line, rest)) = packed.split_at_mut_checked(LINE) else { return };
    line.fill(0);
    let Some(form) = form.filter(|_| requantize.weight_zero_point == 0) else { return };
    for (first, block) in blocks::<BLOCK>(0..outputs).zip(rest.chunks_exact_mut(block_bytes(k))) {
        block.fill(0);
        let (offsets, panel) = block.split_at_mut(OFFSETS);
        for (output, offset) in (0..BLOCK.min(outputs)).zip(offsets.as_chunks_mut::<4>().0) {
            let sum = pack_filter(filters, first + output, form.group, output, panel);
            *offset =
                sum.wrapping_mul(-(form.excess)(requantize.input_zero_point)).to_le_bytes().map(|byte| byte as i8);
        }
    }
    if let Some(number) = line.first_mut() {
        *number = form.number as i8;
    }
}

/// Writes the weights of a filter to its places in a panel; returns their sum.
fn pack_filter(filters: &Filters<'_, i8>, filter: usize, group: usize, output: usize, panel: &mut [i8]) -> i32 {
    let mut sum = 0i32;
    for (k, &weight) in filters.rows_of(filter).flatten().enumerate() {
        if let Some(to) = panel.get_mut((k / group * BLOCK + output) * group + k % group) {
            *to = weight;
        }
        sum = sum.wrapping_add(i32::from(weight));
    }
    sum
}

/// Computes a convolution with packed weights; false, with nothing computed, where they have another form or there are none.
pub(super) fn run(args: &mut Conv2d<'_>, loops: &'static InnerLoops, k: usize) -> bool {
    let Some(packed_loops) = loops.packed.as_ref().filter(|_| cfg!(feature = "simd")) else { return false };
    let packed = args.packed;
    if packed.first() != Some(&(packed_loops.form.number as i8)) {
        return false;
    }
    let padded = k.next_multiple_of(4);
    let room = size_of_val(args.scratch) / (STRIP * packed_loops.elem_bytes);
    let piece = padded.min(room / 4 * 4);
    if piece == 0 {
        return false;
    }
    let outputs = args.requantize.bias.len();
    let panels = packed.get(LINE..).unwrap_or_default().chunks(MAX_BLOCKS * block_bytes(k));
    for (group, panels) in (0..outputs).step_by(MAX_BLOCKS * BLOCK).zip(panels) {
        let group = group..outputs.min(group + MAX_BLOCKS * BLOCK);
        some_blocks(args, loops, packed_loops, (k, piece), group, panels);
    }
    true
}

/// The outputs of some blocks, for all pixels.
fn some_blocks(
    args: &mut Conv2d<'_>,
    loops: &'static InnerLoops,
    packed: &PackedLoops,
    (k, piece): (usize, usize),
    outputs: Range<usize>,
    panels: &[i8],
) {
    let requantize = args.requantize;
    let pixels = args.window.out_h as usize * args.window.out_w as usize;
    let pitch = requantize.bias.len();
    // The last block of all reaches back to be whole, not only to where this group begins.
    let firsts = blocks::<BLOCK>(0..pitch).skip(outputs.start / BLOCK).take(MAX_BLOCKS);
    let count = firsts.clone().count().min(outputs.len().div_ceil(BLOCK));
    let mut panels = panels.chunks_exact(block_bytes(k)).map(|block| block.split_at(OFFSETS));
    let panels: [(&[i8], &[i8]); MAX_BLOCKS] = array::from_fn(|_| panels.next().unwrap_or_default());
    let mut blocks = [Block::default(); MAX_BLOCKS];
    let mut sums = [[[0; BLOCK]; STRIP]; MAX_BLOCKS];
    let sums = sums.get_mut(..count).unwrap_or_default();
    let finishes: [Finish<'_>; MAX_BLOCKS] =
        array::from_fn(|block| Finish::new(loops, &requantize, firsts.clone().nth(block).unwrap_or(pitch), pixels));
    for start in (0..pixels).step_by(STRIP) {
        let strip = start..pixels.min(start + STRIP);
        for from in (0..k).step_by(piece) {
            let len = piece.min(k.next_multiple_of(4) - from);
            let gather = Gather::new(args, strip.clone(), (from, len.min(k - from)), len);
            (packed.gather)(&gather, args.scratch);
            for (block, (offsets, panel)) in blocks.iter_mut().zip(panels) {
                block.offsets = if from == 0 { bytemuck::cast_slice(offsets).first_chunk() } else { None };
                block.weights = panel.get(from * BLOCK..(from + len) * BLOCK).unwrap_or_default();
            }
            (packed.products)(args.scratch, len, blocks.get(..count).unwrap_or_default(), sums);
        }
        for ((first, finish), sums) in firsts.clone().zip(&finishes).zip(&*sums) {
            store_strip(finish, sums, args.pooled, args.output, strip.clone(), (first, pitch));
        }
    }
}
