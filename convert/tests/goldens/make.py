#!/usr/bin/env python3
"""Makes the golden cases of the interpreter: a model, its input and what onnxruntime or the ONNX project expects.

    make.py DIR          own.txt and suite.txt as they are kept in the repository
    make.py DIR --all    suite.txt with every case of ONNX's test suite whose operations the interpreter knows

Needs the packages onnx, onnxruntime and numpy; see README.md.
"""

import argparse
import os
import pathlib
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

KNOWN = set("""
Add Sub Mul Div Pow PRelu Mod Min Max Sum Mean Cast CastLike Concat Split Constant ConstantOfShape Range Shape Size
Conv Gather Expand Tile Transpose DepthToSpace SpaceToDepth Equal Greater Less GreaterOrEqual LessOrEqual And Or Xor
Not Where MatMul Gemm BatchNormalization InstanceNormalization GroupNormalization LayerNormalization RMSNormalization
Pad MaxPool AveragePool GlobalMaxPool GlobalAveragePool QuantizeLinear DequantizeLinear ReduceMean ReduceSum ReduceMax
ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare Reshape Flatten Squeeze Unsqueeze Identity Dropout Resize
Upsample Slice Softmax LogSoftmax Relu LeakyRelu ThresholdedRelu Elu Selu Celu Sigmoid HardSigmoid HardSwish Swish
Mish Gelu Tanh Softplus Softsign Erf Exp Log Sqrt Reciprocal Floor Ceil Round Sin Cos Abs Neg Sign Clip
""".split())

# Operations whose first input tells a shape or a range rather than data.
ALL_INPUTS_FIXED = {"Range", "ConstantOfShape"}
# Its expected values are rounded to four digits.
INEXACT = {"test_averagepool_2d_ceil_last_window_starts_on_pad"}
# Forms that the interpreter refuses; --all has them.
REFUSED = ("_blocked", "maxpool_2d_uint8", "with_argmax", "test_not_2d", "test_not_3d", "test_not_4d", "operator_index")
KEPT_PER_OPERATION = 2
MOST_KEPT_NUMBERS = 700


def write(file, name, model, inputs, outputs):
    """One case: its name, the bytes of the model, and the arrays that go in and come out."""
    print("case", name, file=file)
    print("model", model.SerializeToString().hex(), file=file)
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for array in arrays:
            array = np.asarray(array)
            shape = ",".join(map(str, array.shape))
            print(kind, array.dtype, f"[{shape}]", *(number(x) for x in array.reshape(-1)), file=file)


def number(x):
    if x.dtype == bool or np.issubdtype(x.dtype, np.integer):
        return int(x)
    return repr(float(x)) if x.dtype == np.float64 else np.format_float_scientific(np.float32(x), trim="-")


# Cases of our own: forms that exist in some operator sets only, and corners that converters get wrong.


class Own:
    def __init__(self, file):
        self.file = file
        self.random = np.random.default_rng(20)

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def case(self, name, opset, op, x, *fixed, outputs=1, **attributes):
        """A node with one input and fixed further ones (None is one left out); onnxruntime knows the answer."""
        x = np.asarray(x)
        names = ["x"] + ["" if array is None else f"c{i}" for i, array in enumerate(fixed)]
        results = [f"y{i}" for i in range(outputs)]
        node = helper.make_node(op, names, results, name="node", **attributes)
        constants = [numpy_helper.from_array(np.asarray(a), f"c{i}") for i, a in enumerate(fixed) if a is not None]
        kind = helper.np_dtype_to_tensor_dtype(x.dtype)
        graph = helper.make_graph(
            [node],
            "case",
            [helper.make_tensor_value_info("x", kind, x.shape)],
            [onnx.ValueInfoProto(name=result) for result in results],
            constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        write(self.file, name, model, [x], session.run(None, {"x": x}))

    def make(self):
        n = self.normal
        f = lambda *values: np.array(values, np.float32)
        i = lambda *values: np.array(values, np.int64)
        image = n(1, 3, 7, 8)
        self.case("clip_attributes_opset7", 7, "Clip", n(2, 5), min=-0.5, max=0.75)
        self.case("clip_inputs_opset11", 11, "Clip", n(2, 5), None, np.float32(0.25))
        self.case("clip_int8_opset13", 13, "Clip", np.arange(-5, 5, dtype=np.int8), np.int8(-2), np.int8(3))
        self.case("softmax_opset11_flattens", 11, "Softmax", n(2, 3, 4))
        self.case("softmax_opset11_axis_minus_2", 11, "Softmax", n(2, 3, 4), axis=-2)
        self.case("softmax_opset13", 13, "Softmax", n(2, 3, 4))
        self.case("softmax_opset13_axis_1", 13, "Softmax", n(2, 3, 4), axis=1)
        self.case("logsoftmax_opset7", 7, "LogSoftmax", n(2, 3, 2), axis=1)
        self.case("softmax_large", 13, "Softmax", f(1000, 999, -1000))
        for mode, opset in (("constant", 7), ("reflect", 7), ("edge", 7), ("reflect", 13), ("wrap", 19)):
            pads = [0, 1, 2, 0, 2, 1]
            if opset < 11:
                self.case(f"pad_{mode}_opset{opset}", opset, "Pad", n(1, 3, 4), mode=mode, pads=pads)
            else:
                self.case(f"pad_{mode}_opset{opset}", opset, "Pad", n(1, 3, 4), i(*pads), mode=mode)
        self.case("pad_value_opset7", 7, "Pad", n(2, 2), pads=[1, 0, 0, 2], value=1.5)
        self.case("pad_negative_opset11", 11, "Pad", n(3, 4), i(-1, 1, 0, -2), np.float32(9))
        self.case("pad_axes_opset18", 18, "Pad", n(2, 3, 4), i(1, 2), np.float32(-1), i(-1))
        self.case("slice_opset7", 7, "Slice", n(3, 4, 5), starts=[1, -3], ends=[3, 1000], axes=[0, 2])
        self.case("slice_opset13_steps", 13, "Slice", n(3, 8, 5), i(-1, 1), i(-100, 8), i(2, 1), i(-2, 3))
        self.case("slice_empty_opset13", 13, "Slice", n(3, 4), i(3), i(1), i(0))
        self.case("split_opset7", 7, "Split", n(2, 7), outputs=3, axis=1, split=[2, 4, 1])
        self.case("split_equal_opset11", 11, "Split", n(6, 2), outputs=3)
        self.case("split_opset13", 13, "Split", n(2, 7), i(3, 4), outputs=2, axis=-1)
        self.case("split_uneven_opset18", 18, "Split", n(7, 2), outputs=3, num_outputs=3)
        self.case("squeeze_opset11", 11, "Squeeze", n(1, 3, 1, 2), axes=[0, -2])
        self.case("squeeze_opset13", 13, "Squeeze", n(1, 3, 1, 2))
        self.case("unsqueeze_opset11", 11, "Unsqueeze", n(3, 2), axes=[0, -1])
        self.case("unsqueeze_opset13", 13, "Unsqueeze", n(3, 2), i(1, 3))
        self.case("reshape_zero_opset13", 13, "Reshape", n(2, 3, 4), i(0, -1))
        self.case("flatten_axis_0", 13, "Flatten", n(2, 3), axis=0)
        self.case("flatten_axis_minus_1", 13, "Flatten", n(2, 3, 4), axis=-1)
        for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceProd"):
            self.case(f"{op.lower()}_opset11", 11, op, n(2, 3, 4), axes=[-1, 0], keepdims=0)
        self.case("reducemean_opset18", 18, "ReduceMean", n(2, 3, 4), i(1, 2))
        self.case("reducesum_opset13_all", 13, "ReduceSum", n(2, 3))
        self.case("reducesum_opset13_none", 13, "ReduceSum", n(2, 3), i(), noop_with_empty_axes=1)
        self.case("reducesum_int64", 13, "ReduceSum", np.arange(6).reshape(2, 3), i(1))
        for name, settings in {
            "plain": {},
            "strides_2x1": {"strides": [2, 1]},
            "ceil": {"strides": [2, 2], "ceil_mode": 1},
            "pads_ceil": {"strides": [2, 3], "ceil_mode": 1, "pads": [1, 0, 1, 2]},
            "same_upper": {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
            "same_lower": {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
            "valid": {"strides": [3, 2], "auto_pad": "VALID"},
        }.items():
            settings["kernel_shape"] = [2, 3]
            self.case(f"maxpool_{name}", 12, "MaxPool", image, **settings)
            self.case(f"avgpool_{name}", 12, "AveragePool", image, **settings)
            self.case(f"avgpool_{name}_counting", 12, "AveragePool", image, count_include_pad=1, **settings)
        self.case("maxpool_dilations", 12, "MaxPool", image, kernel_shape=[2, 2], dilations=[2, 3])
        dilated = {"kernel_shape": [2, 2], "dilations": [3, 2], "pads": [1, 1, 0, 1]}
        self.case("avgpool_dilations_opset19", 19, "AveragePool", image, **dilated)
        row = f(1, 2, 3, 4, 5).reshape(1, 1, 1, 5)
        overhang = {"kernel_shape": [1, 2], "strides": [1, 2], "ceil_mode": 1, "count_include_pad": 1}
        self.case("avgpool_overhang_counting", 19, "AveragePool", row, **overhang)
        self.case("maxpool_1d", 12, "MaxPool", n(1, 2, 9), kernel_shape=[3], strides=[2])
        self.case("globalmaxpool", 7, "GlobalMaxPool", image)
        self.case("globalaveragepool_1d", 7, "GlobalAveragePool", n(2, 3, 5))
        for name, settings in {
            "plain": {},
            "pads": {"pads": [1, 0, 2, 3]},
            "strides_dilations": {"strides": [2, 3], "dilations": [2, 1], "pads": [2, 1, 2, 1]},
            "same_upper": {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
            "same_lower": {"strides": [2, 2], "auto_pad": "SAME_LOWER"},
        }.items():
            self.case(f"conv_{name}", 11, "Conv", image, n(5, 3, 3, 2), n(5), **settings)
        self.case("conv_groups", 11, "Conv", n(2, 4, 5, 6), n(6, 2, 2, 3), group=2)
        depthwise = {"group": 3, "pads": [1, 1, 1, 1]}
        self.case("conv_depthwise_multiplier", 11, "Conv", n(1, 3, 6, 5), n(6, 1, 3, 3), n(6), **depthwise)
        self.case("conv_1d", 11, "Conv", n(1, 2, 9), n(3, 2, 4), strides=[2])
        self.case("conv_3d", 11, "Conv", n(1, 2, 4, 5, 3), n(3, 2, 2, 3, 2), n(3), pads=[1, 0, 1, 0, 1, 0])
        self.case("gemm_all", 13, "Gemm", n(4, 3), n(5, 4), n(5), transA=1, transB=1, alpha=0.5, beta=2.0)
        self.case("gemm_column_bias", 13, "Gemm", n(3, 4), n(4, 5), n(3, 1))
        self.case("gemm_no_bias", 11, "Gemm", n(3, 4), n(4, 5))
        self.case("matmul_broadcast", 13, "MatMul", n(2, 1, 3, 4), n(5, 4, 2))
        self.case("matmul_vector_right", 13, "MatMul", n(2, 3, 4), n(4))
        self.case("matmul_vector_left", 13, "MatMul", n(4), n(2, 4, 3))
        self.case("matmul_dot", 13, "MatMul", n(4), n(4))
        self.case("matmul_large", 13, "MatMul", n(9, 33), n(33, 21))
        batch = (n(3), n(3), n(3), np.abs(n(3)))
        self.case("batchnorm_opset7", 7, "BatchNormalization", n(2, 3, 2, 2), *batch, epsilon=0.01)
        self.case("batchnorm_opset9_2d", 9, "BatchNormalization", n(4, 3), *batch)
        self.case("batchnorm_opset15", 15, "BatchNormalization", n(2, 3, 4), *batch, momentum=0.5)
        self.case("layernorm_axis_1", 17, "LayerNormalization", n(2, 3, 4), n(3, 4), n(3, 4), axis=1, epsilon=0.1)
        self.case("layernorm_no_bias", 17, "LayerNormalization", n(2, 3, 4), n(4))
        self.case("instancenorm", 9, "InstanceNormalization", n(2, 3, 4, 2), n(3), n(3))
        self.case("groupnorm_opset21", 21, "GroupNormalization", n(2, 4, 3), n(4), n(4), num_groups=2)
        scales = f(1, 1, 2, 3)
        small = n(1, 2, 2, 3)
        self.case("upsample_opset7", 7, "Upsample", small, scales=[1.0, 1.0, 2.0, 3.0])
        self.case("upsample_opset9", 9, "Upsample", small, scales)
        self.case("resize_opset10", 10, "Resize", small, scales)
        for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"):
            for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
                self.case(
                    f"resize_{coordinates}_{rounding}", 11, "Resize", n(1, 1, 3, 4), f(), f(1, 1, 1.7, 0.6),
                    coordinate_transformation_mode=coordinates, nearest_mode=rounding,
                )
        self.case("resize_sizes_opset13", 13, "Resize", small, None, None, i(1, 2, 5, 4))
        self.case("resize_axes_opset18", 18, "Resize", small, None, f(2, 2), axes=[2, 3], mode="nearest")
        self.case("depthtospace_crd", 13, "DepthToSpace", n(1, 8, 2, 3), blocksize=2, mode="CRD")
        self.case("depthtospace_opset7", 7, "DepthToSpace", n(1, 8, 2, 3), blocksize=2)
        self.case("spacetodepth", 13, "SpaceToDepth", n(1, 2, 4, 6), blocksize=2)
        self.case("gather_negative", 13, "Gather", n(3, 4), np.array([[-1, 0], [1, -3]]), axis=-1)
        self.case("transpose_default", 13, "Transpose", n(2, 3, 4))
        self.case("tile", 13, "Tile", n(2, 3), i(2, 3))
        self.case("expand", 13, "Expand", n(3, 1), i(2, 1, 4))
        self.case("concat", 13, "Concat", n(2, 3), n(2, 2), axis=-1)
        self.case("where", 16, "Where", np.array([[True], [False]]), n(2, 3), n(3))
        self.case("cast_float_to_int", 13, "Cast", f(-1.9, 1.9, 0.5), to=TensorProto.INT32)
        self.case("cast_float_to_half", 13, "Cast", f(1.0004885, 70000, -1e-8, 3), to=TensorProto.FLOAT16)
        self.case("cast_int_to_bool", 13, "Cast", i(-1, 0, 5), to=TensorProto.BOOL)
        self.case("div_int_truncates", 14, "Div", i(-7, 7, -8), i(2, -2, 3))
        self.case("mod_int", 13, "Mod", i(-7, 7, -8), i(3, -3, 4))
        self.case("mod_float", 13, "Mod", f(-7.5, 7.5), f(2, -2), fmod=1)
        self.case("pow_int_exponent", 13, "Pow", f(2, -3, 0), i(3, 2, 0))
        self.case("prelu_channels", 9, "PRelu", image, n(3, 1, 1))
        self.case("max_three", 13, "Max", n(2, 3), n(3), n(2, 1))
        self.case("mean_three", 13, "Mean", n(2, 3), n(3), n(2, 1))
        wide = f(-30, -2, -1, -0.5, 0, 0.5, 1, 2.5, 3.5, 30)
        functions = "Sigmoid Tanh Softplus Softsign Erf Exp Abs Neg Floor Ceil Sign Relu LeakyRelu Elu Selu HardSigmoid"
        for op in functions.split():
            self.case(op.lower(), 13, op, wide)
        later = {"Round": 13, "HardSwish": 14, "Celu": 12, "ThresholdedRelu": 10, "Mish": 18, "Gelu": 20}
        for op, opset in later.items():
            self.case(op.lower(), opset, op, wide)
        self.case("gelu_tanh", 20, "Gelu", wide, approximate="tanh")
        self.case("hardsigmoid_sixth", 7, "HardSigmoid", wide, alpha=1 / 6, beta=0.5)
        self.case("selu_own", 7, "Selu", wide, alpha=2.0, gamma=0.5)
        for op in ("Log", "Sqrt", "Reciprocal"):
            self.case(op.lower(), 13, op, np.abs(wide) + np.float32(0.1))
        self.case("quantize", 13, "QuantizeLinear", f(-1.5, -0.75, 0.25, 0.75, 1.25, 900), np.float32(0.5), np.int8(3))
        zeros = np.array([0, 128, 255], np.uint8)
        self.case("quantize_axis", 13, "QuantizeLinear", n(2, 3), f(0.1, 0.2, 0.3), zeros, axis=-1)
        self.case("quantize_no_zero", 13, "QuantizeLinear", f(-1, 0.5, 3), np.float32(0.5))
        codes = np.array([[-128, 0, 127], [5, -5, 1]], np.int8)
        self.case("dequantize_axis", 13, "DequantizeLinear", codes, f(0.5, 2), np.array([1, -1], np.int8), axis=0)
        self.case("dropout_opset7", 7, "Dropout", n(2, 3), ratio=0.9)
        self.case("dropout_mask_opset13", 13, "Dropout", n(2, 3), np.float32(0.9), outputs=2)


# ONNX's own suite.


def bound(model, inputs):
    """The model with all inputs but the first made constants, and the inputs that are left."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    graph = model.graph
    count = 0 if graph.node[0].op_type in ALL_INPUTS_FIXED else 1
    named = {initializer.name for initializer in graph.initializer}
    open_inputs = [value for value in graph.input if value.name not in named]
    for value, array in list(zip(open_inputs, inputs))[count:]:
        graph.initializer.append(numpy_helper.from_array(np.asarray(array), value.name))
        graph.input.remove(value)
    return model, inputs[:count]


def is_plain(array):
    # A leading extent 0 counts as an open batch, so there is nothing without elements.
    return isinstance(array, np.ndarray) and array.size > 0 and array.dtype in (
        np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, bool
    )


def is_known(model):
    return not model.functions and all(node.op_type in KNOWN and not node.domain for node in model.graph.node)


def suite_cases():
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        if case.name not in INEXACT and case.model is not None and is_known(case.model):
            for inputs, outputs in case.data_sets:
                yield case.name, case.model, list(inputs), list(outputs)
    data = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data"
    for kind in ("pytorch-converted", "pytorch-operator", "simple"):
        for folder in sorted((data / kind).iterdir()):
            model = onnx.load(folder / "model.onnx") if (folder / "model.onnx").exists() else None
            if model is not None and is_known(model):
                data_set = folder / "test_data_set_0"
                inputs, outputs = (load_arrays(data_set, side) for side in ("input", "output"))
                yield f"{kind}_{folder.name}".replace("-", "_"), model, inputs, outputs


def load_arrays(folder, side):
    return [load_array(path) for path in sorted(folder.glob(f"{side}_*.pb"))]


def load_array(path):
    tensor = TensorProto.FromString(path.read_bytes())
    return numpy_helper.to_array(tensor) if tensor.data_type != TensorProto.UNDEFINED else None


def make_suite(file, takes_all):
    kept = {}
    for name, model, inputs, outputs in suite_cases():
        if not all(is_plain(array) for array in inputs + outputs):
            continue
        model, inputs = bound(model, inputs)
        numbers = sum(array.size for array in inputs + outputs) + model.ByteSize() // 4
        operation = name.startswith("pytorch"), model.graph.node[0].op_type
        if not takes_all and any(part in name for part in REFUSED):
            continue
        if not takes_all and (numbers > MOST_KEPT_NUMBERS or kept.get(operation, 0) >= KEPT_PER_OPERATION):
            continue
        kept[operation] = kept.get(operation, 0) + 1
        write(file, name, model, inputs, outputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="every case of ONNX's suite, not only a sample")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    with open(arguments.folder / "own.txt", "w", encoding="ascii") as file:
        Own(file).make()
    with open(arguments.folder / "suite.txt", "w", encoding="ascii") as file:
        make_suite(file, arguments.all)


if __name__ == "__main__":
    main()
