"""A TensorFlow Lite model that grows by one operator at a time."""
import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

FLOAT32, FLOAT16, INT32, INT8 = (getattr(schema.TensorType, name) for name in ("FLOAT32", "FLOAT16", "INT32", "INT8"))
SAME, VALID = schema.Padding.SAME, schema.Padding.VALID
NONE, RELU, RELU6 = (getattr(schema.ActivationFunctionType, name) for name in ("NONE", "RELU", "RELU6"))
NUMPY = {FLOAT32: np.float32, INT32: np.int32, INT8: np.int8, FLOAT16: np.float16}


class Graph:
    """`self.at` is the index of the running tensor; operators read it and put their result there."""

    def __init__(self, shape, kind, scale=None, zero=0):
        self.kind = kind
        self.tensors, self.buffers, self.operators, self.codes = [], [schema.BufferT()], [], []
        self.at = self.tensor("x", shape, kind, scale, zero)
        self.inputs = [self.at]

    # ---- tensors -------------------------------------------------------------------------------------------------

    def tensor(self, name, shape, kind=None, scale=None, zero=0, axis=0, data=None):
        """Adds a tensor; int8 ones have one scale, or a list of them along `axis`."""
        entry = schema.TensorT()
        entry.name, entry.shape = name, [int(extent) for extent in shape]
        entry.type, entry.buffer = self.kind if kind is None else kind, 0
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

    def conv_with(self, weights, bias, stride=1, padding=SAME, activation=RELU, scale=None, zero=None, dilation=1):
        """CONV_2D with weights [filters, height, width, channels] and a bias, or -1 for none."""
        shape, (down, right) = self.shape(), pair(stride)
        filters, height, width, _ = self.shape(weights)
        options = schema.Conv2DOptionsT()
        options.dilationHFactor = options.dilationWFactor = dilation
        options.strideH, options.strideW, options.padding = down, right, padding
        options.fusedActivationFunction = activation
        size = [_extent(shape[1], height, down, padding, dilation), _extent(shape[2], width, right, padding, dilation)]
        return self.op("CONV_2D", [self.at, weights, bias], [shape[0], *size, filters], options, scale, zero)

    def depthwise_with(self, weights, bias, stride=1, padding=SAME, activation=RELU, scale=None, zero=None):
        """DEPTHWISE_CONV_2D with weights [1, height, width, channels]."""
        shape, (_, height, width, channels) = self.shape(), self.shape(weights)
        options = schema.DepthwiseConv2DOptionsT()
        options.strideH = options.strideW = stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.depthMultiplier = channels // shape[3]
        options.padding, options.fusedActivationFunction = padding, activation
        size = [_extent(shape[1], height, stride, padding), _extent(shape[2], width, stride, padding)]
        inputs = [self.at, weights, bias]
        return self.op("DEPTHWISE_CONV_2D", inputs, [shape[0], *size, channels], options, scale, zero)

    def dense_with(self, weights, bias, activation=NONE, scale=None, zero=None, keep=False):
        """FULLY_CONNECTED with weights [units, features]; of each pixel with `keep`."""
        shape, units = self.shape(), self.shape(weights)[0]
        options = schema.FullyConnectedOptionsT()
        options.fusedActivationFunction, options.keepNumDims = activation, keep
        result = [*shape[:-1], units] if keep else [shape[0], units]
        return self.op("FULLY_CONNECTED", [self.at, weights, bias], result, options, scale, zero)

    def pool(self, kind, kernel, stride, padding=VALID, activation=NONE):
        (height, width), (down, right), shape = pair(kernel), pair(stride), self.shape()
        options = schema.Pool2DOptionsT()
        options.filterHeight, options.filterWidth, options.strideH, options.strideW = height, width, down, right
        options.padding, options.fusedActivationFunction = padding, activation
        size = [_extent(shape[1], height, down, padding), _extent(shape[2], width, right, padding)]
        return self.op(f"{kind}_POOL_2D", [self.at], [shape[0], *size, shape[3]], options)

    def mean(self, axes=(1, 2), keep=False, scale=None, zero=None):
        return self.reduce("MEAN", axes, keep, scale, zero)

    def reduce(self, name, axes, keep, scale=None, zero=None):
        shape, options = self.shape(), schema.ReducerOptionsT()
        options.keepDims = keep
        inputs = [self.at, self.const(np.array(axes, np.int32))]
        result = [1 if dim in axes else extent for dim, extent in enumerate(shape) if keep or dim not in axes]
        return self.op(name, inputs, result, options, scale, zero)

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

    def bytes(self, description):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs, graph.name = self.inputs, [self.at], "main"
        whole = schema.ModelT()
        whole.version, whole.description, whole.operatorCodes = 3, description, self.codes
        whole.subgraphs, whole.buffers = [graph], self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(whole.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _extent(size, kernel, stride, padding, dilation=1):
    covered = 1 if padding == SAME else (kernel - 1) * dilation + 1
    return (size - covered) // stride + 1
