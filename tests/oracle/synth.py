"""Random float models that a strict loader must accept and run.

`models` walks through the families below again and again, so that any few
dozen consecutive models hold every layer kind and every activation.  Expected
values come from the oracle; the tolerance is 1e-4.
"""

from . import build, cases
from . import records as r
from .prng import Prng

TOLERANCE = 1e-4
_EPS = (2.0**-10, 1e-3, 1e-2)


def models(seed, count):
    """Yield (name, model); a model depends on the seed and its index only."""
    for index in range(count):
        family = FAMILIES[index % len(FAMILIES)]
        rng = Prng(seed * 1_000_003 + index)
        net = family(rng, index // len(FAMILIES))
        yield f"{index:04}_{family.__name__}", _finish(net, rng)


def _finish(net, rng):
    size = net.model.input_size
    inputs = [("random", rng.uniform(-2, 2, (size,)))]
    if rng.chance(0.5):
        sparse = rng.uniform(-3, 3, (size,))
        sparse[rng.integers(0, 2, (size,)) == 0] = 0
        inputs.append(("sparse", sparse))
    return cases.finish(net.model, inputs, TOLERANCE)


# ------------------------------------------------------------- random layers


def _attempt(make):
    """Add what `make()` adds, again and again until it fits the current shape."""
    while True:
        try:
            return make()
        except r.FormatError:
            continue


def _activation(rng, softmax=False):
    return rng.integer(0, len(r.ACTIVATIONS) if softmax else r.SOFTMAX)


def _alpha(rng):
    return rng.choice((0.0, 0.01, 0.2, 0.5, -0.25, 1.5))


def _pads(rng, height, width):
    """Paddings below the window size, half of them asymmetric."""
    top, left = rng.integer(0, height), rng.integer(0, width)
    if rng.chance(0.5):
        return top, left, top, left
    return top, left, rng.integer(top, height), rng.integer(left, width)


def add_conv(net, rng, activation=None):
    def make():
        kernel = rng.choice((1, 1, 2, 3, 3, 4, 5))
        pads = _pads(rng, max(kernel, 2), max(kernel, 2))
        act = _activation(rng) if activation is None else activation
        net.add(r.conv2d(kernel, rng.integer(1, 13), act, rng.integer(1, 4), pads, _alpha(rng)))
    _attempt(make)


def add_depthwise(net, rng, activation=None):
    def make():
        height = rng.choice((1, 2, 3, 3, 5))
        width = height if rng.chance(0.5) else rng.choice((1, 2, 3, 4, 5))
        act = _activation(rng) if activation is None else activation
        net.depthwise((height, width), act, rng.integer(1, 3), _pads(rng, height, width), _alpha(rng))
    _attempt(make)


def add_pool(net, rng, kind=None):
    def make():
        height, width = rng.integer(1, 4), rng.integer(1, 4)
        pool = kind or rng.choice((r.max_pool, r.avg_pool))
        net.add(pool((height, width), rng.integer(1, 4), _pads(rng, height, width)))
    _attempt(make)


def add_batch_norm(net, _rng):
    net.add(r.batch_norm(net.shape[2]))


def add_layer_norm(net, rng):
    net.add(r.layer_norm(net.shape[2], rng.choice(_EPS)))


def add_convnext(net, rng):
    net.add(r.convnext(net.shape[2], rng.choice(_EPS)))


def add_uib(net, rng):
    channels = net.shape[2]
    outputs = channels if rng.chance(0.5) else rng.integer(1, 13)
    ratio = rng.choice((1.5, 2.0, 3.0, 4.0, 6.0))
    net.add(r.uib(channels, outputs, rng.choice((0, 3, 5)), rng.choice((0, 3, 5, 7)),
                  rng.integer(1, 3), rng.integer(0, 2), ratio))


def add_resnet(net, rng):
    channels = net.shape[2]
    outputs = channels if rng.chance(0.5) else rng.integer(1, 10)
    net.add(r.resnet(channels, outputs, rng.integer(1, 3)))


def add_tap(net, rng):
    net.add(r.tap(net.shape[2], rng.integer(0, 4)))


BODY = (add_conv, add_conv, add_depthwise, add_pool, add_batch_norm, add_layer_norm,
        add_convnext, add_uib, add_resnet)


def _map(rng, smallest=3):
    height, width = rng.integer(smallest, 11), rng.integer(smallest, 11)
    return build.cnn(height, width, rng.integer(1, 9), build.FullTensors(rng))


def _dense_tail(net, rng):
    """Flatten and one to three dense layers."""
    net.add(r.flatten())
    for _ in range(rng.integer(1, 4)):
        net.add(r.dense(rng.integer(1, 20), _activation(rng, softmax=True), _alpha(rng)))


def _maybe_tail(net, rng):
    if rng.chance(0.3):
        _dense_tail(net, rng)
    return net


# ------------------------------------------------------------------ families


def mlp(rng, turn):
    """Dense layers; batch up to 3; every activation in turn."""
    net = build.mlp(rng.integer(1, 4), rng.integer(1, 40), build.FullTensors(rng))
    for depth in range(rng.integer(1, 7)):
        activation = (turn + depth) % len(r.ACTIVATIONS)
        net.add(r.dense(rng.integer(1, 40), activation, _alpha(rng)))
    return net


def conv_activation(rng, turn):
    net = _map(rng)
    add_conv(net, rng, turn % len(r.ACTIVATIONS))
    return net


def depthwise_activation(rng, turn):
    net = _map(rng)
    add_depthwise(net, rng, turn % len(r.ACTIVATIONS))
    return net


def point_conv_padded(rng, _turn):
    """A 1x1 convolution that reads its own padding."""
    net = _map(rng, smallest=1)
    pads = tuple(rng.integer(0, 3) for _ in range(2))
    ends = tuple(pad + rng.integer(0, 3) for pad in pads)
    return net.add(r.conv2d(1, rng.integer(1, 40), _activation(rng), rng.integer(1, 3), pads + ends, 0.1))


def pools(rng, _turn):
    net = _map(rng)
    add_pool(net, rng, r.max_pool)
    add_pool(net, rng, r.avg_pool)
    return _maybe_tail(net, rng)


def norm_first(rng, turn):
    """Scale and shift or LayerNorm before, between and after other layers."""
    net = _map(rng)
    (add_batch_norm, add_layer_norm)[turn % 2](net, rng)
    add_conv(net, rng)
    add_batch_norm(net, rng)
    add_pool(net, rng)
    add_batch_norm(net, rng)
    return net


def convnext(rng, _turn):
    net = _map(rng, smallest=1)
    add_convnext(net, rng)
    add_convnext(net, rng)
    return _maybe_tail(net, rng)


def uib_blocks(rng, _turn):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        add_uib(net, rng)
    return _maybe_tail(net, rng)


def resnet_blocks(rng, _turn):
    net = _map(rng)
    for _ in range(rng.integer(1, 4)):
        add_resnet(net, rng)
    return _maybe_tail(net, rng)


def head(rng, turn):
    """YOLOX head with 0 to 4 convolutions; more classes than hidden channels too."""
    net = _map(rng, smallest=1)
    if rng.chance(0.5):
        add_conv(net, rng)
    return net.add(r.yolox_head(net.shape[2], rng.integer(1, 12), rng.integer(1, 12), turn % 5))


def pyramid(rng, turn):
    """Backbone with two taps (and sometimes an unread one), PAFPN, heads."""
    height, width = 4 * rng.integer(1, 4), 4 * rng.integer(1, 4)
    net = build.cnn(height, width, rng.integer(1, 4), build.FullTensors(rng))
    channels = [rng.integer(1, 9) for _ in range(3)]
    net.add(r.conv2d(3, channels[0], r.RELU, pads=1), r.tap(channels[0], 0))
    net.add(r.conv2d(3, channels[1], r.LEAKY_RELU, 2, 1, 0.1), r.tap(channels[1], 1))
    net.add(r.conv2d(3, channels[2], r.NONE, 2, 1))
    if rng.chance(0.5):
        net.add(r.tap(channels[2], 2 + turn % 2))
    return net.add(r.pafpn(*channels, rng.integer(1, 9), rng.integer(1, 7), turn % 3))


def flatten_first(rng, _turn):
    net = _map(rng, smallest=1)
    _dense_tail(net, rng)
    return net


def map_softmax(rng, turn):
    """Softmax over a whole map, sometimes with a layer behind it."""
    net = _map(rng)
    (add_conv, add_depthwise)[turn % 2](net, rng, r.SOFTMAX)
    if rng.chance(0.5):
        add_conv(net, rng)
    return net


def deep(rng, _turn):
    """Up to ten random layers with taps in between."""
    net = _map(rng, smallest=5)
    for _ in range(rng.integer(4, 11)):
        rng.choice(BODY)(net, rng)
        if rng.chance(0.15):
            add_tap(net, rng)
    return _maybe_tail(net, rng)


def classifier(rng, _turn):
    """The usual stack: convolutions and pools, then dense layers."""
    net = _map(rng, smallest=6)
    for _ in range(rng.integer(1, 3)):
        add_conv(net, rng, rng.choice((r.RELU, r.RELU6)))
        add_pool(net, rng, r.max_pool)
    net.add(r.flatten(), r.dense(rng.integer(2, 30), r.RELU), r.dense(rng.integer(2, 11), r.SOFTMAX))
    return net


FAMILIES = (mlp, conv_activation, depthwise_activation, point_conv_padded, pools, norm_first,
            convnext, uib_blocks, resnet_blocks, head, pyramid, flatten_first, map_softmax,
            deep, classifier, deep)
