//! Convolutions with different strides on the two axes.
//!
//! Strides `[2, 1]` are stride 2 with two filters for each one of the model, of which the second starts one column further
//! right. Memory `[row][column / 2][column % 2][filter]` is that of `[row][column][filter]`, so the result is what the model
//! states, for everything that does not need neighbours: activations, a flatten, the output.

use super::call::Call;
use super::conv::Filters;
use super::window::Frame;
use super::{Operand, Trouble};
use crate::lower::ir::{Conv, Extent, Kind, Window};
use crate::lower::view::Axis;

/// Geometry of a convolution in phases.
pub struct Phases {
    /// Phases of rows and columns.
    pub counts: (usize, usize),
    /// Strides of rows and columns.
    pub strides: (usize, usize),
    /// The window of one phase, with the stride of all.
    pub window: Window,
    /// Extent of one phase.
    pub extent: Extent,
}

/// The convolution; `None` where phases do not divide the result, or must not be used.
pub fn conv(
    call: &mut Call<'_, '_>,
    x: &Operand,
    frame: &Frame,
    filters: &Filters<'_>,
) -> Option<Result<Operand, Trouble>> {
    if !call.importer.allows_phases || x.view.rank() != 4 {
        return None;
    }
    let phases = frame.phases(x.extent, filters.bias.len())?;
    call.importer.uses_phases = true;
    let conv = phases.spread(&filters.full(phases.window));
    let count = filters.bias.len();
    let (rows, columns) = phases.counts;
    let extent = Extent { c: rows * columns * count, ..phases.extent };
    let view = x
        .view
        .with_factors(1, &[(Axis::C, count, 1)])
        .with_factors(2, &[(Axis::H, extent.h, 1), (Axis::C, rows, columns * count)])
        .with_factors(3, &[(Axis::W, extent.w, 1), (Axis::C, columns, count)]);
    let rewrite = "different strides as one stride with more filters";
    Some(Ok(call.push_rewritten(Kind::Conv(conv), &[x], (extent, view), rewrite)))
}

impl Phases {
    /// The filters of all phases, each moved by its strides inside of a larger kernel.
    fn spread(&self, conv: &Conv) -> Conv {
        let (rows, columns) = self.window.kernel;
        let ((down, right), (row_phases, column_phases)) = (self.strides, self.counts);
        let kernel = (rows + (row_phases - 1) * down, columns + (column_phases - 1) * right);
        let window = Window { kernel, ..self.window };
        let line = columns * conv.channels();
        let size = window.area() * conv.channels();
        let mut weights = Vec::with_capacity(size * conv.bias.len() * row_phases * column_phases);
        for phase in 0..row_phases * column_phases {
            let (top, left) = (phase / column_phases * down, phase % column_phases * right);
            for filter in conv.weights.chunks_exact(rows * line) {
                let start = weights.len();
                weights.resize(start + size, 0.0);
                for (y, taps) in filter.chunks_exact(line).enumerate() {
                    let at = start + ((y + top) * kernel.1 + left) * conv.channels();
                    weights[at..at + line].copy_from_slice(taps);
                }
            }
        }
        Conv { window, weights, bias: conv.bias.repeat(row_phases * column_phases), ..conv.clone() }
    }
}
