"""Interleaved measurements: every worker in turn, so that noise of the machine meets all alike."""

import statistics
import sys
from dataclasses import dataclass

import numpy as np

from bench.engines import NETKIT, Failed
from bench.models import Missing

# Largest difference between outputs of float engines, relative to the largest output.
FLOAT_TOLERANCE = 1e-3
# Least correlation of the outputs of int8 engines, each of which quantises in its own way.
INT8_CORRELATION = 0.95


@dataclass
class Result:
    """What is known of one engine on one model."""

    engine: str
    # Smallest median of a round, and all medians, in nanoseconds.
    best_ns: int
    times: list
    # Largest difference to netkit's output relative to the largest output; correlation with it.
    difference: float
    correlation: float
    agrees: bool


def note(text):
    print(f"note: {text}", file=sys.stderr, flush=True)


def start_all(model, kind, contenders, tools):
    """The workers of (name, engine, level, more arguments) that can run the model."""
    workers = {}
    for name, engine, level, *extra in contenders:
        try:
            workers[name] = tools.start(engine, model, engine.forms[kind], level, extra)
        except (Missing, Failed) as reason:
            note(f"{model.name}: {name} is left out: {reason}")
    return workers


def speed(model, kind, peers, levels, rounds, slice_ms, tools):
    """Results by name; none if netkit does not run the model.

    Levels of netkit are `netkit` or `netkit LEVEL`. `netkit in place` is the first level without packed weights; for
    int8 models `netkit float` is the float model.
    """
    contenders = [(" ".join(["netkit", level]).strip(), NETKIT, level) for level in levels]
    contenders += [("netkit in place", NETKIT, levels[0], "in-place")]
    contenders += [(peer.name, peer, "") for peer in peers]
    workers = start_all(model, kind, contenders, tools)
    if kind == "int8" and ("nk" in model.files or "onnx" in model.files):
        workers |= start_all(model, "float", [("netkit float", NETKIT, levels[0])], tools)
    reference = contenders[0][0]
    try:
        if reference not in workers:
            return {}
        outputs = {name: np.array(worker.output()) for name, worker in workers.items()}
        for index in range(rounds):
            order = list(workers.values())
            for worker in order if index % 2 == 0 else reversed(order):
                worker.measure(slice_ms)
    finally:
        for worker in workers.values():
            worker.stop()
    return {name: result(name, worker.times, outputs[name], outputs[reference], kind)
            for name, worker in workers.items()}


def result(name, times, output, reference, kind):
    if output.size != reference.size or not np.isfinite(output).all():
        return Result(name, min(times), times, float("inf"), 0.0, False)
    difference = float(np.abs(output - reference).max() / np.abs(reference).max())
    correlation = float(np.corrcoef(output, reference)[0, 1])
    agrees = difference <= FLOAT_TOLERANCE if kind == "float" else correlation >= INT8_CORRELATION
    return Result(name, min(times), times, difference, correlation, agrees)


def ratio(one, other):
    """How many times as long one engine takes as another: the median over rounds."""
    return statistics.median(a / b for a, b in zip(one.times, other.times))


def fastest_peer(results):
    """The fastest engine that is not netkit and gives the same answers; None if there is none."""
    peers = [result for name, result in results.items() if not name.startswith("netkit") and result.agrees]
    return min(peers, key=lambda result: result.best_ns, default=None)


@dataclass
class Cold:
    """Medians of fresh processes: milliseconds to load, and with the first answer; most memory held, in MB."""

    load_ms: float
    answer_ms: float
    peak_mb: float


def cold(model, kind, peers, runs, tools):
    """Cold starts by name."""
    contenders = [("netkit", NETKIT, ()), ("netkit in place", NETKIT, ("in-place",))]
    contenders += [(peer.name, peer, ()) for peer in peers if kind in peer.forms]
    seen = {name: [] for name, *_ in contenders}
    for _ in range(runs):
        for name, engine, extra in list(contenders):
            try:
                worker = tools.start(engine, model, engine.forms[kind], extra=extra)
            except (Missing, Failed) as reason:
                note(f"{model.name}: {name} is left out: {reason}")
                contenders.remove((name, engine, extra))
                continue
            times = worker.load_ns / 1e6, (worker.load_ns + worker.first_ns) / 1e6
            seen[name].append((*times, worker.peak_kilobytes / 1e3))
            worker.stop()
    return {name: Cold(*map(statistics.median, zip(*runs))) for name, runs in seen.items() if runs}
