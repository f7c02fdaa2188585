"""Int8: UIB and ResNet blocks in all their variants."""

from oracle import records as r

from .common import cnn, recipe
from .quantised import quantised


def _uib_chain(rng, start, middle):
    """Residual, strided both ways, and a block that only changes channels."""
    net = cnn(rng, 7, 6, 4)
    for outputs, stride, downsample in ((4, 1, 1), (6, 2, 1), (5, 2, 0), (3, 1, 1)):
        net.add(r.uib(net.shape[2], outputs, start, middle, stride, downsample, ratio=2.5))
    return quantised(net, rng)


@recipe
def uib_no_depthwise_int8(rng):
    return _uib_chain(rng, 0, 0)


@recipe
def uib_start_only_int8(rng):
    return _uib_chain(rng, 3, 0)


@recipe
def uib_middle_only_int8(rng):
    return _uib_chain(rng, 0, 5)


@recipe
def uib_start_and_middle_int8(rng):
    return _uib_chain(rng, 5, 3)


@recipe
def resnet_first_and_last_int8(rng):
    """Identity blocks only: input and output of the model are residuals."""
    return quantised(cnn(rng, 4, 5, 3).add(r.resnet(3, 3), r.resnet(3, 3)), rng)


@recipe
def resnet_last_int8(rng):
    """A mean between convolution and block, which then rounds around the convolution's zero point."""
    net = cnn(rng, 6, 5, 2).add(r.conv2d(3, 4, pads=1), r.avg_pool(2, 1), r.resnet(4, 4))
    return quantised(net, rng)


@recipe
def resnet_projection_first_int8(rng):
    """Both reasons for a projection at once, then a mean that reads the sum's zero point."""
    return quantised(cnn(rng, 7, 6, 3).add(r.resnet(3, 5, stride=2), r.avg_pool(2, 1)), rng)


@recipe
def resnet_shifted_int8(rng):
    """Even and odd sizes whose padding lies behind the map only."""
    return quantised(cnn(rng, 8, 7, 3).resnet_shifted(4, stride=2).resnet_shifted(4, stride=1), rng)


@recipe
def resnet_projection_same_channels_int8(rng):
    """Stride alone asks for the projection."""
    return quantised(cnn(rng, 5, 5, 4).add(r.resnet(4, 4, stride=2), r.conv2d(1, 2)), rng)


@recipe
def resnet_projection_last_int8(rng):
    """Channels alone ask for the projection."""
    net = cnn(rng, 4, 4, 2).add(r.conv2d(1, 3, r.RELU), r.resnet(3, 5))
    return quantised(net, rng, per_channel=False)


@recipe
def blocks_mixed_int8(rng):
    """UIB and ResNet blocks behind each other, pools between, a softmax at the end."""
    net = cnn(rng, 8, 8, 3).add(r.conv2d(3, 5, r.RELU, 2, 1), r.resnet(5, 5), r.uib(5, 5, 3, 3))
    net.add(r.max_pool(2, 1), r.resnet(5, 7), r.uib(7, 7, 0, 3), r.avg_pool(3, 1))
    return quantised(net.add(r.flatten(), r.dense(4, r.SOFTMAX)), rng)
