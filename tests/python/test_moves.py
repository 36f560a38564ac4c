# SPDX-License-Identifier: BSD-3-Clause
"""mli.move() against NumPy."""
import os
import unittest

import numpy as np

import mli
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
CASES = 100_000 * PERCENT // 100


def bytes_of(array):
    """Returns the bytes of an array: NaN and NaT equal nothing, and voids have no order."""
    return np.ascontiguousarray(array).tobytes()


class Random(unittest.TestCase):
    def test_new_results(self):
        for case in range(CASES // 2):
            move = RandomMove(np.random.default_rng([SEED, 1, case]))
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {case}: {move}"):
                result = mli.move(move.src, **move.arguments)
                self.assertEqual(result.dtype, move.src.dtype)
                self.assertEqual(result.shape, move.expected.shape)
                self.assertEqual(bytes_of(result), bytes_of(move.expected))

    def test_placed_results(self):
        for case in range(CASES // 2):
            move = RandomMove(np.random.default_rng([SEED, 2, case]))
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {case}: {move}"):
                out, at = move.destination()
                whole = out if out.base is None else out.base  # the memory around `out` too
                expected = out.copy()
                place = tuple(slice(a, a + n) for a, n in zip(at, move.expected.shape))
                expected[place] = move.expected
                before = whole.tobytes()
                saved = out.copy()
                self.assertIs(mli.move(move.src, out=out, at=at, **move.arguments), out)
                self.assertEqual(bytes_of(out), bytes_of(expected))
                out[...] = saved
                self.assertEqual(whole.tobytes(), before, "bytes outside the result have changed")


class Zeros(unittest.TestCase):
    def test_windows_without_samples(self):
        """Up to 255 zeros on each side of a sample that the step skips."""
        for dtype in (np.int8, np.float64, np.complex128):
            src = np.ones(1, dtype)
            for before, after in ((1, 255), (200, 200), (255, 255), (510, 509), (1000, 400)):
                with self.subTest(dtype=dtype, before=before, after=after):
                    index = np.s_[(before + 1) % 2::2]
                    expected = np.pad(src, (before, after))[index]
                    out = np.full(expected.shape, 7, dtype)
                    mli.move(src, pad=(before, after), slice=index, out=out)
                    np.testing.assert_array_equal(out, expected)


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    unittest.main(verbosity=2)
