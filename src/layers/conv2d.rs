//! Convolution with zero padding and an activation.

use super::{epilogue_activation, lower_softmax, require_map, require_positive};
use crate::error::Error;
use crate::format::records::Conv2d;
use crate::plan::lowering::{Lowering, Weighted};
use crate::plan::steps::Op;
use crate::tensor::{Shape, Window};

/// `[h, w, c]` to `[out_h, out_w, filters]`.
pub fn output_shape(record: &Conv2d, input: Shape, weights: [u32; 4]) -> Result<Shape, Error> {
    window(record, input, kernel_width(record, input, weights)).map(|window| window.output())
}

fn window(record: &Conv2d, input: Shape, kernel_w: u32) -> Result<Window, Error> {
    require_map(input)?;
    require_positive("filters", record.filters)?;
    Window::new(input, (record.kernel_size, kernel_w), record.stride, record.pads(), record.filters)
}

/// Columns of the kernel: as many as rows, unless the tensor is that of another kernel with as many rows.
fn kernel_width(record: &Conv2d, input: Shape, dims: [u32; 4]) -> u32 {
    let [filters, rows, columns, channels] = dims;
    let fits = (filters, rows, channels) == (record.filters, record.kernel_size, input.c);
    if fits { columns } else { record.kernel_size }
}

/// Tensors: weights `[filters, k, k, c]`, or `[filters, k, w, c]` of a rectangular kernel (`docs/nk-format.md`), bias `[filters]`; then those of a directly following batch norm. A directly
/// following max pool may be part of the step.
pub fn lower(record: &Conv2d, l: &mut Lowering<'_, '_>) -> Result<(), Error> {
    let (input, shape) = (l.value, l.shape);
    let window = window(record, shape, kernel_width(record, shape, l.next_weight_dims()?))?;
    let tensors = l.take(&[record.filters, window.kernel_h, window.kernel_w, shape.c], record.filters)?;
    let mut step = Weighted {
        norm: l.take_following_norm(record.activation, record.filters)?,
        activation: epilogue_activation(record.activation, record.alpha),
        ..Weighted::new(window, tensors)
    };
    let result = l.merge_following_pool(Op::Conv2d, &mut step)?;
    let output = l.destination(result, input)?;
    l.conv2d(step, input, output)?;
    l.release(input);
    l.set_result(output, result);
    lower_softmax(record.activation, l)
}
