# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.QTensor: its parameters, and its moves, compared with libmli through jobs of mlictl."""
import copy
import json
import os
import pickle
import subprocess
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

import numpy as np

import mli
import suite
from mli import _programs
from mli._qtensor import split_scale

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
CASES = 400
PARAMETERS = ("scale", "zero_point", "scale_frac_bits")


def random_tensor(rng, shape):
    dtype = rng.choice([np.int8, np.int32])
    limits = np.iinfo(dtype)
    data = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    axis = None if rng.random() < 0.2 else int(rng.integers(len(shape)))
    count = () if axis is None else shape[axis]
    parameters = [rng.integers(-2**15, 2**15, count), rng.integers(-2**15, 2**15, count),
                  rng.integers(-128, 128, count)]
    if axis is not None:  # one number for all indices
        parameters = [int(p[0]) if rng.random() < 0.2 else p for p in parameters]
    scale, zero_point, scale_frac_bits = parameters
    return mli.QTensor(data, scale, zero_point, axis, scale_frac_bits)


class RandomCase:
    """A random move of a quantised tensor, both as arguments of mli.move() and as members of a job."""

    def __init__(self, rng):
        rank = int(rng.integers(1, 5))
        shape = [int(n) for n in rng.integers(1, 7, rank)]
        self.tensor = random_tensor(rng, shape)
        pad = [[int(n) for n in rng.integers(0, 4, 2) * (rng.random() < 0.5)] for _ in shape]
        padded = [n + before + after for n, (before, after) in zip(shape, pad)]
        offset = [int(rng.integers(0, n)) if rng.random() < 0.6 else 0 for n in padded]
        size = [int(rng.integers(1, n - first + 1)) for n, first in zip(padded, offset)]
        step = [int(n) for n in rng.integers(1, 4, rank)]
        perm = [int(d) for d in rng.permutation(rank)]
        self.at = [int(n) for n in rng.integers(0, 4, rank) * (rng.random() < 0.6)]
        self.arguments = {"pad": pad, "step": step, "perm": perm,
                          "slice": tuple(slice(a, a + n) for a, n in zip(offset, size))}
        self.config = {"padding_pre": [before for before, _ in pad],
                       "padding_post": [after for _, after in pad], "offset": offset, "size": size,
                       "sub_sample_step": step, "perm_dim": perm, "dst_offset": self.at}
        self.shape = [-(-size[d] // step[d]) for d in perm]

    def move(self):
        """Returns the result of mli.move() as a job writes it: with the zeros before the offset
        `at`."""
        out = np.zeros([n + a for n, a in zip(self.shape, self.at)], self.tensor.data.dtype)
        return mli.move(self.tensor, out=out, at=self.at, **self.arguments)

    def __repr__(self):
        return f"{self.tensor}, {self.arguments}, at {self.at}"


@suite.needs_service
class Libmli(unittest.TestCase):
    """The parameters and the elements are the same as those of mli_mov_tensor_sync()."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_random_moves(self):
        cases = [RandomCase(np.random.default_rng([SEED, n])) for n in range(CASES)]
        jobs = []
        for n, case in enumerate(cases):
            np.save(self.folder / f"{n}.npy", case.tensor.data)
            jobs.append({"op": "mov", "src": {"file": f"{n}.npy", **case.tensor.params},
                         "cfg": case.config,
                         "dst": {"file": f"{n}.out.npy", "params": f"{n}.out.json"}})
        (self.folder / "jobs.json").write_text(json.dumps(jobs))
        done = subprocess.run([_programs.find("mlictl"), "run", "-q", "jobs.json"], cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for n, case in enumerate(cases):
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {n}: {case}"):
                result = case.move()
                params = json.loads((self.folder / f"{n}.out.json").read_text())
                self.assertEqual(result.params, params)
                np.testing.assert_array_equal(result.data, np.load(self.folder / f"{n}.out.npy"))
                self.assertEqual(mli.QTensor.from_params(result.data, params).params, params)


class Moves(unittest.TestCase):
    def setUp(self):
        self.weights = mli.QTensor(np.arange(6, dtype=np.int8).reshape(2, 3), [10, 20, 30], 5, 1, 3)

    def same(self, tensor, axis, scale):
        self.assertEqual(tensor.axis, axis)
        self.assertEqual(tensor.scale.tolist(), scale)

    def test_permute_and_step(self):
        self.same(mli.permute(self.weights, (1, 0)), 0, [10, 20, 30])
        self.same(mli.move(self.weights, step=(1, 2), slice=np.s_[:, 0:]), 1, [10, 30])

    def test_real_values_move(self):
        moved = mli.move(self.weights, slice=np.s_[1:, ::-1][0:1], perm=(1, 0))
        np.testing.assert_array_equal(moved.real(), self.weights.real()[1:].T)

    def test_chosen_index(self):
        column = mli.move(self.weights, slice=np.s_[:, 1])
        self.same(column, None, 20)
        np.testing.assert_array_equal(column.real(), self.weights.real()[:, 1])
        self.same(mli.move(self.weights, slice=np.s_[1]), 0, [10, 20, 30])
        self.same(mli.move(self.weights, pad=1, slice=np.s_[:, 0]), None, 1)

    def test_out_is_an_array(self):
        out = np.zeros((4, 6), np.int8)
        moved = mli.move(self.weights, out=out, at=(1, 2))
        self.assertIs(moved.data, out)
        self.same(moved, 1, [1, 1, 10, 20, 30, 1])

    def test_out_is_quantised(self):
        whole = mli.QTensor(np.zeros((2, 6), np.int8), 7, 5, 1, 3)
        self.assertIs(mli.move(self.weights, out=whole, at=(0, 2), channels=2), whole)
        self.same(whole, 1, [7, 7, 10, 20, 30, 7])
        np.testing.assert_array_equal(whole.real()[:, 2:5], self.weights.real())

    def test_out_with_other_elements(self):
        whole = mli.QTensor(np.zeros((3, 6), np.int8), 7, 5, 1, 3)
        with self.assertRaisesRegex(mli.Error, "out: the parameters at index 2"):
            mli.move(self.weights, out=whole, at=(0, 2))
        self.assertFalse(whole.data.any())
        whole.scale[2:5] = 10, 20, 30
        mli.move(self.weights, out=whole, at=(1, 2))
        np.testing.assert_array_equal(whole.data[1:, 2:5], self.weights.data)

    def test_out_of_the_tensor(self):
        scalar = mli.QTensor(np.ones((2, 3), np.int8), 9)
        per_axis = mli.QTensor(np.zeros((2, 6), np.int8), 7, 0, 1)
        mli.move(scalar, out=per_axis, at=(0, 1))
        self.same(per_axis, 1, [7, 9, 9, 9, 7, 7])
        whole = mli.QTensor(np.zeros((2, 3), np.int8), 1)
        mli.move(scalar, out=whole)
        self.same(whole, None, 9)
        with self.assertRaisesRegex(mli.Error, "out: the parameters must be equal"):
            mli.move(scalar, out=mli.QTensor(np.zeros((3, 3), np.int8), 1), at=(1, 0))
        with self.assertRaisesRegex(mli.Error, "out.axis: 1 is required"):
            mli.move(self.weights, out=whole)

    def test_empty_results(self):
        self.same(mli.move(self.weights, slice=np.s_[:, 3:]), 1, [])
        whole = mli.QTensor(np.zeros((2, 6), np.int8), 7, 5, 1, 3)
        mli.move(self.weights, slice=np.s_[2:], out=whole, at=(0, 0))
        self.same(whole, 1, [7] * 6)

    def test_concatenate(self):
        other = mli.QTensor(np.ones((2, 1), np.int8), 40, 6, 1, 2)
        joined = mli.concatenate([self.weights, other], axis=-1)
        self.same(joined, 1, [10, 20, 30, 40])
        np.testing.assert_array_equal(
            joined.real(), np.concatenate([self.weights.real(), other.real()], axis=1))
        self.same(mli.concatenate([self.weights] * 2), 1, [10, 20, 30])
        out = mli.QTensor(np.zeros((2, 4), np.int8), 0, axis=1)
        self.assertIs(mli.concatenate([self.weights, other], 1, out=out), out)
        self.assertEqual(out.params, joined.params)
        array = np.zeros((2, 4), np.int8)
        self.assertIs(mli.concatenate([self.weights, other], 1, out=array).data, array)

    def test_concatenate_refused(self):
        other = mli.QTensor(np.ones((2, 3), np.int8), [10, 20, 31], 5, 1, 3)
        refused = [("parameters of arrays\\[0\\]", [self.weights, other]),
                   ("arrays\\[1\\].axis", [self.weights, mli.QTensor(other.data, 1)]),
                   ("shape", [self.weights, mli.QTensor(other.data[:, :2], 1, axis=1)])]
        for words, arrays in refused:
            with self.assertRaisesRegex(mli.Error, words):
                mli.concatenate(arrays)
        for arrays in ([self.weights, other.data], [other.data, self.weights]):
            with self.assertRaisesRegex(TypeError, "a QTensor is required"):
                mli.concatenate(arrays)
        with self.assertRaisesRegex(mli.Error, "out.axis"):
            mli.concatenate([self.weights], out=mli.QTensor(other.data, 1))

    def test_check(self):
        layout = mli.check(self.weights, pad=1, perm=(1, 0))
        moved = mli.move(self.weights, pad=1, perm=(1, 0))
        self.assertEqual((layout.shape, layout.axis, layout.bytes), (moved.shape, 0, moved.data.nbytes))
        for name in PARAMETERS:
            np.testing.assert_array_equal(getattr(layout, name), getattr(moved, name))

    def test_results_own_their_parameters(self):
        moved = mli.move(self.weights)
        moved.scale[:] = 0
        self.same(self.weights, 1, [10, 20, 30])

    def test_refused_as_arrays(self):
        for arguments in ({"perm": (0, 0)}, {"at": (0, 0)}, {"channels": 99}, {"pad": -1}):
            with self.subTest(arguments), self.assertRaises(mli.Error):
                mli.move(self.weights, **arguments)
        with self.assertRaises(mli.Error):
            mli.move(self.weights, out=np.zeros((2, 3), np.int32))
        with self.assertRaises(TypeError):
            mli.move(self.weights, out=3)

    def test_source_as_keyword(self):
        self.same(mli.move(src=self.weights, pad=1), 1, [1, 10, 20, 30, 1])
        with self.assertRaises(TypeError):
            mli.move(np.zeros(3, np.int8), out=self.weights)


class Parameters(unittest.TestCase):
    def setUp(self):
        self.data = np.zeros((2, 3), np.int8)

    def test_scalars_and_axes(self):
        tensor = mli.QTensor(self.data, 77, -3)
        self.assertEqual(tensor.params, {"type": "sa8", "scale": 77, "scale_frac_bits": 0,
                                         "zero_point": -3})
        self.assertEqual((tensor.scale.dtype, tensor.zero_point.dtype, tensor.scale_frac_bits.dtype),
                         (np.int16, np.int16, np.int8))
        self.assertIs(tensor.data, self.data)
        tensor = mli.QTensor(self.data, np.array([1, 2, 3], np.int64), axis=-1)
        self.assertEqual((tensor.axis, tensor.zero_point.tolist()), (1, [0, 0, 0]))
        self.assertIn("axis 1, scale [1 2 3]", repr(tensor))
        self.assertEqual(mli.move(mli.QTensor(np.int8(3), 2)).real().shape, ())
        self.assertEqual(pickle.loads(pickle.dumps(tensor)).params, tensor.params)

    def test_refused(self):
        refused = [
            ("scale: \\(2,\\) given; an `axis`", ([1, 2],), {}),
            ("scale: \\(2,\\) given; .* 3 numbers for axis 1", ([1, 2],), {"axis": 1}),
            ("scale\\[1\\]: 40000 given; -32768 to 32767", ([1, 40000, 2],), {"axis": 1}),
            ("scale: 32768 given", (32768,), {}),
            ("zero_point: -32769 given", (1, -32769), {}),
            ("scale_frac_bits: 128 given; -128 to 127", (1,), {"scale_frac_bits": 128}),
            ("axis: 2 given; -2 to 1", (1,), {"axis": 2}),
        ]
        for words, args, kwargs in refused:
            with self.subTest(words), self.assertRaisesRegex(mli.Error, words) as caught:
                mli.QTensor(self.data, *args, **kwargs)
            self.assertEqual(caught.exception.status, "SPEC_PARAM_MISMATCH")
        with self.assertRaisesRegex(mli.Error, "float32.* given; int8 .sa8. or int32"):
            mli.QTensor(np.zeros(3, np.float32), 1)
        with self.assertRaisesRegex(mli.Error, "a tensor of rank 0 has no axis"):
            mli.QTensor(np.int8(3), 1, axis=0)
        with self.assertRaisesRegex(TypeError, "a QTensor is not an array"):
            np.asarray(mli.QTensor(self.data, 1))
        for scale in (0.5, True, [0.5], "x"):
            with self.assertRaisesRegex(TypeError, "from_float"):
                mli.QTensor(self.data, scale)
        with self.assertRaises(mli.Error):
            mli.QTensor.from_params(self.data, {"type": "sa32"})

    def test_names(self):
        """A dictionary of parameters has no other members, and a tensor no other attributes."""
        for words, params in (
                ("params: 'scales' given; did you mean 'scale'", {"type": "sa8", "scales": [20, 30], "axis": 0}),
                ("params: 'frac_bits' given; did you mean 'scale_frac_bits'", {"scale": 1, "frac_bits": 2}),
                ("params: 7 given; allowed are type, axis, scale", {"scale": 1, 7: 7}),
                ("params: the member 'scale' is required", {})):
            with self.subTest(params), self.assertRaisesRegex(mli.Error, words):
                mli.QTensor.from_params(self.data, params)
        self.assertEqual(mli.QTensor.from_params(self.data, {"scale": 5}).params["zero_point"], 0)

    def test_params_of_an_empty_axis(self):
        empty = mli.QTensor(np.zeros((2, 0), np.int8), scale=[], zero_point=[], axis=1)
        self.assertEqual(mli.QTensor.from_params(empty.data, empty.params), empty)
        with self.assertRaises(mli.Error):
            mli.QTensor(np.zeros((2, 1), np.int8), scale=[], axis=1)
        with self.assertRaises(AttributeError):
            mli.QTensor(self.data, 1).scales = 3

    def test_assignments(self):
        tensor = mli.QTensor(np.ones((2, 2), np.int8), [3, 5], axis=0)
        with self.assertRaisesRegex(AttributeError, "axis cannot be changed"):
            tensor.axis = 1
        for value in (np.ones((2, 3), np.int8), np.int8(1)):
            with self.assertRaisesRegex(mli.Error, "the shape \\(2, 2\\) is required"):
                tensor.data = value
        with self.assertRaisesRegex(mli.Error, "data: 'float64' given; int8"):
            tensor.data = np.ones((2, 2))
        with self.assertRaisesRegex(mli.Error, "scale: \\(3,\\) given; a number, or 2"):
            tensor.scale = [1, 2, 3]
        with self.assertRaisesRegex(mli.Error, "zero_point: 40000 given"):
            tensor.zero_point = 40000
        self.assertEqual(tensor.real().tolist(), [[3, 3], [5, 5]])
        tensor.data = np.full((2, 2), 2, np.int32)
        tensor.data += 1
        tensor.scale *= 2
        tensor.zero_point = [0, 1]
        tensor.scale_frac_bits = 1
        self.assertEqual(tensor.real().tolist(), [[9, 9], [10, 10]])

    def test_as_an_array(self):
        tensor = mli.QTensor(np.ones((2, 3), np.int32), 1)
        self.assertEqual((len(tensor), tensor.ndim, tensor.dtype, tensor.shape), (2, 2, np.int32, (2, 3)))

    def test_equality(self):
        def make(data=self.data, scale=(1, 2, 3), axis=1, zero_point=0):
            return mli.QTensor(data, scale if axis is not None else 1, zero_point, axis)

        self.assertTrue(make() == make(self.data.copy()))
        self.assertFalse(make() != copy.copy(make()))
        self.assertTrue(make(axis=None) == make(axis=None))
        for other in (make(axis=None), make(axis=0, scale=1), make(scale=(1, 2, 4)), make(zero_point=1),
                      make(self.data + np.int8(1)), make(self.data.astype(np.int32)),
                      make(np.zeros((3, 3), np.int8)), 3, None):
            self.assertFalse(make() == other)
            self.assertTrue(make() != other)
        with self.assertRaises(TypeError):
            hash(make())
        with self.assertRaisesRegex(TypeError, "compare its elements"):
            self.assertFalse(make() == self.data)

    def test_real(self):
        rng = np.random.default_rng(SEED)
        tensor = random_tensor(rng, (3, 4, 5))
        real = tensor.real()
        for index in np.ndindex(tensor.shape):
            k = () if tensor.axis is None else index[tensor.axis]
            value = (int(tensor.data[index]) - int(tensor.zero_point[k])) * Fraction(
                int(tensor.scale[k])) / Fraction(2) ** int(tensor.scale_frac_bits[k])
            self.assertEqual(Fraction(real[index]), value, f"MLI_TEST_SEED={SEED}")

    def test_from_float_is_nearest(self):
        """No other pair of integers (scale and shift) is nearer to a real scale."""
        rng = np.random.default_rng(SEED)
        scales = np.concatenate([
            np.exp2(rng.uniform(-110, 140, 300)) * rng.choice([-1, 1], 300), [0, 1, -1, 0.1, 1 / 3],
            rng.integers(-2**17, 2**17, 200) / 2**8, np.exp2(np.arange(-120, 140.0)),
            32767.5 * np.exp2(np.arange(-20, 20)), -32768.5 * np.exp2(np.arange(-20, 20))])
        found, bits = split_scale(scales)
        for real, scale, frac_bits in zip(map(Fraction, scales), found, bits):
            error = abs(Fraction(int(scale)) / Fraction(2) ** int(frac_bits) - real)
            for other_bits in range(max(-128, frac_bits - 18), min(127, frac_bits + 18) + 1):
                other = max(-32768, min(32767, round(real * Fraction(2) ** other_bits)))
                other_error = abs(Fraction(other) / Fraction(2) ** other_bits - real)
                self.assertLessEqual(error, other_error, f"MLI_TEST_SEED={SEED}, {float(real)}")

    def test_from_float(self):
        tensor = mli.QTensor.from_float(self.data, [0.5, 3, 65536], zero_point=[1, 2, 3], axis=1)
        self.assertEqual(tensor.params, {"type": "sa8", "axis": 1, "scale": [1, 3, 16384],
                                         "scale_frac_bits": [1, 0, -2], "zero_point": [1, 2, 3]})
        self.assertEqual(mli.QTensor.from_float(self.data, 0).params["scale_frac_bits"], 0)
        self.assertEqual(mli.QTensor.from_float(self.data, 2.0**-127).params["scale_frac_bits"], 127)
        for scale in (np.inf, np.nan, 2.0**144, 2.0**-140):
            with self.subTest(scale), self.assertRaises(mli.Error):
                mli.QTensor.from_float(self.data, scale)


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    suite.main()
