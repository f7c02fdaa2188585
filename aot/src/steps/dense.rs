//! Rows times a matrix.

use super::At;
use super::channels::{Channels, Fold};
use super::epilogue::{columns, weighted};
use super::filters::in_blocks;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("dense");
    let w = &at.step.window;
    let mut fields =
        vec![("rows", w.in_h.to_string()), ("in_features", w.in_c.to_string()), ("out_features", w.out_c.to_string())];
    if at.program.is_int8() {
        let (filters, bias) = at.program.int8_filters(at.index)?;
        fields.push(("weights", source.array(at.name("weights"), &in_blocks(&filters))));
        let channels = Channels::emit(at, &filters, bias, Fold::Always, source)?;
        fields.push(("bias", channels.bias));
        fields.push(("weight_zero_point", at.step.quant.weight_zero_point.to_string()));
        fields.push(("output", channels.output));
    } else {
        fields.extend(weighted(at, in_blocks, source)?);
        fields.extend(columns(at.step));
    }
    let step = source.structure("nk_dense_step", at.name("dense"), &fields);
    source.call("nk_dense", &[&step, &pointer(&at.step.input), &pointer(&at.step.output)])
}
