//! Zeros around an int8 map that no convolution takes as its padding.

use crate::lower::ir::{Activation, Depthwise, Ir, Kind, Quant, Window};

/// Turns them into padding of depthwise convolutions of single pixels.
pub fn expand(ir: &mut Ir) {
    for id in ir.order() {
        let Kind::Pad(top, left) = ir.ops[id].kind else { continue };
        let Some(&params) = ir.params.get(&id) else { continue };
        let channels = ir.ops[id].extent.c;
        let quant = Quant { input: params, scales: vec![1.0], weight_zero_point: 0, output: params };
        ir.ops[id].kind = Kind::Depthwise(Depthwise {
            window: Window { before: (top, left), ..Window::POINT },
            weights: vec![1.0; channels],
            bias: vec![0.0; channels],
            activation: Activation::None,
            quant: Some(quant),
        });
        ir.ops[id].origin.rewrites.insert("zeros as padding of a depthwise convolution");
    }
}
