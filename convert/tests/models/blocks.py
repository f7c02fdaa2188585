"""Residual sums: blocks, and those that need more channels."""
import numpy as np

from net import model


@model([1, 6, 7, 5])
def resnet_block_with_norms(n):
    n.op("Relu", n.norm(6, of=n.conv(6, 6, [3, 3], pads=[1, 1, 1, 1], bias=False)))
    n.norm(6, of=n.conv(6, 6, [3, 3], pads=[1, 1, 1, 1], bias=False))
    n.op("Relu", n.op("Add", n.at, "x"))
    n.op("GlobalAveragePool")


@model([1, 3, 7, 5])
def resnet_block_with_projection(n):
    n.op("Relu", n.conv(4, 3, [3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    main = n.conv(4, 4, [3, 3], pads=[1, 1, 1, 1])
    side = n.norm(4, of=n.conv(4, 3, [1, 1], of="x", strides=[2, 2], bias=False))
    n.op("Relu", n.op("Add", side, main))


@model([1, 6, 7, 5])
def bottleneck_with_two_depthwise(n):
    n.norm(6, of=n.conv(6, 6, [5, 5], group=6, pads=[2, 2, 2, 2], bias=False))
    n.op("Relu", n.norm(18, of=n.conv(18, 6, [1, 1], bias=False)))
    n.op("Relu", n.norm(18, of=n.conv(18, 18, [3, 3], group=18, pads=[1, 1, 1, 1], bias=False)))
    n.norm(6, of=n.conv(6, 18, [1, 1], bias=False))
    n.op("Add", n.at, "x")


@model([1, 4, 5, 6])
def bottleneck_feed_forward(n):
    n.op("Relu", n.conv(16, 4, [1, 1]))
    n.op("Add", "x", n.conv(4, 16, [1, 1]))
    n.op("Relu")


def convnext(n, gelu, channels_last):
    channels, wide = 4, 16
    n.conv(channels, channels, [7, 7], group=channels, pads=[3, 3, 3, 3])
    n.op("Transpose", n.at, perm=[0, 2, 3, 1])
    n.op("LayerNormalization", n.at, n.random(channels), n.random(channels), axis=-1, epsilon=1e-6)
    if channels_last:
        n.op("Add", n.op("MatMul", n.at, n.random(channels, wide)), n.random(wide))
    else:
        n.op("Transpose", n.at, perm=[0, 3, 1, 2])
        n.conv(wide, channels, [1, 1])
    x = gelu(n, n.at)
    spatial, channel, vector = ([1, 2], [3], [1, 1, 1, wide]) if channels_last else ([2, 3], [1], [1, wide, 1, 1])
    response = n.op("ReduceL2", x, axes=spatial)
    n.op("Add", n.op("ReduceMean", response, axes=channel), np.array(1e-6, np.float32))
    n.op("Mul", x, n.op("Div", response, n.at))
    n.op("Add", n.op("Mul", n.random(*vector), n.at), n.random(*vector))
    n.op("Add", x, n.at)
    if channels_last:
        n.op("Add", n.op("MatMul", n.at, n.random(wide, channels)), n.random(channels))
        n.op("Transpose", n.at, perm=[0, 3, 1, 2])
    else:
        n.conv(channels, wide, [1, 1])
    n.op("Add", "x", n.at)


def half(n, x, gate):
    n.op("Mul", n.op("Mul", x, np.array(0.5, np.float32)), n.op("Add", gate, np.array(1, np.float32)))
    return n.at


def gelu_erf(n, x):
    return half(n, x, n.op("Erf", n.op("Mul", x, np.array(np.sqrt(0.5), np.float32))))


def gelu_tanh(n, x):
    cube = n.op("Mul", np.array(0.044715, np.float32), n.op("Pow", x, np.array(3, np.float32)))
    inner = n.op("Mul", n.op("Add", x, cube), np.array(np.sqrt(2 / np.pi), np.float32))
    return half(n, x, n.op("Tanh", inner))


@model([1, 4, 7, 5])
def approximate_convnext_block(n):
    convnext(n, gelu_erf, channels_last=False)


@model([1, 4, 7, 5])
def convnext_block_channels_last(n):
    convnext(n, gelu_tanh, channels_last=True)


@model([1, 3, 5, 6])
def residual_before_activation(n):
    n.op("Relu", n.norm(3, of="x"))
    n.op("Relu", n.conv(5, 3, [3, 3], pads=[1, 1, 1, 1]))
    n.conv(3, 5, [3, 3], pads=[1, 1, 1, 1])
    n.op("Add", n.at, "x")


@model([1, 3, 5, 6])
def residual_three_leaky(n):
    n.op("LeakyRelu", n.conv(4, 3, [1, 1]), alpha=0.2)
    n.op("LeakyRelu", n.conv(4, 4, [3, 3], pads=[1, 1, 1, 1]), alpha=0.1)
    n.op("Relu", n.op("Add", "x", n.conv(3, 4, [1, 1])))


@model([1, 3, 7, 6])
def residual_with_stride(n):
    n.op("Relu", n.conv(4, 3, [5, 5], strides=[2, 2], pads=[2, 2, 2, 2]))
    n.op("Relu", n.conv(4, 4, [3, 3], group=4, pads=[1, 1, 1, 1]))
    main = n.conv(5, 4, [1, 1])
    n.op("Add", n.conv(5, 3, [1, 1], of="x", strides=[2, 2]), main)


@model([1, 8])
def residual_behind_relu(n):
    first = n.op("Relu", n.gemm(6, 8))
    n.op("Add", first, n.op("Relu", n.gemm(6, 6)))
    n.gemm(2, 6)


@model([1, 3, 5, 6])
def residual_of_maps_behind_leaky(n):
    first = n.conv(4, 3, [3, 3], pads=[1, 1, 1, 1])
    n.op("LeakyRelu", n.conv(4, 4, [3, 3], pads=[1, 1, 1, 1]), alpha=0.2)
    n.op("Add", n.at, first)
    n.op("Relu")


@model([1, 3, 6, 5])
def operand_beside_its_convolution(n):
    first = n.op("Relu", n.conv(4, 3, [3, 3], pads=[1, 1, 1, 1]))
    second = n.op("Relu", n.conv(3, 4, [3, 3], pads=[1, 1, 1, 1]))
    n.op("Concat", first, second, axis=1)
    n.op("Relu", n.conv(5, 7, [1, 1]))
