//! Operations that only rearrange: they become views and cost nothing.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::graph::{Graph, ValueId};

/// `Reshape`, `Flatten`, `Squeeze`, `Unsqueeze`: the shape of the result says all.
pub fn reshape(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    call.ignore(&["axis", "axes", "shape", "allowzero"]);
    let shape = call.output_shape()?;
    match x.view.reshaped(shape) {
        Some(view) => Ok(Operand { view, ..x }),
        None => {
            let found = format!("shape {:?} to {shape:?}", x.view.shape());
            let reason = "it mixes channels, height and width in a way that memory order cannot follow";
            Err(Trouble::advise(found, reason, "flatten only whole maps"))
        }
    }
}

/// `Transpose`.
pub fn transpose(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let rank = x.view.rank();
    let perm: Vec<usize> = match call.ints("perm")? {
        None => (0..rank).rev().collect(),
        Some(perm) => perm.iter().map(|&dim| dimension(dim, rank)).collect::<Result<_, _>>()?,
    };
    if (0..rank).any(|dim| !perm.contains(&dim)) || perm.len() != rank {
        return Err(Trouble::refuse(format!("perm = {perm:?} for rank {rank}"), "it is no permutation"));
    }
    Ok(Operand { view: x.view.transposed(&perm), ..x })
}

/// `Identity`, `Dropout` outside of training, `Cast` between types of real numbers.
pub fn identity(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    match call.node.op.as_str() {
        "Cast" => {
            call.ignore(&["saturate", "round_mode"]);
            let to = call.int("to", 1)?;
            if !matches!(to, 1 | 10 | 11 | 16) {
                return Err(Trouble::refuse(format!("to = {to}"), "a .nk model computes with real numbers"));
            }
        }
        "Dropout" => {
            call.ignore(&["ratio", "seed"]);
            call.require_int("is_test", 1, "it would drop elements")?;
            let training = call.constant(2)?.and_then(|training| training.as_whole());
            if training.is_some_and(|training| training != [0]) {
                return Err(Trouble::refuse("training_mode = true".into(), "it would drop elements"));
            }
        }
        _ => {}
    }
    Ok(x)
}

/// The value behind the reshapes that alone read `input`, and the nodes in between: the model works on that shape, and its
/// elements arrive in the same order.
pub fn past_reshapes(graph: &Graph, input: ValueId) -> (ValueId, Vec<usize>) {
    let readers = graph.readers();
    let (mut value, mut nodes) = (input, Vec::new());
    while let [reader] = readers[value.0 as usize][..] {
        let node = &graph.nodes[reader];
        let is_reshape = matches!(node.op.as_str(), "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity");
        let output = node.outputs.first().copied().flatten();
        let (true, Some(output), false) = (is_reshape, output, graph.outputs.contains(&value)) else { break };
        if node.inputs.first() != Some(&Some(value)) || graph.value(output).shape.is_none() {
            break;
        }
        value = output;
        nodes.push(reader);
    }
    (value, nodes)
}
