"""Engines of bench-peers that have a Python interface: `python_worker.py ENGINE MODEL INPUT SHAPE`.

The protocol is that of netkit_worker.c. The suffix of INPUT says the type of its values. An int8 model of TensorFlow
Lite gets floats converted with its own scale, before it runs. Time for Python itself and for importing packages is not
part of loading.
"""

import sys
import time

import numpy as np

BATCH_NS = 100_000


class Lite:
    """ai-edge-litert: TensorFlow Lite with XNNPACK."""

    def __init__(self):
        from ai_edge_litert.interpreter import Interpreter

        self.engine = Interpreter

    def load(self, model, _shape):
        self.interpreter = self.engine(model_path=model, num_threads=1)
        self.interpreter.allocate_tensors()
        self.source = self.interpreter.get_input_details()[0]
        self.result = self.interpreter.get_output_details()[0]

    def feed(self, values):
        values = values.reshape(self.source["shape"])
        values = codes(values, self.source["dtype"], *self.source["quantization"])
        self.interpreter.set_tensor(self.source["index"], values)
        self.forward = self.interpreter._interpreter.Invoke  # without the checks of the Python function around it

    def output(self):
        self.forward()
        return reals(self.interpreter.get_tensor(self.result["index"]), *self.result["quantization"])


class Micro:
    """tflite-micro: reference kernels in C++."""

    ARENA = 1 << 24

    def __init__(self):
        from tflite_micro import runtime

        self.engine = runtime.Interpreter

    def load(self, model, _shape):
        self.interpreter = self.engine.from_file(model, arena_size=self.ARENA)
        self.source, self.result = self.interpreter.get_input_details(0), self.interpreter.get_output_details(0)

    def feed(self, values):
        self.values = codes(values.reshape(self.source["shape"]), self.source["dtype"], *self.scale_of(self.source))
        self.interpreter.set_input(self.values, 0)
        self.forward = self.interpreter.invoke

    def output(self):
        self.interpreter.set_input(self.values, 0)  # the arena uses the memory of the input for others, too
        self.forward()
        return reals(self.interpreter.get_output(0), *self.scale_of(self.result))

    @staticmethod
    def scale_of(details):
        quantization = details["quantization_parameters"]
        if details["dtype"] == np.float32:
            return 0.0, 0
        return quantization["scales"][0], quantization["zero_points"][0]


class OpenVino:
    def __init__(self):
        import openvino

        self.engine = openvino

    def load(self, model, shape):
        core = self.engine.Core()
        options = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        network = core.read_model(model)
        network.reshape(shape)
        self.request = core.compile_model(network, "CPU", options).create_infer_request()

    def feed(self, values):
        self.request.set_input_tensor(self.engine.Tensor(values))
        self.forward = self.request.infer

    def output(self):
        self.forward()
        return self.request.get_output_tensor().data


class Mnn:
    def __init__(self):
        import MNN

        self.engine = MNN

    def load(self, model, _shape):
        self.interpreter = self.engine.Interpreter(model)
        self.session = self.interpreter.createSession({"numThread": 1, "precision": "high"})

    def feed(self, values):
        source = self.interpreter.getSessionInput(self.session)
        self.interpreter.resizeTensor(source, values.shape)
        self.interpreter.resizeSession(self.session)
        source.copyFrom(self.tensor(values))
        self.forward = lambda: self.interpreter.runSession(self.session)

    def output(self):
        self.forward()
        result = self.interpreter.getSessionOutput(self.session)
        copy = self.tensor(np.zeros(result.getShape(), np.float32))
        result.copyToHostTensor(copy)
        return np.array(copy.getNumpyData())

    def tensor(self, values):
        kind, order = self.engine.Halide_Type_Float, self.engine.Tensor_DimensionType_Caffe
        return self.engine.Tensor(values.shape, kind, values, order)


TYPES = {"f32": np.float32, "i8": np.int8, "u8": np.uint8}
ENGINES = {"litert": Lite, "tflite-micro": Micro, "openvino": OpenVino, "mnn": Mnn}


def codes(values, dtype, scale, zero_point):
    if dtype == np.float32:
        return values
    return np.clip(np.round(values / scale) + zero_point, -128, 127).astype(dtype)


def reals(values, scale, zero_point):
    return values if values.dtype == np.float32 else np.float32(scale) * (values.astype(np.float32) - zero_point)


def median_ns(forward, milliseconds):
    end = time.perf_counter_ns() + milliseconds * 1_000_000
    forward()
    start = time.process_time_ns()
    forward()
    runs = range(BATCH_NS // max(time.process_time_ns() - start, 1) + 1)
    times = []
    while not times or time.perf_counter_ns() < end:
        start = time.process_time_ns()
        for _ in runs:
            forward()
        times.append((time.process_time_ns() - start) // len(runs))
    return sorted(times)[len(times) // 2]


def peak_kilobytes():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def main():
    name, model, source, shape = sys.argv[1:]
    shape = [int(extent) for extent in shape.split("x")]
    values = np.fromfile(source, TYPES[source.rsplit(".")[-1]]).reshape(shape)
    engine = ENGINES[name]()
    start = time.perf_counter_ns()
    engine.load(model, shape)
    loaded = time.perf_counter_ns()
    engine.feed(values)
    begin = time.perf_counter_ns()
    engine.forward()
    print("ready", loaded - start, time.perf_counter_ns() - begin, peak_kilobytes(), flush=True)
    for line in sys.stdin:
        command = line.split()
        if command[0] == "run":
            print(median_ns(engine.forward, int(command[1])), flush=True)
        else:
            print(*np.ravel(engine.output()), flush=True)


if __name__ == "__main__":
    main()
