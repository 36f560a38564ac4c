# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.aio.Client: coroutines, cancelled tasks, events, a lost service."""
import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
import unittest

import numpy as np

import mli
import mli.aio
from random_moves import RandomMove

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))


def bytes_of(array):
    return np.ascontiguousarray(array).tobytes()


def ramp(*shape):
    return np.arange(np.prod(shape)).astype(np.int8).reshape(shape)


class Jobs(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = mli.serve(channels=4)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    async def asyncSetUp(self):
        self.client = await mli.aio.connect(self.server.path)

    async def asyncTearDown(self):
        await self.client.close()

    async def test_random_moves_at_a_time(self):
        async def one(number):
            move = RandomMove([SEED, 21, number], rank_max=3)
            try:
                result = await self.client.submit(move.src, **move.arguments)
            except mli.ServiceError:
                raise
            except mli.Error:
                return
            self.assertEqual(bytes_of(result), bytes_of(move.expected),
                             f"MLI_TEST_SEED={SEED}, case {number}: {move}")

        for first in range(0, 1000 * PERCENT // 100, 100):
            await asyncio.gather(*(one(first + n) for n in range(100)))

    async def test_methods(self):
        await self.client.ping()
        self.assertEqual((await self.client.info())["channels"], 4)
        self.assertEqual((await self.client.stats())["state"], "serving")
        self.assertEqual(await self.client.call("daemon.ping"), {"pong": True})
        with self.assertRaises(mli.ServiceError):
            await self.client.call("no.such")
        ticket = self.client.start(ramp(5), name="five")
        self.assertEqual((await ticket).tolist(), list(range(5)))
        self.assertEqual((await self.client.status("five")).job, ticket.number)
        self.assertEqual((await self.client.status(ticket)).name, "five")
        self.assertEqual((await self.client.jobs(limit=1))[0].name, "five")
        await self.client.wait([ticket])
        await self.client.wait()
        self.assertEqual(await self.client.cancel(ticket), "done")

    async def test_double_buffering(self):
        source = (await self.client.buffer((8, 16, 16))).array()
        halves = (await self.client.buffer((2, 16, 16))).array()
        source[...] = ramp(8, 16, 16).view(np.uint8)
        plan = await self.client.plan(source[0], perm=(1, 0), out=halves[0])
        following = plan.start(src=source[0], out=halves[0])
        for n in range(8):
            tile = await following
            if n < 7:
                following = plan.start(src=source[n + 1], out=halves[(n + 1) % 2])
            self.assertEqual(bytes_of(tile), bytes_of(source[n].T))
        self.assertEqual(bytes_of(plan.out), bytes_of(halves[0]))
        plan.release()

    async def test_after(self):
        a = (await self.client.buffer((3, 32, 32))).array()
        a[0] = 3
        first = self.client.start(a[0], out=a[1])
        second = await self.client.submit(a[1], out=a[2], after=first)
        self.assertEqual(bytes_of(second), bytes_of(a[0]))
        await self.client.submit(a[1], after=[first, "nothing"][:1])

    async def test_events(self):
        events = await self.client.events(("done",))
        for n in range(5):
            await self.client.submit(ramp(n + 1), name=f"job{n}")
        seen = []
        async for event in events:
            seen.append(event.job.name)
            if len(seen) == 5:
                events.close()
        self.assertEqual(seen, [f"job{n}" for n in range(5)])

    async def test_one_subscription_at_a_time(self):
        first = await self.client.events(("done",))
        with self.assertRaisesRegex(mli.ServiceError, "has a subscription already"):
            await self.client.events()
        await self.client.submit(ramp(3), name="first")
        self.assertEqual((await first.__anext__()).job.name, "first")
        first.close()
        (await self.client.events()).close()

    async def test_methods_of_the_other_client(self):
        self.assertEqual(await self.client.drain(), "drained")
        with self.assertRaises(mli.ServiceError):
            await self.client.submit(ramp(5))
        self.assertEqual(await self.client.resume(), "serving")
        fd = os.memfd_create("test")
        os.write(fd, bytes(range(6)))
        buffer = await self.client.register(fd, (2, 3))
        os.close(fd)
        self.assertEqual(bytes_of(await self.client.submit(buffer.array(), perm=(1, 0))), bytes([0, 3, 1, 4, 2, 5]))
        missing = {name for name in vars(mli.Client) if not name.startswith("_")} - set(dir(self.client))
        self.assertEqual(missing, {"adopt", "spawn", "server", "greeting"})

    async def test_start_after_tickets(self):
        memory = (await self.client.buffer((3, 32))).array()
        memory[0] = 7
        first = self.client.start(memory[0], out=memory[1])
        second = self.client.start(memory[1], out=memory[2], after=first)
        plan = await self.client.plan(memory[2])
        self.assertEqual(bytes_of(await plan.start(after=[first, second])), bytes_of(memory[0]))
        self.client.start(memory[1], after=[first, first.number])
        with self.assertRaisesRegex(TypeError, "a job is required"):
            self.client.start(memory[1], after=[None])
        with self.assertRaisesRegex(mli.Error, r"after\[0\]: .*await client.submit"):
            named = [self.client.start(memory[0], name="same") for _ in range(2)]
            self.client.start(memory[1], after=named[0])
        await self.client.submit(memory[1], after=named[0])

    async def test_events_wake_a_task(self):
        events = await self.client.events(("queued",))
        waiting = asyncio.ensure_future(events.__anext__())
        await asyncio.sleep(0.01)
        await self.client.submit(ramp(3), name="waker")
        self.assertEqual((await waiting).job.name, "waker")

    async def test_two_clients_and_a_loop_that_stays_free(self):
        async with await mli.aio.connect(self.server.path) as other:
            beats = 0

            async def beat():
                nonlocal beats
                while True:
                    beats += 1
                    await asyncio.sleep(0)

            task = asyncio.ensure_future(beat())
            await asyncio.gather(*(client.submit(ramp(64, 64), perm=(1, 0))
                                   for client in (self.client, other) for _ in range(50)))
            task.cancel()
            self.assertGreater(beats, 2)


class Stuck(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = mli.serve(engine="fault:threads,stick=1", channels=2)
        self.client = await mli.aio.connect(self.server.path)

    async def asyncTearDown(self):
        await self.client.close()
        self.server.close()

    async def test_a_cancelled_task_cancels_the_job(self):
        out = np.zeros(100, np.int8)
        task = asyncio.ensure_future(self.client.submit(ramp(100), out=out, name="slow"))
        await asyncio.sleep(0.05)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        end = time.monotonic() + 20
        while (await self.client.status("slow")).state != "cancelled":
            self.assertLess(time.monotonic(), end)
        self.assertFalse(out.any())
        await self.client.submit(ramp(10))

    async def test_timeout(self):
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.client.submit(ramp(100)), 0.05)
        with self.assertRaises(mli.ServiceError) as caught:
            await self.client.wait(1)
        self.assertEqual(caught.exception.name, "CANCELLED")

    async def test_older_starts(self):
        buffers = [(await self.client.buffer(100)).array() for _ in range(2)]
        plan = await self.client.plan(buffers[0], out=buffers[1])
        tickets = [plan.start() for _ in range(3)]
        follower = asyncio.ensure_future(self.client.submit(buffers[1], after=tickets[0]))
        await asyncio.sleep(0.05)
        tickets[0].cancel()
        with self.assertRaises(mli.ServiceError) as caught:
            await tickets[0]
        self.assertEqual(caught.exception.name, "CANCELLED")
        await tickets[1]
        await tickets[2]
        with self.assertRaises(mli.ServiceError) as caught:
            await follower
        self.assertEqual(caught.exception.name, "PREDECESSOR_FAILED")

    async def test_the_loss_of_the_service(self):
        events = await self.client.events()
        job = asyncio.ensure_future(self.client.submit(ramp(100)))
        wait = asyncio.ensure_future(self.client.wait())
        drained = asyncio.ensure_future(self.consume(events))
        await asyncio.sleep(0.05)
        os.kill(self.server.pid, signal.SIGKILL)
        for task in (job, wait, drained):
            with self.assertRaises(mli.ServiceError) as caught:
                await task
            self.assertEqual(caught.exception.name, "LOST")
        with self.assertRaises(mli.ServiceError):
            await self.client.ping()
        self.assertFalse(self.client.connected)

    async def consume(self, events):
        async for _ in events:
            pass

    async def test_close_under_a_task(self):
        task = asyncio.ensure_future(self.client.submit(ramp(100)))
        await asyncio.sleep(0.02)
        await self.client.close()
        self.assertEqual(self.client.path, self.server.path)
        with self.assertRaises(mli.ServiceError):
            await task


class Import(unittest.TestCase):
    def test_when_it_is_used(self):
        """`import mli` makes mli.aio available, but imports asyncio only when mli.aio is used."""
        code = ("import sys, mli\n"
                "assert 'asyncio' not in sys.modules and not hasattr(mli, 'aoi')\n"
                "print(mli.aio.connect.__name__)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.stderr), ("connect\n", ""))


class Loops(unittest.TestCase):
    def test_a_loop_ends_with_jobs_on_their_way(self):
        async def leave():
            client = await mli.aio.connect(server.path)
            client.start(ramp(100))
            return client

        with mli.serve(engine="fault:threads,stick=1") as watcher:
            server = watcher.server
            client = asyncio.run(leave())
            del client
            gc.collect()

    def test_exceptions_in_callbacks_reach_the_loop(self):
        errors = []

        async def fail():
            asyncio.get_running_loop().set_exception_handler(
                lambda loop, context: errors.append(context["exception"]))
            async with await mli.aio.connect(server.path) as client:
                ticket = client.start(ramp(100))
                ticket._ticket.add_done_callback(lambda _: 1 / 0)
                await ticket

        with mli.serve() as watcher:
            server = watcher.server
            asyncio.run(fail())
        self.assertEqual([type(error) for error in errors], [ZeroDivisionError])


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    unittest.main(verbosity=2)
