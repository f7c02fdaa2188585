//! Rows and columns that are taken off need not be computed.

use crate::lower::ir::{Activation, Id, Ir, Kind, Window};

/// A crop of a crop is one.
pub fn merge(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let Kind::Crop { before: second, step: outer } = ir.ops[id].kind else { return false };
    let input = ir.input(id);
    let Kind::Crop { before: first, step: inner } = ir.ops[input].kind else { return false };
    let before = (first.0 + inner.0 * second.0, first.1 + inner.1 * second.1);
    let kind = Kind::Crop { before, step: (inner.0 * outer.0, inner.1 * outer.1) };
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin);
    let inputs = ir.ops[input].inputs.clone();
    ir.replace(id, kind, inputs, origin);
    true
}

/// Moves a crop into the windows of the operation before, which nobody else reads.
pub fn into_operand(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Crop { before, step } = ir.ops[id].kind else { return false };
    let input = ir.input(id);
    if reads[input] != 1 || step.0 != step.1 {
        return false;
    }
    let moved = |window: Window| {
        let start = |padding: usize, cut: usize| padding.checked_sub(cut * window.stride);
        let before = (start(window.before.0, before.0)?, start(window.before.1, before.1)?);
        Some(Window { before, stride: window.stride * step.0, ..window })
    };
    let is_elementwise = |activation: Activation| activation != Activation::Softmax;
    let kind = match ir.ops[input].kind.clone() {
        Kind::Conv(mut conv) if is_elementwise(conv.activation) => moved(conv.window).map(|window| {
            conv.window = window;
            Kind::Conv(conv)
        }),
        Kind::Depthwise(mut conv) if is_elementwise(conv.activation) => moved(conv.window).map(|window| {
            conv.window = window;
            Kind::Depthwise(conv)
        }),
        Kind::Pool(kind, window) => moved(window).map(|window| Kind::Pool(kind, window)),
        _ => None,
    };
    let Some(kind) = kind else { return false };
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin).by("rows and columns that are cut off left out");
    let inputs = ir.ops[input].inputs.clone();
    ir.replace(id, kind, inputs, origin);
    true
}
