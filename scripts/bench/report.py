"""Tables of what was measured."""

from pathlib import Path

from bench import measure

DOCUMENT = """\
# Speed

Written by `scripts/bench-peers --write`. One thread, pinned to one core; times of one inference in microseconds of CPU
time, the smallest medians of interleaved rounds. *Times best peer* is the median over the rounds of netkit's time
divided by that of the fastest other engine, which is set in bold: below 1 netkit is faster. *netkit* is the level that
the library chooses by itself, in an arena of `nk_recommended_arena_bytes`, where weights get packed; *in place* is the
same in the least arena, with weights used where the file is mapped; *netkit portable* is the level for any x86-64,
without intrinsics. A multiply-add counts as two operations; the peak is what a loop of nothing but multiply-adds
reaches on the same core.

Float engines run the same weights, and their outputs agree within a thousandth of the largest output. litert and
tflite-micro run the very int8 numbers of netkit's models; onnxruntime's quantiser makes those of the other int8 engines
from the same float model: int8 throughout, or *u8s8*: activations of uint8 and weights of 7 bits. ≠ marks an engine
whose answers are others.

{machine}.

{peak}

{versions}

## float32

{float}
## int8

{int8}
*Times float* is netkit's int8 time divided by its float time.

## As on a CPU with AVX2

All engines, on the same machine, are made to believe that it has AVX2 and FMA but nothing newer. {avx2_peak}

### float32 with AVX2

{avx2_float}
### int8 with AVX2

{avx2_int8}
## Loading and the first answer

Medians of fresh processes, with the file in the system's cache. netkit has an arena of `nk_recommended_arena_bytes`, in
which it packs weights, or, *in place*, one of exactly the bytes that it needs. The peak of memory is that of the whole
process; litert and tflite-micro run in Python, which takes about 35 MB of it.

### Loading float32

{cold_float}
### Loading int8

{cold_int8}"""


def head(columns):
    """The first lines of a table whose first column is text."""
    return [row(columns), "|---|" + "---:|" * (len(columns) - 1)]


def row(cells):
    return f"| {' | '.join(cells)} |"


def speed_header(kind, peers, levels):
    unit = "GFLOP/s" if kind == "float" else "GOP/s"
    ours = [column for level in levels for column in (f"netkit {level}".strip(), "times best peer")]
    also = ["times float"] if kind == "int8" else []
    return ["Model", "MMACs", *ours, "in place", unit, "of peak", *also, *(peer.name for peer in peers)]


def speed_row(model, kind, results, peers, levels, peak):
    """Times in microseconds. Speed, part of the peak, and the ratio to float are those of the first level."""
    best = measure.fastest_peer(results)
    first = results[f"netkit {levels[0]}".strip()]
    macs = model.facts["macs"]
    rate = 2 * macs / first.best_ns
    cells = [f"`{model.name}`", f"{macs / 1e6:.1f}"]
    for level in levels:
        ours = results[f"netkit {level}".strip()]
        cells += [microseconds(ours), f"{measure.ratio(ours, best):.2f}" if best else "-"]
    cells += [microseconds(results["netkit in place"]), f"{rate:.0f}", f"{100 * rate / peak[kind]:.0f} %" if peak[kind] else "-"]
    if kind == "int8":
        float_result = results.get("netkit float")
        cells += [f"{measure.ratio(first, float_result):.2f}" if float_result else "-"]
    return cells + [peer_cell(results.get(peer.name), best) for peer in peers]


def peer_cell(result, best):
    if result is None:
        return "-"
    time = microseconds(result)
    if not result.agrees:
        return f"{time} ≠"
    return f"**{time}**" if result is best else time


def microseconds(result):
    time = result.best_ns / 1e3
    return f"{time:,.0f}" if time >= 99.95 else f"{time:.1f}"


COLD_HEADER = ["Model", "Engine", "load ms", "load and first answer ms", "peak MB"]


def cold_rows(model, found):
    return [[f"`{model.name}`", name, f"{cold.load_ms:.2f}", f"{cold.answer_ms:.2f}", f"{cold.peak_mb:.1f}"]
            for name, cold in found.items()]


def differences(model, kind, results):
    """One line about how much the outputs differ from netkit's."""
    parts = []
    for name, result in results.items():
        if name == next(iter(results)):
            continue
        value = f"{result.difference:.0e}" if kind == "float" else f"correlation {result.correlation:.4f}"
        parts.append(f"{name} {value}" + ("" if result.agrees else ", not counted"))
    return f"{model.name}: " + "; ".join(parts)


def machine():
    """The CPU and what of it decides about speed."""
    text = Path("/proc/cpuinfo").read_text()
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}
    flags = fields.get("flags", "").split()
    known = [name for name in ("avx2", "fma", "avx_vnni", "avx512f", "avx512_vnni", "amx_int8") if name in flags]
    numbers = ", ".join(f"{key} {fields.get(key, '?')}" for key in ("cpu family", "model", "stepping"))
    return f"{fields.get('model name', 'unknown CPU')} ({numbers}), with {', '.join(known)}"


def peaks(tools):
    rates = ", ".join(f"{name} {rate:.0f}" for name, rate in tools.peak["rates"].items())
    return f"Peak of one core in GFLOP/s or GOP/s: {rates}."


def versions(peers):
    return "Versions: " + ", ".join(dict.fromkeys(map(str, peers))) + "."
