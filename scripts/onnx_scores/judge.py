"""Converts a case, runs the result with the command, and compares with what is expected."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent.parent
NETKIT = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release" / "netkit"
VERDICTS = ["right", "refused", "wrong", "unusable", "crashed", "left out"]
RELATIVE, ABSOLUTE, HALF = 1e-3, 1e-4, 1e-2
# Exit codes of `netkit`.
DIFFERS, UNREADABLE, UNSUPPORTED = 1, 3, 4


@dataclass
class Verdict:
    case: object
    word: str
    reason: str = ""


def need_netkit():
    if not NETKIT.exists():
        sys.exit(f"{NETKIT} is not there: build it with `cargo build --release -p netkit-cli`")


def netkit(*words):
    command = [str(NETKIT), *(str(word) for word in words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def is_close(found, expected, is_half):
    """Half precision has three digits: errors of its roundings are judged by the largest output."""
    if is_half:
        return numpy.abs(found - expected).max() <= HALF * max(1.0, numpy.abs(expected).max())
    return numpy.allclose(found, expected, RELATIVE, ABSOLUTE, equal_nan=True)


def is_single_precision(values):
    """Whether float32 can hold the numbers; the test files of some models hold leftovers of memory as float64."""
    finite = numpy.abs(values[numpy.isfinite(values)].astype(numpy.float64))
    return not finite.size or finite.max() <= numpy.finfo(numpy.float32).max


def judge(case):
    """What becomes of a case."""
    if not all(is_single_precision(values) for pair in case.pairs for values in pair):
        return Verdict(case, "left out", "its numbers are beyond single precision")
    with tempfile.TemporaryDirectory() as folder:
        try:
            return judge_in(Path(folder), case)
        except subprocess.TimeoutExpired:
            return Verdict(case, "crashed", "no answer in 300 s")


def judge_in(folder, case):
    target = folder / "model.nk"
    done = netkit("convert", case.write(folder), "-o", target, "--report", "json", *case.options)
    if done.returncode not in (0, DIFFERS, UNREADABLE, UNSUPPORTED):
        return Verdict(case, "crashed", first_line(done.stderr))
    report = json.loads(done.stdout)
    if done.returncode != 0:
        return Verdict(case, "refused", refusal(report))
    if not case.pairs:
        return Verdict(case, "wrong", "it was converted, though it has no .nk form")
    for fed, expected in case.pairs:
        found = run(folder, target, report["network"], fed)
        if isinstance(found, str):
            return Verdict(case, "unusable", found)
        found = from_network(found, report["network"]["output"], expected)
        if found.shape != expected.shape or not is_close(found, expected, case.is_half):
            return Verdict(case, "wrong", difference(found, expected))
    return Verdict(case, "right")


def refusal(report):
    if report.get("refusals"):
        more = len(report["refusals"]) - 1
        return report["refusals"][0] + (f" (and {more} more)" if more else "")
    if "error" in report:
        return report["error"]
    return "not verified: " + json.dumps(report.get("proof"))


def run(folder, model, network, values):
    """The output in the order of the .nk model, or what went wrong. A network of one image sees a batch one by one."""
    rows = network["rows"]
    source = network["input"]
    results = []
    for part in numpy.split(values, rows) if rows > 1 else [values]:
        memory = channels_last(part) if source["reordered"] else part
        numpy.save(folder / "in.npy", memory.reshape(-1).astype(numpy.float32))
        done = netkit("run", model, "--input", folder / "in.npy", "--output", folder / "out.npy", "--quiet")
        if done.returncode != 0:
            return first_line(done.stderr)
        results.append(numpy.load(folder / "out.npy").reshape(-1))
    return results


def channels_last(values):
    """[.., channels, height, width] as [.., height, width, channels]; [.., channels, length] alike."""
    return numpy.moveaxis(values, 1 if values.ndim > 2 else 0, -1)


def from_network(results, port, expected):
    """Results of one or several runs as a tensor of the source's shape."""
    found = numpy.concatenate(results)
    if found.size != expected.size:
        return found
    if not port["reordered"]:
        return found.reshape(expected.shape)
    shape = channels_last(expected).shape
    return numpy.moveaxis(found.reshape(shape), -1, 1 if expected.ndim > 2 else 0)


def difference(found, expected):
    if found.shape != expected.shape:
        return f"{found.size} elements, expected shape {list(expected.shape)}"
    return f"largest difference {numpy.nanmax(numpy.abs(found - expected)):.3g}"


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else "nothing was said"
