//! Folded batch normalisation: `x * scale[c] + shift[c]`. Directly behind a convolution without activation it becomes part
//! of that convolution's epilogue, which computes the same numbers ([`Lowering::take_following_norm`]).

use super::require_channels;
use crate::fault::{Fault, text};
use crate::format::records::BatchNorm2d;
use crate::plan::lowering::Lowering;
use crate::plan::steps::Op;
use crate::tensor::Shape;

/// The shape stays.
pub fn output_shape(record: &BatchNorm2d, input: Shape) -> Result<Shape, Fault> {
    require_channels(text!(Layer: expected, field "channels"), record.channels, input)?;
    Ok(input)
}

/// Tensors: scale `[c]`, shift `[c]`.
#[inline(never)]
pub fn lower(record: &BatchNorm2d, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let shape = output_shape(record, l.shape)?;
    l.require_float(text!(Unsupported, note "int8 cannot express a batch norm exactly; fold it into the convolution before quantizing"))?;
    let tensors = l.take(&[record.channels], record.channels)?;
    let value = l.into_mutable(l.value, shape)?;
    l.normalise(Op::BatchNorm2d, shape, tensors, 0.0, value)?;
    l.set_result(value, shape);
    Ok(())
}
