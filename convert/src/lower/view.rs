//! How a tensor of the model lies in memory: the layout rule.
//!
//! Memory is always `[n][h][w][c]`. Each dimension of the model's tensor is a product of factors, each of which walks along one
//! of those axes. An NCHW map is `[n][c][h][w]`, the result of `Flatten` is `[n][c, h, w]`, a transposed map `[n][h][w][c]`.
//! Transposing, flattening, squeezing and reshaping only rearrange factors: they cost nothing. Operations ask for the
//! arrangement that they can work on, and permute their weights where the order differs.

use super::ir::Extent;

/// An axis of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Rows of a batch.
    N,
    /// Height of a map.
    H,
    /// Width of a map.
    W,
    /// Channels of a map, or features of a row.
    C,
}

/// Part of a dimension: `extent` steps of `stride` along `axis`. Extents of 1 are left out everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    axis: Axis,
    extent: usize,
    stride: usize,
}

/// Factors of each dimension, the slowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    dims: Vec<Vec<Factor>>,
}

impl View {
    /// One whole axis for each dimension.
    pub fn of_axes(axes: &[Axis], extent: Extent) -> Self {
        let whole = |&axis: &Axis| match extent.along(axis) {
            1 => Vec::new(),
            extent => vec![Factor { axis, extent, stride: 1 }],
        };
        Self { dims: axes.iter().map(whole).collect() }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Extents of the dimensions.
    pub fn shape(&self) -> Vec<usize> {
        self.dims.iter().map(|factors| factors.iter().map(|factor| factor.extent).product()).collect()
    }

    /// The dimensions in another order.
    pub fn transposed(&self, perm: &[usize]) -> Self {
        Self { dims: perm.iter().map(|&dim| self.dims[dim].clone()).collect() }
    }

    /// The same elements in the same order as another shape; `None` when a dimension would have to be cut through a factor.
    pub fn reshaped(&self, shape: &[usize]) -> Option<Self> {
        let mut factors: Vec<Factor> = self.dims.iter().flatten().rev().copied().collect();
        let mut dims = Vec::with_capacity(shape.len());
        for &extent in shape {
            let mut dim: Vec<Factor> = Vec::new();
            let mut missing = extent;
            while missing > 1 {
                let factor = factors.pop()?;
                let taken = if missing.is_multiple_of(factor.extent) {
                    factor
                } else if factor.extent.is_multiple_of(missing) {
                    let rest = factor.extent / missing;
                    factors.push(Factor { extent: rest, ..factor });
                    Factor { extent: missing, stride: factor.stride * rest, ..factor }
                } else {
                    return None;
                };
                missing /= taken.extent;
                push_merged(&mut dim, taken);
            }
            dims.push(dim);
        }
        factors.is_empty().then_some(Self { dims })
    }

    /// Whether dimension `dim` walks along the whole of `axis` in order.
    pub fn is_axis(&self, dim: usize, axis: Axis, extent: Extent) -> bool {
        match self.dims[dim].as_slice() {
            [] => extent.along(axis) == 1,
            [factor] => *factor == Factor { axis, extent: extent.along(axis), stride: 1 },
            _ => false,
        }
    }

    /// Whether dimension `dim` consists of the whole of `axis`, in whatever order.
    pub fn covers(&self, dim: usize, axis: Axis, extent: Extent) -> bool {
        self.axes(dim).all(|of| of == axis) && self.shape()[dim] == extent.along(axis)
    }

    /// Axes that a dimension walks along, with repetitions.
    pub fn axes(&self, dim: usize) -> impl Iterator<Item = Axis> {
        self.dims[dim].iter().map(|factor| factor.axis)
    }

    /// Whether the dimensions in `of` are exactly those that walk along the axes in `axes`.
    pub fn selects(&self, of: &[usize], axes: &[Axis]) -> bool {
        (0..self.rank()).all(|dim| self.axes(dim).all(|axis| of.contains(&dim) == axes.contains(&axis)))
    }

    /// For each element of the dimensions `dims` in the model's order: where it lies in memory made of `axes` only.
    pub fn offsets(&self, dims: std::ops::Range<usize>, axes: &[Axis], extent: Extent) -> Vec<usize> {
        let mut offsets = vec![0];
        for factor in self.dims[dims].iter().flatten() {
            let step = factor.stride * extent.step(factor.axis, axes);
            offsets =
                offsets.iter().flat_map(|&base| (0..factor.extent).map(move |index| base + index * step)).collect();
        }
        offsets
    }

    /// The dimensions without those in `dropped`; with `keep`, they stay as dimensions of extent 1.
    pub fn without(&self, dropped: &[usize], keep: bool) -> Self {
        let dims = self.dims.iter().enumerate().filter_map(|(index, dim)| match (dropped.contains(&index), keep) {
            (false, _) => Some(dim.clone()),
            (true, true) => Some(Vec::new()),
            (true, false) => None,
        });
        Self { dims: dims.collect() }
    }

    /// The view with an axis that has been replaced by a fresh one in dimension `dim`.
    pub fn with_axis(&self, dim: usize, axis: Axis, extent: Extent) -> Self {
        let mut dims = self.dims.clone();
        dims[dim] = Self::of_axes(&[axis], extent).dims.remove(0);
        Self { dims }
    }

    /// The view with other factors in dimension `dim`: axis, extent and stride along the axis of each.
    pub fn with_factors(&self, dim: usize, factors: &[(Axis, usize, usize)]) -> Self {
        let factor = |&(axis, extent, stride): &(Axis, usize, usize)| Factor { axis, extent, stride };
        let mut dims = self.dims.clone();
        dims[dim].clear();
        factors
            .iter()
            .map(factor)
            .filter(|factor| factor.extent > 1)
            .for_each(|factor| push_merged(&mut dims[dim], factor));
        Self { dims }
    }

    /// The view of the same memory when the rows of a batch are further rows of a map.
    pub fn with_rows_stacked(&self, extent: Extent) -> Self {
        let stacked = |factor: &Factor| match factor.axis {
            Axis::N => Factor { axis: Axis::H, stride: factor.stride * extent.h, ..*factor },
            _ => *factor,
        };
        Self { dims: self.dims.iter().map(|dim| dim.iter().map(stacked).collect()).collect() }
    }

    /// The view with other extents along whole axes, and those extents; `None` where `shape` does not tell which axes change.
    pub fn resized(&self, extent: Extent, shape: &[usize]) -> Option<(Extent, Self)> {
        let own = self.shape();
        if own.len() != shape.len() {
            return None;
        }
        let mut axes = Vec::new();
        for dim in (0..shape.len()).filter(|&dim| own[dim] != shape[dim]) {
            let axis = [Axis::N, Axis::H, Axis::W, Axis::C];
            let whole = |&axis: &Axis| own[dim] > 1 && self.is_axis(dim, axis, extent);
            axes.push((dim, axis.into_iter().find(whole)?));
        }
        let mut resized = extent;
        for &(dim, axis) in &axes {
            *match axis {
                Axis::N => &mut resized.n,
                Axis::H => &mut resized.h,
                Axis::W => &mut resized.w,
                Axis::C => &mut resized.c,
            } = shape[dim];
        }
        let view = axes.into_iter().fold(self.clone(), |view, (dim, axis)| view.with_axis(dim, axis, resized));
        Some((resized, view))
    }

    /// The view of the same memory when pixels are rows of their own.
    pub fn with_pixels_as_rows(&self, extent: Extent) -> Self {
        let row = |factor: &Factor| {
            let pixels = match factor.axis {
                Axis::N => extent.h * extent.w,
                Axis::H => extent.w,
                Axis::W => 1,
                Axis::C => return *factor,
            };
            Factor { axis: Axis::N, stride: factor.stride * pixels, ..*factor }
        };
        let mut dims = vec![Vec::new(); self.dims.len()];
        for (dim, factors) in dims.iter_mut().zip(&self.dims) {
            factors.iter().map(row).for_each(|factor| push_merged(dim, factor));
        }
        Self { dims }
    }

    /// Whether `other` can be broadcast to this view: its dimensions, aligned at the end, are the same or have extent 1.
    pub fn accepts(&self, other: &Self) -> bool {
        other.rank() <= self.rank()
            && other.dims.iter().rev().zip(self.dims.iter().rev()).all(|(other, own)| other.is_empty() || other == own)
    }
}

/// Appends a factor, as part of the one before where that continues it.
fn push_merged(dim: &mut Vec<Factor>, factor: Factor) {
    match dim.last_mut() {
        Some(last) if last.axis == factor.axis && last.stride == factor.stride * factor.extent => {
            *last = Factor { extent: last.extent * factor.extent, ..factor };
        }
        _ => dim.push(factor),
    }
}

#[cfg(test)]
mod tests {
    use super::Axis::{C, H, N, W};
    use super::*;

    const MAP: Extent = Extent { n: 1, h: 2, w: 3, c: 4 };

    fn nchw() -> View {
        View::of_axes(&[N, C, H, W], MAP)
    }

    #[test]
    fn flattened_columns_lie_in_memory_as_the_layout_rule_says() {
        let flat = nchw().reshaped(&[1, 24]).unwrap();
        let offsets = flat.offsets(1..2, &[H, W, C], MAP);
        for (c, h, w) in (0..4).flat_map(|c| (0..2).flat_map(move |h| (0..3).map(move |w| (c, h, w)))) {
            assert_eq!(offsets[(c * 2 + h) * 3 + w], (h * 3 + w) * 4 + c);
        }
    }

    #[test]
    fn transposing_to_nhwc_makes_the_flattened_order_that_of_memory() {
        let flat = nchw().transposed(&[0, 2, 3, 1]).reshaped(&[1, 24]).unwrap();
        assert_eq!(flat.offsets(1..2, &[H, W, C], MAP), (0..24).collect::<Vec<_>>());
    }

    #[test]
    fn reshaping_back_restores_the_view() {
        let flat = nchw().reshaped(&[1, 24]).unwrap();
        assert_eq!(flat.reshaped(&[1, 4, 2, 3]).unwrap(), nchw());
        assert_eq!(
            nchw().reshaped(&[1, 2, 2, 2, 3]).unwrap().reshaped(&[1, 4, 6]).unwrap(),
            nchw().reshaped(&[1, 4, 6]).unwrap()
        );
    }

    #[test]
    fn a_dimension_that_cuts_a_factor_unevenly_has_no_view() {
        assert_eq!(nchw().reshaped(&[1, 3, 8]), None);
    }

    #[test]
    fn shuffled_channels_still_cover_their_axis() {
        let shuffled = nchw().reshaped(&[1, 2, 2, 2, 3]).unwrap().transposed(&[0, 2, 1, 3, 4]);
        let shuffled = shuffled.reshaped(&[1, 4, 2, 3]).unwrap();
        assert!(shuffled.covers(1, C, MAP) && !shuffled.is_axis(1, C, MAP));
        assert_eq!(shuffled.offsets(1..2, &[C], MAP), [0, 2, 1, 3]);
    }
}
