"""Post-training quantisation of a float model to int8.

Activations get one scale and zero point from the smallest and largest value
seen on calibration inputs; weights are symmetric, per output channel or per
tensor; biases are int32.  Layers with softmax, sigmoid, tanh or leaky ReLU are
calibrated on what goes into the activation.
"""

import numpy as np

from . import float_ops as ops
from . import geometry as g
from . import int8_tables as tables
from . import records as r
from .container import Model, Quant
from .int8_ops import SOFTMAX_SCALE, SOFTMAX_ZERO, real
from .plan import INT8_KINDS

_POINT = g.square(1, 1, 0)
_INT32 = 2**31 - 1


def affine(arrays):
    """(scale, zero point) that covers all values and represents 0 exactly."""
    low = min(0.0, *(float(a.min()) for a in arrays))
    high = max(0.0, *(float(a.max()) for a in arrays))
    scale = real((high - low) / 255 or 1 / 255)
    return scale, int(np.clip(_round(np.float64(-128 - low / scale)), -128, 127))


def _round(values):
    """Nearest integer, halves away from zero."""
    return np.copysign(np.floor(np.abs(values) + 0.5), values)


def quantise_values(values, scale, zero):
    """Real numbers as int8."""
    whole = _round(np.asarray(values, dtype=np.float64) / scale) + zero
    return np.clip(whole, -128, 127).astype(np.int8)


_ACTIVATIONS = (r.NONE, r.RELU, r.RELU6, *tables.ACTIVATIONS)


def supported(layer):
    """True for layers that have an int8 form with the same meaning."""
    activation = getattr(layer, "activation", r.NONE)
    return layer.kind in INT8_KINDS and (
        activation in _ACTIVATIONS or (activation == r.SOFTMAX and layer.kind == r.DENSE))


class _Quantiser:
    """Walks a float model with the calibration activations in hand."""

    def __init__(self, model, calibration, per_channel):
        self.model, self.per_channel = model, per_channel
        self.pairs = iter(zip(model.weights, model.biases))
        self.maps = [np.asarray(x, dtype=np.float32).reshape(model.shape) for x in calibration]
        self.current = affine(self.maps)
        self.result = Model(model.network, model.shape, model.layers, quant=[])

    def run(self):
        for layer in self.model.layers:
            if not supported(layer):
                raise r.FormatError(f"{layer} has no int8 form")
            if layer.kind == r.MOBILENETV4_UIB:
                self._uib(layer)
            elif layer.kind == r.RESNET_BASIC_BLOCK:
                self._resnet(layer)
            elif layer.kind == r.FLATTEN:
                self.maps = [x.reshape(-1) for x in self.maps]
            elif layer.kind in (r.MAX_POOL2D, r.AVG_POOL2D):
                pool = ops.max_pool if layer.kind == r.MAX_POOL2D else ops.avg_pool
                pooled = [pool(x, g.pool_window(layer)) for x in self.maps]
                self.maps = [np.where(y == ops.LOWEST, ops.F32(0), y) for y in pooled]
            else:
                self._weighted(layer)
        return self.result

    def _weighted(self, layer):
        """Dense, convolution or depthwise convolution."""
        weight, bias = next(self.pairs)
        run = {
            r.DENSE: lambda x: ops.fully_connected(x, weight.reshape(bias.size, -1), bias),
            r.CONV2D: lambda x: ops.conv2d(x, weight, bias, g.conv_window(layer)),
            r.DEPTHWISE_CONV2D: lambda x: ops.depthwise(
                x, weight, bias, g.depthwise_window(layer, weight.size)),
        }[layer.kind]
        self._emit(weight, bias, run, layer.activation, layer.alpha)

    def _emit(self, weight, bias, run, activation, alpha=0.0, residual=None):
        """Quantise one weight tensor and move the activations past it."""
        outputs = [run(x) for x in self.maps]
        if activation in (r.RELU, r.RELU6):      # the clamp at 6 is left to the integers
            outputs = [ops.relu(y) for y in outputs]
        if residual is not None:
            sums = [ops.add(y, x) for y, x in zip(outputs, residual)]
            output, outputs = affine(outputs + sums), sums
        else:
            output = affine(outputs)
        self._store(weight, bias, output)
        self.maps = [ops.activate(y, activation, alpha) for y in outputs]
        self.current = (SOFTMAX_SCALE, SOFTMAX_ZERO) if activation == r.SOFTMAX else output
        if activation in tables.ACTIVATIONS:
            entry = self.result.quant[-1]
            self.current = entry.bias_scale, entry.bias_zero = tables.output(activation, entry)

    def _store(self, weight, bias, output):
        wide = weight.astype(np.float64).reshape(bias.size, -1)
        largest = np.abs(wide).max(axis=1)
        if not self.per_channel:
            largest = np.full(bias.size, largest.max())
        scales = (np.where(largest > 0, largest, 1.0) / 127).astype(np.float32)
        whole = np.clip(_round(wide / scales[:, None].astype(np.float64)), -127, 127)
        in_scale, in_zero = self.current
        units = in_scale * scales.astype(np.float64)
        shifts = np.clip(_round(bias.astype(np.float64) / units), -_INT32, _INT32)
        self.result.weights.append(whole.astype(np.int8).reshape(weight.shape))
        self.result.biases.append(shifts.astype("<i4"))
        top = real(scales.max())
        self.result.quant.append(Quant(
            in_scale, in_zero, top, 0, real(in_scale * top), 0, *output,
            scales.astype("<f4") if self.per_channel else None))

    def _folded(self):
        """A convolution with the scale and shift that follow it in float files."""
        weight, bias = next(self.pairs)
        scale, shift = (t.astype(np.float64) for t in next(self.pairs))
        folded = weight.astype(np.float64) * scale.reshape(-1, *[1] * (weight.ndim - 1))
        return folded.astype(np.float32), (bias * scale + shift).astype(np.float32)

    def _uib(self, layer):
        start, middle = g.uib_strides(layer)
        block_input = self.maps
        if layer.start_kernel:
            self._uib_depthwise(layer.start_kernel, start, r.NONE)
        self._uib_point(r.RELU, None)
        if layer.middle_kernel:
            self._uib_depthwise(layer.middle_kernel, middle, r.RELU)
        self._uib_point(r.NONE, block_input if g.uib_has_residual(layer) else None)

    def _resnet(self, layer):
        """The sum's parameters go into the second convolution's bias parameters."""
        block_input, block_quant = self.maps, self.current
        self._convolution(lambda weight: g.resnet_first_window(layer, weight.size), r.RELU)
        self._convolution(g.square(3, 1, 1), r.NONE)
        own, entry, other = self.maps, self.result.quant[-1], block_input
        if g.resnet_has_projection(layer):
            self.maps, self.current = block_input, block_quant
            self._convolution(g.square(1, layer.stride, 0), r.NONE)
            other = self.maps
        self.maps = [ops.relu(ops.add(y, x)) for y, x in zip(own, other)]
        self.current = entry.bias_scale, entry.bias_zero = affine(self.maps)

    def _convolution(self, window, activation):
        """`window`, or a function of the weights that gives it."""
        weight, bias = self._folded()
        window = window(weight) if callable(window) else window
        self._emit(weight, bias, lambda x: ops.conv2d(x, weight, bias, window), activation)

    def _uib_depthwise(self, kernel, stride, activation):
        weight, bias = self._folded()
        window = g.square(kernel, stride, (kernel - 1) // 2)
        self._emit(weight, bias, lambda x: ops.depthwise(x, weight, bias, window), activation)

    def _uib_point(self, activation, residual):
        weight, bias = self._folded()
        self._emit(weight, bias, lambda x: ops.conv2d(x, weight, bias, _POINT), activation, residual=residual)


def quantise(model, calibration, per_channel=True):
    """The int8 form of a float model, without test cases."""
    return _Quantiser(model, calibration, per_channel).run()
