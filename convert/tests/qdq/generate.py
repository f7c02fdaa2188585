"""Makes small quantised models with onnxruntime's static quantiser, and onnxruntime's answers.

    python3 generate.py        # needs onnx, onnxruntime and numpy

NAME.onnx with NAME.x.npy and NAME.y.npy (ten samples each) must become int8 models whose outputs are at most two steps from
onnxruntime's; refused_NAME has no int8 form with the scales of the file.
"""
import pathlib
import sys
import tempfile

import numpy as np
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


MODELS = [
    ("unsigned_cnn", cnn, (1, 3, 12, 8), {}),
    ("signed_cnn_per_channel", cnn, (1, 3, 12, 8), {"activation_type": QuantType.QInt8, "per_channel": True}),
    ("unsigned_cnn_per_channel", cnn, (1, 3, 12, 8), {"per_channel": True}),
    ("depthwise_per_channel", depthwise, (1, 6, 7, 5), {"activation_type": QuantType.QInt8, "per_channel": True}),
    ("depthwise", depthwise, (1, 6, 7, 5), {}),
    ("mlp", mlp, (1, 16), {}),
    ("refused_residual", residual, (1, 4, 6, 5), {"activation_type": QuantType.QInt8}),
    ("refused_codes_of_16_bits", mlp, (1, 16), {"activation_type": QuantType.QInt16}),
]


class Reader(CalibrationDataReader):
    """Random inputs, one after another."""

    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(({"x": sample} for sample in self.samples), None)


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
