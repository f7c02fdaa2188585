"""What is committed about the handwritten digits fits together; needs numpy only.

Run `python3 -m unittest test_digits` inside `models/train/`.
"""

import unittest
from pathlib import Path

import numpy as np

import digits
from oracle import container
from oracle.prng import Prng

HERE = Path(__file__).resolve().parent
MODELS = ("handwritten_mlp", "handwritten_cnn", "handwritten_cnn_dw")
# Pictures of each digit in the package.
COUNTS = (1001, 1127, 991, 1032, 980, 863, 1014, 1070, 944, 978)


def labels():
    return np.repeat(np.arange(digits.CLASSES), COUNTS)


class Split(unittest.TestCase):
    def test_test_set_is_the_one_that_the_seed_draws(self):
        drawn = digits.draw_rows(Prng(1), labels(), np.arange(10000), digits.TEST_PER_DIGIT)
        np.testing.assert_array_equal(digits.split(labels())[1], drawn)

    def test_every_digit_is_in_one_part(self):
        training, test = digits.split(labels())
        np.testing.assert_array_equal(np.sort(np.concatenate([training, test])), np.arange(10000))
        np.testing.assert_array_equal(np.bincount(labels()[test]), [200] * 10)

    def test_calibration_digits_are_training_digits(self):
        training = digits.split(labels())[0]
        rows = digits.draw_rows(Prng(2), labels(), training, digits.CALIBRATION_PER_DIGIT)
        self.assertEqual(len(np.unique(rows)), 1000)
        self.assertTrue(np.isin(rows, training).all())


class Cases(unittest.TestCase):
    def test_ten_pictures_scores_and_labels(self):
        for name in MODELS:
            with self.subTest(name), np.load(HERE / f"{name}_cases.npz") as cases:
                self.assertEqual(set(cases.files), {"inputs", "outputs", "labels"})
                self.assertEqual((cases["inputs"].shape, cases["inputs"].dtype), ((10, 1, 28, 28), np.float32))
                self.assertEqual((cases["outputs"].shape, cases["outputs"].dtype), ((10, 10), np.float32))
                self.assertEqual(cases["labels"].dtype, np.int32)
                np.testing.assert_array_equal(cases["labels"], np.arange(10))
                np.testing.assert_array_equal(cases["outputs"].argmax(1), cases["labels"])

    def test_pixels_are_bytes_divided_by_255(self):
        for name in MODELS:
            with self.subTest(name), np.load(HERE / f"{name}_cases.npz") as cases:
                pixels = np.rint(cases["inputs"] * 255).astype(np.uint8)
                np.testing.assert_array_equal(digits.to_input(pixels), cases["inputs"])
                self.assertEqual(int(pixels.max()), 255)

    def test_models_are_one_small_file_without_folders_of_a_machine(self):
        for name in MODELS:
            with self.subTest(name):
                data = (HERE / f"{name}.onnx").read_bytes()
                self.assertLess(len(data), 1 << 20)
                for trace in (b"stack_trace", b".py", b"external"):
                    self.assertNotIn(trace, data)


class Models(unittest.TestCase):
    """The `.nk` files; `quantize.py` writes them."""

    def test_each_carries_a_case_of_each_digit(self):
        for name in MODELS:
            for form, dtype in (("", np.float32), ("_int8", np.int8)):
                with self.subTest(name + form):
                    model = container.load(HERE.parent / f"{name}{form}.nk")
                    self.assertEqual([case.label for case in model.cases], list(range(10)))
                    self.assertTrue(all(case.inputs.dtype == dtype for case in model.cases))
                    for case in model.cases:
                        self.assertEqual(int(np.argmax(case.expected)), case.label)


if __name__ == "__main__":
    unittest.main()
