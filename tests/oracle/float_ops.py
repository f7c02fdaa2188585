"""Float operators: f64 inside, f32 at their ends.  Maps are (H, W, C)."""

import numpy as np

from . import records as r
from . import stable

F32 = np.float32
F64 = np.float64
LOWEST = float(np.finfo(F32).min)
_GELU_FACTOR = 0.7978845608


def relu(x):
    return np.where(x > 0, x, F32(0))


def silu(x):
    wide = x.astype(F64)
    return (wide * stable.sigmoid(wide)).astype(F32)


def gelu(x):
    """The tanh form."""
    wide = x.astype(F64)
    inner = _GELU_FACTOR * (wide + 0.044715 * (wide * wide * wide))
    return (0.5 * wide * (1.0 + stable.tanh(inner))).astype(F32)


def softmax(x):
    """Over the whole tensor."""
    wide = x.astype(F64).reshape(-1)
    powers = stable.exp(wide - wide.max())
    return (powers / stable.ordered_sum(powers, 0)).astype(F32).reshape(x.shape)


def activate(x, activation, alpha):
    """Apply an activation code of a dense or convolution record."""
    if activation == r.RELU:
        return relu(x)
    if activation == r.SIGMOID:
        return stable.sigmoid(x).astype(F32)
    if activation == r.TANH:
        return stable.tanh(x).astype(F32)
    if activation == r.LEAKY_RELU:
        return np.where(x > 0, x, (F64(F32(alpha)) * x.astype(F64)).astype(F32))
    if activation == r.RELU6:
        return np.clip(x, F32(0), F32(6))
    if activation == r.SOFTMAX:
        return softmax(x)
    return x


def padded(x, window, fill):
    """The map inside its padding, and the output size."""
    size = window.output(x.shape)
    pads = ((window.top, window.bottom), (window.left, window.right), (0, 0))
    return np.pad(x, pads, constant_values=fill), size


def taps(x, window, fill):
    """For every kernel position (i, j): the (out_h, out_w, C) values under it."""
    area, (rows, columns) = padded(x, window, fill)
    step = window.stride
    for i in range(window.height):
        for j in range(window.width):
            yield i, j, area[i:i + (rows - 1) * step + 1:step, j:j + (columns - 1) * step + 1:step]


def matmul(x, weight):
    """x[..., in] times weight[out, in], one input after the other."""
    columns = weight.astype(F64).T
    total = np.zeros((*x.shape[:-1], weight.shape[0]))
    for index, column in enumerate(columns):
        total += x[..., index, None] * column
    return total


def fully_connected(x, weight, bias):
    return (matmul(x.astype(F64), weight) + bias.astype(F64)).astype(F32)


def conv2d(x, weight, bias, window):
    """Cross-correlation with zero padding; weight is (out, K, K, in)."""
    kernel = weight.reshape(bias.size, window.height, window.width, x.shape[2])
    total = 0.0
    for i, j, values in taps(x.astype(F64), window, 0.0):
        total = total + matmul(values, kernel[:, i, j, :])
    return (total + bias.astype(F64)).astype(F32)


def depthwise(x, weight, bias, window):
    """One kernel per channel; weight is (C, kh, kw)."""
    kernel = weight.astype(F64).reshape(x.shape[2], window.height, window.width)
    total = 0.0
    for i, j, values in taps(x.astype(F64), window, 0.0):
        total = total + values * kernel[:, i, j]
    return (total + bias.astype(F64)).astype(F32)


def max_pool(x, window):
    """Padding never wins; a window with nothing but padding gives the lowest float."""
    best = None
    for _, _, values in taps(x, window, F32(LOWEST)):
        best = values if best is None else np.maximum(best, values)
    return best


def avg_pool(x, window):
    """Mean over the positions inside the map; 0 where there is none."""
    total, count = 0.0, 0
    inside = np.ones((*x.shape[:2], 1), dtype=np.int64)
    for _, _, values in taps(x.astype(F64), window, 0.0):
        total = total + values
    for _, _, values in taps(inside, window, 0):
        count = count + values
    return (total / np.maximum(count, 1)).astype(F32)


def scale_shift(x, scale, shift):
    return (x.astype(F64) * scale + shift).astype(F32)


def layer_norm(x, gamma, beta, eps):
    """Per position over the channels."""
    wide, channels = x.astype(F64), x.shape[-1]
    centred = wide - (stable.ordered_sum(wide, -1) / channels)[..., None]
    variance = stable.ordered_sum(centred * centred, -1) / channels
    normal = centred / np.sqrt(variance + float(F32(eps)))[..., None]
    return (normal * gamma + beta).astype(F32)


def response_norm(x, gamma, beta, eps):
    """Global response normalisation of ConvNeXt V2, with its own residual."""
    wide = x.astype(F64)
    squares = stable.ordered_sum(stable.ordered_sum(wide * wide, 0), 0)
    norms = np.sqrt(squares)
    mean = stable.ordered_sum(norms, 0) / norms.size
    return (gamma * (wide * (norms / (mean + float(F32(eps))))) + beta + wide).astype(F32)


def upsample(x):
    """Nearest neighbour, twice the size."""
    return x.repeat(2, axis=0).repeat(2, axis=1)


def add(x, y):
    return (x.astype(F64) + y.astype(F64)).astype(F32)
