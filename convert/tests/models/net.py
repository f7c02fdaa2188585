"""A graph that grows by one operation at a time, and the list of all models."""
import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
SEED = 20


class Net:
    """A graph that grows by one operation at a time; `self.at` is the name of the running value."""

    def __init__(self, name, shape, opset=17, refused=False, external=False):
        self.name, self.shape, self.opset, self.refused, self.external = name, list(shape), opset, refused, external
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

    def proto(self):
        outputs = self.outputs or [self.at]
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        graph = helper.make_graph(self.nodes, self.name, given, infos, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def save(self):
        model = self.proto()
        path = FOLDER / f"{self.name}.onnx"
        if self.external:
            helpers = onnx.external_data_helper
            helpers.convert_model_to_external_data(model, location=f"{self.name}.data", size_threshold=0)
            model = helpers.write_external_data_tensors(model, str(FOLDER))
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
