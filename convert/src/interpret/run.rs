//! Nodes one after the other.

use std::sync::Arc;

use crate::error::Error;
use crate::graph::{Graph, Node};
use crate::refusal::Refusal;
use crate::tensor::Tensor;

use super::{Call, Fault, Operand, Operator, Signature, operator};

/// Most elements that a tensor may have: 1 GiB in memory.
pub const MAX_ELEMENTS: usize = 1 << 27;

/// Outputs of a graph for one set of inputs, which stand in the order of [`Graph::inputs`].
pub fn run(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, Error> {
    let mut values = bind_inputs(graph, inputs)?;
    let mut reads_left: Vec<usize> = graph.readers().iter().map(Vec::len).collect();
    for output in &graph.outputs {
        reads_left[output.0 as usize] += 1;
    }
    for node in &graph.nodes {
        let outputs =
            execute(graph, node, &values).or_else(|fault| Err(Error::Unsupported(vec![refusal(fault, node)?])))?;
        for (id, tensor) in node.outputs.iter().zip(outputs) {
            if let Some(id) = id.filter(|id| reads_left[id.0 as usize] > 0) {
                values[id.0 as usize] = Some(Arc::new(tensor));
            }
        }
        for input in node.inputs.iter().flatten() {
            let left = &mut reads_left[input.0 as usize];
            *left -= 1;
            if *left == 0 {
                values[input.0 as usize] = None;
            }
        }
    }
    let output = |id: &crate::graph::ValueId| {
        let value = values[id.0 as usize].as_deref().cloned();
        value.ok_or_else(|| Error::Invalid(format!("nothing computes the output \"{}\"", graph.value(*id).name)))
    };
    graph.outputs.iter().map(output).collect()
}

/// Constants and inputs in their places.
fn bind_inputs(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Option<Arc<Tensor>>>, Error> {
    if inputs.len() != graph.inputs.len() {
        return Err(Error::Usage(format!("{} inputs are given, the model has {}", inputs.len(), graph.inputs.len())));
    }
    let mut values: Vec<Option<Arc<Tensor>>> = graph.values.iter().map(|value| value.constant.clone()).collect();
    for (&id, tensor) in graph.inputs.iter().zip(inputs) {
        let value = graph.value(id);
        if value.shape.as_deref() != Some(tensor.shape()) || value.element_type != Some(tensor.element_type()) {
            let found = format!("{} {:?}", tensor.element_type(), tensor.shape());
            return Err(Error::Usage(format!("input \"{}\" cannot be {found}", value.name)));
        }
        values[id.0 as usize] = Some(Arc::new(tensor.clone()));
    }
    Ok(values)
}

fn execute(graph: &Graph, node: &Node, values: &[Option<Arc<Tensor>>]) -> Result<Vec<Tensor>, Fault> {
    let mut inputs = Vec::with_capacity(node.inputs.len());
    for input in &node.inputs {
        inputs.push(match input {
            None => None,
            Some(id) => match values[id.0 as usize].as_deref() {
                Some(tensor) => {
                    Some(Operand { kind: tensor.element_type(), shape: tensor.shape(), tensor: Some(tensor) })
                }
                None => {
                    return Err(Fault::Invalid(format!("\"{}\" is read before it is written", graph.value(*id).name)));
                }
            },
        });
    }
    let call = Call { node, opset: graph.opset, inputs };
    infer(&call)?;
    compute(&call)
}

/// Whether a shape is small enough to be computed with. Extents of 0 count as 1: their neighbours must not overflow
/// either.
pub(crate) fn is_within_limits(shape: &[usize]) -> bool {
    let elements = shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent.max(1)));
    elements.is_some_and(|elements| elements <= MAX_ELEMENTS)
}

/// Types and shapes of the results of a node, one for each output that it lists.
pub(crate) fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let operator = known_operator(call.node, call.opset)?;
    if !operator.inputs.contains(&call.inputs.len()) {
        let (least, most) = (operator.inputs.start(), operator.inputs.end());
        let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
        return Err(Fault::Invalid(format!("it has {} inputs, expected {expected}", call.inputs.len())));
    }
    let signatures = (operator.infer)(call)?;
    if signatures.len() < call.output_count() {
        let (outputs, possible) = (call.output_count(), signatures.len());
        return Err(Fault::Invalid(format!("it has {outputs} outputs, but the operation computes {possible}")));
    }
    for signature in &signatures {
        if !is_within_limits(&signature.shape) {
            let found = format!("a result of shape {:?}", signature.shape);
            return Err(Fault::unsupported(found, format!("tensors are limited to {MAX_ELEMENTS} elements")));
        }
    }
    Ok(signatures)
}

/// The results of a node that [`infer`] has accepted.
pub(crate) fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    (known_operator(call.node, call.opset)?.compute)(call)
}

/// The operator of a node.
pub(crate) fn known_operator(node: &Node, opset: i64) -> Result<&'static Operator, Fault> {
    let unknown = |found: String, reason: &str| Fault::unsupported(found, reason);
    if !node.domain.is_empty() {
        let found = format!("an operation of the domain \"{}\"", node.domain);
        return Err(unknown(found, "only the operations of ONNX itself are known"));
    }
    let operator =
        operator(&node.op).ok_or_else(|| unknown(format!("the operation {}", node.op), "it is not known"))?;
    match operator.opsets.contains(&opset) {
        true => Ok(operator),
        false => Err(Fault::Invalid(format!("operator set {opset} has no operation {}", node.op))),
    }
}

/// The refusal of a node, or the error if it is not valid.
pub(crate) fn refusal(fault: Fault, node: &Node) -> Result<Refusal, Error> {
    fault.into_refusal(node).map_err(Error::Invalid)
}
