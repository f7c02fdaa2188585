//! Execution order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Error;
use crate::graph::Graph;

/// Brings the nodes into an order in which every value is written before it is read, as near to that of the file as
/// possible.
pub(crate) fn sort_nodes(graph: &mut Graph) -> Result<(), Error> {
    let producers = graph.producers();
    let readers = graph.readers();
    let mut waits: Vec<usize> = graph
        .nodes
        .iter()
        .map(|node| node.inputs.iter().flatten().filter(|input| producers[input.0 as usize].is_some()).count())
        .collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        waits.iter().enumerate().filter(|(_, waits)| **waits == 0).map(|(index, _)| Reverse(index)).collect();
    let mut order = Vec::with_capacity(graph.nodes.len());
    while let Some(Reverse(index)) = ready.pop() {
        order.push(index);
        for output in graph.nodes[index].outputs.iter().flatten() {
            for &reader in &readers[output.0 as usize] {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(Reverse(reader));
                }
            }
        }
    }
    if let Some(index) = waits.iter().position(|&waits| waits > 0) {
        let node = &graph.nodes[index].name;
        return Err(Error::Invalid(format!("node \"{node}\" is part of a cycle or waits for one")));
    }
    let mut nodes: Vec<_> = std::mem::take(&mut graph.nodes).into_iter().map(Some).collect();
    graph.nodes = order.into_iter().filter_map(|index| nodes[index].take()).collect();
    Ok(())
}
