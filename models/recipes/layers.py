"""Activations, dense and convolution shapes, norms: the corners of single layers."""

from oracle import records as r

from .common import cnn, finish, finish_with, mlp, probes, recipe

# ----------------------------------------------------------------- activations


def _activation_recipe(activation):
    """Register a model with one activation after a 1x1 convolution."""
    def make(rng):
        return finish(cnn(rng, 3, 3, 2).add(r.conv2d(1, 5, activation, alpha=0.25)), rng)
    make.__name__ = f"activation_{r.ACTIVATIONS[activation]}"
    recipe(make)


for _code in range(len(r.ACTIVATIONS)):
    _activation_recipe(_code)


@recipe
def activations_mlp(rng):
    """One dense layer per activation, softmax last."""
    net = mlp(rng, 5)
    for activation in (r.RELU6, r.LEAKY_RELU, r.NONE, r.RELU, r.TANH, r.SIGMOID, r.SOFTMAX):
        net.add(r.dense(6, activation, alpha=0.25))
    return finish(net, rng)


@recipe
def activations_cnn(rng):
    """Depthwise and 1x1 convolution per activation except softmax."""
    net = cnn(rng, 5, 4, 4)
    for activation in (r.RELU6, r.LEAKY_RELU, r.NONE, r.RELU, r.TANH, r.SIGMOID):
        net.depthwise(3, activation, pads=1, alpha=0.5)
        net.add(r.conv2d(1, 4, activation, alpha=-0.125))
    return finish(net, rng)


@recipe
def conv_grown(rng):
    """Tall, wide and flat kernels grown with zeros, strided and padded; enough pixels for panels of weights."""
    net = cnn(rng, 13, 12, 2).conv_grown(5, slice(5), slice(1, 3), 17, r.RELU, 2, (1, 1, 2, 3))
    net.conv_grown(3, slice(1, 2), slice(3), 6, pads=1).conv_grown(3, slice(3), slice(1, 2), 33, r.RELU, pads=(0, 1))
    return finish(net, rng, large=4)


@recipe
def conv_grown_edges(rng):
    """Zeros before the map that padding does not cover, a single tap in the middle, and nothing but zeros."""
    net = cnn(rng, 7, 9, 5).conv_grown(4, slice(2, 4), slice(3, 4), 9, r.RELU, 1, (1, 2, 1, 2))
    net.conv_grown(3, slice(1, 2), slice(1, 2), 8, pads=1).conv_grown(3, slice(0), slice(0), 3, r.SIGMOID, pads=1)
    return finish(net.add(r.conv2d(2, 5)), rng, large=4)


@recipe
def softmax_map(rng):
    """Softmax over a whole map, with a layer behind it."""
    return finish(cnn(rng, 4, 3, 2).add(r.conv2d(3, 3, r.SOFTMAX, pads=1), r.conv2d(1, 2)), rng)


@recipe
def softmax_map_depthwise(rng):
    return finish(cnn(rng, 4, 3, 3).depthwise(3, r.SOFTMAX, pads=1), rng)


@recipe
def softmax_rows(rng):
    """MLP of batch 3: softmax row by row."""
    return finish(mlp(rng, 4, batch=3).add(r.dense(5, r.SOFTMAX)), rng)


@recipe
def softmax_hidden(rng):
    """Softmax between dense layers, batch 2."""
    net = mlp(rng, 6, batch=2)
    return finish(net.add(r.dense(7, r.RELU), r.dense(5, r.SOFTMAX), r.dense(3)), rng)


# ------------------------------------------------------------------------ dense


@recipe
def mlp_batch3(rng):
    return finish(mlp(rng, 7, batch=3).add(r.dense(9, r.RELU), r.dense(4)), rng)


@recipe
def mlp_one_value(rng):
    return finish(mlp(rng, 1).add(r.dense(1)), rng)


@recipe
def mlp_deep(rng):
    """Twelve layers."""
    net = mlp(rng, 10)
    for index in range(11):
        net.add(r.dense(8 + index % 3, (r.TANH, r.RELU, r.LEAKY_RELU)[index % 3], alpha=0.25))
    return finish(net.add(r.dense(3)), rng)


@recipe
def dense_wide(rng):
    """Many inputs, a number of outputs that fills no vector."""
    return finish(mlp(rng, 300).add(r.dense(13, r.RELU), r.dense(2)), rng, count=2)


@recipe
def dense_odd_sizes(rng):
    """Sizes around vector widths."""
    net = mlp(rng, 7)
    for units in (17, 9, 33, 5, 3, 1):
        net.add(r.dense(units))
    return finish(net, rng)


@recipe
def flatten_first(rng):
    net = cnn(rng, 3, 2, 3)
    return finish(net.add(r.flatten(), r.dense(7, r.RELU), r.dense(4, r.SOFTMAX)), rng)


# ------------------------------------------------------------------ convolution


@recipe
def conv_1x1_padded(rng):
    """The border holds nothing but the bias."""
    return finish(cnn(rng, 3, 2, 3).add(r.conv2d(1, 4, pads=(1, 2, 2, 3))), rng)


@recipe
def conv_1x1_stride2(rng):
    return finish(cnn(rng, 5, 6, 3).add(r.conv2d(1, 5, stride=2)), rng)


@recipe
def conv_asymmetric_pad(rng):
    net = cnn(rng, 5, 6, 2)
    return finish(net.add(r.conv2d(3, 3, stride=2, pads=(0, 1, 1, 2)), r.conv2d(2, 2, pads=(1, 0, 3, 2))), rng)


@recipe
def conv_40_channels(rng):
    return finish(cnn(rng, 4, 4, 40).add(r.conv2d(3, 7, r.RELU, pads=1)), rng, large=4, count=2)


@recipe
def conv_many_tiles(rng):
    """Behind a wide map there is memory enough for Winograd's method, in tiles that do not fill the map."""
    net = cnn(rng, 13, 15, 16).add(r.conv2d(1, 48, r.RELU), r.conv2d(3, 16, r.RELU6, pads=1), r.conv2d(3, 32, pads=1))
    return finish(net.add(r.batch_norm(32)), rng, large=4, count=2)


@recipe
def conv_odd_channels(rng):
    """Channel counts around vector widths, 1x1 and 3x3."""
    net = cnn(rng, 4, 3, 3)
    for filters, kernel in ((5, 3), (9, 1), (17, 3), (33, 1), (1, 3)):
        net.add(r.conv2d(kernel, filters, pads=kernel // 2))
    return finish(net, rng, large=4)


@recipe
def conv_large_kernel(rng):
    """5x5 with stride 3, then 7x7 over a map smaller than the kernel."""
    net = cnn(rng, 11, 9, 2)
    return finish(net.add(r.conv2d(5, 3, r.RELU, stride=3, pads=2), r.conv2d(7, 2, pads=3)), rng)


@recipe
def conv_one_pixel(rng):
    """Maps of 1x1."""
    return finish(cnn(rng, 1, 1, 5).add(r.conv2d(1, 6, r.RELU), r.conv2d(3, 3, pads=1)), rng)


# -------------------------------------------------------------------- depthwise


@recipe
def depthwise_asymmetric_pad(rng):
    return finish(cnn(rng, 6, 5, 3).depthwise(3, stride=2, pads=(0, 1, 1, 2)), rng)


@recipe
def depthwise_rectangular(rng):
    net = cnn(rng, 6, 7, 4).depthwise((2, 3), r.RELU).depthwise((5, 1), pads=(2, 0))
    return finish(net, rng)


@recipe
def depthwise_rectangular_padded(rng):
    """A rectangular kernel with asymmetric padding."""
    return finish(cnn(rng, 5, 6, 3).depthwise((3, 4), pads=(1, 1, 1, 2)), rng)


@recipe
def depthwise_larger_than_input(rng):
    """A 5x5 kernel over a 2x2 map inside its padding."""
    return finish(cnn(rng, 2, 2, 6).depthwise(5, pads=2), rng)


@recipe
def depthwise_odd_channels(rng):
    """17 channels, strides 1 and 2."""
    return finish(cnn(rng, 6, 6, 17).depthwise(3, r.RELU6, pads=1).depthwise(3, stride=2, pads=1), rng, count=2)


# ------------------------------------------------------------------------ pools


@recipe
def pool_rectangular(rng):
    return finish(cnn(rng, 6, 7, 3).add(r.max_pool((2, 3), 1), r.avg_pool((3, 1), 2)), rng)


@recipe
def pool_asymmetric_pad(rng):
    """Padding is never part of a maximum nor of a mean."""
    net = cnn(rng, 5, 6, 3)
    net.add(r.max_pool(3, 2, (0, 1, 2, 2)), r.avg_pool((2, 3), 1, (1, 0, 1, 2)))
    return finish(net, rng)


@recipe
def max_pool_window_in_padding(rng):
    """Windows of nothing but padding give the lowest float."""
    return finish(cnn(rng, 2, 2, 2).add(r.max_pool(1, 1, (1, 0, 2, 1))), rng)


@recipe
def avg_pool_window_in_padding(rng):
    """Windows of nothing but padding give zero."""
    return finish(cnn(rng, 2, 2, 2).add(r.avg_pool(2, 1, (2, 1, 3, 2))), rng)


@recipe
def pool_global(rng):
    """One window over the whole map."""
    return finish(cnn(rng, 7, 5, 6).add(r.avg_pool((7, 5), 1), r.flatten(), r.dense(3)), rng)


# ------------------------------------------------------------------------ norms


@recipe
def batch_norm_first(rng):
    return finish(cnn(rng, 4, 4, 3).add(r.batch_norm(3), r.conv2d(3, 2, r.RELU, pads=1)), rng)


@recipe
def batch_norm_after_pool(rng):
    net = cnn(rng, 6, 6, 2)
    net.add(r.conv2d(3, 4, r.RELU), r.max_pool(2, 2), r.batch_norm(4), r.conv2d(1, 3))
    return finish(net, rng)


@recipe
def batch_norm_last(rng):
    return finish(cnn(rng, 4, 5, 2).add(r.conv2d(3, 5), r.batch_norm(5)), rng)


@recipe
def layer_norm_first(rng):
    return finish(cnn(rng, 4, 3, 8).add(r.layer_norm(8), r.conv2d(1, 3, r.TANH)), rng)


@recipe
def layer_norm_constant(rng):
    """Equal channels: the variance is zero and eps alone decides."""
    net = cnn(rng, 2, 2, 4).add(r.layer_norm(4, eps=2.0**-10))
    inputs = probes(rng, net.model.input_size)[:1]
    flat = rng.grid(-2, 2, (4, 1)).repeat(4, axis=1).reshape(-1)
    return finish_with(net, [("equal", flat), *inputs])


# ----------------------------------------------------------------- whole classifiers


@recipe
def mnist_shape_cnn(rng):
    """From 28x28 pixels to ten classes, as networks for MNIST go."""
    net = cnn(rng, 28, 28, 1).add(r.conv2d(3, 3, r.RELU, 2, 1), r.max_pool(2, 2))
    return finish(net.add(r.flatten(), r.dense(10, r.SOFTMAX)), rng, large=4)
