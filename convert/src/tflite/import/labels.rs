//! Zero points that int8 layers without descriptors take over from the layer in front of them.
//!
//! The mean of a `.nk` pool rounds halves away from the zero point of the layer in front of it, that of TensorFlow Lite away
//! from code 0; and a residual block takes scale and zero point of the layer in front of it for its input. Where those are not
//! what the operator needs, a depthwise convolution of single pixels that changes no code states others.

use netkit::format::quant::QuantParams;

use crate::lower::ir::{Activation, Depthwise, Extent, Id, Ir, Kind, Op, PoolKind, Quant, Window};

/// Inserts what states other zero points.
pub fn label(ir: &mut Ir) {
    let mut stated: Option<QuantParams> = None;
    for (position, id) in
        ir.order().into_iter().filter(|&id| ir_is_step(ir, id)).collect::<Vec<_>>().into_iter().enumerate()
    {
        let [input] = ir.ops[id].inputs[..] else { return };
        let own = ir.params.get(&input).copied();
        // Before the first layer with a descriptor, pools round around code 0, and blocks read the descriptor of their own.
        let needed = match &ir.ops[id].kind {
            Kind::Pool(PoolKind::Average, window) if rounds_ties(ir, id, *window) => {
                Some(QuantParams { zero_point: 0, ..own.unwrap_or(QuantParams { scale: 1.0, zero_point: 0 }) })
            }
            Kind::ResnetBlock(..) | Kind::Uib(_) => own,
            _ => None,
        };
        let is_stated = match (needed, stated) {
            (None, _) => true,
            (Some(needed), Some(stated)) if is_pool(ir, id) => needed.zero_point == stated.zero_point,
            (Some(needed), Some(stated)) => needed == stated,
            (Some(_), None) => position == 0,
        };
        if let (false, Some(needed)) = (is_stated, needed) {
            let layer = insert(ir, input, needed);
            ir.ops[id].inputs = vec![layer];
            stated = Some(needed);
        }
        stated = stated_by(ir, id).or(stated);
    }
}

fn ir_is_step(ir: &Ir, id: Id) -> bool {
    ir.ops[id].kind != Kind::Input
}

fn is_pool(ir: &Ir, id: Id) -> bool {
    matches!(ir.ops[id].kind, Kind::Pool(..))
}

/// What a layer states for the layers behind it.
fn stated_by(ir: &Ir, id: Id) -> Option<QuantParams> {
    match ir.ops[id].kind {
        Kind::Conv(_) | Kind::Depthwise(_) | Kind::ResnetBlock(..) | Kind::Uib(_) => ir.params.get(&id).copied(),
        _ => None,
    }
}

/// Whether a window has an even number of elements on the map, so that its mean can be a tie.
fn rounds_ties(ir: &Ir, id: Id, window: Window) -> bool {
    let (input, output) = (ir.input_extent(id), ir.ops[id].extent);
    let counts = |outputs: usize, kernel: usize, before: usize, size: usize| {
        (0..outputs).map(move |output| {
            let start = output * window.stride;
            (start + kernel).min(size + before).saturating_sub(start.max(before))
        })
    };
    let rows = counts(output.h, window.kernel.0, window.before.0, input.h);
    let mut columns = counts(output.w, window.kernel.1, window.before.1, input.w);
    rows.into_iter().any(|rows| rows % 2 == 0) || columns.any(|columns| columns % 2 == 0)
}

/// A depthwise convolution of single pixels behind `input` that passes on codes.
fn insert(ir: &mut Ir, input: Id, params: QuantParams) -> Id {
    let extent: Extent = ir.ops[input].extent;
    let quant = Quant { input: params, scales: vec![1.0], weight_zero_point: 0, output: params };
    let conv = Depthwise {
        window: Window::POINT,
        weights: vec![1.0; extent.c],
        bias: vec![0.0; extent.c],
        activation: Activation::None,
        quant: Some(quant),
    };
    let origin = ir.ops[input].origin.clone();
    let rewrite = "depthwise convolution of single pixels that states a zero point, for the rounding of a mean";
    let op = Op { kind: Kind::Depthwise(conv), inputs: vec![input], extent, origin: origin.by(rewrite) };
    let id = ir.push(op);
    ir.params.insert(id, params);
    id
}
