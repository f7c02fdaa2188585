"""Integer operators of quantised networks, bit for bit as TensorFlow Lite Micro.

Values are int64 arrays holding int8 or int32 numbers; wherever 32-bit
arithmetic would wrap, `wrap32` does the same.
"""

import math

import numpy as np

from . import records as r
from .float_ops import taps

INT8_MIN, INT8_MAX = -128, 127
INT32_MAX = (1 << 31) - 1
SOFTMAX_SCALE, SOFTMAX_ZERO = 1.0 / 256.0, -128


def real(scale):
    """A stored f32 scale as a Python float."""
    return float(np.float32(scale))


def wrap32(values):
    """Two's complement int32 wrap-around."""
    return (np.asarray(values, dtype=np.int64) + (1 << 31)) % (1 << 32) - (1 << 31)


def round_away(value):
    """Nearest integer, halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def multiplier(value):
    """A positive real as (Q31 mantissa, exponent)."""
    if not value > 0.0:
        return 0, 0
    mantissa, exponent = math.frexp(value)
    quantised = round_away(mantissa * (1 << 31))
    if quantised == 1 << 31:
        quantised, exponent = quantised >> 1, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        return INT32_MAX, 30
    return quantised, exponent


def high_mul(a, b):
    """Rounded, saturating high half of 2ab."""
    a, b = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    return np.minimum((a * b + (1 << 30)) >> 31, INT32_MAX)


def shift_round(x, exponent):
    """Divide by 2**exponent, halves away from zero."""
    exponent = np.asarray(exponent, dtype=np.int64)
    mask = (np.int64(1) << exponent) - 1
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def scale_by(x, mantissa, exponent):
    """x times a quantised multiplier (arrays broadcast over the last axis)."""
    exponent = np.asarray(exponent, dtype=np.int64)
    left, right = np.maximum(exponent, 0), np.maximum(-exponent, 0)
    raised = wrap32(np.asarray(x, dtype=np.int64) << left)
    return shift_round(high_mul(raised, mantissa), right)


def clamp_range(activation, scale, zero):
    """Output limits; activations other than relu and relu6 do not clamp."""
    low = min(max(zero, INT8_MIN), INT8_MAX)
    if activation == r.RELU:
        return low, INT8_MAX
    if activation == r.RELU6:
        return low, min(max(round_away(6.0 / real(scale)) + zero, low), INT8_MAX)
    return INT8_MIN, INT8_MAX


def requantise(total, quant, activation):
    """int32 totals (..., channels) to int8 with the layer's parameters."""
    channels = total.shape[-1]
    scales = quant.channel_scales
    if scales is None:
        scales = [quant.weight_scale] * channels
    pairs = [multiplier(real(quant.in_scale) * real(s) / real(quant.out_scale)) for s in scales]
    mantissas, exponents = np.array(pairs, dtype=np.int64).T
    scaled = scale_by(wrap32(total), mantissas, exponents) + quant.out_zero
    low, high = clamp_range(activation, quant.out_scale, quant.out_zero)
    return np.clip(scaled, low, high)


def fully_connected(x, weight, bias, quant, activation):
    """x is (..., in); weight (out, in)."""
    centred = x - quant.in_zero
    matrix = weight.reshape(bias.size, -1).astype(np.int64) - quant.weight_zero
    total = np.einsum("...i,oi->...o", centred, matrix) + bias.astype(np.int64)
    return requantise(total, quant, activation)


def conv2d(x, weight, bias, quant, window, activation):
    """Padding counts as the input's zero point, so it adds nothing."""
    kernel = weight.astype(np.int64).reshape(bias.size, window.height, window.width, x.shape[2])
    total = bias.astype(np.int64)
    for i, j, values in taps(x - quant.in_zero, window, 0):
        total = total + np.einsum("abi,oi->abo", values, kernel[:, i, j, :])
    return requantise(total, quant, activation)


def depthwise(x, weight, bias, quant, window, activation):
    kernel = weight.astype(np.int64).reshape(x.shape[2], window.height, window.width)
    total = bias.astype(np.int64)
    for i, j, values in taps(x - quant.in_zero, window, 0):
        total = total + values * kernel[:, i, j]
    return requantise(total, quant, activation)


def max_pool(x, window):
    """Largest value inside the map; 0 for a window of nothing but padding."""
    outside, best = INT8_MIN - 1, np.int64(INT8_MIN - 1)
    for _, _, values in taps(x, window, outside):
        best = np.maximum(best, values)
    return np.where(best == outside, 0, best)


def avg_pool(x, window, zero):
    """Rounded mean of the values inside the map, relative to the zero point."""
    total, count = np.int64(0), np.int64(0)
    for _, _, values in taps(x - zero, window, 0):
        total = total + values
    for _, _, values in taps(np.ones((*x.shape[:2], 1), dtype=np.int64), window, 0):
        count = count + values
    size = (np.abs(total) + count // 2) // np.maximum(count, 1)
    return np.clip(np.copysign(size, total).astype(np.int64) + zero, INT8_MIN, INT8_MAX)


def add(a, a_quant, b, b_quant, out_quant, activation=r.NONE):
    """Residual addition with a clamp; each *_quant is (scale, zero point)."""
    twice = 2.0 * max(real(a_quant[0]), real(b_quant[0]))
    parts = []
    for values, (scale, zero) in ((a, a_quant), (b, b_quant)):
        parts.append(scale_by((values - zero) << 20, *multiplier(real(scale) / twice)))
    result = multiplier(twice / (float(1 << 20) * real(out_quant[0])))
    total = scale_by(wrap32(parts[0] + parts[1]), *result) + out_quant[1]
    return np.clip(total, *clamp_range(activation, *out_quant))
