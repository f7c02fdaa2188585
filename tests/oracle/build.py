"""Putting a float model together layer by layer, tensors included."""

import math

import numpy as np

from . import plan
from . import records as r
from .container import CNN, MLP, Model


class GridTensors:
    """Random tensors on a coarse dyadic grid, so that many sums are exact."""

    def __init__(self, rng, steps=64):
        self.rng, self.steps = rng, steps

    def weight(self, shape):
        """A kernel scaled by its fan-in, or a positive scale vector."""
        if len(shape) == 1:
            return self.rng.grid(0.5, 1.5, shape, self.steps)
        limit = math.sqrt(3.0 / math.prod(shape[1:]))
        return self.rng.grid(-limit, limit, shape, self.steps)

    def bias(self, length):
        return self.rng.grid(-0.5, 0.5, (length,), self.steps)


class FullTensors(GridTensors):
    """Random tensors of full f32 precision."""

    def weight(self, shape):
        if len(shape) == 1:
            return self.rng.uniform(0.5, 1.5, shape)
        limit = math.sqrt(3.0 / math.prod(shape[1:]))
        return self.rng.uniform(-limit, limit, shape)

    def bias(self, length):
        return self.rng.uniform(-0.5, 0.5, (length,))


class Net:
    """Appends layers to a model and fills in their tensors.

    A layer's tensors come from `tensors` unless they are given as a list of
    (weight, bias) pairs; `shape` follows the output of the last layer.
    """

    def __init__(self, network, shape, tensors):
        self.model = Model(network, tuple(shape), [])
        self.shape, self.tensors, self.taps = tuple(shape), tensors, {}

    def add(self, *layers):
        """Append layers with random tensors."""
        for layer in layers:
            self._append(layer, None, None)
        return self

    def add_with(self, layer, *pairs):
        """Append one layer with the given (weight, bias) pairs."""
        self._append(layer, pairs, pairs[0][0].size if pairs else None)
        return self

    def depthwise(self, kernel, activation=r.NONE, stride=1, pads=0, alpha=0.0):
        """Append a depthwise convolution over all channels."""
        kh, kw = (kernel, kernel) if isinstance(kernel, int) else kernel
        channels = self.shape[2]
        layer = r.depthwise((kh, kw), channels, activation, stride, pads, alpha)
        self._append(layer, None, channels * kh * kw)
        return self

    def conv_grown(self, size, rows, columns, filters, activation=r.NONE, stride=1, pads=0):
        """Append a convolution whose kernel is zero but in some rows and columns, given as slices."""
        first = len(self.model.weights)
        self.add(r.conv2d(size, filters, activation, stride, pads))
        mask = np.zeros((size, size, 1), "<f4")
        mask[rows, columns] = 1
        self.model.weights[first] *= mask
        return self

    def resnet_shifted(self, out_channels, stride):
        """Append a ResNet block whose first convolution has a kernel of 4 rows and columns, the first ones zero."""
        layer, channels = r.resnet(self.shape[2], out_channels, stride), self.shape[2]
        first = len(self.model.weights)
        self._append(layer, None, 16 * channels * out_channels)
        self.model.weights[first][:, 0] = self.model.weights[first][:, :, 0] = 0
        return self

    def _append(self, layer, pairs, elements):
        step = plan.step(layer, self.shape, self.taps, elements)
        if pairs is None:
            pairs = [(self.tensors.weight(w), self.tensors.bias(b))
                     for w, b in zip(step.weights, step.biases)]
        for (weight, bias), dims in zip(pairs, step.weights, strict=True):
            self.model.weights.append(weight.astype("<f4").reshape(dims))
            self.model.biases.append(bias.astype("<f4").reshape(dims[0]))
        self.model.layers.append(layer)
        self.shape = step.output


def mlp(batch, features, tensors):
    return Net(MLP, (batch, features), tensors)


def cnn(height, width, channels, tensors):
    return Net(CNN, (height, width, channels), tensors)
