//! What may change places with a pool.

use crate::lower::ir::{Activation, Affine, Id, Ir, Kind, Op, PoolKind};

/// Drops a pool of single pixels.
pub fn drop_point(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let Kind::Pool(_, window) = ir.ops[id].kind else { return false };
    if window.kernel != (1, 1) || ir.ops[id].extent != ir.input_extent(id) {
        return false;
    }
    let (input, nodes) = (ir.input(id), ir.ops[id].origin.nodes.clone());
    ir.ops[input].origin.nodes.extend(nodes);
    ir.bypass(id, input);
    true
}

/// Whether `affine(pool(x))` is `pool(affine(x))`.
fn commutes(pool: PoolKind, affine: &Affine, channels: usize) -> bool {
    let is_per_channel = affine.scale.len() == channels;
    is_per_channel
        && match pool {
            PoolKind::Max => affine.activation.is_monotone() && affine.scale.iter().all(|&scale| scale >= 0.0),
            PoolKind::Average => affine.activation == Activation::None,
        }
}

/// Moves a scale, shift and activation from behind a pool to a convolution before it.
pub fn before(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    let pool = ir.input(id);
    let Kind::Pool(kind, _) = ir.ops[pool].kind else { return false };
    let source = ir.input(pool);
    let can_take = match &ir.ops[source].kind {
        Kind::Conv(conv) => conv.activation == Activation::None,
        Kind::Depthwise(conv) => conv.activation == Activation::None,
        _ => false,
    };
    if !can_take || reads[pool] != 1 || reads[source] != 1 || !commutes(kind, affine, ir.ops[id].extent.c) {
        return false;
    }
    exchange(ir, id, pool, "activation moved before the pool");
    true
}

/// Moves a scale and shift from before a pool to behind it, where there are fewer elements and perhaps a taker.
pub fn behind(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Pool(kind, _) = ir.ops[id].kind else { return false };
    let input = ir.input(id);
    let Kind::Affine(affine) = &ir.ops[input].kind else { return false };
    let is_linear = affine.activation == Activation::None;
    if !is_linear || reads[input] != 1 || !commutes(kind, affine, ir.ops[id].extent.c) {
        return false;
    }
    exchange(ir, id, input, "scale and shift moved behind the pool");
    true
}

/// Makes `second(first(x))` compute `first(second(x))`.
fn exchange(ir: &mut Ir, second: Id, first: Id, rewrite: &'static str) {
    let (outer, inner) = (ir.ops[second].clone(), ir.ops[first].clone());
    let source = ir.ops[inner.inputs[0]].extent;
    // Only pools change the extent.
    let extent = if matches!(outer.kind, Kind::Pool(..)) { outer.extent } else { source };
    ir.ops[first] = Op { inputs: inner.inputs, extent, origin: outer.origin.by(rewrite), kind: outer.kind };
    ir.ops[second] = Op { inputs: vec![first], extent: outer.extent, origin: inner.origin, kind: inner.kind };
}
