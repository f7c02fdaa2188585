//! Two linear convolutions in a row, one of them of single pixels, are one convolution. Done only where it does not make the
//! model larger.

use crate::lower::ir::{Activation, Conv, Id, Ir, Kind, Window};

/// Merges a convolution with the linear one before it.
pub fn merge(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Conv(second) = &ir.ops[id].kind else { return false };
    let input = ir.input(id);
    let Kind::Conv(first) = &ir.ops[input].kind else { return false };
    if first.activation != Activation::None || reads[input] != 1 {
        return false;
    }
    let (source, middle, extent) = (ir.input_extent(input), ir.ops[input].extent, ir.ops[id].extent);
    let (first_is_inside, second_is_inside) =
        (first.window.stays_inside(source, middle), second.window.stays_inside(middle, extent));
    let has_bias = first.bias.iter().any(|&bias| bias != 0.0);
    // In padding the first convolution of single pixels gives its bias, and a second one sees zeros.
    let window = match (first.window, second.window) {
        (Window::POINT, window) if !has_bias || first_is_inside && second_is_inside => window,
        (window, Window::POINT) if second_is_inside => window,
        _ => return false,
    };
    let filters = second.bias.len();
    if filters * window.area() * first.channels() > first.weights.len() + second.weights.len() {
        return false;
    }
    let merged = product(first, second, window);
    let origin = ir.ops[id].origin.clone().and(&ir.ops[input].origin).by("linear layers multiplied");
    let inputs = ir.ops[input].inputs.clone();
    ir.replace(id, Kind::Conv(merged), inputs, origin);
    true
}

/// The product, over the taps of whichever has some.
fn product(first: &Conv, second: &Conv, window: Window) -> Conv {
    let (channels, middle) = (first.channels(), first.bias.len());
    let (first_area, second_area) = (first.window.area(), second.window.area());
    let mut weights = vec![0.0; second.bias.len() * window.area() * channels];
    let mut bias = second.bias.clone();
    for (row, factors) in second.weights.chunks_exact(middle).enumerate() {
        let (filter, second_tap) = (row / second_area, row % second_area);
        for (inner, factor) in factors.iter().enumerate() {
            bias[filter] += factor * first.bias[inner];
            for first_tap in 0..first_area {
                let tap = first_tap.max(second_tap);
                let target = (filter * window.area() + tap) * channels;
                let source = (inner * first_area + first_tap) * channels;
                for channel in 0..channels {
                    weights[target + channel] += factor * first.weights[source + channel];
                }
            }
        }
    }
    let is_dense = first.is_dense && second.is_dense;
    Conv { window, weights, bias, activation: second.activation, is_dense, quant: None }
}
