//! Operations that no rewrite could resolve, as refusals.

use super::ir::{Id, Ir, Kind};
use crate::graph::Graph;
use crate::refusal::Refusal;

/// One refusal for each operation that is left and has no layer. Behind what was refused before, patterns may be broken, so
/// there only products are told, which no pattern around a layer has.
pub fn refusals(ir: &Ir, graph: &Graph) -> Vec<Refusal> {
    let mut is_behind = vec![false; ir.ops.len()];
    let mut refusals = Vec::new();
    for id in ir.order() {
        let op = &ir.ops[id];
        is_behind[id] = op.kind == Kind::Opaque || op.inputs.iter().any(|&input| is_behind[input]);
        if !is_behind[id] || op.kind == Kind::Mul {
            refusals.extend(refusal(ir, graph, id));
        }
    }
    refusals
}

fn refusal(ir: &Ir, graph: &Graph, id: Id) -> Option<Refusal> {
    let (reason, advice) = why(&ir.ops[id].kind)?;
    let node = ir.ops[id].origin.nodes.first().map(|&index| &graph.nodes[index]);
    let shapes = node.map(|node| {
        let shape = |value: &Option<crate::graph::ValueId>| Some(graph.value((*value)?).shape.as_ref()?.to_vec());
        let inputs: Vec<_> = node.inputs.iter().filter_map(shape).collect();
        format!("inputs of shapes {inputs:?}")
    });
    Some(Refusal {
        node: node.map_or_else(|| graph.name.clone(), |node| node.name.clone()),
        op: node.map_or_else(|| "model".into(), |node| node.op.clone()),
        found: shapes.unwrap_or_else(|| "an operation of two branches".into()),
        reason: reason.into(),
        advice: Some(advice.into()),
    })
}

fn why(kind: &Kind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        Kind::Add => (
            "a sum of two branches that is no block of a .nk model",
            "the blocks are: ResNet basic block (3x3, ReLU between and behind), inverted bottleneck with ReLU (not ReLU6), \
             ConvNeXt V2; --lower-residual computes sums around ReLU and LeakyReLU convolutions with more channels",
        ),
        Kind::Crop { .. } => (
            "rows and columns in different steps: a .nk layer has one stride for both axes",
            "use the same step on both axes",
        ),
        Kind::PRelu(_) => {
            ("slopes for more than 2048 channels: their matrix would be too large", "use one slope: LeakyRelu")
        }
        Kind::Max => ("the larger of two branches", "use LeakyRelu or PRelu"),
        Kind::Mul => {
            ("a product of two computed tensors: .nk models have no gates", "train without gates such as SiLU or SE")
        }
        Kind::Div => ("a quotient of two computed tensors", "only layer norm and GRN patterns have a form"),
        Kind::Concat => (
            "channels of branches that cannot be computed by one convolution",
            "join convolutions of one input with the same stride and activation",
        ),
        Kind::Reduce(..) => ("a reduction outside of the patterns that have a form", "use a global pool"),
        Kind::Erf | Kind::Gelu { .. } => ("GELU outside of a ConvNeXt V2 block", "train with ReLU"),
        Kind::Power(_) => ("a power outside of the patterns that have a form", "use layers that a .nk model has"),
        Kind::Grn(_) => ("a global response norm outside of a ConvNeXt V2 block", "keep the block as in the paper"),
        _ => return None,
    })
}
