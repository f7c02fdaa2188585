//! Max pooling.

use super::At;
use super::window::window_of;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("max_pool2d");
    let window = window_of(at, source);
    source.call("nk_max_pool2d", &[&window, &pointer(&at.step.input), &pointer(&at.step.output)])
}
