//! Integers with scales that the source model states, instead of scales from calibration.

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
    /// Scale and zero point of the result; of the logits if softmax follows.
    pub output: QuantParams,
    /// Scales of the weights, one for each output channel or one for all.
    pub weights: Vec<f32>,
}

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
                running = given.as_ref().map_or(running, |given| given.output);
            }
        }
    }
    if refusals.is_empty() { Ok(quantized) } else { Err(refusals) }
}

fn one(layer: &FormLayer, input: QuantParams, given: Option<&Given>) -> Result<QuantizedLayer, String> {
    let record = layer.record;
    let linear = match &layer.linears[..] {
        [] => return Ok(QuantizedLayer { record, linears: Vec::new(), output: input }),
        [linear] => linear,
        _ => return Err("scales inside a block are not read; quantise the float model instead".into()),
    };
    let Some(given) = given else {
        return Err(
            "the source states no scales for its weights and its result; quantise the float model instead".into()
        );
    };
    let (output, bias) = match layer.activation() {
        ActivationCode::SOFTMAX => (SIGMOID_OUTPUT, None),
        // The table reads and writes with the same scale.
        ActivationCode::LEAKY_RELU => (given.output, Some(given.output)),
        ActivationCode::SIGMOID | ActivationCode::TANH => {
            return Err("int8 fixes the scales around this function; quantise the float model instead".into());
        }
        _ => (given.output, None),
    };
    let (entry, codes) = integers(linear, input, given, bias).ok_or(
        "its weights are not int8 multiples of the scales that the source states; quantise the float model instead",
    )?;
    Ok(QuantizedLayer { record, linears: vec![(entry, codes, linear.dims.clone())], output })
}

fn integers(
    linear: &Linear,
    input: QuantParams,
    given: &Given,
    bias: Option<QuantParams>,
) -> Option<(QuantEntry, weights::Codes)> {
    let codes = weights::with_scales(linear, input, &given.weights)?;
    let weights = QuantParams { scale: codes.largest_scale(), zero_point: 0 };
    let plain = QuantParams { scale: input.scale * weights.scale, zero_point: 0 };
    Some((QuantEntry { input, weights, bias: bias.unwrap_or(plain), output: given.output }, codes))
}
