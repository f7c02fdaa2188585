//! Joining tensors and taking them apart.

use crate::tensor::{Elements, Tensor};

use super::call::{axis, count, invalid, real, whole};
use super::index::{Walk, pick, strides};
use super::{ANY, Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Concat", opsets: since(4), inputs: ANY, infer: infer_concat, compute: concat },
    Operator { name: "Split", opsets: since(2), inputs: 1..=2, infer: infer_split, compute: split },
];

fn concat_axis(call: &Call<'_>) -> Result<usize, Fault> {
    let attributes = call.attributes();
    let wanted = attributes.required_int("axis")?;
    attributes.finish()?;
    axis(wanted, call.input(0)?.shape.len())
}

fn infer_concat(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let along = concat_axis(call)?;
    let inputs = call.all_inputs()?;
    let first = inputs[0];
    let mut shape = first.shape.to_vec();
    for other in &inputs[1..] {
        let fits = other.shape.len() == shape.len()
            && (0..shape.len()).all(|axis| axis == along || other.shape[axis] == shape[axis]);
        if !fits || other.kind != first.kind {
            return invalid(format!(
                "{} {:?} and {} {:?} cannot be joined along axis {along}",
                first.kind, first.shape, other.kind, other.shape
            ));
        }
        shape[along] = shape[along].saturating_add(other.shape[along]);
    }
    Ok(vec![Signature::new(first.kind, shape)])
}

fn concat(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let along = concat_axis(call)?;
    let Signature { kind, shape } = infer_concat(call)?.remove(0);
    let rows = count(&shape[..along])?;
    let mut reals: Vec<(&[f64], usize)> = Vec::new();
    let mut wholes: Vec<(&[i64], usize)> = Vec::new();
    for index in 0..call.inputs.len() {
        let input = call.tensor(index)?;
        let row = count(&input.shape()[along..])?;
        match input.elements() {
            Elements::Real(elements) => reals.push((elements, row)),
            Elements::Whole(elements) => wholes.push((elements, row)),
        }
    }
    let tensor = match kind.is_float() {
        true => real(kind, &shape, interleave(&reals, rows))?,
        false => whole(kind, &shape, interleave(&wholes, rows))?,
    };
    Ok(vec![tensor])
}

/// The first row of each part, then the second of each, and so on.
fn interleave<T: Copy>(parts: &[(&[T], usize)], rows: usize) -> Vec<T> {
    let mut elements = Vec::with_capacity(parts.iter().map(|(part, _)| part.len()).sum());
    for row in 0..rows {
        for (part, length) in parts {
            elements.extend_from_slice(&part[row * length..(row + 1) * length]);
        }
    }
    elements
}

/// The axis and the extent of each part.
fn parts(call: &Call<'_>) -> Result<(usize, Vec<usize>), Fault> {
    let attributes = call.attributes();
    let input = call.input(0)?.shape;
    let along = axis(attributes.int("axis", 0)?, input.len())?;
    let outputs = call.output_count();
    let sizes = match call.opset {
        13.. => call.optional_wholes(1)?,
        _ if call.inputs.len() > 1 => return invalid("parts are an attribute before operator set 13"),
        _ => attributes.ints("split")?,
    };
    let number = if call.opset >= 18 { attributes.optional_int("num_outputs")? } else { None };
    attributes.finish()?;
    let total = input[along];
    let sizes: Vec<usize> = match sizes {
        Some(_) if number.is_some() => return invalid("both the parts and their number are given"),
        Some(sizes) => sizes.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX)).collect(),
        None => {
            // Trailing outputs may be unread, so their number in the node is only used if nothing else tells it.
            let number = number.map_or(outputs, |number| usize::try_from(number).unwrap_or(0));
            if number == 0 || number > total.max(1) || (call.opset < 18 && total % number != 0) {
                return invalid(format!("axis {along} of {input:?} cannot be cut into {number} parts"));
            }
            let size = total.div_ceil(number);
            (0..number).map(|part| size.min(total.saturating_sub(part * size))).collect()
        }
    };
    let sum = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
    if sum != Some(total) || sizes.len() < outputs {
        return invalid(format!("parts {sizes:?} for {outputs} outputs and axis {along} of {input:?}"));
    }
    Ok((along, sizes))
}

fn infer_split(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let (along, sizes) = parts(call)?;
    let input = call.input(0)?;
    let part = |size: usize| {
        let mut shape = input.shape.to_vec();
        shape[along] = size;
        Signature::new(input.kind, shape)
    };
    Ok(sizes.into_iter().map(part).collect())
}

fn split(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let (along, sizes) = parts(call)?;
    let input = call.tensor(0)?;
    let own = strides(input.shape());
    let mut outputs = Vec::new();
    let mut start = 0;
    for size in sizes {
        let mut shape = input.shape().to_vec();
        shape[along] = size;
        let walk = Walk::new(&shape, own.iter().map(|&stride| stride as isize).collect(), start * own[along]);
        outputs.push(pick(input, &shape, walk)?);
        start += size;
    }
    Ok(outputs)
}
