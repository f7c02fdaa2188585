//! Elements by index, and copies of elements.

use crate::tensor::Tensor;

use super::call::{axis, count, invalid};
use super::index::{Walk, broadcast_shape, pick, strides};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Gather", opsets: since(1), inputs: 2..=2, infer: infer_gather, compute: gather },
    Operator { name: "Expand", opsets: since(8), inputs: 2..=2, infer: infer_expand, compute: expand },
    Operator { name: "Tile", opsets: since(6), inputs: 2..=2, infer: infer_tile, compute: tile },
];

fn gather_axis(call: &Call<'_>) -> Result<usize, Fault> {
    let attributes = call.attributes();
    let wanted = attributes.int("axis", 0)?;
    attributes.finish()?;
    axis(wanted, call.input(0)?.shape.len())
}

fn infer_gather(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let along = gather_axis(call)?;
    let (data, indices) = (call.input(0)?, call.input(1)?);
    if indices.kind.is_float() {
        return invalid(format!("its indices have the type {}", indices.kind));
    }
    let shape = [&data.shape[..along], indices.shape, &data.shape[along + 1..]].concat();
    Ok(vec![Signature::new(data.kind, shape)])
}

fn gather(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let along = gather_axis(call)?;
    let shape = infer_gather(call)?.remove(0).shape;
    let data = call.tensor(0)?;
    let extent = data.shape()[along];
    let place = |&index: &i64| {
        let from_start = if index < 0 { index.saturating_add(extent as i64) } else { index };
        let place = usize::try_from(from_start).ok().filter(|place| *place < extent);
        place.ok_or_else(|| Fault::Invalid(format!("index {index} on an axis of {extent}")))
    };
    let places: Vec<usize> = call.wholes(1)?.iter().map(place).collect::<Result<_, _>>()?;
    let (outer, inner) = (count(&data.shape()[..along])?, count(&data.shape()[along + 1..])?);
    let rows = (0..outer).flat_map(|row| places.iter().map(move |place| (row * extent + place) * inner));
    Ok(vec![pick(data, &shape, rows.flat_map(|start| start..start + inner))?])
}

fn infer_expand(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let input = call.input(0)?;
    let extent =
        |&extent: &i64| usize::try_from(extent).or_else(|_| invalid(format!("its shape has an extent {extent}")));
    let wanted = call.wholes(1)?.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![Signature::new(input.kind, broadcast_shape(input.shape, &wanted)?)])
}

fn expand(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let shape = infer_expand(call)?.remove(0).shape;
    let input = call.tensor(0)?;
    Ok(vec![pick(input, &shape, Walk::broadcast(input.shape(), &shape))?])
}

fn infer_tile(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let input = call.input(0)?;
    let repeats = call.wholes(1)?;
    if repeats.len() != input.shape.len() {
        return invalid(format!("{} repeats for a tensor with {} dimensions", repeats.len(), input.shape.len()));
    }
    let extent = |(&extent, &repeat): (&usize, &i64)| {
        let extent = usize::try_from(repeat).ok().and_then(|repeat| extent.checked_mul(repeat));
        extent.ok_or_else(|| Fault::Invalid(format!("it is repeated {repeat} times")))
    };
    let shape = input.shape.iter().zip(repeats).map(extent).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![Signature::new(input.kind, shape)])
}

fn tile(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let shape = infer_tile(call)?.remove(0).shape;
    let input = call.tensor(0)?;
    let own = strides(input.shape());
    // Each axis becomes two: one over the repeats, which goes nowhere, and one over the extent.
    let repeats = shape.iter().zip(input.shape()).map(|(&total, &extent)| total.checked_div(extent).unwrap_or(0));
    let extents: Vec<usize> = repeats.zip(input.shape()).flat_map(|(repeat, &extent)| [repeat, extent]).collect();
    let steps = own.iter().flat_map(|&stride| [0, stride as isize]).collect();
    Ok(vec![pick(input, &shape, Walk::new(&extents, steps, 0))?])
}
