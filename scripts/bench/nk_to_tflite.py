"""Writes a `.nk` model as a TensorFlow Lite model of the same numbers: `nk_to_tflite.py MODEL.nk MODEL.tflite`.

The `.nk` file is read by the numpy oracle, and the graph is written by what also writes the test models of the
converter. Scale and shift behind a convolution go into its weights; int8 models keep their integers and scales. For the
engines of bench-peers that read TensorFlow Lite files only.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "convert" / "tests" / "tflite")]

from graph import FLOAT32, INT8, NONE, RELU, RELU6, SAME, VALID, Graph, schema  # noqa: E402
from oracle import container  # noqa: E402
from oracle import geometry as g  # noqa: E402
from oracle import records as r  # noqa: E402

FUSED = {r.NONE: NONE, r.RELU: RELU, r.RELU6: RELU6}
POINT = g.square(1, 1, 0)


class Writer(Graph):
    """A graph that takes weights from a model, in the order of the file."""

    def __init__(self, model):
        self.model, self.used = model, 0
        shape = model.shape if model.network == container.MLP else (1, *model.shape)
        if model.quant is None:
            super().__init__(shape, FLOAT32)
        else:
            super().__init__(shape, INT8, *model.quant[0].input)

    def take(self):
        index, self.used = self.used, self.used + 1
        return self.model.weights[index], self.model.biases[index], self.model.quant and self.model.quant[index]

    def take_normed(self):
        """A convolution of a block; those of float models have a scale and shift."""
        weight, bias, quant = self.take()
        if quant is None:
            scale, shift, _ = self.take()
            weight, bias = weight * scale.reshape(-1, *[1] * (weight.ndim - 1)), bias * scale + shift
        return weight, bias, quant

    def constants(self, weight, bias, quant, axis=0):
        """Tensors of weights and bias, and the scale and zero point of what comes out."""
        if quant is None:
            return self.const(weight.astype(np.float32)), self.const(bias.astype(np.float32)), None, None
        scales = np.float32(quant.weight_scale) if quant.channel_scales is None else quant.channel_scales
        units = np.float32(quant.in_scale) * scales
        weights = self.const(weight, scale=scales, zero=quant.weight_zero, axis=axis)
        return weights, self.const(bias, scale=units), *quant.output

    def inside(self, window, lowest=False):
        """The padding that stands for a window's; another one than SAME becomes an operator of its own."""
        size = self.shape()[1:3]
        pads = (window.top, window.bottom, window.left, window.right)
        if pads == same_pads(size, window):
            return SAME
        if any(pads) and lowest:
            self.pad_lowest(*pads)
        elif any(pads):
            self.pad(*pads)
        return VALID

    def pad_lowest(self, *pads):
        """What a max pool never takes."""
        self.pad(*pads)
        lowest = np.array([np.finfo(np.float32).min], np.float32) if self.kind == FLOAT32 else np.array([-128], np.int8)
        scale, zero = self.params()
        code = schema.BuiltinOperator.PADV2
        self.codes[-1].builtinCode = self.codes[-1].deprecatedBuiltinCode = code
        self.operators[-1].inputs.append(self.const(lowest, scale=scale, zero=zero))
        self.operators[-1].builtinOptions = schema.PadV2OptionsT()
        self.operators[-1].builtinOptionsType = schema.BuiltinOptions.PadV2Options

    def conv(self, taken, window, activation=NONE):
        weight, bias, quant = taken
        shape = (bias.size, window.height, window.width, self.shape()[3])
        padding = self.inside(window)
        weights, biases, *params = self.constants(weight.reshape(shape), bias, quant)
        return self.conv_with(weights, biases, window.stride, padding, activation, *params)

    def depthwise(self, taken, window, activation=NONE):
        weight, bias, quant = taken
        weight = weight.reshape(bias.size, window.height, window.width).transpose(1, 2, 0)[None]
        padding = self.inside(window)
        weights, biases, *params = self.constants(weight, bias, quant, axis=3)
        return self.depthwise_with(weights, biases, window.stride, padding, activation, *params)

    def activate(self, activation):
        """An activation that no operator has inside."""
        if activation == r.SOFTMAX:
            self.softmax()
        elif activation not in FUSED:
            sys.exit(f"the activation {r.ACTIVATIONS[activation]} is not written")

    def binary(self, name, left, right):
        """A result of floats with the shape of `left`."""
        options = getattr(schema, f"{name.title()}OptionsT", lambda: None)()
        return self.op(name, [left, right], self.shape(left), options)


def same_pads(size, window):
    """Top, bottom, left and right padding that SAME means."""
    pads = []
    for extent, kernel in zip(size, (window.height, window.width)):
        whole = max((-(-extent // window.stride) - 1) * window.stride + kernel - extent, 0)
        pads += [whole // 2, whole - whole // 2]
    return tuple(pads)


def dense(graph, layer):
    weight, bias, quant = graph.take()
    weights, biases, *params = graph.constants(weight.reshape(bias.size, -1), bias, quant)
    graph.dense_with(weights, biases, FUSED.get(layer.activation, NONE), *params)
    graph.activate(layer.activation)


def conv2d(graph, layer):
    graph.conv(graph.take(), g.conv_window(layer), FUSED.get(layer.activation, NONE))
    graph.activate(layer.activation)


def depthwise_conv2d(graph, layer):
    taken = graph.take()
    graph.depthwise(taken, g.depthwise_window(layer, taken[0].size), FUSED.get(layer.activation, NONE))
    graph.activate(layer.activation)


def pool(kind):
    def write(graph, layer):
        window = g.pool_window(layer)
        padding = graph.inside(window, lowest=kind == "MAX")
        graph.pool(kind, (window.height, window.width), window.stride, padding)
    return write


def flatten(graph, _layer):
    graph.reshape(1, int(np.prod(graph.shape())))


def uib_depthwise(graph, kernel, stride, activation):
    graph.depthwise(graph.take_normed(), g.square(kernel, stride, (kernel - 1) // 2), activation)


def uib(graph, layer):
    start, middle = g.uib_strides(layer)
    before = graph.at
    if layer.start_kernel:
        uib_depthwise(graph, layer.start_kernel, start, NONE)
    graph.conv(graph.take_normed(), POINT, RELU)
    if layer.middle_kernel:
        uib_depthwise(graph, layer.middle_kernel, middle, RELU)
    last = graph.conv(graph.take_normed(), POINT)
    if g.uib_has_residual(layer):
        graph.add(last, before, NONE, *graph.params(last))


def resnet(graph, layer):
    before, first = graph.at, graph.take_normed()
    graph.conv(first, g.resnet_first_window(layer, first[0].size), RELU)
    second = graph.take_normed()
    last = graph.conv(second, g.square(3, 1, 1))
    if g.resnet_has_projection(layer):
        graph.at = before
        before = graph.conv(graph.take_normed(), g.square(1, layer.stride, 0))
    graph.add(last, before, RELU, *(second[2].bias if second[2] else (None, 0)))


def layer_norm(graph, layer):
    """(x - mean) / sqrt(mean of squares of x - mean, + eps), times gamma, plus beta."""
    gamma, beta, _ = graph.take()
    x = graph.at
    centred = graph.binary("SUB", x, graph.mean((3,), keep=True))
    graph.binary("MUL", centred, centred)
    variance = graph.mean((3,), keep=True)
    graph.binary("ADD", variance, graph.const(np.array([layer.eps], np.float32)))
    root = graph.op("RSQRT", [graph.at], graph.shape())
    graph.binary("MUL", graph.binary("MUL", centred, root), graph.const(gamma))
    graph.binary("ADD", graph.at, graph.const(beta))


def response_norm(graph, layer):
    """x * gamma * norm / (mean of norms + eps) + beta + x, where a channel's norm is over its map."""
    gamma, beta, _ = graph.take()
    x = graph.at
    graph.binary("MUL", x, x)
    graph.reduce("SUM", (1, 2), keep=True)
    norms = graph.op("SQRT", [graph.at], graph.shape())
    mean = graph.mean((3,), keep=True)
    graph.binary("ADD", mean, graph.const(np.array([layer.eps], np.float32)))
    graph.binary("MUL", graph.binary("DIV", norms, graph.at), graph.const(gamma))
    scaled = graph.binary("MUL", x, graph.at)
    graph.binary("ADD", graph.binary("ADD", scaled, graph.const(beta)), x)


def convnext(graph, layer):
    before = graph.at
    graph.depthwise(graph.take(), g.square(7, 1, 3))
    layer_norm(graph, layer)
    graph.conv(as_point(graph.take()), POINT)
    options = schema.GeluOptionsT()
    options.approximate = True
    graph.op("GELU", [graph.at], graph.shape(), options)
    response_norm(graph, layer)
    last = graph.conv(as_point(graph.take()), POINT)
    graph.add(last, before, NONE)


def as_point(taken):
    weight, bias, quant = taken
    return weight.reshape(bias.size, 1, 1, -1), bias, quant


LAYERS = {
    r.DENSE: dense, r.CONV2D: conv2d, r.DEPTHWISE_CONV2D: depthwise_conv2d, r.MAX_POOL2D: pool("MAX"),
    r.AVG_POOL2D: pool("AVERAGE"), r.FLATTEN: flatten, r.MOBILENETV4_UIB: uib, r.RESNET_BASIC_BLOCK: resnet,
    r.LAYERNORM2D: layer_norm, r.CONVNEXTV2_BLOCK: convnext,
}


def main():
    source, target = sys.argv[1:]
    model = container.load(source)
    graph = Writer(model)
    for layer in model.layers:
        if layer.kind not in LAYERS:
            sys.exit(f"{source}: layers of kind {layer.name} are not written")
        LAYERS[layer.kind](graph, layer)
    if graph.used != len(model.weights):
        sys.exit(f"{source}: {len(model.weights) - graph.used} tensors are left over")
    Path(target).write_bytes(graph.bytes("nk_to_tflite.py"))


if __name__ == "__main__":
    main()
