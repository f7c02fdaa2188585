"""Window geometry: padding bytes, output sizes, block strides and widths."""

import math
from typing import NamedTuple

import numpy as np

from .records import FormatError


class Window(NamedTuple):
    """A sliding window: kernel, stride and the four paddings."""

    height: int
    width: int
    stride: int
    top: int
    left: int
    bottom: int
    right: int

    def output(self, shape):
        """Output height and width over a map."""
        rows = out_size(shape[0], self.height, self.stride, self.top, self.bottom)
        return rows, out_size(shape[1], self.width, self.stride, self.left, self.right)


def square(kernel, stride, pad):
    """A symmetric square window."""
    return Window(kernel, kernel, stride, pad, pad, pad, pad)


def out_size(size, kernel, stride, before, after):
    """Output length of one axis; refuses windows that do not fit."""
    if kernel < 1 or stride < 1:
        raise FormatError("kernel and stride must be at least 1")
    if kernel > size + before + after:
        raise FormatError(f"window of {kernel} over a padded size of {size + before + after}")
    return (size + before + after - kernel) // stride + 1


def conv_window(layer):
    return Window(layer.kernel, layer.kernel, layer.stride, layer.pad_top, layer.pad_left,
                  layer.pad_top + (layer.extra & 15), layer.pad_left + (layer.extra >> 4))


def pool_window(layer):
    word = layer.word
    return Window(layer.pool, word & 255 or layer.pool, layer.stride, layer.pad_top, layer.pad_left,
                  layer.pad_top + (word >> 8 & 15), layer.pad_left + (word >> 12))


def depthwise_window(layer, elements):
    """Resolve the byte that is either kernel width or extra padding.

    Only the size of the weight tensor tells which: see the numbered rules in
    the comments; a byte that fits none of them is an error.
    """
    kh, byte, channels = layer.kernel, layer.extra, layer.filters
    if kh < 1 or channels < 1 or elements % channels:
        raise FormatError("depthwise weights do not match the channels")
    area = elements // channels
    symmetric = (layer.pad_top, layer.pad_left)
    padded = (layer.pad_top + (byte & 15), layer.pad_left + (byte >> 4))
    if kh * kh == area:                       # 1, 2: square kernel
        width, end = kh, symmetric if byte == kh else padded
    elif kh * (byte or kh) == area:           # 3: the byte is the width
        width, end = byte, symmetric
    elif area % kh == 0 and padded != symmetric:   # 4: width from the tensor, byte is padding
        width, end = area // kh, padded
    else:
        raise FormatError("depthwise kernel does not match its weights")
    return Window(kh, width, layer.stride, *symmetric, *end)


def make_divisible(value):
    """Round to a multiple of 8 (float32 arithmetic), at most 10 % down."""
    value = np.float32(value)
    result = max(8, int(value + np.float32(4)) // 8 * 8)
    return result + 8 if result < int(np.float32(0.9) * value) else result


def uib_expanded(layer):
    ratio = layer.expand_ratio
    if not (math.isfinite(ratio) and 0 < ratio <= 1024):
        raise FormatError(f"bad expand ratio {ratio}")
    return make_divisible(np.float32(layer.in_channels) * np.float32(ratio))


def uib_strides(layer):
    """Strides of the start and of the middle depthwise convolution."""
    middle = layer.stride if layer.middle_kernel and layer.downsample else 1
    moved = layer.downsample and layer.middle_kernel
    start = layer.stride if layer.start_kernel and not moved else 1
    return start, middle


def uib_has_residual(layer):
    return layer.stride == 1 and layer.in_channels == layer.out_channels


def resnet_first_window(layer, elements):
    """Window of a ResNet block's first convolution: its tensor tells whether the kernel has 3 or 4 rows."""
    shifted = elements == 16 * layer.in_channels * layer.out_channels
    kernel, end = (4, 2) if shifted else (3, 1)
    return Window(kernel, kernel, layer.stride, 1, 1, end, end)


def resnet_has_projection(layer):
    return layer.stride != 1 or layer.in_channels != layer.out_channels
