"""Fused blocks and detection heads in all their variants."""

from oracle import records as r

from .common import cnn, finish, recipe


@recipe
def resnet_first_and_last(rng):
    """Identity blocks only: input and output of the model are residuals."""
    return finish(cnn(rng, 4, 5, 3).add(r.resnet(3, 3), r.resnet(3, 3)), rng, large=4)


@recipe
def resnet_last(rng):
    return finish(cnn(rng, 5, 4, 2).add(r.conv2d(3, 4, r.RELU, pads=1), r.resnet(4, 4)), rng, large=4)


@recipe
def resnet_projection_stride2(rng):
    return finish(cnn(rng, 7, 6, 3).add(r.resnet(3, 5, stride=2), r.conv2d(1, 2)), rng, large=4)


@recipe
def resnet_projection_same_channels(rng):
    """Stride alone asks for the projection."""
    return finish(cnn(rng, 5, 5, 4).add(r.resnet(4, 4, stride=2)), rng, large=4)


@recipe
def resnet_projection_channels(rng):
    """Channels alone ask for the projection."""
    return finish(cnn(rng, 4, 4, 2).add(r.resnet(2, 5)), rng, large=4)


def _uib_chain(rng, start, middle):
    """Residual, strided both ways, and a block that only changes channels."""
    net = cnn(rng, 8, 7, 4)
    for outputs, stride, downsample in ((4, 1, 1), (6, 2, 1), (5, 2, 0), (5, 1, 0), (3, 1, 1)):
        net.add(r.uib(net.shape[2], outputs, start, middle, stride, downsample, ratio=2.5))
    return finish(net, rng, large=4)


@recipe
def uib_no_depthwise(rng):
    """Strides have no effect on the size but switch the residual off."""
    return _uib_chain(rng, 0, 0)


@recipe
def uib_start_only(rng):
    return _uib_chain(rng, 3, 0)


@recipe
def uib_middle_only(rng):
    return _uib_chain(rng, 0, 5)


@recipe
def uib_start_and_middle(rng):
    return _uib_chain(rng, 5, 3)


@recipe
def uib_ratios(rng):
    """Expanded widths on both sides of the rounding to multiples of eight."""
    net = cnn(rng, 3, 3, 12)
    for ratio in (1.0, 1.4, 3.3, 6.0):
        net.add(r.uib(12, 12, 0, 3, ratio=ratio))
    return finish(net, rng, large=4, count=2)


@recipe
def convnext_stack(rng):
    """Blocks behind a convolution, the last one on a map smaller than 7x7."""
    net = cnn(rng, 8, 9, 2)
    net.add(r.conv2d(2, 3, stride=2), r.convnext(3), r.layer_norm(3), r.convnext(3, eps=2.0**-10))
    return finish(net, rng, large=4)


@recipe
def convnext_one_pixel(rng):
    return finish(cnn(rng, 1, 1, 5).add(r.convnext(5)), rng, large=4)


@recipe
def yolox_head_plain(rng):
    """No branch convolutions."""
    return finish(cnn(rng, 3, 4, 4).add(r.yolox_head(4, 5, 2, 0)), rng)


@recipe
def yolox_head_deep(rng):
    """Four convolutions per branch behind a backbone layer."""
    net = cnn(rng, 6, 5, 2)
    return finish(net.add(r.conv2d(3, 3, r.RELU, 2, 1), r.yolox_head(3, 4, 3, 4)), rng, large=4)


@recipe
def yolox_head_many_classes(rng):
    """More classes than hidden channels, fewer hidden channels than box values."""
    return finish(cnn(rng, 3, 3, 3).add(r.yolox_head(3, 2, 9, 1)), rng)


@recipe
def pafpn_smallest(rng):
    """The smallest pyramid, heads without convolutions, an extra tap."""
    net = cnn(rng, 4, 4, 1)
    net.add(r.tap(1, 0), r.conv2d(3, 2, r.RELU, 2, 1), r.tap(2, 1), r.conv2d(3, 3, r.NONE, 2, 1))
    return finish(net.add(r.tap(3, 3), r.pafpn(1, 2, 3, 2, 3, 0)), rng, large=4)


@recipe
def backbone_mixed(rng):
    """Every block kind in one network with a dense head."""
    net = cnn(rng, 12, 12, 3)
    net.add(r.conv2d(3, 8, r.RELU, 2, 1), r.batch_norm(8), r.uib(8, 8, 3, 3), r.resnet(8, 6, 2))
    net.add(r.convnext(6), r.layer_norm(6)).depthwise(3, r.RELU6, pads=1)
    net.add(r.avg_pool(3, 1), r.flatten(), r.dense(7, r.RELU), r.dense(4, r.SOFTMAX))
    return finish(net, rng, large=4, count=2)
