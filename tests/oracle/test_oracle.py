"""Tests of the oracle itself; run `python -m unittest oracle.test_oracle` inside `tests/`.

Values are worked out by hand or with plain loops, never with the code under test.
"""

import math
import unittest

import numpy as np

from . import build, cases, container, float_ops, geometry, int8_ops, int8_softmax, plan, stable
from . import records as r
from . import synth, synth_int8
from .float_net import FloatNet
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

    def test_quantised_follows_float(self):
        rng = Prng(6)
        net = build.cnn(6, 6, 3, build.GridTensors(rng))
        net.add(r.conv2d(3, 4, r.RELU, pads=(0, 1, 1, 1)), r.uib(4, 4, 3, 3))
        inputs = [rng.grid(-2, 2, (108,)) for _ in range(6)]
        model = quantise(net.model, inputs)
        entry = model.quant[0]
        step = model.quant[-1].out_scale
        for values in inputs:
            whole = quantise_values(values, entry.in_scale, entry.in_zero)
            error = cases.execute(model, whole) - FloatNet(net.model).run(values)
            self.assertLess(np.abs(error).max(), 6 * step)


if __name__ == "__main__":
    unittest.main()
