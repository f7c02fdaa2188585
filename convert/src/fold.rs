//! Simplifies a graph without changing what it computes.
//!
//! Whatever does not depend on the input is computed once, with the operators of the interpreter; what does nothing and
//! what nobody reads is removed. Shapes are inferred on the way, because some depend on computed constants.

use std::sync::Arc;

use crate::budget::Budget;
use crate::error::Error;
use crate::graph::{Graph, Node, ValueId};
use crate::identity::remove_identities;
use crate::interpret::{compute, refusal};
use crate::onnx::Notes;
use crate::onnx::upgrade::{OLD_OPSET, upgrade_node};
use crate::refusal::Refusal;
use crate::shapes::{Inference, call_of, infer_node, leave_out_unread_outputs, record, remove_dead_nodes};
use crate::tensor::Tensor;

/// Most elements of a constant that is computed from smaller ones: a line of text must not become gigabytes of weights.
pub const MAX_GROWN_CONSTANT: usize = 1 << 22;
/// Most elements that are computed in total while constants are folded.
const MAX_FOLDED_ELEMENTS: usize = 1 << 28;

/// Infers all types and shapes, computes what is constant and keeps only nodes that contribute to an output. Where that is
/// refused, the rest is looked at as far as possible.
pub(crate) fn simplify(
    graph: &mut Graph,
    budget: &mut Budget,
    notes: &mut Notes,
    refusals: &mut Vec<Refusal>,
) -> Result<(), Error> {
    // What is cut off may hold anything.
    notes.removed_dead += remove_dead_nodes(graph);
    leave_out_unread_outputs(graph);
    refusals.extend(Folder::new(graph).fold_all(graph, budget, notes)?);
    notes.removed_identities = remove_identities(graph);
    notes.removed_dead += remove_dead_nodes(graph);
    drop_unread_inputs(graph, notes);
    drop_unused_values(graph);
    Ok(())
}

/// Goes through the nodes once, in execution order.
struct Folder {
    /// How often each value will still be read.
    reads_left: Vec<usize>,
    computed_elements: usize,
    refusals: Vec<Refusal>,
}

impl Folder {
    fn new(graph: &Graph) -> Self {
        let mut reads_left: Vec<usize> = graph.readers().iter().map(Vec::len).collect();
        for output in &graph.outputs {
            reads_left[output.0 as usize] += 1;
        }
        Self { reads_left, computed_elements: 0, refusals: Vec::new() }
    }

    fn fold_all(mut self, graph: &mut Graph, budget: &mut Budget, notes: &mut Notes) -> Result<Vec<Refusal>, Error> {
        let mut is_folded = vec![false; graph.nodes.len()];
        let is_old = graph.opset == OLD_OPSET;
        graph.opset = graph.opset.max(OLD_OPSET + 1);
        for (index, is_folded) in is_folded.iter_mut().enumerate() {
            if is_old {
                upgrade_node(graph, index, budget, &mut self.refusals)?;
                self.reads_left.resize(graph.values.len(), 1);
            }
            let Inference::Known(signatures) = infer_node(graph, &graph.nodes[index], &mut self.refusals)? else {
                continue;
            };
            record(graph, index, signatures);
            if depends_on_nothing(graph, &graph.nodes[index]) {
                *is_folded = self.fold(graph, index, budget)?;
            }
        }
        notes.folded = is_folded.iter().filter(|is_folded| **is_folded).count();
        let mut is_folded = is_folded.into_iter();
        graph.nodes.retain(|_| !is_folded.next().unwrap_or(false));
        Ok(self.refusals)
    }

    /// Computes a node; whether it could be done.
    fn fold(&mut self, graph: &mut Graph, index: usize, budget: &mut Budget) -> Result<bool, Error> {
        let node = graph.nodes[index].clone();
        let extents = |id: &ValueId| graph.value(*id).shape.iter().flatten().product::<usize>();
        let read: usize = node.inputs.iter().flatten().filter(|id| graph.constant(**id).is_some()).map(extents).sum();
        let written: usize = node.outputs.iter().flatten().map(extents).sum();
        self.computed_elements = self.computed_elements.saturating_add(written);
        if written > MAX_GROWN_CONSTANT.max(read) || self.computed_elements > MAX_FOLDED_ELEMENTS {
            self.refusals.push(Refusal {
                node: node.name,
                op: node.op,
                found: format!("a constant of {written} elements, computed from {read}"),
                reason: format!("constants made from smaller ones are limited to {MAX_GROWN_CONSTANT} elements"),
                advice: Some("store the constant in the file".into()),
            });
            return Ok(false);
        }
        budget.charge_elements(written, || format!("the constants of node \"{}\"", node.name))?;
        let outputs = match call_of(graph, &node).map(|call| compute(&call)) {
            Some(Ok(outputs)) => outputs,
            Some(Err(fault)) => {
                self.refusals.push(refusal(fault, &node)?);
                return Ok(false);
            }
            None => return Ok(false),
        };
        self.store(graph, &node, outputs);
        self.release(graph, &node, budget);
        Ok(true)
    }

    fn store(&self, graph: &mut Graph, node: &Node, outputs: Vec<Tensor>) {
        for (id, tensor) in node.outputs.iter().zip(outputs) {
            if let Some(id) = id {
                graph.values[id.0 as usize].constant = Some(Arc::new(tensor));
            }
        }
    }

    /// Forgets constants that only this node has read.
    fn release(&mut self, graph: &mut Graph, node: &Node, budget: &mut Budget) {
        for id in node.inputs.iter().flatten() {
            let left = &mut self.reads_left[id.0 as usize];
            *left -= 1;
            if *left == 0
                && let Some(tensor) = graph.values[id.0 as usize].constant.take()
            {
                budget.release_elements(tensor.len());
            }
        }
    }
}

/// Whether the results are the same for every input of the model. Shapes are known, so these are.
fn depends_on_nothing(graph: &Graph, node: &Node) -> bool {
    matches!(node.op.as_str(), "Shape" | "Size") || node.inputs.iter().flatten().all(|id| graph.constant(*id).is_some())
}

/// Leaves out inputs without influence on any output, unless there is no other.
fn drop_unread_inputs(graph: &mut Graph, notes: &mut Notes) {
    let readers = graph.readers();
    let is_read = |id: &ValueId| !readers[id.0 as usize].is_empty() || graph.outputs.contains(id);
    let (read, unread): (Vec<ValueId>, Vec<ValueId>) = graph.inputs.iter().partition(|id| is_read(id));
    if !read.is_empty() {
        let sentence = |id: &ValueId| format!("input \"{}\" is not read and left out", graph.value(*id).name);
        notes.assumptions.extend(unread.iter().map(sentence));
        graph.inputs = read;
    }
}

/// Keeps only values that a node or the graph refers to.
fn drop_unused_values(graph: &mut Graph) {
    let mut is_used = vec![false; graph.values.len()];
    let nodes = graph.nodes.iter().flat_map(|node| node.inputs.iter().chain(&node.outputs)).flatten();
    for id in nodes.chain(&graph.inputs).chain(&graph.outputs) {
        is_used[id.0 as usize] = true;
    }
    let mut new_ids = Vec::with_capacity(is_used.len());
    let mut kept = Vec::new();
    for (value, is_used) in std::mem::take(&mut graph.values).into_iter().zip(&is_used) {
        new_ids.push(ValueId(kept.len() as u32));
        if *is_used {
            kept.push(value);
        }
    }
    graph.values = kept;
    let nodes = graph.nodes.iter_mut().flat_map(|node| node.inputs.iter_mut().chain(&mut node.outputs)).flatten();
    for id in nodes.chain(&mut graph.inputs).chain(&mut graph.outputs) {
        *id = new_ids[id.0 as usize];
    }
}
