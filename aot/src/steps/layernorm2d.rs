//! Layer normalisation.

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;
use crate::text::Literal;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("layernorm2d");
    let gamma = source.array(at.name("gamma"), at.program.floats(at.index, at.step.weights)?);
    let beta = source.array(at.name("beta"), at.program.floats(at.index, at.step.bias)?);
    let (pixels, channels) = (at.step.window.in_h.to_string(), at.step.window.in_c.to_string());
    let data = pointer(&at.step.output);
    source.call("nk_layernorm2d", &[&data, &pixels, &channels, &gamma, &beta, &at.step.alpha.literal()])
}
