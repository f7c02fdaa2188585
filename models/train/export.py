"""From a trained network to an ONNX file, and test cases for that file."""

import numpy as np
import onnx
import onnxruntime
import torch

from digits import CLASSES, SIZE

OPSET = 18


def export(network, path, exporter="dynamo"):
    """PyTorch's exporter, the default one or the older `torchscript`, for one picture in evaluation mode."""
    example = (torch.zeros(1, 1, SIZE, SIZE),)
    names = {"input_names": ["image"], "output_names": ["scores"]}
    # By default weights go to a second file, PATH.data; here everything is in one.
    torch.onnx.export(network.eval(), example, path, **names, opset_version=OPSET, external_data=False,
                      dynamo=exporter == "dynamo", verbose=False)
    strip_notes(path)


def strip_notes(path):
    """Remove which line of which file made each node: the exporter notes it, with folders of the machine."""
    model = onnx.load(path)
    for noted in (model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input,
                  *model.graph.output, *model.graph.initializer):
        noted.ClearField("metadata_props")
        noted.ClearField("doc_string")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def session(path):
    """Runs one picture (1, 1, 28, 28) at a time."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    running = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    name = running.get_inputs()[0].name
    return lambda image: running.run(None, {name: image})[0]


def write_cases(path, images, labels):
    """PATH_cases.npz: for each digit the first picture that the model reads correctly, with onnxruntime's outputs."""
    run = session(path)
    outputs = np.concatenate([run(image[None]) for image in images])
    correct = outputs.argmax(1) == labels
    rows = [np.flatnonzero(correct & (labels == digit))[0] for digit in range(CLASSES)]
    np.savez(path.with_name(path.stem + "_cases.npz"), inputs=images[rows], outputs=outputs[rows],
             labels=labels[rows].astype(np.int32))
    print(f"{path.name}: {path.stat().st_size:,} bytes, onnxruntime reads {correct.mean():.2%} of {len(labels)} digits")
