"""int8 forms of ONNX models by onnxruntime's quantiser, with integers at the input."""

import logging

import onnx
from onnx import TensorProto, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process


class Samples(CalibrationDataReader):
    def __init__(self, name, samples):
        self.feeds = iter([{name: sample} for sample in samples])

    def get_next(self):
        return next(self.feeds, None)


def quantize(source, path, samples, unsigned):
    """Writes the model with int8 weights of each channel; returns scale and zero point of its input.

    Activations are int8, or uint8 with weights of 7 bits, whose products two at a time fit into 16 bits.
    """
    logging.getLogger().setLevel(logging.ERROR)
    prepared = path.with_suffix(".prepared.onnx")
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    name = onnx.load(prepared).graph.input[0].name
    quantize_static(
        prepared, path, Samples(name, samples), quant_format=QuantFormat.QDQ, per_channel=True, reduce_range=unsigned,
        activation_type=QuantType.QUInt8 if unsigned else QuantType.QInt8, weight_type=QuantType.QInt8)
    model = onnx.load(path)
    scale = take_integers(model.graph, TensorProto.UINT8 if unsigned else TensorProto.INT8)
    onnx.save(model, path)
    return scale


def take_integers(graph, element):
    """Removes the node that quantises the input."""
    source = graph.input[0]
    node = next(node for node in graph.node if node.op_type == "QuantizeLinear" and node.input[0] == source.name)
    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    scale, zero_point = (constants[name].item() for name in node.input[1:3])
    source.type.tensor_type.elem_type = element
    for reader in graph.node:
        reader.input[:] = [source.name if name == node.output[0] else name for name in reader.input]
    graph.node.remove(node)
    return scale, zero_point
