"""PlatformIO runs this when it builds a project that uses netkit: finds the Rust target that fits the board, lets cargo
build the archive and adds it to the link line. NETKIT_LIBRARY in the environment names a prebuilt archive instead.
"""

import os
import subprocess

ARM = {
    "cortex-m0": "thumbv6m-none-eabi",
    "cortex-m0plus": "thumbv6m-none-eabi",
    "cortex-m3": "thumbv7m-none-eabi",
    "cortex-m4": "thumbv7em-none-eabi",
    "cortex-m7": "thumbv7em-none-eabi",
    "cortex-m23": "thumbv8m.base-none-eabi",
    "cortex-m33": "thumbv8m.main-none-eabi",
}
HAS_HARD_FLOAT = {"thumbv7em-none-eabi", "thumbv8m.main-none-eabi"}
RISCV = {
    ("rv32imc", "ilp32"): "riscv32imc-unknown-none-elf",
    ("rv32imac", "ilp32"): "riscv32imac-unknown-none-elf",
    ("rv32imafc", "ilp32f"): "riscv32imafc-unknown-none-elf",
}


def rust_target(flags, cpu=""):
    """The Rust target for compiler flags, and the CPU of the board where they do not name one."""
    value = {}
    for flag in flags:
        name, _, rest = str(flag).partition("=")
        value[name] = rest
    if "-march" in value and value["-march"].startswith("rv"):
        base = value["-march"].split("_")[0]
        triple = RISCV.get((base, value.get("-mabi", "ilp32")))
    else:
        triple = ARM.get(value.get("-mcpu", cpu).split("+")[0])
        if triple in HAS_HARD_FLOAT and value.get("-mfloat-abi") == "hard":
            triple += "hf"
    if triple is None:
        raise SystemExit(f"netkit: no Rust target is known for {' '.join(map(str, flags))} {cpu}")
    return triple


def build(root, triple, target_dir):
    command = ["cargo", "build", "--locked", "--release", "--package", "netkit-capi", "--target", triple]
    command += ["--target-dir", target_dir, "--no-default-features", "--features", "panic-halt,f32,int8"]
    subprocess.run(command, cwd=root, check=True)
    return os.path.join(target_dir, triple, "release", "libnetkit.a")


def link(env, global_env, folder):
    root = os.path.dirname(os.path.dirname(folder))
    flags = list(env.get("CCFLAGS", [])) + list(env.get("LINKFLAGS", []))
    archive = os.environ.get("NETKIT_LIBRARY")
    if not archive:
        triple = rust_target(flags, env.BoardConfig().get("build.cpu", ""))
        archive = build(root, triple, os.path.join(env.subst("$BUILD_DIR"), "netkit"))
    global_env.Append(LIBS=[global_env.File(archive)])


if "Import" in globals():
    Import("env")  # noqa: F821
    link(env, DefaultEnvironment(), os.getcwd())  # noqa: F821
