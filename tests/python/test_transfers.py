# SPDX-License-Identifier: BSD-3-Clause
"""Tests plans and transfers with channels, asyncio, threads, forks, and at the end of the interpreter."""
import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import unittest
import weakref

import numpy as np

import mli
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
SLOW = "fault:threads,tiny=0,delay_us=200000"  # every work item takes 0.2 s longer


class Engine:
    """Chooses an engine for a test."""

    def __init__(self, engine, channels=4):
        self.arguments = engine, channels

    def __enter__(self):
        gc.collect()
        mli.configure(*self.arguments)

    def __exit__(self, *_):
        mli.configure("threads", 2)


class Plans(unittest.TestCase):
    def test_each_run_reads_the_source_again(self):
        src = np.zeros((3, 4), np.int16)
        plan = mli.Plan(src, perm=(1, 0), pad=1)
        for value in range(3):
            src[...] = value
            np.testing.assert_array_equal(plan.run()[1:-1, 1:-1], np.full((4, 3), value))
        self.assertEqual((plan.shape, plan.bytes, plan.moves), ((6, 5), 60, 1))
        self.assertIs(plan.run(), plan.out)

    def test_random_plans(self):
        for engine in ("threads:tiny=0", "inline", "fault:threads,tiny=0,reorder_pct=50,delay_us=20"):
            with Engine(engine):
                self.random_plans(engine, 300 * PERCENT // 100 + 20)

    def random_plans(self, engine, count):
        for first in range(0, count, 20):  # more than there are channels: some wait
            batch = []
            for case in range(first, first + 20):
                rng = np.random.default_rng([SEED, case])
                move = RandomMove([SEED, case])
                plan = mli.Plan(move.src, channels=int(rng.integers(1, 17)), **move.arguments)
                batch.append((case, move, plan.start()))
            for case, move, transfer in batch:
                with self.subTest(f"MLI_TEST_SEED={SEED}, {engine}, case {case}: {move}"):
                    self.assertEqual(transfer.result().tobytes(), move.expected.tobytes())
                    self.assertTrue(transfer.done())

    def test_several_channels(self):
        src = np.random.default_rng(SEED).integers(0, 256, (512, 1024), np.uint8)
        np.testing.assert_array_equal(mli.move(src, perm=(1, 0), channels=4), src.T)
        np.testing.assert_array_equal(mli.Plan(src, channels=2).run(), src)

    def test_one_transfer_at_a_time(self):
        with Engine(SLOW):
            plan = mli.Plan(np.ones(1000, np.int8))
            transfer = plan.start()
            for call in (plan.start, plan.run):
                with self.assertRaisesRegex(mli.Error, "runs already"):
                    call()
            transfer.result()
            plan.start().result()

    def test_configure(self):
        with self.assertRaisesRegex(mli.Error, "nonesuch|not an engine"):
            mli.configure("nonesuch")
        with self.assertRaisesRegex(mli.Error, "channels: 17 given"):
            mli.configure("threads", 17)
        with Engine("inline", 3):
            self.assertEqual(mli.engine(), ("inline", 3))
        with Engine(SLOW):
            transfer = mli.Plan(np.ones(1000, np.int8)).start()
            for words in ("bogus", "threads"):  # never the reason of an earlier call
                with self.assertRaisesRegex(mli.Error, "^a transfer runs: wait for its end"):
                    mli.configure(words)
            transfer.result()
            with self.assertRaisesRegex(mli.Error, "not an engine"):
                mli.configure("bogus")


class Ends(unittest.TestCase):
    """Transfers that are cancelled, that fail, or whose object is deleted."""

    def slow_transfer(self):
        return mli.Plan(np.ones(1000, np.int8)).start()

    def test_timeout(self):
        with Engine(SLOW):
            transfer = self.slow_transfer()
            with self.assertRaises(TimeoutError):
                transfer.result(timeout=0.001)
            self.assertFalse(transfer.done())
            transfer.result(timeout=60)

    def test_cancel(self):
        with Engine("fault:threads,tiny=0,stick=1", 1):
            running, queued = self.slow_transfer(), self.slow_transfer()
            queued.cancel()
            self.assertTrue(queued.done())
            running.cancel()
            for transfer in (running, queued):
                with self.assertRaises(mli.Error) as caught:
                    transfer.result(timeout=60)
                self.assertEqual(caught.exception.status, "CANCELLED")
            self.slow_transfer().result(timeout=60)
            running.cancel()

    def test_failing_channels(self):
        with Engine("fault:threads,tiny=0,fail_pct=100"):
            with self.assertRaises(mli.Error) as caught:
                self.slow_transfer().result()
            self.assertEqual(caught.exception.status, "DMA_ERROR")

    def test_forgotten_transfers(self):
        with Engine(SLOW):
            src = np.arange(1000, dtype=np.int16)
            out = np.zeros_like(src)
            plan = mli.Plan(src, out=out)
            died = weakref.ref(src)
            transfer = plan.start()
            del src, plan, transfer
            gc.collect()
            self.assertIsNotNone(died(), "the memory of a running transfer was freed")
            while died() is not None:
                mli.move(np.zeros(1))
                mli.Plan(np.zeros(1))  # reaps
                time.sleep(0.01)
            np.testing.assert_array_equal(out, np.arange(1000))

    def test_buffers_are_locked(self):
        with Engine(SLOW):
            memory = bytearray(1000)
            transfer = mli.Plan(memory).start()
            with self.assertRaises(BufferError):
                memory.clear()
            transfer.result()

    def test_keyboard_interrupt(self):
        code = """
            import _thread, threading, numpy, mli
            mli.configure("fault:threads,tiny=0,stick=1")
            threading.Timer(0.3, _thread.interrupt_main).start()
            try:
                mli.Plan(numpy.ones(1000)).start().result()
            except KeyboardInterrupt:
                print("interrupted")
        """
        self.assertEqual(run(code), "interrupted\n")

    def test_an_interrupt_cancels_the_transfer(self):
        code = """
            import _thread, threading, numpy, mli
            mli.configure("fault:threads,tiny=0,stick=1")
            transfer = mli.Plan(numpy.ones(1000)).start()
            threading.Timer(0.3, _thread.interrupt_main).start()
            try:
                transfer.result()
            except KeyboardInterrupt:
                try:
                    transfer.result(timeout=20)
                except mli.Error as error:
                    print(error.status)
        """
        self.assertEqual(run(code), "CANCELLED\n")

    def test_exit_with_running_transfers(self):
        for engine in (SLOW, "fault:threads,tiny=0,stick=1"):
            code = f"""
                import numpy, mli
                mli.configure("{engine}", 2)
                plans = [mli.Plan(numpy.ones(1000)) for _ in range(5)]
                transfers = [plan.start() for plan in plans]
                print("end")
            """
            self.assertEqual(run(code), "end\n")

    def test_starts_after_the_end(self):
        code = """
            import atexit, numpy
            @atexit.register
            def late():
                print(mli.move(numpy.ones(2)))
                try:
                    mli.Plan(numpy.ones(1000)).start()
                except mli.Error as error:
                    print("refused")
            import mli
        """
        self.assertEqual(run(code), "[1. 1.]\nrefused\n")


def run(code):
    """Runs a program; returns its output."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
                          capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Forks(unittest.TestCase):
    def test_children_move(self):
        code = """
            import os, numpy, mli
            numpy_of = lambda: mli.Plan(numpy.arange(100000.0), channels=2).start().result().sum()
            assert numpy_of() == 4999950000.0
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    assert numpy_of() == 4999950000.0
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            print(numpy_of())
        """
        self.assertEqual(run(code), "4999950000.0\n")

    def test_fork_during_transfers(self):
        code = f"""
            import os, numpy, mli
            mli.configure("{SLOW}", 1)
            plans = [mli.Plan(numpy.arange(100000.0)) for _ in range(2)]
            transfers = [plan.start() for plan in plans]
            child = os.fork()
            if child == 0:
                for transfer in transfers:
                    try:
                        transfer.result(timeout=10)
                    except mli.Error as error:
                        assert error.status == "CANCELLED"
                        assert "the parent process started it before the fork" in str(error)
                    else:
                        raise AssertionError
                assert plans[0].start().result().sum() == 4999950000.0
                try:
                    mli.configure("threads")
                except mli.Error as error:
                    assert "this process was forked while transfers ran" in str(error)
                else:
                    raise AssertionError
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            print([transfer.result().sum() for transfer in transfers])
        """
        self.assertEqual(run(code), "[4999950000.0, 4999950000.0]\n")

    def test_multiprocessing(self):
        code = """
            import multiprocessing, numpy, mli
            def part(n):
                return float(mli.move(numpy.arange(1e5) * n, channels=2).sum())
            if __name__ == "__main__":
                part(1)
                with multiprocessing.Pool(3) as pool:
                    print(pool.map(part, range(4)) == [4999950000.0 * n for n in range(4)])
        """
        self.assertEqual(run(code), "True\n")


class Asyncio(unittest.TestCase):
    def test_await(self):
        async def moves(count):
            plans = [mli.Plan(np.full(5000, n, np.int16)) for n in range(count)]
            results = await asyncio.gather(*[self.one(plan) for plan in plans])
            return [int(result[0]) for result in results]
        for engine in ("threads:tiny=0", "inline", SLOW.replace("200000", "2000")):
            with Engine(engine):
                self.assertEqual(asyncio.run(moves(50)), list(range(50)))

    async def one(self, plan):
        transfer = plan.start()
        first = await transfer
        assert await transfer is first
        return first

    def test_the_loop_runs_meanwhile(self):
        async def main():
            ticks = 0
            transfer = mli.Plan(np.ones(1000)).start()
            task = asyncio.ensure_future(self.wait(transfer))
            while not task.done():
                ticks += 1
                await asyncio.sleep(0.005)
            return ticks
        with Engine(SLOW):
            self.assertGreater(asyncio.run(main()), 2)

    async def wait(self, transfer):
        return await transfer

    def test_cancelled_tasks_cancel_the_transfer(self):
        async def main():
            transfer = mli.Plan(np.ones(1000)).start()
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(self.wait(transfer), 0.05)
            with self.assertRaises(mli.Error):
                transfer.result(timeout=60)
        with Engine("fault:threads,tiny=0,stick=1"):
            asyncio.run(main())

    def test_loops_that_end_before_their_transfers(self):
        """Neither the event loop nor its descriptors remain."""
        loops, transfers = weakref.WeakSet(), []

        async def main(plan):
            loops.add(asyncio.get_running_loop())
            transfers.append(plan.start())
            task = asyncio.ensure_future(self.wait(transfers[-1]))
            await asyncio.sleep(0)
            task.cancel()
        before = len(os.listdir("/proc/self/fd"))
        with Engine(SLOW):
            for _ in range(5):
                asyncio.run(main(mli.Plan(np.ones(1000))))
            gc.collect()
            self.assertEqual(len(loops), 0)
            for transfer in transfers:
                with self.assertRaises(mli.Error):
                    transfer.result(timeout=60)
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_descriptors(self):
        before = len(os.listdir("/proc/self/fd"))
        with Engine("threads:tiny=0"):
            for _ in range(20):
                asyncio.run(self.one(mli.Plan(np.ones(1000))))
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)


class Threads(unittest.TestCase):
    def test_many_threads(self):
        failures = []

        def work(number):
            rng = np.random.default_rng([SEED, number])
            for _ in range(60 * PERCENT // 100 + 5):
                src = rng.integers(0, 256, (64, int(rng.integers(1, 2000))), np.uint8)
                plan = mli.Plan(src, perm=(1, 0), channels=int(rng.integers(1, 4)))
                transfer = plan.start()
                if rng.random() < 0.1:
                    transfer.cancel()
                try:
                    good = np.array_equal(transfer.result(), src.T)
                except mli.Error as error:
                    good = error.status == "CANCELLED"
                if not good or not np.array_equal(mli.move(src), src):
                    failures.append(f"MLI_TEST_SEED={SEED}, thread {number}")
        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_waits_release_the_gil(self):
        with Engine("fault:threads,tiny=0,stick=1"):
            transfer = mli.Plan(np.ones(1000)).start()
            waiter = threading.Thread(target=lambda: self.assertRaises(mli.Error, transfer.result))
            waiter.start()
            time.sleep(0.05)
            transfer.cancel()  # this thread could not run if the other held the lock
            waiter.join()


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    unittest.main(verbosity=2)
