//! Activations of int8 networks that a clamp cannot express.

use super::At;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("lookup");
    let table: Vec<i8> = at.program.table(at.index, 256)?.iter().map(|&byte| byte as i8).collect();
    let table = source.array(at.name("table"), &table);
    source.call("nk_lookup", &[&pointer(&at.step.output), &at.step.output.elems.to_string(), &table])
}
