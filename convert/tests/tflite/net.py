"""A TensorFlow Lite model that grows by one operator at a time, and the list of all models."""
import pathlib

import flatbuffers
import numpy as np
from tflite_micro import runtime
from tflite_micro.tensorflow.lite.micro.python import schema_py_generated as schema

FOLDER = pathlib.Path(__file__).parent
SEED = 20
SAMPLES = 4
FLOAT32, FLOAT16, INT32, INT8 = (getattr(schema.TensorType, name) for name in ("FLOAT32", "FLOAT16", "INT32", "INT8"))
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID
NONE, RELU, RELU6 = (getattr(schema.ActivationFunctionType, name) for name in ("NONE", "RELU", "RELU6"))
NUMPY = {FLOAT32: np.float32, INT32: np.int32, INT8: np.int8, FLOAT16: np.float16}
MODELS = []


def model(shape, **options):
    """Registers a function that fills a `Net` whose input has this shape."""
    def register(fill):
        MODELS.append((fill, shape, options))
        return fill
    return register


class Net:
    """`self.at` is the index of the running tensor."""

    def __init__(self, name, shape, kind=INT8, scale=0.05, zero=-4):
        self.name, self.kind = name, kind
        self.rng = np.random.default_rng([SEED, *name.encode()])
        self.tensors, self.buffers, self.operators, self.codes = [], [schema.BufferT()], [], []
        self.at = self.tensor("x", shape, kind, scale, zero)
        self.inputs = [self.at]
        self.runs_on_micro = True

    # ---- tensors -------------------------------------------------------------------------------------------------

    def tensor(self, name, shape, kind=None, scale=None, zero=0, axis=0, data=None):
        """Adds a tensor; int8 ones have one scale, or a list of them along `axis`."""
        entry = schema.TensorT()
        entry.name, entry.shape, entry.type = name, [int(extent) for extent in shape], self.kind if kind is None else kind
        entry.buffer = 0
        if scale is not None and entry.type != FLOAT32:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            entry.quantization = schema.QuantizationParametersT()
            entry.quantization.scale = [float(value) for value in scales]
            entry.quantization.zeroPoint = [int(zero)] * len(scales)
            entry.quantization.quantizedDimension = axis
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.buffers.append(buffer)
            entry.buffer = len(self.buffers) - 1
        self.tensors.append(entry)
        return len(self.tensors) - 1

    def const(self, array, **options):
        array = np.asarray(array)
        kind = next(kind for kind, of in NUMPY.items() if of == array.dtype)
        return self.tensor(f"c{len(self.tensors)}", array.shape, kind, data=array, **options)

    def shape(self, index=None):
        return list(self.tensors[self.at if index is None else index].shape)

    def params(self, index=None):
        quant = self.tensors[self.at if index is None else index].quantization
        return (float(quant.scale[0]), int(quant.zeroPoint[0])) if quant else (None, 0)

    # ---- operators -----------------------------------------------------------------------------------------------

    def op(self, name, inputs, shape, options=None, scale=None, zero=None, kind=None):
        """Adds an operator; the result has the scale and zero point of the running tensor unless they are given."""
        own = self.params()
        scale, zero = own[0] if scale is None else scale, own[1] if zero is None else zero
        result = self.tensor(f"{name.lower()}{len(self.operators)}", shape, kind, scale, zero)
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, name)
        code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), 1
        operator = schema.OperatorT()
        operator.opcodeIndex, operator.inputs, operator.outputs = len(self.codes), list(inputs), [result]
        if options is not None:
            operator.builtinOptions = options
            kinds = {value: key for key, value in vars(schema.BuiltinOptions).items() if isinstance(value, int)}
            names = {name: value for value, name in kinds.items()}
            operator.builtinOptionsType = names[type(options).__name__.removesuffix("T")]
        self.codes.append(code)
        self.operators.append(operator)
        self.at = result
        return result

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
        (height, width), (down, right) = _pair(kernel), _pair(stride)
        of = more.get("of", self.at)
        self.at = of
        shape = self.shape()
        weights, scales = self.random_weights((filters, height, width, shape[3]), 0, more.get("per_channel", True))
        bias = self.random_bias(filters, scales) if more.get("bias", True) else -1
        options = schema.Conv2DOptionsT()
        dilation = more.get("dilation", 1)
        options.dilationHFactor = options.dilationWFactor = dilation
        options.strideH, options.strideW, options.padding = down, right, padding
        options.fusedActivationFunction = activation
        size = [_extent(shape[1], height, down, padding, dilation), _extent(shape[2], width, right, padding, dilation)]
        return self.op("CONV_2D", [of, weights, bias], [shape[0], *size, filters], options, scale, zero)

    def depthwise(self, kernel, stride=1, padding=SAME, activation=RELU, multiplier=1, scale=0.06, zero=-100):
        (height, width), shape = _pair(kernel), self.shape()
        channels = shape[3] * multiplier
        weights, scales = self.random_weights((1, height, width, channels), 3)
        options = schema.DepthwiseConv2DOptionsT()
        options.strideH = options.strideW = stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.depthMultiplier, options.padding, options.fusedActivationFunction = multiplier, padding, activation
        size = [_extent(shape[1], height, stride, padding), _extent(shape[2], width, stride, padding)]
        inputs = [self.at, weights, self.random_bias(channels, scales)]
        return self.op("DEPTHWISE_CONV_2D", inputs, [shape[0], *size, channels], options, scale, zero)

    def dense(self, units, activation=NONE, scale=0.08, zero=11, **more):
        """FULLY_CONNECTED; `more` may have per_channel, weight_zero, bias, keep."""
        shape = self.shape()
        keep = more.get("keep", False)
        features = shape[-1] if keep else int(np.prod(shape[1:]))
        weights, scales = self.random_weights((units, features), 0, more.get("per_channel", False),
                                              more.get("weight_zero", 0))
        bias = self.random_bias(units, scales) if more.get("bias", True) else -1
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction, options.keepNumDims = activation, keep
        result = [*shape[:-1], units] if keep else [shape[0], units]
        return self.op("FULLY_CONNECTED", [self.at, weights, bias], result, options, scale, zero)

    def pool(self, kind, kernel, stride, padding=VALID, activation=NONE):
        (height, width), (down, right), shape = _pair(kernel), _pair(stride), self.shape()
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth, options.strideH, options.strideW = height, width, down, right
        options.padding, options.fusedActivationFunction = padding, activation
        size = [_extent(shape[1], height, down, padding), _extent(shape[2], width, right, padding)]
        return self.op(f"{kind}_POOL_2D", [self.at], [shape[0], *size, shape[3]], options)

    def mean(self, axes=(1, 2), keep=False, scale=None, zero=None):
        shape, options = self.shape(), schema.ReducerOptionsT()
        options.keepDims = keep
        inputs = [self.at, self.const(np.array(axes, np.int32))]
        result = [1 if dim in axes else extent for dim, extent in enumerate(shape) if keep or dim not in axes]
        return self.op("MEAN", inputs, result, options, scale, zero)

    def reshape(self, *shape):
        options = schema.ReshapeOptionsT()
        options.newShape = list(shape)
        return self.op("RESHAPE", [self.at, self.const(np.array(shape, np.int32))], shape, options)

    def softmax(self):
        options = schema.SoftmaxOptionsT()
        options.beta = 1.0
        return self.op("SOFTMAX", [self.at], self.shape(), options, 1 / 256, -128)

    def logistic(self):
        return self.op("LOGISTIC", [self.at], self.shape(), None, 1 / 256, -128)

    def tanh(self):
        return self.op("TANH", [self.at], self.shape(), None, 1 / 128, 0)

    def leaky(self, alpha, scale=None, zero=None):
        options = schema.LeakyReluOptionsT()
        options.alpha = alpha
        return self.op("LEAKY_RELU", [self.at], self.shape(), options, scale, zero)

    def relu(self, name="RELU", scale=None, zero=None):
        return self.op(name, [self.at], self.shape(), None, scale, zero)

    def pad(self, top, bottom, left, right):
        amounts = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32)
        shape = [extent + sum(amounts[dim]) for dim, extent in enumerate(self.shape())]
        return self.op("PAD", [self.at, self.const(amounts)], shape, schema.PadOptionsT())

    def add(self, left, right, activation=RELU, scale=0.07, zero=-128):
        options = schema.AddOptionsT()
        options.fusedActivationFunction = activation
        return self.op("ADD", [left, right], self.shape(left), options, scale, zero)

    def quantize(self, scale, zero, kind=INT8):
        return self.op("QUANTIZE", [self.at], self.shape(), schema.QuantizeOptionsT(), scale, zero, kind)

    def dequantize(self):
        return self.op("DEQUANTIZE", [self.at], self.shape(), schema.DequantizeOptionsT(), kind=FLOAT32)

    # ---- files ---------------------------------------------------------------------------------------------------

    def bytes(self):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs, graph.name = self.inputs, [self.at], "main"
        whole = schema.ModelT()
        whole.version, whole.description, whole.operatorCodes = 3, "generate.py", self.codes
        whole.subgraphs, whole.buffers = [graph], self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(whole.Pack(builder), b"TFL3")
        return bytes(builder.Output())

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
        data = self.bytes()
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


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _extent(size, kernel, stride, padding, dilation=1):
    covered = 1 if padding == SAME else (kernel - 1) * dilation + 1
    return (size - covered) // stride + 1
