"""The three networks, as they are written everywhere: logits come out, softmax is part of the loss."""

from torch import nn

CLASSES = 10


def mlp():
    """784-32-10."""
    return nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 32), nn.ReLU(), nn.Linear(32, CLASSES))


def cnn():
    """Convolution, ReLU, pool, twice; then one linear layer over the flattened 32x7x7 map."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, CLASSES),
    )


def _normed(*convolution, **options):
    layer = nn.Conv2d(*convolution, bias=False, **options)
    return nn.Sequential(layer, nn.BatchNorm2d(layer.out_channels), nn.ReLU6())


def _separable(inputs, outputs, stride=1):
    """A 3x3 convolution of each channel alone, then a 1x1 convolution across them."""
    return nn.Sequential(
        _normed(inputs, inputs, 3, stride=stride, padding=1, groups=inputs),
        _normed(inputs, outputs, 1),
    )


def cnn_dw():
    """Depthwise-separable convolutions with batch norm and ReLU6, global mean, one linear layer."""
    return nn.Sequential(
        _normed(1, 16, 3, stride=2, padding=1),
        _separable(16, 32), _separable(32, 64, stride=2), _separable(64, 96),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, CLASSES),
    )


NETWORKS = {"handwritten_mlp": mlp, "handwritten_cnn": cnn, "handwritten_cnn_dw": cnn_dw}
