"""What has no exact form."""
import numpy as np
from onnx import TensorProto

from blocks import gelu_erf
from net import model


@model([1, 6], refused=True)
def refused_root_mean_square_norm(n):
    n.op("ReduceMean", n.op("Mul", "x", "x"), axes=[-1])
    n.op("Div", "x", n.op("Sqrt", n.op("Add", n.at, np.array(1e-5, np.float32))))


@model([1, 3, 5, 6], refused=True)
def refused_layer_norm_of_a_map(n):
    n.conv(3, 3, [3, 3], pads=[1, 1, 1, 1])
    n.op("LayerNormalization", n.at, n.random(3, 5, 6), n.random(3, 5, 6), axis=1)


@model([1, 3, 5, 6], refused=True)
def refused_softmax_of_each_pixel(n):
    n.op("Softmax", n.conv(3, 3, [3, 3]), axis=1)


@model([1, 3, 5, 6], refused=True)
def refused_gate(n):
    n.op("Mul", "x", n.op("Sigmoid", n.conv(3, 3, [1, 1])))


@model([1, 4, 5, 6], refused=True)
def refused_depth_to_space(n):
    n.op("DepthToSpace", "x", blocksize=2)


@model([1, 4, 6, 8], refused=True)
def refused_pixels_to_channels(n):
    n.shape_op("Reshape", 1, 4, 3, 2, 8)
    n.op("Transpose", n.at, perm=[0, 1, 3, 2, 4])
    n.shape_op("Reshape", 1, 8, 3, 8)
    n.conv(2, 8, [1, 1])


@model([1, 3, 5, 6], refused=True)
def refused_pad_with_ones(n):
    n.op("Pad", "x", np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), np.array(1, np.float32))


@model([1, 3, 5, 6], refused=True)
def refused_reflecting_pad(n):
    n.shape_op("Pad", 0, 0, 1, 1, 0, 0, 1, 1, mode="reflect")


@model([1, 4, 5, 6], refused=True)
def refused_bottleneck_with_relu6(n):
    bounds = np.array(0, np.float32), np.array(6, np.float32)
    n.op("Clip", n.conv(16, 4, [1, 1]), *bounds)
    n.op("Add", n.conv(4, 16, [1, 1]), "x")


@model([1, 3, 6, 8], refused=True)
def refused_uneven_strides_before_neighbours(n):
    n.conv(4, 3, [3, 3], strides=[2, 1], pads=[1, 1, 1, 1])
    n.conv(2, 4, [3, 3])


@model([2, 3, 5, 6], refused=True)
def refused_batch_of_images(n):
    n.conv(2, 3, [3, 3])


@model([1, 3, 5, 6], refused=True)
def refused_indices_of_max_pool(n):
    n.op("MaxPool", "x", outputs=2, kernel_shape=[2, 2])
    values = n.at
    n.op("Cast", n.nodes[-1].output[1], to=TensorProto.FLOAT)
    n.op("Add", values, n.at)


@model([1, 3, 5, 6], refused=True)
def refused_two_outputs(n):
    first = n.conv(2, 3, [3, 3])
    n.outputs = [first, n.op("Relu")]


@model([2, 6], refused=True)
def refused_bias_for_each_row(n):
    n.op("Gemm", "x", n.random(6, 3), n.random(2, 3))


@model([1, 6], refused=True)
def refused_product_of_computed_matrices(n):
    n.op("MatMul", "x", n.op("Transpose", "x", perm=[1, 0]))


@model([1, 3, 5, 6], refused=True)
def refused_gelu_alone(n):
    gelu_erf(n, n.conv(4, 3, [1, 1]))


@model([1, 3, 8, 6], refused=True)
def refused_every_other_row(n):
    n.op("Slice", n.conv(3, 3, [3, 3]), *(np.array(v, np.int64) for v in ([0], [100], [2], [2])))


@model([2, 3, 5, 6], refused=True)
def refused_norm_over_the_batch(n):
    n.op("Sub", "x", n.op("ReduceMean", "x", axes=[0]))
    n.conv(2, 3, [3, 3])
