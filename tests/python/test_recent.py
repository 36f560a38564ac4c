# SPDX-License-Identifier: BSD-3-Clause
"""Tests moves that use the same argument objects again: mli remembers how it has read them."""
import gc
import os
import random
import sys
import unittest
import weakref

import numpy as np

import mli
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
ROUNDS = 20_000 * PERCENT // 100


def constant(arguments):
    """Returns the arguments as tuples, which cannot change, like literals in a program."""
    fixed = dict(arguments)
    if "pad" in fixed:
        fixed["pad"] = tuple(fixed["pad"])
    for name in {"step", "perm"} & fixed.keys():
        fixed[name] = tuple(fixed[name])
    return fixed


def fresh(arguments):
    """Returns equal arguments as lists. mli must read lists again in each call, because they may
    change."""
    lists = {name: list(value) for name, value in arguments.items() if name != "slice"}
    if "slice" in arguments:
        lists["slice"] = tuple(np.array(item) if isinstance(item, int) else item
                               for item in arguments["slice"])
    return lists


def outcome(call):
    """Returns what a move does: its result, or its exception."""
    try:
        result = call()
    except (mli.Error, TypeError) as error:
        return type(error), getattr(error, "status", None), getattr(error, "field", None)
    return result.dtype, result.shape, np.ascontiguousarray(result).tobytes()


class Scene:
    """Combines a few sources with a few arguments in every way."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        rank = self.rng.randrange(1, 5)
        moves = []
        while len(moves) < 4:
            move = RandomMove([seed, len(moves), self.rng.random()], rank_max=rank, elements=300)
            if move.src.ndim == rank:
                moves.append(move)
        self.arguments = [constant(move.arguments) for move in moves]
        self.sources = [move.src for move in moves]
        self.sources += [move.src.copy() for move in moves]  # of the shape, with other strides
        self.sources += [move.src[::-1].copy()[::-1] if rank == 1 else np.array(move.src, order="F")
                         for move in moves]

    def choose(self):
        return self.rng.choice(self.sources), self.rng.choice(self.arguments)


class Random(unittest.TestCase):
    def test_new_results(self):
        for case in range(ROUNDS // 20):
            scene = Scene(f"{SEED}.1.{case}")
            for _ in range(20):
                src, arguments = scene.choose()
                with self.subTest(f"MLI_TEST_SEED={SEED}, case {case}", strides=src.strides,
                                  shape=src.shape, arguments=arguments):
                    self.assertEqual(outcome(lambda: mli.move(src, **arguments)),
                                     outcome(lambda: mli.move(src, **fresh(arguments))))

    def test_given_results(self):
        for case in range(ROUNDS // 20):
            scene = Scene(f"{SEED}.2.{case}")
            at = (1,) * scene.sources[0].ndim
            for _ in range(20):
                src, arguments = scene.choose()
                placed = {"at": at} if scene.rng.random() < 0.5 else {}
                out = np.zeros([scene.rng.choice([n, n + 1]) for n in (src.T if scene.rng.random() < 0.3
                                                                      else src).shape], src.dtype)
                out = out if scene.rng.random() < 0.5 else np.asfortranarray(out)
                other = out.copy(order="K")
                with self.subTest(f"MLI_TEST_SEED={SEED}, case {case}", strides=src.strides,
                                  shape=src.shape, arguments=arguments, out=out.strides):
                    self.assertEqual(
                        outcome(lambda: mli.move(src, out=out, **arguments, **placed)),
                        outcome(lambda: mli.move(src, out=other, **fresh(arguments), **fresh(placed))))
                    self.assertEqual(out.tobytes(), other.tobytes())


class Index:
    """An object whose value as an integer changes."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Changes(unittest.TestCase):
    """Arguments that have another value in the next call."""

    def setUp(self):
        self.src = np.arange(12, dtype=np.int16).reshape(3, 4)

    def check(self, arguments, change, expected_before, expected_after):
        for _ in range(3):
            np.testing.assert_array_equal(mli.move(self.src, **arguments), expected_before)
        change()
        for _ in range(3):
            np.testing.assert_array_equal(mli.move(self.src, **arguments), expected_after)

    def test_list(self):
        perm = [1, 0]
        self.check({"perm": perm}, perm.reverse, self.src.T, self.src)

    def test_array(self):
        step = np.array([1, 2])
        self.check({"step": step}, lambda: step.fill(1), self.src[:, ::2], self.src)

    def test_pair_in_a_tuple(self):
        pair = [0, 1]
        self.check({"pad": (pair, (0, 0))}, lambda: pair.__setitem__(1, 0),
                   np.pad(self.src, ((0, 1), (0, 0))), self.src)

    def test_limit_of_a_slice(self):
        stop = Index(2)
        index = np.s_[:stop, 1:]
        self.check({"slice": index}, lambda: setattr(stop, "value", 3), self.src[:2, 1:],
                   self.src[:3, 1:])

    def test_limit_of_the_only_slice(self):
        stop = np.array(1)
        index = slice(stop)
        self.check({"slice": index}, lambda: stop.fill(3), self.src[:1], self.src)

    def test_index(self):
        row = Index(0)
        index = (row, slice(None))
        self.check({"slice": index}, lambda: setattr(row, "value", 2), self.src[0], self.src[2])


class Memory(unittest.TestCase):
    def test_arrays_are_not_kept(self):
        perm = (1, 0)
        arrays = []

        class Array(np.ndarray):
            pass

        for _ in range(3):
            src, out = (np.zeros((4, 4), np.uint8).view(Array) for _ in range(2))
            mli.move(src, perm=perm, out=out)
            arrays += [weakref.ref(src), weakref.ref(out)]
        del src, out
        gc.collect()
        self.assertEqual([array() for array in arrays], [None] * len(arrays))

    def test_few_arguments_are_kept(self):
        src = np.zeros((2, 2), np.uint8)
        perms = [tuple([1, 0]) for _ in range(1000)]

        def references():
            return [sys.getrefcount(perm) for perm in perms]

        before = references()
        for perm in perms:
            mli.move(src, perm=perm)
        del perm
        kept = sum(now - count for now, count in zip(references(), before))
        self.assertGreaterEqual(kept, 1)
        self.assertLessEqual(kept, 16)

    def test_overlap_is_found_again(self):
        memory = np.zeros(64, np.uint8)
        perm = (1, 0)
        for _ in range(2):
            mli.move(memory[:16].reshape(4, 4), perm=perm, out=memory[16:32].reshape(4, 4))
            with self.assertRaisesRegex(mli.Error, "overlap"):
                mli.move(memory[:16].reshape(4, 4), perm=perm, out=memory[8:24].reshape(4, 4))

    def test_other_type_is_refused(self):
        perm = (1, 0)
        out = np.zeros((2, 2), np.int8)
        mli.move(np.zeros((2, 2), np.int8), perm=perm, out=out)
        with self.assertRaises(mli.Error):
            mli.move(np.zeros((2, 2), np.uint8), perm=perm, out=out)
        out.flags.writeable = False
        with self.assertRaises(mli.Error):
            mli.move(np.zeros((2, 2), np.int8), perm=perm, out=out)


if __name__ == "__main__":
    unittest.main()
