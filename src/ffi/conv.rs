//! Convolutions
//!
//! One convolution by itself, on floats that follow each other. Elements outside the input count as 0. You choose the size
//! of the output: output row y reads the input rows from y * stride - pad_h on, columns likewise, and the padding at the
//! end is whatever that comes to. Usual is (size + padding at both ends - kernel) / stride + 1.
//!
//! When the tensors do not fit, a line such as `Conv2D shape mismatch` or `Conv2D: the weights are NULL` is printed to C
//! stdout and nothing is written; with NULL as an argument nothing happens at all. Builds without an operating system print
//! nothing.
//!
//! These functions get no memory to work in and use none: no arena, no heap. They are therefore slower than the same layer
//! in a model, which has scratch memory: a depthwise convolution, and a convolution with at most 48 weights for an output
//! channel and at least 16 output pixels, take the plain loops of the reference kernels.

use core::ffi::c_int;

use super::float_kernels;
use super::ops::{Refusal, say};
use super::raw::Span;
use super::tensor::{self, nk_tensor, nk_tensor_t};
use crate::kernels::args::Columns;
use crate::kernels::{Activation, Conv2d, DepthwiseConv2d, Epilogue, KernelPitch};
use crate::tensor::{Window, checked_product};

/// A convolution with a square kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_conv2d {
    /// Rows and columns of the kernel, at least 1.
    pub kernel_size: c_int,
    /// Step between two windows on both axes, at least 1.
    pub stride: c_int,
    /// Rows of zeros above the input, at least 0.
    pub pad_h: c_int,
    /// Columns of zeros to the left of the input, at least 0.
    pub pad_w: c_int,
    /// Rows below the input; NK_PAD_MIRROR for as many as above. The output's height decides, not this.
    pub pad_h_end: c_int,
    /// Columns to the right of the input; NK_PAD_MIRROR for as many as to the left. The output's width decides, not this.
    pub pad_w_end: c_int,
    /// Channels of the input.
    pub in_channels: c_int,
    /// Channels of the output.
    pub out_channels: c_int,
    /// [out_channels, kernel_size, kernel_size, in_channels]; only read.
    pub weights: *mut f32,
    /// out_channels floats, only read; NULL for zeros.
    pub bias: *mut f32,
}

/// A convolution with a square kernel.
pub type nk_conv2d_t = nk_conv2d;

/// A convolution that has a kernel of its own for each channel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_depthwise_conv2d {
    /// Rows of the kernels, at least 1.
    pub kernel_h: c_int,
    /// Columns of the kernels, at least 1.
    pub kernel_w: c_int,
    /// Step between two windows on both axes, at least 1.
    pub stride: c_int,
    /// Rows of zeros above the input, at least 0.
    pub pad_h: c_int,
    /// Columns of zeros to the left of the input, at least 0.
    pub pad_w: c_int,
    /// Rows below the input; NK_PAD_MIRROR for as many as above. The output's height decides, not this.
    pub pad_h_end: c_int,
    /// Columns to the right of the input; NK_PAD_MIRROR for as many as to the left. The output's width decides, not this.
    pub pad_w_end: c_int,
    /// Channels of input and output.
    pub channels: c_int,
    /// [channels, kernel_h, kernel_w]; only read.
    pub weights: *mut f32,
    /// channels floats, only read; NULL for zeros.
    pub bias: *mut f32,
}

/// A convolution that has a kernel of its own for each channel.
pub type nk_depthwise_conv2d_t = nk_depthwise_conv2d;

/// Convolves a map: output[y][x][o] = bias[o] + the sum over ky, kx, i of
/// input[y * stride + ky - pad_h][x * stride + kx - pad_w][i] * weights[o][ky][kx][i]. No activation.
///
/// - conv: the convolution.
/// - input: [height, width, in_channels].
/// - output: [height, width, out_channels] of any height and width; must not overlap input, weights and bias.
///
/// Prints `Conv2D shape mismatch` when rank or channels of a tensor do not fit. Threads: any. Cost: one multiplication for
/// each output element and weight of its channel. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_conv2d_forward(
    conv: *const nk_conv2d_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let (Some(input), Some(output)) = (unsafe { (tensor::get(input), tensor::get(output)) }) else { return };
    if conv.is_null() {
        return;
    }
    // SAFETY: not NULL, and by the conventions a convolution; every field may hold any bits.
    let conv = unsafe { conv.read_unaligned() };
    // SAFETY: by the conventions all values are there.
    say("Conv2D", "Conv2D shape mismatch", unsafe { conv2d(&conv, &input, &output) });
}

/// Convolves each channel of a map with its own kernel: output[y][x][c] = bias[c] + the sum over ky, kx of
/// input[y * stride + ky - pad_h][x * stride + kx - pad_w][c] * weights[c][ky][kx]. No activation.
///
/// - conv: the convolution.
/// - input: [height, width, channels].
/// - output: [height, width, channels] of any height and width; must not overlap input, weights and bias.
///
/// Prints `DepthwiseConv2D shape mismatch` when rank or channels of a tensor do not fit. Threads: any. Cost: one
/// multiplication for each output element and weight of its channel. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_depthwise_conv2d_forward(
    conv: *const nk_depthwise_conv2d_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let (Some(input), Some(output)) = (unsafe { (tensor::get(input), tensor::get(output)) }) else { return };
    if conv.is_null() {
        return;
    }
    // SAFETY: not NULL, and by the conventions a convolution; every field may hold any bits.
    let conv = unsafe { conv.read_unaligned() };
    // SAFETY: by the conventions all values are there.
    say("DepthwiseConv2D", "DepthwiseConv2D shape mismatch", unsafe { depthwise_conv2d(&conv, &input, &output) });
}

/// # Safety
/// All values that the convolution and the tensors describe are there.
unsafe fn conv2d(conv: &nk_conv2d, input: &nk_tensor, output: &nk_tensor) -> Result<(), Refusal> {
    let geometry = Geometry {
        kernel: (conv.kernel_size, conv.kernel_size),
        stride: conv.stride,
        pads: (conv.pad_h, conv.pad_w),
        channels: (conv.in_channels, conv.out_channels),
    };
    let window = geometry.window(input, output)?;
    let weight_elems = [window.out_c, window.kernel_h, window.kernel_w, window.in_c];
    // SAFETY: by this function's contract.
    let Some(buffers) = (unsafe { Buffers::of(&window, input, output, &weight_elems, conv.weights, conv.bias) })?
    else {
        return Ok(());
    };
    let kernels = float_kernels::for_conv2d(&window, !buffers.bias.is_empty())?;
    (kernels.conv2d)(&mut Conv2d {
        window,
        input: buffers.input,
        weights: buffers.weights,
        packed: &[],
        kernel_pitch: KernelPitch::dense(&window),
        epilogue: plain(buffers.bias),
        columns: Columns { pitch: window.out_c as usize, first: 0 },
        scratch: &mut [],
        output: buffers.output,
    });
    Ok(())
}

/// # Safety
/// All values that the convolution and the tensors describe are there.
unsafe fn depthwise_conv2d(conv: &nk_depthwise_conv2d, input: &nk_tensor, output: &nk_tensor) -> Result<(), Refusal> {
    let geometry = Geometry {
        kernel: (conv.kernel_h, conv.kernel_w),
        stride: conv.stride,
        pads: (conv.pad_h, conv.pad_w),
        channels: (conv.channels, conv.channels),
    };
    let window = geometry.window(input, output)?;
    let weight_elems = [window.in_c, window.kernel_h, window.kernel_w];
    // SAFETY: by this function's contract.
    let Some(buffers) = (unsafe { Buffers::of(&window, input, output, &weight_elems, conv.weights, conv.bias) })?
    else {
        return Ok(());
    };
    let kernels = float_kernels::for_depthwise_conv2d(&window, !buffers.bias.is_empty())?;
    (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
        window,
        input: buffers.input,
        weights: buffers.weights,
        epilogue: plain(buffers.bias),
        scratch: &mut [],
        output: buffers.output,
    });
    Ok(())
}

/// Nothing but the bias, of which there may be none.
fn plain(bias: &[f32]) -> Epilogue<'_> {
    Epilogue { bias, norm: None, accumulate: false, activation: Activation::None }
}

/// The numbers of either kind of convolution; pairs are height and width, or input and output.
struct Geometry {
    kernel: (c_int, c_int),
    stride: c_int,
    pads: (c_int, c_int),
    channels: (c_int, c_int),
}

impl Geometry {
    /// The window that moves over the input, once the tensors are seen to fit.
    fn window(&self, input: &nk_tensor, output: &nk_tensor) -> Result<Window, Refusal> {
        let ([in_h, in_w, in_c, _], [out_h, out_w, out_c, _]) = (input.shape, output.shape);
        let has_channels = |tensor: u32, conv: c_int| u32::try_from(conv) == Ok(tensor) && tensor > 0;
        if input.rank != 3
            || output.rank != 3
            || !has_channels(in_c, self.channels.0)
            || !has_channels(out_c, self.channels.1)
        {
            return Err(Refusal::Shape);
        }
        let at_least = |least: u32, value: c_int, what: &'static str| {
            u32::try_from(value).ok().filter(|&value| value >= least).ok_or(Refusal::Tensor(what))
        };
        let window = Window {
            in_h,
            in_w,
            in_c,
            out_h,
            out_w,
            out_c,
            kernel_h: at_least(1, self.kernel.0, "the kernel has no rows")?,
            kernel_w: at_least(1, self.kernel.1, "the kernel has no columns")?,
            stride: at_least(1, self.stride, "the stride is less than 1")?,
            pad_top: at_least(0, self.pads.0, "the padding above is negative")?,
            pad_left: at_least(0, self.pads.1, "the padding to the left is negative")?,
        };
        // Whatever a kernel multiplies these with stays in 32 bits.
        let is_small = checked_product(&[window.stride, in_w, in_c]).is_some()
            && checked_product(&[window.stride, out_h]).is_some()
            && checked_product(&[window.stride, out_w]).is_some()
            && checked_product(&[window.pad_top]).is_some()
            && checked_product(&[window.pad_left]).is_some()
            && checked_product(&[window.in_h, in_w, in_c]).is_some();
        if is_small { Ok(window) } else { Err(TOO_LARGE) }
    }
}

const TOO_LARGE: Refusal = Refusal::Tensor("the convolution is too large");

/// What a kernel reads and writes.
struct Buffers<'a> {
    input: &'a [f32],
    weights: &'a [f32],
    /// Empty when there is none.
    bias: &'a [f32],
    output: &'a mut [f32],
}

impl<'a> Buffers<'a> {
    /// The buffers of a convolution, once they are seen to be large enough and apart; `None` when the output has no
    /// elements.
    ///
    /// # Safety
    /// The tensors' values, the weights and the bias, if not null, are there.
    unsafe fn of(
        window: &Window,
        input: &nk_tensor,
        output: &nk_tensor,
        weight_elems: &[u32],
        weights: *const f32,
        bias: *const f32,
    ) -> Result<Option<Self>, Refusal> {
        let count = |extents: &[u32]| checked_product(extents).ok_or(TOO_LARGE);
        let input_elems = count(&[window.in_h, window.in_w, window.in_c])?;
        let output_elems = count(&[window.out_h, window.out_w, window.out_c])?;
        let weight_elems = count(weight_elems)?;
        let bias_elems = if bias.is_null() { 0 } else { window.out_c };
        if input.num_elements < input_elems || output.num_elements < output_elems {
            return Err(Refusal::Shape);
        }
        let (from, to) = (input.floats()?.cast_const(), output.floats()?);
        if weights.is_null() {
            return Err(Refusal::Tensor("the weights are NULL"));
        }
        if !weights.is_aligned() || !bias.is_aligned() {
            return Err(Refusal::Tensor("weights or bias lie at an address that is no multiple of 4"));
        }
        let read = [(from, input_elems), (weights, weight_elems), (bias, bias_elems)];
        let written = Span::of(to, output_elems as usize);
        if read.iter().any(|&(start, elems)| written.overlaps(Span::of(start, elems as usize))) {
            return Err(Refusal::Tensor("the output overlaps the input, the weights or the bias"));
        }
        if output_elems == 0 {
            return Ok(None);
        }
        // SAFETY: by this function's contract the values are there; they are not null, aligned, and what is written is
        // apart from what is read.
        unsafe {
            let [input, weights] =
                [(from, input_elems), (weights, weight_elems)].map(|(start, elems)| slice(start, elems));
            let bias = if bias.is_null() { &[] } else { slice(bias, bias_elems) };
            let output = core::slice::from_raw_parts_mut(to, output_elems as usize);
            Ok(Some(Self { input, weights, bias, output }))
        }
    }
}

/// # Safety
/// `start` is aligned and points to `elems` floats that outlive the result and do not change meanwhile.
unsafe fn slice<'a>(start: *const f32, elems: u32) -> &'a [f32] {
    // SAFETY: by this function's contract.
    unsafe { core::slice::from_raw_parts(start, elems as usize) }
}

const _: () = {
    use core::mem::offset_of;
    const POINTER: usize = size_of::<usize>();
    assert!(offset_of!(nk_conv2d, out_channels) == 28 && offset_of!(nk_conv2d, weights) == 32);
    assert!(offset_of!(nk_conv2d, bias) == 32 + POINTER && size_of::<nk_conv2d>() == 32 + 2 * POINTER);
    assert!(offset_of!(nk_depthwise_conv2d, channels) == 28 && offset_of!(nk_depthwise_conv2d, weights) == 32);
    assert!(offset_of!(nk_depthwise_conv2d, bias) == 32 + POINTER);
    assert!(size_of::<nk_depthwise_conv2d>() == 32 + 2 * POINTER);
};
