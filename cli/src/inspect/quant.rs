//! The quantisation table of int8 models.

use netkit::Model;
use netkit::format::quant::QuantParams;
use serde::Serialize;

use super::chain;

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
    /// Kind of that layer.
    pub(crate) kind: Option<&'static str>,
    pub(crate) input: Params,
    pub(crate) weights: Params,
    pub(crate) bias: Params,
    pub(crate) output: Params,
    /// What follows on the layer's result and writes with other parameters: `softmax`, `sum` of a block, or the activation
    /// of a table.
    pub(crate) then: Option<&'static str>,
    /// Parameters of that.
    pub(crate) then_output: Option<Params>,
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
        let layer = owners.get(index).copied();
        let record = layer.and_then(|layer| model.layers().nth(layer));
        let then = record.and_then(|record| {
            let first = owners.iter().position(|&owner| Some(owner) == layer).unwrap_or(index);
            chain::then(&record.layer, index - first, &entry)
        });
        Some(Descriptor {
            index,
            layer,
            kind: record.and_then(|record| netkit::format::kind_name(record.layer.kind())),
            input: entry.input.into(),
            weights: entry.weights.into(),
            bias: entry.bias.into(),
            output: entry.output.into(),
            then: then.map(|(name, _)| name),
            then_output: then.map(|(_, params)| params.into()),
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
