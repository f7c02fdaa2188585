//! Integers with scales that the source model states, instead of scales from calibration.

use netkit::format::Layer;
use netkit::format::quant::{QuantEntry, QuantParams};
use netkit::format::records::ActivationCode;
use netkit::plan::lowering::SIGMOID_OUTPUT;

use crate::assemble::{Quantized, QuantizedLayer};
use crate::error::Refusal;
use crate::form::{FormLayer, Linear};
use crate::weights;

/// What the source states about a layer with weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// About each of its linears, in the order of the form.
    pub linears: Vec<GivenLinear>,
    /// Scale and zero point of the residual sum of a block that has one.
    pub sum: Option<QuantParams>,
}

/// What the source states about a convolution or dense layer.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenLinear {
    /// Scale and zero point of the result; of the logits if softmax follows.
    pub output: QuantParams,
    /// Scales of the weights, one for each output channel or one for all.
    pub weights: Vec<f32>,
}

impl Given {
    /// Scale and zero point of the layer's result, before a softmax.
    pub fn output(&self) -> Option<QuantParams> {
        self.sum.or_else(|| self.linears.last().map(|linear| linear.output))
    }
}

impl From<GivenLinear> for Given {
    fn from(linear: GivenLinear) -> Self {
        Self { linears: vec![linear], sum: None }
    }
}

/// The largest scale of a term is at most this often the scale of a sum.
const MOST_TERM_STEPS: f32 = 256.0;

/// Makes all integers. `given` has an element for each layer, which for layers without weights is `None`: they keep the
/// scale of their input.
pub fn quantize(form: &[FormLayer], input: QuantParams, given: &[Option<Given>]) -> Result<Quantized, Vec<Refusal>> {
    let mut quantized = Quantized { input, layers: Vec::new() };
    let mut refusals = Vec::new();
    let mut running = input;
    for (layer, given) in form.iter().zip(given) {
        match one(layer, running, given.as_ref()) {
            Ok(layer) => {
                running = layer.output;
                quantized.layers.push(layer);
            }
            Err(reason) => {
                let kind = netkit::format::kind_name(layer.record.kind()).unwrap_or("unknown");
                refusals.push(Refusal { layer: Some(layer.source), kind, reason });
                running = given.as_ref().and_then(Given::output).unwrap_or(running);
            }
        }
    }
    if refusals.is_empty() { Ok(quantized) } else { Err(refusals) }
}

fn one(layer: &FormLayer, input: QuantParams, given: Option<&Given>) -> Result<QuantizedLayer, String> {
    let record = layer.record;
    if layer.linears.is_empty() {
        return Ok(QuantizedLayer { record, linears: Vec::new(), output: input });
    }
    let Some(given) = given.filter(|given| given.linears.len() == layer.linears.len()) else {
        return Err(
            "the source states no scales for its weights and its result; quantise the float model instead".into()
        );
    };
    match record {
        Layer::MobilenetV4Uib(_) => bottleneck(layer, input, given),
        Layer::ResnetBasicBlock(_) => basic_block(layer, input, given),
        _ => alone(layer, input, given),
    }
}

/// A chain of convolutions. The sum of a residual block has the scale of the last one.
fn bottleneck(layer: &FormLayer, input: QuantParams, given: &Given) -> Result<QuantizedLayer, String> {
    let last = given.linears.last().map(|linear| linear.output);
    if given.sum.is_some() && given.sum != last {
        return Err(
            "an int8 inverted bottleneck adds in the scale of its last convolution, and the source states another \
                    for the sum; quantise the float model instead"
                .into(),
        );
    }
    let mut output = input;
    let mut linears = Vec::new();
    for (linear, stated) in layer.linears.iter().zip(&given.linears) {
        linears.push(quantized(linear, output, stated, None)?);
        output = stated.output;
    }
    Ok(QuantizedLayer { record: layer.record, linears, output })
}

/// Two convolutions and maybe a projection; the descriptor of the second states the sum in place of its bias scale.
fn basic_block(layer: &FormLayer, input: QuantParams, given: &Given) -> Result<QuantizedLayer, String> {
    let ([first, second, ..], Some(sum)) = (&given.linears[..], given.sum) else {
        return Err("the source states no scale for its sum; quantise the float model instead".into());
    };
    let shortcut = given.linears.get(2).map_or(input, |projection| projection.output);
    if second.output.scale.max(shortcut.scale) > MOST_TERM_STEPS * sum.scale {
        return Err("the scale of a term is far larger than that of the sum; quantise the float model instead".into());
    }
    let inputs = [input, first.output, input];
    let bias = [None, Some(sum), None];
    let parts = layer.linears.iter().zip(&given.linears).zip(inputs.into_iter().zip(bias));
    let linears = parts.map(|((linear, stated), (input, bias))| quantized(linear, input, stated, bias));
    Ok(QuantizedLayer { record: layer.record, linears: linears.collect::<Result<_, _>>()?, output: sum })
}

/// A layer with one weight tensor.
fn alone(layer: &FormLayer, input: QuantParams, given: &Given) -> Result<QuantizedLayer, String> {
    let record = layer.record;
    let (linear, given) = (&layer.linears[0], &given.linears[0]);
    let (output, bias) = match layer.activation() {
        ActivationCode::SOFTMAX => (SIGMOID_OUTPUT, None),
        // The table reads and writes with the same scale.
        ActivationCode::LEAKY_RELU => (given.output, Some(given.output)),
        ActivationCode::SIGMOID | ActivationCode::TANH => {
            return Err("int8 fixes the scales around this function; quantise the float model instead".into());
        }
        _ => (given.output, None),
    };
    Ok(QuantizedLayer { record, linears: vec![quantized(linear, input, given, bias)?], output })
}

/// The descriptor, the integers and the extents of a linear.
fn quantized(
    linear: &Linear,
    input: QuantParams,
    given: &GivenLinear,
    bias: Option<QuantParams>,
) -> Result<(QuantEntry, weights::Codes, Vec<u32>), String> {
    let (entry, codes) = integers(linear, input, given, bias).ok_or(
        "its weights are not int8 multiples of the scales that the source states; quantise the float model instead",
    )?;
    Ok((entry, codes, linear.dims.clone()))
}

fn integers(
    linear: &Linear,
    input: QuantParams,
    given: &GivenLinear,
    bias: Option<QuantParams>,
) -> Option<(QuantEntry, weights::Codes)> {
    let mut scales = given.weights.clone();
    // Channels that blocks are filled up with have no weights.
    if scales.len() > 1 && scales.len() < linear.channels() {
        scales.resize(linear.channels(), 1.0);
    }
    let codes = weights::with_scales(linear, input, &scales)?;
    let weights = QuantParams { scale: codes.largest_scale(), zero_point: 0 };
    let plain = QuantParams { scale: input.scale * weights.scale, zero_point: 0 };
    Some((QuantEntry { input, weights, bias: bias.unwrap_or(plain), output: given.output }, codes))
}
