//! Reductions over whole axes of a map.

use super::call::Call;
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Extent, Kind, PoolKind, Reduction, Window};
use crate::lower::view::Axis::{C, H, W};

/// `ReduceMean`, `ReduceMax`, `ReduceSum`, `ReduceL2`.
pub fn reduce(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let rank = x.view.rank();
    let keep = call.int("keepdims", 1)? != 0;
    let does_nothing = call.int("noop_with_empty_axes", 0)? != 0;
    let dims = match call.axes(1, rank)? {
        Some(dims) if !dims.is_empty() => dims,
        _ if does_nothing => return Ok(x),
        _ => (0..rank).collect(),
    };
    let axes = [&[H, W][..], &[H], &[W], &[C], &[H, W, C]].into_iter().find(|axes| x.view.selects(&dims, axes));
    let Some(axes) = axes else {
        let found = format!("axes {dims:?} of an input of shape {:?}", x.view.shape());
        return Err(Trouble::refuse(found, "only height, width and channels of a map can be reduced"));
    };
    let mut extent = x.extent;
    let mut count = 1;
    for axis in axes {
        count *= x.extent.along(*axis);
        match axis {
            H => extent.h = 1,
            W => extent.w = 1,
            _ => extent.c = 1,
        }
    }
    let view = x.view.without(&dims, keep);
    let op = call.node.op.as_str();
    let is_spatial = !axes.contains(&C);
    match op {
        "ReduceMax" if is_spatial => Ok(call.push(pool(PoolKind::Max, x.extent, extent), &[&x], extent, view)),
        "ReduceMean" | "ReduceSum" => {
            let kind = if is_spatial {
                pool(PoolKind::Average, x.extent, extent)
            } else {
                Kind::Reduce(Reduction::Mean, axes.to_vec())
            };
            let mean = call.push(kind, &[&x], extent, view);
            let is_sum = op == "ReduceSum";
            Ok(if is_sum { call.push_affine(&mean, count as f64, 0.0, Activation::None) } else { mean })
        }
        "ReduceL2" => Ok(call.push(Kind::Reduce(Reduction::L2, axes.to_vec()), &[&x], extent, view)),
        _ => {
            let found = format!("axes {dims:?} of an input of shape {:?}", x.view.shape());
            Err(Trouble::refuse(found, "a .nk max pool looks at height and width only"))
        }
    }
}

fn pool(kind: PoolKind, input: Extent, output: Extent) -> Kind {
    let kernel = (input.h / output.h, input.w / output.w);
    Kind::Pool(kind, Window { kernel, stride: 1, before: (0, 0) })
}
