"""Models over rows of features."""
import numpy as np

from net import model


@model([1, 5])
def gemm_alpha_beta_norm(n):
    n.gemm(7, 5, alpha=0.5, beta=2.0)
    n.norm(7)


@model([1, 5])
def gemm_without_bias_named_empty(n):
    n.op("Gemm", "x", n.random(5, 3), "")
    n.op("Tanh")


@model([3, 5])
def batch_softmax_rows(n):
    n.gemm(4, 5)
    n.op("Relu")
    n.op("Softmax", axis=-1)


@model([1, 5])
def clip_all_forms(n):
    low, high = (np.array(bound, np.float32) for bound in (-0.5, 0.75))
    n.gemm(6, 5)
    n.op("Clip", n.at, low, high)
    n.gemm(7, 6)
    n.op("Clip", n.at, low)
    n.gemm(4, 7)
    n.op("Clip", n.at, "", high)


@model([1, 5])
def hard_sigmoid_defaults(n):
    n.gemm(3, 5)
    n.op("HardSigmoid")
    n.gemm(4, 3)


@model([1, 6])
def leaky_from_two_relus(n):
    n.gemm(4, 6)
    x = n.at
    positive = n.op("Relu", x)
    n.op("Neg", x)
    n.op("Relu")
    negative = n.op("Mul", n.at, n.positive(4))
    n.op("Sub", positive, negative)
    n.gemm(3, 4)


@model([1, 6])
def sums_of_the_same(n):
    n.gemm(4, 6)
    n.op("Add", n.at, n.at)
    n.op("Sum", n.at, n.at, n.random(4))
    n.op("Sigmoid")


@model([1, 6])
def heads_concatenated(n):
    shared = n.op("Relu", n.gemm(5, 6))
    first, second = n.gemm(2, 5, of=shared), n.gemm(3, 5, of=shared)
    n.op("Concat", first, second, axis=1)


@model([2, 6])
def row_residual_relu(n):
    n.gemm(6, 6)
    n.op("Add", "x", n.at)
    n.op("Relu")
    n.gemm(2, 6)


@model([1, 6])
def rows_as_bottleneck(n):
    n.op("Relu", n.gemm(9, 6))
    n.op("Add", n.gemm(6, 9), "x")
    n.gemm(2, 6)


@model([1, 6])
def layer_norm_spelled_out(n):
    x = n.gemm(5, 6)
    mean = n.op("ReduceMean", x, axes=[-1])
    centred = n.op("Sub", x, mean)
    n.op("Pow", centred, np.array(2, np.float32))
    n.op("ReduceMean", n.at, axes=[-1])
    n.op("Add", n.at, np.array(1e-5, np.float32))
    n.op("Sqrt")
    n.op("Div", centred, n.at)
    n.op("Mul", n.at, n.random(5))
    n.op("Add", n.at, n.random(5))
    n.op("Relu")
    n.gemm(3, 5)


@model([1, 7])
def layer_norm_node_then_gemm(n):
    n.op("LayerNormalization", "x", n.random(7), n.random(7), axis=-1, epsilon=1e-3)
    n.gemm(4, 7)


@model([1, 4, 6])
def rank3_flatten(n):
    n.op("Flatten")
    n.gemm(5, 24)
    n.op("Relu")
    n.op("Softmax")


@model([1, 7, 6])
def sequence_matmul(n):
    n.op("MatMul", "x", n.random(6, 5))
    n.op("Add", n.random(5), n.at)
    n.op("Relu")
    n.op("MatMul", n.at, n.random(5, 3))


@model([1, 6])
def prelu_rows(n):
    n.gemm(5, 6)
    n.op("PRelu", n.at, n.random(5))
    n.gemm(3, 5)


@model([1, 6])
def extrema_with_constants(n):
    n.gemm(4, 6)
    n.op("Max", n.at, n.random(4))
    n.op("Min", np.array(0.6, np.float32), n.at)
    n.gemm(3, 4)


@model([3, 2, 4, 5])
def batch_of_maps_pixel_by_pixel(n):
    n.op("Relu", n.op("Mul", "x", n.random(2, 1, 1)))
    n.op("Max", n.at, n.random(2, 1, 1), np.array(0.2, np.float32))
    n.op("Add", n.at, np.array(-0.3, np.float32))


@model([1, 5])
def arithmetic_with_constants(n):
    n.op("Sub", np.array(1, np.float32), "x")
    n.op("Div", n.at, np.array([2, 3, 4, 5, 6], np.float32))
    n.gemm(3, 5)
    n.op("Neg")


@model([1, 6], external=True)
def weights_in_another_file(n):
    n.op("Relu", n.gemm(5, 6))
    n.gemm(3, 5)
