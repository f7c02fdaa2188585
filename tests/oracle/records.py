"""Layer records of the `.nk` container: constants, layouts, constructors."""

import struct
from typing import NamedTuple

DENSE, CONV2D, MAX_POOL2D, FLATTEN, AVG_POOL2D, BATCH_NORM2D = 1, 2, 3, 4, 5, 6
DEPTHWISE_CONV2D, CONVNEXTV2_BLOCK, MOBILENETV4_UIB = 7, 8, 9
RESNET_BASIC_BLOCK, LAYERNORM2D, YOLOX_DECOUPLED_HEAD = 10, 11, 12
FEATURE_TAP, YOLOX_PAFPN_MULTISCALE = 13, 14

ACTIVATIONS = ("none", "relu", "sigmoid", "tanh", "leaky_relu", "relu6", "softmax")
NONE, RELU, SIGMOID, TANH, LEAKY_RELU, RELU6, SOFTMAX = range(7)


class FormatError(ValueError):
    """The file or model breaks a rule of the format."""


class Record(NamedTuple):
    """Body layout of one layer kind (after the 4-byte prefix)."""

    name: str
    layout: str
    fields: tuple


_CONV_FIELDS = ("kernel", "stride", "filters", "activation", "pad_top", "pad_left", "extra", "alpha")
_POOL_FIELDS = ("pool", "stride", "pad_top", "pad_left", "word")
_NORM_FIELDS = ("channels", "reserved", "eps")

RECORDS = {
    DENSE: Record("dense", "<IB3xf", ("units", "activation", "alpha")),
    CONV2D: Record("conv2d", "<IIIBBBBf", _CONV_FIELDS),
    MAX_POOL2D: Record("max_pool2d", "<IIBBH", _POOL_FIELDS),
    FLATTEN: Record("flatten", "<", ()),
    AVG_POOL2D: Record("avg_pool2d", "<IIBBH", _POOL_FIELDS),
    BATCH_NORM2D: Record("batch_norm2d", "<II", ("channels", "reserved")),
    DEPTHWISE_CONV2D: Record("depthwise_conv2d", "<IIIBBBBf", _CONV_FIELDS),
    CONVNEXTV2_BLOCK: Record("convnextv2_block", "<IIf", _NORM_FIELDS),
    MOBILENETV4_UIB: Record(
        "mobilenetv4_uib", "<IIBBBBfI",
        ("in_channels", "out_channels", "start_kernel", "middle_kernel", "stride",
         "downsample", "expand_ratio", "reserved")),
    RESNET_BASIC_BLOCK: Record(
        "resnet_basic_block", "<IIB3x", ("in_channels", "out_channels", "stride")),
    LAYERNORM2D: Record("layernorm2d", "<IIf", _NORM_FIELDS),
    YOLOX_DECOUPLED_HEAD: Record(
        "yolox_decoupled_head", "<IIIB3x", ("in_channels", "hidden", "classes", "convs")),
    FEATURE_TAP: Record("feature_tap", "<IB3x", ("channels", "tap_id")),
    YOLOX_PAFPN_MULTISCALE: Record(
        "yolox_pafpn_multiscale", "<IIIIIB3x",
        ("c3", "c4", "c5", "hidden", "classes", "convs")),
}


class Layer:
    """One layer record; the fields of its kind are attributes."""

    def __init__(self, kind, **values):
        record = RECORDS.get(kind)
        if record is None:
            raise FormatError(f"unknown layer kind {kind}")
        if set(values) != set(record.fields):
            raise FormatError(f"{record.name} needs {record.fields}, got {tuple(values)}")
        self.kind, self.name = kind, record.name
        self.__dict__.update(values)

    def __repr__(self):
        values = ", ".join(f"{f}={getattr(self, f)}" for f in RECORDS[self.kind].fields)
        return f"{self.name}({values})"

    def encode(self):
        """The record's bytes."""
        record = RECORDS[self.kind]
        body = struct.pack(record.layout, *(getattr(self, f) for f in record.fields))
        return struct.pack("<B3x", self.kind) + body

    @classmethod
    def decode(cls, reader):
        """Read one record from a `container.Reader`."""
        kind, *reserved = reader.unpack("<BBBB")
        if kind not in RECORDS:
            raise FormatError(f"unknown layer kind {kind}")
        if any(reserved):
            raise FormatError("reserved bytes of a layer prefix are not zero")
        record = RECORDS[kind]
        return cls(kind, **dict(zip(record.fields, reader.unpack(record.layout))))


def _pair(value):
    """A number or a pair as a pair."""
    return (value, value) if isinstance(value, int) else tuple(value)


def _pads(pads):
    """Symmetric (one number), (h, w) or (top, left, bottom, right) padding as four."""
    if isinstance(pads, int):
        return (pads,) * 4
    return tuple(pads) * 2 if len(pads) == 2 else tuple(pads)


def _extra_byte(top, left, bottom, right):
    """Nibbles for the additional bottom (low) and right (high) padding."""
    down, across = bottom - top, right - left
    if not (0 <= down <= 15 and 0 <= across <= 15):
        raise FormatError(f"padding {(top, left, bottom, right)} cannot be stored")
    return down | across << 4


def dense(units, activation=NONE, alpha=0.0):
    return Layer(DENSE, units=units, activation=activation, alpha=alpha)


def conv2d(kernel, filters, activation=NONE, stride=1, pads=0, alpha=0.0):
    top, left, bottom, right = _pads(pads)
    return Layer(CONV2D, kernel=kernel, stride=stride, filters=filters, activation=activation,
                 pad_top=top, pad_left=left, extra=_extra_byte(top, left, bottom, right), alpha=alpha)


def depthwise(kernel, channels, activation=NONE, stride=1, pads=0, alpha=0.0):
    """Depthwise convolution; `kernel` may be (height, width).

    One byte holds either the kernel width or the extra padding.  A square
    kernel whose padding byte equals its height, and a rectangular one whose
    padding byte equals its width, cannot be told apart and are refused.
    """
    kh, kw = _pair(kernel)
    top, left, bottom, right = _pads(pads)
    extra = _extra_byte(top, left, bottom, right) or kw
    if extra == kw and (bottom, right) != (top, left):
        raise FormatError("this kernel and padding cannot be stored together")
    return Layer(DEPTHWISE_CONV2D, kernel=kh, stride=stride, filters=channels, activation=activation,
                 pad_top=top, pad_left=left, extra=extra, alpha=alpha)


def _pool(kind, size, stride, pads):
    height, width = _pair(size)
    top, left, bottom, right = _pads(pads)
    word = (0 if width == height else width) | _extra_byte(top, left, bottom, right) << 8
    return Layer(kind, pool=height, stride=stride, pad_top=top, pad_left=left, word=word)


def max_pool(size, stride=1, pads=0):
    return _pool(MAX_POOL2D, size, stride, pads)


def avg_pool(size, stride=1, pads=0):
    return _pool(AVG_POOL2D, size, stride, pads)


def flatten():
    return Layer(FLATTEN)


def batch_norm(channels):
    return Layer(BATCH_NORM2D, channels=channels, reserved=0)


def layer_norm(channels, eps=2.0**-16):
    return Layer(LAYERNORM2D, channels=channels, reserved=0, eps=eps)


def convnext(channels, eps=2.0**-16):
    return Layer(CONVNEXTV2_BLOCK, channels=channels, reserved=0, eps=eps)


def uib(in_channels, out_channels, start=0, middle=0, stride=1, downsample=1, ratio=2.0):
    return Layer(MOBILENETV4_UIB, in_channels=in_channels, out_channels=out_channels,
                 start_kernel=start, middle_kernel=middle, stride=stride,
                 downsample=downsample, expand_ratio=ratio, reserved=0)


def resnet(in_channels, out_channels, stride=1):
    return Layer(RESNET_BASIC_BLOCK, in_channels=in_channels, out_channels=out_channels, stride=stride)


def yolox_head(in_channels, hidden, classes, convs):
    return Layer(YOLOX_DECOUPLED_HEAD, in_channels=in_channels, hidden=hidden,
                 classes=classes, convs=convs)


def tap(channels, tap_id):
    return Layer(FEATURE_TAP, channels=channels, tap_id=tap_id)


def pafpn(c3, c4, c5, hidden, classes, convs):
    return Layer(YOLOX_PAFPN_MULTISCALE, c3=c3, c4=c4, c5=c5, hidden=hidden,
                 classes=classes, convs=convs)
