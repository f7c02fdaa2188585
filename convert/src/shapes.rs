//! Types and shapes of all values of a graph.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::graph::{Graph, Node, ValueId};
use crate::interpret::{Call, Fault, Operand, Signature, infer, known_operator, refusal};
use crate::refusal::Refusal;

/// What is known about the results of a node.
pub(crate) enum Inference {
    /// Their types and shapes.
    Known(Vec<Signature>),
    /// Nothing, because a node before it was refused.
    Blocked,
}

/// The node as operators see it; `None` if the shape of an input is unknown.
pub(crate) fn call_of<'g>(graph: &'g Graph, node: &'g Node) -> Option<Call<'g>> {
    let mut inputs = Vec::with_capacity(node.inputs.len());
    for input in &node.inputs {
        inputs.push(match input {
            None => None,
            Some(id) => {
                let value = graph.value(*id);
                let (kind, shape) = (value.element_type?, value.shape.as_deref()?);
                Some(Operand { kind, shape, tensor: value.constant.as_deref() })
            }
        });
    }
    Some(Call { node, opset: graph.opset, inputs })
}

/// Types and shapes of the results of a node. Refusals are collected, so that all are told at once.
pub(crate) fn infer_node(graph: &Graph, node: &Node, refusals: &mut Vec<Refusal>) -> Result<Inference, Error> {
    let outcome = match call_of(graph, node) {
        Some(call) => infer(&call).map(Inference::Known),
        None => known_operator(node, graph.opset).map(|_| Inference::Blocked),
    };
    match outcome {
        Ok(inference) => Ok(inference),
        Err(fault) => {
            refusals.push(refusal(with_advice(fault, node), node)?);
            Ok(Inference::Blocked)
        }
    }
}

/// Adds what helps with operations that are often met and have no place in a `.nk` model.
fn with_advice(fault: Fault, node: &Node) -> Fault {
    let advice = match node.op.as_str() {
        "If" | "Loop" | "Scan" => "export the model with a fixed control flow, for inference only",
        "LSTM" | "GRU" | "RNN" => ".nk models have no recurrent layers",
        "NonMaxSuppression" | "TopK" => "cut the model before it with --output NAME",
        _ => return fault,
    };
    match fault {
        Fault::Unsupported { found, reason, advice: None } => {
            Fault::Unsupported { found, reason, advice: Some(advice.into()) }
        }
        fault => fault,
    }
}

/// Writes types and shapes to the outputs of node `index`.
pub(crate) fn record(graph: &mut Graph, index: usize, signatures: Vec<Signature>) {
    for (output, signature) in graph.nodes[index].outputs.clone().into_iter().zip(signatures) {
        if let Some(id) = output {
            let value = &mut graph.values[id.0 as usize];
            value.element_type = Some(signature.kind);
            value.shape = Some(signature.shape);
        }
    }
}

/// Leaves out outputs that nobody reads, such as masks and indices. Their places stay: some operations count them.
pub(crate) fn leave_out_unread_outputs(graph: &mut Graph) {
    let readers = graph.readers();
    let asked_for = graph.outputs.clone();
    let is_read = |id: ValueId| !readers[id.0 as usize].is_empty() || asked_for.contains(&id);
    for node in &mut graph.nodes {
        for output in &mut node.outputs {
            *output = output.filter(|id| is_read(*id));
        }
    }
}

/// Removes nodes whose results nobody reads; how many they were.
pub(crate) fn remove_dead_nodes(graph: &mut Graph) -> usize {
    let before = graph.nodes.len();
    let mut wanted: BTreeSet<_> = graph.outputs.iter().copied().collect();
    let mut is_live = vec![false; before];
    for (index, node) in graph.nodes.iter().enumerate().rev() {
        if node.outputs.iter().flatten().any(|output| wanted.contains(output)) {
            is_live[index] = true;
            wanted.extend(node.inputs.iter().flatten());
        }
    }
    let mut is_live = is_live.into_iter();
    graph.nodes.retain(|_| is_live.next().unwrap_or(false));
    before - graph.nodes.len()
}
