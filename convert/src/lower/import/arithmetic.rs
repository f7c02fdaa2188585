//! Sums, products and other arithmetic of two tensors, or of a tensor and constants.

use super::call::Call;
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Affine, Extent, Kind};
use crate::lower::view::View;

/// `Add`, `Sub`, `Mul`, `Div`.
pub fn binary(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    call.ignore(&["consumed_inputs"]);
    if call.opset() < 7 && (call.int("broadcast", 0)? != 0 || call.int("axis", -1)? != -1) {
        let found = format!("broadcast = 1 of operator set {}", call.opset());
        return Err(Trouble::advise(found, "its old rules are not known here", "export with operator set 13 or newer"));
    }
    match (call.is_constant(0), call.is_constant(1)) {
        (false, false) => two_tensors(call),
        (_, true) => with_constant(call, 0, 1),
        (true, false) => with_constant(call, 1, 0),
    }
}

fn with_constant(call: &mut Call<'_, '_>, operand: usize, constant: usize) -> Result<Operand, Trouble> {
    let x = call.operand(operand)?;
    let values = call.spread(&x, call.needed_weights(constant)?)?;
    let of = |function: fn(f64) -> f64| values.iter().copied().map(function).collect::<Vec<f64>>();
    let is_left = constant == 0;
    let (scale, shift) = match (call.node.op.as_str(), is_left) {
        ("Add", _) => (of(|_| 1.0), values),
        ("Sub", false) => (of(|_| 1.0), of(|value| -value)),
        ("Sub", true) => (of(|_| -1.0), values),
        ("Mul", _) => {
            let zeros = of(|_| 0.0);
            (values, zeros)
        }
        ("Div", false) if values.contains(&0.0) => {
            return Err(Trouble::refuse("a divisor of 0".into(), "the result is infinite"));
        }
        ("Div", false) => (of(|value| 1.0 / value), of(|_| 0.0)),
        _ => {
            let inverse = call.push(Kind::Power(-1.0), &[&x], x.extent, x.view.clone());
            let zeros = of(|_| 0.0);
            return Ok(push_affine(call, &inverse, values, zeros, Activation::None));
        }
    };
    Ok(push_affine(call, &x, scale, shift, Activation::None))
}

fn push_affine(
    call: &mut Call<'_, '_>,
    x: &Operand,
    scale: Vec<f64>,
    shift: Vec<f64>,
    activation: Activation,
) -> Operand {
    call.push(Kind::Affine(Affine { scale, shift, activation }), &[x], x.extent, x.view.clone())
}

fn two_tensors(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let (a, b) = (call.operand(0)?, call.operand(1)?);
    match call.node.op.as_str() {
        "Add" => pair(call, Kind::Add, &a, &b),
        "Sub" => {
            let negative = call.push_affine(&b, -1.0, 0.0, Activation::None);
            pair(call, Kind::Add, &a, &negative)
        }
        "Mul" => pair(call, Kind::Mul, &a, &b),
        _ => pair(call, Kind::Div, &a, &b),
    }
}

/// An operation of two tensors, of which one may be broadcast to the other.
fn pair(call: &mut Call<'_, '_>, kind: Kind, a: &Operand, b: &Operand) -> Result<Operand, Trouble> {
    let (extent, view) = common(a, b)?;
    Ok(call.push(kind, &[a, b], extent, view))
}

fn common(a: &Operand, b: &Operand) -> Result<(Extent, View), Trouble> {
    let view = if a.view.accepts(&b.view) {
        &a.view
    } else if b.view.accepts(&a.view) {
        &b.view
    } else {
        let found = format!("tensors of shape {:?} and {:?}", a.view.shape(), b.view.shape());
        return Err(Trouble::refuse(found, "their elements lie in different orders"));
    };
    let (a, b) = (a.extent, b.extent);
    let extent = Extent { n: a.n.max(b.n), h: a.h.max(b.h), w: a.w.max(b.w), c: a.c.max(b.c) };
    Ok((extent, view.clone()))
}

/// Positions of the inputs that are constants, or of those that are not.
fn positions(call: &Call<'_, '_>, constants: bool) -> Vec<usize> {
    (0..call.node.inputs.len()).filter(|&position| call.is_constant(position) == constants).collect()
}

/// `Sum` of any number of tensors and constants.
pub fn sum(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let mut total = joined(call, &Kind::Add, 1.0)?;
    for position in positions(call, true) {
        let values = call.spread(&total, call.needed_weights(position)?)?;
        let ones = vec![1.0; values.len()];
        total = push_affine(call, &total, ones, values, Activation::None);
    }
    Ok(total)
}

/// All inputs that are no constants, each multiplied with `sign`, joined by an operation of two.
fn joined(call: &mut Call<'_, '_>, kind: &Kind, sign: f64) -> Result<Operand, Trouble> {
    let mut total: Option<Operand> = None;
    for position in positions(call, false) {
        let mut operand = call.operand(position)?;
        if sign != 1.0 {
            operand = call.push_affine(&operand, sign, 0.0, Activation::None);
        }
        total = Some(match total {
            None => operand,
            Some(total) => pair(call, kind.clone(), &total, &operand)?,
        });
    }
    total.ok_or(Trouble::Unknown)
}

/// `Max` and `Min`: a constant bound is a ReLU between two shifts, several tensors are for patterns.
pub fn extremum(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    // min(a, b) is -max(-a, -b).
    let sign = if call.node.op == "Max" { 1.0 } else { -1.0 };
    let mut larger = joined(call, &Kind::Max, sign)?;
    for position in positions(call, true) {
        let bounds: Vec<f64> =
            call.spread(&larger, call.needed_weights(position)?)?.into_iter().map(|bound| sign * bound).collect();
        let (beyond, ones) = (bounds.iter().map(|bound| -bound).collect(), vec![1.0; bounds.len()]);
        let above = push_affine(call, &larger, ones.clone(), beyond, Activation::Relu);
        larger = push_affine(call, &above, ones, bounds, Activation::None);
    }
    Ok(if sign == 1.0 { larger } else { call.push_affine(&larger, sign, 0.0, Activation::None) })
}

/// `Neg`.
pub fn negate(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    Ok(call.push_affine(&x, -1.0, 0.0, Activation::None))
}

/// `Erf`, `Sqrt`, `Reciprocal`: parts of patterns.
pub fn unary(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let kind = match call.node.op.as_str() {
        "Erf" => Kind::Erf,
        "Sqrt" => Kind::Power(0.5),
        _ => Kind::Power(-1.0),
    };
    Ok(call.push(kind, &[&x], x.extent, x.view.clone()))
}

/// `Pow` with a constant exponent: part of patterns.
pub fn power(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let exponent = call.constant(1)?.and_then(|tensor| {
        tensor.scalar().or_else(|| match tensor.as_whole()? {
            [exponent] => Some(*exponent as f64),
            _ => None,
        })
    });
    let Some(exponent) = exponent else {
        return Err(Trouble::refuse("an exponent that is not one number".into(), "it has no form in a .nk model"));
    };
    Ok(call.push(Kind::Power(exponent), &[&x], x.extent, x.view.clone()))
}
