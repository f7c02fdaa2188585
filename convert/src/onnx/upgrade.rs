//! Operator set 6, in which broadcasting had to be asked for, in terms of operator set 7.

use std::sync::Arc;

use crate::budget::Budget;
use crate::error::Error;
use crate::graph::{Attribute, Graph, Node, Value, ValueId};
use crate::interpret::{Fault, refusal};
use crate::refusal::Refusal;
use crate::tensor::{Elements, Tensor};

/// The last operator set that is translated.
pub(crate) const OLD_OPSET: i64 = 6;

/// Rewrites node `index`, the shapes of whose inputs are known.
pub(crate) fn upgrade_node(
    graph: &mut Graph,
    index: usize,
    budget: &mut Budget,
    refusals: &mut Vec<Refusal>,
) -> Result<(), Error> {
    let mut node = graph.nodes[index].clone();
    let outcome = match node.op.as_str() {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "And" | "Or" | "Xor" | "Equal" | "Greater" | "Less" => {
            binary(graph, &mut node)
        }
        "PRelu" => Ok(slope_axes(graph, &node)),
        "BatchNormalization" | "Dropout" => inference_only(&mut node).map(|()| 0),
        // Its bias broadcasts in any case now, and one that needed no permission still fits.
        "Gemm" => {
            node.attributes.remove("broadcast");
            Ok(0)
        }
        _ => Ok(0),
    };
    let outcome = outcome.and_then(|trailing| align(graph, &mut node, trailing, budget));
    match outcome {
        Ok(aligned) => {
            aligned?;
            graph.nodes[index] = node;
        }
        Err(fault) => refusals.push(refusal(fault, &node)?),
    }
    Ok(())
}

/// Number of axes that the second input needs behind its own.
fn binary(graph: &Graph, node: &mut Node) -> Result<usize, Fault> {
    let broadcasts = take_int(node, "broadcast")?.unwrap_or(0) != 0;
    let axis = take_int(node, "axis")?;
    let (Some(a), Some(b)) = (shape(graph, node, 0), shape(graph, node, 1)) else { return Ok(0) };
    if !broadcasts {
        let sentence = || format!("shapes {a:?} and {b:?} differ, which needs broadcast=1 in operator set {OLD_OPSET}");
        return if a == b { Ok(0) } else { Err(Fault::Invalid(sentence())) };
    }
    let Some(axis) = axis else { return Ok(0) };
    let axis = if axis < 0 { axis.saturating_add(a.len() as i64) } else { axis };
    let trailing = usize::try_from(axis).ok().and_then(|axis| a.len().checked_sub(axis.saturating_add(b.len())));
    trailing.ok_or_else(|| Fault::Invalid(format!("shapes {a:?} and {b:?} do not fit at axis {axis}")))
}

/// One slope for each channel was a list; now it has to broadcast.
fn slope_axes(graph: &Graph, node: &Node) -> usize {
    match (shape(graph, node, 0), shape(graph, node, 1)) {
        (Some(input), Some([_])) => input.len().saturating_sub(2),
        _ => 0,
    }
}

fn inference_only(node: &mut Node) -> Result<(), Fault> {
    match take_int(node, "is_test")?.unwrap_or(0) {
        0 => Err(Fault::unsupported("is_test=0", "the node is in training mode")),
        _ => Ok(()),
    }
}

fn take_int(node: &mut Node, name: &str) -> Result<Option<i64>, Fault> {
    match node.attributes.remove(name) {
        None => Ok(None),
        Some(Attribute::Int(value)) => Ok(Some(value)),
        Some(_) => Err(Fault::Invalid(format!("attribute {name} is not an integer"))),
    }
}

fn shape<'g>(graph: &'g Graph, node: &Node, index: usize) -> Option<&'g [usize]> {
    graph.value(node.inputs.get(index).copied().flatten()?).shape.as_deref()
}

/// Appends axes to the second input, a constant.
fn align(graph: &mut Graph, node: &mut Node, trailing: usize, budget: &mut Budget) -> Result<Result<(), Error>, Fault> {
    let Some(Some(id)) = node.inputs.get(1).copied().filter(|_| trailing > 0) else { return Ok(Ok(())) };
    let Some(tensor) = graph.constant(id).cloned() else {
        let found = "an input that is broadcast along inner axes and is no constant";
        return Err(Fault::unsupported(found, "only constants are realigned"));
    };
    if let Err(error) = budget.charge_elements(tensor.len(), || format!("the constants of node \"{}\"", node.name)) {
        return Ok(Err(error));
    }
    let shape = [tensor.shape(), &vec![1; trailing]].concat();
    let aligned = match tensor.elements() {
        Elements::Real(elements) => Tensor::real(tensor.element_type(), shape.clone(), elements.clone()),
        Elements::Whole(elements) => Tensor::whole(tensor.element_type(), shape.clone(), elements.clone()),
    };
    let name = unused_name(graph, id, node);
    node.inputs[1] = Some(graph.add_value(Value {
        name,
        element_type: Some(tensor.element_type()),
        shape: Some(shape),
        constant: aligned.map(Arc::new),
    }));
    Ok(Ok(()))
}

fn unused_name(graph: &Graph, id: ValueId, node: &Node) -> String {
    let mut name = format!("{} of {}", graph.value(id).name, node.name);
    while graph.values.iter().any(|value| value.name == name) {
        name.push('\'');
    }
    name
}
