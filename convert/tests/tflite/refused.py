"""What has no exact form, each with an operator that is to be named."""
import numpy as np
from net import FLOAT32, INT8, NONE, VALID, model, schema


@model([1, 6, 7, 3])
def refused_strides_that_differ(net):
    net.conv(4, 3, stride=(2, 1))


@model([1, 5])
def refused_nothing_but_a_shape(net):
    net.reshape(5, 1)


@model([1, 6, 7, 4])
def refused_sum_of_branches(net):
    start = net.at
    main = net.conv(4, 3, activation=NONE)
    net.add(start, main)


@model([1, 6, 7, 4])
def refused_two_operators(net):
    net.conv(4, 3)
    net.op("HARD_SWISH", [net.at], net.shape())
    net.op("TRANSPOSE", [net.at, net.const(np.array([0, 2, 1, 3], np.int32))], [1, 7, 6, 4], schema.TransposeOptionsT())


@model([1, 6, 4, 4])
def refused_map_of_another_shape(net):
    net.conv(4, 1)
    net.reshape(1, 4, 6, 4)
    net.conv(3, 3)


@model([1, 4, 4])
def refused_mean_of_channels(net):
    net.mean(axes=(2,))


@model([1, 9])
def refused_leaky_relu_with_another_scale(net):
    net.dense(8)
    net.leaky(0.3, scale=0.05, zero=-90)


@model([1, 4, 5, 2], kind=FLOAT32)
def refused_codes_in_the_middle(net):
    net.conv(3, 3)
    net.quantize(0.05, 3)
    net.kind = INT8
    net.conv(3, 3, padding=VALID)


@model([1, 3, 4, 5])
def refused_dense_of_each_pixel_around_another_zero(net):
    codes = net.rng.integers(-128, 128, (6, 5)).astype(np.int8)
    codes[0, :2] = -128, 127
    net.dense_with(net.const(codes, scale=0.006, zero=27), -1, scale=0.09, zero=-5, keep=True)


@model([1, 3, 7, 4])
def refused_mean_of_both_signs(net):
    net.mean()


@model([1, 3, 7, 4])
def refused_relu6_in_another_scale(net):
    net.relu("RELU6", scale=0.04, zero=-128)
