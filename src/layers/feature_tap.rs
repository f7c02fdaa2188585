//! Feature tap: the running map is remembered for a PAFPN that follows; nothing is computed.

use super::require_channels;
use crate::fault::{Fault, text};
use crate::format::records::FeatureTap;
use crate::plan::lowering::Lowering;
use crate::tensor::Shape;

/// Number of taps that can be remembered at a time.
pub const MAX_TAPS: u8 = 4;

/// The shape stays.
pub fn output_shape(record: &FeatureTap, input: Shape) -> Result<Shape, Fault> {
    require_channels(text!(Layer: expected, field "channels"), record.channels, input)?;
    if record.tap_id >= MAX_TAPS {
        return Err(text!(Layer: at_most, field "tap_id").told(record.tap_id.into(), usize::from(MAX_TAPS) - 1));
    }
    Ok(input)
}

/// No tensors and no step. A later tap with the same id replaces an earlier one.
#[inline(never)]
pub fn lower(record: &FeatureTap, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    output_shape(record, l.shape)?;
    l.require_float(text!(Unsupported, note "int8 has no form of a PAFPN, the only reader of feature taps"))?;
    l.set_tap(record.tap_id)
}
