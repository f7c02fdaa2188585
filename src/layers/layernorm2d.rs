//! Layer normalisation over the channels of each pixel.

use super::require_channels;
use crate::fault::{Fault, text};
use crate::format::records::ChannelsEps;
use crate::plan::lowering::Lowering;
use crate::plan::steps::Op;
use crate::tensor::Shape;

/// The shape stays.
pub fn output_shape(record: &ChannelsEps, input: Shape) -> Result<Shape, Fault> {
    require_channels(text!(Layer: expected, field "channels"), record.channels, input)?;
    require_eps(record.eps)?;
    Ok(input)
}

/// Refuses an epsilon below 0, which can make a variance negative.
pub(super) fn require_eps(eps: f32) -> Result<(), Fault> {
    if eps >= 0.0 {
        return Ok(());
    }
    Err(text!(Layer, field "eps", note "must not be negative").fault())
}

/// Tensors: gamma `[c]`, beta `[c]`.
#[inline(never)]
pub fn lower(record: &ChannelsEps, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let shape = output_shape(record, l.shape)?;
    l.require_float(text!(Unsupported, note "int8 has no form of a layer norm; keep this model in float"))?;
    let tensors = l.take(&[record.channels], record.channels)?;
    let value = l.into_mutable(l.value, shape)?;
    l.normalise(Op::LayerNorm2d, shape, tensors, record.eps, value)?;
    l.set_result(value, shape);
    Ok(())
}
