#!/usr/bin/env python3
"""The `.nk` models of the handwritten digits, float and int8, and how many test digits they read correctly.

    cargo build --release
    python3 models/train/quantize.py --data DIR             # write models/handwritten_*.nk, print the accuracies
    python3 models/train/quantize.py --data DIR --measure   # only measure what is committed

`netkit convert` makes the float models, with the ten test cases of `*_cases.npz`. `netkit quantize` makes the int8 models
from 1,000 training digits, with ten of them as test cases. Needs numpy only.
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from accuracy import ROOT, command_runner, correct
from digits import CLASSES, calibration, test_set

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent
NAMES = ("handwritten_mlp", "handwritten_cnn", "handwritten_cnn_dw")


def write_models(command, data, folder):
    """One float and one int8 model for each network."""
    samples, labels = folder / "calibration.npy", folder / "labels.txt"
    digits = calibration(data)
    np.save(samples, digits)
    # A digit of each kind in turn.
    labels.write_text("".join(f"{index % CLASSES}\n" for index in range(len(digits))))
    for name in NAMES:
        source, float_model, int8_model = HERE / f"{name}.onnx", MODELS / f"{name}.nk", MODELS / f"{name}_int8.nk"
        run(command, "convert", source, "--out", float_model, "--tests", HERE / f"{name}_cases.npz")
        run(command, "quantize", source, "--out", int8_model, "--calib", samples, "--samples", len(digits),
            "--labels", labels, "--embed-tests", CLASSES)


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def measure(command, data, folder):
    images, labels = test_set(data)
    for name in NAMES:
        for model in (MODELS / f"{name}.nk", MODELS / f"{name}_int8.nk"):
            right = correct(command_runner(model, command, folder), images, labels)
            print(f"{model.name}: {model.stat().st_size:,} bytes, {right:,} of {len(labels):,} right, "
                  f"{right / len(labels):.2%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder for the npm package")
    parser.add_argument("--command", default=ROOT / "target/release/netkit", help="the netkit command")
    parser.add_argument("--measure", action="store_true", help="write no models")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not args.measure:
            write_models(args.command, args.data, Path(folder))
        measure(args.command, args.data, Path(folder))


if __name__ == "__main__":
    main()
