# SPDX-License-Identifier: BSD-3-Clause
"""Plants mistakes in random arrays, and checks that the report names the right cause. For noise it must name no cause.
"""
import os
import unittest

import numpy as np

import suite
from mli._diagnosis import diagnose
from mli._differences import compare

SEED = int(os.environ.get("MLI_TEST_SEED", "1"))


class Diagnosis(unittest.TestCase):
    def setUp(self):
        print(f"MLI_TEST_SEED={SEED}")
        self.random = np.random.default_rng(SEED)

    def array(self, rank, dtype=np.int16):
        shape = [int(self.random.integers(5, 9)) if rank > 1 else 24 for _ in range(rank)]
        return self.random.integers(-30000, 30000, shape).astype(dtype)

    def test_orders_of_dimensions(self):
        array = self.array(3)[:5, :5, :5]
        self.assertEqual(diagnose(array.transpose(2, 0, 1), array),
                         "every value is expected[j, k, i] where expected[i, j, k] was wanted: wrong perm?")
        self.assertEqual(diagnose(array.transpose(2, 0, 1)[1, 2, 3], array[2, 3, 1]), "")
        i, j, k = 1, 2, 3
        self.assertEqual(array.transpose(2, 0, 1)[i, j, k], array[j, k, i])

    def test_mistakes(self):
        for rank in (1, 2, 3, 4):
            array = self.array(rank)
            axis = int(self.random.integers(rank))
            self.assertIn("reversed", diagnose(np.flip(array, axis), array))
            self.assertIn("wrapped around", diagnose(np.roll(array, 2, axis), array))
            pad = [(0, 0)] * rank
            pad[axis] = (1, 0)
            shifted = np.pad(array, pad)[tuple(slice(n) for n in array.shape)]
            self.assertIn("with zeros beyond the edge", diagnose(shifted, array))
            self.assertIn("wrong byte order?", diagnose(array.byteswap(), array))
            part = array.copy()
            part[:4] = 0
            self.assertIn("every wrong value is 0", diagnose(part, array))

    def test_noise(self):
        for _ in range(100):
            array = self.array(int(self.random.integers(1, 5)))
            self.assertEqual(diagnose(self.array(array.ndim, np.int16).ravel()[:1].repeat(array.size)
                                      .reshape(array.shape) + array, array), "")
            other = array.copy()
            other.flat[self.random.integers(array.size, size=5)] += 1
            self.assertEqual(diagnose(other, array), "")
        for kind in (np.zeros((4, 4)), np.ones((4, 4)), np.full((4, 4), np.nan), np.array(["a"] * 16)):
            self.assertEqual(diagnose(kind[::-1], kind), "")

    def test_reports(self):
        array = self.array(2)[:5, :5]
        report = compare(array.T, array).report()
        self.assertEqual(report.splitlines()[-1],
                         "  every value is expected[j, i] where expected[i, j] was wanted: wrong perm?")


if __name__ == "__main__":
    suite.main()
