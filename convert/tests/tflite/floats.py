"""float32: every operator; weights of int8 and float16."""
import numpy as np
from net import FLOAT32, NONE, RELU6, SAME, VALID, model, schema


@model([1, 9, 6, 3], kind=FLOAT32)
def float_convolutions(net):
    net.conv(5, 3, stride=2)
    net.conv(4, (3, 2), padding=VALID, activation=NONE)
    net.depthwise((1, 3), activation=RELU6)
    net.depthwise(2, multiplier=2)


@model([1, 6, 7, 3], kind=FLOAT32)
def float_pools_and_dense(net):
    net.pad(1, 0, 2, 1)
    net.conv(4, 3, padding=VALID)
    net.pool("MAX", 2, 1, SAME)
    net.pool("AVERAGE", 3, 2, SAME)
    net.reshape(1, 4 * 3 * 4)
    net.dense(6, activation=RELU6)
    net.softmax()


@model([1, 4, 5, 3], kind=FLOAT32)
def float_mean_and_activations(net):
    net.conv(4, 3, activation=NONE)
    net.leaky(0.2)
    net.conv(3, 1, activation=NONE)
    net.tanh()
    net.mean()
    net.dense(5)
    net.logistic()


@model([2, 6], kind=FLOAT32)
def float_rows(net):
    net.dense(5)
    net.relu("RELU6")
    net.dense(3)
    net.softmax()


@model([1, 5, 4, 2], kind=FLOAT32)
def float16_weights(net):
    net.runs_on_micro = False
    weights = net.const((net.rng.standard_normal((3, 3, 3, 2)) / 4).astype(np.float16))
    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.DEQUANTIZE
    net.codes.append(code)
    operator = schema.OperatorT()
    result = net.tensor("dequantized", [3, 3, 3, 2], FLOAT32)
    operator.opcodeIndex, operator.inputs, operator.outputs = len(net.codes) - 1, [weights], [result]
    net.operators.append(operator)
    options = schema.Conv2DOptionsT()
    options.strideH = options.strideW = 1
    options.dilationHFactor = options.dilationWFactor = 1
    net.op("CONV_2D", [net.at, result, net.random_bias(3, None)], [1, 5, 4, 3], options)
