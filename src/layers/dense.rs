//! Fully connected layer: `y = activation(W x + b)` for each row.

use super::{epilogue_activation, lower_softmax, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::Dense;
use crate::plan::lowering::{Lowering, Weighted};
use crate::tensor::{Shape, Window};

/// `[rows, features]` to `[rows, units]`.
pub fn output_shape(record: &Dense, input: Shape) -> Result<Shape, Fault> {
    require_positive(text!(Layer: at_least, field "units"), record.units)?;
    if !input.is_rows {
        return Err(text!(Layer, note "a dense layer needs flat input: put a flatten layer before it").fault());
    }
    Ok(Shape::rows(input.h, record.units))
}

/// Tensors: weights `[units, features]`, bias `[units]`.
#[inline(never)]
pub fn lower(record: &Dense, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    let output_shape = output_shape(record, shape)?;
    let tensors = l.take(&[record.units, shape.c], record.units)?;
    let step = Weighted {
        activation: epilogue_activation(record.activation, record.alpha),
        ..Weighted::new(rows_window(shape.h, shape.c, record.units), tensors)
    };
    let output = l.destination(output_shape, input)?;
    l.dense(step, input, output)?;
    l.release(input);
    l.set_result(output, output_shape);
    lower_softmax(record.activation, l)
}

/// Geometry of `rows` rows times a `[out, in]` matrix.
pub(super) fn rows_window(rows: u32, in_c: u32, out_c: u32) -> Window {
    Window {
        in_h: rows,
        in_w: 1,
        in_c,
        out_h: rows,
        out_w: 1,
        out_c,
        kernel_h: 1,
        kernel_w: 1,
        stride: 1,
        ..Window::default()
    }
}
