//! Basic block of ResNet: `relu(conv3x3(relu(conv3x3(x))) + shortcut(x))`.

use super::conv;
use crate::lower::fuse::{orders, origin_down_to};
use crate::lower::ir::{Activation, Conv, Id, Ir, Kind, Window};

/// Recognises the ReLU behind the sum.
pub fn recognise(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    let Kind::Affine(affine) = &ir.ops[id].kind else { return false };
    let sum = ir.input(id);
    let is_end = affine.activation == Activation::Relu && affine.is_plain();
    if !is_end || ir.ops[sum].kind != Kind::Add || reads[sum] != 1 {
        return false;
    }
    let matched = orders(ir, sum).into_iter().find_map(|(main, shortcut)| block(ir, main, shortcut, reads));
    let Some((convolutions, shortcut, x)) = matched else { return false };
    let origin = origin_down_to(ir, id, x).by("recognised as a ResNet basic block");
    ir.replace(id, Kind::ResnetBlock(Box::new(convolutions), shortcut), vec![x], origin);
    true
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
