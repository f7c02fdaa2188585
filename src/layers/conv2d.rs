//! Convolution with zero padding and an activation.

use super::{epilogue_activation, lower_softmax, require_map, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::Conv2d;
use crate::plan::lowering::{Lowering, Weighted};
use crate::plan::steps::Op;
use crate::tensor::{Shape, Window};

/// `[h, w, c]` to `[out_h, out_w, filters]`.
pub fn output_shape(record: &Conv2d, input: Shape) -> Result<Shape, Fault> {
    window(record, input).map(|window| window.output())
}

fn window(record: &Conv2d, input: Shape) -> Result<Window, Fault> {
    require_map(input)?;
    require_positive(text!(Layer: at_least, field "filters"), record.filters)?;
    let kernel = (record.kernel_size, record.kernel_size);
    Window::new(input, kernel, record.stride, record.pads(), record.filters)
}

/// Tensors: weights `[filters, k, k, c]`, bias `[filters]`; then those of a directly following batch norm. A directly following
/// max pool may be part of the step.
#[inline(never)]
pub fn lower(record: &Conv2d, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    let window = window(record, shape)?;
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
