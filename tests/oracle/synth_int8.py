"""Random int8 models: quantised random float models with disturbed scales.

Calibrated scales alone would rarely saturate, so output scales and zero points
are moved at random; the next layer's input follows most of the time.
"""

from . import build, cases, plan
from . import records as r
from . import synth
from .int8_net import Int8Net
from .int8_ops import real
from .prng import Prng
from .quantize import quantise

_MAP_ACTIVATIONS = (r.NONE, r.RELU, r.RELU6)


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
    model.tolerance = Int8Net(model).output_quant()[0]
    plan.plan(model)
    return model


def _disturb(model, rng):
    for index, entry in enumerate(model.quant):
        follow = rng.chance(0.8)
        factor, shift = float(rng.uniform(0.3, 1.6, ())), rng.integer(-40, 41)
        before = entry.out_scale, entry.out_zero
        entry.out_scale = real(entry.out_scale * factor)
        entry.out_zero = min(max(entry.out_zero + shift, -128), 127)
        later = model.quant[index + 1] if index + 1 < len(model.quant) else None
        if follow and later and (later.in_scale, later.in_zero) == before:
            later.in_scale, later.in_zero = entry.out_scale, entry.out_zero


def _map(rng):
    """A small map behind a first convolution."""
    tensors = build.FullTensors(rng)
    net = build.cnn(rng.integer(1, 10), rng.integer(1, 10), rng.integer(1, 6), tensors)
    synth.add_conv(net, rng, rng.choice(_MAP_ACTIVATIONS))
    return net


def _tail(net, rng):
    net.add(r.flatten())
    for _ in range(rng.integer(1, 4)):
        net.add(r.dense(rng.integer(1, 20), rng.choice((*_MAP_ACTIVATIONS, r.SOFTMAX))))
    return net


def mlp(rng):
    net = build.mlp(rng.integer(1, 4), rng.integer(1, 40), build.FullTensors(rng))
    for _ in range(rng.integer(1, 5)):
        net.add(r.dense(rng.integer(1, 30), rng.choice((*_MAP_ACTIVATIONS, r.SOFTMAX))))
    return net


def convolutions(rng):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        add = rng.choice((synth.add_conv, synth.add_depthwise))
        add(net, rng, rng.choice(_MAP_ACTIVATIONS))
    return net


def pools(rng):
    net = _map(rng)
    synth.add_pool(net, rng)
    synth.add_pool(net, rng)
    return net


def uib_blocks(rng):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        synth.add_uib(net, rng)
    return net


def uib_first(rng):
    net = build.cnn(rng.integer(2, 8), rng.integer(2, 8), rng.integer(1, 9), build.FullTensors(rng))
    synth.add_uib(net, rng)
    return net


def classifier(rng):
    net = _map(rng)
    for _ in range(rng.integer(0, 4)):
        add = rng.choice((synth.add_pool, synth.add_uib))
        add(net, rng)
    return _tail(net, rng)


FAMILIES = (mlp, convolutions, pools, uib_blocks, uib_first, classifier)
