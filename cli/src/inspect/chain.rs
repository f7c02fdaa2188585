//! What the layers of an int8 model write and read, and where that does not fit together.

use netkit::Model;
use netkit::format::quant::{QuantEntry, QuantParams};
use netkit::format::records::ActivationCode;
use netkit::format::{Layer, QuantSection, kind_name};
use netkit::kernels::Activation;
use netkit::plan::lowering::{SIGMOID_OUTPUT, table_activation};
use netkit::text::General;

/// Relative difference of two scales that are meant to be the same.
const SAME: f32 = 1e-6;
/// The second convolution of a ResNet block, whose descriptor also has the sum's parameters, and the projection.
const RESNET_SECOND: usize = 1;
const RESNET_SHORTCUT: usize = 2;

/// What is done with the result of a layer's tensor `index` before others see it, and the parameters of that.
pub(crate) fn then(layer: &Layer, index: usize, entry: &QuantEntry) -> Option<(&'static str, QuantParams)> {
    match layer {
        Layer::ResnetBasicBlock(_) if index == RESNET_SECOND => Some(("sum", entry.bias)),
        Layer::Dense(dense) if dense.activation == ActivationCode::SOFTMAX => Some(("softmax", SIGMOID_OUTPUT)),
        _ => {
            let (code, alpha) = activation(layer)?;
            let (_, params) = table_activation(with_table(code, alpha)?, entry)?;
            Some((code.name(), params))
        }
    }
}

/// A sentence for each place where a layer reads its input with other parameters than it was written with, and for each
/// activation that int8 leaves out.
pub(crate) fn doubts(model: &Model<'_>, owners: &[usize]) -> Vec<String> {
    let Some(section) = model.quant() else { return Vec::new() };
    let mut chain = Chain { section, written: None, sentences: Vec::new() };
    let mut first = 0;
    for record in model.layers() {
        let tensors = owners.iter().filter(|&&owner| owner == record.index).count();
        if chain.layer(record.index, &record.layer, first, tensors).is_none() {
            break;
        }
        first += tensors;
    }
    chain.sentences
}

struct Chain<'m> {
    section: QuantSection<'m>,
    /// Parameters of the running result, and the layer that wrote it.
    written: Option<(usize, QuantParams)>,
    sentences: Vec<String>,
}

impl Chain<'_> {
    /// Follows the `tensors` tensors of a layer from `first` on; `None` when descriptors are missing.
    fn layer(&mut self, layer: usize, record: &Layer, first: usize, tensors: usize) -> Option<()> {
        let (block_input, mut block_output) = (self.written, None);
        for index in 0..tensors {
            let entry = self.section.entry(first + index)?;
            let is_shortcut = matches!(record, Layer::ResnetBasicBlock(_)) && index == RESNET_SHORTCUT;
            let read = if is_shortcut { block_input } else { self.written };
            self.check_input(read, layer, first + index, entry.input);
            if index == 0 {
                self.check_activation(layer, record, &entry);
            }
            let output = then(record, index, &entry).map_or(entry.output, |(_, params)| params);
            self.written = Some((layer, output));
            if !is_shortcut {
                block_output = self.written;
            }
        }
        self.written = block_output.or(self.written);
        Some(())
    }

    fn check_input(&mut self, written: Option<(usize, QuantParams)>, layer: usize, tensor: usize, reads: QuantParams) {
        if let Some((from, params)) = written.filter(|(_, params)| !is_same(*params, reads)) {
            self.sentences.push(format!(
                "scales do not chain: layer {from} writes {}, layer {layer} reads {} (weight tensor {tensor})",
                text(params),
                text(reads)
            ));
        }
    }

    fn check_activation(&mut self, layer: usize, record: &Layer, entry: &QuantEntry) {
        let Some((code, alpha)) = activation(record) else { return };
        let kind = kind_name(record.kind()).unwrap_or("unknown");
        let what = format!("layer {layer} ({kind}): {} is ignored", code.name());
        if code == ActivationCode::SOFTMAX && !matches!(record, Layer::Dense(_)) {
            self.sentences.push(format!("{what}: int8 has it for dense layers only"));
        } else if with_table(code, alpha).is_some_and(|activation| table_activation(activation, entry).is_none()) {
            let wanted = match code {
                ActivationCode::SIGMOID => "1/256 and -128",
                ActivationCode::TANH => "1/128 and 0",
                _ => "those of the output",
            };
            self.sentences.push(format!("{what}: the descriptor's bias scale and zero point are not {wanted}"));
        }
    }
}

/// Activation byte and alpha of the kinds that have them.
fn activation(layer: &Layer) -> Option<(ActivationCode, f32)> {
    match layer {
        Layer::Dense(record) => Some((record.activation, record.alpha)),
        Layer::Conv2d(record) => Some((record.activation, record.alpha)),
        Layer::DepthwiseConv2d(record) => Some((record.activation, record.alpha)),
        _ => None,
    }
}

/// The activations that int8 computes by a table.
fn with_table(code: ActivationCode, alpha: f32) -> Option<Activation> {
    match code {
        ActivationCode::SIGMOID => Some(Activation::Sigmoid),
        ActivationCode::TANH => Some(Activation::Tanh),
        ActivationCode::LEAKY_RELU => Some(Activation::LeakyRelu(alpha)),
        _ => None,
    }
}

fn is_same(a: QuantParams, b: QuantParams) -> bool {
    a.zero_point == b.zero_point && (a.scale - b.scale).abs() <= SAME * a.scale.max(b.scale)
}

fn text(params: QuantParams) -> String {
    format!("scale {} zero point {}", General(params.scale), params.zero_point)
}
