"""Building and running images."""

import os
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "examples" / "firmware"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

TOOLS = {
    "qemu-system-arm": "qemu-system-arm",
    "qemu-system-riscv32": "qemu-system-misc",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi",
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf",
    "cmake": "cmake",
}
CANNOT = 77


class Unavailable(Exception):
    """This machine lacks something that cannot be had."""


def run(*command, **options):
    """Output of a command; ends the script with what it said when it fails."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, cwd=ROOT, **options)
    if done.returncode == CANNOT:
        raise Unavailable(f"{command[0]} cannot get what it needs")
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed with status {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout


class Images:
    """The images of one run of a script, and the environment that their tools need."""

    def __init__(self, install=True, from_sources=False):
        options = [] if install else ["--no-install"]
        pairs = [f"{program}:{package}" for program, package in TOOLS.items()]
        settings = run("scripts/debian-tools", *options, *pairs).splitlines()
        # Only for the emulators: other programs have their own libraries.
        self.environment = os.environ | dict(line.split("=", 1) for line in settings)
        self.build_options = options + (["--from-sources"] if from_sources else [])

    def library(self, rust_target, features="f32,int8,blocks,yolox", form=None):
        """libnetkit.a for a target."""
        command = ["scripts/build-firmware", rust_target, "--features", features, *([form] if form else []), *self.build_options]
        return Path(run(*command).strip())

    def build(self, board, library, settings=()):
        """The program for a board, linked with a library. Settings are those of CMake, as NAME=VALUE."""
        name = "-".join([board.name, board.processor, *(setting.split("/")[-1] for setting in settings)])
        folder = TARGET / "firmware" / library.parts[-4] / name
        settings = [f"BOARD={board.name}", f"ARENA_BYTES={board.arena_bytes}", f"NETKIT_LIBRARY={library}", *settings]
        run(
            "cmake", "-S", EXAMPLE, "-B", folder, f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/toolchains/{board.toolchain}.cmake",
            *board.cmake, *(f"-D{setting}" for setting in settings), env=self.environment,
        )  # fmt: skip
        run("cmake", "--build", folder, env=self.environment)
        return folder / "firmware.elf"

    def symbols(self, program):
        """Addresses of the symbols of a program."""
        lines = run("nm", program).splitlines()
        rows = (line.split() for line in lines)
        return {row[2]: int(row[0], 16) for row in rows if len(row) == 3}

    def text_bytes(self, program):
        """Code and constants of a program."""
        return int(run("size", program).splitlines()[1].split()[0])

    def own_text_bytes(self, program):
        """Code and constants of a program that are not the library's."""
        objects = (program.parent / "CMakeFiles" / f"{program.stem}.dir").rglob("*.obj")
        return sum(int(line.split()[0]) for line in run("size", *objects).splitlines()[1:])

    def run(self, board, program, models=None, options=(), timeout=120):
        """Runs a program with a file of models; returns its status and what it and the emulator printed."""
        command = [*board.emulator, program, "-display", "none", "-monitor", "none", "-serial", "none", *options]
        if models:
            command += ["-device", f"loader,file={models},addr={self.symbols(program)['models_start']},force-raw=on"]
        done = subprocess.run(
            list(map(str, command)), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=timeout,
        )  # fmt: skip
        return done.returncode, done.stdout


    @cache
    def counter(self):
        """The plugin that counts instructions; made once, because emulators may be using it."""
        plugin = TARGET / "firmware" / "count_layers.so"
        plugin.parent.mkdir(parents=True, exist_ok=True)
        source = ROOT / "scripts" / "firmware" / "count_layers.c"
        run("gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Werror", source, "-o", plugin)
        return plugin


def pack(models, file):
    """Writes models as the program finds them in flash: examples/firmware/model_loaded.c. Each is a name, bytes, and whether
    only the class of its test cases counts."""
    data = bytearray()
    for name, model, class_only in models:
        data += struct.pack("<II56s", len(model), class_only, name.encode()[:55]) + model + bytes(-len(model) % 16)
    file.write_bytes(data + bytes(64))
