//! Walking through tensors by strides: broadcasts, transposes and slices are all the same walk.

use crate::tensor::{Elements, Tensor};

use super::call::{Fault, count, invalid, real, whole};

/// Distances between neighbours along each axis of a tensor in row-major order.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// Flat indices into a source while the extents are counted through, the last axis fastest.
pub(crate) struct Walk {
    extents: Vec<usize>,
    strides: Vec<isize>,
    counters: Vec<usize>,
    at: isize,
    left: usize,
}

impl Walk {
    /// A walk from `start`; `strides` tell how far a step along each axis goes in the source.
    pub(crate) fn new(extents: &[usize], strides: Vec<isize>, start: usize) -> Self {
        let left = extents.iter().product();
        Self { extents: extents.to_vec(), strides, counters: vec![0; extents.len()], at: start as isize, left }
    }

    /// A walk through a tensor of shape `from` as if it had been broadcast to `to`.
    pub(crate) fn broadcast(from: &[usize], to: &[usize]) -> Self {
        let missing = to.len() - from.len();
        let own = strides(from);
        let stride = |axis: usize| match axis.checked_sub(missing) {
            Some(axis) if from[axis] != 1 => own[axis] as isize,
            _ => 0,
        };
        Self::new(to, (0..to.len()).map(stride).collect(), 0)
    }
}

impl Iterator for Walk {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let index = self.at as usize;
        for axis in (0..self.extents.len()).rev() {
            self.counters[axis] += 1;
            self.at += self.strides[axis];
            if self.counters[axis] < self.extents[axis] {
                break;
            }
            self.at -= self.strides[axis] * self.extents[axis] as isize;
            self.counters[axis] = 0;
        }
        Some(index)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The tensor of those elements of `source` that the indices name.
pub(crate) fn pick(source: &Tensor, shape: &[usize], indices: impl Iterator<Item = usize>) -> Result<Tensor, Fault> {
    match source.elements() {
        Elements::Real(from) => real(source.element_type(), shape, indices.map(|index| from[index]).collect()),
        Elements::Whole(from) => whole(source.element_type(), shape, indices.map(|index| from[index]).collect()),
    }
}

/// The same elements in another shape.
pub(crate) fn reshaped(source: &Tensor, shape: &[usize]) -> Result<Tensor, Fault> {
    match source.elements() {
        Elements::Real(from) => real(source.element_type(), shape, from.clone()),
        Elements::Whole(from) => whole(source.element_type(), shape, from.clone()),
    }
}

/// The common shape of two tensors under numpy's rules.
pub(crate) fn broadcast_shape(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Fault> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |axis| shape[axis]);
    let mut shape = Vec::with_capacity(rank);
    for axis in 0..rank {
        shape.push(match (extent(a, axis), extent(b, axis)) {
            (a, b) if a == b => a,
            (1, b) => b,
            (a, 1) => a,
            _ => return invalid(format!("the shapes {a:?} and {b:?} do not broadcast")),
        });
    }
    count(&shape)?;
    Ok(shape)
}
