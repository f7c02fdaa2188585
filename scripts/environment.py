"""A virtual environment with onnx, onnxruntime and numpy, in which a script goes on."""

import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ["numpy", "onnx", "onnxruntime"]


def cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "netkit"


def enter():
    """Starts the running script again with the Python of the environment, which is made if it is not there yet."""
    folder = cache() / "onnx-venv"
    python = folder / "bin" / "python"
    if Path(sys.prefix) == folder:
        return
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])
