//! Dense layers.

use netkit::format::records::{Dense, Layer};

use super::{Fitted, Unfit, array, code, vector};
use crate::lower::MAX_SQUARE;
use crate::lower::ir::{Affine, Id, Ir, Kind};

/// A convolution over the whole map, or a scale and shift, as a dense layer.
pub fn fit(ir: &Ir, id: Id) -> Fitted {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => {
            let (activation, alpha) = code(conv.activation);
            let units = conv.bias.len();
            let record = Layer::Dense(Dense { units: units as u32, activation, alpha });
            let weights = array(&[units, conv.weights.len() / units], &conv.weights);
            Ok((record, vec![(weights, vector(&conv.bias))], None))
        }
        Kind::Affine(affine) => diagonal(affine, ir.ops[id].extent.elements()),
        other => Err(Unfit {
            found: format!("{other:?}").chars().take(40).collect(),
            reason: "it needs a map, but its input is a row",
            advice: "move it before the Flatten",
        }),
    }
}

/// One factor for each element, as a matrix.
fn diagonal(affine: &Affine, elements: usize) -> Fitted {
    if elements > MAX_SQUARE {
        return Err(Unfit {
            found: format!("a function of each of {elements} elements of a row"),
            reason: "its matrix would be too large",
            advice: "put it directly behind a layer with weights",
        });
    }
    let (activation, alpha) = code(affine.activation);
    let mut weights = vec![0.0; elements * elements];
    let mut bias = vec![0.0; elements];
    for element in 0..elements {
        weights[element * (elements + 1)] = affine.scale[element % affine.scale.len()];
        bias[element] = affine.shift[element % affine.shift.len()];
    }
    let record = Layer::Dense(Dense { units: elements as u32, activation, alpha });
    let tensors = vec![(array(&[elements, elements], &weights), vector(&bias))];
    Ok((record, tensors, Some("function of single elements as a diagonal matrix")))
}
