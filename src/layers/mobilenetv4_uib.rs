//! Universal inverted bottleneck of MobileNetV4 (Qin et al., 2024): optional depthwise convolution, expansion, optional
//! depthwise convolution, projection; batch norm behind each, ReLU behind the expansion and what follows it; the input is
//! added when stride and channels allow.

use super::{require_channels, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::MobilenetV4Uib;
use crate::kernels::Activation;
use crate::plan::lowering::{Lowering, Residual, Value, Weighted};
use crate::tensor::{Padding, Shape, Window};

/// Expanded channels are a multiple of this.
const DIVISOR: u32 = 8;

/// Geometry of the four convolutions.
struct Windows {
    start: Option<Window>,
    expand: Window,
    middle: Option<Window>,
    project: Window,
}

/// `[h, w, in]` to `[out_h, out_w, out]`.
pub fn output_shape(record: &MobilenetV4Uib, input: Shape) -> Result<Shape, Fault> {
    windows(record, input).map(|windows| windows.project.output())
}

/// Number of convolutions, 2 to 4.
pub fn convolutions(record: &MobilenetV4Uib) -> u32 {
    2 + u32::from(record.start_dw_kernel != 0) + u32::from(record.middle_dw_kernel != 0)
}

/// True when the block adds its input.
pub fn has_residual(record: &MobilenetV4Uib) -> bool {
    record.stride == 1 && record.in_channels == record.out_channels
}

/// Channels between expansion and projection: `in * ratio` rounded to a multiple of 8, at least 8, and never more than
/// 10 % below the exact value. Computed in float32, as the models were.
pub fn expanded_channels(record: &MobilenetV4Uib) -> Result<u32, Fault> {
    let exact = record.in_channels as f32 * record.expand_ratio;
    if !(exact > 0.0 && exact < crate::tensor::MAX_ELEMENTS as f32) {
        let text = text!(Layer, field "in_channels x expand_ratio", note "must be above 0 and below 2^29");
        return Err(text.fault());
    }
    let rounded = ((exact + DIVISOR as f32 / 2.0) as u32 / DIVISOR * DIVISOR).max(DIVISOR);
    Ok(if rounded < (0.9 * exact) as u32 { rounded + DIVISOR } else { rounded })
}

/// Strides of the depthwise convolutions before and after the expansion.
pub fn strides(record: &MobilenetV4Uib) -> (u32, u32) {
    let stride = u32::from(record.stride);
    match (record.middle_dw_downsample != 0, record.middle_dw_kernel != 0) {
        (true, true) => (1, stride),
        (true, false) => (stride, stride),
        (false, _) => (stride, 1),
    }
}

fn windows(record: &MobilenetV4Uib, input: Shape) -> Result<Windows, Fault> {
    require_channels(text!(Layer: expected, field "in_channels"), record.in_channels, input)?;
    require_positive(text!(Layer: at_least, field "out_channels"), record.out_channels)?;
    require_positive(text!(Layer: at_least, field "stride"), u32::from(record.stride))?;
    let expanded = expanded_channels(record)?;
    let (start_stride, middle_stride) = strides(record);

    let start = depthwise_window(record.start_dw_kernel, start_stride, input)?;
    let shape = start.map_or(input, |window| window.output());
    let expand = Window::new(shape, (1, 1), 1, Padding::default(), expanded)?;
    let middle = depthwise_window(record.middle_dw_kernel, middle_stride, expand.output())?;
    let shape = middle.map_or(expand.output(), |window| window.output());
    let project = Window::new(shape, (1, 1), 1, Padding::default(), record.out_channels)?;
    if has_residual(record) && (shape.h, shape.w) != (input.h, input.w) {
        let text = text!(Layer, note "an even depthwise kernel shrinks the map, so the input cannot be added");
        return Err(text.fault());
    }
    Ok(Windows { start, expand, middle, project })
}

fn depthwise_window(kernel: u8, stride: u32, input: Shape) -> Result<Option<Window>, Fault> {
    let kernel = u32::from(kernel);
    if kernel == 0 {
        return Ok(None);
    }
    Window::new(input, (kernel, kernel), stride, Padding::same((kernel - 1) / 2), input.c).map(Some)
}

/// Tensors, each followed in float models by the batch norm's scale and shift: start `[in, k, k]`, expand `[e, in]`, middle `[e, k, k]`,
/// project `[out, e]`.
#[inline(never)]
pub fn lower(record: &MobilenetV4Uib, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    let windows = windows(record, shape)?;
    let residual = has_residual(record).then_some(Residual {
        value: input,
        quant: l.quant,
        sum_quant: None,
        activation: Activation::None,
    });
    if residual.is_some() {
        l.retain(input);
    }
    let mut value = input;
    if let Some(window) = windows.start {
        value = depthwise(l, window, Activation::None, value)?;
    }
    let step = Weighted { activation: Activation::Relu, ..pointwise(l, windows.expand)? };
    let expanded = l.temporary(windows.expand.output(), value)?;
    l.conv2d(step, value, expanded)?;
    l.release(value);
    value = expanded;
    if let Some(window) = windows.middle {
        value = depthwise(l, window, Activation::Relu, value)?;
    }
    let step = pointwise(l, windows.project)?;
    if let Some(residual) = residual {
        return l.conv2d_with_residual(step, value, residual);
    }
    let output = l.destination(windows.project.output(), value)?;
    l.conv2d(step, value, output)?;
    l.release(value);
    l.set_result(output, windows.project.output());
    Ok(())
}

/// Takes a 1x1 convolution and its batch norm.
fn pointwise(l: &mut Lowering<'_, '_>, window: Window) -> Result<Weighted, Fault> {
    let tensors = l.take(&[window.out_c, window.in_c], window.out_c)?;
    let norm = l.take_block_norm(window.out_c)?;
    Ok(Weighted { norm, ..Weighted::new(window, tensors) })
}

/// Takes a depthwise convolution and its batch norm, and runs them on `input`, which is released.
fn depthwise(l: &mut Lowering<'_, '_>, window: Window, activation: Activation, input: Value) -> Result<Value, Fault> {
    let tensors = l.take(&[window.in_c, window.kernel_h, window.kernel_w], window.in_c)?;
    let norm = l.take_block_norm(window.in_c)?;
    let output = l.temporary(window.output(), input)?;
    l.depthwise_conv2d(Weighted { norm, activation, ..Weighted::new(window, tensors) }, input, output)?;
    l.release(input);
    Ok(output)
}
