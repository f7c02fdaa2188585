//! Basic block of ResNet-18/34 (He et al., 2015): two 3x3 convolutions with batch norm, the input or its projection added,
//! ReLU.

use super::{require_channels, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::ResnetBasicBlock;
use crate::kernels::Activation;
use crate::plan::lowering::{Lowering, Residual, Weighted};
use crate::tensor::{Padding, Shape, Window, checked_product};

/// Geometry of the convolutions; `shortcut` is the projection.
struct Windows {
    first: Window,
    second: Window,
    shortcut: Option<Window>,
}

/// `[h, w, in]` to `[out_h, out_w, out]`.
pub fn output_shape(record: &ResnetBasicBlock, input: Shape) -> Result<Shape, Fault> {
    windows(record, input, KERNEL).map(|windows| windows.second.output())
}

/// Number of convolutions: 2, or 3 with a projection.
pub fn convolutions(record: &ResnetBasicBlock) -> u32 {
    2 + u32::from(has_projection(record))
}

/// True when the shortcut is a 1x1 convolution instead of the input itself.
pub fn has_projection(record: &ResnetBasicBlock) -> bool {
    record.stride != 1 || record.in_channels != record.out_channels
}

/// Rows and columns of a kernel.
const KERNEL: u32 = 3;
/// The same of the first kernel of an int8 block whose padding lies behind the map only: its first row and column are zeros.
const SHIFTED_KERNEL: u32 = 4;

/// `first_kernel` is that of the first convolution; it has no effect on shapes.
fn windows(record: &ResnetBasicBlock, input: Shape, first_kernel: u32) -> Result<Windows, Fault> {
    require_channels(text!(Layer: expected, field "in_channels"), record.in_channels, input)?;
    require_positive(text!(Layer: at_least, field "out_channels"), record.out_channels)?;
    let (stride, channels) = (u32::from(record.stride), record.out_channels);
    let end = first_kernel - 2;
    let pads = Padding { bottom: end, right: end, ..Padding::same(1) };
    let first = Window::new(input, (first_kernel, first_kernel), stride, pads, channels)?;
    let second = Window::new(first.output(), (KERNEL, KERNEL), 1, Padding::same(1), channels)?;
    let shortcut = if has_projection(record) {
        Some(Window::new(input, (1, 1), stride, Padding::default(), channels)?)
    } else {
        None
    };
    Ok(Windows { first, second, shortcut })
}

/// Rows and columns of the kernel of the first convolution, which in an int8 block the elements of its tensor tell.
fn first_kernel(record: &ResnetBasicBlock, elements: u32) -> u32 {
    let shifted = checked_product(&[record.out_channels, SHIFTED_KERNEL, SHIFTED_KERNEL, record.in_channels]);
    if shifted == Some(elements) { SHIFTED_KERNEL } else { KERNEL }
}

/// Tensors, each followed in float models by the batch norm's scale and shift: `[out, 3, 3, in]`, `[out, 3, 3, out]`, and with a
/// projection `[out, 1, 1, in]`.
///
/// In int8 models the first may be `[out, 4, 4, in]`, and the sum has a scale of its own: the descriptor of the second
/// convolution states it in its bias scale and bias zero point, which nothing else uses. `docs/nk-format.md` defines both.
#[inline(never)]
pub fn lower(record: &ResnetBasicBlock, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape, input_quant) = (l.value, l.shape, l.quant);
    // A record that does not fit its input is named before its tensors are looked at.
    output_shape(record, shape)?;
    let kernel = if l.is_quantized() { first_kernel(record, l.next_weight_elems()?) } else { KERNEL };
    let windows = windows(record, shape, kernel)?;
    let first = Weighted { activation: Activation::Relu, ..take(l, windows.first)? };
    let second = take(l, windows.second)?;
    let sum_quant = if l.is_quantized() { Some(l.sum_params(&second)?) } else { None };
    let mut residual = Residual { value: input, quant: input_quant, sum_quant, activation: Activation::Relu };
    if let Some(window) = windows.shortcut {
        let step = take(l, window)?;
        residual.value = l.shortcut(windows.second.output(), input)?;
        l.conv2d(step, input, residual.value)?;
        residual.quant = l.quant;
    }
    let inner = l.temporary(windows.first.output(), input)?;
    l.conv2d(first, input, inner)?;
    if windows.shortcut.is_some() {
        l.release(input);
    }
    l.conv2d_with_residual(second, inner, residual)
}

/// Takes a convolution and its batch norm.
fn take(l: &mut Lowering<'_, '_>, window: Window) -> Result<Weighted, Fault> {
    let tensors = l.take(&[window.out_c, window.kernel_h, window.kernel_w, window.in_c], window.out_c)?;
    let norm = l.take_block_norm(window.out_c)?;
    Ok(Weighted { norm, ..Weighted::new(window, tensors) })
}
