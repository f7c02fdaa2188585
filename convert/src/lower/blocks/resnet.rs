//! Basic block of ResNet: `relu(conv3x3(relu(conv3x3(x))) + shortcut(x))`.

use super::conv;
use crate::lower::fuse::{orders, origin_down_to};
use crate::lower::ir::{Activation, Conv, Extent, Id, Ir, Kind, Op, Origin, Window};

/// Recognises the ReLU behind the sum.
pub fn recognise(ir: &mut Ir, id: Id, reads: &[usize], may_split: bool) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    let sum = ir.input(id);
    let is_end = affine.activation == Activation::Relu && affine.is_plain();
    if !is_end || ir.ops[sum].kind != Kind::Add || reads[sum] != 1 {
        return false;
    }
    let matched = orders(ir, sum).into_iter().find_map(|(main, shortcut)| block(ir, main, shortcut, reads));
    let Some((convolutions, shortcut, x)) = matched else { return false };
    let splits = convolutions[0].window.before != (1, 1) && convolutions[0].quant.is_none();
    if splits && !may_split {
        return false;
    }
    let origin = origin_down_to(ir, id, x).by("recognised as a ResNet basic block");
    if splits {
        behind_its_first(ir, id, convolutions, shortcut, (x, origin));
    } else {
        ir.replace(id, Kind::ResnetBlock(Box::new(convolutions), shortcut), vec![x], origin);
    }
    true
}

/// A block whose first convolution has other padding than the layer: a convolution of its own gives its sums and, in further
/// channels, what the shortcut reads. In the block behind it, the first convolution and the shortcut pick their channels.
fn behind_its_first(
    ir: &mut Ir,
    id: Id,
    [first, second]: [Conv; 2],
    shortcut: Option<Box<Conv>>,
    (x, origin): (Id, Origin),
) {
    let (window, inputs, outputs) = (first.window, first.channels(), first.bias.len());
    let wide = outputs + inputs;
    let mut both = Conv { activation: Activation::None, ..first };
    let under_stride = window.before.0 * window.kernel.1 + window.before.1;
    both.weights.extend(taps(window, inputs, inputs, under_stride, |filter, channel| f64::from(filter == channel)));
    both.bias.resize(wide, 0.0);
    let pick = |filter, channel| f64::from(filter == channel);
    let inner = Window { stride: 1, before: (1, 1), ..window };
    let centre = taps(inner, outputs, wide, inner.area() / 2, pick);
    let first =
        Conv { window: inner, weights: centre, bias: vec![0.0; outputs], activation: Activation::Relu, ..both.clone() };
    let projection = shortcut.map(|conv| *conv);
    let of_input = |filter: usize, channel: usize| match (&projection, channel.checked_sub(outputs)) {
        (Some(conv), Some(channel)) => conv.weights[filter * inputs + channel],
        (None, Some(channel)) => pick(filter, channel),
        (_, None) => 0.0,
    };
    let weights = taps(Window::POINT, outputs, wide, 0, of_input);
    let bias = projection.as_ref().map_or_else(|| vec![0.0; outputs], |conv| conv.bias.clone());
    let shortcut = Conv { window: Window::POINT, weights, bias, activation: Activation::None, ..both.clone() };
    let origin = origin.by("first convolution before its block, because the padding lies behind the map only");
    let extent = Extent { c: wide, ..ir.ops[id].extent };
    let both = ir.push(Op { kind: Kind::Conv(both), inputs: vec![x], extent, origin: origin.clone() });
    ir.replace(id, Kind::ResnetBlock(Box::new([first, second]), Some(Box::new(shortcut))), vec![both], origin);
}

/// Weights that are zero but at one tap.
fn taps(window: Window, filters: usize, channels: usize, at: usize, weight: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut weights = vec![0.0; filters * window.area() * channels];
    for (filter, kernel) in weights.chunks_exact_mut(window.area() * channels).enumerate() {
        let tap = &mut kernel[at * channels..(at + 1) * channels];
        tap.iter_mut().enumerate().for_each(|(channel, tap)| *tap = weight(filter, channel));
    }
    weights
}

fn block(ir: &Ir, main: Id, shortcut: Id, reads: &[usize]) -> Option<([Conv; 2], Option<Box<Conv>>, Id)> {
    let (second, middle) = conv(ir, main, reads, Activation::None)?;
    let (first, x) = conv(ir, middle, reads, Activation::Relu)?;
    let stride = first.window.stride;
    let is_first = is_3x3(first.window, stride) && first.window.before.0 <= 1 && first.window.before.1 <= 1;
    if !is_first || !is_3x3(second.window, 1) || second.window.before != (1, 1) || stride > 255 {
        return None;
    }
    // The layer's padding is 1 on all sides, or that of the first convolution lies behind the map only; the extents tell the
    // same of the model's.
    let (input, extent) = (ir.ops[x].extent, ir.ops[main].extent);
    let expected = |size: usize| (size - 1) / stride + 1;
    let keeps_size = ir.ops[middle].extent == extent
        && (expected(input.h), expected(input.w)) == (extent.h, extent.w)
        && ir.ops[shortcut].extent == extent
        && input.n == 1;
    let has_projection = stride != 1 || input.c != extent.c;
    let projection = match (has_projection, shortcut == x) {
        (false, true) => None,
        (true, false) => {
            let (projection, of) = conv(ir, shortcut, reads, Activation::None)?;
            let is_point = projection.window == Window { stride, ..Window::POINT };
            (is_point && of == x).then(|| Some(Box::new(projection.clone())))?
        }
        _ => return None,
    };
    keeps_size.then(|| ([first.clone(), second.clone()], projection, x))
}

fn is_3x3(window: Window, stride: usize) -> bool {
    (window.kernel, window.stride) == ((3, 3), stride)
}
