//! Scales and zero points of an int8 model that its descriptors leave to convention.

use crate::format::quant::{QuantEntry, QuantParams};
use crate::format::{Layer, Model};
use crate::kernels::Activation;

/// Output of sigmoid and softmax, whatever the descriptor says: 0 to 255/256.
pub const SIGMOID_OUTPUT: QuantParams = QuantParams { scale: 1.0 / 256.0, zero_point: -128 };
/// Output of tanh: -1 to 127/128.
pub const TANH_OUTPUT: QuantParams = QuantParams { scale: 1.0 / 128.0, zero_point: 0 };

/// Scale and zero point that an int8 model starts with, for pools and residuals before the first convolution. A model that
/// starts with another layer has none; as in the reference engine its pools then round around 0.
pub(in crate::plan) fn input_params(model: &Model<'_>) -> QuantParams {
    let has_input_params = model.layers().next().is_some_and(|record| {
        matches!(
            record.layer,
            Layer::Conv2d(_) | Layer::DepthwiseConv2d(_) | Layer::MobilenetV4Uib(_) | Layer::ResnetBasicBlock(_)
        )
    });
    let entry = model.quant().filter(|_| has_input_params).and_then(|quant| quant.entry(0));
    entry.map_or(QuantParams { scale: 1.0, zero_point: 0 }, |entry| entry.input)
}

/// The activation that a table computes for a layer, if its descriptor asks for one.
///
/// The format has no place for the output parameters of such an activation, and the reference engine ignores it. A
/// descriptor asks for the table by stating them in its bias scale and bias zero point, which nothing else uses.
pub fn table_activation(activation: Activation, entry: &QuantEntry) -> Option<(Activation, QuantParams)> {
    let output = match activation {
        Activation::Sigmoid => SIGMOID_OUTPUT,
        Activation::Tanh => TANH_OUTPUT,
        Activation::LeakyRelu(_) => entry.output,
        _ => return None,
    };
    (entry.bias == output).then_some((activation, output))
}
