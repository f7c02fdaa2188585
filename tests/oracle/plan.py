"""Shape walk and strict validation: the tensors and output shape of every layer.

`plan` refuses everything that a strict loader refuses: channels that do not
match, windows larger than the padded input, layers in the wrong order, tensors
missing or left over, values that are not finite.
"""

import math
from typing import NamedTuple

import numpy as np

from . import geometry as g
from . import records as r
from .container import MLP
from .records import FormatError

INT8_KINDS = (r.DENSE, r.CONV2D, r.MAX_POOL2D, r.FLATTEN, r.AVG_POOL2D,
              r.DEPTHWISE_CONV2D, r.MOBILENETV4_UIB, r.RESNET_BASIC_BLOCK)


class Step(NamedTuple):
    """One layer of a plan: weight shapes and bias lengths in file order."""

    layer: r.Layer
    input: tuple
    output: tuple
    weights: list
    biases: list


class _Tensors:
    """Collects weight shapes and bias lengths in file order."""

    def __init__(self, folded):
        self.weights, self.biases, self.folded = [], [], folded

    def add(self, *shape):
        self.weights.append(shape)
        self.biases.append(shape[0])

    def add_normalised(self, *shape):
        """A convolution with its scale and shift (folded away in int8 files)."""
        self.add(*shape)
        if not self.folded:
            self.add(shape[0])


def _require(condition, message):
    if not condition:
        raise FormatError(message)


def _same_channels(channels, shape):
    _require(channels == shape[2], f"layer for {channels} channels on a map with {shape[2]}")


def _conv2d(layer, shape, tensors):
    _require(layer.filters >= 1, "no filters")
    tensors.add(layer.filters, layer.kernel, layer.kernel, shape[2])
    return (*g.conv_window(layer).output(shape), layer.filters)


def _uib(layer, shape, tensors):
    _same_channels(layer.in_channels, shape)
    expanded, (start, middle) = g.uib_expanded(layer), g.uib_strides(layer)
    size = shape[:2]
    if layer.start_kernel:
        tensors.add_normalised(layer.in_channels, layer.start_kernel, layer.start_kernel)
        size = g.square(layer.start_kernel, start, (layer.start_kernel - 1) // 2).output(size)
    tensors.add_normalised(expanded, 1, 1, layer.in_channels)
    if layer.middle_kernel:
        tensors.add_normalised(expanded, layer.middle_kernel, layer.middle_kernel)
        size = g.square(layer.middle_kernel, middle, (layer.middle_kernel - 1) // 2).output(size)
    tensors.add_normalised(layer.out_channels, 1, 1, expanded)
    _require(layer.stride >= 1 and layer.out_channels >= 1, "bad stride or channels")
    _require(not g.uib_has_residual(layer) or size == shape[:2], "residual of another size")
    return (*size, layer.out_channels)


def _resnet(layer, shape, tensors, elements):
    _same_channels(layer.in_channels, shape)
    channels, first = layer.out_channels, g.resnet_first_window(layer, elements)
    size = first.output(shape)
    tensors.add_normalised(channels, first.height, first.width, layer.in_channels)
    tensors.add_normalised(channels, 3, 3, channels)
    if g.resnet_has_projection(layer):
        tensors.add_normalised(channels, 1, 1, layer.in_channels)
    return (*size, channels)


def _convnext(layer, shape, tensors):
    _same_channels(layer.channels, shape)
    channels = layer.channels
    for dims in ((channels, 7, 7), (channels,), (4 * channels, channels),
                 (4 * channels,), (channels, 4 * channels)):
        tensors.add(*dims)
    return shape


def _norm(layer, shape, tensors):
    _same_channels(layer.channels, shape)
    tensors.add(layer.channels)
    return shape


def _head(tensors, channels, hidden, classes, convs):
    _require(convs <= 4, "a YOLOX head has at most 4 convolutions per branch")
    _require(min(hidden, classes) >= 1, "a YOLOX head needs hidden channels and classes")
    tensors.add(hidden, 1, 1, channels)
    for _ in range(2 * convs):
        tensors.add(hidden, 3, 3, hidden)
    for outputs in (classes, 4, 1):
        tensors.add(outputs, 1, 1, hidden)


def _yolox_head(layer, shape, tensors):
    _same_channels(layer.in_channels, shape)
    _head(tensors, layer.in_channels, layer.hidden, layer.classes, layer.convs)
    return (*shape[:2], 5 + layer.classes)


def _pafpn(layer, shape, tensors, taps):
    _same_channels(layer.c5, shape)
    height, width = shape[:2]
    _require(taps.get(0) == (4 * height, 4 * width, layer.c3), "tap 0 does not fit the pyramid")
    _require(taps.get(1) == (2 * height, 2 * width, layer.c4), "tap 1 does not fit the pyramid")
    hidden = layer.hidden
    for channels in (layer.c3, layer.c4, layer.c5):
        tensors.add(hidden, 1, 1, channels)
    for _ in range(4):
        tensors.add(hidden, 3, 3)
        tensors.add(hidden, 1, 1, hidden)
    for _ in range(3):
        _head(tensors, hidden, hidden, layer.classes, layer.convs)
    return (1, 1, 21 * height * width * (5 + layer.classes))


def _depthwise(layer, shape, tensors, elements):
    """`elements`: size of the weight tensor, which decides the kernel width."""
    _same_channels(layer.filters, shape)
    window = g.depthwise_window(layer, elements)
    tensors.add(layer.filters, window.height, window.width)
    return (*window.output(shape), layer.filters)


# Kinds whose kernel the size of their first weight tensor tells.
_KERNEL_OF_TENSOR = {r.DEPTHWISE_CONV2D: _depthwise, r.RESNET_BASIC_BLOCK: _resnet}

_MAP_KINDS = {
    r.CONV2D: _conv2d, r.MOBILENETV4_UIB: _uib,
    r.CONVNEXTV2_BLOCK: _convnext, r.BATCH_NORM2D: _norm, r.LAYERNORM2D: _norm,
    r.YOLOX_DECOUPLED_HEAD: _yolox_head,
}


def step(layer, shape, taps, elements=None, folded=False):
    """Check one layer on an input of `shape` and describe it.

    A flat CNN tensor has shape (features,); an MLP's has (batch, features);
    a map (height, width, channels).  `taps` is updated by feature taps.
    """
    tensors = _Tensors(folded)
    kind, is_map = layer.kind, len(shape) == 3
    _require(not folded or kind in INT8_KINDS, f"{layer.name} has no int8 form")
    if kind == r.DENSE:
        _require(not is_map, "a dense layer needs a flat input")
        _require(layer.units >= 1, "no units")
        tensors.add(layer.units, shape[-1])
        output = (*shape[:-1], layer.units)
    else:
        _require(is_map, f"{layer.name} needs a feature map")
        output = _map_step(layer, shape, taps, elements, tensors)
    return Step(layer, shape, output, tensors.weights, tensors.biases)


def _map_step(layer, shape, taps, elements, tensors):
    kind = layer.kind
    if kind == r.FLATTEN:
        return (shape[0] * shape[1] * shape[2],)
    if kind in (r.MAX_POOL2D, r.AVG_POOL2D):
        return (*g.pool_window(layer).output(shape), shape[2])
    if kind in _KERNEL_OF_TENSOR:
        return _KERNEL_OF_TENSOR[kind](layer, shape, tensors, elements)
    if kind == r.FEATURE_TAP:
        _same_channels(layer.channels, shape)
        _require(layer.tap_id <= 3, "tap id above 3")
        taps[layer.tap_id] = shape
        return shape
    if kind == r.YOLOX_PAFPN_MULTISCALE:
        return _pafpn(layer, shape, tensors, taps)
    return _MAP_KINDS[kind](layer, shape, tensors)


def plan(model):
    """Validate a model; returns its steps."""
    shape, taps, steps, used = tuple(model.shape), {}, [], 0
    _require(model.layers, "a model needs layers")
    _require(min(shape) >= 1, "empty input")
    _require(len(model.weights) == len(model.biases), "weights and biases must pair up")
    for layer in model.layers:
        _require(model.network != MLP or layer.kind == r.DENSE, "an MLP holds dense layers only")
        _require(getattr(layer, "activation", 0) < len(r.ACTIVATIONS), "unknown activation")
        elements = model.weights[used].size if used < len(model.weights) else None
        current = step(layer, shape, taps, elements, model.quant is not None)
        for weight, bias in zip(current.weights, current.biases):
            _require(used < len(model.weights), "tensors missing")
            _require(model.weights[used].size == math.prod(weight), f"weight tensor {used} has the wrong size")
            _require(model.biases[used].size == bias, f"bias tensor {used} has the wrong size")
            used += 1
        steps.append(current)
        shape = current.output
    _require(used == len(model.weights), "tensors left over")
    _check_values(model)
    if model.quant is not None:
        _check_quant(model, steps)
    _check_cases(model, math.prod(shape))
    return steps


def _check_values(model):
    kinds = ("i1", "<i4") if model.quant is not None else ("<f4", "<f4")
    for tensors, kind in zip((model.weights, model.biases), kinds):
        for tensor in tensors:
            _require(tensor.dtype == np.dtype(kind), "tensor type does not fit the model")
            _require(np.isfinite(tensor).all(), "tensor values must be finite")
    for layer in model.layers:
        for name in ("alpha", "eps"):
            _require(math.isfinite(getattr(layer, name, 0.0)), f"{name} must be finite")


def _check_quant(model, steps):
    _require(len(model.quant) == len(model.weights), "one quantisation entry per weight tensor")
    used = 0
    for current in steps:
        owned = slice(used, used + len(current.weights))
        for entry, weight, bias in zip(model.quant[owned], model.weights[owned], model.biases[owned]):
            _check_entry(entry, bias)
            _require(entry.weight_zero == 0 or current.layer.kind == r.DENSE, "convolutions need symmetric weights")
            _check_sums(entry, weight, bias)
        if current.layer.kind == r.RESNET_BASIC_BLOCK:
            scale, zero = model.quant[used + 1].bias
            _require(scale > 0 and -128 <= zero <= 127, "a ResNet block needs the parameters of its sum")
        used = owned.stop


def _check_entry(entry, bias):
    scales = (entry.in_scale, entry.weight_scale, entry.out_scale)
    zeros = (entry.in_zero, entry.weight_zero, entry.out_zero)
    if entry.channel_scales is not None:
        _require(len(entry.channel_scales) == bias.size, "one weight scale per channel")
        scales += tuple(entry.channel_scales)
    _require(all(math.isfinite(s) and s > 0 for s in scales), "scales must be positive")
    _require(all(-128 <= z <= 127 for z in zeros), "zero points must fit int8")
    _require(math.isfinite(entry.bias_scale), "bias scales must be finite")


def _check_sums(entry, weight, bias):
    """No input may drive a channel's sum out of 32 bits."""
    rows = np.abs(weight.reshape(bias.size, -1).astype(np.int64) - entry.weight_zero).sum(axis=1)
    reach = max(127 - entry.in_zero, entry.in_zero + 128)
    largest = rows * reach + np.abs(bias.astype(np.int64))
    _require((largest <= 2**31 - 1).all(), "the sums of a channel can leave 32 bits")


def _check_cases(model, outputs):
    for case in model.cases:
        _require(case.inputs.size == model.input_size, "case input of the wrong size")
        _require(case.expected.size == outputs, "case output of the wrong size")
