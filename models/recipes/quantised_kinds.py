"""Int8: one model per layer kind, with weight scales per channel and per tensor."""

from oracle import records as r

from .common import cnn, mlp, recipe
from .quantised import quantised


def _dense(rng):
    return mlp(rng, 6).add(r.dense(5))


def _conv2d(rng):
    return cnn(rng, 6, 5, 3).add(r.conv2d(3, 4, stride=2, pads=1))


def _depthwise(rng):
    return cnn(rng, 6, 5, 5).depthwise(3, pads=1)


def _uib(rng):
    return cnn(rng, 6, 5, 6).add(r.uib(6, 6, start=3, middle=5, ratio=2.0))


def _resnet(rng):
    return cnn(rng, 5, 6, 4).add(r.resnet(4, 4))


@recipe
def kind_01_dense_int8(rng):
    return quantised(_dense(rng), rng)


@recipe
def kind_01_dense_per_tensor_int8(rng):
    return quantised(_dense(rng), rng, per_channel=False)


@recipe
def kind_02_conv2d_int8(rng):
    return quantised(_conv2d(rng), rng)


@recipe
def kind_02_conv2d_per_tensor_int8(rng):
    return quantised(_conv2d(rng), rng, per_channel=False)


@recipe
def kind_03_max_pool2d_int8(rng):
    """A pool has no descriptor, so a convolution brings one."""
    return quantised(cnn(rng, 6, 5, 3).add(r.conv2d(1, 3), r.max_pool(2, 2)), rng)


@recipe
def kind_04_flatten_int8(rng):
    return quantised(cnn(rng, 2, 3, 4).add(r.conv2d(1, 3), r.flatten()), rng)


@recipe
def kind_05_avg_pool2d_int8(rng):
    return quantised(cnn(rng, 6, 5, 3).add(r.conv2d(1, 3), r.avg_pool(2, 2)), rng)


@recipe
def kind_07_depthwise_conv2d_int8(rng):
    return quantised(_depthwise(rng), rng)


@recipe
def kind_07_depthwise_conv2d_per_tensor_int8(rng):
    return quantised(_depthwise(rng), rng, per_channel=False)


@recipe
def kind_09_mobilenetv4_uib_per_tensor_int8(rng):
    return quantised(_uib(rng), rng, per_channel=False)


@recipe
def kind_10_resnet_basic_block_int8(rng):
    return quantised(_resnet(rng), rng)


@recipe
def kind_10_resnet_basic_block_per_tensor_int8(rng):
    return quantised(_resnet(rng), rng, per_channel=False)
