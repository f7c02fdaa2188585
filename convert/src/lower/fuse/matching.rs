//! What patterns ask about an operation.

use crate::lower::ir::{Activation, Affine, Id, Ir, Kind, Origin, Reduction};
use crate::lower::view::Axis;

/// Relative difference up to which a constant of a model is taken for the number it stands for.
const CLOSE: f64 = 1e-4;

/// Whether a constant, rounded by an exporter, stands for `expected`.
pub fn is_about(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= CLOSE * expected.abs()
}

/// The operand of `x * a + b` without activation, and the numbers; `x * 1 + 0` of the operation itself if it is none.
pub fn line(ir: &Ir, id: Id) -> (Id, Affine) {
    match &ir.ops[id].kind {
        Kind::Affine(affine) if affine.activation == Activation::None => (ir.input(id), affine.clone()),
        _ => {
            let channels = ir.ops[id].extent.c;
            (id, Affine { scale: vec![1.0; channels], shift: vec![0.0; channels], activation: Activation::None })
        }
    }
}

/// The only number in a list of equal ones.
pub fn uniform(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

/// The operand of `x * a + b` with the same `a` and `b` everywhere.
pub fn uniform_line(ir: &Ir, id: Id) -> Option<(Id, f64, f64)> {
    let (input, affine) = line(ir, id);
    Some((input, uniform(&affine.scale)?, uniform(&affine.shift)?))
}

/// The operand of a power.
pub fn power(ir: &Ir, id: Id, exponent: f64) -> Option<Id> {
    (ir.ops[id].kind == Kind::Power(exponent)).then(|| ir.input(id))
}

/// The operand of a square, written as a power or as a product.
pub fn square(ir: &Ir, id: Id) -> Option<Id> {
    match (&ir.ops[id].kind, &ir.ops[id].inputs[..]) {
        (Kind::Mul, [a, b]) if a == b => Some(*a),
        _ => power(ir, id, 2.0),
    }
}

/// The operand of a reduction over `axes`. Over an axis of extent 1 every reduction is the same.
pub fn reduction(ir: &Ir, id: Id, kind: Reduction, axes: &[Axis]) -> Option<Id> {
    match &ir.ops[id].kind {
        Kind::Reduce(found, over) if *found == kind && over == axes => Some(ir.input(id)),
        _ => None,
    }
}

/// Both operands in both orders.
pub fn orders(ir: &Ir, id: Id) -> Vec<(Id, Id)> {
    match ir.ops[id].inputs[..] {
        [a, b] => vec![(a, b), (b, a)],
        _ => Vec::new(),
    }
}

/// Origins of `id` and of everything between it and `root`.
pub fn origin_down_to(ir: &Ir, id: Id, root: Id) -> Origin {
    let mut origin = Origin::default();
    let (mut open, mut seen) = (vec![id], vec![root]);
    while let Some(at) = open.pop() {
        if !seen.contains(&at) {
            seen.push(at);
            origin = origin.and(&ir.ops[at].origin);
            open.extend(&ir.ops[at].inputs);
        }
    }
    origin
}

/// Whether no element of the result is ever negative.
pub fn is_nonnegative(ir: &Ir, id: Id) -> bool {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => conv.activation.is_nonnegative(),
        Kind::Depthwise(conv) => conv.activation.is_nonnegative(),
        Kind::Affine(affine) => affine.activation.is_nonnegative(),
        Kind::Pool(..) => is_nonnegative(ir, ir.input(id)),
        Kind::ResnetBlock(..) => true,
        _ => false,
    }
}
