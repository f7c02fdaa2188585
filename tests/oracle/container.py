"""The `.nk` container: parser and writer for versions 3 (float) and 4 (int8)."""

import struct
from dataclasses import dataclass, field

import numpy as np

from .records import FormatError, Layer

MLP, CNN = 1, 2
FLAG_TESTS, FLAG_QUANT, FLAG_INT8_TESTS = 1, 2, 4
MAX_LAYERS, MAX_TENSORS, MAX_CASES, MAX_CASE_VALUES, MAX_NAME = 100, 128, 16, 16384, 127

_HEADER = "<4sIBBH4IIIIII"
_CATALOG = "<BBH4II"
_DESCRIPTOR = "<fifififi"
_DTYPES = {1: np.dtype("<f4"), 2: np.dtype("i1"), 3: np.dtype("<i4")}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


@dataclass
class Quant:
    """Quantisation of one weight tensor and the layer around it."""

    in_scale: float
    in_zero: int
    weight_scale: float
    weight_zero: int
    bias_scale: float
    bias_zero: int
    out_scale: float
    out_zero: int
    channel_scales: np.ndarray | None = None

    @property
    def input(self):
        return self.in_scale, self.in_zero

    @property
    def bias(self):
        return self.bias_scale, self.bias_zero

    @property
    def output(self):
        return self.out_scale, self.out_zero

    def scalars(self):
        return (self.in_scale, self.in_zero, self.weight_scale, self.weight_zero,
                self.bias_scale, self.bias_zero, self.out_scale, self.out_zero)


@dataclass
class Case:
    """One embedded test: inputs (f32 or i8), expected f32 outputs, class label or -1."""

    name: str
    inputs: np.ndarray
    expected: np.ndarray
    label: int = -1


@dataclass
class Model:
    """A parsed or newly built network."""

    network: int
    shape: tuple
    layers: list
    weights: list = field(default_factory=list)
    biases: list = field(default_factory=list)
    quant: list | None = None
    cases: list = field(default_factory=list)
    tolerance: float = 1e-4

    @property
    def input_size(self):
        return int(np.prod(self.shape))


class Reader:
    """Sequential reads with bounds checks."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def raw(self, count):
        if self.pos + count > len(self.data):
            raise FormatError(f"file ends inside a field at byte {self.pos}")
        piece = self.data[self.pos:self.pos + count]
        self.pos += count
        return piece

    def unpack(self, layout):
        return struct.unpack(layout, self.raw(struct.calcsize(layout)))

    def array(self, dtype, count):
        return np.frombuffer(self.raw(dtype.itemsize * count), dtype=dtype)


def _require(condition, message):
    if not condition:
        raise FormatError(message)


# ------------------------------------------------------------------ reading


def _read_catalog(reader, count):
    """Catalog entries as (dtype, dims)."""
    entries = []
    for _ in range(count):
        rank, code, pad, *dims, elements = reader.unpack(_CATALOG)
        _require(1 <= rank <= 4 and pad == 0, "bad rank or padding in the tensor catalog")
        _require(code in _DTYPES, f"unknown dtype {code}")
        _require(not any(dims[rank:]), "unused dimensions must be zero")
        shape = tuple(dims[:rank])
        product = 1
        for dim in shape:
            product *= dim
        _require(product == elements, "dimensions do not match the element count")
        entries.append((_DTYPES[code], shape))
    return entries


def _read_quant(reader):
    _require(reader.raw(4) == b"QUAN", "QUAN section missing")
    count, flags = reader.unpack("<HH")
    quant = [Quant(*reader.unpack(_DESCRIPTOR)) for _ in range(count)]
    if flags & 1:
        for entry in quant:
            (channels,) = reader.unpack("<I")
            if channels:
                entry.channel_scales = reader.array(_DTYPES[1], channels)
    return quant


def _read_payload(reader, catalog, size):
    """The tensors of one payload region of `size` bytes (zero tail allowed)."""
    _require(size % 4 == 0, "payload sizes must be multiples of 4")
    end = reader.pos + size
    tensors = [reader.array(dtype, int(np.prod(shape))).reshape(shape) for dtype, shape in catalog]
    tail = reader.raw(end - reader.pos) if end >= reader.pos else None
    _require(tail is not None and len(tail) < 4 and not any(tail), "payload size does not match the catalog")
    return tensors


def _read_cases(reader, int8_inputs):
    _require(reader.raw(4) == b"TCAS", "TCAS section missing")
    count, tolerance = reader.unpack("<If")
    _require(1 <= count <= MAX_CASES, "bad number of test cases")
    cases = []
    for _ in range(count):
        (length,) = reader.unpack("<B")
        _require(1 <= length <= MAX_NAME, "bad case name length")
        name = reader.raw(length).decode("utf-8")
        reader.raw(-(1 + length) % 4)
        label, inputs = reader.unpack("<iI")
        _require(1 <= inputs <= MAX_CASE_VALUES, "bad case input count")
        values = reader.array(_DTYPES[2 if int8_inputs else 1], inputs)
        (outputs,) = reader.unpack("<I")
        _require(1 <= outputs <= MAX_CASE_VALUES, "bad case output count")
        cases.append(Case(name, values, reader.array(_DTYPES[1], outputs), label))
    return cases, tolerance


def parse(data):
    """Decode a file's bytes."""
    reader = Reader(data)
    (magic, version, network, rank, flags, *rest) = reader.unpack(_HEADER)
    shape, (n_layers, n_weights, n_biases, weight_bytes, bias_bytes) = rest[:4], rest[4:]
    _require(magic == b"NKIT", "not an .nk file")
    _require(version in (3, 4), f"unsupported version {version}")
    _require(rank == {MLP: 2, CNN: 3}.get(network), "bad network kind or input rank")
    _require(n_layers <= MAX_LAYERS and max(n_weights, n_biases) <= MAX_TENSORS, "limits exceeded")
    quantised = bool(flags & FLAG_QUANT)
    _require(not quantised or version == 4, "QUAN needs version 4")
    layers = [Layer.decode(reader) for _ in range(n_layers)]
    catalogs = _read_catalog(reader, n_weights), _read_catalog(reader, n_biases)
    model = Model(network, tuple(shape[:rank]), layers)
    model.quant = _read_quant(reader) if quantised else None
    _require(not any(reader.raw(-reader.pos % 4)), "alignment bytes must be zero")
    model.weights = _read_payload(reader, catalogs[0], weight_bytes)
    model.biases = _read_payload(reader, catalogs[1], bias_bytes)
    if flags & FLAG_TESTS:
        model.cases, model.tolerance = _read_cases(reader, bool(flags & FLAG_INT8_TESTS))
    _require(reader.pos == len(data), "bytes after the end of the model")
    return model


def load(path):
    """Read and decode a file."""
    with open(path, "rb") as file:
        return parse(file.read())


# ------------------------------------------------------------------ writing


def _catalog_bytes(tensors):
    parts = []
    for tensor in tensors:
        dims = tuple(tensor.shape) + (0,) * (4 - tensor.ndim)
        parts.append(struct.pack(_CATALOG, tensor.ndim, _CODES[tensor.dtype], 0, *dims, tensor.size))
    return b"".join(parts)


def _quant_bytes(quant):
    per_channel = any(entry.channel_scales is not None for entry in quant)
    parts = [b"QUAN", struct.pack("<HH", len(quant), int(per_channel))]
    parts += [struct.pack(_DESCRIPTOR, *entry.scalars()) for entry in quant]
    if per_channel:
        for entry in quant:
            scales = np.asarray([] if entry.channel_scales is None else entry.channel_scales, "<f4")
            parts += [struct.pack("<I", scales.size), scales.tobytes()]
    return b"".join(parts)


def _case_bytes(case, int8_inputs):
    name = case.name.encode("utf-8")
    inputs = np.asarray(case.inputs, _DTYPES[2 if int8_inputs else 1]).reshape(-1)
    expected = np.asarray(case.expected, "<f4").reshape(-1)
    return b"".join((
        struct.pack("<B", len(name)), name, bytes(-(1 + len(name)) % 4),
        struct.pack("<iI", case.label, inputs.size), inputs.tobytes(),
        struct.pack("<I", expected.size), expected.tobytes()))


def write(model):
    """Encode a model; int8 models become version 4, others version 3."""
    quantised = model.quant is not None
    flags = (FLAG_TESTS if model.cases else 0) | (FLAG_QUANT if quantised else 0)
    flags |= FLAG_INT8_TESTS if quantised and model.cases else 0
    weights = b"".join(w.tobytes() for w in model.weights)
    weights += bytes(-len(weights) % 4)
    biases = b"".join(b.tobytes() for b in model.biases)
    shape = tuple(model.shape) + (0,) * (4 - len(model.shape))
    meta = struct.pack(_HEADER, b"NKIT", 4 if quantised else 3, model.network, len(model.shape), flags,
                       *shape, len(model.layers), len(model.weights), len(model.biases),
                       len(weights), len(biases))
    meta += b"".join(layer.encode() for layer in model.layers)
    meta += _catalog_bytes(model.weights) + _catalog_bytes(model.biases)
    meta += _quant_bytes(model.quant) if quantised else b""
    meta += bytes(-len(meta) % 4)
    tests = b""
    if model.cases:
        tests = b"TCAS" + struct.pack("<If", len(model.cases), model.tolerance)
        tests += b"".join(_case_bytes(case, quantised) for case in model.cases)
    return meta + weights + biases + tests
