//! New shapes for the same elements, and tensors that pass through.

use crate::tensor::{ElementType, Tensor};

use super::call::{axes, count, invalid, whole};
use super::index::reshaped;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Reshape", opsets: since(5), inputs: 2..=2, infer, compute },
    Operator { name: "Flatten", opsets: since(1), inputs: 1..=1, infer, compute },
    Operator { name: "Squeeze", opsets: since(1), inputs: 1..=2, infer, compute },
    Operator { name: "Unsqueeze", opsets: since(1), inputs: 1..=2, infer, compute },
    Operator { name: "Identity", opsets: since(1), inputs: 1..=1, infer, compute },
    Operator { name: "Dropout", opsets: since(7), inputs: 1..=3, infer: infer_dropout, compute: compute_dropout },
];

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let input = call.input(0)?;
    let shape = match call.op() {
        "Reshape" => reshape(call)?,
        "Flatten" => flatten(call)?,
        "Squeeze" => squeeze(call)?,
        "Unsqueeze" => unsqueeze(call)?,
        _ => {
            call.attributes().finish()?;
            input.shape.to_vec()
        }
    };
    match count(&shape)? == count(input.shape)? {
        true => Ok(vec![Signature::new(input.kind, shape)]),
        false => invalid(format!("an input of shape {:?} cannot take the shape {shape:?}", input.shape)),
    }
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let shape = infer(call)?.remove(0).shape;
    Ok(vec![reshaped(call.tensor(0)?, &shape)?])
}

fn reshape(call: &Call<'_>) -> Result<Vec<usize>, Fault> {
    let attributes = call.attributes();
    let allow_zero = call.opset >= 14 && attributes.flag("allowzero", false)?;
    attributes.finish()?;
    let input = call.input(0)?.shape;
    let wanted = call.wholes(1)?;
    let mut shape = Vec::with_capacity(wanted.len());
    let mut open = None;
    for (axis, &extent) in wanted.iter().enumerate() {
        shape.push(match extent {
            0 if !allow_zero => match input.get(axis) {
                Some(extent) => *extent,
                None => return invalid(format!("shape {wanted:?} copies axis {axis} of an input of shape {input:?}")),
            },
            0.. => extent as usize,
            -1 if open.is_none() => {
                open = Some(axis);
                1
            }
            _ => return invalid(format!("the shape {wanted:?} is not valid")),
        });
    }
    if let Some(axis) = open {
        let (all, others) = (count(input)?, count(&shape)?);
        if others == 0 || all % others != 0 {
            return invalid(format!("an input of shape {input:?} cannot take the shape {wanted:?}"));
        }
        shape[axis] = all / others;
    }
    Ok(shape)
}

fn flatten(call: &Call<'_>) -> Result<Vec<usize>, Fault> {
    let attributes = call.attributes();
    let axis = attributes.int("axis", 1)?;
    attributes.finish()?;
    let input = call.input(0)?.shape;
    let rank = input.len() as i64;
    let least = if call.opset >= 11 { -rank } else { 0 };
    if !(least..=rank).contains(&axis) {
        return invalid(format!("axis {axis} of a tensor with {rank} dimensions"));
    }
    let (left, right) = input.split_at(if axis < 0 { axis + rank } else { axis } as usize);
    Ok(vec![count(left)?, count(right)?])
}

/// Axes from the attribute or, since operator set 13, from the second input.
fn listed_axes<'a>(call: &Call<'a>) -> Result<Option<&'a [i64]>, Fault> {
    let attributes = call.attributes();
    let axes = match call.opset {
        13.. => call.optional_wholes(1)?,
        _ if call.inputs.len() > 1 => return invalid("axes are an attribute before operator set 13"),
        _ => attributes.ints("axes")?,
    };
    attributes.finish()?;
    Ok(axes)
}

fn squeeze(call: &Call<'_>) -> Result<Vec<usize>, Fault> {
    let input = call.input(0)?.shape;
    let dropped = match listed_axes(call)? {
        Some(list) => axes(list, input.len())?,
        None => (0..input.len()).filter(|&axis| input[axis] == 1).collect(),
    };
    match dropped.iter().find(|&&axis| input[axis] != 1) {
        Some(axis) => invalid(format!("axis {axis} of an input of shape {input:?} is not 1")),
        None => Ok((0..input.len()).filter(|axis| !dropped.contains(axis)).map(|axis| input[axis]).collect()),
    }
}

fn unsqueeze(call: &Call<'_>) -> Result<Vec<usize>, Fault> {
    let input = call.input(0)?.shape;
    let Some(list) = listed_axes(call)? else {
        return invalid("axes are missing");
    };
    let rank = input.len() + list.len();
    let added = axes(list, rank)?;
    let mut rest = input.iter();
    let extent = |axis| if added.contains(&axis) { Some(1) } else { rest.next().copied() };
    Ok((0..rank).filter_map(extent).collect())
}

/// Dropout outside of training passes its input through; the mask is all true.
fn infer_dropout(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let attributes = call.attributes();
    match call.opset {
        12.. => {
            attributes.ignore(&["seed"]);
            if call.optional(2).is_some() && call.wholes(2)?.iter().any(|&training| training != 0) {
                return Err(Fault::unsupported("training_mode=true", "results are random"));
            }
        }
        _ => attributes.ignore(&["ratio"]),
    }
    attributes.finish()?;
    let input = call.real_input(0)?;
    let mask = if call.opset >= 10 { ElementType::Bool } else { input.kind };
    Ok(vec![Signature::new(input.kind, input.shape), Signature::new(mask, input.shape)])
}

fn compute_dropout(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let input = call.tensor(0)?;
    let mask = match call.opset {
        10.. => whole(ElementType::Bool, input.shape(), vec![1; input.len()])?,
        _ => super::call::real(input.element_type(), input.shape(), vec![1.0; input.len()])?,
    };
    Ok(vec![reshaped(input, input.shape())?, mask])
}
