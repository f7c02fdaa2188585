//! What stands in the way of a graph as a whole.

use crate::graph::{Graph, Value, ValueId};
use crate::refusal::Refusal;

/// Most elements of a computed tensor: large images fit, and numbers for each element still fit into memory.
const MAX_ELEMENTS: usize = 1 << 25;

/// The refusal of a tensor without elements, or with very many, with which no node can be looked at.
pub fn unfit_tensor(graph: &Graph) -> Option<Refusal> {
    let refusal = |value: &Value| {
        let shape = value.shape.as_deref().filter(|_| value.constant.is_none())?;
        let reason = match shape.iter().product::<usize>() {
            0 => "a tensor without elements has no place in a .nk model".into(),
            MAX_ELEMENTS.. => format!("tensors are limited to {MAX_ELEMENTS} elements"),
            _ => return None,
        };
        let (node, op, found) = (value.name.clone(), "tensor".into(), format!("shape {shape:?}"));
        Some(Refusal { node, op, found, reason, advice: None })
    };
    graph.values.iter().find_map(refusal)
}

/// Refusals of the number of inputs and outputs.
pub fn ports(graph: &Graph) -> Vec<Refusal> {
    [only(graph, &graph.inputs, "input"), only(graph, &graph.outputs, "output")].into_iter().flatten().collect()
}

/// The refusal of a graph with several inputs or outputs, or none.
fn only(graph: &Graph, values: &[ValueId], what: &str) -> Option<Refusal> {
    if values.len() == 1 {
        return None;
    }
    let names: Vec<&str> = values.iter().map(|&value| graph.value(value).name.as_str()).collect();
    Some(Refusal {
        node: graph.name.clone(),
        op: what.into(),
        found: format!("{} {what}s: {}", values.len(), names.join(", ")),
        reason: format!("a .nk model has one {what}"),
        advice: (what == "output").then(|| "name the output that you need; nodes behind it are left out".into()),
    })
}

/// The refusal of an output that is a constant.
pub fn constant_output(graph: &Graph, output: ValueId) -> Refusal {
    Refusal {
        node: graph.value(output).name.clone(),
        op: "output".into(),
        found: "a constant".into(),
        reason: "the output does not depend on the input".into(),
        advice: None,
    }
}
