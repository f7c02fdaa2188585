//! Convolutions.

use super::At;
use super::channels::{Channels, Fold, pool};
use super::epilogue::{columns, weighted};
use super::filters::in_blocks;
use super::window::{has_edges, window};
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("conv2d");
    let mut fields = vec![("window", window(&at.step.window))];
    if at.program.is_int8() {
        let (filters, bias) = at.program.int8_filters(at.index)?;
        fields.push(("weights", source.array(at.name("weights"), &in_blocks(&filters))));
        let fold = if has_edges(&at.step.window) { Fold::Inside } else { Fold::Always };
        let channels = Channels::emit(at, &filters, bias, fold, source)?;
        fields.push(("bias", channels.bias));
        fields.push(("bias_at_edge", channels.bias_at_edge));
        fields.push(("input_zero_point", at.step.quant.input_zero_point.to_string()));
        fields.push(("pool", pool(at)));
        fields.push(("keeps_order", u8::from(channels.keeps_order).to_string()));
        fields.push(("output", channels.output));
    } else {
        fields.extend(weighted(at, in_blocks, source)?);
        fields.extend(columns(at.step));
    }
    let step = source.structure("nk_conv2d_step", at.name("conv2d"), &fields);
    source.call("nk_conv2d", &[&step, &pointer(&at.step.input), &pointer(&at.step.output)])
}
