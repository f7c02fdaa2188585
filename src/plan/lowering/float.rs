//! What a float step has besides: scratch memory and packed weights.

use crate::kernels::{
    conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_scratch_elems, grn_scratch_elems, is_winograd,
    packed_elems, packed_row_elems, packed_winograd_elems, spare_scratch_elems,
};
use crate::plan::steps::{Op, Step};

/// Bytes of scratch memory that the float kernels need for a step.
pub(super) fn scratch_bytes(op: Op, step: &Step) -> u32 {
    let window = &step.window;
    match op {
        Op::Conv2d => 4 * conv2d_scratch_elems(window),
        Op::Dense => 4 * dense_scratch_elems(window.in_h, window.in_c, window.out_c),
        Op::DepthwiseConv2d => 4 * depthwise_conv2d_scratch_elems(window),
        Op::Grn => 4 * grn_scratch_elems(window.in_c),
        _ => 0,
    }
}

/// The least and the most bytes of scratch beyond [`scratch_bytes`] that make the kernel of a step faster, if it is there.
pub(super) fn spare_scratch_bytes(step: &Step) -> Option<(u32, u32)> {
    let (least, most) = if step.op()? == Op::Conv2d { spare_scratch_elems(&step.window)? } else { return None };
    Some((u32::try_from(4 * least).ok()?, u32::try_from(4 * most).ok()?))
}

/// How the weights of a step are packed.
#[derive(Clone, Copy)]
pub(crate) enum Packing {
    /// In panels.
    Panels,
    /// For a single row.
    Row,
    /// For Winograd's method.
    Winograd,
}

impl Packing {
    /// That of a step with weights whose kernel could use packed ones.
    pub(crate) fn of(step: &Step) -> Option<Self> {
        match step.op()? {
            Op::Conv2d if is_winograd(&step.window, step.scratch.elems as usize) => Some(Self::Winograd),
            Op::Dense if step.pixels() == 1 => Some(Self::Row),
            Op::Conv2d | Op::Dense => Some(Self::Panels),
            _ => None,
        }
    }
}

/// Bytes of the packed weights of a step; 0 where its kernel cannot use any.
pub(crate) fn packed_bytes(step: &Step) -> usize {
    let (outputs, k) = (step.window.out_c as usize, step.weights_per_channel());
    let elems = match Packing::of(step) {
        Some(Packing::Winograd) => packed_winograd_elems(&step.window),
        Some(Packing::Row) => packed_row_elems(outputs, k),
        Some(Packing::Panels) => packed_elems(step.pixels(), outputs, k),
        None => 0,
    };
    elems.saturating_mul(size_of::<f32>())
}
