//! Parts of a tensor: channels are chosen by a convolution of ones and zeros, rows and columns of a map are cropped.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Conv, Extent, Kind, Window};
use crate::lower::view::Axis;

/// Indices along a dimension.
type Indices = Vec<usize>;

/// `Slice`.
pub fn slice(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let (starts, steps, axes) = if call.opset() < 10 {
        call.ignore(&["ends"]);
        (call.ints("starts")?, None, call.ints("axes")?)
    } else {
        (whole(call, 1)?, whole(call, 4)?, whole(call, 3)?)
    };
    let starts = starts.unwrap_or(&[]);
    let (shape, counts) = (x.view.shape(), call.output_shape()?);
    let mut picked = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let axis = axes.and_then(|axes| axes.get(index).copied()).unwrap_or(index as i64);
        let dim = dimension(axis, shape.len())?;
        let step = steps.and_then(|steps| steps.get(index).copied()).unwrap_or(1);
        let extent = shape[dim] as i64;
        let start = if start < 0 { start.saturating_add(extent) } else { start }.clamp(0, extent - 1);
        let at = |count: usize| usize::try_from(start + count as i64 * if counts[dim] > 1 { step } else { 1 }).ok();
        let indices: Option<Indices> = (0..counts[dim]).map(at).collect();
        let indices = indices.filter(|indices| indices.iter().all(|&index| index < shape[dim]));
        picked.push((dim, indices.ok_or(Trouble::Unknown)?));
    }
    pick(call, &x, &picked)
}

/// `Gather` of constant indices.
pub fn gather(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let axis = call.int("axis", 0)?;
    let dim = dimension(axis, x.view.rank())?;
    let tensor = call.constant(1)?;
    let Some((indices, shape)) = tensor.and_then(|tensor| Some((tensor.as_whole()?, tensor.shape()))) else {
        return Err(Trouble::refuse("indices that are no whole numbers".into(), "they must be constant"));
    };
    if shape.len() > 1 {
        let found = format!("indices of shape {shape:?}");
        return Err(Trouble::refuse(found, "the result has more dimensions than a map"));
    }
    let indices: Indices =
        indices.iter().map(|&index| dimension(index, x.view.shape()[dim])).collect::<Result<_, _>>()?;
    let part = pick(call, &x, &[(dim, indices)])?;
    let view = if shape.is_empty() { part.view.without(&[dim], false) } else { part.view };
    Ok(Operand { view, ..part })
}

fn whole<'g>(call: &Call<'_, 'g>, position: usize) -> Result<Option<&'g [i64]>, Trouble> {
    Ok(call.constant(position)?.and_then(|tensor| tensor.as_whole()))
}

/// The elements at some indices of some dimensions.
fn pick(call: &mut Call<'_, '_>, x: &Operand, picked: &[(usize, Indices)]) -> Result<Operand, Trouble> {
    let shape = x.view.shape();
    let mut part = x.clone();
    let (mut before, mut step) = ((0, 0), (1, 1));
    for (dim, indices) in picked {
        if indices.iter().copied().eq(0..shape[*dim]) {
            continue;
        }
        let found = || format!("dimension {dim} of an input of shape {shape:?}");
        let axis = [Axis::C, Axis::H, Axis::W].into_iter().find(|&axis| x.view.is_axis(*dim, axis, x.extent));
        match axis {
            Some(Axis::C) => part = choose(call, &part, *dim, indices),
            Some(axis) => {
                let Some((first, every)) = progression(indices) else {
                    return Err(Trouble::refuse(found(), "rows and columns can be left out in equal steps only"));
                };
                let extent = &mut part.extent;
                let (size, before, step) = match axis {
                    Axis::H => (&mut extent.h, &mut before.0, &mut step.0),
                    _ => (&mut extent.w, &mut before.1, &mut step.1),
                };
                (*size, *before, *step) = (indices.len(), first, every);
                part.view = part.view.with_axis(*dim, axis, part.extent);
            }
            None => {
                let reason = "parts can be taken of whole channels, rows and columns only";
                return Err(Trouble::advise(found(), reason, "take them before a Flatten, and not of a batch"));
            }
        }
    }
    if (part.extent.h, part.extent.w) == (x.extent.h, x.extent.w) {
        return Ok(part);
    }
    let crop = Kind::Crop { before, step };
    let channels = Operand { extent: Extent { c: part.extent.c, ..x.extent }, ..part.clone() };
    Ok(call.push(crop, &[&channels], part.extent, part.view))
}

/// First number and distance of numbers that grow in equal steps.
fn progression(indices: &[usize]) -> Option<(usize, usize)> {
    let first = *indices.first()?;
    let step = indices.get(1).map_or(Some(1), |second| second.checked_sub(first))?;
    let is_regular = step > 0 && indices.iter().enumerate().all(|(count, &index)| index == first + count * step);
    is_regular.then_some((first, step))
}

/// A convolution that gives some of the channels.
fn choose(call: &mut Call<'_, '_>, x: &Operand, dim: usize, indices: &[usize]) -> Operand {
    let (channels, filters) = (x.extent.c, indices.len());
    let mut weights = vec![0.0; filters * channels];
    indices.iter().enumerate().for_each(|(filter, &channel)| weights[filter * channels + channel] = 1.0);
    let conv = Conv {
        window: Window::POINT,
        weights,
        bias: vec![0.0; filters],
        activation: Activation::None,
        is_dense: x.extent.is_pixel(),
        quant: None,
    };
    let extent = Extent { c: filters, ..x.extent };
    let view = x.view.with_axis(dim, Axis::C, extent);
    call.push_rewritten(Kind::Conv(conv), &[x], (extent, view), "channels chosen by a convolution")
}
