#!/usr/bin/env python3
"""Train the handwritten-digit networks with PyTorch, export them to ONNX, and write ten test cases for each.

    python3 -m venv venv && venv/bin/pip install -r models/train/requirements.txt
    venv/bin/python models/train/train.py --data DIR               # all networks
    venv/bin/python models/train/train.py --data DIR handwritten_cnn --validate

Run once, by hand: training is float arithmetic whose last bits depend on the machine, so its results are committed.
One thread, at most four minutes a network. The test digits take no part: `--validate` measures on every eighth
training digit, which then is not trained on, and writes nothing.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from digits import CLASSES, load, split, to_input
from export import export, write_cases
from networks import NETWORKS

HERE = Path(__file__).resolve().parent
SEED, BATCH = 7, 64
EPOCHS = {"handwritten_mlp": 120, "handwritten_cnn": 40, "handwritten_cnn_dw": 40}
RATE = {"handwritten_mlp": 8e-3, "handwritten_cnn": 3e-3, "handwritten_cnn_dw": 1e-2}


def distort(images, strength, rng):
    """Turn, scale, slant and shift every image a little; at strength 1 up to 10 degrees, 10 %, 0.1 and 2 pixels."""
    def between(limit):
        return (torch.rand(len(images), generator=rng) * 2 - 1) * limit * strength
    angle, size, slant = between(np.pi / 18), 1 + between(0.1), between(0.1)
    cos, sin = torch.cos(angle) * size, torch.sin(angle) * size
    rows = [torch.stack([cos, slant - sin, between(2 / 14)], 1), torch.stack([sin, cos, between(2 / 14)], 1)]
    grid = functional.affine_grid(torch.stack(rows, 1), list(images.shape), align_corners=False)
    return functional.grid_sample(images, grid, align_corners=False)


def train(name, images, labels):
    """AdamW on the cross entropy; the rate rises for a tenth of the time, then falls to zero."""
    torch.manual_seed(SEED)
    rng = torch.Generator().manual_seed(SEED)
    network = NETWORKS[name]().train()
    strength = 0.6 if name == "handwritten_mlp" else 1.0
    epochs, steps = EPOCHS[name], len(images) // BATCH
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE[name], epochs * steps, pct_start=0.1)
    for _ in range(epochs):
        order = torch.randperm(len(images), generator=rng)
        for rows in order[:steps * BATCH].split(BATCH):
            loss = functional.cross_entropy(network(distort(images[rows], strength, rng)), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return network.eval()


def accuracy(network, images, labels):
    with torch.no_grad():
        return float((network(images).argmax(1) == labels).float().mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="networks, default all: " + ", ".join(NETWORKS))
    parser.add_argument("--data", type=Path, required=True, help="folder for the npm package")
    parser.add_argument("--torchscript", type=Path, metavar="DIR", help="write what the older exporter makes there too")
    parser.add_argument("--validate", action="store_true", help="hold some training digits back, write nothing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    pixels, labels = load(options.data)
    images, labels = torch.from_numpy(to_input(pixels)), torch.from_numpy(labels)
    training, test = split(labels)
    if options.validate:
        training, test = training[np.arange(len(training)) % 8 != 0], training[::8]
    for name in options.names or NETWORKS:
        start = time.monotonic()
        network = train(name, images[training], labels[training])
        found = accuracy(network, images[test], labels[test])
        print(f"{name}: {found:.2%} of {len(test)} digits, {time.monotonic() - start:.0f} s", flush=True)
        if not options.validate:
            export(network, HERE / f"{name}.onnx")
            if options.torchscript:
                export(network, options.torchscript / f"{name}.onnx", "torchscript")
            write_cases(HERE / f"{name}.onnx", images[test].numpy(), labels[test].numpy())


if __name__ == "__main__":
    main()
