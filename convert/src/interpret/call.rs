//! What an operator sees of the node that it executes.

use crate::graph::Node;
use crate::refusal::Refusal;
use crate::tensor::{ElementType, Tensor, checked_elements};

use super::attributes::Attributes;

/// An input: its elements are there if they are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'a> {
    pub(crate) kind: ElementType,
    pub(crate) shape: &'a [usize],
    pub(crate) tensor: Option<&'a Tensor>,
}

/// Type and shape of a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Signature {
    pub(crate) kind: ElementType,
    pub(crate) shape: Vec<usize>,
}

/// A node with its inputs. For [`Operator::infer`](super::Operator) elements may be unknown, for
/// [`Operator::compute`](super::Operator) all are known.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) node: &'a Node,
    pub(crate) opset: i64,
    pub(crate) inputs: Vec<Option<Operand<'a>>>,
}

/// Why an operator does not execute a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The node breaks a rule of ONNX.
    Invalid(String),
    /// The node is valid, but this form is not handled.
    Unsupported { found: String, reason: String, advice: Option<String> },
}

impl Fault {
    pub(crate) fn unsupported(found: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Unsupported { found: found.into(), reason: reason.into(), advice: None }
    }

    /// The refusal of a node; the sentence of an invalid one is the error.
    pub(crate) fn into_refusal(self, node: &Node) -> Result<Refusal, String> {
        match self {
            Self::Invalid(sentence) => Err(format!("{} \"{}\": {sentence}", node.op, node.name)),
            Self::Unsupported { found, reason, advice } => {
                Ok(Refusal { node: node.name.clone(), op: node.op.clone(), found, reason, advice })
            }
        }
    }
}

/// An error about a node that breaks a rule.
pub(crate) fn invalid<T>(sentence: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(sentence.into()))
}

impl<'a> Call<'a> {
    pub(crate) fn op(&self) -> &'a str {
        &self.node.op
    }

    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes::new(self.node, self.opset)
    }

    /// An input that has to be there.
    pub(crate) fn input(&self, index: usize) -> Result<Operand<'a>, Fault> {
        self.optional(index).ok_or_else(|| Fault::Invalid(format!("input {index} is missing")))
    }

    /// An input that may be left out.
    pub(crate) fn optional(&self, index: usize) -> Option<Operand<'a>> {
        self.inputs.get(index).copied().flatten()
    }

    /// All inputs of an operator that takes any number of them.
    pub(crate) fn all_inputs(&self) -> Result<Vec<Operand<'a>>, Fault> {
        (0..self.inputs.len()).map(|index| self.input(index)).collect()
    }

    /// The elements of an input; needed already for the shape of the result.
    pub(crate) fn tensor(&self, index: usize) -> Result<&'a Tensor, Fault> {
        self.input(index)?.tensor.ok_or_else(|| Fault::Unsupported {
            found: format!("input {index} depends on the input of the model"),
            reason: "shapes have to be known when the model is converted".into(),
            advice: None,
        })
    }

    /// The elements of an input of real numbers.
    pub(crate) fn reals(&self, index: usize) -> Result<&'a [f64], Fault> {
        let tensor = self.tensor(index)?;
        tensor.as_real().ok_or_else(|| Fault::Invalid(format!("input {index} holds {}", tensor.element_type())))
    }

    /// The elements of an input of integers.
    pub(crate) fn wholes(&self, index: usize) -> Result<&'a [i64], Fault> {
        let tensor = self.tensor(index)?;
        tensor.as_whole().ok_or_else(|| Fault::Invalid(format!("input {index} holds {}", tensor.element_type())))
    }

    /// The elements of an optional input of integers.
    pub(crate) fn optional_wholes(&self, index: usize) -> Result<Option<&'a [i64]>, Fault> {
        self.optional(index).map(|_| self.wholes(index)).transpose()
    }

    /// The first input, which has to hold real numbers.
    pub(crate) fn real_input(&self, index: usize) -> Result<Operand<'a>, Fault> {
        let operand = self.input(index)?;
        match operand.kind.is_float() {
            true => Ok(operand),
            false => invalid(format!("input {index} holds {}, expected real numbers", operand.kind)),
        }
    }

    /// How many outputs the node lists, read or not.
    pub(crate) fn output_count(&self) -> usize {
        self.node.outputs.len()
    }

    /// Refuses further outputs, such as the indices of a pool.
    pub(crate) fn only_first_output(&self, further: &str) -> Result<(), Fault> {
        match self.node.outputs.iter().skip(1).flatten().next() {
            None => Ok(()),
            Some(_) => {
                Err(Fault::unsupported(format!("a second output ({further}) is used"), "only the first is computed"))
            }
        }
    }
}

impl Signature {
    pub(crate) fn new(kind: ElementType, shape: impl Into<Vec<usize>>) -> Self {
        Self { kind, shape: shape.into() }
    }
}

/// A result of real numbers.
pub(crate) fn real(kind: ElementType, shape: &[usize], elements: Vec<f64>) -> Result<Tensor, Fault> {
    Tensor::real(kind, shape.to_vec(), elements).ok_or_else(|| Fault::Invalid(unfit(kind, shape)))
}

/// A result of integers.
pub(crate) fn whole(kind: ElementType, shape: &[usize], elements: Vec<i64>) -> Result<Tensor, Fault> {
    Tensor::whole(kind, shape.to_vec(), elements).ok_or_else(|| Fault::Invalid(unfit(kind, shape)))
}

fn unfit(kind: ElementType, shape: &[usize]) -> String {
    format!("its elements do not fill a result of type {kind} and shape {shape:?}")
}

/// Product of extents.
pub(crate) fn count(shape: &[usize]) -> Result<usize, Fault> {
    checked_elements(shape).ok_or_else(|| Fault::Invalid(format!("shape {shape:?} has too many elements")))
}

/// An axis that may count from the end.
pub(crate) fn axis(axis: i64, rank: usize) -> Result<usize, Fault> {
    let from_start = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    match from_start.and_then(|axis| usize::try_from(axis).ok()).filter(|axis| *axis < rank) {
        Some(axis) => Ok(axis),
        None => invalid(format!("axis {axis} of a tensor with {rank} dimensions")),
    }
}

/// Different axes that may count from the end.
pub(crate) fn axes(list: &[i64], rank: usize) -> Result<Vec<usize>, Fault> {
    let found: Vec<usize> = list.iter().map(|&entry| axis(entry, rank)).collect::<Result<_, _>>()?;
    match (1..found.len()).find(|&index| found[..index].contains(&found[index])) {
        Some(index) => invalid(format!("axis {} is listed twice", found[index])),
        None => Ok(found),
    }
}
