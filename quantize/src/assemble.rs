//! Scales and zero points of every descriptor, and the int8 file.

use netkit::format::quant::{QuantEntry, QuantParams};
use netkit::format::records::ActivationCode;
use netkit::format::write::{CasesSpec, ModelSpec, QuantSpec};
use netkit::format::{DType, Layer, Model, TensorEntry};
use netkit::plan::lowering::{SIGMOID_OUTPUT, TANH_OUTPUT};

use crate::Error;
use crate::calibrate::{LayerValues, Values};
use crate::distribution::Distribution;
use crate::form::{FormLayer, activation};
use crate::probe::{entry, has_inner_scale, write};
use crate::range::{Method, choose, choose_for_input, leaky_low_end};
use crate::weights::{self, Codes};

/// The version of the format that has int8 models.
const VERSION: u32 = 4;
/// Every value of a tensor matters.
const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
/// The second convolution of a ResNet block, whose descriptor also has the parameters of the sum.
const RESNET_SECOND: usize = 1;
/// The largest scale of a term is at most this often the scale of a sum, so that its multiplier stays small.
const MOST_TERM_STEPS: f64 = 256.0;

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How ends of ranges are chosen.
    pub method: Method,
    /// Whether each output channel has a weight scale of its own.
    pub per_channel: bool,
}

/// A layer with its integers.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedLayer {
    /// The record.
    pub record: Layer,
    /// Descriptor and integers of each linear, with the extents of its weights.
    pub linears: Vec<(QuantEntry, Codes, Vec<u32>)>,
    /// Scale and zero point of its result.
    pub output: QuantParams,
}

/// A model with its integers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantized {
    /// Scale and zero point of the input.
    pub input: QuantParams,
    /// The layers.
    pub layers: Vec<QuantizedLayer>,
}

/// Chooses all scales and makes all integers.
pub fn quantize(form: &[FormLayer], values: &Values, options: Options) -> Quantized {
    let mut input = choose_for_input(&values.input, options.method);
    let mut quantized = Quantized { input, layers: Vec::new() };
    for (layer, values) in form.iter().zip(&values.layers) {
        let layer = Quantizer { layer, values, options, input }.run();
        input = layer.output;
        quantized.layers.push(layer);
    }
    quantized
}

/// The int8 file of a model that came from this float model.
pub fn assemble(float: &Model<'_>, quantized: &Quantized, cases: Option<CasesSpec<'_>>) -> Result<Vec<u8>, Error> {
    let header = float.header();
    let records: Vec<Layer> = quantized.layers.iter().map(|layer| layer.record).collect();
    let linears = || quantized.layers.iter().flat_map(|layer| &layer.linears);
    let entries: Vec<QuantEntry> = linears().map(|(entry, ..)| *entry).collect();
    let weights: Vec<TensorEntry> = linears().map(|(.., dims)| entry(DType::Int8, dims)).collect();
    let biases: Vec<TensorEntry> =
        linears().map(|(_, codes, _)| entry(DType::Int32, &[codes.bias.len() as u32])).collect();
    let weight_payload: Vec<u8> =
        linears().flat_map(|(_, codes, _)| codes.weights.iter().map(|&code| code as u8)).collect();
    let bias_payload: Vec<u8> =
        linears().flat_map(|(_, codes, _)| codes.bias.iter().flat_map(|code| code.to_le_bytes())).collect();
    // Where there is one scale for all channels, the list is empty and the descriptor has it.
    let has_list = |codes: &Codes| codes.scales.len() == codes.bias.len();
    let scales: Vec<Vec<u8>> = linears()
        .map(|(_, codes, _)| if has_list(codes) { codes.scales.as_slice() } else { &[] })
        .map(|scales| scales.iter().flat_map(|scale| scale.to_le_bytes()).collect())
        .collect();
    let scales: Vec<&[u8]> = scales.iter().map(Vec::as_slice).collect();
    let is_per_channel = linears().any(|(_, codes, _)| has_list(codes));
    let spec = ModelSpec {
        version: VERSION,
        network: header.network,
        input_rank: header.input_rank,
        input_shape: header.input_shape,
        layers: &records,
        weights: &weights,
        biases: &biases,
        quant: Some(QuantSpec { entries: &entries, channel_scales: is_per_channel.then_some(&scales) }),
        weight_payload: &weight_payload,
        bias_payload: &bias_payload,
        cases,
    };
    Ok(write(&spec)?)
}

/// Works on one layer.
struct Quantizer<'q> {
    layer: &'q FormLayer,
    values: &'q LayerValues,
    options: Options,
    input: QuantParams,
}

impl Quantizer<'_> {
    fn run(&self) -> QuantizedLayer {
        let (linears, output) = match self.layer.record {
            _ if self.layer.linears.is_empty() => (Vec::new(), self.input),
            Layer::MobilenetV4Uib(_) => self.uib(),
            Layer::ResnetBasicBlock(_) => self.resnet(),
            _ => self.alone(),
        };
        let dims = self.layer.linears.iter().map(|linear| linear.dims.clone());
        let linears = linears.into_iter().zip(dims).map(|((entry, codes), dims)| (entry, codes, dims)).collect();
        QuantizedLayer { record: self.layer.record, linears, output }
    }

    /// A linear that reads `input` and whose own result has this distribution.
    fn linear(&self, index: usize, input: QuantParams, values: &Distribution, ends: (f64, f64)) -> (QuantEntry, Codes) {
        let codes = weights::quantize(&self.layer.linears[index], input, self.options.per_channel);
        let weight_scale = codes.largest_scale();
        // The output is not finer than the sums, so that multipliers stay below 1.
        let step = f64::from(input.scale) * f64::from(weight_scale);
        let entry = QuantEntry {
            input,
            weights: QuantParams { scale: weight_scale, zero_point: 0 },
            bias: QuantParams { scale: step as f32, zero_point: 0 },
            output: choose(values, self.options.method, ends, step),
        };
        (entry, codes)
    }

    /// A layer with one weight tensor.
    fn alone(&self) -> (Vec<(QuantEntry, Codes)>, QuantParams) {
        let code = activation(&self.layer.record);
        let values = if has_inner_scale(code) { &self.values.inner[0] } else { &self.values.output };
        let ends = match leaky_slope(&self.layer.record) {
            Some(slope) => (leaky_low_end(values, slope), f64::INFINITY),
            None => telling_ends(code),
        };
        let (mut entry, codes) = self.linear(0, self.input, values, ends);
        let output = match code {
            ActivationCode::SOFTMAX | ActivationCode::SIGMOID => SIGMOID_OUTPUT,
            ActivationCode::TANH => TANH_OUTPUT,
            _ => entry.output,
        };
        // A table is asked for by its output parameters; softmax needs none.
        if has_inner_scale(code) && code != ActivationCode::SOFTMAX {
            entry.bias = output;
        }
        (vec![(entry, codes)], output)
    }

    /// The projection and the sum share their parameters, so these cover both.
    fn uib(&self) -> (Vec<(QuantEntry, Codes)>, QuantParams) {
        let mut input = self.input;
        let mut linears = Vec::new();
        let last = self.values.inner.len() - 1;
        for (index, values) in self.values.inner.iter().enumerate() {
            let mut values = values.clone();
            if index == last {
                values.merge(&self.values.output);
            }
            let linear = self.linear(index, input, &values, EVERYTHING);
            input = linear.0.output;
            linears.push(linear);
        }
        (linears, input)
    }

    /// The sum has parameters of its own, in the second convolution's descriptor.
    fn resnet(&self) -> (Vec<(QuantEntry, Codes)>, QuantParams) {
        let inner = |index: usize, input| self.linear(index, input, &self.values.inner[index], EVERYTHING);
        let mut linears = vec![inner(0, self.input)];
        linears.push(inner(RESNET_SECOND, linears[0].0.output));
        if self.layer.linears.len() > linears.len() {
            linears.push(inner(linears.len(), self.input));
        }
        let shortcut = if linears.len() > 2 { linears[2].0.output } else { self.input };
        let second = &mut linears[RESNET_SECOND].0;
        let least_scale = f64::from(second.output.scale.max(shortcut.scale)) / MOST_TERM_STEPS;
        let sum = choose(&self.values.output, self.options.method, EVERYTHING, least_scale);
        second.bias = sum;
        (linears, sum)
    }
}

/// The ends beyond which all values give the same code behind an activation whose output parameters are fixed, or behind
/// relu6.
fn telling_ends(code: ActivationCode) -> (f64, f64) {
    // The inputs at which the table's entries change for the last time.
    let half = |params: QuantParams, code: f64| f64::from(params.scale) * (code - f64::from(params.zero_point));
    match code {
        ActivationCode::RELU => (0.0, f64::INFINITY),
        ActivationCode::RELU6 => (0.0, 6.0),
        ActivationCode::TANH => (half(TANH_OUTPUT, -127.5).atanh(), half(TANH_OUTPUT, 126.5).atanh()),
        ActivationCode::SIGMOID => {
            let logit = |y: f64| (y / (1.0 - y)).ln();
            (logit(half(SIGMOID_OUTPUT, -127.5)), logit(half(SIGMOID_OUTPUT, 126.5)))
        }
        _ => EVERYTHING,
    }
}

/// What a leaky ReLU multiplies negative values with.
fn leaky_slope(record: &Layer) -> Option<f64> {
    let alpha = match record {
        Layer::Dense(record) => record.alpha,
        Layer::Conv2d(record) => record.alpha,
        Layer::DepthwiseConv2d(record) => record.alpha,
        _ => return None,
    };
    (activation(record) == ActivationCode::LEAKY_RELU).then_some(f64::from(alpha))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_ends_a_table_has_one_code() {
        for (code, table, output) in [
            (ActivationCode::TANH, f64::tanh as fn(f64) -> f64, TANH_OUTPUT),
            (ActivationCode::SIGMOID, |x| 1.0 / (1.0 + (-x).exp()), SIGMOID_OUTPUT),
        ] {
            let (low, high) = telling_ends(code);
            let at = |x: f64| output.quantize(table(x) as f32);
            assert_eq!((at(low - 0.01), at(high + 0.01)), (-128, 127), "{low} {high}");
            assert_eq!((at(low + 0.01), at(high - 0.01)), (-127, 126), "{low} {high}");
        }
    }
}
