"""Makes the small models of this folder and onnxruntime's answers, in the classes that converters get wrong.

    python3 generate.py        # needs onnx, onnxruntime and numpy

NAME.onnx with NAME.x.npy and NAME.y.npy must convert and compute the same; residual_NAME needs more channels for its residual
sums; refused_NAME has no exact form. Heights, widths and channels all differ, so that a wrong order cannot pass by luck.
"""
import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
SEED = 20


class Net:
    """A graph that grows by one operation at a time; `self.at` is the name of the running value."""

    def __init__(self, name, shape, opset=17, refused=False):
        self.name, self.shape, self.opset, self.refused = name, list(shape), opset, refused
        self.nodes, self.weights, self.at, self.count = [], [], "x", 0
        self.rng = np.random.default_rng([SEED, *name.encode()])
        self.outputs = None

    def random(self, *shape, scale=0.5):
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def positive(self, *shape):
        return (np.abs(self.rng.standard_normal(shape)) * 0.5 + 0.5).astype(np.float32)

    def const(self, array):
        self.count += 1
        name = f"w{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Adds an operation of the running value, or of the named inputs; arrays become constants."""
        names = [value if isinstance(value, str) else self.const(value) for value in inputs or [self.at]]
        self.count += 1
        results = [f"v{self.count}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(kind, names, results, name=f"{kind}{self.count}", **attributes))
        self.at = results[0]
        return self.at

    def conv(self, filters, channels, kernel, *, of=None, bias=True, group=1, **attributes):
        kernel = list(kernel)
        weights = self.random(filters, channels // group, *kernel, scale=1 / np.sqrt(channels / group * np.prod(kernel)))
        inputs = [of or self.at, weights] + ([self.random(filters)] if bias else [])
        return self.op("Conv", *inputs, kernel_shape=kernel, group=group, **attributes)

    def gemm(self, units, features, of=None, **attributes):
        weights = self.random(units, features, scale=1 / np.sqrt(features))
        return self.op("Gemm", of or self.at, weights, self.random(units), transB=1, **attributes)

    def norm(self, channels, of=None):
        numbers = [self.positive(channels), self.random(channels), self.random(channels), self.positive(channels)]
        return self.op("BatchNormalization", of or self.at, *numbers)

    def shape_op(self, kind, *numbers, **attributes):
        return self.op(kind, self.at, np.array(numbers, np.int64), **attributes)

    def save(self):
        outputs = self.outputs or [self.at]
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        graph = helper.make_graph(self.nodes, self.name, given, infos, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        path = FOLDER / f"{self.name}.onnx"
        path.write_bytes(model.SerializeToString(deterministic=True))
        if self.refused:
            return
        x = self.rng.standard_normal(self.shape).astype(np.float32)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        y = session.run(None, {"x": x})[0]
        np.save(FOLDER / f"{self.name}.x.npy", x)
        np.save(FOLDER / f"{self.name}.y.npy", y)


MODELS = []


def model(shape, **options):
    """Registers a function that fills a net; its name is that of the model."""

    def register(fill):
        MODELS.append((fill, shape, options))
        return fill

    return register


# Rows of features.


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


# Convolutions.


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


# Pools.


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


# Layouts.


@model([1, 3, 6, 7])
def flatten_gemm(n):
    n.op("Relu", n.conv(4, 3, [3, 3]))
    n.op("Flatten")
    n.gemm(5, 80)
    n.op("Relu")
    n.gemm(2, 5)


@model([1, 3, 6, 7])
def reshape_scaled_per_element(n):
    n.conv(2, 3, [3, 4])
    n.shape_op("Reshape", 0, -1)
    n.norm(32)
    n.op("Mul", n.at, n.random(32))
    n.op("MatMul", n.at, n.random(32, 3))


@model([1, 3, 4, 5])
def flatten_norm_relu_gemm(n):
    n.conv(2, 3, [3, 3])
    n.op("Flatten")
    n.norm(12)
    n.op("Relu")
    n.gemm(3, 12)


@model([1, 5, 6, 3])
def channels_last_throughout(n):
    n.op("Transpose", "x", perm=[0, 3, 1, 2])
    n.op("Relu", n.conv(4, 3, [3, 3], auto_pad="SAME_UPPER", strides=[2, 2]))
    n.op("Transpose", n.at, perm=[0, 2, 3, 1])
    n.op("Add", n.at, n.random(4))
    n.shape_op("Reshape", -1, 36)
    n.op("MatMul", n.at, n.random(36, 4))


@model([1, 5, 6, 3])
def channels_last_output(n):
    n.op("Transpose", "x", perm=[0, 3, 1, 2])
    n.conv(4, 3, [3, 3])
    n.op("Transpose", n.at, perm=[0, 2, 3, 1])


@model([1, 3, 4, 5])
def flatten_at_the_end(n):
    n.conv(2, 3, [2, 2])
    n.op("Flatten")


@model([1, 3, 4, 5])
def flatten_softmax_at_the_end(n):
    n.conv(2, 3, [2, 2])
    n.op("Flatten")
    n.op("Softmax")


@model([1, 3, 4, 5])
def squeeze_after_pool(n):
    n.conv(6, 3, [2, 2])
    n.op("GlobalMaxPool")
    n.op("Squeeze")
    n.op("MatMul", n.at, n.random(6, 4))
    n.op("Add", n.at, n.random(4))


@model([1, 6, 4, 5])
def shuffled_channels(n):
    n.shape_op("Reshape", 1, 2, 3, 4, 5)
    n.op("Transpose", n.at, perm=[0, 2, 1, 3, 4])
    n.shape_op("Reshape", 1, 6, 4, 5)
    n.conv(6, 6, [3, 3], group=6)
    n.op("Add", n.at, n.random(6, 1, 1))
    n.conv(4, 6, [1, 1], group=2)


@model([1, 40])
def row_as_image(n):
    n.shape_op("Reshape", 1, 2, 4, 5)
    n.conv(3, 2, [3, 3])
    n.op("Flatten")
    n.gemm(2, 18)


@model([1, 3, 4, 5])
def map_through_flatten_and_back(n):
    n.conv(2, 3, [2, 2])
    n.op("Flatten")
    n.op("Relu")
    n.shape_op("Reshape", 1, 2, 3, 4)
    n.conv(3, 2, [2, 2])


@model([1, 3, 4, 5])
def layer_norm_of_channels(n):
    n.conv(6, 3, [2, 2])
    n.op("Transpose", n.at, perm=[0, 2, 3, 1])
    n.op("LayerNormalization", n.at, n.random(6), n.random(6), axis=-1)
    n.op("Transpose", n.at, perm=[0, 3, 1, 2])
    n.op("Mul", n.at, n.random(6, 1, 1))
    n.op("Sigmoid")


# Activations without a layer of their own kind before them.


@model([1, 3, 4, 5])
def activations_alone(n):
    n.op("Tanh", "x")
    n.op("LeakyRelu", alpha=0.3)
    n.op("HardSigmoid", alpha=1 / 6, beta=0.5)


@model([1, 3, 4, 5])
def prelu_after_depthwise(n):
    n.conv(3, 3, [3, 3], group=3, pads=[1, 1, 1, 1])
    n.op("PRelu", n.at, n.random(3, 1, 1))
    n.conv(2, 3, [1, 1])


@model([1, 3, 4, 5])
def norm_after_relu_after_norm(n):
    n.norm(3, of=n.op("Relu", n.norm(3, of="x")))


@model([1, 3, 4, 5])
def own_leaky_forms(n):
    x = n.conv(4, 3, [2, 2])
    n.op("Max", x, n.op("Mul", n.positive(4, 1, 1) * 0.5, x))
    y = n.conv(5, 4, [1, 1])
    n.op("Add", n.op("Relu", y), y)


# Branches.


@model([1, 3, 5, 6])
def conv_plus_input(n):
    n.conv(3, 3, [3, 3], pads=[1, 1, 1, 1])
    n.norm(3)
    n.op("Add", "x", n.at)
    n.op("Sigmoid")


@model([1, 3, 5, 6])
def two_convs_added(n):
    first = n.norm(4, of=n.conv(4, 3, [3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    second = n.conv(4, 3, [1, 1], of="x", strides=[2, 2])
    n.op("Add", first, second)
    n.op("Relu")


@model([1, 3, 5, 6])
def three_branches_reparametrised(n):
    wide = n.norm(3, of=n.conv(3, 3, [3, 3], pads=[1, 1, 1, 1]))
    narrow = n.norm(3, of=n.conv(3, 3, [1, 1], of="x"))
    plain = n.norm(3, of="x")
    n.op("Relu", n.op("Add", n.op("Add", wide, narrow), plain))


@model([1, 4, 5, 6])
def fire(n):
    squeezed = n.op("Relu", n.conv(2, 4, [1, 1]))
    narrow = n.op("Relu", n.conv(3, 2, [1, 1], of=squeezed))
    wide = n.op("Relu", n.conv(5, 2, [3, 3], of=squeezed, pads=[1, 1, 1, 1]))
    n.op("Concat", narrow, wide, axis=1)
    n.op("MaxPool", n.at, kernel_shape=[2, 2], strides=[2, 2])
    n.op("Flatten")
    n.gemm(3, 48)


@model([1, 4, 5, 6])
def conv_beside_its_input(n):
    n.conv(3, 4, [3, 3], pads=[1, 1, 1, 1])
    n.op("Concat", "x", n.at, axis=1)


# Blocks.


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


# Residual sums that need more channels.


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


# What has no exact form.


@model([1, 6], refused=True)
def refused_root_mean_square_norm(n):
    n.op("ReduceMean", n.op("Mul", "x", "x"), axes=[-1])
    n.op("Div", "x", n.op("Sqrt", n.op("Add", n.at, np.array(1e-5, np.float32))))


@model([1, 3, 5, 6], refused=True)
def refused_layer_norm_of_a_map(n):
    n.op("LayerNormalization", "x", n.random(3, 5, 6), n.random(3, 5, 6), axis=1)


@model([1, 3, 5, 6], refused=True)
def refused_softmax_of_each_pixel(n):
    n.op("Softmax", "x", axis=1)


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


@model([1, 3, 5, 6], refused=True)
def refused_max_pool_padded_before(n):
    n.op("MaxPool", "x", kernel_shape=[2, 2], pads=[1, 1, 0, 0])


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
    n.op("Add", "x", n.random(2, 6))


@model([1, 6], refused=True)
def refused_product_of_computed_matrices(n):
    n.op("MatMul", "x", n.op("Transpose", "x", perm=[1, 0]))


@model([1, 3, 5, 6], refused=True)
def refused_gelu_alone(n):
    gelu_erf(n, n.conv(4, 3, [1, 1]))


def main():
    for old in [*FOLDER.glob("*.onnx"), *FOLDER.glob("*.npy")]:
        old.unlink()
    for fill, shape, options in MODELS:
        net = Net(fill.__name__, shape, **options)
        fill(net)
        net.save()
    total = sum(path.stat().st_size for path in FOLDER.iterdir() if path.suffix in (".onnx", ".npy"))
    print(f"{len(MODELS)} models, {total} bytes")


if __name__ == "__main__":
    main()
