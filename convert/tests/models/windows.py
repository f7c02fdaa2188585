"""Convolutions and pools."""
import numpy as np

from net import model


@model([1, 3, 7, 5])
def kernel_5x1_and_1x3(n):
    n.conv(4, 3, [5, 1], pads=[2, 0, 2, 0])
    n.op("Relu")
    n.conv(2, 4, [1, 3], pads=[0, 0, 0, 2])


@model([1, 3, 9, 11])
def dilated_strided_padded(n):
    n.conv(4, 3, [3, 3], dilations=[2, 2], strides=[2, 2], pads=[2, 2, 2, 2])


@model([1, 3, 11, 13])
def dilated_uneven(n):
    n.conv(2, 3, [3, 2], dilations=[2, 3], pads=[2, 1, 2, 2])


@model([1, 3, 7, 8])
def same_upper_even_kernel(n):
    n.conv(4, 3, [4, 4], auto_pad="SAME_UPPER")
    n.conv(2, 4, [3, 3], strides=[2, 2], auto_pad="SAME_UPPER")


@model([1, 3, 7, 8])
def same_lower_even_kernel(n):
    n.conv(4, 3, [4, 4], auto_pad="SAME_LOWER")
    n.conv(2, 4, [3, 3], strides=[2, 2], auto_pad="SAME_LOWER")


@model([1, 4, 3, 7])
def stride_of_an_axis_with_one_row(n):
    n.conv(5, 4, [3, 3], strides=[2, 1])


@model([1, 3, 7, 8])
def uneven_strides_then_flatten(n):
    n.op("Relu", n.conv(4, 3, [3, 2], strides=[2, 1], pads=[1, 1, 1, 0]))
    n.op("Mul", n.at, n.random(4, 1, 1))
    n.op("Flatten")
    n.gemm(3, 128)


@model([1, 4, 11, 10])
def uneven_strides_output(n):
    n.conv(6, 4, [2, 3], strides=[2, 3], group=2, pads=[1, 0, 1, 2])


@model([1, 3, 4, 5])
def pointwise_with_end_padding(n):
    n.conv(4, 3, [2, 2])
    n.conv(3, 4, [1, 1], pads=[0, 0, 1, 2])
    n.conv(2, 3, [1, 1], bias=False)


@model([1, 6, 5, 7])
def groups_2_and_3(n):
    n.conv(4, 6, [3, 3], group=2, pads=[1, 0, 1, 0])
    n.op("Relu")
    n.conv(6, 4, [1, 1], group=2)
    n.conv(3, 6, [2, 3], group=3)


@model([1, 5, 7, 6])
def depthwise_3x5_end_padding(n):
    n.conv(5, 5, [3, 5], group=5, pads=[1, 2, 2, 1])
    n.norm(5)
    n.op("Clip", n.at, np.array(0, np.float32), np.array(6, np.float32))


@model([1, 5, 9, 7])
def depthwise_dilated(n):
    n.conv(5, 5, [3, 3], group=5, dilations=[2, 1], strides=[2, 2], pads=[0, 1, 3, 1])


@model([1, 5, 6, 6])
def depthwise_byte_of_the_kernel_width(n):
    n.conv(5, 5, [3, 3], group=5, pads=[0, 0, 3, 0])


@model([1, 1, 5, 6])
def one_channel_nine_filters(n):
    n.conv(9, 1, [1, 3])


@model([1, 2, 4, 5])
def end_padding_of_17(n):
    n.conv(3, 2, [3, 3], pads=[0, 1, 17, 1])


@model([1, 2, 7, 5])
def pad_node_before_conv(n):
    n.shape_op("Pad", 0, 0, 1, 2, 0, 0, 0, 1)
    n.conv(3, 2, [3, 3], strides=[2, 2])


@model([1, 3, 11])
def series(n):
    n.conv(5, 3, [4], strides=[2], pads=[2, 1])
    n.norm(5)
    n.op("Relu")
    n.op("MaxPool", n.at, kernel_shape=[2], strides=[2])
    n.conv(5, 5, [3], group=5, pads=[1, 1])
    n.op("Flatten")
    n.gemm(2, 15)


@model([1, 3, 6, 5])
def scale_and_shift_around_conv(n):
    n.op("Div", n.op("Sub", "x", n.random(3, 1, 1)), n.positive(1, 3, 1, 1))
    n.conv(4, 3, [3, 3], bias=False)
    n.op("Mul", n.random(4, 1, 1), n.at)
    n.op("Add", n.random(1, 4, 1, 1), n.at)
    n.op("LeakyRelu", alpha=0.2)


@model([1, 3, 6, 5])
def normalised_before_padding(n):
    n.op("Add", n.op("Mul", "x", n.random(3, 1, 1)), n.random(3, 1, 1))
    n.conv(4, 3, [3, 3], pads=[1, 1, 1, 1])


@model([1, 3, 5, 8])
def max_pool_rounded_up(n):
    n.op("MaxPool", "x", kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1)


@model([1, 3, 5, 8])
def average_pool_rounded_up(n):
    n.op("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, pads=[1, 1, 1, 1])


@model([1, 2, 1, 5], opset=19)
def average_pool_rounded_up_counting_padding(n):
    n.op("AveragePool", "x", kernel_shape=[1, 2], strides=[2, 2], ceil_mode=1, count_include_pad=1)


@model([1, 3, 5, 7])
def average_pool_counting_padding(n):
    n.op("AveragePool", "x", kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1], count_include_pad=1)


@model([1, 3, 5, 7])
def average_pool_same_upper(n):
    n.op("AveragePool", "x", kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_UPPER")


@model([1, 3, 7, 9], opset=19)
def average_pool_dilated(n):
    n.op("AveragePool", "x", kernel_shape=[3, 2], dilations=[2, 3])


@model([1, 3, 7, 5])
def pad_then_max_pool_of_relu(n):
    n.op("Relu", n.conv(4, 3, [1, 1]))
    n.shape_op("Pad", 0, 0, 1, 1, 0, 0, 1, 1)
    n.op("MaxPool", n.at, kernel_shape=[3, 3], strides=[2, 2])


@model([1, 3, 5, 7])
def pad_then_average_pool(n):
    n.shape_op("Pad", 0, 0, 1, 0, 0, 0, 1, 2)
    n.op("AveragePool", n.at, kernel_shape=[3, 3])


@model([1, 3, 5, 7])
def pad_then_max_pool(n):
    n.shape_op("Pad", 0, 0, 1, 0, 0, 0, 1, 2)
    n.op("MaxPool", n.at, kernel_shape=[2, 2])


@model([1, 4, 3, 5])
def global_pools_and_reductions(n):
    n.conv(6, 4, [1, 1])
    n.op("ReduceMean", n.at, axes=[3])
    n.op("ReduceMax", n.at, axes=[-2], keepdims=0)
    n.op("Flatten")
    n.gemm(2, 6)


@model([1, 4, 3, 5])
def reduce_sum_then_softmax(n):
    n.conv(6, 4, [1, 1])
    n.shape_op("ReduceSum", 2, 3, keepdims=1)
    n.op("Softmax", axis=1)


@model([1, 4, 3, 5])
def mean_of_channels(n):
    n.op("ReduceMean", n.conv(6, 4, [1, 1]), axes=[1])


@model([1, 4, 5, 6])
def norm_and_activation_behind_pools(n):
    n.conv(5, 4, [2, 2])
    n.op("MaxPool", n.at, kernel_shape=[2, 2])
    n.norm(5)
    n.op("LeakyRelu", alpha=0.1)
    n.op("AveragePool", n.at, kernel_shape=[2, 2])
    n.op("Tanh")


@model([1, 3, 6, 7])
def max_pool_padded_at_the_begin_only(n):
    n.op("MaxPool", "x", kernel_shape=[2, 2], auto_pad="SAME_LOWER")


@model([1, 3, 6, 7])
def average_pool_padded_at_the_begin_only(n):
    n.op("AveragePool", "x", kernel_shape=[3, 2], strides=[1, 1], pads=[2, 1, 0, 0])


@model([1, 3, 9, 8])
def slices_of_a_map(n):
    n.conv(6, 3, [3, 3], pads=[1, 1, 1, 1])
    n.op("Slice", n.at, *(np.array(v, np.int64) for v in ([1, 2], [5, -1], [1, 3], [2, 1])))
    n.op("Relu")
    n.op("Slice", n.at, *(np.array(v, np.int64) for v in ([2], [100], [2])))


@model([1, 3, 8, 6])
def focus(n):
    parts = []
    for row in (0, 1):
        rows = n.op("Slice", "x", *(np.array(v, np.int64) for v in ([row], [1 << 40], [2], [2])))
        for column in (0, 1):
            parts.append(n.op("Slice", rows, *(np.array(v, np.int64) for v in ([column], [1 << 40], [3], [2]))))
    n.op("Concat", *parts, axis=1)
    n.op("Relu", n.conv(5, 12, [3, 3], pads=[1, 1, 1, 1]))


@model([1, 2, 12])
def causal_series(n):
    n.conv(4, 2, [3], pads=[4, 4], dilations=[2])
    n.op("Slice", n.at, *(np.array(v, np.int64) for v in ([0], [-4], [2])))
    n.op("Relu")
    n.op("Gather", n.at, np.array(-1, np.int64), axis=2)
    n.gemm(3, 4)


@model([1, 6, 5, 4])
def channels_gathered(n):
    n.op("Gather", "x", np.array([4, 0, 3], np.int64), axis=1)
    n.op("Abs")
