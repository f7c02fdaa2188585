//! Batch norm that no convolution takes over.

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("batch_norm2d");
    let scale = source.array(at.name("scale"), at.program.floats(at.index, at.step.weights)?);
    let shift = source.array(at.name("shift"), at.program.floats(at.index, at.step.bias)?);
    let (pixels, channels) = (at.step.window.in_h.to_string(), at.step.window.in_c.to_string());
    let data = pointer(&at.step.output);
    source.call("nk_batch_norm2d", &[&data, &pixels, &channels, &scale, &shift])
}
