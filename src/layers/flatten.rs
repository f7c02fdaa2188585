//! Flatten: a map becomes one row in its memory order (NHWC); nothing moves.

use crate::fault::Fault;
use crate::plan::lowering::Lowering;
use crate::tensor::Shape;

/// `[h, w, c]` to `[1, h * w * c]`; rows stay as they are.
pub fn output_shape(input: Shape) -> Result<Shape, Fault> {
    if input.is_rows { Ok(input) } else { Ok(Shape::rows(1, input.elements()?)) }
}

/// No tensors and no step.
#[inline(never)]
pub fn lower(l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    l.shape = output_shape(l.shape)?;
    Ok(())
}
