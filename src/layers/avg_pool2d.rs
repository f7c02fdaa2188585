//! Average pooling; the divisor counts only the taps inside the input.

use super::require_map;
use crate::fault::Fault;
use crate::format::records::Pool2d;
use crate::plan::lowering::Lowering;
use crate::plan::steps::Op;
use crate::tensor::{Shape, Window};

/// `[h, w, c]` to `[out_h, out_w, c]`.
pub fn output_shape(record: &Pool2d, input: Shape) -> Result<Shape, Fault> {
    window(record, input).map(|window| window.output())
}

fn window(record: &Pool2d, input: Shape) -> Result<Window, Fault> {
    require_map(input)?;
    Window::new(input, record.pool(), record.stride, record.pads(), input.c)
}

/// No tensors.
#[inline(never)]
pub fn lower(record: &Pool2d, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let input = l.value;
    let window = window(record, l.shape)?;
    let output = l.destination(window.output(), input)?;
    l.pool2d(Op::AvgPool2d, window, input, output)?;
    l.release(input);
    l.set_result(output, window.output());
    Ok(())
}
