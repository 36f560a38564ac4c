# SPDX-License-Identifier: BSD-3-Clause
"""Tests plans, transfers and tickets as Python objects: garbage collector, weak references, quantised tensors."""
import asyncio
import gc
import unittest
import weakref

import numpy as np

import mli
import suite

if hasattr(mli, "serve"):
    import mli.aio


class Holder:
    """An array that may hold a reference to the object that uses it."""

    def __init__(self):
        self.array = np.arange(12, dtype=np.int8).reshape(3, 4)
        self.__array_interface__ = self.array.__array_interface__


class Subclass(np.ndarray):
    """A NumPy array with attributes."""


def subclass():
    return np.zeros((4, 3), np.int8).view(Subclass)


class Cycles(unittest.TestCase):
    def collected(self, *objects):
        """Returns whether the objects are collected; the caller has deleted the last names of these objects."""
        gc.collect()
        return [each() is None for each in objects] == [True] * len(objects)

    def test_plans(self):
        holder = Holder()
        holder.plan = mli.Plan(holder)
        died = [weakref.ref(holder), weakref.ref(holder.plan)]
        del holder
        self.assertTrue(self.collected(*died))

    def test_transfers(self):
        out = subclass()
        out.transfer = mli.Plan(Holder(), perm=(1, 0), out=out).start()
        out.transfer.result()
        died = [weakref.ref(out), weakref.ref(out.transfer)]
        del out
        self.assertTrue(self.collected(*died))

    def test_plans_that_run_stay(self):
        holder = Holder()
        holder.plan = mli.Plan(holder, perm=(1, 0))
        transfer = holder.plan.start()
        del holder
        gc.collect()
        np.testing.assert_array_equal(transfer.result(), Holder().array.T)

    def test_calls_of_finalizers(self):
        """A finalizer may still use the object that the collector is about to clear."""
        seen = []

        class Last(Holder):
            def __del__(self):
                seen.append(self.plan.run())
                seen.append(self.plan.moves)

        holder = Last()
        holder.plan = mli.Plan(holder)
        del holder
        gc.collect()
        np.testing.assert_array_equal(seen[0], Holder().array)
        self.assertEqual(seen[1], 1)

    @suite.needs_service
    def test_jobs(self):
        with mli.serve() as client:
            out = subclass()
            out.ticket = client.start(Holder(), perm=(1, 0), out=out)
            out.ticket.result()
            other = subclass()
            other.plan = client.plan(other)
            other.plan.start().result()
            died = [weakref.ref(out), weakref.ref(out.ticket), weakref.ref(other), weakref.ref(other.plan)]
            del out, other
            self.assertTrue(self.collected(*died))
            flying = subclass()
            flying.ticket = client.start(Holder(), perm=(1, 0), out=flying)
            flying = weakref.ref(flying)
            gc.collect()
            client.wait()
            self.assertTrue(self.collected(flying))


def quantised():
    return mli.QTensor(np.arange(12, dtype=np.int8).reshape(3, 4), [1, 2, 3], [4, 5, 6], axis=0)


MOVES = ({}, {"perm": (1, 0)}, {"slice": np.s_[1], "pad": 0}, {"pad": [(1, 0), (0, 2)], "step": (2, 1)})


class Quantised(unittest.TestCase):
    def check(self, result, expected):
        self.assertIsInstance(result, mli.QTensor)
        self.assertEqual(result.axis, expected.axis)
        np.testing.assert_array_equal(result.data, expected.data)
        np.testing.assert_array_equal(result.real(), expected.real())

    def target(self):
        return mli.QTensor(np.zeros((4, 6), np.int8), np.ones(6, int), axis=1)

    def test_plans(self):
        src = quantised()
        for move in MOVES:
            with self.subTest(move):
                expected = mli.move(src, **move)
                plan = mli.Plan(src, **move)
                self.check(plan.run(), expected)
                self.check(plan.start().result(), expected)
                self.assertIs(plan.run(), plan.out)
                self.check(asyncio.run(self.awaited(plan)), expected)
        plan = mli.Plan(src)
        src.data[0, 0] = 99
        self.assertEqual(plan.run().data[0, 0], 99)

    async def awaited(self, plan):
        return await plan.start()

    def test_targets(self):
        src, out = quantised(), self.target()
        expected = mli.move(src, perm=(1, 0), out=self.target(), at=(0, 2))
        plan = mli.Plan(src, perm=(1, 0), out=out, at=(0, 2))
        self.assertEqual(out.scale.tolist(), [1] * 6, "the parameters are those of the elements")
        self.assertIs(plan.run(), out)
        self.check(out, expected)
        out = self.target()
        transfer = mli.Plan(src, perm=(1, 0), out=out, at=(0, 2)).start()
        self.assertIs(transfer.result(), out)
        self.check(out, expected)
        array = np.zeros((5, 6), np.int8)
        self.check(mli.Plan(src, perm=(1, 0), out=array, at=1).run(),
                   mli.move(src, perm=(1, 0), out=np.zeros((5, 6), np.int8), at=1))

    def test_refusals(self):
        src = quantised()
        for arguments in ({"perm": (0, 0)}, {"out": np.zeros((3, 4), np.int16)}, {"out": self.target(), "at": (9, 9)},
                          {"out": self.target(), "at": (0,)}, {"pad": -1}):
            for call in (mli.move, mli.Plan):
                with self.subTest(arguments), self.assertRaises(mli.Error):
                    call(src, **arguments)
        with self.assertRaises(TypeError):
            mli.Plan(src, at="0", out=self.target())

    @suite.needs_service
    def test_jobs(self):
        src = quantised()
        with mli.serve() as client:
            for move in MOVES:
                with self.subTest(move):
                    expected = mli.move(src, **move)
                    self.check(client.submit(src, **move), expected)
                    ticket = client.start(src, **move)
                    self.check(ticket.result(), expected)
                    self.check(ticket.result(), expected)
                    plan = client.plan(src, **move)
                    self.check(plan.start().result(), expected)
                    self.check(plan.out, expected)
            expected = mli.move(src, perm=(1, 0), out=self.target(), at=(0, 2))
            for send in (lambda **a: client.submit(src, **a), lambda **a: client.start(src, **a).result(),
                         lambda **a: client.plan(src, **a).start().result()):
                out = self.target()
                self.assertIs(send(perm=(1, 0), out=out, at=(0, 2)), out)
                self.check(out, expected)
            with self.assertRaisesRegex(TypeError, "tensor.data"):
                client.start(src.data, out=self.target())
            with self.assertRaisesRegex(TypeError, "tensor.data"):
                client.plan(client.buffer((3, 4)).array()).start(src=src)

            async def scenario():
                async with await mli.aio.connect(client.path) as other:
                    self.check(await other.start(src, perm=(1, 0)), mli.move(src, perm=(1, 0)))
                    plan = await other.plan(src, perm=(1, 0))
                    self.check(await plan.start(), mli.move(src, perm=(1, 0)))
            asyncio.run(scenario())


if __name__ == "__main__":
    suite.main()
