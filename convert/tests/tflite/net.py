"""Models with random weights, which have answers of TensorFlow Lite Micro, and the list of all models."""
import pathlib

import numpy as np
from graph import FLOAT16, FLOAT32, INT8, NONE, RELU, RELU6, SAME, VALID, Graph, pair, schema  # noqa: F401: for models
from tflite_micro import runtime

FOLDER = pathlib.Path(__file__).parent
SEED = 20
SAMPLES = 4
MODELS = []


def model(shape, **options):
    """Registers a function that fills a `Net` whose input has this shape."""
    def register(fill):
        MODELS.append((fill, shape, options))
        return fill
    return register


class Net(Graph):
    """A graph whose constants are random."""

    def __init__(self, name, shape, kind=INT8, scale=0.05, zero=-4):
        self.name = name
        self.rng = np.random.default_rng([SEED, *name.encode()])
        self.runs_on_micro = True
        super().__init__(shape, kind, scale, zero)

    def random_weights(self, shape, axis, per_channel=True, zero=0):
        """A constant of weights with its scales; float weights have none."""
        fan = np.prod(shape) / shape[axis]
        if self.kind == FLOAT32:
            return self.const((self.rng.standard_normal(shape) / np.sqrt(fan)).astype(np.float32)), None
        whole = self.rng.integers(-127, 128, shape).astype(np.int8)
        scales = self.rng.uniform(0.5, 2, shape[axis] if per_channel else 1) / 74 / np.sqrt(fan)
        scales = scales.astype(np.float32)
        return self.const(whole, scale=scales, zero=zero, axis=axis), scales

    def random_bias(self, count, scales):
        if scales is None:
            return self.const(self.rng.standard_normal(count).astype(np.float32))
        units = np.float32(self.params()[0]) * scales
        return self.const((self.rng.standard_normal(count) / units).astype(np.int32), scale=units)

    def conv(self, filters, kernel, stride=1, padding=SAME, activation=RELU, scale=0.06, zero=-100, **more):
        """CONV_2D; `more` may have per_channel, dilation, of (the tensor to read), bias."""
        self.at = more.get("of", self.at)
        shape = (filters, *pair(kernel), self.shape()[3])
        weights, scales = self.random_weights(shape, 0, more.get("per_channel", True))
        bias = self.random_bias(filters, scales) if more.get("bias", True) else -1
        return self.conv_with(weights, bias, stride, padding, activation, scale, zero, more.get("dilation", 1))

    def depthwise(self, kernel, stride=1, padding=SAME, activation=RELU, multiplier=1, scale=0.06, zero=-100):
        channels = self.shape()[3] * multiplier
        weights, scales = self.random_weights((1, *pair(kernel), channels), 3)
        bias = self.random_bias(channels, scales)
        return self.depthwise_with(weights, bias, stride, padding, activation, scale, zero)

    def dense(self, units, activation=NONE, scale=0.08, zero=11, **more):
        """FULLY_CONNECTED; `more` may have per_channel, weight_zero, bias, keep."""
        shape, keep = self.shape(), more.get("keep", False)
        features = shape[-1] if keep else int(np.prod(shape[1:]))
        weights, scales = self.random_weights((units, features), 0, more.get("per_channel", False),
                                              more.get("weight_zero", 0))
        bias = self.random_bias(units, scales) if more.get("bias", True) else -1
        return self.dense_with(weights, bias, activation, scale, zero, keep)

    def samples(self, count):
        """Inputs: random codes, all the same and extreme ones."""
        shape, kind = self.shape(self.inputs[0]), self.tensors[self.inputs[0]].type
        if kind == FLOAT32:
            return self.rng.standard_normal((count, *shape)).astype(np.float32)
        samples = self.rng.integers(-128, 128, (count, *shape))
        samples[0] = self.params(self.inputs[0])[1]
        samples[-1] = self.rng.integers(0, 2, shape) * 255 - 128
        return samples.astype(np.int8)

    def save(self):
        """NAME.tflite with inputs and the answers of TensorFlow Lite Micro; no answers for what is to be refused."""
        data = self.bytes("generate.py")
        (FOLDER / f"{self.name}.tflite").write_bytes(data)
        if self.name.startswith("refused_"):
            return
        inputs = self.samples(SAMPLES)
        np.save(FOLDER / f"{self.name}.x.npy", inputs)
        compute = answers if self.runs_on_micro else answers_of_lite
        np.save(FOLDER / f"{self.name}.y.npy", compute(data, inputs))


def answers(data, inputs):
    """Outputs of TensorFlow Lite Micro for a batch of inputs."""
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=1 << 20)
    results = []
    for sample in inputs:
        interpreter.set_input(sample, 0)
        interpreter.invoke()
        results.append(interpreter.get_output(0).copy())
    return np.stack(results)


def answers_of_lite(data, inputs):
    """Outputs of TensorFlow Lite, for operators that the other one does not have."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=data)
    interpreter.allocate_tensors()
    results = []
    for sample in inputs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample)
        interpreter.invoke()
        results.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).copy())
    return np.stack(results)
