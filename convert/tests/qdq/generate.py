"""Makes small quantised models with onnxruntime's static quantiser, and onnxruntime's answers.

    python3 generate.py        # needs onnx, onnxruntime and numpy

NAME.onnx with NAME.x.npy and NAME.y.npy (ten samples each) must become int8 models whose outputs are a few steps from
onnxruntime's at most; refused_NAME has no int8 form with the scales of the file.
"""
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "models"))

import net as nets  # noqa: E402

SAMPLES = 10


def cnn(net):
    """Convolutions with and without stride, a pool, one dense layer."""
    net.conv(8, 3, (3, 3), pads=[1, 1, 1, 1])
    net.op("Relu")
    net.op("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
    net.conv(12, 8, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    net.op("Relu")
    net.op("Flatten")
    net.gemm(5, 12 * 3 * 2)


def depthwise(net):
    """Depthwise convolution, relu6, global mean."""
    net.conv(6, 6, (3, 3), group=6, pads=[1, 1, 1, 1])
    net.op("Clip", net.at, np.float32(0), np.float32(6))
    net.conv(10, 6, (1, 1))
    net.op("Relu")
    net.op("GlobalAveragePool")
    net.op("Flatten")
    net.gemm(4, 10)


def mlp(net):
    """Dense layers; the last without an activation."""
    net.gemm(24, 16)
    net.op("Relu")
    net.gemm(16, 24)
    net.op("Relu")
    net.gemm(7, 16)


def residual(net):
    """A ResNet block."""
    start = net.at
    net.conv(4, 4, (3, 3), pads=[1, 1, 1, 1])
    net.op("Relu")
    net.conv(4, 4, (3, 3), pads=[1, 1, 1, 1])
    net.op("Add", net.at, start)
    net.op("Relu")


def residual_with_sigmoid(net):
    """A sum that no block computes."""
    start = net.at
    net.conv(4, 4, (3, 3), pads=[1, 1, 1, 1])
    net.op("Sigmoid")
    net.conv(4, 4, (3, 3), pads=[1, 1, 1, 1])
    net.op("Add", net.at, start)
    net.op("Relu")


def residuals(net):
    """A convolution, a block with a projection, one with its input, a global mean."""
    net.conv(6, 3, (3, 3), pads=[1, 1, 1, 1])
    start = net.op("Relu")
    shortcut = net.conv(8, 6, (1, 1), strides=[2, 2])
    net.at = start
    net.conv(8, 6, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    net.op("Relu")
    net.conv(8, 8, (3, 3), pads=[1, 1, 1, 1])
    net.op("Add", shortcut, net.at)
    start = net.op("Relu")
    net.conv(8, 8, (3, 3), pads=[1, 1, 1, 1])
    net.op("Relu")
    net.conv(8, 8, (3, 3), pads=[1, 1, 1, 1])
    net.op("Add", net.at, start)
    net.op("Relu")
    net.op("GlobalAveragePool")
    net.op("Flatten")
    net.gemm(5, 8)


def bottlenecks(net):
    """Inverted bottlenecks with and without a sum; the channels inside are no multiple of 8."""
    net.conv(6, 3, (3, 3), pads=[1, 1, 1, 1])
    start = net.at
    net.conv(12, 6, (1, 1))
    net.op("Relu")
    net.conv(12, 12, (3, 3), group=12, pads=[1, 1, 1, 1])
    net.op("Relu")
    net.conv(6, 12, (1, 1))
    net.op("Add", net.at, start)
    net.conv(10, 6, (1, 1))
    net.op("Relu")
    net.op("Flatten")
    net.gemm(4, 10 * 6 * 5)


SYMMETRIC = {"activation_type": QuantType.QInt8, "extra_options": {"ActivationSymmetric": True}}
# Operations whose results get a scale of their own, and how many times as large.
RESCALED = {"MaxPool": 1.25, "Flatten": 1.5}

MODELS = [
    ("unsigned_cnn", cnn, (1, 3, 12, 8), {}),
    ("signed_cnn_per_channel", cnn, (1, 3, 12, 8), {"activation_type": QuantType.QInt8, "per_channel": True}),
    ("unsigned_cnn_per_channel", cnn, (1, 3, 12, 8), {"per_channel": True}),
    ("depthwise_per_channel", depthwise, (1, 6, 7, 5), {"activation_type": QuantType.QInt8, "per_channel": True}),
    ("depthwise", depthwise, (1, 6, 7, 5), {}),
    ("mlp", mlp, (1, 16), {}),
    ("residual_first", residual, (1, 4, 6, 5), {"activation_type": QuantType.QInt8}),
    ("residuals", residuals, (1, 3, 10, 8), {"activation_type": QuantType.QInt8}),
    ("residuals_unsigned_per_channel", residuals, (1, 3, 9, 8), {"per_channel": True}),
    ("residuals_symmetric_per_channel", residuals, (1, 3, 10, 7), {"per_channel": True, **SYMMETRIC}),
    ("adding_bottlenecks", bottlenecks, (1, 3, 6, 5), {"activation_type": QuantType.QInt8}),
    ("adding_bottlenecks_unsigned_per_channel", bottlenecks, (1, 3, 6, 5), {"per_channel": True}),
    ("adding_bottlenecks_symmetric", bottlenecks, (1, 3, 6, 5), SYMMETRIC),
    ("refused_bottlenecks", bottlenecks, (1, 3, 6, 5), {"activation_type": QuantType.QInt8}),
    ("rescaled_pool_and_flatten", cnn, (1, 3, 12, 8), {"activation_type": QuantType.QInt8}),
    ("refused_residual_with_sigmoid", residual_with_sigmoid, (1, 4, 6, 5), {"activation_type": QuantType.QInt8}),
    ("refused_codes_of_16_bits", mlp, (1, 16), {"activation_type": QuantType.QInt16}),
]


class Reader(CalibrationDataReader):
    """Random inputs, one after another."""

    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(({"x": sample} for sample in self.samples), None)


def rescale(path):
    """Gives results of pools and of Flatten scales of their own, which onnxruntime's quantiser does not."""
    model = onnx.load(path)
    constants = {constant.name: constant for constant in model.graph.initializer}
    kinds = {output: node.op_type for node in model.graph.node for output in node.output}
    kinds |= {node.output[0]: kinds.get(node.input[0]) for node in model.graph.node if node.op_type == "QuantizeLinear"}
    for node in model.graph.node:
        factor = RESCALED.get(kinds.get(node.input[0])) if node.op_type in ("QuantizeLinear", "DequantizeLinear") else None
        if factor:
            scale = onnx.numpy_helper.to_array(constants[node.input[1]]) * np.float32(factor)
            node.input[1] = f"{node.name}_scale"
            model.graph.initializer.append(onnx.numpy_helper.from_array(scale, node.input[1]))
    onnx.save(model, path)


def add_in_one_scale(path):
    """Gives what goes into a sum from a convolution the scale of the sum."""
    model = onnx.load(path)
    readers = {name: node for node in model.graph.node for name in node.input}
    quantizers = {node.input[0]: node for node in model.graph.node if node.op_type == "QuantizeLinear"}
    for node in [node for node in model.graph.node if node.op_type == "Conv"]:
        codes = quantizers.get(node.output[0])
        reals = codes and readers[codes.output[0]]
        total = reals and readers[reals.output[0]]
        if total and total.op_type == "Add":
            codes.input[1:] = reals.input[1:] = quantizers[total.output[0]].input[1:]
    onnx.save(model, path)


def make(name, fill, shape, options):
    net = nets.Net(name, shape, refused=True)
    fill(net)
    with tempfile.TemporaryDirectory() as folder:
        nets.FOLDER = pathlib.Path(folder)
        net.save()
        calibration = [net.random(*shape, scale=1.0) for _ in range(50)]
        settings = {"weight_type": QuantType.QInt8, "activation_type": QuantType.QUInt8, **options}
        quantize_static(nets.FOLDER / f"{name}.onnx", HERE / f"{name}.onnx", Reader(calibration),
                        quant_format=QuantFormat.QDQ, **settings)
    if name.startswith("rescaled_"):
        rescale(HERE / f"{name}.onnx")
    if name.startswith("adding_"):
        add_in_one_scale(HERE / f"{name}.onnx")
    if name.startswith("refused_"):
        return
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(HERE / f"{name}.onnx"), options, providers=["CPUExecutionProvider"])
    x = np.stack([net.random(*shape, scale=1.0) for _ in range(SAMPLES)])
    y = np.stack([session.run(None, {"x": sample})[0] for sample in x])
    np.save(HERE / f"{name}.x.npy", x)
    np.save(HERE / f"{name}.y.npy", y)


if __name__ == "__main__":
    for model in MODELS:
        make(*model)
    print(f"{len(MODELS)} models")
