//! GELU spelled out: `x/2 * (1 + erf(x / sqrt 2))`, or `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`, with the factors
//! in any order.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

use super::matching::{is_about, orders, origin_down_to, power, square, uniform, uniform_line};
use crate::lower::ir::{Activation, Affine, Id, Ir, Kind, Op};

/// Weight of the cube in the tanh form.
const CUBE: f64 = 0.044715;

/// Recognises the product.
pub fn recognise(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    if ir.ops[id].kind != Kind::Mul {
        return false;
    }
    let mut factors = Vec::new();
    let scale = collect_factors(ir, id, &mut factors);
    let [a, b] = factors[..] else { return false };
    let matched = [(a, b), (b, a)].into_iter().find_map(|(x, gate)| Some((x, gate_of(ir, gate, x)?)));
    let Some((x, (gate_scale, tanh))) = matched else { return false };
    let extent = ir.ops[id].extent;
    let origin = origin_down_to(ir, id, x).by("recognised as GELU");
    let gelu = ir.push(Op { kind: Kind::Gelu { tanh }, inputs: vec![x], extent, origin: origin.clone() });
    let rest = 2.0 * scale * gate_scale;
    // Constants of exporters are rounded; one half is exact in all their types.
    let affine = Affine { scale: vec![rest; extent.c], shift: vec![0.0; extent.c], activation: Activation::None };
    ir.replace(id, Kind::Affine(affine), vec![gelu], origin);
    true
}

/// Operands of a tree of products, without constant factors, whose product is returned.
fn collect_factors(ir: &Ir, id: Id, factors: &mut Vec<Id>) -> f64 {
    if ir.ops[id].kind == Kind::Mul {
        return ir.ops[id].inputs.clone().into_iter().map(|input| collect_factors(ir, input, factors)).product();
    }
    match uniform_line(ir, id) {
        Some((input, scale, 0.0)) if input != id => scale * collect_factors(ir, input, factors),
        _ => {
            factors.push(id);
            1.0
        }
    }
}

/// Scale and form, if `id` is `scale * (1 + f(x))`.
fn gate_of(ir: &Ir, id: Id, x: Id) -> Option<(f64, bool)> {
    let (inner, scale, shift) = uniform_line(ir, id)?;
    if scale != shift {
        return None;
    }
    match &ir.ops[inner].kind {
        Kind::Erf => {
            let (operand, scale_of_x, shift) = uniform_line(ir, ir.input(inner))?;
            (operand == x && is_about(scale_of_x, FRAC_1_SQRT_2) && shift == 0.0).then_some((scale, false))
        }
        Kind::Affine(affine) if affine.activation == Activation::Tanh => {
            let outer = uniform(&affine.scale).filter(|_| uniform(&affine.shift) == Some(0.0))?;
            (is_about(outer, FRAC_2_PI.sqrt()) && is_cubic(ir, ir.input(inner), x)).then_some((scale, true))
        }
        _ => None,
    }
}

/// Whether `id` is `x + 0.044715 x^3`.
fn is_cubic(ir: &Ir, id: Id, x: Id) -> bool {
    let is_cube = |id: Id| {
        power(ir, id, 3.0) == Some(x)
            || ir.ops[id].kind == Kind::Mul
                && orders(ir, id).into_iter().any(|(a, b)| a == x && square(ir, b) == Some(x))
    };
    ir.ops[id].kind == Kind::Add
        && orders(ir, id).into_iter().any(|(linear, cubic)| {
            let weighted = uniform_line(ir, cubic);
            linear == x
                && weighted.is_some_and(|(cube, scale, shift)| is_about(scale, CUBE) && shift == 0.0 && is_cube(cube))
        })
}
