//! A map plus one of half its height and width.

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("add_upsampled2x");
    let w = &at.step.window;
    let extents = [w.in_h, w.in_w, w.in_c].map(|extent| extent.to_string());
    let [height, width, channels] = &extents;
    let (data, half) = (pointer(&at.step.output), pointer(&at.step.input));
    source.call("nk_add_upsampled2x", &[&data, &half, height, width, channels])
}
