//! Shapes and size arithmetic that cannot overflow unnoticed.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::fault::{Fault, Text, text};

/// Largest rank a tensor can have in the format and in the C API.
pub const MAX_RANK: usize = 4;

/// Shape of an activation between two layers.
///
/// A CNN works on maps `[height, width, channels]` (NHWC without the batch) until a flatten layer turns the map into one
/// row; an MLP works on `[batch, features]`. Both are stored as three extents so that a dense layer over `h * w` rows
/// and a 1x1 convolution over `h * w` pixels are the same computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Height of a map, or number of rows.
    pub h: u32,
    /// Width of a map; 1 for rows.
    pub w: u32,
    /// Channels of a map, or features of a row.
    pub c: u32,
    /// True for `[rows, features]`, false for `[height, width, channels]`.
    pub is_rows: bool,
}

impl Shape {
    /// A map `[height, width, channels]`.
    pub const fn map(h: u32, w: u32, c: u32) -> Self {
        Self { h, w, c, is_rows: false }
    }

    /// Rows `[rows, features]`.
    pub const fn rows(rows: u32, features: u32) -> Self {
        Self { h: rows, w: 1, c: features, is_rows: true }
    }

    /// Number of elements, or an error when it does not fit 31 bits (the largest tensor this library handles).
    #[inline(never)]
    pub fn elements(&self) -> Result<u32, Fault> {
        checked_product(&[self.h, self.w, self.c])
            .ok_or(text!(SizeOverflow, field "number of elements", note "too large: at most 2^29 are possible").fault())
    }

    /// The extents as the C API reports them, and the rank.
    pub fn dims(&self) -> ([u32; MAX_RANK], u32) {
        if self.is_rows { ([self.h, self.c, 0, 0], 2) } else { ([self.h, self.w, self.c, 0], 3) }
    }
}

/// Most elements one tensor may have: its float form then fits in 32 bits of bytes with a sign to spare.
pub const MAX_ELEMENTS: u32 = 1 << 29;

/// Product of the extents, `None` above [`MAX_ELEMENTS`].
#[inline(never)]
pub fn checked_product(dims: &[u32]) -> Option<u32> {
    dims.iter().try_fold(1u32, |product, &dim| product.checked_mul(dim).filter(|&product| product <= MAX_ELEMENTS))
}

/// Zero elements added around a map before a window moves over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Padding {
    /// Rows above.
    pub top: u32,
    /// Columns to the left.
    pub left: u32,
    /// Rows below.
    pub bottom: u32,
    /// Columns to the right.
    pub right: u32,
}

impl Padding {
    /// The same padding on all four sides.
    pub const fn same(all: u32) -> Self {
        Self { top: all, left: all, bottom: all, right: all }
    }
}

/// Geometry of a window operation (convolution, depthwise convolution, pooling) from one map to another.
///
/// Output row `y` reads input rows `y * stride - pad_top .. + kernel_h`; rows outside the input count as padding. Columns
/// likewise. Bottom and right padding are implied by `out_h` and `out_w`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Window {
    /// Input height.
    pub in_h: u32,
    /// Input width.
    pub in_w: u32,
    /// Input channels.
    pub in_c: u32,
    /// Output height.
    pub out_h: u32,
    /// Output width.
    pub out_w: u32,
    /// Output channels; equal to `in_c` for depthwise convolution and pooling.
    pub out_c: u32,
    /// Kernel rows.
    pub kernel_h: u32,
    /// Kernel columns.
    pub kernel_w: u32,
    /// Step between two windows, the same on both axes.
    pub stride: u32,
    /// Padding rows above the input.
    pub pad_top: u32,
    /// Padding columns left of the input.
    pub pad_left: u32,
}

impl Window {
    /// Geometry over `input` with the output size `floor((size + pads - kernel) / stride) + 1` on each axis.
    ///
    /// Refuses a zero kernel or stride and a kernel that is larger than the padded input.
    #[inline(never)]
    pub fn new(input: Shape, kernel: (u32, u32), stride: u32, pads: Padding, out_c: u32) -> Result<Self, Fault> {
        let height = (text!(Layer: at_least, field "kernel height"), text!(Layer: at_most, field "kernel height"));
        let width = (text!(Layer: at_least, field "kernel width"), text!(Layer: at_most, field "kernel width"));
        let out_h = out_extent(input.h, kernel.0, stride, (pads.top, pads.bottom), height)?;
        let out_w = out_extent(input.w, kernel.1, stride, (pads.left, pads.right), width)?;
        Ok(Self {
            in_h: input.h,
            in_w: input.w,
            in_c: input.c,
            out_h,
            out_w,
            out_c,
            kernel_h: kernel.0,
            kernel_w: kernel.1,
            stride,
            pad_top: pads.top,
            pad_left: pads.left,
        })
    }

    /// Shape of the output map.
    pub fn output(&self) -> Shape {
        Shape::map(self.out_h, self.out_w, self.out_c)
    }

    /// Elements from one window to the next, with `elems` at each position. Where the product leaves the address space any
    /// number would do: such a stride leaves room for one window only.
    #[inline(always)]
    pub fn step(&self, elems: usize) -> usize {
        (self.stride as usize).saturating_mul(elems)
    }

    /// Kernel rows that lie inside the input for output row `y`, and the input row that the first of them reads.
    #[inline(always)]
    pub fn rows_at(&self, y: usize) -> Taps {
        Taps::clip(y, self.stride, self.pad_top, self.kernel_h, self.in_h)
    }

    /// Kernel columns that lie inside the input for output column `x`, and the input column that the first of them reads.
    #[inline(always)]
    pub fn columns_at(&self, x: usize) -> Taps {
        Taps::clip(x, self.stride, self.pad_left, self.kernel_w, self.in_w)
    }

    /// Number of output rows from `y` on that have the same kernel rows inside the input.
    #[cfg(feature = "f32")]
    pub(crate) fn rows_alike(&self, y: usize) -> usize {
        let kernel_rows = |y| {
            let rows = self.rows_at(y);
            (rows.first, rows.count)
        };
        (y..self.out_h as usize).take_while(|&other| kernel_rows(other) == kernel_rows(y)).count()
    }

    /// Output columns whose window lies inside the input from its first to its last column.
    pub fn interior_columns(&self) -> Range<usize> {
        self.columns_inside(0..self.kernel_w as usize)
    }

    /// Output columns for which these columns of the kernel lie inside the input.
    pub fn columns_inside(&self, taps: Range<usize>) -> Range<usize> {
        let (stride, pad) = (self.stride as usize, self.pad_left as usize);
        let first = pad.saturating_sub(taps.start).div_ceil(stride);
        let last_start = (self.in_w as usize + pad).checked_sub(taps.end);
        let end = last_start.map_or(0, |start| start / stride + 1).min(self.out_w as usize);
        first.min(end)..end
    }
}

/// The part of a kernel axis that lies inside the input at one output position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taps {
    /// First kernel position inside the input.
    pub first: usize,
    /// Number of kernel positions inside the input; 0 when the window lies in the padding.
    pub count: usize,
    /// Input position that `first` reads.
    pub input: usize,
}

impl Taps {
    #[inline(always)]
    fn clip(out: usize, stride: u32, pad: u32, kernel: u32, input: u32) -> Self {
        let start = out * stride as usize;
        let pad = pad as usize;
        let first = pad.saturating_sub(start);
        let end = (input as usize + pad).saturating_sub(start).min(kernel as usize);
        let first = first.min(end);
        Self { first, count: end - first, input: (start + first).saturating_sub(pad) }
    }
}

/// `texts` are those of a kernel that is too small, and too large.
#[inline(never)]
fn out_extent(
    size: u32,
    kernel: u32,
    stride: u32,
    (before, after): (u32, u32),
    texts: (&'static Text, &'static Text),
) -> Result<u32, Fault> {
    if stride == 0 {
        return Err(text!(Layer: at_least, field "stride").told(0, 1));
    }
    if kernel == 0 {
        return Err(texts.0.told(0, 1));
    }
    // Pads are sums of two bytes at most.
    let padded = size.checked_add(before + after).ok_or(text!(SizeOverflow, field "padded size").fault())?;
    let Some(room) = padded.checked_sub(kernel) else {
        return Err(texts.1.told(kernel as usize, padded as usize));
    };
    (room / stride).checked_add(1).ok_or(text!(SizeOverflow, field "output size").fault())
}
