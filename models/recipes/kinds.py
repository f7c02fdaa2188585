"""One model per layer kind."""

from oracle import records as r

from .common import cnn, finish, mlp, recipe


@recipe
def kind_01_dense(rng):
    return finish(mlp(rng, 6).add(r.dense(5)), rng)


@recipe
def kind_02_conv2d(rng):
    return finish(cnn(rng, 6, 5, 3).add(r.conv2d(3, 4, stride=2, pads=1)), rng)


@recipe
def kind_03_max_pool2d(rng):
    return finish(cnn(rng, 6, 5, 3).add(r.max_pool(2, 2)), rng)


@recipe
def kind_04_flatten(rng):
    return finish(cnn(rng, 2, 3, 4).add(r.flatten()), rng)


@recipe
def kind_05_avg_pool2d(rng):
    return finish(cnn(rng, 6, 5, 3).add(r.avg_pool(2, 2)), rng)


@recipe
def kind_06_batch_norm2d(rng):
    return finish(cnn(rng, 3, 4, 5).add(r.batch_norm(5)), rng)


@recipe
def kind_07_depthwise_conv2d(rng):
    return finish(cnn(rng, 6, 5, 5).depthwise(3, pads=1), rng)


@recipe
def kind_08_convnextv2_block(rng):
    return finish(cnn(rng, 5, 6, 4).add(r.convnext(4)), rng, large=4)


@recipe
def kind_09_mobilenetv4_uib(rng):
    return finish(cnn(rng, 6, 5, 6).add(r.uib(6, 6, start=3, middle=5, ratio=2.0)), rng, large=4)


@recipe
def kind_10_resnet_basic_block(rng):
    return finish(cnn(rng, 5, 6, 4).add(r.resnet(4, 4)), rng, large=4)


@recipe
def kind_11_layernorm2d(rng):
    return finish(cnn(rng, 3, 4, 6).add(r.layer_norm(6)), rng)


@recipe
def kind_12_yolox_decoupled_head(rng):
    return finish(cnn(rng, 4, 3, 5).add(r.yolox_head(5, 6, 3, 2)), rng, large=4)


@recipe
def kind_13_feature_tap(rng):
    """A tap that no layer reads changes nothing."""
    net = cnn(rng, 4, 4, 2)
    net.add(r.conv2d(3, 3, r.RELU, pads=1), r.tap(3, 0), r.conv2d(1, 2))
    return finish(net, rng)


@recipe
def kind_14_yolox_pafpn_multiscale(rng):
    """Backbone with two taps, pyramid and three heads."""
    net = cnn(rng, 8, 12, 2)
    net.add(r.conv2d(3, 3, r.RELU, pads=1), r.tap(3, 0))
    net.add(r.conv2d(3, 4, r.RELU, stride=2, pads=1), r.tap(4, 1))
    net.add(r.conv2d(3, 5, r.RELU, stride=2, pads=1), r.pafpn(3, 4, 5, 6, 2, 1))
    return finish(net, rng, large=4)
