"""Residual blocks, int8 and float."""
from net import FLOAT32, NONE, RELU, model


def resnet(net, filters, stride=1):
    """A basic block of ResNet."""
    start = net.at
    net.conv(filters, 3, stride=stride)
    main = net.conv(filters, 3, activation=NONE, scale=0.11, zero=4)
    if stride != 1 or net.shape(start)[3] != filters:
        start = net.conv(filters, 1, stride=stride, activation=NONE, scale=0.05, zero=-17, of=start)
    net.add(start, main, RELU)


@model([1, 5, 6, 3])
def resnet_with_its_input(net):
    net.conv(4, 3)
    resnet(net, 4)
    resnet(net, 4)


@model([1, 6, 5, 3])
def resnet_first(net):
    resnet(net, 3)


@model([1, 8, 7, 3])
def resnet_strided_on_even_and_odd(net):
    resnet(net, 4, stride=2)
    resnet(net, 5, stride=2)


@model([1, 7, 5, 2])
def resnet_behind_a_mean(net):
    net.conv(4, 3, zero=-77)
    net.pool("AVERAGE", 2, 1)
    resnet(net, 4)
    net.pool("AVERAGE", (6, 4), 1)


@model([1, 8, 7, 3], kind=FLOAT32)
def float_resnet_strided_on_even_and_odd(net):
    resnet(net, 4, stride=2)
    resnet(net, 4)


def bottleneck(net, scale_of_sum):
    start = net.at
    channels = net.shape()[3]
    net.conv(16, 1, scale=0.04, zero=-128)
    net.depthwise(3, scale=0.05, zero=-128)
    main = net.conv(channels, 1, activation=NONE, scale=0.09, zero=3)
    net.add(start, main, NONE, *scale_of_sum)


@model([1, 5, 6, 8])
def bottleneck_adding_in_its_own_scale(net):
    bottleneck(net, (0.09, 3))


@model([1, 5, 6, 8])
def refused_bottleneck_adding_in_another_scale(net):
    bottleneck(net, (0.12, -5))
