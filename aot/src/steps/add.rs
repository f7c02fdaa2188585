//! Sums of two maps.

use netkit::plan::tables::{AddTable, TermWords};

use super::At;
use super::channels::codes;
use crate::Error;
use crate::program::pointer;
use crate::source::{Source, fields};

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("add");
    let (data, other) = (pointer(&at.step.output), pointer(&at.step.input));
    let count = at.step.output.elems.to_string();
    if !at.program.is_int8() {
        return source.call("nk_add", &[&data, &other, &count]);
    }
    let table: AddTable = at.program.structure(at.index)?;
    let step = source.structure(
        "nk_add_step",
        at.name("add"),
        &[
            ("own", term(&table.own)),
            ("other", term(&table.other)),
            ("multiplier", table.sum.multiplier.to_string()),
            ("shift", table.sum.shift.to_string()),
            ("codes", codes(at.step.quant.min, at.step.quant.max, table.sum.zero_point)),
        ],
    );
    source.call("nk_add", &[&step, &data, &other, &count])
}

fn term(term: &TermWords) -> String {
    fields(&[
        ("multiplier", term.multiplier.to_string()),
        ("shift", term.shift.to_string()),
        ("zero_point", term.zero_point.to_string()),
    ])
}
