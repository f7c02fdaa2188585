//! Residual sums that no block computes: the shortcut is carried through the convolutions in channels of its own.
//!
//! Every activation in between is a leaky ReLU of some slope (ReLU has 0, none has 1). Behind them, the channels that carry `z`
//! and `-z` hold `f(z)` and `f(-z)` where `f` bends at zero with slopes 1 and `s`, the product of all slopes; so
//! `z = (f(z) - f(-z)) / (1 + s)`, which the last convolution adds. Exact, but the convolutions grow by twice the channels.

use super::expand::identity;
use super::fuse::{Linear, common_window, orders, origin_down_to};
use super::ir::{Activation, Affine, Conv, Depthwise, Extent, Id, Ir, Kind, Op, Origin, Window};

/// Lowers every sum that can be, the first ones first.
pub fn lower_residuals(ir: &mut Ir) {
    for id in ir.order() {
        for (main, shortcut) in orders(ir, id) {
            let reads = ir.reads();
            let Some(plan) =
                plan(ir, id, main, shortcut, &reads).or_else(|| bent_at_the_end(ir, id, main, shortcut, &reads))
            else {
                continue;
            };
            carry(ir, id, &plan);
            break;
        }
    }
}

/// The plan for a main branch that ends with an activation: behind it stands a convolution that changes nothing but can add.
fn bent_at_the_end(ir: &mut Ir, id: Id, main: Id, shortcut: Id, reads: &[usize]) -> Option<Plan> {
    if ir.ops[id].kind != Kind::Add || reads[main] != 1 || ir.ops[main].inputs.len() != 1 {
        return None;
    }
    let slope = slope_of(&ir.ops[main].kind)?;
    if slope == 1.0 {
        return None;
    }
    let is_dense = matches!(&ir.ops[main].kind, Kind::Conv(conv) if conv.is_dense);
    let inputs = ir.ops[id].inputs.clone();
    let op = &ir.ops[main];
    let kind = Kind::Conv(identity(op.extent.c, is_dense));
    let (extent, origin) = (op.extent, op.origin.clone());
    let end = ir.push(Op { kind, inputs: vec![main], extent, origin });
    ir.ops[id].inputs.iter_mut().filter(|input| **input == main).for_each(|input| *input = end);
    let reads = ir.reads();
    let found = plan(ir, id, end, shortcut, &reads);
    if found.is_none() {
        ir.ops[id].inputs = inputs;
    }
    found
}

/// A sum that can be lowered.
struct Plan {
    /// Operations of the main branch, the first one first.
    branch: Vec<Id>,
    /// The operand of both branches.
    root: Id,
    /// The first operation with the shortcut and its negative as further filters.
    start: Conv,
}

fn plan(ir: &Ir, id: Id, main: Id, shortcut: Id, reads: &[usize]) -> Option<Plan> {
    let extent = ir.ops[id].extent;
    if ir.ops[id].kind != Kind::Add || ir.ops[main].extent != extent || ir.ops[shortcut].extent != extent {
        return None;
    }
    let roots = [Some(shortcut), ir.ops[shortcut].inputs.first().copied()];
    let (branch, root) = roots.into_iter().flatten().find_map(|root| Some((branch(ir, main, root, reads)?, root)))?;
    let linear = Linear::of(ir, shortcut, root, reads).filter(|linear| linear.activation() == Activation::None)?;
    let (first, last) = (*branch.first()?, *branch.last()?);
    let window = common_window(linear.window(), window_of(ir, first)?)?;
    // The carried channels have the size of the first result, and every further operation must keep it.
    let keeps_size = branch.iter().all(|&op| (ir.ops[op].extent.h, ir.ops[op].extent.w) == (extent.h, extent.w));
    let has_centres = branch[1..].iter().all(|&op| window_of(ir, op).is_some_and(|window| centre(window).is_some()));
    let is_linear_at_end = matches!(&ir.ops[last].kind, Kind::Conv(conv) if conv.activation == Activation::None);
    let (channels, first) = (ir.ops[root].extent.c, Linear::of(ir, first, root, reads)?);
    (keeps_size && has_centres && is_linear_at_end && branch.len() > 1).then(|| Plan {
        start: start(&first.widened(window, channels), &linear.widened(window, channels)),
        branch,
        root,
    })
}

/// The operations from `root` to `main`, if nobody else reads them and all can carry.
fn branch(ir: &Ir, main: Id, root: Id, reads: &[usize]) -> Option<Vec<Id>> {
    let (mut at, mut branch) = (main, Vec::new());
    while at != root {
        if reads[at] != 1 || slope_of(&ir.ops[at].kind).is_none() {
            return None;
        }
        branch.push(at);
        at = ir.input(at);
    }
    branch.reverse();
    Some(branch)
}

/// Slope of the activation below zero, if it is a bend at zero that leaves positive numbers alone.
fn slope_of(kind: &Kind) -> Option<f64> {
    let activation = match kind {
        Kind::Conv(conv) => conv.activation,
        Kind::Depthwise(conv) => conv.activation,
        Kind::Affine(affine) => affine.activation,
        _ => return None,
    };
    match activation {
        Activation::None => Some(1.0),
        Activation::Relu => Some(0.0),
        Activation::Leaky(slope) if slope >= 0.0 => Some(slope),
        _ => None,
    }
}

fn window_of(ir: &Ir, id: Id) -> Option<Window> {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => Some(conv.window),
        Kind::Depthwise(conv) => Some(conv.window),
        Kind::Affine(affine) => (affine.scale.len() == ir.ops[id].extent.c).then_some(Window::POINT),
        _ => None,
    }
}

/// The tap on the pixel itself.
fn centre(window: Window) -> Option<usize> {
    let ((rows, columns), (top, left)) = (window.kernel, window.before);
    (window.stride == 1 && top < rows && left < columns).then_some(top * columns + left)
}

fn carry(ir: &mut Ir, id: Id, plan: &Plan) {
    let slopes: Vec<f64> = plan.branch.iter().filter_map(|&op| slope_of(&ir.ops[op].kind)).collect();
    let bend: f64 = slopes[..slopes.len() - 1].iter().product();
    let carried = ir.ops[id].extent.c;
    let rewrite = "shortcut carried through the convolutions in channels of its own";
    let origin = |op: &Op| op.origin.clone().by(rewrite);
    let mut input = plan.root;
    for (index, &op) in plan.branch.iter().enumerate() {
        let (old, is_last) = (ir.ops[op].clone(), index + 1 == plan.branch.len());
        let kind = match old.kind.clone() {
            _ if index == 0 => Kind::Conv(plan.start.clone()),
            Kind::Conv(conv) if is_last => Kind::Conv(end(&conv, carried, bend)),
            Kind::Conv(conv) => Kind::Conv(pass(&conv, carried)),
            Kind::Depthwise(conv) => Kind::Depthwise(pass_depthwise(conv, carried)),
            Kind::Affine(affine) => Kind::Affine(pass_affine(affine, carried)),
            other => other,
        };
        let c = old.extent.c + if is_last { 0 } else { 2 * carried };
        let new = Op { kind, inputs: vec![input], extent: Extent { c, ..old.extent }, origin: origin(&old) };
        if is_last {
            let own: Origin = origin_down_to(ir, id, plan.root).by(rewrite);
            ir.replace(id, new.kind, new.inputs, own);
        } else {
            input = ir.push(new);
        }
    }
}

/// A convolution with the shortcut and its negative as further filters.
fn start(conv: &Conv, shortcut: &Conv) -> Conv {
    let mut grown = conv.clone();
    for sign in [1.0, -1.0] {
        grown.weights.extend(shortcut.weights.iter().map(|weight| sign * weight));
        grown.bias.extend(shortcut.bias.iter().map(|bias| sign * bias));
    }
    grown
}

/// Each row of weights with `more` zeros behind the channels of each tap.
fn with_more_inputs(conv: &Conv, more: usize) -> Vec<f64> {
    let widen = |pixel: &[f64]| pixel.iter().copied().chain(std::iter::repeat_n(0.0, more)).collect::<Vec<f64>>();
    conv.weights.chunks_exact(conv.channels()).flat_map(widen).collect()
}

/// A convolution in between: carried channels go through the tap of the pixel itself.
fn pass(conv: &Conv, carried: usize) -> Conv {
    let (own, channels) = (conv.bias.len(), conv.channels() + 2 * carried);
    let tap = centre(conv.window).unwrap_or(0);
    let mut weights = with_more_inputs(conv, 2 * carried);
    weights.resize((own + 2 * carried) * conv.window.area() * channels, 0.0);
    for index in 0..2 * carried {
        weights[((own + index) * conv.window.area() + tap) * channels + conv.channels() + index] = 1.0;
    }
    let mut bias = conv.bias.clone();
    bias.resize(own + 2 * carried, 0.0);
    Conv { weights, bias, ..conv.clone() }
}

/// The last convolution adds what was carried.
fn end(conv: &Conv, carried: usize, bend: f64) -> Conv {
    let channels = conv.channels() + 2 * carried;
    let tap = centre(conv.window).unwrap_or(0);
    let mut weights = with_more_inputs(conv, 2 * carried);
    for index in 0..carried {
        let first = (index * conv.window.area() + tap) * channels + conv.channels() + index;
        weights[first] = 1.0 / (1.0 + bend);
        weights[first + carried] = -1.0 / (1.0 + bend);
    }
    Conv { weights, ..conv.clone() }
}

fn pass_depthwise(mut conv: Depthwise, carried: usize) -> Depthwise {
    let mut kernel = vec![0.0; conv.window.area()];
    kernel[centre(conv.window).unwrap_or(0)] = 1.0;
    conv.weights.extend(kernel.repeat(2 * carried));
    conv.bias.extend(std::iter::repeat_n(0.0, 2 * carried));
    conv
}

fn pass_affine(mut affine: Affine, carried: usize) -> Affine {
    affine.scale.extend(std::iter::repeat_n(1.0, 2 * carried));
    affine.shift.extend(std::iter::repeat_n(0.0, 2 * carried));
    affine
}
