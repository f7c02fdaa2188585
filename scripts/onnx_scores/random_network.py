"""Random networks of the kinds that people train for small devices."""

import numpy
import onnxruntime

from .cases import Case
from .exporter import DTYPES, Exporter

PLAIN = ["Relu", "Relu", "Relu", "relu6", "leaky", "Sigmoid", "Tanh"]
RARE = [*PLAIN, "clip", "prelu", "HardSigmoid"]
# What a .nk model cannot compute.
BEYOND = ["silu", "hard_swish", "gelu", "Elu", "Softplus"]


def even(rng, low, high):
    return int(rng.integers(low, high))


def image(name, seed):
    rng = numpy.random.default_rng([seed, 2])
    return Exporter(name, seed, (even(rng, 1, 5), even(rng, 6, 15), even(rng, 6, 15)))


def head(net):
    """From a map to classes."""
    what = net.choose("flatten", "mean", "max", "conv")
    if what == "conv":
        net.convolution(net.choose(3, 5), [1] * (len(net.size) - 1), padding="none")
        net.global_pool("AveragePool")
        net.flatten()
    else:
        if what != "flatten":
            net.global_pool("AveragePool" if what == "mean" else "MaxPool")
        net.flatten()
        if net.happens(0.4):
            net.dense(net.choose(6, 9))
            net.activation(net.choose(*PLAIN))
        net.dense(net.choose(2, 3, 5))
    if net.happens(0.5):
        net.op("Softmax", net.at, **({"axis": 1} if net.happens(0.5) else {"axis": -1} if net.opset >= 13 else {}))


def beyond(net, chance=0.06):
    """Sometimes an activation that cannot be computed."""
    if net.happens(chance):
        kind = net.choose(*BEYOND)
        net.group = "beyond the format"
        return kind
    return None


def normalise(net):
    if net.happens(0.25):
        net.op("Div", net.at, net.real(2.0))
        net.op("Sub", net.at, net.vector(net.random(net.size[0])))


def block(net):
    """Convolution, perhaps batch norm, activation, perhaps pool, in any usual order."""
    spatial = len(net.size) - 1
    kernel = net.choose([1] * spatial, [3] * spatial, [3] * spatial, [5] * spatial, [2] * spatial)
    if spatial == 2 and net.happens(0.2):
        kernel = net.choose([1, 3], [3, 1], [5, 2])
    channels = net.size[0]
    filters, group = net.choose(4, 6, 8), 1
    what = net.choose("full", "full", "full", "depthwise", "grouped", "multiplier")
    if what == "depthwise":
        filters, group = channels, channels
    elif what == "multiplier":
        filters, group = 2 * channels, channels
    elif what == "grouped" and channels % 2 == 0:
        group = 2
    dilation = 2 if net.happens(0.12) else 1
    net.convolution(filters, kernel, net.choose(1, 1, 1, 2), dilation, group)
    pool = net.choose("MaxPool", "AveragePool", None, None, None)
    orders = ["norm act pool", "act pool", "act norm pool", "pool act", "norm pool act"]
    for part in net.choose(*orders).split():
        if part == "norm":
            net.batch_norm()
        elif part == "act":
            net.activation(beyond(net) or net.choose(*RARE))
        elif pool:
            net.pool(pool, net.choose(2, 2, 3), net.choose(1, 2, 2))


def classifier(name, seed):
    net = image(name, seed)
    normalise(net)
    for _ in range(net.choose(1, 2, 3)):
        block(net)
    head(net)
    return net


def series(name, seed):
    rng = numpy.random.default_rng([seed, 3])
    net = Exporter(name, seed, (even(rng, 1, 7), even(rng, 10, 40)))
    for _ in range(net.choose(1, 2, 3)):
        block(net)
    head(net)
    return net


def causal(name, seed):
    """Dilated convolutions of a series that see the past only: padded on both sides, cut at the end."""
    rng = numpy.random.default_rng([seed, 6])
    net = Exporter(name, seed, (even(rng, 1, 5), even(rng, 12, 30)))
    for step in range(net.choose(1, 2, 3)):
        dilation, length = 2**step, net.size[1]
        weights = net.random(net.choose(3, 5), net.size[0], 3, scale=0.4)
        reach = 2 * dilation
        net.op("Conv", net.at, weights, net.random(weights.shape[0]), dilations=[dilation], pads=[reach, reach])
        net.size = (weights.shape[0], length + reach)
        net.cut(2, 0, net.choose(-reach, length))
        net.activation(net.choose("Relu", "leaky"))
    if net.happens(0.5):
        net.op("Gather", net.at, numpy.array(-1, numpy.int64), axis=2)
        net.size = net.size[:1]
    else:
        net.global_pool("AveragePool")
        net.flatten()
    net.dense(3)
    return net


def to_map(name, seed):
    """A map as output."""
    net = image(name, seed)
    for _ in range(net.choose(1, 2)):
        block(net)
    net.convolution(net.choose(1, 2, 4), [1, 1], padding="none")
    if net.happens(0.6):
        net.activation(net.choose("Sigmoid", "Tanh", "Relu"))
    return net


def perceptron(name, seed):
    rng = numpy.random.default_rng([seed, 4])
    net = Exporter(name, seed, (even(rng, 2, 20),))
    if net.happens(0.3):
        net.op("Sub", net.at, net.random(net.size[0]))
        net.op("Div", net.at, net.positive(net.size[0]))
    for _ in range(net.choose(1, 2, 3)):
        net.dense(net.choose(4, 8, 13))
        if net.happens(0.3):
            net.batch_norm()
        net.activation(beyond(net) or net.choose(*RARE))
        if net.happens(0.15):
            inner = net.at
            width = net.size[0]
            net.dense(width)
            net.op("Add", inner, net.at)
    net.dense(net.choose(1, 2, 5))
    if net.happens(0.5):
        net.op(net.choose("Sigmoid", "Softmax"), net.at)
    return net


def normalised_rows(name, seed):
    """Dense layers with layer norm between them."""
    rng = numpy.random.default_rng([seed, 5])
    net = Exporter(name, seed, (even(rng, 3, 20),) if rng.random() < 0.5 else (even(rng, 2, 6), even(rng, 3, 12)))
    for _ in range(net.choose(1, 2)):
        net.dense(net.choose(4, 8, 13))
        net.layer_norm()
        net.activation(net.choose(*PLAIN))
    net.dense(net.choose(2, 5))
    return net


def residual(name, seed):
    """ResNet basic blocks."""
    net = image(name, seed)
    width = net.choose(4, 6)
    net.convolution(width, [3, 3], padding="same")
    net.activation("Relu")
    for _ in range(net.choose(1, 2)):
        shortcut, size = net.at, net.size
        grows = net.happens(0.4)
        width = width + 2 if grows else width
        stride = 2 if grows else 1
        for step in range(2):
            net.convolution(width, [3, 3], stride if step == 0 else 1, padding="same", bias=net.choose("conv", "none"))
            if net.happens(0.6):
                net.batch_norm()
            if step == 0:
                net.activation("Relu")
        main, out = net.at, net.size
        if grows:
            net.at, net.size = shortcut, size
            shortcut = net.convolution(width, [1, 1], stride, padding="none", bias=net.choose("conv", "none"))
            if net.happens(0.5):
                shortcut = net.batch_norm()
        net.size = out
        net.op("Add", *((main, shortcut) if net.happens(0.5) else (shortcut, main)))
        net.activation("Relu")
    head(net)
    return net


def separable(name, seed):
    """Depthwise separable convolutions and inverted bottlenecks."""
    net = image(name, seed)
    width = net.choose(4, 8)
    net.convolution(width, [3, 3], 2, padding="same")
    net.activation(net.choose("Relu", "relu6"))
    for _ in range(net.choose(1, 2)):
        shortcut = net.at
        is_bottleneck = net.happens(0.6)
        if is_bottleneck:
            net.convolution(width * net.choose(2, 3, 4), [1, 1], padding="none")
            if net.happens(0.5):
                net.batch_norm()
            net.activation("Relu")
        net.convolution(net.size[0], [3, 3], padding="same", group=net.size[0])
        if net.happens(0.5):
            net.batch_norm()
        net.activation("Relu")
        net.convolution(width, [1, 1], padding="none")
        if is_bottleneck and net.happens(0.8):
            net.op("Add", net.at, shortcut)
        else:
            net.activation("Relu")
    head(net)
    return net


def branches(name, seed):
    """Parallel convolutions, added or one behind the other."""
    net = image(name, seed)
    block(net)
    start, size = net.at, net.size
    width = net.choose(4, size[0])
    parts = []
    for kernel in ([1, 1], [3, 3]):
        net.at, net.size = start, size
        net.convolution(width, kernel, padding="same")
        parts.append(net.at)
    if net.happens(0.5):
        net.op("Add", *parts)
    else:
        net.op("Concat", *parts, axis=1)
        net.size = (2 * width, *net.size[1:])
    net.activation("Relu")
    head(net)
    return net


def keras(name, seed):
    """Channels last between convolutions, as tf2onnx writes it where it does not simplify."""
    net = image(name, seed)
    if not net.is_channels_last:
        net.op("Transpose", net.at, perm=[0, 2, 3, 1])
    else:
        net.at = "x"
    for _ in range(net.choose(1, 2)):
        net.op("Transpose", net.at, perm=[0, 3, 1, 2])
        padding = net.choose("SAME_UPPER", "VALID")
        net.convolution(net.choose(4, 6), [3, 3], net.choose(1, 2), bias="none", padding=padding)
        net.op("Transpose", net.at, perm=[0, 2, 3, 1])
        channels = net.size[0]
        net.arithmetic("Add", net.at, net.random(channels))
        if net.happens(0.5):
            net.arithmetic("Mul", net.at, net.positive(channels))
            net.op("Sub", net.at, net.random(channels))
        net.op("Relu", net.at)
    if net.happens(0.3):
        net.axes_op("ReduceMean", [1, 2], 18, keepdims=0)
        net.size = net.size[:1]
    else:
        net.size = (int(numpy.prod(net.size)),)
        net.op("Reshape", net.at, numpy.array([-1, net.size[0]], numpy.int64))
    net.op("MatMul", net.at, net.random(net.size[0], 3))
    net.op("Add", net.at, net.random(3))
    net.op("Softmax", net.at, axis=1)
    return net


def strided(name, seed):
    """Different strides on both axes."""
    net = image(name, seed)
    channels, height, width = net.size
    stride = net.choose([1, 2], [2, 1])
    kernel = net.choose([3, 3], [2, 2], [3, 2])
    out = [(extent - k) // s + 1 for extent, k, s in zip(net.size[1:], kernel, stride)]
    # Windows without neighbours behind them have a form where the smaller stride divides the result.
    net.op("Conv", net.at, net.random(4, channels, *kernel, scale=0.3), net.random(4), strides=stride)
    net.size = (4, *out)
    if any(count % 2 and s == 1 for count, s in zip(out, stride)):
        net.group = "strided, uneven sizes"
    net.activation("Relu")
    net.flatten()
    net.dense(3)
    return net


def normalised_maps(name, seed):
    """Layer norm over the channels of each pixel."""
    net = image(name, seed)
    net.convolution(net.choose(4, 6), [3, 3], padding="same")
    for _ in range(net.choose(1, 2)):
        net.op("Transpose", net.at, perm=[0, 2, 3, 1])
        channels, height, width = net.size
        net.size = (height, width, channels)
        net.layer_norm()
        net.op("Transpose", net.at, perm=[0, 3, 1, 2])
        net.size = (channels, height, width)
        net.convolution(channels, [3, 3], padding="same", group=channels)
        net.activation("Relu")
    head(net)
    return net


def heads(name, seed):
    """Several outputs, one behind the other."""
    net = image(name, seed)
    block(net)
    net.flatten()
    start, size = net.at, net.size
    parts = []
    for units in (2, 3):
        net.at, net.size = start, size
        net.dense(units)
        parts.append(net.at)
    net.op("Concat", *parts, axis=net.choose(1, -1) if net.opset >= 11 else 1)
    return net


def linear_residual(name, seed):
    """Sums without an activation inside: one layer."""
    net = image(name, seed)
    net.convolution(4, [3, 3], padding="same")
    net.activation("Relu")
    shortcut = net.at
    net.convolution(4, net.choose([3, 3], [1, 1]), padding="same", group=net.choose(1, 4))
    main = net.at
    form = net.choose("Add", "Sum", "scaled")
    if form == "scaled":
        main = net.op("Mul", main, net.real(0.5))
    net.op("Sum" if form == "Sum" else "Add", main, shortcut)
    net.activation(net.choose("Relu", "leaky"))
    net.global_pool("AveragePool")
    net.convolution(6, [1] * (len(net.size) - 1), padding="none") if len(net.size) > 1 else None
    net.flatten()
    net.dense(2)
    return net


def carried_residual(name, seed):
    """Sums around leaky activations, which need more channels."""
    net = image(name, seed)
    net.options = ("--lower-residual",)
    width = net.choose(3, 4)
    net.convolution(width, [3, 3], padding="same")
    net.activation("Relu")
    shortcut = net.at
    net.convolution(width, net.choose([3, 3], [5, 5]), padding="same")
    net.op("LeakyRelu", net.at, alpha=0.2)
    net.convolution(width, [3, 3], padding="same")
    net.op("Add", shortcut, net.at)
    net.activation(net.choose("Relu", "leaky"))
    head(net)
    return net


KINDS = [classifier, classifier, classifier, series, to_map, perceptron, perceptron, normalised_rows, residual,
         separable, branches, causal, keras, strided, normalised_maps, heads, linear_residual, carried_residual]


def networks(count, first):
    for seed in range(first, first + count):
        make = KINDS[seed % len(KINDS)]
        net = make(f"{make.__name__}_{seed}", seed)
        case = as_case(net, getattr(net, "group", make.__name__))
        if case:
            yield case


def as_case(net, group):
    """The network with onnxruntime's answer to a random input; None if onnxruntime does not take it."""
    model = net.proto()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        x = net.rng.standard_normal(net.shape).astype(DTYPES[net.kind][0])
        y = session.run(None, {"x": x})[0]
    except Exception as error:  # noqa: BLE001: onnxruntime has an exception for each kind of complaint
        print(f"left out  {net.name}: {str(error).splitlines()[0][:150]}")
        return None
    options = getattr(net, "options", ())
    return Case(net.name, group, model, [(x, y.astype(numpy.float32))], options, net.kind == "half", net.is_external)
