//! Softmax and its logarithm.

use crate::tensor::Tensor;

use super::call::{axis, count, real};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Softmax", opsets: since(1), inputs: 1..=1, infer, compute },
    Operator { name: "LogSoftmax", opsets: since(1), inputs: 1..=1, infer, compute },
];

/// Number of elements that are normalised together, and the distance between neighbours among them.
///
/// From operator set 13 on they lie along one axis; before, they are all from that axis on.
fn groups(call: &Call<'_>) -> Result<(usize, usize), Fault> {
    let attributes = call.attributes();
    let wanted = attributes.int("axis", if call.opset >= 13 { -1 } else { 1 })?;
    attributes.finish()?;
    let shape = call.real_input(0)?.shape;
    if call.opset >= 13 {
        let along = axis(wanted, shape.len())?;
        return Ok((shape[along], count(&shape[along + 1..])?));
    }
    // Behind the last axis there is one element for each row.
    let first = if wanted == shape.len() as i64 { shape.len() } else { axis(wanted, shape.len())? };
    Ok((count(&shape[first..])?, 1))
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    groups(call)?;
    let input = call.input(0)?;
    Ok(vec![Signature::new(input.kind, input.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let (length, stride) = groups(call)?;
    let input = call.tensor(0)?;
    let mut output = call.reals(0)?.to_vec();
    let is_log = call.op() == "LogSoftmax";
    let mut group = vec![0.0; length];
    for block in output.chunks_exact_mut((length * stride).max(1)) {
        for start in 0..stride {
            for (index, element) in group.iter_mut().enumerate() {
                *element = block[start + index * stride];
            }
            normalize(&mut group, is_log);
            for (index, element) in group.iter().enumerate() {
                block[start + index * stride] = *element;
            }
        }
    }
    Ok(vec![real(input.element_type(), input.shape(), output)?])
}

fn normalize(group: &mut [f64], is_log: bool) {
    let largest = group.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = group.iter().map(|x| (x - largest).exp()).sum();
    for element in group {
        *element = if is_log { *element - largest - sum.ln() } else { (*element - largest).exp() / sum };
    }
}
