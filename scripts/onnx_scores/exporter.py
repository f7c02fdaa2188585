"""A network that grows by one layer at a time, written as some exporter would write it."""

import sys
from pathlib import Path

import numpy
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "convert" / "tests" / "models"))
from net import Net  # noqa: E402

DTYPES = {"float": (numpy.float32, TensorProto.FLOAT), "half": (numpy.float16, TensorProto.FLOAT16),
          "double": (numpy.float64, TensorProto.DOUBLE)}

# Operations whose results are shapes here.
WHOLE_NUMBERS = ("Shape", "Gather", "Unsqueeze", "Concat")


class Exporter(Net):
    """`self.size` is the size of the running value: (C, H, W), (C, L), or (F,) behind the batch."""

    def __init__(self, name, seed, size):
        self.chance = numpy.random.default_rng(seed)
        opset = int(self.chance.integers(7, 22))
        super().__init__(name, [1, *size], opset=opset)
        self.rng = numpy.random.default_rng([seed, 1])
        self.size = tuple(size)
        # onnxruntime has no convolution of float64.
        self.kind = self.choose("float", "float", "float", "half", "double" if len(size) == 1 else "float")
        self.constants = self.choose("initializer", "initializer", "node", "identity", "cast", "input", "mixed")
        self.is_external = self.happens(0.1)
        self.is_noisy = self.happens(0.3)
        self.is_channels_last = len(size) == 3 and self.happens(0.2)
        if self.is_channels_last:
            channels, height, width = size
            self.shape = [1, height, width, channels]
            self.op("Transpose", "x", perm=[0, 3, 1, 2])

    # ---- chances ----

    def choose(self, *options):
        return options[int(self.chance.integers(len(options)))]

    def happens(self, chance):
        return self.chance.random() < chance

    # ---- how constants and nodes are written ----

    def real(self, value):
        """Real numbers in the type of the model."""
        return numpy.asarray(value, DTYPES[self.kind][0])

    def const(self, array):
        array = numpy.asarray(array)
        if array.dtype.kind == "f":
            array = self.real(array)
        name = super().const(array)
        how = self.constants if self.constants != "mixed" else self.choose("initializer", "node", "identity", "cast")
        if how == "node":
            self.weights.pop()
            value = numpy_helper.from_array(array, name)
            self.nodes.append(helper.make_node("Constant", [], [name], value=value))
        elif how == "identity":
            self.nodes.append(helper.make_node("Identity", [name], [name + "_same"]))
            name += "_same"
        elif how == "cast" and array.dtype.kind == "f":
            stored = array.astype(self.choose(numpy.float16, numpy.float64))
            self.weights[-1] = numpy_helper.from_array(stored, name)
            self.nodes.append(helper.make_node("Cast", [name], [name + "_cast"], to=DTYPES[self.kind][1]))
            name += "_cast"
        return name

    def op(self, kind, *inputs, **attributes):
        result = super().op(kind, *inputs, **attributes)
        if self.is_noisy and kind not in WHOLE_NUMBERS and self.happens(0.15):
            result = self.noise()
        return result

    def noise(self):
        what = self.choose("Identity", "Dropout", "Transposes")
        if what == "Transposes" and len(self.size) == 3 and self.is_map():
            super().op("Transpose", self.at, perm=[0, 2, 3, 1])
            return super().op("Transpose", self.at, perm=[0, 3, 1, 2])
        if what == "Dropout" and self.opset >= 12:
            return super().op("Dropout", self.at, outputs=self.choose(1, 2))
        return super().op("Identity", self.at)

    def is_map(self):
        return False

    def axes_op(self, kind, axes, since, **attributes):
        """An operation whose axes are an attribute before operator set `since` and an input from then on."""
        if self.opset < since:
            return self.op(kind, self.at, axes=list(axes), **attributes)
        return self.op(kind, self.at, numpy.array(axes, numpy.int64), **attributes)

    # ---- layers ----

    def vector(self, values):
        """Numbers for each channel, for arithmetic with the running value."""
        dims = (-1,) + (1,) * (len(self.size) - 1)
        return values.reshape(self.choose(dims, (1, *dims)))

    def arithmetic(self, kind, x, values):
        """A commutative operation with a constant on either side."""
        return self.op(kind, *((x, values) if self.happens(0.6) else (values, x)))

    def convolution(self, filters, kernel, stride=1, dilation=1, group=1, padding=None, bias=None):
        channels, spatial = self.size[0], len(self.size) - 1
        kernel = list(kernel)
        span = [dilation * (k - 1) + 1 for k in kernel]
        attributes = {} if stride == 1 and self.happens(0.5) else {"strides": [stride] * spatial}
        if dilation > 1 or self.happens(0.3):
            attributes["dilations"] = [dilation] * spatial
        if self.happens(0.7):
            attributes["kernel_shape"] = kernel
        padding = padding or self.choose("same", "same", "none", "uneven", "SAME_UPPER", "SAME_LOWER", "VALID", "node")
        if dilation > 1 and padding.startswith("SAME"):
            padding = "same"
        out = self.pad(padding, span, stride, attributes)
        if min(out) < 1:
            return self.convolution(filters, [1] * spatial, stride, 1, group, "none", bias)
        scale = 1 / numpy.sqrt(channels / group * numpy.prod(kernel))
        weights = self.random(filters, channels // group, *kernel, scale=scale)
        bias = bias or self.choose("conv", "conv", "add", "none")
        inputs = [self.at, weights] + ([self.random(filters)] if bias == "conv" else [])
        if group > 1 or self.happens(0.3):
            attributes["group"] = group
        self.op("Conv", *inputs, **attributes)
        self.size = (filters, *out)
        if bias == "add":
            self.arithmetic("Add", self.at, self.vector(self.random(filters)))
        return self.at

    def pad(self, padding, span, stride, attributes):
        """Adds padding to the attributes, or a node; answers the size of the result."""
        size = self.size[1:]
        if padding.startswith("SAME"):
            attributes["auto_pad"] = padding
            return [-(-extent // stride) for extent in size]
        if padding == "VALID":
            attributes["auto_pad"] = "VALID"
        begin, end = [0] * len(size), [0] * len(size)
        if padding in ("same", "node"):
            begin, end = [(k - 1) // 2 for k in span], [k // 2 for k in span]
        elif padding == "uneven":
            begin = [int(self.chance.integers(0, k)) for k in span]
            end = [int(self.chance.integers(0, k)) for k in span]
        if padding == "node":
            pads = [0, 0, *begin, 0, 0, *end]
            if self.opset < 11:
                self.op("Pad", self.at, pads=pads)
            else:
                extra = [self.real(0)] if self.happens(0.5) else []
                self.op("Pad", self.at, numpy.array(pads, numpy.int64), *extra)
        elif padding in ("same", "uneven"):
            attributes["pads"] = begin + end
        return [(extent + a + b - k) // stride + 1 for extent, a, b, k in zip(size, begin, end, span)]

    def batch_norm(self):
        channels = self.size[0]
        if self.happens(0.8):
            return self.norm(channels)
        self.arithmetic("Mul", self.at, self.vector(self.positive(channels)))
        return self.arithmetic("Add", self.at, self.vector(self.random(channels)))

    def clip(self, low, high):
        form = self.choose("Clip", "Clip", "MinMax")
        if form == "MinMax" and self.opset >= 8:
            self.arithmetic("Min", self.at, self.real(high))
            return self.arithmetic("Max", self.at, self.real(low))
        if self.opset < 11:
            return self.op("Clip", self.at, min=float(low), max=float(high))
        return self.op("Clip", self.at, self.real(low), self.real(high))

    def activation(self, kind):
        x = self.at
        if kind in ("Relu", "Sigmoid", "Tanh"):
            return self.op(kind, x)
        if kind == "relu6":
            return self.clip(0, 6)
        if kind == "clip":
            return self.clip(-1.5, 2)
        if kind == "leaky":
            form = self.choose("LeakyRelu", "PRelu", "Max")
            if form == "Max" and self.opset >= 8:
                return self.op("Max", x, self.arithmetic("Mul", x, self.real(0.125)))
            if form == "PRelu":
                return self.op("PRelu", x, self.real([0.2]))
            return self.op("LeakyRelu", x, alpha=0.1)
        if kind == "prelu":
            return self.op("PRelu", x, self.random(self.size[0], *(1 for _ in self.size[1:])))
        if kind == "HardSigmoid":
            return self.op("HardSigmoid", x, **({} if self.happens(0.5) else {"alpha": 1 / 6}))
        if kind == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "hard_swish":
            self.op("Add", x, self.real(3))
            return self.op("Div", self.op("Mul", x, self.clip(0, 6)), self.real(6))
        if kind == "gelu":
            gate = self.op("Erf", self.op("Div", x, self.real(numpy.sqrt(2))))
            product = self.op("Mul", x, self.op("Add", gate, self.real(1)))
            return self.op("Mul", product, self.real(0.5))
        return self.op(kind, x)

    def pool(self, kind, kernel, stride):
        spatial = len(self.size) - 1
        attributes = {"kernel_shape": [kernel] * spatial, "strides": [stride] * spatial}
        padding = self.choose("none", "none", "same", "SAME_UPPER", "SAME_LOWER", "ceil")
        if kind == "AveragePool" and self.happens(0.4):
            attributes["count_include_pad"] = int(self.happens(0.5))
        if padding == "ceil" and self.opset >= 10:
            attributes["ceil_mode"] = 1
            out = [-(-(extent - kernel) // stride) + 1 for extent in self.size[1:]]
            out = [count - ((count - 1) * stride >= extent) for count, extent in zip(out, self.size[1:])]
        else:
            pads = padding if padding != "ceil" else "none"
            out = self.pad(pads, [kernel] * spatial, stride, attributes)
        if min(self.size[1:]) < kernel or min(out) < 1:
            return self.at
        self.size = (self.size[0], *out)
        return self.op(kind, self.at, **attributes)

    def global_pool(self, kind):
        """Maximum or mean over the map; the result is a row, or a map of one pixel."""
        axes = list(range(2, len(self.size) + 1))
        form = self.choose("Global", "Reduce", "Reduce flat", "window")
        if form == "Global":
            self.op("Global" + kind, self.at)
        elif form == "window":
            self.op(kind, self.at, kernel_shape=list(self.size[1:]))
        else:
            keep = int(form == "Reduce")
            axes = [axis - len(self.size) - 1 for axis in axes] if self.opset >= 11 and self.happens(0.3) else axes
            self.axes_op("ReduceMax" if kind == "MaxPool" else "ReduceMean", axes, 18, keepdims=keep)
            if not keep:
                self.size = self.size[:1]
                return self.at
        self.size = (self.size[0], *(1 for _ in axes))
        return self.at

    def cut(self, axis, start, end):
        """The part of the running value from `start` to `end` along a spatial axis."""
        if self.opset < 10:
            self.op("Slice", self.at, starts=[start], ends=[end], axes=[axis])
        else:
            self.op("Slice", self.at, *(numpy.array([number], numpy.int64) for number in (start, end, axis)))
        size = list(self.size)
        size[axis - 1] = len(range(size[axis - 1])[start:end])
        self.size = tuple(size)
        return self.at

    def flatten(self):
        """A row of all elements."""
        if len(self.size) == 1:
            return self.at
        features = int(numpy.prod(self.size))
        ones = max(self.size[1:]) == 1
        form = self.choose("Flatten", "Reshape", "Reshape", "Shape", "Squeeze" if ones else "Flatten")
        if form == "Squeeze":
            self.axes_op("Squeeze", range(2, len(self.size) + 1), 13)
        elif form == "Shape":
            whole = self.at
            batch = self.op("Gather", self.op("Shape", whole), numpy.array(0, numpy.int64), axis=0)
            self.at = batch
            batch = self.axes_op("Unsqueeze", [0], 13)
            shape = self.op("Concat", batch, numpy.array([-1], numpy.int64), axis=0)
            self.op("Reshape", whole, shape)
        elif form == "Reshape":
            shape = self.choose([1, -1], [-1, features], [0, -1], [1, features])
            self.op("Reshape", self.at, numpy.array(shape, numpy.int64))
        else:
            self.op("Flatten", self.at)
        self.size = (features,)
        return self.at

    def dense(self, units):
        features = self.size[-1]
        weights = self.random(units, features, scale=1 / numpy.sqrt(features))
        bias = self.random(units)
        form = self.choose("Gemm", "Gemm", "MatMul", "Gemm0") if len(self.size) == 1 else "MatMul"
        if form == "MatMul":
            self.op("MatMul", self.at, weights.T.copy())
            if self.happens(0.8):
                self.arithmetic("Add", self.at, bias)
        elif form == "Gemm0" and self.opset >= 11:
            self.op("Gemm", self.at, weights.T.copy())
        else:
            attributes = {"alpha": 0.5, "beta": 2.0} if self.happens(0.2) else {}
            bias = self.choose(bias, bias, bias[:1], bias[None, :])
            if self.happens(0.6):
                self.op("Gemm", self.at, weights, bias, transB=1, **attributes)
            else:
                self.op("Gemm", self.at, weights.T.copy(), bias, **attributes)
        self.size = (*self.size[:-1], units)
        return self.at

    def layer_norm(self):
        """Over the last dimension."""
        features = self.size[-1]
        scale, shift = self.positive(features), self.random(features)
        if self.opset >= 17 and self.happens(0.5):
            return self.op("LayerNormalization", self.at, scale, shift, axis=-1, epsilon=1e-5)
        x = self.at
        self.at = self.op("Sub", x, self.axes_op("ReduceMean", [-1], 18))
        centred = self.at
        if self.happens(0.5):
            self.op("Pow", centred, self.real(2))
        else:
            self.op("Mul", centred, centred)
        variance = self.axes_op("ReduceMean", [-1], 18)
        self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, self.real(1e-5))))
        return self.op("Add", self.op("Mul", self.at, scale), shift)

    # ---- the file ----

    def proto(self):
        model = super().proto()
        kind = DTYPES[self.kind][1]
        for port in (*model.graph.input, *model.graph.output):
            port.type.tensor_type.elem_type = kind
        if self.constants == "input":
            model.ir_version = 3 if self.opset <= 8 else model.ir_version
            listed = [helper.make_tensor_value_info(constant.name, constant.data_type, list(constant.dims))
                      for constant in model.graph.initializer]
            ports = [*listed, *model.graph.input] if self.happens(0.5) else [*model.graph.input, *listed]
            del model.graph.input[:]
            model.graph.input.extend(ports)
        if self.happens(0.4):
            for port in model.graph.input:
                if port.name == "x":
                    port.type.tensor_type.shape.dim[0].dim_param = self.choose("N", "batch", "unk__12")
        return model
