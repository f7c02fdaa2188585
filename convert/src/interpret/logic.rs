//! Comparisons, logic and selection.

use crate::tensor::{ElementType, Elements, Tensor};

use super::broadcast::combine;
use super::call::{invalid, whole};
use super::index::{Walk, broadcast_shape};
use super::{Call, Fault, Operator, Signature, since};

const fn binary(name: &'static str, from: i64) -> Operator {
    Operator { name, opsets: since(from), inputs: 2..=2, infer, compute }
}

pub(super) const OPERATORS: &[Operator] = &[
    binary("Equal", 7),
    binary("Greater", 7),
    binary("Less", 7),
    binary("GreaterOrEqual", 12),
    binary("LessOrEqual", 12),
    binary("And", 7),
    binary("Or", 7),
    binary("Xor", 7),
    Operator { name: "Not", opsets: since(1), inputs: 1..=1, infer: infer_not, compute: compute_not },
    Operator { name: "Where", opsets: since(9), inputs: 3..=3, infer: infer_where, compute: compute_where },
];

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let (a, b) = (call.input(0)?, call.input(1)?);
    let wants_truth = matches!(call.op(), "And" | "Or" | "Xor");
    if a.kind != b.kind || (wants_truth && a.kind != ElementType::Bool) {
        return invalid(format!("its inputs have the types {} and {}", a.kind, b.kind));
    }
    Ok(vec![Signature::new(ElementType::Bool, broadcast_shape(a.shape, b.shape)?)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let shape = broadcast_shape(a.shape(), b.shape())?;
    let elements = match (a.elements(), b.elements()) {
        (Elements::Real(x), Elements::Real(y)) => {
            let holds = comparison::<f64>(call.op())?;
            combine((x, a.shape()), (y, b.shape()), &shape, |a, b| i64::from(holds(a, b)))
        }
        (Elements::Whole(x), Elements::Whole(y)) => {
            let holds: fn(i64, i64) -> bool = match call.op() {
                "And" => |a, b| a != 0 && b != 0,
                "Or" => |a, b| a != 0 || b != 0,
                "Xor" => |a, b| (a != 0) != (b != 0),
                op => comparison::<i64>(op)?,
            };
            combine((x, a.shape()), (y, b.shape()), &shape, |a, b| i64::from(holds(a, b)))
        }
        _ => return invalid("its inputs have different types"),
    };
    Ok(vec![whole(ElementType::Bool, &shape, elements)?])
}

fn comparison<T: PartialOrd>(op: &str) -> Result<fn(T, T) -> bool, Fault> {
    Ok(match op {
        "Equal" => |a, b| a == b,
        "Greater" => |a, b| a > b,
        "Less" => |a, b| a < b,
        "GreaterOrEqual" => |a, b| a >= b,
        "LessOrEqual" => |a, b| a <= b,
        op => return invalid(format!("{op} does not compare numbers")),
    })
}

fn infer_not(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let input = call.input(0)?;
    match input.kind {
        ElementType::Bool => Ok(vec![Signature::new(input.kind, input.shape)]),
        kind => invalid(format!("its input holds {kind}, expected truth values")),
    }
}

fn compute_not(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let elements = call.wholes(0)?.iter().map(|&x| i64::from(x == 0)).collect();
    Ok(vec![whole(ElementType::Bool, call.input(0)?.shape, elements)?])
}

fn infer_where(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(2)?);
    if condition.kind != ElementType::Bool || yes.kind != no.kind {
        return invalid(format!("its inputs have the types {}, {} and {}", condition.kind, yes.kind, no.kind));
    }
    let shape = broadcast_shape(condition.shape, &broadcast_shape(yes.shape, no.shape)?)?;
    Ok(vec![Signature::new(yes.kind, shape)])
}

fn compute_where(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let (yes, no) = (call.tensor(1)?, call.tensor(2)?);
    let shape = infer_where(call)?.remove(0).shape;
    let condition = call.wholes(0)?;
    let choices = Walk::broadcast(call.input(0)?.shape, &shape).map(|index| condition[index] != 0);
    let places = Walk::broadcast(yes.shape(), &shape).zip(Walk::broadcast(no.shape(), &shape));
    let picks = choices.zip(places);
    let kind = yes.element_type();
    let output = match (yes.elements(), no.elements()) {
        (Elements::Real(yes), Elements::Real(no)) => Tensor::real(kind, shape, choose(picks, yes, no)),
        (Elements::Whole(yes), Elements::Whole(no)) => Tensor::whole(kind, shape, choose(picks, yes, no)),
        _ => None,
    };
    output.map_or_else(|| invalid("its inputs have different types"), |output| Ok(vec![output]))
}

fn choose<T: Copy>(picks: impl Iterator<Item = (bool, (usize, usize))>, yes: &[T], no: &[T]) -> Vec<T> {
    picks.map(|(choice, (i, j))| if choice { yes[i] } else { no[j] }).collect()
}
