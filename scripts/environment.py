"""Virtual environments with packages from PyPI, which scripts make for themselves."""

import os
import subprocess
import sys
from pathlib import Path


def cache():
    """The folder of what is kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netkit"


def python(folder, packages):
    """The Python of the environment in a folder, made if it is not there or was made for other packages."""
    python, installed = folder / "bin" / "python", folder / "packages.txt"
    wanted = "\n".join(packages)
    if not installed.exists() or installed.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        installed.write_text(wanted)
    return python


def enter(folder, packages):
    """Starts the running script again with the Python of that environment."""
    if Path(sys.prefix) != folder:
        python_there = python(folder, packages)
        os.execv(python_there, [python_there, *sys.argv])


def enter_onnx():
    """The environment with onnx, onnxruntime and numpy."""
    enter(cache() / "onnx-venv", ["numpy", "onnx", "onnxruntime"])
