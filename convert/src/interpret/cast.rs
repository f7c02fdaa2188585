//! Changes of the element type.

use crate::onnx::element_type;
use crate::onnx::half::{round_to_bf16, round_to_f16};
use crate::tensor::{ElementType, Elements, Tensor};

use super::call::{real, whole};
use super::unary::wrap;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Cast", opsets: since(6), inputs: 1..=1, infer, compute },
    Operator { name: "CastLike", opsets: since(15), inputs: 2..=2, infer, compute },
];

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(target(call)?, call.input(0)?.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    Ok(vec![converted(call.tensor(0)?, target(call)?)?])
}

fn target(call: &Call<'_>) -> Result<ElementType, Fault> {
    let attributes = call.attributes();
    if call.opset >= 19 {
        // Matters for 8-bit real numbers only, and those are refused.
        attributes.ignore(&["saturate"]);
    }
    if call.opset >= 24 {
        attributes.ignore(&["round_mode"]);
    }
    let target = match call.op() {
        "Cast" => {
            let number = attributes.required_int("to")?;
            element_type(number)
                .map_err(|name| Fault::unsupported(format!("a cast to {name}"), "the type is not handled"))?
        }
        _ => call.input(1)?.kind,
    };
    attributes.finish()?;
    Ok(target)
}

fn converted(input: &Tensor, kind: ElementType) -> Result<Tensor, Fault> {
    let shape = input.shape();
    match (input.elements(), kind.is_float()) {
        (Elements::Real(from), true) => real(kind, shape, from.iter().map(|&x| round_to(kind, x)).collect()),
        (Elements::Whole(from), true) => real(kind, shape, from.iter().map(|&x| round_to(kind, x as f64)).collect()),
        (Elements::Real(from), false) if kind == ElementType::Bool => {
            whole(kind, shape, from.iter().map(|&x| i64::from(x != 0.0)).collect())
        }
        (Elements::Real(from), false) => whole(kind, shape, from.iter().map(|&x| wrap(kind, x as i64)).collect()),
        (Elements::Whole(from), false) if kind == ElementType::Bool => {
            whole(kind, shape, from.iter().map(|&x| i64::from(x != 0)).collect())
        }
        (Elements::Whole(from), false) => whole(kind, shape, from.iter().map(|&x| wrap(kind, x)).collect()),
    }
}

/// The nearest number of a type.
pub(super) fn round_to(kind: ElementType, x: f64) -> f64 {
    match kind {
        ElementType::F16 => round_to_f16(x),
        ElementType::Bf16 => round_to_bf16(x),
        ElementType::F32 => f64::from(x as f32),
        _ => x,
    }
}
