//! Descriptors of the tensors of an int8 layer.

use netkit::format::quant::{QuantEntry, QuantParams};
pub use netkit::plan::lowering::{SIGMOID_OUTPUT, TANH_OUTPUT};

use crate::lower::ir::{Activation, Id, Ir, Kind, Quant};
use crate::network::TensorQuant;

/// One for each pair of tensors; none in a float model.
pub fn of(ir: &Ir, id: Id) -> Vec<TensorQuant> {
    let plain = |quant: &Option<Quant>| Some(describe(quant.as_ref()?, None));
    let kind = &ir.ops[id].kind;
    match kind {
        Kind::Conv(conv) => {
            conv.quant.iter().map(|quant| describe(quant, table_output(conv.activation, quant))).collect()
        }
        Kind::Depthwise(conv) => {
            conv.quant.iter().map(|quant| describe(quant, table_output(conv.activation, quant))).collect()
        }
        Kind::ResnetBlock(convolutions, shortcut) => {
            let [first, second] = &**convolutions;
            let second = second.quant.as_ref().map(|quant| describe(quant, ir.params.get(&id).copied()));
            let shortcut = shortcut.as_ref().and_then(|conv| plain(&conv.quant));
            [plain(&first.quant), second, shortcut].into_iter().flatten().collect()
        }
        Kind::Uib(block) => [
            block.start.as_ref().and_then(|conv| plain(&conv.quant)),
            plain(&block.expand.quant),
            block.middle.as_ref().and_then(|conv| plain(&conv.quant)),
            plain(&block.project.quant),
        ]
        .into_iter()
        .flatten()
        .collect(),
        _ => Vec::new(),
    }
}

/// Result of an activation that is a table: a descriptor states it in its bias parameters.
fn table_output(activation: Activation, quant: &Quant) -> Option<QuantParams> {
    match activation {
        Activation::Sigmoid => Some(SIGMOID_OUTPUT),
        Activation::Tanh => Some(TANH_OUTPUT),
        Activation::Leaky(_) => Some(quant.output),
        _ => None,
    }
}

/// The descriptor, with something else in place of the bias parameters where a rule of the format says so.
fn describe(quant: &Quant, bias: Option<QuantParams>) -> TensorQuant {
    let largest = quant.scales.iter().copied().fold(0.0, f32::max);
    let product = QuantParams { scale: quant.input.scale * largest, zero_point: 0 };
    let entry = QuantEntry {
        input: quant.input,
        weights: QuantParams { scale: largest, zero_point: quant.weight_zero_point },
        bias: bias.unwrap_or(product),
        output: quant.output,
    };
    let channel_scales = if quant.scales.len() > 1 { quant.scales.clone() } else { Vec::new() };
    TensorQuant { entry, channel_scales }
}
