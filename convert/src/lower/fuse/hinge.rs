//! Functions with one bend at zero: `max(x, k x)`, `x + relu(x)`, `relu(x) - k relu(-x)` are leaky ReLUs with a scale.

use crate::lower::ir::{Activation, Affine, Id, Ir, Kind, Op, Origin};

/// Slopes of a function of `root` above and below zero, for each channel.
struct Hinge {
    root: Id,
    above: Vec<f64>,
    below: Vec<f64>,
    origin: Origin,
}

/// Merges the two operands of an `Add` or a `Max`.
pub fn merge(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let is_max = match ir.ops[id].kind {
        Kind::Add => false,
        Kind::Max => true,
        _ => return false,
    };
    let [a, b] = ir.ops[id].inputs[..] else { return false };
    let extent = ir.ops[id].extent;
    if ir.ops[a].extent != extent || ir.ops[b].extent != extent {
        return false;
    }
    let (left, right) = (hinges(ir, a), hinges(ir, b));
    let pair = left.iter().find_map(|left| Some((left, right.iter().find(|right| right.root == left.root)?)));
    let Some((left, right)) = pair else { return false };
    let join = |a: &[f64], b: &[f64], join: fn(f64, f64) -> f64| -> Vec<f64> {
        a.iter().zip(b).map(|(&a, &b)| join(a, b)).collect()
    };
    let (above, below) = if is_max {
        (join(&left.above, &right.above, f64::max), join(&left.below, &right.below, f64::min))
    } else {
        let sum = |a, b| a + b;
        (join(&left.above, &right.above, sum), join(&left.below, &right.below, sum))
    };
    // Two linear branches of a sum are merged as branches, unless they are the same.
    let (root, is_linear) = (left.root, above == below);
    if above.contains(&0.0) || is_linear && !is_max && a != b {
        return false;
    }
    let slopes: Vec<f64> = above.iter().zip(&below).map(|(above, below)| below / above).collect();
    // The leaky function keeps the sign of its operand; a negative scale behind it does no harm.
    let bend = if is_linear {
        Kind::Affine(Affine { scale: vec![1.0; extent.c], shift: vec![0.0; extent.c], activation: Activation::None })
    } else if slopes.iter().all(|slope| *slope == slopes[0]) {
        let activation = if slopes[0] == 0.0 { Activation::Relu } else { Activation::Leaky(slopes[0]) };
        Kind::Affine(Affine { scale: vec![1.0; extent.c], shift: vec![0.0; extent.c], activation })
    } else {
        Kind::PRelu(slopes)
    };
    let origin = ir.ops[id].origin.clone().and(&left.origin).and(&right.origin).by("recognised as a leaky ReLU");
    let bent = ir.push(Op { kind: bend, inputs: vec![root], extent, origin: origin.clone() });
    let scale = Affine { scale: above, shift: vec![0.0; extent.c], activation: Activation::None };
    ir.replace(id, Kind::Affine(scale), vec![bent], origin);
    true
}

/// `id` as a function of itself, of its operand, of the operand's operand, as long as that is a hinge.
fn hinges(ir: &Ir, id: Id) -> Vec<Hinge> {
    let channels = ir.ops[id].extent.c;
    let (mut above, mut below) = (vec![1.0; channels], vec![1.0; channels]);
    let mut found = vec![Hinge { root: id, above: above.clone(), below: below.clone(), origin: Origin::default() }];
    let mut chain: Vec<Id> = Vec::new();
    let mut at = id;
    while let Some(input) = bend_input(ir, at) {
        chain.push(at);
        above = vec![1.0; channels];
        below = vec![1.0; channels];
        for &op in chain.iter().rev() {
            apply(&ir.ops[op].kind, &mut above, &mut below);
        }
        let origin = chain.iter().fold(Origin::default(), |origin, &op| origin.and(&ir.ops[op].origin));
        found.push(Hinge { root: input, above: above.clone(), below: below.clone(), origin });
        at = input;
    }
    found
}

/// The operand, if the operation is a hinge of it.
fn bend_input(ir: &Ir, id: Id) -> Option<Id> {
    let op = &ir.ops[id];
    let is_hinge = match &op.kind {
        Kind::Affine(affine) => {
            affine.scale.len() == op.extent.c
                && affine.shift.iter().all(|&shift| shift == 0.0)
                && matches!(affine.activation, Activation::None | Activation::Relu | Activation::Leaky(_))
        }
        Kind::PRelu(_) => true,
        _ => false,
    };
    is_hinge.then(|| op.inputs[0])
}

/// Composes with one more operation. Above zero the function so far is `above * x`, below zero `below * x`.
fn apply(kind: &Kind, above: &mut [f64], below: &mut [f64]) {
    let ones = vec![1.0; above.len()];
    let (scale, slopes) = match kind {
        Kind::Affine(affine) => {
            let slope = match affine.activation {
                Activation::Relu => 0.0,
                Activation::Leaky(slope) => slope,
                _ => 1.0,
            };
            (&affine.scale, vec![slope; above.len()])
        }
        Kind::PRelu(slopes) => (&ones, slopes.clone()),
        _ => return,
    };
    for (channel, slope) in slopes.into_iter().enumerate() {
        let (up, down) = (above[channel] * scale[channel], below[channel] * scale[channel]);
        above[channel] = if up >= 0.0 { up } else { slope * up };
        below[channel] = if down <= 0.0 { down } else { slope * down };
    }
}
