//! Global response normalisation: `x + gamma * x * n / (mean(n) + eps) + beta` where `n` is the root of the sum of squares
//! of each channel.

use super::matching::{line, orders, origin_down_to, reduction, uniform_line};
use crate::lower::ir::{Id, Ir, Kind, Norm, Reduction};
use crate::lower::view::Axis;

/// Recognises the sum.
pub fn recognise(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    if ir.ops[id].kind != Kind::Add {
        return false;
    }
    let matched = orders(ir, id).into_iter().find_map(|(x, scaled)| {
        let (product, affine) = line(ir, scaled);
        let is_product = ir.ops[product].kind == Kind::Mul && affine.scale.len() == ir.ops[id].extent.c;
        let factors = is_product.then(|| orders(ir, product))?;
        let eps =
            factors.into_iter().find_map(|(left, response)| (left == x).then(|| response_of(ir, response, x))?)?;
        Some((x, Norm { gamma: affine.scale, beta: affine.shift, eps }))
    });
    let Some((x, norm)) = matched else { return false };
    let origin = origin_down_to(ir, id, x).by("recognised as a global response norm");
    ir.replace(id, Kind::Grn(norm), vec![x], origin);
    true
}

/// Epsilon, if `id` is `n / (mean(n) + eps)` of `x`.
fn response_of(ir: &Ir, id: Id, x: Id) -> Option<f64> {
    let [norm, divisor] = ir.ops[id].inputs[..] else { return None };
    if ir.ops[id].kind != Kind::Div || reduction(ir, norm, Reduction::L2, &[Axis::H, Axis::W])? != x {
        return None;
    }
    let (mean, scale, eps) = uniform_line(ir, divisor)?;
    (scale == 1.0 && reduction(ir, mean, Reduction::Mean, &[Axis::C])? == norm).then_some(eps)
}
