//! Concat of channels.

use super::call::{Call, dimension};
use super::{Operand, Trouble};
use crate::lower::ir::{Extent, Kind};
use crate::lower::view::Axis;

/// `Concat` along the channels, or the features of rows.
pub fn concat(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let parts = (0..call.node.inputs.len()).map(|position| call.operand(position)).collect::<Result<Vec<_>, _>>()?;
    let first = parts.first().ok_or(Trouble::Unknown)?;
    let axis = call.int("axis", 1)?;
    let dim = dimension(axis, first.view.rank())?;
    let fits = |part: &Operand| {
        part.view.rank() == first.view.rank()
            && part.view.is_axis(dim, Axis::C, part.extent)
            && part.view.without(&[dim], false) == first.view.without(&[dim], false)
    };
    if !parts.iter().all(fits) {
        let shapes: Vec<_> = parts.iter().map(|part| part.view.shape()).collect();
        let found = format!("axis = {axis} of inputs of shapes {shapes:?}");
        return Err(Trouble::refuse(found, "only channels in the order of memory can be put one after another"));
    }
    let extent = Extent { c: parts.iter().map(|part| part.extent.c).sum(), ..first.extent };
    let view = first.view.with_axis(dim, Axis::C, extent);
    Ok(call.push(Kind::Concat, &parts.iter().collect::<Vec<_>>(), extent, view))
}
