//! The integer and float kernels of TensorFlow Lite Micro, operator by operator, as the reference of the proof: written from
//! the arithmetic that those kernels define, with nothing in common with the engine.
//!
//! int8 results are exact to the bit. Floats are computed in double precision.

mod add;
mod conv_2d;
mod depthwise_conv_2d;
mod filters;
pub mod fixed_point;
mod fully_connected;
mod leaky_relu;
mod logistic;
mod mean;
mod pad;
mod pool_2d;
mod quantize;
mod relu;
mod softmax;
mod tanh;
mod window;

pub use leaky_relu::code as leaky_relu_code;
pub use logistic::code as logistic_code;
pub use mean::factor as mean_factor;
pub use tanh::code as tanh_code;
pub use window::Axis;

use fixed_point::Factor;

use super::model::{FusedActivation, Model, Operation, Operator, Params, Tensor};
use crate::error::Error;
use crate::tensor::ElementType;

/// Elements of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Codes.
    Int8(Vec<i8>),
    /// Real numbers.
    Real(Vec<f64>),
}

/// An operator with its operands.
struct Call<'c, 'f> {
    model: &'c Model<'f>,
    operator: &'c Operator<'f>,
    values: &'c [Option<Data>],
}

/// Runs the operators between two tensors; `input` is what the first one holds.
pub fn run(model: &Model<'_>, from: usize, input: Data, to: usize) -> Result<Data, Error> {
    let mut values: Vec<Option<Data>> = vec![None; model.tensors.len()];
    let mut last_read = vec![0; model.tensors.len()];
    for (index, operator) in model.operators.iter().enumerate() {
        operator.inputs.iter().flatten().for_each(|&tensor| last_read[tensor] = index);
    }
    values[from] = Some(input);
    for (index, operator) in model.operators.iter().enumerate() {
        let call = Call { model, operator, values: &values };
        let is_ready = operator.inputs.first().copied().flatten().is_some_and(|tensor| values[tensor].is_some());
        if is_ready && operator.outputs[0] != from {
            let result = call.execute().ok_or_else(|| call.unable(index))?;
            values[operator.outputs[0]] = Some(result);
        }
        let read_for_the_last_time = |tensor: &&usize| last_read[**tensor] == index && **tensor != to;
        operator.inputs.iter().flatten().filter(read_for_the_last_time).for_each(|&tensor| values[tensor] = None);
    }
    values[to].take().ok_or_else(|| Error::TfliteFile("the output does not depend on the input".into()))
}

impl<'c, 'f> Call<'c, 'f> {
    fn execute(&self) -> Option<Data> {
        match self.operator.operation {
            Operation::Conv2d(sliding) => conv_2d::run(self, &sliding),
            Operation::DepthwiseConv2d(sliding) => depthwise_conv_2d::run(self, &sliding),
            Operation::FullyConnected(activation) => fully_connected::run(self, activation),
            Operation::AveragePool2d(sliding) => pool_2d::average(self, &sliding),
            Operation::MaxPool2d(sliding) => pool_2d::largest(self, &sliding),
            Operation::Mean => mean::run(self),
            Operation::Reshape => Some(self.value(0)?.clone()),
            Operation::Softmax(beta) => softmax::run(self, beta),
            Operation::Logistic => logistic::run(self),
            Operation::Tanh => tanh::run(self),
            Operation::Relu(activation) => relu::run(self, activation),
            Operation::LeakyRelu(alpha) => leaky_relu::run(self, alpha),
            Operation::Pad => pad::run(self),
            Operation::Add(activation) => add::run(self, activation),
            Operation::Quantize => quantize::quantize(self),
            Operation::Dequantize => quantize::dequantize(self),
            Operation::Unknown => None,
        }
    }

    fn unable(&self, index: usize) -> Error {
        Error::TfliteFile(format!("operator {index} {} cannot be executed", self.operator.name))
    }

    /// The operand at a position.
    fn tensor(&self, position: usize) -> Option<&'c Tensor<'f>> {
        Some(&self.model.tensors[self.operator.input(position)?])
    }

    /// What that operand holds; constants are read as they are needed.
    fn value(&self, position: usize) -> Option<&'c Data> {
        self.values[self.operator.input(position)?].as_ref()
    }

    fn codes(&self, position: usize) -> Option<&'c [i8]> {
        match self.value(position)? {
            Data::Int8(codes) => Some(codes),
            Data::Real(_) => None,
        }
    }

    fn reals(&self, position: usize) -> Option<&'c [f64]> {
        match self.value(position)? {
            Data::Real(reals) => Some(reals),
            Data::Int8(_) => None,
        }
    }

    /// The result.
    fn output(&self) -> &'c Tensor<'f> {
        &self.model.tensors[self.operator.outputs[0]]
    }

    /// Whether the operator computes with codes.
    fn is_int8(&self) -> bool {
        self.output().kind == Some(ElementType::I8)
    }

    /// A function of each element: of real numbers, and of codes with the scale of the input.
    fn each(&self, real: impl Fn(f64) -> f64, code: impl Fn(i8, Params) -> i8) -> Option<Data> {
        Some(match self.value(0)? {
            Data::Real(x) => Data::Real(x.iter().map(|&x| real(x)).collect()),
            Data::Int8(x) => {
                let input = self.tensor(0)?.params()?;
                Data::Int8(x.iter().map(|&q| code(q, input)).collect())
            }
        })
    }

    /// The bias, in int8 kernels an int32 constant; zeros where there is none.
    fn bias(&self, count: usize) -> Option<Vec<i32>> {
        match self.tensor(2) {
            Some(tensor) => tensor.int32().filter(|bias| bias.len() == count),
            None => Some(vec![0; count]),
        }
    }

    /// The bias of a float kernel.
    fn real_bias(&self, count: usize) -> Option<Vec<f64>> {
        match self.tensor(2) {
            Some(tensor) => tensor.real().filter(|bias| bias.len() == count),
            None => Some(vec![0.0; count]),
        }
    }

    /// Factors from accumulators to results, for each channel: products of scales in double precision.
    fn factors(&self, channels: usize) -> Option<Vec<Factor>> {
        let (input, output) = (self.tensor(0)?.params()?, self.output().params()?);
        let weights = self.tensor(1)?.quant?;
        let factor = |channel: usize| {
            let scale = weights.scales.get(if weights.scales.len() == 1 { 0 } else { channel });
            Factor::of(f64::from(input.scale) * f64::from(scale) / f64::from(output.scale))
        };
        (weights.scales.len() == 1 || weights.scales.len() == channels).then(|| (0..channels).map(factor).collect())
    }
}

/// Least and largest code of a result with this activation.
pub fn range(activation: FusedActivation, output: Params) -> Option<(i32, i32)> {
    let code = |real: f32| output.zero_point.saturating_add((real / output.scale).round() as i32);
    Some(match activation {
        FusedActivation::None => (-128, 127),
        FusedActivation::Relu => (code(0.0).max(-128), 127),
        FusedActivation::Relu6 => (code(0.0).max(-128), code(6.0).min(127)),
        FusedActivation::Unknown => return None,
    })
}

/// The activation of a real number.
fn activate(activation: FusedActivation, x: f64) -> Option<f64> {
    Some(match activation {
        FusedActivation::None => x,
        FusedActivation::Relu => x.max(0.0),
        FusedActivation::Relu6 => x.clamp(0.0, 6.0),
        FusedActivation::Unknown => return None,
    })
}

/// `value` as a code between `least` and `largest`.
fn clamp(value: i32, (least, largest): (i32, i32)) -> i8 {
    value.max(least).min(largest).clamp(-128, 127) as i8
}
