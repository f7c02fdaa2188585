"""Int8 executor: dense, convolutions, pools, flatten, UIB and ResNet blocks."""

import numpy as np

from . import geometry as g
from . import int8_ops as ops
from . import int8_tables as tables
from . import records as r
from .int8_softmax import softmax

_POINT = g.square(1, 1, 0)
_STARTS = (r.CONV2D, r.DEPTHWISE_CONV2D, r.MOBILENETV4_UIB, r.RESNET_BASIC_BLOCK)


class Int8Net:
    """Runs a quantised model.

    `tracked` is the (scale, zero point) of the current activation: pools and
    residual additions need it, all other layers bring their own.
    """

    def __init__(self, model):
        self.model, self.tracked, self._next = model, (1.0, 0), 0

    def output_quant(self):
        """Scale and zero point of the final output."""
        self.run(np.zeros(self.model.shape))
        return self.tracked

    def run(self, inputs):
        """Flat int8 outputs for flat int8 inputs."""
        model, self._next = self.model, 0
        x = np.asarray(inputs, dtype=np.int64).reshape(model.shape)
        self.tracked = model.quant[0].input if model.layers[0].kind in _STARTS else (1.0, 0)
        for layer in model.layers:
            x = _LAYERS[layer.kind](self, layer, x)
        if self._next != len(model.weights):
            raise r.FormatError("tensors left over")
        return x.reshape(-1).astype(np.int8)

    def take(self):
        """The next weight, bias and quantisation entry."""
        index = self._next
        self._next += 1
        return self.model.weights[index], self.model.biases[index], self.model.quant[index]

    def finish(self, layer, y, quant):
        """The result of a layer: its table activation, if there is one."""
        self.tracked = quant.output
        if not tables.requested(layer.activation, quant):
            return y
        self.tracked = tables.output(layer.activation, quant)
        return tables.apply(y, layer, quant)


def _dense(net, layer, x):
    """Every row of an MLP's batch is a sample, softmax included."""
    weight, bias, quant = net.take()
    y = ops.fully_connected(x, weight, bias, quant, layer.activation)
    if layer.activation == r.SOFTMAX:
        net.tracked = ops.SOFTMAX_SCALE, ops.SOFTMAX_ZERO
        return np.apply_along_axis(softmax, -1, y, quant.out_scale)
    return net.finish(layer, y, quant)


def _conv2d(net, layer, x):
    weight, bias, quant = net.take()
    y = ops.conv2d(x, weight, bias, quant, g.conv_window(layer), layer.activation)
    return net.finish(layer, y, quant)


def _depthwise(net, layer, x):
    weight, bias, quant = net.take()
    window = g.depthwise_window(layer, weight.size)
    y = ops.depthwise(x, weight, bias, quant, window, layer.activation)
    return net.finish(layer, y, quant)


def _max_pool(_net, layer, x):
    return ops.max_pool(x, g.pool_window(layer))


def _avg_pool(net, layer, x):
    return ops.avg_pool(x, g.pool_window(layer), net.tracked[1])


def _flatten(_net, _layer, x):
    return x.reshape(-1)


def _uib_depthwise(net, x, kernel, stride, activation):
    weight, bias, quant = net.take()
    window = g.square(kernel, stride, (kernel - 1) // 2)
    return ops.depthwise(x, weight, bias, quant, window, activation)


def _uib_point(net, x, activation):
    weight, bias, quant = net.take()
    return ops.conv2d(x, weight, bias, quant, _POINT, activation), quant


def _uib(net, layer, x):
    start, middle = g.uib_strides(layer)
    y = x
    if layer.start_kernel:
        y = _uib_depthwise(net, y, layer.start_kernel, start, r.NONE)
    y, _ = _uib_point(net, y, r.RELU)
    if layer.middle_kernel:
        y = _uib_depthwise(net, y, layer.middle_kernel, middle, r.RELU)
    y, quant = _uib_point(net, y, r.NONE)
    if g.uib_has_residual(layer):
        y = ops.add(y, quant.output, x, net.tracked, quant.output)
    net.tracked = quant.output
    return y


def _resnet(net, layer, x):
    """The second descriptor's bias scale and zero point are those of the sum."""
    first, second = net.take(), net.take()
    y = ops.conv2d(x, *first, g.resnet_first_window(layer, first[0].size), r.RELU)
    y = ops.conv2d(y, *second, g.square(3, 1, 1), r.NONE)
    other = net.tracked
    if g.resnet_has_projection(layer):
        weight, bias, quant = net.take()
        x = ops.conv2d(x, weight, bias, quant, g.square(1, layer.stride, 0), r.NONE)
        other = quant.output
    net.tracked = second[2].bias
    return ops.add(y, second[2].output, x, other, net.tracked, r.RELU)


_LAYERS = {
    r.DENSE: _dense, r.CONV2D: _conv2d, r.DEPTHWISE_CONV2D: _depthwise, r.FLATTEN: _flatten,
    r.MAX_POOL2D: _max_pool, r.AVG_POOL2D: _avg_pool, r.MOBILENETV4_UIB: _uib,
    r.RESNET_BASIC_BLOCK: _resnet,
}
