"""Random int8 models: quantised random float models with disturbed scales.

Calibrated scales alone would rarely saturate, so output scales and zero points
are moved at random, some to the ends of int8; what reads the result follows
most of the time.  Dense weights get zero points, some descriptors lose their
channel scales, and some no longer ask for the table of their activation.
"""

from . import build, cases, plan
from . import records as r
from . import int8_tables as tables
from . import synth
from .int8_net import Int8Net
from .int8_ops import real
from .prng import Prng
from .quantize import quantise

_CLAMPS = (r.NONE, r.RELU, r.RELU6)
_ACTIVATIONS = (*_CLAMPS, *tables.ACTIVATIONS)


def models(seed, count):
    """Yield (name, model); a model depends on the seed and its index only."""
    for index in range(count):
        family = FAMILIES[index % len(FAMILIES)]
        rng = Prng(seed * 1_000_003 + index)
        net = family(rng)
        yield f"{index:04}_{family.__name__}_int8", _finish(net, rng)


def _finish(net, rng):
    size = net.model.input_size
    calibration = [rng.uniform(-2, 2, (size,)) for _ in range(3)]
    model = quantise(net.model, calibration, per_channel=rng.chance(0.6))
    if rng.chance(0.7):
        _disturb(model, rng)
    inputs = [("random", rng.integers(-128, 128, (size,))), ("extremes", rng.integers(0, 2, (size,)) * 255 - 128)]
    model.cases = [cases.make_case(model, name, values) for name, values in inputs]
    model.tolerance = real(Int8Net(model).output_quant()[0])
    plan.plan(model)
    return model


# --------------------------------------------------------------- disturbances


def _disturb(model, rng):
    for index, (entry, weight) in enumerate(zip(model.quant, model.weights)):
        later = model.quant[index + 1:]
        asks = entry.bias == entry.output
        _move_output(entry, later, rng)
        if asks:
            entry.bias_scale, entry.bias_zero = entry.output
        if rng.chance(0.15):
            entry.channel_scales = None
        if weight.ndim == 2 and rng.chance(0.3):
            entry.weight_zero = rng.choice((-128, 127, rng.integer(-9, 10)))
    _disturb_bias_parameters(model, rng)


def _move_output(entry, later, rng):
    """A new scale and zero point; every reader of the old ones follows, or none does."""
    before = entry.output
    follow, moved = rng.chance(0.8), entry.out_zero + rng.integer(-40, 41)
    entry.out_scale = real(entry.out_scale * float(rng.uniform(0.3, 1.6, ())))
    entry.out_zero = rng.choice((-128, 127)) if rng.chance(0.1) else min(max(moved, -128), 127)
    for reader in later if follow else ():
        if reader.input == before:
            reader.in_scale, reader.in_zero = entry.output


def _disturb_bias_parameters(model, rng):
    """Other sums of ResNet blocks; activations without their table."""
    used = 0
    for layer, owned in zip(model.layers, (len(step.weights) for step in plan.plan(model))):
        entries = model.quant[used:used + owned]
        if layer.kind == r.RESNET_BASIC_BLOCK:
            before, summed = entries[1].bias, entries[1]
            summed.bias_scale = real(summed.bias_scale * float(rng.uniform(0.3, 1.6, ())))
            summed.bias_zero = rng.integer(-128, 128)
            for reader in model.quant[used + owned:]:
                if reader.input == before:
                    reader.in_scale, reader.in_zero = summed.bias
        elif getattr(layer, "activation", r.NONE) in tables.ACTIVATIONS and rng.chance(0.15):
            entries[0].bias_zero += 1
        used += owned


# ------------------------------------------------------------------- families


def _alpha(rng):
    return rng.choice((0.0, 0.01, 0.2, 0.5, -0.25, 1.5))


def _start(rng):
    return build.cnn(rng.integer(1, 10), rng.integer(1, 10), rng.integer(1, 6), build.FullTensors(rng))


def _map(rng, activations=_CLAMPS):
    """A small map behind a first convolution."""
    net = _start(rng)
    synth.add_conv(net, rng, rng.choice(activations))
    return net


def _tail(net, rng):
    return _dense(net.add(r.flatten()), rng, rng.integer(1, 4), 20)


def _dense(net, rng, count, widest):
    for _ in range(count):
        net.add(r.dense(rng.integer(1, widest), rng.choice((*_ACTIVATIONS, r.SOFTMAX)), _alpha(rng)))
    return net


def mlp(rng):
    net = build.mlp(rng.integer(1, 4), rng.integer(1, 40), build.FullTensors(rng))
    return _dense(net, rng, rng.integer(1, 5), 30)


def _convolutions(net, rng, activations):
    for _ in range(rng.integer(1, 4)):
        add = rng.choice((synth.add_conv, synth.add_depthwise))
        add(net, rng, rng.choice(activations))
    return net


def convolutions(rng):
    return _convolutions(_map(rng), rng, _CLAMPS)


def convolution_tables(rng):
    """Sigmoid, tanh and leaky ReLU, read by whatever comes next."""
    net = _convolutions(_map(rng, tables.ACTIVATIONS), rng, tables.ACTIVATIONS)
    if rng.chance(0.5):
        rng.choice((synth.add_pool, synth.add_uib, synth.add_resnet))(net, rng)
    return net


def pools(rng):
    net = _map(rng)
    synth.add_pool(net, rng)
    synth.add_pool(net, rng)
    return net


def pools_in_padding(rng):
    """Windows with nothing but padding under them, then a layer that reads the result."""
    net = _map(rng)
    pads = tuple(rng.integer(2, 4) for _ in range(4))
    top, left, down, across = pads
    net.add(rng.choice((r.max_pool, r.avg_pool))(rng.integer(1, 3), 1, (top, left, top + down, left + across)))
    synth.add_conv(net, rng, rng.choice(_CLAMPS))
    return net


def pool_first(rng):
    """No descriptor describes the input of a model that starts with a pool."""
    net = _start(rng)
    synth.add_pool(net, rng)
    synth.add_conv(net, rng, rng.choice(_CLAMPS))
    return net


def uib_blocks(rng):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        synth.add_uib(net, rng)
    return net


def resnet_blocks(rng):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        rng.choice((synth.add_resnet, synth.add_resnet, synth.add_pool))(net, rng)
    return net


def block_first(rng):
    net = build.cnn(rng.integer(2, 8), rng.integer(2, 8), rng.integer(1, 9), build.FullTensors(rng))
    rng.choice((synth.add_uib, synth.add_resnet))(net, rng)
    return net


def classifier(rng):
    net = _map(rng, _ACTIVATIONS)
    for _ in range(rng.integer(0, 4)):
        rng.choice((synth.add_pool, synth.add_uib, synth.add_resnet))(net, rng)
    return _tail(net, rng)


FAMILIES = (mlp, convolutions, convolution_tables, pools, pools_in_padding, pool_first, uib_blocks,
            resnet_blocks, block_first, classifier)
