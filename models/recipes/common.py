"""What all recipes share: the registry, tensors on a grid, probing inputs."""

import numpy as np

from oracle import build, cases
from oracle.float_ops import LOWEST

RECIPES = {}


def recipe(function):
    """Register a function(rng) -> Model under its own name."""
    RECIPES[function.__name__] = function
    return function


def cnn(rng, height, width, channels):
    """An empty CNN whose tensors lie on the k/64 grid."""
    return build.cnn(height, width, channels, build.GridTensors(rng))


def mlp(rng, features, batch=1):
    """An empty MLP whose tensors lie on the k/64 grid."""
    return build.mlp(batch, features, build.GridTensors(rng))


def values(*numbers):
    return np.array(numbers, dtype=np.float32)


def probes(rng, size, large=16.0):
    """Named inputs: mixed values, small signed values with zeros, a few large ones."""
    signs = (rng.integers(-2, 3, (size,)) / 2).astype(np.float32)
    big = rng.grid(-2, 2, (size,))
    big[::3] = 0
    big[1::5] = large
    big[3::7] = -large
    return [("mixed", rng.grid(-2, 2, (size,))), ("signs", signs), ("large", big)]


def tolerance_for(model_cases):
    """Absolute tolerance that suits the size of the expected values."""
    largest = 0.0
    for case in model_cases:
        ordinary = case.expected[case.expected > np.float32(LOWEST)]
        largest = max(largest, float(np.abs(ordinary).max(initial=0.0)))
    return 1e-5 if largest <= 4 else 1e-4 if largest <= 128 else 1e-3


def finish(net, rng, large=16.0, count=3):
    """Probe a finished network and attach the cases."""
    return finish_with(net, probes(rng, net.model.input_size, large)[:count])


def finish_with(net, inputs):
    """Attach cases for the given (name, values) pairs."""
    model = cases.finish(net.model, inputs)
    model.tolerance = tolerance_for(model.cases)
    return model
