//! Depthwise convolution with multiplier 1: every channel has its own kernel.

use super::{epilogue_activation, lower_softmax, require_channels};
use crate::fault::{Fault, text};
use crate::format::records::DepthwiseConv2d;
use crate::plan::lowering::{Lowering, Weighted};
use crate::plan::steps::Op;
use crate::tensor::{Shape, Window};

/// `[h, w, c]` to `[out_h, out_w, c]`. `weight_elems` tells the kernel's width, see
/// [`DepthwiseConv2d::kernel_and_pads`].
pub fn output_shape(record: &DepthwiseConv2d, input: Shape, weight_elems: u32) -> Result<Shape, Fault> {
    window(record, input, weight_elems).map(|window| window.output())
}

fn window(record: &DepthwiseConv2d, input: Shape, weight_elems: u32) -> Result<Window, Fault> {
    require_channels(text!(Layer: expected, field "channels"), record.channels, input)?;
    let area = weight_elems.checked_div(record.channels).unwrap_or_default();
    let geometry = record.kernel_and_pads(area).filter(|_| weight_elems.is_multiple_of(record.channels));
    let Some((kernel, pads)) = geometry else {
        let text = text!(Weights: found, field "elements of the weight tensor", note "must be channels x kernel_h x kernel width");
        return Err(text.told(weight_elems as usize, 0));
    };
    Window::new(input, kernel, record.stride, pads, record.channels)
}

/// Tensors: weights `[c, kernel_h, kernel_w]`, bias `[c]`; then those of a directly following batch norm. A directly
/// following max pool may be part of the step.
#[inline(never)]
pub fn lower(record: &DepthwiseConv2d, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    let window = window(record, shape, l.next_weight_elems()?)?;
    let tensors = l.take(&[record.channels, window.kernel_h, window.kernel_w], record.channels)?;
    let mut step = Weighted {
        norm: l.take_following_norm(record.activation, record.channels)?,
        activation: epilogue_activation(record.activation, record.alpha),
        ..Weighted::new(window, tensors)
    };
    let result = l.merge_following_pool(Op::DepthwiseConv2d, &mut step)?;
    let output = l.destination(result, input)?;
    l.depthwise_conv2d(step, input, output)?;
    l.release(input);
    l.set_result(output, result);
    lower_softmax(record.activation, l)
}
