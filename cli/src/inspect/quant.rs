//! The quantisation of int8 models, and whether it fits together from layer to layer.

use netkit::Model;
use netkit::format::Layer;
use netkit::format::quant::QuantParams;
use netkit::format::records::ActivationCode;
use netkit::text::General;
use serde::Serialize;

/// What a softmax writes, whatever its descriptor says.
const SOFTMAX_OUTPUT: QuantParams = QuantParams { scale: 1.0 / 256.0, zero_point: -128 };
/// Relative difference of two scales that are meant to be the same.
const SAME: f32 = 1e-6;

/// The QUAN section.
#[derive(Debug, Serialize)]
pub(crate) struct Quantization {
    pub(crate) per_channel: bool,
    pub(crate) descriptors: Vec<Descriptor>,
}

/// Descriptor of the weight tensor with the same index.
#[derive(Debug, Serialize)]
pub(crate) struct Descriptor {
    pub(crate) index: usize,
    pub(crate) layer: Option<usize>,
    pub(crate) input: Params,
    pub(crate) weights: Params,
    pub(crate) bias: Params,
    pub(crate) output: Params,
    pub(crate) channel_scales: Option<ChannelScales>,
}

/// Scale and zero point: `real = scale * (q - zero_point)`.
#[derive(Debug, Serialize)]
pub(crate) struct Params {
    pub(crate) scale: f32,
    pub(crate) zero_point: i32,
}

impl From<QuantParams> for Params {
    fn from(params: QuantParams) -> Self {
        Self { scale: params.scale, zero_point: params.zero_point }
    }
}

/// Range of the per-channel weight scales.
#[derive(Debug, Serialize)]
pub(crate) struct ChannelScales {
    pub(crate) count: usize,
    pub(crate) min: f32,
    pub(crate) max: f32,
}

/// The section of an int8 model; `owners` are the layers of the weight tensors.
pub(crate) fn describe(model: &Model<'_>, owners: &[usize]) -> Option<Quantization> {
    let section = model.quant()?;
    let descriptor = |index: usize| {
        let entry = section.entry(index)?;
        Some(Descriptor {
            index,
            layer: owners.get(index).copied(),
            input: entry.input.into(),
            weights: entry.weights.into(),
            bias: entry.bias.into(),
            output: entry.output.into(),
            channel_scales: channel_scales(section.channel_scales(index)),
        })
    };
    let descriptors = (0..section.len()).filter_map(descriptor).collect();
    Some(Quantization { per_channel: section.is_per_channel(), descriptors })
}

fn channel_scales(bytes: &[u8]) -> Option<ChannelScales> {
    let scales = || bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    let (min, max) = (scales().reduce(f32::min)?, scales().reduce(f32::max)?);
    Some(ChannelScales { count: scales().count(), min, max })
}

/// A sentence for each place where a layer reads its input with other parameters than it was written with.
pub(crate) fn broken_chains(model: &Model<'_>, owners: &[usize]) -> Vec<String> {
    let Some(section) = model.quant() else { return Vec::new() };
    let mut sentences = Vec::new();
    let mut written: Option<(usize, QuantParams)> = None;
    for index in 0..section.len() {
        let (Some(entry), Some(&layer)) = (section.entry(index), owners.get(index)) else { break };
        if let Some((from, params)) = written.filter(|(_, params)| !is_same(*params, entry.input)) {
            sentences.push(format!(
                "scales do not chain: layer {from} writes {}, layer {layer} reads {} (weight tensor {index})",
                text(params),
                text(entry.input)
            ));
        }
        let output = if ends_with_softmax(model, layer) { SOFTMAX_OUTPUT } else { entry.output };
        written = Some((layer, output));
    }
    sentences
}

fn is_same(a: QuantParams, b: QuantParams) -> bool {
    a.zero_point == b.zero_point && (a.scale - b.scale).abs() <= SAME * a.scale.max(b.scale)
}

fn text(params: QuantParams) -> String {
    format!("scale {} zero point {}", General(params.scale), params.zero_point)
}

/// int8 layers honour softmax after dense only.
fn ends_with_softmax(model: &Model<'_>, layer: usize) -> bool {
    model.layers().nth(layer).is_some_and(
        |record| matches!(record.layer, Layer::Dense(dense) if dense.activation == ActivationCode::SOFTMAX),
    )
}
