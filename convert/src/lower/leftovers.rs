//! Operations that no rewrite could resolve, as refusals.

use super::ir::{Id, Ir, Kind};
use crate::graph::Graph;
use crate::refusal::Refusal;

/// One refusal for each operation that is left and has no layer.
pub fn refusals(ir: &Ir, graph: &Graph) -> Vec<Refusal> {
    ir.order().into_iter().filter_map(|id| refusal(ir, graph, id)).collect()
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
