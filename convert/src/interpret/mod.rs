//! Executes a graph as the ONNX standard defines it, in double precision: the reference that conversions are compared
//! with.
//!
//! It knows nothing of `.nk` files and of how they are made. Each operator has two functions: `infer` tells types and
//! shapes of the results and checks the node, `compute` computes them. Both read the same parameters.

mod arithmetic;
mod attributes;
mod broadcast;
mod call;
mod cast;
mod concat;
mod constant;
mod conv;
mod gather;
mod index;
mod layout;
mod logic;
mod matmul;
mod matrix;
mod normalization;
mod pad;
mod pool;
mod quantize;
mod reduce;
mod reshape;
mod resize;
mod run;
mod slice;
mod softmax;
mod unary;
mod window;

use std::ops::RangeInclusive;

use crate::tensor::Tensor;

pub(crate) use call::{Call, Fault, Operand, Signature};
pub use run::{MAX_ELEMENTS, run};
pub(crate) use run::{compute, infer, is_within_limits, known_operator, refusal};

/// An operation of the standard.
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    /// Operator sets that have it.
    pub(crate) opsets: RangeInclusive<i64>,
    /// How many inputs it takes.
    pub(crate) inputs: RangeInclusive<usize>,
    /// Checks the node; types and shapes of all results that it may have, or of those that are read.
    pub(crate) infer: fn(&Call<'_>) -> Result<Vec<Signature>, Fault>,
    /// The results. Only called if `infer` has succeeded.
    pub(crate) compute: fn(&Call<'_>) -> Result<Vec<Tensor>, Fault>,
}

/// Every operator set from one on.
const fn since(opset: i64) -> RangeInclusive<i64> {
    opset..=i64::MAX
}

/// Any number of inputs, but at least one.
const ANY: RangeInclusive<usize> = 1..=usize::MAX;

const FAMILIES: [&[Operator]; 19] = [
    arithmetic::OPERATORS,
    cast::OPERATORS,
    concat::OPERATORS,
    constant::OPERATORS,
    conv::OPERATORS,
    gather::OPERATORS,
    layout::OPERATORS,
    logic::OPERATORS,
    matmul::OPERATORS,
    normalization::OPERATORS,
    pad::OPERATORS,
    pool::OPERATORS,
    quantize::OPERATORS,
    reduce::OPERATORS,
    reshape::OPERATORS,
    resize::OPERATORS,
    slice::OPERATORS,
    softmax::OPERATORS,
    unary::OPERATORS,
];

/// The operator of a name, whatever the operator set.
pub(crate) fn operator(name: &str) -> Option<&'static Operator> {
    FAMILIES.iter().copied().flatten().find(|operator| operator.name == name)
}
