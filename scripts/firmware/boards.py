"""The boards of examples/firmware."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Board:
    """A board, its processor, and how programs for it are built and run."""

    name: str
    """A file in examples/firmware/memory, and a machine of QEMU."""
    processor: str
    rust_target: str
    cmake: tuple
    """What the toolchain file is told."""
    arena_bytes: int

    @property
    def is_arm(self):
        return self.rust_target.startswith("thumb")

    @property
    def toolchain(self):
        return "arm-none-eabi" if self.is_arm else "riscv32-unknown-elf"

    @property
    def emulator(self):
        """The command that runs a program, up to the program."""
        if self.is_arm:
            return ["qemu-system-arm", "-M", self.name, "-semihosting-config", "enable=on,target=native", "-kernel"]
        cpu = "rv32" if "f" in self.processor[4:].lower() else "rv32,f=false,d=false"
        return [
            "qemu-system-riscv32", "-M", self.name, "-cpu", cpu, "-semihosting-config", "enable=on,target=native",
            "-bios", "none", "-kernel",
        ]  # fmt: skip


def arm(name, processor, rust_target, arena_bytes):
    return Board(name, processor, rust_target, (f"-DNETKIT_CPU={processor.lower().removesuffix('f')}",), arena_bytes)


def riscv(extensions, arena_bytes):
    name = f"rv32{extensions}"
    return Board("virt", name.upper(), f"riscv32{extensions}-unknown-none-elf", (f"-DNETKIT_ARCH={name}",), arena_bytes)


BOARDS = [
    arm("microbit", "Cortex-M0", "thumbv6m-none-eabi", 9 << 10),
    arm("mps2-an385", "Cortex-M3", "thumbv7m-none-eabi", 512 << 10),
    arm("mps2-an386", "Cortex-M4F", "thumbv7em-none-eabihf", 512 << 10),
    arm("mps2-an500", "Cortex-M7", "thumbv7em-none-eabihf", 512 << 10),
    arm("mps2-an505", "Cortex-M33", "thumbv8m.main-none-eabihf", 512 << 10),
    arm("mps3-an547", "Cortex-M55", "thumbv8m.main-none-eabihf", 512 << 10),
    riscv("imac", 512 << 10),
    riscv("imafc", 512 << 10),
]
