//! Depthwise convolutions.

use super::At;
use super::channels::{Channels, Fold, pool};
use super::epilogue::weighted;
use super::filters::by_element;
use super::window::window;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("depthwise_conv2d");
    let mut fields = vec![("window", window(&at.step.window))];
    if at.program.is_int8() {
        let (filters, bias) = at.program.int8_filters(at.index)?;
        fields.push(("weights", source.array(at.name("weights"), &by_element(&filters))));
        let channels = Channels::emit(at, &filters, bias, Fold::Never, source)?;
        fields.push(("bias", channels.bias));
        fields.push(("input_zero_point", at.step.quant.input_zero_point.to_string()));
        fields.push(("pool", pool(at)));
        fields.push(("keeps_order", u8::from(channels.keeps_order).to_string()));
        fields.push(("output", channels.output));
    } else {
        fields.extend(weighted(at, by_element, source)?);
    }
    let step = source.structure("nk_depthwise_conv2d_step", at.name("depthwise_conv2d"), &fields);
    source.call("nk_depthwise_conv2d", &[&step, &pointer(&at.step.input), &pointer(&at.step.output)])
}
