# SPDX-License-Identifier: BSD-3-Clause
"""Compares mli.move() with NumPy."""
import os
import tempfile
import unittest

import numpy as np

import mli
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
CASES = 100_000 * PERCENT // 100


def bytes_of(array):
    """Returns the bytes of an array, because NaN and NaT are not equal to themselves, and voids have no order."""
    return np.ascontiguousarray(array).tobytes()


class Random(unittest.TestCase):
    def test_new_results(self):
        for case in range(CASES // 2):
            move = RandomMove([SEED, 1, case])
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {case}: {move}"):
                result = mli.move(move.src, **move.arguments)
                self.assertEqual(result.dtype, move.src.dtype)
                self.assertEqual(result.shape, move.expected.shape)
                self.assertEqual(bytes_of(result), bytes_of(move.expected))

    def test_placed_results(self):
        for case in range(CASES // 2):
            move = RandomMove([SEED, 2, case])
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
        """Each sample has up to 255 zeros before and after it, which the step skips."""
        for dtype in (np.int8, np.float64, np.complex128):
            src = np.ones(1, dtype)
            for before, after in ((1, 255), (200, 200), (255, 255), (510, 509), (1000, 400)):
                with self.subTest(dtype=dtype, before=before, after=after):
                    index = np.s_[(before + 1) % 2::2]
                    expected = np.pad(src, (before, after))[index]
                    out = np.full(expected.shape, 7, dtype)
                    mli.move(src, pad=(before, after), slice=index, out=out)
                    np.testing.assert_array_equal(out, expected)


class Large(unittest.TestCase):
    """Arrays that span more bytes than one move of libmli can access: their memory is a sparse file."""

    def test_wide_strides(self):
        rng = np.random.default_rng(SEED)
        with tempfile.TemporaryFile() as file:
            file.truncate(20 << 30)
            memory = np.memmap(file, np.uint8, "r+")
            for step in ((2 << 30) + 8, 1 << 30, (4 << 30) - 4096):
                rows = np.lib.stride_tricks.as_strided(memory, (4, 1000), (step, 1))
                expected = rng.integers(0, 256, rows.shape, np.uint8)
                self.assertIs(mli.move(expected, out=rows), rows)
                np.testing.assert_array_equal(rows, expected)
                np.testing.assert_array_equal(mli.move(rows, perm=(1, 0)), expected.T)
                np.testing.assert_array_equal(mli.Plan(rows, pad=1).start().result(),
                                              np.pad(expected, 1))
                wide = rows.view(np.int64)
                np.testing.assert_array_equal(mli.move(wide, perm=(1, 0)), expected.view(np.int64).T)

    def test_windows_far_away(self):
        with tempfile.TemporaryFile() as file:
            file.truncate(20 << 30)
            memory = np.memmap(file, np.uint8, "r+").reshape(5, 2, 1 << 31)
            memory[3, 1, -5:] = range(5)
            np.testing.assert_array_equal(mli.move(memory, slice=np.s_[3, 1, -6:]), [0, 0, 1, 2, 3, 4])
            np.testing.assert_array_equal(mli.move(memory, slice="2:4, 1:, -3:")[:, 0],
                                          [[0, 0, 0], [2, 3, 4]])


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    unittest.main(verbosity=2)
