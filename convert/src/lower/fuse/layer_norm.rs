//! A layer norm spelled out: `d / sqrt(mean(d^2) + eps)` with `d = x - mean(x)` over the channels of each pixel.
//!
//! Without the subtraction of the mean it is another function, and stays refused.

use super::matching::{line, orders, origin_down_to, power, reduction, square, uniform, uniform_line};
use crate::lower::ir::{Id, Ir, Kind, Norm, Reduction};
use crate::lower::view::Axis;

/// Recognises the division, or the product with the inverse root.
pub fn recognise(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let matched = match ir.ops[id].kind {
        Kind::Div => orders(ir, id)
            .into_iter()
            .take(1)
            .find_map(|(deviation, root)| normalised(ir, deviation, power(ir, root, 0.5)?)),
        Kind::Mul => orders(ir, id).into_iter().find_map(|(deviation, inverse)| {
            let variance = match power(ir, inverse, -1.0) {
                Some(root) => power(ir, root, 0.5)?,
                None => power(ir, inverse, -0.5)?,
            };
            normalised(ir, deviation, variance)
        }),
        _ => None,
    };
    let Some((x, eps)) = matched else { return false };
    let channels = ir.ops[id].extent.c;
    let origin = origin_down_to(ir, id, x).by("recognised as a layer norm");
    let norm = Norm { gamma: vec![1.0; channels], beta: vec![0.0; channels], eps };
    ir.replace(id, Kind::LayerNorm(norm), vec![x], origin);
    true
}

/// The operand and epsilon, if `variance` is the mean square of `deviation`, and that the distance from the mean.
fn normalised(ir: &Ir, deviation: Id, variance: Id) -> Option<(Id, f64)> {
    let (mean_square, scale, eps) = uniform_line(ir, variance)?;
    if scale != 1.0 || eps < 0.0 {
        return None;
    }
    let other = square(ir, reduction(ir, mean_square, Reduction::Mean, &[Axis::C])?)?;
    let x = centred(ir, deviation)?;
    (other == deviation || centred(ir, other)? == x).then_some((x, eps))
}

/// The operand of `x - mean(x)`.
fn centred(ir: &Ir, id: Id) -> Option<Id> {
    if ir.ops[id].kind != Kind::Add {
        return None;
    }
    orders(ir, id).into_iter().find_map(|(x, negative)| {
        let (mean, affine) = line(ir, negative);
        let is_negated = uniform(&affine.scale)? == -1.0 && uniform(&affine.shift)? == 0.0;
        (is_negated && reduction(ir, mean, Reduction::Mean, &[Axis::C])? == x).then_some(x)
    })
}
