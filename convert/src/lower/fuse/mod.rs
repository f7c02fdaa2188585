//! Rewrites between equal networks, one rule or family per file, applied until none fits.
//!
//! A rule looks at one operation and changes it in place, so that it computes the same from other operands. What nobody reads
//! any more disappears by itself; a rule that moves work into an operand therefore checks that nobody else reads that operand.

mod affine;
mod branches;
mod chain;
mod concat;
mod crop;
mod gelu;
mod grn;
mod hinge;
mod layer_norm;
mod linear;
mod matching;
mod pad;
mod pool;

pub use linear::{Linear, common_window};
pub use matching::{is_about, orders, origin_down_to};

use super::ir::{Id, Ir, Kind};

/// A rewrite of the operation `id`; `reads` tells how often each result is read. Answers whether it changed something.
type Rule = fn(ir: &mut Ir, id: Id, reads: &[usize]) -> bool;

const RULES: &[Rule] = &[
    affine::drop_plain,
    affine::merge,
    affine::into_operand,
    affine::repeat,
    gelu::recognise,
    layer_norm::recognise,
    grn::recognise,
    hinge::merge,
    branches::merge,
    concat::merge,
    pad::into_reader,
    crop::merge,
    crop::into_operand,
    pool::drop_point,
    pool::before,
    affine::into_reader,
    pool::behind,
];

/// Applies all rules until none fits.
pub fn simplify(ir: &mut Ir) {
    while apply(ir, RULES) {}
}

/// Joins zeros around a map to the convolutions behind them, and nothing else.
pub fn join_pads(ir: &mut Ir) {
    for id in ir.order() {
        if matches!(ir.ops[id].kind, Kind::Conv(_) | Kind::Depthwise(_)) {
            while pad::into_reader(ir, id, &[]) {}
        }
    }
}

/// Multiplies linear layers in a row, once blocks have been recognised.
pub fn shrink(ir: &mut Ir) {
    while apply(ir, &[chain::merge]) {}
}

/// Applies the first rule that fits.
fn apply(ir: &mut Ir, rules: &[Rule]) -> bool {
    let (reads, order) = (ir.reads(), ir.order());
    order.into_iter().any(|id| rules.iter().any(|rule| rule(ir, id, &reads)))
}
