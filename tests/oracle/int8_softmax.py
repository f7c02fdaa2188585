"""Integer softmax of one row, with the fixed-point steps of TensorFlow Lite.

Numbers are Python integers in Qm.n formats: exponentials are Q0.31, the sum of
exponentials Q12.19, its reciprocal Q0.31.
"""

import math

import numpy as np

from .int8_ops import INT32_MAX, INT8_MAX, INT8_MIN, multiplier, real

_INPUT_BITS = 5       # integer bits of the scaled difference to the maximum
_SUM_BITS = 12        # integer bits of the sum of exponentials
_EXP_EIGHTH = 1895147668          # exp(-1/8) in Q0.31
_THIRD = 715827883                # 1/3 in Q0.31
# exp(-2**k) for k = -2..4 in Q0.31
_EXP_POWERS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_C48_17, _C32_17 = 1515870810, 1010580540     # 48/17 and 32/17 in Q2.29


def _high_mul(a, b):
    return min((a * b + (1 << 30)) >> 31, INT32_MAX)


def _shift_round(x, exponent):
    """Divide by 2**exponent, halves away from zero."""
    half = 1 << exponent - 1
    return (x + half) >> exponent if x >= 0 else -((-x + half) >> exponent)


def _shift_left(x, exponent):
    """Multiply by 2**exponent, saturating."""
    return min(max(x << exponent, -INT32_MAX - 1), INT32_MAX)


def _exp_negative(value):
    """exp of a Q5.26 number <= 0, in Q0.31."""
    if value == 0:
        return INT32_MAX
    quarter = 1 << 24
    reduced = (value & (quarter - 1)) - quarter       # in [-1/4, 0)
    x = (reduced << 5) + (1 << 28)                    # around -1/8, Q0.31
    x2 = _high_mul(x, x)
    x3, x4 = _high_mul(x2, x), _high_mul(x2, x2)
    tail = _shift_round(_high_mul(_shift_round(x4, 2) + x3, _THIRD) + x2, 1)
    result = _EXP_EIGHTH + _high_mul(_EXP_EIGHTH, x + tail)
    remainder = reduced - value
    for bit, factor in enumerate(_EXP_POWERS):
        if remainder >> (24 + bit) & 1:
            result = _high_mul(result, factor)
    return result


def _reciprocal(x):
    """1 / (1 + x) for x in [0, 1), Q0.31, by three Newton steps."""
    half = (x + INT32_MAX + 1) // 2
    estimate = _C48_17 + _high_mul(half, -_C32_17)
    for _ in range(3):
        correction = (1 << 29) - _high_mul(half, estimate)
        estimate += _shift_left(_high_mul(estimate, correction), 2)
    return _shift_left(estimate, 1)


def softmax(row, scale):
    """int8 logits of `scale` to int8 probabilities of scale 1/256, zero point -128."""
    mantissa, shift = multiplier(min(real(scale) * (1 << 31 - _INPUT_BITS), float(INT32_MAX)))
    lowest = -math.floor(((1 << _INPUT_BITS) - 1) * 2.0 ** (31 - _INPUT_BITS - shift))
    top, powers = int(max(row)), []
    for value in row:
        difference = int(value) - top
        kept = difference >= lowest
        powers.append(_exp_negative(_scaled(difference, mantissa, shift)) if kept else None)
    total = sum(_shift_round(p, _SUM_BITS) for p in powers if p is not None)
    headroom = 32 - total.bit_length()
    inverse = _reciprocal((total << headroom) - (1 << 31))
    bits = _SUM_BITS - headroom + 31 - 8
    return np.array([INT8_MIN if p is None else _output(inverse, p, bits) for p in powers], dtype=np.int64)


def _scaled(difference, mantissa, shift):
    if shift < 0:
        return _shift_round(_high_mul(difference, mantissa), -shift)
    return _high_mul(difference << shift, mantissa)


def _output(inverse, power, bits):
    value = _shift_round(_high_mul(inverse, power), bits) + INT8_MIN
    return min(max(value, INT8_MIN), INT8_MAX)
