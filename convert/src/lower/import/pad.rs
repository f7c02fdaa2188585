//! Pad with zeros.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::lower::ir::{Extent, Kind};
use crate::lower::view::Axis;

/// `Pad` of height and width.
pub fn pad(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let rank = x.view.rank();
    let mode = call.text("mode", "constant")?;
    if mode != "constant" {
        return Err(Trouble::advise(format!("mode = {mode}"), "a .nk layer pads with zeros", "use mode constant"));
    }
    let value = match call.weights(2)? {
        Some((value, _)) => value.first().copied().unwrap_or(0.0),
        None => call.float("value", 0.0)?,
    };
    if value != 0.0 {
        return Err(Trouble::refuse(format!("value = {value}"), "a .nk layer pads with zeros"));
    }
    let pads: Vec<i64> = match call.ints("pads")? {
        Some(pads) => pads.to_vec(),
        None => call.constant(1)?.and_then(|pads| pads.as_whole()).unwrap_or(&[]).to_vec(),
    };
    let dims: Vec<usize> = match call.constant(3)?.and_then(|axes| axes.as_whole()) {
        Some(axes) => axes.iter().map(|&axis| dimension(axis, rank)).collect::<Result<_, _>>()?,
        None => (0..rank).collect(),
    };
    let found = format!("pads = {pads:?} for an input of shape {:?}", x.view.shape());
    if pads.len() != 2 * dims.len() || pads.iter().any(|&pad| pad < 0) {
        return Err(Trouble::refuse(found, "two numbers from 0 on are needed for each dimension"));
    }
    let (mut extent, mut view, mut before) = (x.extent, x.view.clone(), (0, 0));
    for (index, &dim) in dims.iter().enumerate() {
        let (start, end) = (pads[index] as usize, pads[index + dims.len()] as usize);
        if start + end == 0 {
            continue;
        }
        let axis = spatial_axis(&x, dim);
        let Some(axis) = axis else {
            return Err(Trouble::advise(found, "only height and width can be padded", "pad images and series"));
        };
        if axis == Axis::H {
            extent = Extent { h: extent.h + start + end, ..extent };
            before.0 = start;
        } else {
            extent = Extent { w: extent.w + start + end, ..extent };
            before.1 = start;
        }
        view = view.with_axis(dim, axis, extent);
    }
    Ok(call.push(Kind::Pad(before.0, before.1), &[&x], extent, view))
}

/// The axis of a spatial dimension. Where its extent is 1, the place among the dimensions of a map tells which it is.
fn spatial_axis(x: &Operand, dim: usize) -> Option<Axis> {
    let rank = x.view.rank();
    let is_last = |channels: usize| x.view.is_axis(channels, Axis::C, x.extent) && x.extent.c > 1;
    let first = if is_last(rank - 1) && rank > 2 { 1 } else { 2 };
    let axes: &[Axis] = if rank == 3 { &[Axis::W] } else { &[Axis::H, Axis::W] };
    let axis = *axes.get(dim.checked_sub(first)?)?;
    (matches!(rank, 3 | 4) && x.view.is_axis(dim, axis, x.extent)).then_some(axis)
}
