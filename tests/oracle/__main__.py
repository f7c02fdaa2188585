"""Command line of the oracle; run `python -m oracle` inside `tests/`."""

import argparse
import sys
from pathlib import Path

import numpy as np

from . import cases, container, plan, synth, synth_int8


def _expand(paths):
    """Files as they are, directories as their .nk files."""
    for path in map(Path, paths):
        yield from sorted(path.glob("*.nk")) if path.is_dir() else [path]


def _check_file(path):
    """Number of failed cases of one file; prints one line."""
    try:
        model = container.load(path)
        plan.plan(model)
    except container.FormatError as error:
        print(f"{path.name}: refused: {error}")
        return 1
    results = cases.run_cases(model)
    worst = max((result.error for result in results), default=0.0)
    failed = sum(not result.passed for result in results)
    print(f"{path.name:40} cases {len(results):2}  failed {failed:2}  max error {worst:.3g}")
    return failed


def check(args):
    """Run the embedded cases of files or directories."""
    failed = sum(_check_file(path) for path in _expand(args.files))
    print(f"failed cases: {failed}")
    return int(failed > 0)


def _read_values(path, dtype):
    if path.endswith(".npy"):
        return np.load(path).astype(dtype)
    return np.fromfile(path, dtype=dtype)


def run(args):
    """Run one input; .npy or raw little-endian f32 (i8 for int8 models)."""
    model = container.load(args.model)
    inputs = _read_values(args.input, "<f4" if model.quant is None else "i1")
    outputs = cases.execute(model, inputs)
    if args.output.endswith(".npy"):
        np.save(args.output, outputs)
    else:
        outputs.astype("<f4").tofile(args.output)
    return 0


def compare(args):
    """Compare another engine's outputs (raw f32) with the oracle's.

    The file holds the outputs of all embedded cases one after the other, or of
    the one input given by --input.
    """
    model = container.load(args.model)
    if args.input:
        inputs = [_read_values(args.input, "<f4" if model.quant is None else "i1")]
    else:
        inputs = [case.inputs for case in model.cases]
    wanted = np.concatenate([cases.execute(model, values) for values in inputs]).astype(np.float64)
    got = np.fromfile(args.outputs, dtype="<f4").astype(np.float64)
    if got.size != wanted.size:
        print(f"expected {wanted.size} values, the file holds {got.size}")
        return 1
    error = np.abs(got - wanted)
    wrong = ~(error <= args.tolerance + 1e-5 * np.abs(wanted))
    print(f"{wanted.size} values, {int(wrong.sum())} differ, max difference {error.max():.3g}")
    return int(wrong.any())


def synth_models(args):
    """Write random valid models with embedded cases."""
    directory = Path(args.directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, model in (synth_int8 if args.int8 else synth).models(args.seed, args.count):
        (directory / f"{name}.nk").write_bytes(container.write(model))
    return 0


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("check", help=check.__doc__)
    command.add_argument("files", nargs="+")
    command.set_defaults(function=check)

    command = commands.add_parser("run", help="run one input")
    command.add_argument("model")
    command.add_argument("input")
    command.add_argument("output")
    command.set_defaults(function=run)

    command = commands.add_parser("compare", help="compare raw f32 outputs with the oracle's")
    command.add_argument("model")
    command.add_argument("outputs")
    command.add_argument("--input")
    command.add_argument("--tolerance", type=float, default=1e-5)
    command.set_defaults(function=compare)

    command = commands.add_parser("synth", help=synth_models.__doc__)
    command.add_argument("directory")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--count", type=int, default=50)
    command.add_argument("--int8", action="store_true", help="int8 models instead of float ones")
    command.set_defaults(function=synth_models)

    args = parser.parse_args(arguments)
    return args.function(args)


if __name__ == "__main__":
    sys.exit(main())
