#!/usr/bin/env python3
"""How many of the 2,000 test digits a model reads correctly.

    python3 models/train/accuracy.py --data DIR models/train/handwritten_cnn.onnx     # by onnxruntime
    python3 models/train/accuracy.py --data DIR handwritten_cnn.nk                    # by the C library
    python3 models/train/accuracy.py --data DIR handwritten_cnn.nk --command target/release/netkit

A float and an int8 model are measured alike: both take the pixels as numbers from 0 to 1.
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from digits import CLASSES, test_set

ROOT = Path(__file__).resolve().parent.parent.parent


def onnx_runner(path):
    from export import session

    run = session(path)
    return lambda image: run(image[None])


class Library:
    """A model in libnetkit, through the C interface."""

    def __init__(self, path, library):
        if not library.exists():
            raise SystemExit(f"{library} is not there: `cargo build --release` makes it, --library names another")
        self.c = ctypes.CDLL(str(library))
        self.c.nk_last_error.restype = ctypes.c_char_p
        self.c.nk_recommended_arena_bytes.restype = ctypes.c_size_t
        # Handles of NK_ARENA_STORAGE_BYTES and NK_MODEL_STORAGE_BYTES, aligned as the strictest basic type.
        strictest = ctypes.c_longdouble
        self.arena = (strictest * (64 // ctypes.sizeof(strictest)))()
        self.model = (strictest * (96 // ctypes.sizeof(strictest)))()
        size = self.c.nk_recommended_arena_bytes(str(path).encode())
        self.check(size == 0)
        self.check(self.c.nk_arena_init_heap(self.arena, ctypes.c_size_t(size)))
        self.check(self.c.nk_model_load(str(path).encode(), self.arena, self.model))

    def check(self, failed):
        """Status 0 is NK_OK."""
        if failed:
            raise SystemExit(self.c.nk_last_error().decode())

    def __call__(self, image):
        # One channel: [1, 28, 28] of PyTorch and [28, 28, 1] of the library are the same numbers in the same order.
        image, output = np.ascontiguousarray(image), np.empty(CLASSES, np.float32)
        written = ctypes.c_uint32()
        pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for array in (image, output)]
        self.check(self.c.nk_model_run_auto(self.model, self.arena, pointers[0], ctypes.c_uint32(image.size),
                                            pointers[1], ctypes.c_uint32(CLASSES), ctypes.byref(written)))
        if written.value != CLASSES:
            raise SystemExit(f"expected a model with {CLASSES} outputs, found {written.value}")
        return output


def command_runner(path, command, folder):
    """The `netkit run` command, once for each picture."""
    picture = Path(folder) / "picture.npy"

    def run(image):
        np.save(picture, image.reshape(-1))
        made = subprocess.run([command, "run", path, "--input", picture, "--quiet"], check=True, capture_output=True)
        return np.array(made.stdout.split(b","), dtype=np.float32)

    return run


def correct(run, images, labels):
    """How many images `run` gives the largest score for the right digit."""
    return sum(int(np.argmax(run(image)) == label) for image, label in zip(images, labels))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="an .onnx or .nk file")
    parser.add_argument("--data", type=Path, required=True, help="folder for the npm package")
    parser.add_argument("--library", type=Path, default=ROOT / "target/release/libnetkit.so", help="for .nk files")
    parser.add_argument("--command", type=Path, help="run .nk files by this netkit program instead")
    options = parser.parse_args()
    images, labels = test_set(options.data)
    with tempfile.TemporaryDirectory() as folder:
        if options.model.suffix == ".onnx":
            run = onnx_runner(options.model)
        elif options.command:
            run = command_runner(options.model, options.command, folder)
        else:
            run = Library(options.model, options.library)
        right = correct(run, images, labels)
    print(f"{options.model.name}: {right} of {len(labels)} digits, {right / len(labels):.2%}")


if __name__ == "__main__":
    sys.exit(main())
