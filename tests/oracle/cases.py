"""Embedded test cases: making, running and judging them."""

from typing import NamedTuple

import numpy as np

from . import plan
from .container import Case
from .float_net import FloatNet
from .int8_net import Int8Net

F32 = np.float32


class Result(NamedTuple):
    """Outcome of one case; `error` is the largest absolute difference."""

    name: str
    error: float
    passed: bool
    outputs: np.ndarray


def execute(model, inputs):
    """Outputs as real numbers (f32); int8 models are dequantised."""
    if model.quant is None:
        return FloatNet(model).run(inputs)
    net = Int8Net(model)
    whole = net.run(inputs).astype(np.float64)
    scale, zero = net.tracked
    return ((whole - zero) * float(F32(scale))).astype(F32)


def make_case(model, name, inputs, label=-1):
    """A case whose expected values are the oracle's."""
    inputs = np.asarray(inputs, dtype="<f4" if model.quant is None else "i1").reshape(-1)
    return Case(name, inputs, execute(model, inputs), label)


def finish(model, inputs, tolerance=1e-4, labels=None):
    """Attach cases for (name, values) pairs and validate the model."""
    labels = labels or [-1] * len(inputs)
    model.cases = [make_case(model, name, values, label)
                   for (name, values), label in zip(inputs, labels, strict=True)]
    model.tolerance = tolerance
    plan.plan(model)
    return model


def run_cases(model):
    """Run every embedded case as the library's own test runner does.

    Float: every output within the file's tolerance plus 4 ulp, and the class
    right where the case has a label.  Int8: only the class is compared.
    """
    results = []
    for case in model.cases:
        outputs = execute(model, case.inputs)
        error = np.abs(outputs.astype(np.float64) - case.expected.astype(np.float64))
        passed = outputs.size == case.expected.size
        if model.quant is None:
            allowed = model.tolerance + 4 * np.abs(np.spacing(case.expected)).astype(np.float64)
            passed &= bool((error <= allowed).all())
        wanted = case.label
        if model.quant is not None and wanted < 0:
            wanted = int(np.argmax(case.expected))
        passed &= wanted < 0 or int(np.argmax(outputs)) == wanted
        results.append(Result(case.name, float(error.max()), passed, outputs))
    return results
