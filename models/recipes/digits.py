"""Digit classifiers: the committed weights in three float networks."""

from functools import cache
from pathlib import Path

import numpy as np

from oracle import build, cases
from oracle import records as r
from oracle.prng import Prng

from .common import recipe
from .digit_task import SIZE, dataset

WEIGHTS = Path(__file__).resolve().parent.parent / "digits_weights.npz"
GRID = 256


@cache
def _stored():
    with np.load(WEIGHTS) as arrays:
        return {name: arrays[name].astype(np.float32) / np.float32(GRID) for name in arrays.files}


def _fill(net, name, layers):
    """Append layers; those with tensors get the trained ones in order."""
    stored, index = _stored(), 0
    for layer in layers:
        if layer.kind in (r.DENSE, r.CONV2D, r.DEPTHWISE_CONV2D):
            net.add_with(layer, (stored[f"{name}_{index}"], stored[f"{name}_{index + 1}"]))
            index += 2
        else:
            net.add(layer)
    return net.model


def digits_network(name):
    """One of the three networks, without test cases."""
    if name == "digits_mlp":
        layers = [r.dense(24, r.RELU), r.dense(10, r.SOFTMAX)]
        return _fill(build.mlp(1, SIZE * SIZE, None), name, layers)
    if name == "digits_cnn":
        layers = [r.conv2d(3, 6, r.RELU, pads=1), r.max_pool(2, 2),
                  r.conv2d(3, 10, r.RELU, pads=1), r.max_pool(2, 2)]
    else:
        layers = [r.conv2d(3, 8, r.RELU, pads=1), r.max_pool(2, 2), r.depthwise(3, 8, r.RELU, pads=1),
                  r.conv2d(1, 12, r.RELU), r.max_pool(2, 2)]
    layers += [r.flatten(), r.dense(10, r.SOFTMAX)]
    return _fill(build.cnn(SIZE, SIZE, 1, None), name, layers)


def samples(rng, first):
    """Four images of successive digits with their labels."""
    images, labels = dataset(rng, 10)
    chosen = [(first + k) % 10 for k in range(4)]
    named = [(f"digit {labels[k]}", images[k]) for k in chosen]
    return named, [int(labels[k]) for k in chosen]


def calibration():
    """Images for the quantisation ranges."""
    return list(dataset(Prng(3), 40)[0])


def require_correct(model):
    """A labelled model must classify its own cases."""
    for case in model.cases:
        if int(np.argmax(case.expected)) != case.label:
            raise ValueError(f"case {case.name} is not classified correctly")
    return model


def _classifier(name, rng, first):
    inputs, labels = samples(rng, first)
    return require_correct(cases.finish(digits_network(name), inputs, 1e-5, labels))


@recipe
def digits_mlp(rng):
    return _classifier("digits_mlp", rng, 0)


@recipe
def digits_cnn(rng):
    return _classifier("digits_cnn", rng, 4)


@recipe
def digits_cnn_dw(rng):
    return _classifier("digits_cnn_dw", rng, 7)
