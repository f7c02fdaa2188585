"""The engines that are compared: where they come from, how their workers start, and how a worker is talked to."""

import functools
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import environment

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = environment.cache() / "bench"
NUMPY = "numpy==2.4.6"


@dataclass
class Engine:
    """One column of the table."""

    name: str
    # Kind of model, float or int8 -> form of the model, see models.py.
    forms: dict
    # What runs the worker: "python", "rust", or "c" for netkit itself.
    language: str
    package: str = ""
    version: str = ""
    more_packages: list = field(default_factory=list)
    is_optional: bool = False

    def __str__(self):
        return f"{self.package or self.name} {self.version}"


def _peers():
    def crate(name):
        pattern = rf'^{name} = .*"=([\d.]+)"'
        return re.search(pattern, (HERE / "rust_peers" / "Cargo.toml").read_text(), re.MULTILINE)[1]

    onnxruntime = {"package": "onnxruntime", "version": "1.32.0", "more_packages": ["onnx==1.23.2"]}
    return [
        Engine("onnxruntime", {"float": "onnx", "int8": "s8s8.onnx"}, "rust", **onnxruntime),
        Engine("onnxruntime-u8s8", {"int8": "u8s8.onnx"}, "rust", **onnxruntime),
        Engine("litert", {"float": "tflite", "int8": "int8.tflite"}, "python", "ai-edge-litert", "2.3.0",
               ["flatbuffers==25.12.19"]),
        Engine("tract", {"float": "onnx"}, "rust", "tract-onnx", crate("tract-onnx")),
        Engine("rten", {"float": "onnx", "int8": "u8s8.onnx"}, "rust", "rten", crate("rten")),
        Engine("tflite-micro", {"int8": "int8.tflite"}, "python", "tflite-micro", "0.dev20261023182759"),
        Engine("openvino", {"float": "onnx", "int8": "u8s8.onnx"}, "python", "openvino", "2026.4.1", is_optional=True),
        Engine("mnn", {"float": "mnn"}, "python", "MNN", "3.6.1", is_optional=True),
    ]


PEERS = {engine.name: engine for engine in _peers()}
NETKIT = Engine("netkit", {"float": "nk", "int8": "int8.nk"}, "c")
# What this script itself needs: onnxruntime's quantiser.
OWN_ENVIRONMENT = PEERS["onnxruntime"]


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def python(name):
    """The Python of an engine's environment."""
    engine = PEERS[name]
    return environment.python(CACHE / engine.package, packages(engine))


def packages(engine):
    return [NUMPY, f"{engine.package}=={engine.version}", *engine.more_packages]


def worker_name(engine):
    """Of the program and of the cargo feature that has it."""
    return engine.package.split("-")[0]


class Tools:
    """What is built before anything can be measured, and how workers start."""

    def __init__(self, folder, core, isa, peers):
        self.folder, self.core, self.isa = folder, str(core), isa
        self.crates = sorted({worker_name(engine) for engine in peers if engine.language == "rust"})
        self.python = python
        target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"
        run("cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", ROOT / "Cargo.toml")
        self.netkit = target / "netkit"
        self.netkit_worker = self._compile("netkit_worker", f"-I{ROOT / 'include'}", target / "libnetkit.a", "-lm")
        if isa == "avx2":
            self.avx2_only = self._compile("avx2_only", "-shared", "-fPIC", "-Wl,-z,initfirst")

    def _compile(self, name, *arguments):
        program = self.folder / name
        compiler = [os.environ.get("CC", "gcc"), "-O2", "-Wall", "-Wextra", "-Wpedantic"]
        run(*compiler, HERE / f"{name}.c", *arguments, "-o", program)
        return program

    @functools.cached_property
    def rust_workers(self):
        target = CACHE / "rust_peers"
        run("cargo", "build", "--release", "--locked", "--quiet", "--features", ",".join(self.crates), "--manifest-path",
            HERE / "rust_peers" / "Cargo.toml", env=dict(os.environ, CARGO_TARGET_DIR=str(target)))
        return target / "release"

    @functools.cached_property
    def peak(self):
        """The most that one core can do, in 10^9 operations a second, for float and int8."""
        found = subprocess.run(self._pinned([self._compile("peak")]), env=self._variables(), check=True, text=True,
                               capture_output=True).stdout
        rates = {name: float(value) for name, value in (line.split() for line in found.splitlines())}
        best = {kind: max((rate for name, rate in rates.items() if name.startswith(start)), default=0.0)
                for kind, start in (("float", "f32_"), ("int8", "int8_"))}
        return best | {"rates": rates}

    def _pinned(self, command):
        return ["taskset", "-c", self.core, *map(str, command)]

    def _variables(self, level=""):
        variables = dict(os.environ, OMP_NUM_THREADS="1", RAYON_NUM_THREADS="1", RTEN_NUM_THREADS="1",
                         TF_CPP_MIN_LOG_LEVEL="3")
        variables.pop("NETKIT_CPU", None)
        variables.pop("RUST_BACKTRACE", None)  # else the last line of an error is not its text
        if level:
            variables["NETKIT_CPU"] = level
        if self.isa == "avx2":
            variables["LD_PRELOAD"] = str(self.avx2_only)
            variables["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512CD,-AVX512DQ"
        return variables

    def _program(self, engine):
        if engine.language == "c":
            return [self.netkit_worker]
        if engine.language == "rust":
            return [self.rust_workers / f"{worker_name(engine)}_worker"]
        return [python(engine.name), HERE / "python_worker.py", engine.name]

    def start(self, engine, model, form, level="", extra=()):
        """A worker for a model in a form."""
        source, shape = model.input(form)
        variables = self._variables(level)
        if engine.package == "onnxruntime":
            libraries = python("onnxruntime").parent.parent.glob("lib/*/site-packages/**/libonnxruntime.so.*")
            variables["ORT_DYLIB_PATH"] = str(next(libraries))
        return Worker(self._pinned([*self._program(engine), model.file(form), source, shape, *extra]), variables)


class Failed(Exception):
    """A worker ended; says what it printed last."""


class Worker:
    """A process with a loaded model, which answers as netkit_worker.c says."""

    def __init__(self, command, variables):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(command, env=variables, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        line = self._line("ready ")
        self.load_ns, self.first_ns, self.peak_kilobytes = map(int, line.split()[1:])
        self.times = []

    def _line(self, start=""):
        """The next line that starts so; engines print others before they are ready."""
        for line in self.process.stdout:
            if line.startswith(start):
                return line
        code = self.process.wait()
        self.errors.seek(0)
        raise Failed(self.errors.read().strip().rsplit("\n")[-1] or f"ended with {code}")

    def ask(self, question):
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer says why
        return self._line()

    def measure(self, slice_ms):
        self.times.append(int(self.ask(f"run {slice_ms}")))

    def output(self):
        return [float(value) for value in self.ask("output").split()]

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()
        self.process.wait()
