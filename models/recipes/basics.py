"""Small models whose results can be checked by hand."""

import numpy as np

from oracle import records as r

from .common import cnn, finish, finish_with, mlp, recipe, values


@recipe
def test_mlp(rng):
    """The worked example of the file specification: 1,2 gives 3,3."""
    net = mlp(rng, 2)
    net.add_with(r.dense(2, r.RELU), (values(1, 1, 2, -0.5), values(0, 0.5)))
    net.add_with(r.dense(2), (values(1, -1, 0.5, 1), values(1.5, 0)))
    return finish_with(net, [("one two", values(1, 2)), ("zeros", values(0, 0)),
                             ("negative", values(-3, 1.5))])


@recipe
def test_cnn(rng):
    """Two 1x1 convolutions on a 2x2x2 map."""
    net = cnn(rng, 2, 2, 2)
    net.add_with(r.conv2d(1, 1, r.RELU), (values(1, -0.5), values(0.25)))
    net.add_with(r.conv2d(1, 2), (values(2, -1), values(0, 0.5)))
    return finish_with(net, [("count", np.arange(1, 9, dtype=np.float32)),
                             ("signs", values(-1, 2, 0, 0, 3, -4, -0.5, 0.5))])


@recipe
def cnn_4x4_single(rng):
    """One 3x3 filter without padding: sixteen ones give four times 4.0."""
    net = cnn(rng, 4, 4, 1)
    kernel = values(0.5, 1, -0.5, 1, 2, -1, 0.25, 0.5, -0.25)
    net.add_with(r.conv2d(3, 1), (kernel, values(0.5)))
    ramp = (np.arange(16) - 8) / np.float32(4)
    return finish_with(net, [("ones", np.ones(16)), ("ramp", ramp)])


@recipe
def cnn_extended_ops(rng):
    """Convolution, both pools, scale and shift, flatten, dense."""
    net = cnn(rng, 4, 4, 1)
    net.add(r.conv2d(3, 2, r.RELU, pads=1), r.max_pool(2, 1, pads=1), r.avg_pool(2, 2),
            r.batch_norm(2), r.flatten(), r.dense(2))
    return finish(net, rng)
