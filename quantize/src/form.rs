//! The layers that the int8 model will have: what int8 has no form of is refused, batch norm is folded into weights, and
//! blocks are looked at as their convolutions.

mod blocks;
mod primitive;

use netkit::format::records::ActivationCode;
use netkit::format::{Layer, Model, kind_name};
use netkit::layers;
use netkit::plan::LayerFacts;
use netkit::tensor::{Padding, Shape, Window};

use crate::engine::Planned;
use crate::error::{Error, Refusal};

/// A layer of the int8 model.
#[derive(Clone, Debug, PartialEq)]
pub struct FormLayer {
    /// The record in the int8 model.
    pub record: Layer,
    /// The layer of the float model whose result this one's result is.
    pub source: usize,
    /// Shape of the input.
    pub input: Shape,
    /// What it multiplies with: one for each descriptor, in the order of the file.
    pub linears: Vec<Linear>,
}

/// A convolution or dense layer, alone or in a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Its part in a block; empty for a layer of its own.
    pub role: &'static str,
    /// The record that computes it as a layer of its own.
    pub record: Layer,
    /// Extents of the weights; the first are the output channels.
    pub dims: Vec<u32>,
    /// Weights, with what was folded into them.
    pub weights: Vec<f64>,
    /// One for each output channel.
    pub bias: Vec<f64>,
}

impl Linear {
    /// Number of output channels.
    pub fn channels(&self) -> usize {
        self.bias.len()
    }

    /// The weights of each output channel.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.weights.chunks(self.weights.len() / self.channels().max(1))
    }

    /// Multiplies each output channel, then adds to it.
    fn fold(&mut self, scale: &[f32], shift: &[f32]) {
        let per_channel = self.weights.len() / self.channels().max(1);
        for (row, &scale) in self.weights.chunks_mut(per_channel).zip(scale) {
            row.iter_mut().for_each(|weight| *weight *= f64::from(scale));
        }
        for (bias, (&scale, &shift)) in self.bias.iter_mut().zip(scale.iter().zip(shift)) {
            *bias = *bias * f64::from(scale) + f64::from(shift);
        }
    }
}

impl FormLayer {
    /// The activation of a layer that has one.
    pub fn activation(&self) -> ActivationCode {
        activation(&self.record)
    }
}

/// The activation of a record that has one.
pub fn activation(record: &Layer) -> ActivationCode {
    match record {
        Layer::Dense(record) => record.activation,
        Layer::Conv2d(record) => record.activation,
        Layer::DepthwiseConv2d(record) => record.activation,
        _ => ActivationCode::NONE,
    }
}

/// The record without its activation.
pub fn without_activation(record: &Layer) -> Layer {
    let mut plain = *record;
    match &mut plain {
        Layer::Dense(record) => record.activation = ActivationCode::NONE,
        Layer::Conv2d(record) => record.activation = ActivationCode::NONE,
        Layer::DepthwiseConv2d(record) => record.activation = ActivationCode::NONE,
        _ => {}
    }
    plain
}

/// The layers of the int8 form of a float model, or every layer that has none.
pub fn form(float: &[u8]) -> Result<Vec<FormLayer>, Error> {
    let planned = Planned::parse(float)?;
    if planned.model.is_quantized() {
        let reason = "it is an int8 model already; quantise the float model that it was made from".into();
        return Err(Error::Unsupported(vec![Refusal { layer: None, kind: "model", reason }]));
    }
    let mut facts = Vec::new();
    planned.plan.for_each_layer(&planned.model, &mut |layer| {
        facts.push(*layer);
        Ok(())
    })?;
    Former::of(&planned.model, &facts).run()
}

/// A weight or bias tensor of the float model.
struct Tensor {
    dims: Vec<u32>,
    values: Vec<f32>,
}

/// Walks through the float model.
struct Former<'f> {
    records: Vec<Layer>,
    facts: &'f [LayerFacts],
    pairs: std::vec::IntoIter<(Tensor, Tensor)>,
    formed: Vec<FormLayer>,
    refusals: Vec<Refusal>,
}

impl<'f> Former<'f> {
    fn of(model: &Model<'_>, facts: &'f [LayerFacts]) -> Self {
        let read = |desc: netkit::format::TensorDesc| Tensor {
            dims: desc.entry.active_dims().to_vec(),
            values: model.bytes()[desc.offset..][..desc.entry.num_bytes() as usize]
                .as_chunks()
                .0
                .iter()
                .map(|&bytes| f32::from_le_bytes(bytes))
                .collect(),
        };
        let pairs: Vec<_> = model.weight_tensors().map(read).zip(model.bias_tensors().map(read)).collect();
        Self {
            records: model.layers().map(|record| record.layer).collect(),
            facts,
            pairs: pairs.into_iter(),
            formed: Vec::new(),
            refusals: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Vec<FormLayer>, Error> {
        let mut index = 0;
        while index < self.records.len() {
            index = self.layer(index);
        }
        if self.formed.iter().all(|layer| layer.linears.is_empty()) && self.refusals.is_empty() {
            let reason = "no layer has weights, and scales are stated with weights".into();
            self.refusals.push(Refusal { layer: None, kind: "model", reason });
        }
        if self.refusals.is_empty() { Ok(self.formed) } else { Err(Error::Unsupported(self.refusals)) }
    }

    /// Takes a layer and what is folded into it; gives the index of the next.
    fn layer(&mut self, index: usize) -> usize {
        let record = self.records[index];
        match record {
            Layer::Dense(_) | Layer::Conv2d(_) | Layer::DepthwiseConv2d(_) => return self.weighted(index),
            Layer::BatchNorm2d(norm) => self.norm(index, norm.channels),
            Layer::MobilenetV4Uib(block) => {
                let linears = blocks::uib(&block, &mut self.pairs);
                self.push(index, record, index, linears);
            }
            Layer::ResnetBasicBlock(block) => {
                let linears = blocks::resnet(&block, &mut self.pairs);
                self.push(index, record, index, linears);
            }
            Layer::MaxPool2d(pool) | Layer::AvgPool2d(pool) => {
                let window = Window::new(self.facts[index].input, pool.pool(), pool.stride, pool.pads(), 0);
                let is_first = self.formed.iter().all(|layer| layer.linears.is_empty());
                if window.is_ok_and(|window| has_empty_window(&window))
                    && (is_first || matches!(record, Layer::MaxPool2d(_)))
                {
                    self.refuse(index, "some of its windows lie in the padding altogether; use less padding");
                }
                self.push(index, record, index, Vec::new());
            }
            Layer::Flatten => self.push(index, record, index, Vec::new()),
            Layer::ConvNextV2Block(_) => self.refuse_kind(index, "its layer norm and GRN divide by what they compute"),
            Layer::LayerNorm2d(_) => self.refuse_kind(index, "it divides by what it computes"),
            Layer::YoloxDecoupledHead(_) | Layer::FeatureTap(_) | Layer::YoloxPafpnMultiscale(_) => {
                self.refuse_kind(index, "int8 has no form of YOLOX pyramids and heads");
            }
        }
        index + 1
    }

    fn push(&mut self, index: usize, record: Layer, source: usize, linears: Vec<Linear>) {
        self.formed.push(FormLayer { record, source, input: self.facts[index].input, linears });
    }

    fn refuse(&mut self, index: usize, reason: &str) {
        let kind = kind_name(self.records[index].kind()).unwrap_or("unknown");
        self.refusals.push(Refusal { layer: Some(index), kind, reason: reason.into() });
    }

    /// Refuses a layer with a kind that int8 does not have, and passes its tensors by.
    fn refuse_kind(&mut self, index: usize, reason: &str) {
        self.refuse(index, &format!("{reason}; keep the model in float"));
        for _ in 0..layers::tensor_pairs(&self.records[index], false) {
            self.pairs.next();
        }
    }
}

/// Whether a window over a map may lie in the padding altogether.
fn has_empty_window(window: &Window) -> bool {
    (0..window.out_h as usize).any(|y| window.rows_at(y).count == 0)
        || (0..window.out_w as usize).any(|x| window.columns_at(x).count == 0)
}

/// The paddings of a record that has the same on all sides.
fn same_padding(kernel: u32) -> Padding {
    Padding::same((kernel - 1) / 2)
}
