"""Float executor: all 14 layer kinds."""

import numpy as np

from . import float_ops as ops
from . import geometry as g
from . import records as r

_POINT = g.square(1, 1, 0)


class _Pairs:
    """Hands out weight and bias tensors in file order."""

    def __init__(self, model):
        self._pairs = list(zip(model.weights, model.biases, strict=True))[::-1]

    def take(self):
        return self._pairs.pop()

    def next_size(self):
        """Elements of the next weight tensor."""
        return self._pairs[-1][0].size

    def finish(self):
        if self._pairs:
            raise r.FormatError("tensors left over")


class FloatNet:
    """Runs a float model."""

    def __init__(self, model):
        self.model = model

    def run(self, inputs):
        """Flat f32 outputs for flat inputs."""
        x = np.asarray(inputs, dtype=np.float32).reshape(self.model.shape)
        pairs, taps = _Pairs(self.model), {}
        for layer in self.model.layers:
            if layer.kind == r.FEATURE_TAP:
                taps[layer.tap_id] = x
            elif layer.kind == r.YOLOX_PAFPN_MULTISCALE:
                x = _pafpn(layer, x, taps, pairs)
            else:
                x = _LAYERS[layer.kind](layer, x, pairs)
        pairs.finish()
        return x.reshape(-1)


def _matrix(pairs):
    weight, bias = pairs.take()
    return weight.reshape(bias.size, -1), bias


def _dense(layer, x, pairs):
    """Every row of an MLP's batch is a sample, softmax included."""
    y = ops.fully_connected(x, *_matrix(pairs))
    rows = [ops.activate(row, layer.activation, layer.alpha) for row in np.atleast_2d(y)]
    return np.stack(rows).reshape(y.shape)


def _conv2d(layer, x, pairs):
    y = ops.conv2d(x, *pairs.take(), g.conv_window(layer))
    return ops.activate(y, layer.activation, layer.alpha)


def _depthwise(layer, x, pairs):
    weight, bias = pairs.take()
    y = ops.depthwise(x, weight, bias, g.depthwise_window(layer, weight.size))
    return ops.activate(y, layer.activation, layer.alpha)


def _max_pool(layer, x, _pairs):
    return ops.max_pool(x, g.pool_window(layer))


def _avg_pool(layer, x, _pairs):
    return ops.avg_pool(x, g.pool_window(layer))


def _flatten(_layer, x, _pairs):
    return x.reshape(-1)


def _batch_norm(_layer, x, pairs):
    return ops.scale_shift(x, *pairs.take())


def _layer_norm(layer, x, pairs):
    return ops.layer_norm(x, *pairs.take(), layer.eps)


def _convnext(layer, x, pairs):
    y = ops.depthwise(x, *pairs.take(), g.square(7, 1, 3))
    y = ops.layer_norm(y, *pairs.take(), layer.eps)
    y = ops.gelu(ops.fully_connected(y, *_matrix(pairs)))
    y = ops.response_norm(y, *pairs.take(), layer.eps)
    return ops.add(ops.fully_connected(y, *_matrix(pairs)), x)


def _conv_norm(x, pairs, window):
    return ops.scale_shift(ops.conv2d(x, *pairs.take(), window), *pairs.take())


def _depthwise_norm(x, pairs, kernel, stride):
    window = g.square(kernel, stride, (kernel - 1) // 2)
    return ops.scale_shift(ops.depthwise(x, *pairs.take(), window), *pairs.take())


def _uib(layer, x, pairs):
    start, middle = g.uib_strides(layer)
    y = x
    if layer.start_kernel:
        y = _depthwise_norm(y, pairs, layer.start_kernel, start)
    y = ops.relu(_conv_norm(y, pairs, _POINT))
    if layer.middle_kernel:
        y = ops.relu(_depthwise_norm(y, pairs, layer.middle_kernel, middle))
    y = _conv_norm(y, pairs, _POINT)
    return ops.add(y, x) if g.uib_has_residual(layer) else y


def _resnet(layer, x, pairs):
    window = g.resnet_first_window(layer, pairs.next_size())
    y = ops.relu(_conv_norm(x, pairs, window))
    y = _conv_norm(y, pairs, g.square(3, 1, 1))
    if g.resnet_has_projection(layer):
        x = _conv_norm(x, pairs, g.square(1, layer.stride, 0))
    return ops.relu(ops.add(y, x))


def _head(x, pairs, convs):
    """Decoupled YOLOX head: 4 box values, objectness, classes (all raw)."""
    stem = ops.silu(ops.conv2d(x, *pairs.take(), _POINT))
    branches = []
    for _ in range(2):
        branch = stem
        for _ in range(convs):
            branch = ops.silu(ops.conv2d(branch, *pairs.take(), g.square(3, 1, 1)))
        branches.append(branch)
    classes = ops.conv2d(branches[0], *pairs.take(), _POINT)
    box = ops.conv2d(branches[1], *pairs.take(), _POINT)
    objectness = ops.conv2d(branches[1], *pairs.take(), _POINT)
    return np.concatenate((box, objectness, classes), axis=2)


def _yolox_head(layer, x, pairs):
    return _head(x, pairs, layer.convs)


def _pafpn(layer, x, taps, pairs):
    """Pyramid over taps 0, 1 and the input, then one head per scale."""
    def lateral(feature):
        return ops.conv2d(feature, *pairs.take(), _POINT)

    def refine(feature, stride):
        y = ops.depthwise(feature, *pairs.take(), g.square(3, stride, 1))
        return ops.silu(ops.conv2d(y, *pairs.take(), _POINT))

    side3, side4, p5 = lateral(taps[0]), lateral(taps[1]), lateral(x)
    p4 = refine(ops.add(side4, ops.upsample(p5)), 1)
    p3 = refine(ops.add(side3, ops.upsample(p4)), 1)
    n4 = ops.add(refine(p3, 2), p4)
    n5 = ops.add(refine(n4, 2), p5)
    scales = [_head(feature, pairs, layer.convs).reshape(-1) for feature in (p3, n4, n5)]
    return np.concatenate(scales).reshape(1, 1, -1)


_LAYERS = {
    r.DENSE: _dense, r.CONV2D: _conv2d, r.MAX_POOL2D: _max_pool, r.FLATTEN: _flatten,
    r.AVG_POOL2D: _avg_pool, r.BATCH_NORM2D: _batch_norm, r.DEPTHWISE_CONV2D: _depthwise,
    r.CONVNEXTV2_BLOCK: _convnext, r.MOBILENETV4_UIB: _uib, r.RESNET_BASIC_BLOCK: _resnet,
    r.LAYERNORM2D: _layer_norm, r.YOLOX_DECOUPLED_HEAD: _yolox_head,
}
