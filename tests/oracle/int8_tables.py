"""Activations that an int8 layer computes by a table of 256 entries.

A descriptor asks for the table by stating the activation's output scale and
zero point in its bias scale and bias zero point.  Any other bias parameters
leave the activation out.
"""

import numpy as np

from . import records as r
from . import stable
from .int8_ops import INT8_MAX, INT8_MIN, real

SIGMOID_OUTPUT = 1.0 / 256.0, -128
TANH_OUTPUT = 1.0 / 128.0, 0
ACTIVATIONS = (r.SIGMOID, r.TANH, r.LEAKY_RELU)


def output(activation, quant):
    """(scale, zero point) that a table of this activation writes; None without a table."""
    fixed = {r.SIGMOID: SIGMOID_OUTPUT, r.TANH: TANH_OUTPUT, r.LEAKY_RELU: quant.output}
    return fixed.get(activation)


def requested(activation, quant):
    """True when the descriptor asks for the table."""
    wanted = output(activation, quant)
    return wanted is not None and (real(quant.bias_scale), quant.bias_zero) == (real(wanted[0]), wanted[1])


def _real_values(activation, alpha, x):
    if activation == r.SIGMOID:
        return stable.sigmoid(x)
    if activation == r.TANH:
        return stable.tanh(x)
    return np.where(x < 0, x * real(alpha), x)


def table(activation, alpha, before, after):
    """The int8 results for -128 to 127; `before` and `after` are (scale, zero point)."""
    x = real(before[0]) * (np.arange(INT8_MIN, INT8_MAX + 1) - before[1])
    steps = _real_values(activation, alpha, x) / real(after[0])
    whole = np.copysign(np.floor(np.abs(steps) + 0.5), steps) + after[1]
    return np.clip(whole, INT8_MIN, INT8_MAX).astype(np.int64)


def apply(y, layer, quant):
    """The layer's activation on its int8 result."""
    after = output(layer.activation, quant)
    return table(layer.activation, layer.alpha, quant.output, after)[y - INT8_MIN]
