"""Orders of elements, activations alone, branches."""
from net import model


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


@model([2, 3, 5, 4])
def layer_norm_of_trailing_dimensions(n):
    n.op("LayerNormalization", "x", n.random(5, 4), n.random(5, 4), axis=2)


@model([1, 3, 5, 4])
def softmax_of_each_pixel(n):
    n.op("Relu", n.conv(6, 3, [1, 1]))
    n.op("Softmax", n.conv(5, 6, [1, 1]), axis=1)


@model([2, 3, 5, 4])
def softmax_of_the_last_dimension(n):
    n.op("Softmax", "x", axis=-1)


@model([1, 3, 7, 5])
def softmax_of_two_channels(n):
    n.op("Softmax", n.conv(2, 3, [3, 3]), axis=1)


@model([2, 3, 4])
def product_with_a_vector(n):
    n.op("MatMul", "x", n.random(4))


@model([3, 4])
def constants_for_each_row_of_a_batch(n):
    n.op("PRelu", n.op("Add", "x", n.random(3, 4)), n.random(3, 4))
