//! Universal inverted bottleneck with its input added: optional depthwise convolution, expansion with ReLU, optional depthwise
//! convolution with ReLU, projection. Without the sum it is four layers like others.

use super::{depthwise, pointwise};
use crate::lower::fuse::{orders, origin_down_to};
use crate::lower::ir::{Activation, Id, Ir, Kind, Uib};

/// Recognises the sum.
pub fn recognise(ir: &mut Ir, id: Id, reads: &[usize]) -> bool {
    if ir.ops[id].kind != Kind::Add || ir.ops[id].extent.n != 1 {
        return false;
    }
    let matched = orders(ir, id).into_iter().find_map(|(main, x)| Some((block(ir, main, x, reads)?, x)));
    let Some((block, x)) = matched else { return false };
    let origin = origin_down_to(ir, id, x).by("recognised as a universal inverted bottleneck");
    ir.replace(id, Kind::Uib(Box::new(block)), vec![x], origin);
    true
}

fn block(ir: &Ir, main: Id, x: Id, reads: &[usize]) -> Option<Uib> {
    let (project, before_project) = pointwise(ir, main, reads, Activation::None)?;
    let middle = depthwise(ir, before_project, reads, Activation::Relu);
    let (expand, before_expand) =
        pointwise(ir, middle.map_or(before_project, |(_, input)| input), reads, Activation::Relu)?;
    let start = if before_expand == x { None } else { Some(depthwise(ir, before_expand, reads, Activation::None)?) };
    let begin = start.map_or(before_expand, |(_, input)| input);
    let kernels_fit = start.iter().chain(&middle).all(|(conv, _)| conv.window.kernel.0 <= 255);
    (begin == x && kernels_fit && ir.ops[main].extent == ir.ops[x].extent).then(|| Uib {
        start: start.map(|(conv, _)| conv.clone()),
        expand: expand.clone(),
        middle: middle.map(|(conv, _)| conv.clone()),
        project: project.clone(),
    })
}
