"""int8: every operator, paddings, strides, kernels, roundings."""
import numpy as np
from net import NONE, RELU6, SAME, VALID, model


@model([1, 7, 6, 3])
def conv_same_and_valid(net):
    net.conv(5, 3)
    net.conv(4, 3, stride=2, padding=VALID, activation=NONE, zero=-7)


@model([1, 8, 6, 3])
def conv_same_stride_2_on_even_and_odd(net):
    net.conv(4, 3, stride=2)
    net.conv(5, 3, stride=2, per_channel=False)


@model([1, 11, 6, 2])
def conv_rectangular_kernels(net):
    net.conv(4, (5, 2), stride=2)
    net.conv(3, (1, 3), activation=NONE)


@model([1, 9, 8, 2])
def conv_dilated(net):
    net.conv(3, 3, dilation=2)
    net.conv(4, (3, 2), padding=VALID, dilation=2, bias=False)


@model([1, 9, 1, 4])
def strides_that_differ_on_one_column(net):
    net.conv(5, (3, 1), stride=(2, 1))
    net.pool("MAX", (2, 1), (2, 1))


@model([1, 5, 6, 3], zero=17)
def conv_relu6_with_its_own_codes(net):
    net.conv(4, 3, activation=RELU6, scale=0.04, zero=-90)
    net.conv(4, 1, activation=RELU6, scale=6 / 255, zero=-128)


@model([1, 6, 7, 3])
def depthwise_all_forms(net):
    net.depthwise(3, stride=2)
    net.depthwise((3, 2), padding=VALID, activation=NONE, zero=5)
    net.depthwise((1, 3), activation=RELU6)


@model([1, 6, 5, 3])
def depthwise_with_multipliers(net):
    net.depthwise(3, multiplier=2)
    net.depthwise((2, 3), stride=2, multiplier=3)


@model([1, 7, 5, 1])
def depthwise_of_one_channel(net):
    net.depthwise(3, multiplier=4, activation=NONE)


@model([1, 12])
def dense_chain(net):
    net.dense(9, activation=RELU6)
    net.dense(7, weight_zero=3)
    net.dense(5, per_channel=True, bias=False)


@model([1, 3, 4, 5])
def dense_of_each_pixel_around_another_zero(net):
    """Shifted by their zero point the weights are int8 still."""
    codes = net.rng.integers(-100, 128, (6, 5)).astype(np.int8)
    weights = net.const(codes, scale=0.006, zero=27)
    net.dense_with(weights, -1, scale=0.09, zero=-5, keep=True)


@model([3, 6])
def dense_rows_of_a_batch(net):
    net.dense(5)
    net.softmax()


@model([1, 3, 4, 5])
def dense_of_each_pixel(net):
    net.dense(6, keep=True, activation=RELU6)
    net.dense(3, keep=True)


@model([1, 4, 5, 3], zero=-128)
def flatten_and_dense(net):
    net.conv(4, 3)
    net.reshape(1, 80)
    net.dense(6)
    net.softmax()


@model([1, 24])
def row_reshaped_to_a_map(net):
    net.reshape(1, 4, 3, 2)
    net.conv(3, 2)
    net.reshape(1, 36)


@model([1, 6, 4, 3], zero=-128)
def average_pool_with_ties(net):
    net.conv(3, 1)
    net.pool("AVERAGE", 2, 2)


@model([1, 5, 6, 3])
def average_pool_padded(net):
    net.conv(3, 1, activation=NONE, zero=-31)
    net.pool("AVERAGE", 3, 2, SAME)


@model([1, 4, 6, 2])
def average_pool_first(net):
    net.pool("AVERAGE", (2, 3), 1)
    net.conv(3, 2)


@model([1, 5, 3, 4])
def global_average_pool_of_odd_size(net):
    net.conv(5, 1)
    net.pool("AVERAGE", (5, 3), (5, 3))
    net.reshape(1, 5)
    net.dense(4)


@model([1, 7, 6, 3])
def max_pool_behind_conv(net):
    net.conv(4, 3)
    net.pool("MAX", 2, 2)
    net.pool("MAX", 3, 2, SAME)


@model([1, 4, 5, 3])
def mean_with_the_same_scale(net):
    net.conv(4, 3)
    net.mean()
    net.dense(3)


@model([1, 6, 4, 3])
def mean_with_another_scale(net):
    net.conv(4, 3)
    net.mean(keep=True, scale=0.031, zero=7)


@model([1, 3, 5, 4])
def mean_first_in_another_scale(net):
    net.mean(scale=0.026, zero=12)


@model([1, 4, 8, 3])
def mean_of_a_power_of_two(net):
    net.mean()


@model([1, 7, 7, 3], zero=-128)
def mean_of_what_is_never_negative(net):
    net.mean(keep=True)


@model([1, 10], scale=0.11, zero=3)
def softmax_first(net):
    net.softmax()


@model([1, 4, 3, 2])
def logistic_behind_dense_and_alone(net):
    net.conv(3, 2, activation=NONE, scale=0.05, zero=4)
    net.logistic()
    net.conv(2, 1, activation=NONE, scale=0.02, zero=-3)
    net.pool("MAX", 2, 1)
    net.logistic()


@model([1, 7])
def tanh_behind_dense(net):
    net.dense(6, scale=0.031, zero=-9)
    net.tanh()
    net.dense(3)


@model([1, 5, 4, 3])
def relu_alone_and_with_another_scale(net):
    net.conv(4, 3, activation=NONE, zero=-20)
    net.relu()
    net.conv(3, 1, activation=NONE, zero=-20)
    net.relu("RELU6")
    net.conv(3, 1, activation=NONE, zero=-20)
    net.relu(scale=0.05, zero=-128)


@model([1, 9])
def relu_of_a_row(net):
    net.dense(8, zero=-20)
    net.relu(scale=0.05, zero=-128)


@model([1, 5, 4, 3], zero=9)
def pad_before_convolutions(net):
    net.pad(1, 2, 0, 1)
    net.conv(4, 3, padding=VALID)
    net.pad(0, 1, 2, 0)
    net.depthwise(3, padding=VALID)


@model([1, 5, 4, 3], zero=9)
def pad_before_a_pool(net):
    net.conv(3, 1, activation=NONE, zero=11)
    net.pad(1, 1, 0, 2)
    net.pool("MAX", 2, 1)


@model([1, 6, 5, 2], kind=0)
def quantised_inside_of_floats(net):
    net.kind = 9
    net.quantize(0.03, -5)
    net.conv(4, 3)
    net.reshape(1, 120)
    net.dense(3)
    net.dequantize()
