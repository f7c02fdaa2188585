"""Int8: activations, pools, odd sizes, and parameters at their limits."""

from oracle import records as r

from .common import cnn, mlp, recipe
from .quantised import quantised, renewed


def _activation(rng, activation, alpha=0.0):
    """Convolution, depthwise and dense layer with the same activation, and a mean that reads its result."""
    net = cnn(rng, 4, 4, 2).add(r.conv2d(1, 3, activation, alpha=alpha))
    net.depthwise(3, activation, pads=1, alpha=alpha).add(r.avg_pool(2, 2), r.flatten())
    return quantised(net.add(r.dense(12, activation, alpha)), rng)


@recipe
def conv_grown_int8(rng):
    """Tall, wide and flat kernels grown with zeros, strided and padded."""
    net = cnn(rng, 9, 8, 2).conv_grown(5, slice(5), slice(1, 3), 4, r.RELU, 2, (1, 1, 2, 3))
    net.conv_grown(3, slice(1, 2), slice(3), 6, pads=1).conv_grown(3, slice(3), slice(1, 2), 9, r.RELU, pads=(0, 1))
    return quantised(net, rng)


@recipe
def conv_grown_edges_int8(rng):
    """Zeros before the map that padding does not cover, long rows of weights with gaps, a pool behind single taps."""
    net = cnn(rng, 8, 10, 1).conv_grown(3, slice(1, 2), slice(1, 2), 9, r.RELU, pads=1)
    net.conv_grown(4, slice(2, 4), slice(1, 4), 33, r.RELU, 1, (1, 2, 1, 2)).add(r.max_pool(2, 2))
    return quantised(net.conv_grown(3, slice(1, 3), slice(1, 3), 5, pads=1), rng)


@recipe
def activation_none_int8(rng):
    return _activation(rng, r.NONE)


@recipe
def activation_relu_int8(rng):
    return _activation(rng, r.RELU)


@recipe
def activation_sigmoid_int8(rng):
    return _activation(rng, r.SIGMOID)


@recipe
def activation_tanh_int8(rng):
    return _activation(rng, r.TANH)


@recipe
def activation_leaky_relu_int8(rng):
    return _activation(rng, r.LEAKY_RELU, 0.2)


@recipe
def activation_ignored_int8(rng):
    """Nothing asks for tables, and softmax behind a convolution has no int8 form: no activation at all."""
    net = cnn(rng, 3, 4, 2).add(r.conv2d(1, 3, r.SIGMOID)).depthwise(3, r.TANH, pads=1)
    net.add(r.conv2d(1, 2, r.LEAKY_RELU, alpha=0.1), r.conv2d(1, 3))
    model = quantised(net, rng)
    for entry in model.quant[:3]:
        entry.bias_scale, entry.bias_zero = entry.in_scale * entry.weight_scale, 0
    for entry, reader in zip(model.quant, model.quant[1:]):
        reader.in_scale, reader.in_zero = entry.output
    model.layers[3].activation = r.SOFTMAX
    return renewed(model)


@recipe
def activations_mlp_int8(rng):
    """Every activation of a dense layer in a chain, batch 2, the widest values at the start."""
    net = mlp(rng, 7, batch=2).add(r.dense(6, r.TANH), r.dense(6, r.LEAKY_RELU, -0.25), r.dense(5, r.SIGMOID))
    return quantised(net.add(r.dense(6, r.RELU6), r.dense(5, r.RELU), r.dense(4, r.SOFTMAX)), rng, large=8.0)


@recipe
def softmax_rows_int8(rng):
    """Three rows of a width that is no multiple of four, one weight scale."""
    return quantised(mlp(rng, 5, batch=3).add(r.dense(7, r.SOFTMAX)), rng, per_channel=False)


@recipe
def pool_first_int8(rng):
    """Nothing describes the input of a model that starts with a pool: means round around 0."""
    net = cnn(rng, 7, 6, 2).add(r.avg_pool(2, 1), r.max_pool((2, 1), 1), r.conv2d(2, 3))
    return quantised(net, rng)


@recipe
def pool_behind_conv_int8(rng):
    """Max pools that halve a map: behind rows of few and of many products, uneven sizes, single codes, and last."""
    net = cnn(rng, 21, 19, 1).add(r.conv2d(1, 9, r.RELU), r.max_pool(2, 2), r.conv2d(3, 11, r.RELU, pads=1))
    net.add(r.max_pool(2, 2), r.conv2d(2, 3, pads=1), r.max_pool(2, 2))
    return quantised(net, rng)


@recipe
def pool_behind_depthwise_int8(rng):
    """The same for depthwise kernels; a pool behind a strided one, and one that overlaps, stay layers of their own."""
    net = cnn(rng, 23, 25, 10).depthwise(3, r.RELU6, pads=1).add(r.max_pool(2, 2)).depthwise(5, pads=1)
    net.add(r.max_pool(2, 2)).depthwise(3, r.RELU, stride=2, pads=1).add(r.max_pool(2, 2))
    return quantised(net.add(r.conv2d(1, 8, r.TANH), r.max_pool(1, 1)), rng)


@recipe
def flatten_first_int8(rng):
    return quantised(cnn(rng, 3, 2, 3).add(r.flatten(), r.dense(7, r.RELU), r.dense(3)), rng)


@recipe
def max_pool_window_in_padding_int8(rng):
    """A window of nothing but padding gives 0, whatever the zero point."""
    net = cnn(rng, 2, 2, 2).add(r.conv2d(1, 2), r.max_pool(1, 1, (1, 0, 2, 1)), r.conv2d(2, 2))
    return quantised(net, rng)


@recipe
def avg_pool_window_in_padding_int8(rng):
    """A window of nothing but padding gives the zero point."""
    net = cnn(rng, 2, 2, 2).add(r.conv2d(1, 2), r.avg_pool(2, 1, (2, 1, 3, 2)), r.conv2d(2, 2))
    return quantised(net, rng)


@recipe
def conv_odd_channels_int8(rng):
    """Channel counts around vector widths."""
    net = cnn(rng, 4, 4, 3).add(r.conv2d(3, 17, r.RELU, pads=1), r.conv2d(1, 9), r.conv2d(2, 5, r.RELU6))
    return quantised(net, rng)


@recipe
def depthwise_odd_channels_int8(rng):
    return quantised(cnn(rng, 4, 5, 17).depthwise(3, r.RELU, pads=1).depthwise(5, stride=2, pads=2), rng)


@recipe
def depthwise_asymmetric_pad_int8(rng):
    """More padding below and to the right; strides 1 and 2."""
    net = cnn(rng, 5, 6, 3).depthwise(3, r.RELU, 2, (0, 1, 1, 2)).depthwise((2, 3), r.NONE, 1, (1, 0, 1, 1))
    return quantised(net, rng, per_channel=False)


@recipe
def weight_tail_1_int8(rng):
    """One zero byte behind the weights."""
    return quantised(mlp(rng, 5).add(r.dense(3, r.RELU)), rng)


@recipe
def weight_tail_2_int8(rng):
    """Two zero bytes behind the weights."""
    return quantised(mlp(rng, 5).add(r.dense(2)), rng)


@recipe
def weight_zero_point_int8(rng):
    """Dense weights that are not symmetric: a small zero point and both ends of int8."""
    model = quantised(mlp(rng, 9, batch=2).add(r.dense(7, r.RELU), r.dense(5), r.dense(6)), rng)
    for entry, zero in zip(model.quant, (3, -128, 127)):
        entry.weight_zero = zero
    for entry in model.quant[1:]:
        entry.out_scale *= 8
    model.quant[2].in_scale = model.quant[1].out_scale
    return renewed(model)


@recipe
def zero_points_extreme_int8(rng):
    """All zero points are -128 or 127, where most of what convolutions and sums give saturates."""
    net = cnn(rng, 5, 5, 3).add(r.conv2d(3, 4, pads=1), r.resnet(4, 4), r.avg_pool((2, 3), 1, 1), r.uib(4, 4, 3, 3))
    net.depthwise(3, r.RELU6, pads=1).add(r.flatten(), r.dense(5))
    model = quantised(net, rng)
    for index, entry in enumerate(model.quant):
        entry.in_zero, entry.out_zero = (127, -128) if index % 2 else (-128, 127)
    model.quant[2].bias_zero = 127
    model.quant[3].in_zero = 127
    return renewed(model)


@recipe
def channel_scales_mixed_int8(rng):
    """Scales per channel and one for all, side by side in one file."""
    model = quantised(cnn(rng, 4, 4, 2).add(r.conv2d(3, 5, r.RELU), r.conv2d(1, 3), r.conv2d(2, 2)), rng)
    model.quant[1].channel_scales = None
    return renewed(model)


@recipe
def mnist_shape_mlp_int8(rng):
    """From 28x28 pixels to ten classes, as networks for MNIST go."""
    return quantised(mlp(rng, 784).add(r.dense(10, r.SOFTMAX)), rng, per_channel=False)
