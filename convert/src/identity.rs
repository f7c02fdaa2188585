//! Removes nodes that pass their input through.

use crate::graph::{Attribute, Graph, Node, ValueId};

/// Readers of such a node read its input instead; how many were removed.
pub(crate) fn remove_identities(graph: &mut Graph) -> usize {
    let mut replacements: Vec<ValueId> = (0..graph.values.len() as u32).map(ValueId).collect();
    let mut is_removed = vec![false; graph.nodes.len()];
    for (index, is_removed) in is_removed.iter_mut().enumerate() {
        for input in graph.nodes[index].inputs.iter_mut().flatten() {
            *input = replacements[input.0 as usize];
        }
        let node = &graph.nodes[index];
        let (Some(&Some(input)), Some(&Some(output))) = (node.inputs.first(), node.outputs.first()) else { continue };
        if node.outputs[1..].iter().any(Option::is_some) || !passes_through(graph, node, input, output) {
            continue;
        }
        if let Some(place) = graph.outputs.iter().position(|id| *id == output) {
            if !give_name(graph, input, output) {
                continue;
            }
            graph.outputs[place] = input;
        }
        replacements[output.0 as usize] = input;
        *is_removed = true;
    }
    let count = is_removed.iter().filter(|is_removed| **is_removed).count();
    let mut is_removed = is_removed.into_iter();
    graph.nodes.retain(|_| !is_removed.next().unwrap_or(false));
    count
}

/// The value that takes the place of an output takes its name too. Inputs and other outputs keep theirs, so those
/// cannot.
fn give_name(graph: &mut Graph, input: ValueId, output: ValueId) -> bool {
    if graph.inputs.contains(&input) || graph.outputs.contains(&input) {
        return false;
    }
    let name = std::mem::take(&mut graph.values[output.0 as usize].name);
    let former = std::mem::replace(&mut graph.values[input.0 as usize].name, name);
    graph.values[output.0 as usize].name = former;
    true
}

/// Whether the first output always equals the first input.
fn passes_through(graph: &Graph, node: &Node, input: ValueId, output: ValueId) -> bool {
    let (from, to) = (graph.value(input), graph.value(output));
    if from.shape != to.shape || from.element_type != to.element_type || from.shape.is_none() {
        return false;
    }
    let integers = |index: usize| {
        let id = node.inputs.get(index).copied().flatten()?;
        graph.constant(id)?.as_whole()
    };
    match node.op.as_str() {
        "Identity" | "Dropout" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Expand" | "Tile" | "Cast"
        | "CastLike" => true,
        "Concat" | "Sum" | "Min" | "Max" | "Mean" => node.inputs.len() == 1,
        "Split" => true,
        "Transpose" => match node.attributes.get("perm") {
            Some(Attribute::Ints(order)) => keeps_order(order, from.shape.as_deref().unwrap_or_default()),
            _ => from.shape.as_ref().is_some_and(|shape| shape.iter().filter(|extent| **extent != 1).count() <= 1),
        },
        // Equal extents can also be pads that cancel out, or a reversal.
        "Pad" => match node.attributes.get("pads") {
            Some(Attribute::Ints(pads)) => pads.iter().all(|pad| *pad == 0),
            _ => integers(1).is_some_and(|pads| pads.iter().all(|pad| *pad == 0)),
        },
        "Slice" => node.inputs.len() < 5 || integers(4).is_some_and(|steps| steps.iter().all(|step| *step > 0)),
        _ => false,
    }
}

/// Whether a transpose moves only axes of extent 1.
fn keeps_order(order: &[i64], shape: &[usize]) -> bool {
    let moved: Vec<i64> = order.iter().copied().filter(|axis| shape.get(*axis as usize) != Some(&1)).collect();
    moved.is_sorted()
}
