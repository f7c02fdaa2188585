//! Zeros around a map become padding of what reads it.

use super::matching::is_nonnegative;
use crate::lower::ir::{Activation, Depthwise, Id, Ir, Kind, PoolKind, Window};

/// Joins a pad to the operation behind it.
pub fn into_reader(ir: &mut Ir, id: Id, _: &[usize]) -> bool {
    let Some(&input) = ir.ops[id].inputs.first() else { return false };
    let Kind::Pad(top, left) = ir.ops[input].kind else { return false };
    let (padded, extent) = (ir.ops[input].extent, ir.ops[id].extent);
    let is_nonnegative = is_nonnegative(ir, ir.input(input));
    let add = |window: &mut Window| {
        window.before.0 += top;
        window.before.1 += left;
    };
    match &mut ir.ops[id].kind {
        Kind::Conv(conv) => add(&mut conv.window),
        Kind::Depthwise(conv) => add(&mut conv.window),
        // Padding never wins in a max pool; neither does a zero among elements that are not negative, and where there is
        // nothing but zeros there is nothing to pool.
        Kind::Pool(PoolKind::Max, window) if is_nonnegative && sees_input(window, (top, left)) => add(window),
        Kind::Pool(PoolKind::Average, window) if window.stays_inside(padded, extent) => {
            let (channels, area) = (extent.c, window.area());
            let mut window = *window;
            add(&mut window);
            ir.ops[id].kind = Kind::Depthwise(Depthwise {
                window,
                weights: vec![1.0 / area as f64; channels * area],
                bias: vec![0.0; channels],
                activation: Activation::None,
                quant: None,
            });
        }
        _ => return false,
    }
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin);
    ir.ops[id].origin = origin.by("zeros joined as padding");
    ir.ops[id].inputs = ir.ops[input].inputs.clone();
    true
}

/// Whether the first window still reaches the map.
fn sees_input(window: &Window, (top, left): (usize, usize)) -> bool {
    window.before.0 + top < window.kernel.0 && window.before.1 + left < window.kernel.1
}
