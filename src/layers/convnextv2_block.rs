//! ConvNeXt V2 block: depthwise 7x7, layer norm, expansion by 4 with GELU, global response normalisation, projection, and
//! the input added (Woo et al., "ConvNeXt V2", 2023; no layer scale).

use super::dense::rows_window;
use super::layernorm2d::require_eps;
use super::{require_channels, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::ChannelsEps;
use crate::kernels::Activation;
use crate::plan::lowering::{Lowering, Weighted};
use crate::plan::steps::Op;
use crate::tensor::{Padding, Shape, Window};

/// Pairs of weight and bias tensors of a block.
pub const TENSOR_PAIRS: u32 = 5;

const KERNEL: u32 = 7;
const EXPANSION: u32 = 4;

/// The shape stays.
pub fn output_shape(record: &ChannelsEps, input: Shape) -> Result<Shape, Fault> {
    require_positive(text!(Layer: at_least, field "channels"), record.channels)?;
    require_channels(text!(Layer: expected, field "channels"), record.channels, input)?;
    require_eps(record.eps)?;
    Ok(input)
}

/// Tensors: depthwise `[c, 7, 7]` + `[c]`; layer norm gamma and beta `[c]`; expansion `[4c, c]` + `[4c]`; GRN gamma and
/// beta `[4c]`; projection `[c, 4c]` + `[c]`.
#[inline(never)]
pub fn lower(record: &ChannelsEps, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    output_shape(record, shape)?;
    l.require_float(text!(Unsupported, note "int8 has no form of a ConvNeXt V2 block; keep this model in float"))?;
    let channels = record.channels;
    let wide = channels
        .checked_mul(EXPANSION)
        .ok_or(text!(SizeOverflow: found, field "channels").told(channels as usize, 0))?;
    let wide_shape = Shape { c: wide, ..shape };
    wide_shape.elements()?;

    let window = Window::new(shape, (KERNEL, KERNEL), 1, Padding::same(KERNEL / 2), channels)?;
    let tensors = l.take(&[channels, KERNEL, KERNEL], channels)?;
    let mixed = l.temporary(shape, input)?;
    l.depthwise_conv2d(Weighted::new(window, tensors), input, mixed)?;

    let tensors = l.take(&[channels], channels)?;
    l.normalise(Op::LayerNorm2d, shape, tensors, record.eps, mixed)?;

    let pixels = shape.h * shape.w;
    let tensors = l.take(&[wide, channels], wide)?;
    let expand =
        Weighted { activation: Activation::Gelu, ..Weighted::new(rows_window(pixels, channels, wide), tensors) };
    let expanded = l.temporary(wide_shape, mixed)?;
    l.dense(expand, mixed, expanded)?;
    l.release(mixed);

    let tensors = l.take(&[wide], wide)?;
    l.normalise(Op::Grn, wide_shape, tensors, record.eps, expanded)?;

    let tensors = l.take(&[channels, wide], channels)?;
    let project = Weighted::new(rows_window(pixels, wide, channels), tensors);
    let output = l.into_mutable(input, shape)?;
    l.dense(Weighted { accumulate: true, ..project }, expanded, output)?;
    l.release(expanded);
    l.set_result(output, shape);
    Ok(())
}
