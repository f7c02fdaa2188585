//! Other orders of the same elements.

use crate::tensor::Tensor;

use super::call::{axes, invalid};
use super::index::{Walk, pick, strides};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Transpose", opsets: since(1), inputs: 1..=1, infer: infer_transpose, compute: transpose },
    Operator { name: "DepthToSpace", opsets: since(1), inputs: 1..=1, infer: infer_blocks, compute: blocks },
    Operator { name: "SpaceToDepth", opsets: since(1), inputs: 1..=1, infer: infer_blocks, compute: blocks },
];

fn permutation(call: &Call<'_>) -> Result<Vec<usize>, Fault> {
    let attributes = call.attributes();
    let rank = call.input(0)?.shape.len();
    let permutation = match attributes.ints("perm")? {
        None => (0..rank).rev().collect(),
        Some(list) if list.len() == rank => axes(list, rank)?,
        Some(list) => return invalid(format!("perm {list:?} for a tensor with {rank} dimensions")),
    };
    attributes.finish()?;
    Ok(permutation)
}

fn infer_transpose(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let input = call.input(0)?;
    let shape: Vec<usize> = permutation(call)?.into_iter().map(|axis| input.shape[axis]).collect();
    Ok(vec![Signature::new(input.kind, shape)])
}

fn transpose(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    Ok(vec![transposed(call.tensor(0)?, &permutation(call)?)?])
}

/// The tensor with its axes in another order.
fn transposed(input: &Tensor, permutation: &[usize]) -> Result<Tensor, Fault> {
    let own = strides(input.shape());
    let shape: Vec<usize> = permutation.iter().map(|&axis| input.shape()[axis]).collect();
    let walk = Walk::new(&shape, permutation.iter().map(|&axis| own[axis] as isize).collect(), 0);
    pick(input, &shape, walk)
}

/// How blocks of pixels and channels are exchanged: a reshape, a transpose and the shape of the result.
struct Blocks {
    split: Vec<usize>,
    permutation: [usize; 6],
    shape: Vec<usize>,
}

fn exchange(call: &Call<'_>) -> Result<Blocks, Fault> {
    let attributes = call.attributes();
    let size = attributes.required_int("blocksize")?;
    let to_space = call.op() == "DepthToSpace";
    let has_mode = call.opset >= if to_space { 11 } else { 28 };
    let mode = if has_mode { attributes.choice("mode", "DCR", &["DCR", "CRD"])? } else { "DCR" };
    attributes.finish()?;
    let &[n, c, h, w] = call.input(0)?.shape else {
        return invalid("its input does not have 4 dimensions");
    };
    let size = usize::try_from(size).ok().filter(|size| (1..1 << 16).contains(size));
    let Some(b) = size else {
        return invalid("its blocksize is not positive");
    };
    let fits = if to_space { c % (b * b) == 0 } else { h % b == 0 && w % b == 0 };
    if !fits {
        return invalid(format!("blocks of {b} do not divide an input of shape [{n}, {c}, {h}, {w}]"));
    }
    Ok(match (to_space, mode) {
        (true, "DCR") => Blocks {
            split: vec![n, b, b, c / (b * b), h, w],
            permutation: [0, 3, 4, 1, 5, 2],
            shape: vec![n, c / (b * b), h * b, w * b],
        },
        (true, _) => Blocks {
            split: vec![n, c / (b * b), b, b, h, w],
            permutation: [0, 1, 4, 2, 5, 3],
            shape: vec![n, c / (b * b), h * b, w * b],
        },
        (false, mode) => Blocks {
            split: vec![n, c, h / b, b, w / b, b],
            permutation: if mode == "DCR" { [0, 3, 5, 1, 2, 4] } else { [0, 1, 3, 5, 2, 4] },
            shape: vec![n, c * b * b, h / b, w / b],
        },
    })
}

fn infer_blocks(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, exchange(call)?.shape)])
}

fn blocks(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let blocks = exchange(call)?;
    let split = super::index::reshaped(call.tensor(0)?, &blocks.split)?;
    let exchanged = transposed(&split, &blocks.permutation)?;
    Ok(vec![super::index::reshaped(&exchanged, &blocks.shape)?])
}
