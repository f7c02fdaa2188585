//! What the kernels take. All maps are NHWC without a batch; all weights keep the order of the `.nk` file.

use crate::tensor::Window;

/// Elementwise activation functions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Activation {
    /// `x`
    #[default]
    None,
    /// `x > 0 ? x : 0`; NaN becomes 0.
    Relu,
    /// `1 / (1 + exp(-x))`
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// `x > 0 ? x : alpha * x`
    LeakyRelu(f32),
    /// `min(max(x, 0), 6)`; NaN stays NaN.
    Relu6,
    /// `x * sigmoid(x)`, inside YOLOX blocks.
    Silu,
    /// `0.5 x (1 + tanh(0.7978845608 (x + 0.044715 x^3)))`, inside ConvNeXt V2 blocks.
    Gelu,
}

/// What happens to an accumulator on its way to the output, in this order:
/// `out = activation((acc + bias[c]) * scale[c] + shift[c] + (accumulate ? out : 0))`.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'a> {
    /// One per output channel. The convolutions of the reference level also take none at all, which means 0 for each.
    pub bias: &'a [f32],
    /// Folded batch norm `(scale, shift)`, one each per output channel.
    pub norm: Option<(&'a [f32], &'a [f32])>,
    /// Adds the output's present content (a residual) before the activation.
    pub accumulate: bool,
    /// Applied last.
    pub activation: Activation,
}

/// Where results go inside the output slice: output pixel `p`, channel `c` is written at `p * pitch + first + c`.
/// Elements in between belong to other steps and stay untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Elements from one pixel (row) to the next; at least `first +` the number of channels.
    pub pitch: usize,
    /// Element of channel 0 inside a pixel.
    pub first: usize,
}

/// How the weights of a convolution lie: row `y` of filter `o` begins at element `o * filter + y * row`, and the columns of
/// a row follow each other. There are gaps where the window has a part of the kernel only, because the rest of it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelPitch {
    /// Elements from one filter to the next.
    pub filter: usize,
    /// Elements from one row of a filter to the next.
    pub row: usize,
}

impl KernelPitch {
    /// A kernel without gaps.
    pub const fn dense(window: &Window) -> Self {
        let row = window.kernel_w as usize * window.in_c as usize;
        Self { filter: window.kernel_h as usize * row, row }
    }
}

/// The weights of some filters.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a, T> {
    /// From the first weight of the first filter on.
    pub weights: &'a [T],
    /// Rows of a filter.
    pub rows: usize,
    /// Elements of a row.
    pub row_elems: usize,
    /// How they lie.
    pub pitch: KernelPitch,
}

impl<'a, T> Filters<'a, T> {
    /// The filters that a window moves over its input.
    pub(in crate::kernels) const fn of(window: &Window, weights: &'a [T], pitch: KernelPitch) -> Self {
        let row_elems = window.kernel_w as usize * window.in_c as usize;
        Self { weights, rows: window.kernel_h as usize, row_elems, pitch }
    }

    /// Elements of a filter.
    pub(in crate::kernels) const fn elems(&self) -> usize {
        self.rows * self.row_elems
    }

    /// Elements from the first to the last of a filter, with the gaps between its rows.
    pub(crate) const fn span(&self) -> usize {
        self.rows.saturating_sub(1) * self.pitch.row + self.row_elems
    }

    /// The rows of a filter.
    #[cfg(feature = "int8")]
    pub(in crate::kernels) fn rows_of(&self, filter: usize) -> impl Iterator<Item = &'a [T]> {
        let weights = self.weights.get(filter * self.pitch.filter..).unwrap_or_default();
        let len = self.row_elems;
        weights.chunks(self.pitch.row.max(1)).take(self.rows).map(move |row| row.get(..len).unwrap_or(row))
    }

    /// Whether the rows of a filter follow each other.
    pub(in crate::kernels) const fn are_whole(&self) -> bool {
        self.pitch.row == self.row_elems
    }
}

/// Convolution: `acc[y][x][o] = sum over ky, kx, i of input[y*s+ky-pad][x*s+kx-pad][i] * weights[o][ky][kx][i]`.
#[derive(Debug)]
pub struct Conv2d<'a> {
    /// Geometry.
    pub window: Window,
    /// `[in_h, in_w, in_c]`
    pub input: &'a [f32],
    /// `[out_c, kernel_h, kernel_w, in_c]`
    pub weights: &'a [f32],
    /// How they lie.
    pub kernel_pitch: KernelPitch,
    /// The same with bias and norm as [`pack`](super::pack) wrote them, or empty. Kernels that cannot use them read `weights`.
    pub packed: &'a [f32],
    /// Bias, batch norm, residual, activation.
    pub epilogue: Epilogue<'a>,
    /// Place of the results in `output`.
    pub columns: Columns,
    /// `conv2d_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [f32],
    /// `out_h * out_w` pixels of `columns.pitch` elements.
    pub output: &'a mut [f32],
}

#[cfg(feature = "f32")]
impl<'a> Conv2d<'a> {
    pub(in crate::kernels) const fn filters(&self) -> Filters<'a, f32> {
        Filters::of(&self.window, self.weights, self.kernel_pitch)
    }
}

/// Matrix product: `acc[r][o] = sum over i of input[r][i] * weights[o][i]`.
#[derive(Debug)]
pub struct Dense<'a> {
    /// Number of rows (batch, or pixels of a 1x1 convolution).
    pub rows: usize,
    /// `[rows, in_features]`; `in_features = input.len() / rows`.
    pub input: &'a [f32],
    /// `[out_features, in_features]`
    pub weights: &'a [f32],
    /// The same with bias and norm as [`pack`](super::pack) wrote them, or empty. Kernels that cannot use them read `weights`.
    pub packed: &'a [f32],
    /// Bias (its length is `out_features`), batch norm, residual, activation.
    pub epilogue: Epilogue<'a>,
    /// Place of the results in `output`.
    pub columns: Columns,
    /// `dense_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [f32],
    /// `rows` rows of `columns.pitch` elements.
    pub output: &'a mut [f32],
}

/// Depthwise convolution: `acc[y][x][c] = sum over ky, kx of input[..][..][c] * weights[c][ky][kx]`.
#[derive(Debug)]
pub struct DepthwiseConv2d<'a> {
    /// Geometry; `in_c == out_c`.
    pub window: Window,
    /// `[in_h, in_w, c]`
    pub input: &'a [f32],
    /// `[c, kernel_h, kernel_w]`
    pub weights: &'a [f32],
    /// Bias, batch norm, residual, activation.
    pub epilogue: Epilogue<'a>,
    /// `depthwise_conv2d_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [f32],
    /// `[out_h, out_w, c]`
    pub output: &'a mut [f32],
}

/// Pooling over the taps that lie inside the input.
#[derive(Debug)]
pub struct Pool2d<'a> {
    /// Geometry; `in_c == out_c`.
    pub window: Window,
    /// `[in_h, in_w, c]`
    pub input: &'a [f32],
    /// `[out_h, out_w, c]`
    pub output: &'a mut [f32],
}

/// Global response normalisation: with `n[c] = sqrt(sum over pixels of x^2)` and `m = mean over c of n[c]`,
/// `x = gamma[c] * (x * n[c] / (m + eps)) + beta[c] + x`.
#[derive(Debug)]
pub struct Grn<'a> {
    /// `[pixels, channels]`, read and written.
    pub data: &'a mut [f32],
    /// One per channel; its length is the number of channels.
    pub gamma: &'a [f32],
    /// One per channel.
    pub beta: &'a [f32],
    /// Added to the mean norm.
    pub eps: f32,
    /// `grn_scratch_elems` elements, content undefined before and after.
    pub scratch: &'a mut [f32],
}
