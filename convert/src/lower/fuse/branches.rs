//! The sum of two linear operations of one operand is one linear operation: `conv(x) + x` has its identity in the tap of the
//! pixel itself.

use super::linear::{Linear, common_root, common_window};
use crate::lower::ir::{Activation, Affine, Conv, Depthwise, Id, Ir, Kind};

/// Merges the two branches of an `Add`.
pub fn merge(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Add = ir.ops[id].kind else { return false };
    let [a, b] = ir.ops[id].inputs[..] else { return false };
    let extent = ir.ops[id].extent;
    if a == b || ir.ops[a].extent != extent || ir.ops[b].extent != extent {
        return false;
    }
    let Some(root) = common_root(ir, &[a, b]) else { return false };
    let (Some(left), Some(right)) = (Linear::of(ir, a, root, reads), Linear::of(ir, b, root, reads)) else {
        return false;
    };
    if left.activation() != Activation::None || right.activation() != Activation::None {
        return false;
    }
    let Some(window) = common_window(left.window(), right.window()) else { return false };
    let channels = ir.ops[root].extent.c;
    let kind = match (left.widened_per_channel(window), right.widened_per_channel(window)) {
        (Some(left), Some(right)) => per_channel(left, &right),
        _ => {
            let mut conv = left.widened(window, channels);
            let other = right.widened(window, channels);
            add(&mut conv.weights, &other.weights);
            add(&mut conv.bias, &other.bias);
            Kind::Conv(Conv { is_dense: left.is_dense() || right.is_dense(), ..conv })
        }
    };
    let own = [a, b].into_iter().filter(|&part| part != root);
    let origin = own.fold(ir.ops[id].origin.clone(), |origin, part| origin.and(&ir.ops[part].origin));
    ir.replace(id, kind, vec![root], origin.by("parallel branches added up in one layer"));
    true
}

fn per_channel(mut sum: Depthwise, other: &Depthwise) -> Kind {
    add(&mut sum.weights, &other.weights);
    add(&mut sum.bias, &other.bias);
    if sum.window.area() == 1 && sum.window.stride == 1 {
        return Kind::Affine(Affine { scale: sum.weights, shift: sum.bias, activation: sum.activation });
    }
    Kind::Depthwise(sum)
}

fn add(sum: &mut [f64], other: &[f64]) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += other);
}
