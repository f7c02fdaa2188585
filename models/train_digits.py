#!/usr/bin/env python3
"""Train the three digit classifiers and store their weights in digits_weights.npz.

Run once, by hand: training is float arithmetic that differs a little between
machines, so its result is committed (as integers, weight times 256) and
`generate.py` only reads it.  Plain numpy, Adam, about two minutes.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from oracle.prng import Prng  # noqa: E402
from recipes.digit_task import CLASSES, SIZE, dataset  # noqa: E402

GRID = 256
TRAINING, TEST, BATCH, EPOCHS = 12000, 2000, 50, 15


class Dense:
    """Weights are (out, in) as in the file."""

    def __init__(self, rng, inputs, outputs):
        self.params = [rng.normal(0, np.sqrt(2 / inputs), (outputs, inputs)), np.zeros(outputs)]

    def forward(self, x):
        self.x = x
        return x @ self.params[0].T + self.params[1]

    def backward(self, grad):
        self.grads = [grad.T @ self.x, grad.sum(0)]
        return grad @ self.params[0]


class Conv:
    """K x K, stride 1, same size; weights are (out, K, K, in)."""

    def __init__(self, rng, kernel, inputs, outputs):
        scale = np.sqrt(2 / (kernel * kernel * inputs))
        self.params = [rng.normal(0, scale, (outputs, kernel, kernel, inputs)), np.zeros(outputs)]
        self.kernel = kernel

    def _shifted(self, x):
        pad = self.kernel // 2
        wide = np.pad(x, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        height, width = x.shape[1:3]
        for i in range(self.kernel):
            for j in range(self.kernel):
                yield i, j, (slice(None), slice(i, i + height), slice(j, j + width)), wide

    def forward(self, x):
        self.x = x
        return sum(self._product(wide[at], i, j) for i, j, at, wide in self._shifted(x)) + self.params[1]

    def _product(self, x, i, j):
        return x @ self.params[0][:, i, j, :].T

    def backward(self, grad):
        self.grads = [np.zeros_like(p) for p in self.params]
        self.grads[1] = grad.sum((0, 1, 2))
        back, pad = None, self.kernel // 2
        for i, j, at, wide in self._shifted(self.x):
            back = np.zeros_like(wide) if back is None else back
            self._accumulate(grad, wide[at], i, j, back[at])
        return back[:, pad:back.shape[1] - pad, pad:back.shape[2] - pad]

    def _accumulate(self, grad, x, i, j, back):
        self.grads[0][:, i, j, :] = np.tensordot(grad, x, ((0, 1, 2), (0, 1, 2)))
        back += grad @ self.params[0][:, i, j, :]


class Depthwise(Conv):
    """One kernel per channel; weights are (C, K, K)."""

    def __init__(self, rng, kernel, channels):
        self.params = [rng.normal(0, np.sqrt(2) / kernel, (channels, kernel, kernel)), np.zeros(channels)]
        self.kernel = kernel

    def _product(self, x, i, j):
        return x * self.params[0][:, i, j]

    def _accumulate(self, grad, x, i, j, back):
        self.grads[0][:, i, j] = (grad * x).sum((0, 1, 2))
        back += grad * self.params[0][:, i, j]


class Relu:
    params, grads = [], []

    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    def backward(self, grad):
        return grad * self.mask


class Pool:
    """2x2 maximum, stride 2."""

    params, grads = [], []

    def forward(self, x):
        n, h, w, c = x.shape
        blocks = x.reshape(n, h // 2, 2, w // 2, 2, c)
        top = blocks.max((2, 4), keepdims=True)
        self.mask, self.shape = blocks == top, x.shape
        return top[:, :, 0, :, 0]

    def backward(self, grad):
        return (self.mask * grad[:, :, None, :, None]).reshape(self.shape)


class Reshape:
    params, grads = [], []

    def __init__(self, *shape):
        self.shape = shape

    def forward(self, x):
        self.before = x.shape
        return x.reshape(-1, *self.shape)

    def backward(self, grad):
        return grad.reshape(self.before)


def networks(rng):
    """The same layers as in recipes/digits.py, without the softmax."""
    pixels, image = SIZE * SIZE, Reshape(SIZE, SIZE, 1)
    return {
        "digits_mlp": [Dense(rng, pixels, 24), Relu(), Dense(rng, 24, CLASSES)],
        "digits_cnn": [image, Conv(rng, 3, 1, 6), Relu(), Pool(), Conv(rng, 3, 6, 10), Relu(), Pool(),
                       Reshape(160), Dense(rng, 160, CLASSES)],
        "digits_cnn_dw": [image, Conv(rng, 3, 1, 8), Relu(), Pool(), Depthwise(rng, 3, 8), Relu(),
                          Conv(rng, 1, 8, 12), Relu(), Pool(), Reshape(192), Dense(rng, 192, CLASSES)],
    }


def forward(network, x):
    for layer in network:
        x = layer.forward(x)
    return x


def train(network, images, labels, rng):
    """Adam on the cross entropy."""
    params = [(layer, k) for layer in network for k in range(len(layer.params))]
    moments = [[np.zeros_like(layer.params[k])] * 2 for layer, k in params]
    step = 0
    for epoch in range(EPOCHS):
        rate = 2e-3 * 0.8**epoch
        for rows in rng.permutation(len(images)).reshape(-1, BATCH):
            step += 1
            logits = forward(network, images[rows])
            powers = np.exp(logits - logits.max(1, keepdims=True))
            grad = powers / powers.sum(1, keepdims=True)
            grad[np.arange(BATCH), labels[rows]] -= 1
            grad /= BATCH
            for layer in reversed(network):
                grad = layer.backward(grad)
            for at, (layer, k) in enumerate(params):
                gradient = layer.grads[k] + 1e-4 * layer.params[k]
                first = 0.9 * moments[at][0] + 0.1 * gradient
                second = 0.999 * moments[at][1] + 0.001 * gradient**2
                moments[at] = [first, second]
                scale = np.sqrt(second / (1 - 0.999**step)) + 1e-8
                layer.params[k] -= rate * first / (1 - 0.9**step) / scale


def accuracy(network, images, labels):
    return float((forward(network, images).argmax(1) == labels).mean())


def main():
    rng = np.random.default_rng(7)
    images, labels = dataset(Prng(1), TRAINING)
    test_images, test_labels = dataset(Prng(2), TEST)
    stored = {}
    for name, network in networks(rng).items():
        train(network, images.astype(np.float64), labels, rng)
        before = accuracy(network, test_images, test_labels)
        tensors = [(layer, k) for layer in network for k in range(len(layer.params))]
        for index, (layer, k) in enumerate(tensors):
            whole = np.rint(layer.params[k] * GRID).astype(np.int16)
            stored[f"{name}_{index}"] = whole
            layer.params[k] = whole / GRID
        after = accuracy(network, test_images, test_labels)
        print(f"{name}: {before:.4f} trained, {after:.4f} on the 1/{GRID} grid")
    np.savez_compressed(HERE / "digits_weights.npz", **stored)


if __name__ == "__main__":
    main()
