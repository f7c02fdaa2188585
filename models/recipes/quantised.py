"""Int8 models: float recipes quantised here, results of the integer oracle."""

from oracle import build, cases, plan
from oracle import records as r
from oracle.int8_net import Int8Net
from oracle.quantize import quantise, quantise_values

from .common import cnn, mlp, probes, recipe
from .digits import calibration, digits_network, require_correct, samples


def finish_int8(model, inputs, labels=None):
    """Attach cases; the recorded tolerance is one output step."""
    first = model.quant[0]
    whole = [(name, quantise_values(values, first.in_scale, first.in_zero)) for name, values in inputs]
    cases.finish(model, whole, labels=labels)
    model.tolerance = Int8Net(model).output_quant()[0]
    return model


def quantised(net, rng, per_channel=True, large=4.0):
    """Quantise a network with its own probes; extreme int8 values as last case."""
    inputs = probes(rng, net.model.input_size, large)
    ranges = [values for _, values in inputs]
    ranges += [rng.grid(-2, 2, (net.model.input_size,)) for _ in range(8)]
    model = quantise(net.model, ranges, per_channel)
    model = finish_int8(model, inputs[:2])
    edges = rng.integers(0, 3, (net.model.input_size,)) * 127 - 127
    model.cases.append(cases.make_case(model, "extremes", edges))
    return model


def renewed(model):
    """Compute the expected values again after a change of the model."""
    model.cases = [cases.make_case(model, case.name, case.inputs) for case in model.cases]
    model.tolerance = Int8Net(model).output_quant()[0]
    plan.plan(model)
    return model


def _classifier(name, rng, first, per_channel=True):
    model = quantise(digits_network(name), calibration(), per_channel)
    inputs, labels = samples(rng, first)
    return require_correct(finish_int8(model, inputs, labels))


@recipe
def digits_mlp_int8(rng):
    """One weight scale per tensor."""
    return _classifier("digits_mlp", rng, 0, per_channel=False)


@recipe
def digits_cnn_int8(rng):
    return _classifier("digits_cnn", rng, 4)


@recipe
def digits_cnn_dw_int8(rng):
    return _classifier("digits_cnn_dw", rng, 7)


@recipe
def kind_09_mobilenetv4_uib_int8(rng):
    """The block comes first: its residual uses the first descriptor's input."""
    net = cnn(rng, 6, 5, 6).add(r.uib(6, 6, start=3, middle=5, ratio=2.0))
    return quantised(net, rng)


@recipe
def uib_chain_int8(rng):
    """All four variants behind a convolution, residual and strided, then a mean."""
    net = cnn(rng, 9, 8, 3).add(r.conv2d(3, 4, r.RELU, pads=1))
    net.add(r.uib(4, 4, 0, 3), r.uib(4, 4, 3, 0), r.uib(4, 4, 0, 0), r.uib(4, 6, 5, 3, 2, 1))
    net.add(r.avg_pool(2, 2), r.uib(6, 6, 3, 3), r.avg_pool(2, 1))
    return quantised(net, rng)


@recipe
def conv_asymmetric_pad_int8(rng):
    """Padding equals the input's zero point, more of it below and to the right."""
    net = cnn(rng, 5, 6, 2).add(r.conv2d(3, 3, r.RELU, 2, (0, 1, 1, 2)))
    net.depthwise(3, pads=(1, 0, 2, 2)).add(r.conv2d(2, 4, r.RELU6, 1, (0, 0, 1, 1)))
    return quantised(net, rng)


@recipe
def pool_asymmetric_pad_int8(rng):
    net = cnn(rng, 5, 6, 2).add(r.conv2d(1, 3), r.max_pool((3, 2), 1, (1, 0, 2, 1)))
    return quantised(net.add(r.avg_pool((2, 3), 2, (1, 1, 1, 2))), rng)


@recipe
def conv_small_map_int8(rng):
    """Every position of the 2x2 map touches padding."""
    net = cnn(rng, 2, 2, 3).add(r.conv2d(3, 5, r.RELU, pads=1), r.conv2d(5, 2, pads=2))
    return quantised(net.depthwise(5, pads=2), rng)


@recipe
def depthwise_rectangular_int8(rng):
    net = cnn(rng, 6, 7, 5).depthwise((2, 3), r.RELU).depthwise((5, 1), r.RELU6, pads=(2, 0))
    return quantised(net, rng)


@recipe
def relu6_int8(rng):
    """Values beyond 6 in every kind of layer that clamps."""
    net = cnn(rng, 4, 4, 2).add(r.conv2d(1, 4, r.RELU6)).depthwise(3, r.RELU6, pads=1)
    return quantised(net.add(r.flatten(), r.dense(6, r.RELU6)), rng, large=24.0)


@recipe
def scales_not_chained_int8(rng):
    """The second layer reads its input with a scale and zero point of its own."""
    net = cnn(rng, 4, 4, 2).add(r.conv2d(3, 4, pads=1), r.conv2d(3, 3, pads=1))
    model = quantised(net, rng)
    model.quant[1].in_scale *= 0.5
    model.quant[1].in_zero = 5 - model.quant[1].in_zero
    return renewed(model)


@recipe
def weight_tail_int8(rng):
    """Weight bytes are no multiple of four, so zeros follow them."""
    net = cnn(rng, 3, 3, 1).add(r.conv2d(3, 3, r.RELU), r.flatten(), r.dense(5), r.dense(3))
    return quantised(net, rng, per_channel=False)


@recipe
def mlp_batch2_int8(rng):
    """Two rows, relu6 inside, softmax row by row."""
    net = mlp(rng, 9, batch=2).add(r.dense(11, r.RELU6), r.dense(7, r.RELU), r.dense(5, r.SOFTMAX))
    return quantised(net, rng)


@recipe
def mlp_softmax_layers_int8(rng):
    """Softmax as the only layer of its width, then a wider dense layer."""
    net = build.mlp(1, 6, build.GridTensors(rng)).add(r.dense(4, r.SOFTMAX), r.dense(9))
    return quantised(net, rng)
