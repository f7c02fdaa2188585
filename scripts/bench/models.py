"""The models that are measured, in the form that each engine reads."""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SHARED = HERE.parent.parent.parent / "shared" / "models"
FLOAT = ["netkit/mnist_mlp.onnx", "netkit/mnist_cnn.onnx", "netkit/mnist_cnn_dw.onnx",
         "large/mobilenetv4_conv_small_224.onnx", "large/resnet18_224.onnx", "large/convnextv2_atto_224.onnx"]
# ConvNeXt V2 has no int8 form. The last one is int8 as it is.
INT8 = [*FLOAT[:-1], "netkit/mobilenetv4_small_int8.nk"]
SEED, CALIBRATION_SAMPLES = 3, 8


def defaults(kind):
    """The models of ../shared that are there."""
    names = FLOAT if kind == "float" else INT8
    return [SHARED / name for name in names if (SHARED / name).exists()]


class Missing(Exception):
    """Says why a model does not come in a form."""


class Model:
    """A model made from one file, .onnx or .nk; other forms are written into a folder when somebody asks for them.

    Forms are named by the end of the file: `nk`, `onnx`, `tflite`, `mnn`, all float; `int8.nk`, `int8.tflite`, and of
    onnxruntime's quantiser `s8s8.onnx` (int8 throughout) and `u8s8.onnx` (activations uint8, weights of 7 bits).
    """

    def __init__(self, path, folder, tools):
        # inputs: form -> file and extents; integers: form -> scale and zero point of an input of integers
        self.name, self.folder, self.tools = path.stem.removesuffix("_int8"), folder, tools
        self.files = {path.name.removeprefix(self.name).lstrip("._"): path}
        self.inputs, self.integers = {}, {}

    @functools.cached_property
    def shape(self):
        """Of the input as netkit has it: maps are [1, height, width, channels]."""
        shape = self.facts["input_shape"]
        return (1, *shape) if len(shape) == 3 else tuple(shape)

    @functools.cached_property
    def facts(self):
        """What `netkit inspect --json` says."""
        form = "int8.nk" if "int8.nk" in self.files else "nk"
        return json.loads(run(self.tools.netkit, "inspect", "--json", self.file(form)))

    @functools.cached_property
    def sample(self):
        return np.random.default_rng(SEED).standard_normal(self.shape).astype(np.float32)

    def file(self, form):
        """The path of the model in a form."""
        if form not in self.files:
            path = self.folder / f"{self.name}.{form}"
            MAKERS[form](self, path)
            self.files[form] = path
        return self.files[form]

    def input(self, form):
        """A file with one input for the model in a form, and the extents."""
        self.file(form)
        if form not in self.inputs:
            planar = form.endswith(("onnx", "mnn"))
            values = to_planar(self.sample) if planar else self.sample
            suffix = "f32"
            if form in self.integers:
                (scale, zero_point), suffix = self.integers[form], "u8" if form.startswith("u8") else "i8"
                dtype = np.uint8 if suffix == "u8" else np.int8
                limits = np.iinfo(dtype)
                values = np.clip(np.round(values / scale) + zero_point, limits.min, limits.max).astype(dtype)
            path = self.folder / f"{self.name}.{form}.{suffix}"
            values.tofile(path)
            self.inputs[form] = path, "x".join(map(str, values.shape))
        return self.inputs[form]

    def calibration(self):
        """Inputs for quantising; the sample is among them, so that no engine meets a value beyond its range."""
        noise = np.random.default_rng(SEED + 1).standard_normal((CALIBRATION_SAMPLES, *self.shape[1:]))
        return np.concatenate([self.sample, noise.astype(np.float32)])


def to_planar(values):
    """[n, height, width, channels] as [n, channels, height, width]; rows of features stay."""
    return np.ascontiguousarray(values.transpose(0, 3, 1, 2)) if values.ndim == 4 else values


def run(*command, **options):
    """stdout of a program; what it said on stderr if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise Missing(f"{Path(command[0]).name}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def make_nk(model, path):
    run(model.tools.netkit, "convert", source(model, "onnx"), "-o", path)


def make_int8_nk(model, path):
    calibration = path.with_suffix(".npy")
    np.save(calibration, model.calibration())
    run(model.tools.netkit, "quantize", model.file("nk"), "--calib", calibration, "-o", path)


def make_tflite(form):
    def make(model, path):
        python = model.tools.python("litert")
        run(python, HERE / "nk_to_tflite.py", model.file(form), path)
    return make


def make_mnn(model, path):
    converter = model.tools.python("mnn").parent / "mnnconvert"
    run(converter, "-f", "ONNX", "--modelFile", source(model, "onnx"), "--MNNModel", path, "--bizCode", "netkit")


def make_quantized_onnx(form):
    def make(model, path):
        from bench import onnx_quantizer

        samples = [to_planar(values[None]) for values in model.calibration()]
        model.integers[form] = onnx_quantizer.quantize(
            source(model, "onnx"), path, samples, unsigned=form.startswith("u8"))
    return make


def source(model, form):
    if form not in model.files:
        raise Missing(f"there is no {model.name}.{form}")
    return model.files[form]


def absent(form):
    def make(model, _path):
        source(model, form)
    return make


MAKERS = {
    "onnx": absent("onnx"), "nk": make_nk, "tflite": make_tflite("nk"), "mnn": make_mnn,
    "int8.nk": make_int8_nk, "int8.tflite": make_tflite("int8.nk"),
    "s8s8.onnx": make_quantized_onnx("s8s8.onnx"), "u8s8.onnx": make_quantized_onnx("u8s8.onnx"),
}
