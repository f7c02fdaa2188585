#!/usr/bin/env python3
"""Write every committed `.nk` model, byte for byte the same on every machine; but those of real digits, which
`train/quantize.py` writes.

usage:
    generate.py             write all models next to this script
    generate.py --check     regenerate in memory, compare with the files (exit 1 on a difference)
    generate.py NAME...     only these models
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRAINED = ("handwritten_mlp", "handwritten_cnn", "handwritten_cnn_dw")
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from oracle import container  # noqa: E402
from recipes import build_model, names  # noqa: E402


def _check(name, data):
    """True when the committed file holds exactly `data`."""
    path = HERE / f"{name}.nk"
    same = path.exists() and path.read_bytes() == data
    if not same:
        print(f"{path.name}: {'differs' if path.exists() else 'is missing'}")
    return same


def _strangers():
    """Committed files that nobody makes."""
    known = {*names(), *(name + form for name in TRAINED for form in ("", "_int8"))}
    return sorted(path.name for path in HERE.glob("*.nk") if path.stem not in known)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("names", nargs="*", help="models to make (default: all)")
    args = parser.parse_args()
    unknown = set(args.names) - set(names())
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}")
    total, wrong = 0, 0
    for name in args.names or names():
        data = container.write(build_model(name))
        total += len(data)
        if args.check:
            wrong += not _check(name, data)
        else:
            (HERE / f"{name}.nk").write_bytes(data)
    if not args.names:
        for stranger in _strangers():
            print(f"{stranger}: no recipe makes this file")
            wrong += 1
    print(f"{len(args.names or names())} models, {total} bytes, {wrong} problems")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
