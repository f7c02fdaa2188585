//! Copies.

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    let bytes = format!("{} * sizeof({})", at.step.output.elems, at.program.element());
    source.need("copy");
    source.call("nk_copy", &[&pointer(&at.step.output), &pointer(&at.step.input), &bytes])
}
