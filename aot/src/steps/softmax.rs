//! Softmax.

use netkit::plan::tables::SoftmaxTable;

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("softmax");
    let data = pointer(&at.step.output);
    let features = at.step.window.in_c;
    let rows = at.step.output.elems.checked_div(features).unwrap_or(0);
    if !at.program.is_int8() {
        return source.call("nk_softmax", &[&data, &rows.to_string(), &features.to_string()]);
    }
    let table: SoftmaxTable = at.program.structure(at.index)?;
    let step = source.structure(
        "nk_softmax_step",
        at.name("softmax"),
        &[
            ("rows", rows.to_string()),
            ("features", features.to_string()),
            ("multiplier", table.multiplier.to_string()),
            ("shift", table.shift.to_string()),
            ("diff_min", table.diff_min.to_string()),
        ],
    );
    source.call("nk_softmax", &[&step, &data])
}
