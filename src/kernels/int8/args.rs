//! What the int8 kernels take. All maps are NHWC without a batch; all weights keep the order of the `.nk` file.

use super::baseline;
use crate::kernels::{Filters, KernelPitch};
use crate::tensor::Window;

/// From accumulators to int8 outputs. For output channel `c`, with `acc` the sum of
/// `(input - input_zero_point) * (weight - weight_zero_point)`:
///
/// `out = clamp(multiply_by_quantized_multiplier(acc + bias[c], multipliers[c], shifts[c]) + output_zero_point, min, max)`
///
/// The sum including the bias fits an i32 (checked when the model is loaded); the zero point is added without overflow
/// being possible, because the rounded product is below 2^31 - 256 or saturates in the clamp: add in i32 with saturation.
#[derive(Clone, Copy, Debug)]
pub struct Requantize<'a> {
    /// One per output channel; its length is the number of output channels.
    pub bias: &'a [i32],
    /// Q31 multipliers, one per output channel.
    pub multipliers: &'a [i32],
    /// Exponents, -31 to 30, one per output channel: positive shifts left before, negative right after the product.
    pub shifts: &'a [i8],
    /// Subtracted from every input; padding therefore contributes 0.
    pub input_zero_point: i32,
    /// Subtracted from every weight; 0 except in dense layers.
    pub weight_zero_point: i32,
    /// Added to the rounded product.
    pub output_zero_point: i32,
    /// Least output.
    pub min: i8,
    /// Largest output.
    pub max: i8,
}

impl Requantize<'_> {
    /// Whether negative products all become the least code, as behind a ReLU, and the codes are those of saturation: then
    /// nobody sees how halves of negative products are rounded, and clamping is what narrowing does.
    #[allow(dead_code, reason = "for loops with vectors")]
    pub(in crate::kernels) fn is_plain(&self) -> bool {
        (self.output_zero_point, self.min, self.max) == (i32::from(i8::MIN), i8::MIN, i8::MAX)
    }
}

/// Convolution: `acc[y][x][o] = sum over ky, kx, i inside the input of (input[..][..][i] - zp) * weights[o][ky][kx][i]`.
#[derive(Debug)]
pub struct Conv2d<'a> {
    /// Geometry.
    pub window: Window,
    /// `[in_h, in_w, in_c]`
    pub input: &'a [i8],
    /// `[out_c, kernel_h, kernel_w, in_c]`
    pub weights: &'a [i8],
    /// How they lie.
    pub kernel_pitch: KernelPitch,
    /// The same as [`pack`](super::pack) wrote them, or empty.
    pub packed: &'a [i8],
    /// Way to the output.
    pub requantize: Requantize<'a>,
    /// Whether the output is max-pooled: the largest of every 2 x 2 block. Then `conv2d_can_pool`, and height and width
    /// of the window's output are even.
    pub pooled: bool,
    /// `conv2d_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [i16],
    /// `[out_h, out_w, out_c]`, or `[out_h / 2, out_w / 2, out_c]` if pooled.
    pub output: &'a mut [i8],
}

impl<'a> Conv2d<'a> {
    pub(in crate::kernels) const fn filters(&self) -> Filters<'a, i8> {
        Filters::of(&self.window, self.weights, self.kernel_pitch)
    }
}

/// Matrix product: `acc[r][o] = sum over i of (input[r][i] - zp) * (weights[o][i] - wzp)`.
#[derive(Debug)]
pub struct Dense<'a> {
    /// Number of rows (batch, or pixels of a 1x1 convolution).
    pub rows: usize,
    /// `[rows, in_features]`; `in_features = input.len() / rows`.
    pub input: &'a [i8],
    /// `[out_features, in_features]`
    pub weights: &'a [i8],
    /// The same as [`pack`](super::pack) wrote them, or empty.
    pub packed: &'a [i8],
    /// Way to the output; the length of its bias is `out_features`.
    pub requantize: Requantize<'a>,
    /// `dense_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [i16],
    /// `[rows, out_features]`
    pub output: &'a mut [i8],
}

/// Depthwise convolution: `acc[y][x][c] = sum over ky, kx inside the input of (input[..][..][c] - zp) * weights[c][ky][kx]`.
#[derive(Debug)]
pub struct DepthwiseConv2d<'a> {
    /// Geometry; `in_c == out_c`.
    pub window: Window,
    /// `[in_h, in_w, c]`
    pub input: &'a [i8],
    /// `[c, kernel_h, kernel_w]`
    pub weights: &'a [i8],
    /// The same as [`pack_depthwise`](super::pack_depthwise) wrote them, or empty.
    pub packed: &'a [i8],
    /// Way to the output.
    pub requantize: Requantize<'a>,
    /// Whether the output is max-pooled: the largest of every 2 x 2 block. Then `depthwise_conv2d_can_pool`, and height
    /// and width of the window's output are even.
    pub pooled: bool,
    /// `depthwise_conv2d_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [i16],
    /// `[out_h, out_w, c]`, or `[out_h / 2, out_w / 2, c]` if pooled.
    pub output: &'a mut [i8],
}

/// Pooling over the taps that lie inside the input. Scale and zero point stay.
#[derive(Debug)]
pub struct Pool2d<'a> {
    /// Geometry; `in_c == out_c`.
    pub window: Window,
    /// `[in_h, in_w, c]`
    pub input: &'a [i8],
    /// Zero point of the tensor; only average pooling uses it.
    pub zero_point: i32,
    /// `[out_h, out_w, c]`
    pub output: &'a mut [i8],
}

/// Residual addition after TensorFlow Lite: both terms are shifted left by 20 bits and scaled to twice the larger scale,
/// added, and scaled to the output:
///
/// `t(q, term) = multiply_by_quantized_multiplier((q - term.zero_point) << 20, term.multiplier, term.shift)`
///
/// `data[i] = clamp(mbqm(t(data[i], own) + t(other[i], other_term), output) + output.zero_point, min, max)`
#[derive(Debug)]
pub struct Add<'a> {
    /// First term, overwritten with the sum.
    pub data: &'a mut [i8],
    /// Second term.
    pub other: &'a [i8],
    /// How `data` is scaled.
    pub own: Term,
    /// How `other` is scaled.
    pub other_term: Term,
    /// How the sum is scaled.
    pub output: Term,
    /// Least output.
    pub min: i8,
    /// Largest output.
    pub max: i8,
}

/// Scale of one term of an addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// Q31 multiplier.
    pub multiplier: i32,
    /// Exponent, see [`Requantize::shifts`].
    pub shift: i8,
    /// Zero point of the tensor.
    pub zero_point: i32,
}

/// Softmax after TensorFlow Lite's fixed-point algorithm, bit-exact.
#[derive(Debug)]
pub struct Softmax<'a> {
    /// Rows of `row_elems` logits, overwritten with probabilities (scale 1/256, zero point -128).
    pub data: &'a mut [i8],
    /// Elements of one row.
    pub row_elems: usize,
    /// Q31 multiplier of the logits' differences (input scale times 2^26).
    pub multiplier: i32,
    /// Its exponent.
    pub shift: i8,
    /// Differences from the row's maximum below this count as probability 0.
    pub diff_min: i32,
}

/// Scratch that every level's `conv2d` needs for this geometry, in i16 elements.
pub fn conv2d_scratch_elems(window: &Window, pooled: bool) -> u32 {
    baseline::conv2d::scratch_elems(window, pooled)
}

/// Whether every level's `conv2d` can pool an output of this geometry.
pub fn conv2d_can_pool(window: &Window) -> bool {
    baseline::conv2d::can_pool(window)
}

/// Whether every level's `depthwise_conv2d` can pool an output of this geometry.
pub fn depthwise_conv2d_can_pool(window: &Window) -> bool {
    baseline::depthwise_conv2d::can_pool(window)
}

/// Scratch that every level's `dense` needs, in i16 elements.
pub fn dense_scratch_elems(rows: u32, in_features: u32, out_features: u32) -> u32 {
    baseline::dense::scratch_elems(rows, in_features, out_features)
}

/// Scratch that every level's `depthwise_conv2d` needs for this geometry, in i16 elements.
pub fn depthwise_conv2d_scratch_elems(window: &Window) -> u32 {
    baseline::depthwise_conv2d::scratch_elems(window)
}
