//! ConvNeXt V2 block: depthwise 7x7, layer norm, expansion by 4 with GELU, global response norm, projection, the input added.

use super::{depthwise, pointwise};
use crate::lower::fuse::{is_about, orders, origin_down_to};
use crate::lower::ir::{Activation, ConvNext, Id, Ir, Kind};

/// Expanded channels for each channel.
const EXPANSION: usize = 4;

/// Recognises the sum.
pub fn recognise(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    if ir.ops[id].kind != Kind::Add || ir.ops[id].extent.n != 1 {
        return false;
    }
    let matched = orders(ir, id).into_iter().find_map(|(main, x)| Some((block(ir, main, x, reads)?, x)));
    let Some(((block, tanh), x)) = matched else { return false };
    let mut origin = origin_down_to(ir, id, x).by("recognised as a ConvNeXt V2 block");
    if !tanh {
        origin = origin.by(super::super::GELU_APPROXIMATION);
    }
    ir.replace(id, Kind::ConvNextBlock(Box::new(block)), vec![x], origin);
    true
}

/// The block, and whether its GELU is in the tanh form.
fn block(ir: &Ir, main: Id, x: Id, reads: &[usize]) -> Option<(ConvNext, bool)> {
    let (project, id) = pointwise(ir, main, reads, Activation::None)?;
    let Kind::Grn(grn) = &ir.ops[id].kind else { return None };
    let gelu = sole_input(ir, id, reads)?;
    let Kind::Gelu { tanh } = ir.ops[gelu].kind else { return None };
    let id = sole_input(ir, gelu, reads)?;
    let (expand, id) = pointwise(ir, id, reads, Activation::None)?;
    let Kind::LayerNorm(norm) = &ir.ops[id].kind else { return None };
    let id = sole_input(ir, id, reads)?;
    let (mix, id) = depthwise(ir, id, reads, Activation::None)?;
    let channels = ir.ops[x].extent.c;
    let fits = id == x
        && mix.window.kernel == (7, 7)
        && expand.bias.len() == EXPANSION * channels
        && ir.ops[main].extent == ir.ops[x].extent
        && is_about(norm.eps, grn.eps);
    let parts = || ConvNext {
        mix: mix.clone(),
        norm: norm.clone(),
        expand: expand.clone(),
        grn: grn.clone(),
        project: project.clone(),
    };
    fits.then(|| (parts(), tanh))
}

/// The operand of `id`, if nobody else reads either of them.
fn sole_input(ir: &Ir, id: Id, reads: &[usize]) -> Option<Id> {
    let input = ir.input(id);
    (reads[id] == 1 && reads[input] == 1).then_some(input)
}
