"""Tests of the oracle itself; run `python -m unittest oracle.test_oracle` inside `tests/`.

Values are worked out by hand or with plain loops, never with the code under test.
"""

import math
import unittest

import numpy as np

from . import build, cases, container, float_ops, geometry, int8_ops, int8_softmax, int8_tables, plan, stable
from . import records as r
from . import synth, synth_int8
from .float_net import FloatNet
from .int8_net import Int8Net
from .prng import Prng
from .quantize import quantise, quantise_values


def naive_conv(x, weight, bias, window):
    """Convolution with one loop per index."""
    rows, columns = window.output(x.shape)
    y = np.zeros((rows, columns, bias.size))
    for a, b, o in np.ndindex(*y.shape):
        total = float(bias[o])
        for i, j, c in np.ndindex(window.height, window.width, x.shape[2]):
            h, w = a * window.stride + i - window.top, b * window.stride + j - window.left
            if 0 <= h < x.shape[0] and 0 <= w < x.shape[1]:
                total += float(x[h, w, c]) * float(weight[o, i, j, c])
        y[a, b, o] = total
    return y


class Container(unittest.TestCase):
    def test_worked_example_layout(self):
        net = build.mlp(1, 2, build.GridTensors(Prng(1)))
        data = container.write(net.add(r.dense(2, r.RELU), r.dense(2)).model)
        self.assertEqual(data[:16], b"NKIT\3\0\0\0\1\2\0\0\1\0\0\0")
        self.assertEqual(data[176:180], net.model.weights[0].tobytes()[:4])
        self.assertEqual(len(data), 176 + 32 + 16)

    def test_round_trip(self):
        for source in (synth, synth_int8):
            for name, model in source.models(9, 32):
                data = container.write(model)
                self.assertEqual(container.write(container.parse(data)), data, name)

    def test_every_cut_is_refused(self):
        _, model = next(synth.models(2, 1))
        data = container.write(model)
        for size in range(len(data)):
            with self.assertRaises(container.FormatError):
                container.parse(data[:size])


class Synth(unittest.TestCase):
    def test_every_kind_and_activation(self):
        layers = [layer for _, model in synth.models(3, 150) for layer in model.layers]
        self.assertEqual({layer.kind for layer in layers}, set(r.RECORDS))
        for kind in (r.DENSE, r.CONV2D, r.DEPTHWISE_CONV2D):
            self.assertEqual({x.activation for x in layers if x.kind == kind}, set(range(7)))
        self.assertEqual({x.convs for x in layers if x.kind == r.YOLOX_DECOUPLED_HEAD}, set(range(5)))

    def test_every_int8_form(self):
        models = [model for _, model in synth_int8.models(3, 200)]
        layers = [layer for model in models for layer in model.layers]
        self.assertEqual({layer.kind for layer in layers}, set(plan.INT8_KINDS))
        for kind, codes in ((r.DENSE, range(7)), (r.CONV2D, range(6)), (r.DEPTHWISE_CONV2D, range(6))):
            self.assertEqual({x.activation for x in layers if x.kind == kind}, set(codes))
        firsts = {model.layers[0].kind for model in models}
        self.assertLessEqual({r.RESNET_BASIC_BLOCK, r.MOBILENETV4_UIB, r.MAX_POOL2D, r.AVG_POOL2D}, firsts)
        zeros = {entry.weight_zero for model in models for entry in model.quant}
        self.assertLessEqual({-128, 0, 127}, zeros)
        self.assertEqual({sum(w.size for w in model.weights) % 4 for model in models}, set(range(4)))

    def test_cases_hold(self):
        for source in (synth, synth_int8):
            for name, model in source.models(4, 40):
                again = container.parse(container.write(model))
                plan.plan(again)
                self.assertTrue(all(result.passed for result in cases.run_cases(again)), name)


class Geometry(unittest.TestCase):
    def test_depthwise_byte(self):
        def window(kernel, pads, channels=2):
            layer = r.depthwise(kernel, channels, pads=pads)
            return geometry.depthwise_window(layer, channels * math.prod(kernel))
        self.assertEqual(window((3, 3), 1), (3, 3, 1, 1, 1, 1, 1))
        self.assertEqual(window((3, 3), (0, 1, 1, 2)), (3, 3, 1, 0, 1, 1, 2))
        self.assertEqual(window((2, 5), 1), (2, 5, 1, 1, 1, 1, 1))
        self.assertEqual(window((3, 4), (1, 1, 1, 2)), (3, 4, 1, 1, 1, 1, 2))
        with self.assertRaises(r.FormatError):
            r.depthwise(3, 2, pads=(0, 0, 3, 0))

    def test_pool_word(self):
        layer = r.max_pool((2, 3), 1, (1, 0, 3, 4))
        self.assertEqual(layer.word, 0x4203)
        self.assertEqual(geometry.pool_window(layer), (2, 3, 1, 1, 0, 3, 4))

    def test_make_divisible(self):
        self.assertEqual([geometry.make_divisible(v) for v in (1, 11, 12, 17, 19, 100)], [8, 16, 16, 16, 24, 104])

    def test_refusals(self):
        rng = build.GridTensors(Prng(1))
        for layer in (r.conv2d(4, 1), r.batch_norm(3), r.dense(2), r.max_pool(2, 0), r.pafpn(1, 1, 2, 1, 1, 0)):
            with self.assertRaises(r.FormatError):
                build.cnn(3, 3, 2, rng).add(layer)
        model = build.cnn(3, 3, 2, rng).add(r.conv2d(3, 1)).model
        model.weights.append(model.weights[0])
        with self.assertRaises(r.FormatError):
            plan.plan(model)


class Floats(unittest.TestCase):
    def test_conv_against_loops(self):
        rng = Prng(4)
        window = geometry.Window(3, 3, 2, 0, 1, 2, 3)
        x, weight, bias = rng.grid(-2, 2, (5, 6, 2)), rng.grid(-1, 1, (3, 3, 3, 2)), rng.grid(-1, 1, (3,))
        np.testing.assert_array_equal(
            float_ops.conv2d(x, weight, bias, window), naive_conv(x, weight, bias, window))

    def test_stable_functions(self):
        for x in (-700.0, -3.25, -1e-5, 0.0, 1e-9, 0.5, 20.0, 700.0):
            self.assertTrue(math.isclose(float(stable.exp(x)), math.exp(x), rel_tol=1e-14), x)
            self.assertTrue(math.isclose(float(stable.tanh(x)), math.tanh(x), rel_tol=1e-12), x)
        self.assertEqual(float(stable.sigmoid(0.0)), 0.5)

    def test_padding_is_not_averaged(self):
        x = np.full((2, 2, 1), 3, dtype=np.float32)
        window = geometry.Window(2, 2, 1, 1, 1, 1, 1)
        np.testing.assert_array_equal(float_ops.avg_pool(x, window), np.full((3, 3, 1), 3))
        np.testing.assert_array_equal(float_ops.max_pool(-x, window), np.full((3, 3, 1), -3))

    def test_softmax_rows_and_map(self):
        rows = build.mlp(2, 3, build.GridTensors(Prng(5))).add(r.dense(4, r.SOFTMAX)).model
        sums = FloatNet(rows).run(np.arange(6)).reshape(2, 4).sum(axis=1)
        np.testing.assert_allclose(sums, 1, rtol=1e-6)
        whole = build.cnn(2, 2, 1, build.GridTensors(Prng(5))).add(r.conv2d(1, 3, r.SOFTMAX)).model
        np.testing.assert_allclose(FloatNet(whole).run(np.arange(4)).sum(), 1, rtol=1e-6)


class Integers(unittest.TestCase):
    def test_multiplier(self):
        self.assertEqual(int8_ops.multiplier(0.5), (1 << 30, 0))
        self.assertEqual(int8_ops.multiplier(1.0), (1 << 30, 1))
        self.assertEqual(int8_ops.multiplier(0.0), (0, 0))
        self.assertEqual(int8_ops.multiplier(2.0**-40), (0, 0))
        self.assertEqual(int8_ops.multiplier(2.0**31), (int8_ops.INT32_MAX, 30))

    def test_rounding_happens_twice(self):
        """A quarter of 5 is first rounded to 3 halves, then to 2; of -5 to -2 halves, then to -1."""
        quarter = int8_ops.multiplier(0.25)
        results = [int(int8_ops.scale_by(v, *quarter)) for v in (2, -2, 6, -6, 5, -5)]
        self.assertEqual(results, [1, -1, 2, -2, 2, -1])

    def test_softmax(self):
        self.assertEqual(int8_softmax.softmax([7, 7], 0.1).tolist(), [0, 0])
        self.assertEqual(int8_softmax.softmax([127, -128], 1.0).tolist(), [127, -128])
        logits, scale = np.arange(-20, 20, 3), 0.125
        powers = np.exp(logits * scale)
        wanted = powers / powers.sum() * 256 - 128
        self.assertLess(np.abs(int8_softmax.softmax(logits, scale) - wanted).max(), 0.75)

    def test_mean_rounds_around_the_zero_point(self):
        x = np.array([[[-10], [-11]]])
        window = geometry.Window(1, 2, 1, 0, 0, 0, 0)
        self.assertEqual(int8_ops.avg_pool(x, window, -10).item(), -11)
        self.assertEqual(int8_ops.avg_pool(x, window, -128).item(), -10)

    def test_tables(self):
        sigmoid = int8_tables.table(r.SIGMOID, 0.0, (1 / 16, 0), int8_tables.SIGMOID_OUTPUT)
        self.assertEqual(sigmoid[[0, 128, 255]].tolist(), [-128, 0, 127])
        tanh = int8_tables.table(r.TANH, 0.0, (1 / 16, 3), int8_tables.TANH_OUTPUT)
        self.assertEqual(tanh[[0, 131, 139, 255]].tolist(), [-128, 0, round(128 * math.tanh(0.5)), 127])
        leaky = int8_tables.table(r.LEAKY_RELU, 0.5, (2.0, 1), (2.0, 1))
        self.assertEqual(leaky[[0, 126, 127, 128, 129, 130, 255]].tolist(), [-64, -1, 0, 0, 1, 2, 127])

    def test_only_a_descriptor_that_asks_gets_a_table(self):
        net = build.cnn(1, 1, 1, build.GridTensors(Prng(7))).add(r.conv2d(1, 4, r.TANH))
        model = quantise(net.model, [np.array([-2.0]), np.array([2.0])])
        whole = Int8Net(model)
        results = [whole.run([90])]
        self.assertEqual(whole.tracked, (1 / 128, 0))
        model.quant[0].bias_zero = 1
        results.append(whole.run([90]))
        self.assertEqual(whole.tracked, model.quant[0].output)
        model.layers[0].activation = r.NONE
        np.testing.assert_array_equal(results[1], whole.run([90]))
        self.assertFalse((results[0] == results[1]).all())

    def test_resnet_by_hand(self):
        """One pixel, so only the centres of the kernels count; all scales are powers of two."""
        def quant(*scalars):
            return container.Quant(*scalars)

        def centre(value):
            kernel = np.zeros((1, 3, 3, 1), dtype=np.int8)
            kernel[0, 1, 1, 0] = value
            return kernel
        model = container.Model(container.CNN, (1, 1, 1), [r.resnet(1, 1)], [centre(3), centre(-2)],
                                [np.array([4], "<i4"), np.array([-1], "<i4")],
                                [quant(0.5, 1, 1.0, 0, 0.5, 0, 1.0, -10), quant(1.0, -10, 0.5, 0, 0.25, 7, 0.5, 3)])
        plan.plan(model)
        net = Int8Net(model)
        # x = (q - 1) / 2; y = relu(3 x + 2); z = -y - 1/2; the sum relu(z + x) is in quarters around 7, here always 0.
        for q in (-3, 1, 11):
            self.assertEqual(net.run([q]).tolist(), [7], q)
        # Now z = y - 1/2. For q = 11, x = 5, y = 17, z = 16.5: the sum 21.5 is 86 quarters. For q = -3 it is negative.
        model.weights[1] = centre(2)
        self.assertEqual(net.run([11]).tolist(), [93])
        self.assertEqual(net.run([-3]).tolist(), [7])
        self.assertEqual(net.tracked, (0.25, 7))

    def test_int8_refusals(self):
        def block():
            net = build.cnn(3, 3, 2, build.GridTensors(Prng(8))).add(r.resnet(2, 2))
            return quantise(net.model, [np.linspace(-2, 2, 18)])

        def refused(change):
            model = block()
            plan.plan(model)
            change(model)
            with self.assertRaises(r.FormatError):
                plan.plan(model)
        refused(lambda model: setattr(model.quant[1], "bias_scale", 0.0))
        refused(lambda model: setattr(model.quant[1], "bias_zero", 128))
        refused(lambda model: setattr(model.quant[0], "weight_zero", 1))
        refused(lambda model: model.biases[0].fill(2**31 - 1000))
        refused(lambda model: model.quant.pop())
        for layer in (r.batch_norm(2), r.layer_norm(2), r.convnext(2), r.yolox_head(2, 1, 1, 0), r.tap(2, 0)):
            refused(lambda model, layer=layer: model.layers.append(layer))

    def test_quantised_follows_float(self):
        for layers in ((r.conv2d(3, 4, r.RELU, pads=(0, 1, 1, 1)), r.uib(4, 4, 3, 3)),
                       (r.resnet(3, 3), r.resnet(3, 4, 2)),
                       (r.conv2d(2, 4, r.LEAKY_RELU, alpha=0.2), r.conv2d(1, 3, r.TANH), r.conv2d(1, 2, r.SIGMOID))):
            self.follows(layers)

    def follows(self, layers):
        rng = Prng(6)
        net = build.cnn(6, 6, 3, build.GridTensors(rng)).add(*layers)
        inputs = [rng.grid(-2, 2, (108,)) for _ in range(6)]
        model = quantise(net.model, inputs)
        entry = model.quant[0]
        step = Int8Net(model).output_quant()[0]
        for values in inputs:
            whole = quantise_values(values, entry.in_scale, entry.in_zero)
            error = cases.execute(model, whole) - FloatNet(net.model).run(values)
            self.assertLess(np.abs(error).max(), 6 * step)


if __name__ == "__main__":
    unittest.main()
