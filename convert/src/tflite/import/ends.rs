//! QUANTIZE at the begin and DEQUANTIZE at the end of a model: a `.nk` model takes and gives codes.

use crate::lower::import::Trouble;
use crate::tensor::ElementType;
use crate::tflite::model::{Model, Operation, Operator};

/// The tensors between which a model is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The input, behind its quantisation.
    pub input: usize,
    /// The output, before its dequantisation.
    pub output: usize,
}

impl Ends {
    /// Of a model.
    pub fn of(model: &Model<'_>) -> Self {
        let mut readers = model.operators.iter().filter(|operator| operator.inputs.contains(&Some(model.input)));
        let input = match (readers.next(), readers.next()) {
            (Some(first), None) if is_quantize(model, first) => first.outputs[0],
            _ => model.input,
        };
        let writer = model.operators.iter().find(|operator| operator.outputs.contains(&model.output));
        let output = match writer {
            Some(last) if is_dequantize(model, last) => last.input(0).unwrap_or(model.output),
            _ => model.output,
        };
        Self { input, output }
    }

    /// Whether an operator lies outside.
    pub fn skips(self, model: &Model<'_>, operator: &Operator<'_>) -> bool {
        let is_first = is_quantize(model, operator) && operator.outputs[0] == self.input;
        let is_last = is_dequantize(model, operator) && operator.outputs[0] == model.output;
        is_first || (is_last && operator.input(0) == Some(self.output))
    }
}

/// From float32 to int8.
fn is_quantize(model: &Model<'_>, operator: &Operator<'_>) -> bool {
    let kind = |tensor: usize| model.tensors[tensor].kind;
    operator.operation == Operation::Quantize
        && operator.input(0).and_then(kind) == Some(ElementType::F32)
        && kind(operator.outputs[0]) == Some(ElementType::I8)
}

/// From int8 to float32.
fn is_dequantize(model: &Model<'_>, operator: &Operator<'_>) -> bool {
    let kind = |tensor: usize| model.tensors[tensor].kind;
    operator.operation == Operation::Dequantize
        && operator.input(0).and_then(kind) == Some(ElementType::I8)
        && kind(operator.outputs[0]) == Some(ElementType::F32)
}

/// Why one elsewhere has no form.
pub fn in_the_middle() -> Trouble {
    Trouble::advise(
        "between other operators, or of another type than int8 and float32".into(),
        "a .nk model computes in one type, with scales that its layers state",
        "quantise the whole model to int8",
    )
}
