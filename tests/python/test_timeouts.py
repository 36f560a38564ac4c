# SPDX-License-Identifier: BSD-3-Clause
"""Time limits also hold if the service does not answer, for example because a debugger has stopped it."""
import asyncio
import os
import pickle
import signal
import time
import unittest

import numpy as np

import mli
import mli.aio
import suite
from suspend import suspend

LIMIT = 0.05
PATIENCE = 20  # far more than any limit of these tests, for slow machines
BYTES = np.arange(100, dtype=np.int8)


class Silent(unittest.TestCase):
    def setUp(self):
        self.server = mli.serve()
        self.addCleanup(self.server.close)
        self.client = self.server.connect()
        self.addCleanup(self.client.close)

    def stop(self):
        suspend(self.server.pid)
        self.addCleanup(self.server._process.kill, signal.SIGCONT)

    def check(self, call, name):
        begin = time.monotonic()
        with self.assertRaises(mli.ServiceTimeoutError) as caught:
            call()
        self.assertLess(time.monotonic() - begin, PATIENCE)
        self.assertEqual(caught.exception.name, name)
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertIsInstance(caught.exception, mli.ServiceError)

    def test_limits_of_calls(self):
        client = self.client
        ticket = client.start(BYTES, name="one")
        np.testing.assert_array_equal(ticket.result(), BYTES)
        self.stop()
        other = client.start(BYTES, name="one")
        out = np.zeros(100, np.int8)
        for call, name in ((lambda: client.ping(LIMIT), "WAITED"), (lambda: client.info(LIMIT), "WAITED"),
                           (lambda: client.stats(LIMIT), "WAITED"),
                           (lambda: client.call("daemon.ping", timeout=LIMIT), "WAITED"),
                           (lambda: other.result(LIMIT), "WAITED"), (lambda: other.result(timeout=0), "WAITED"),
                           (lambda: client.submit(BYTES, out=out, timeout=LIMIT), "TIMED_OUT"),
                           (lambda: client.wait(ticket, timeout=LIMIT), "TIMED_OUT"),
                           (lambda: client.wait([other, 1], LIMIT), "TIMED_OUT"),
                           (lambda: client.wait(timeout=LIMIT), "TIMED_OUT")):
            with self.subTest(name):
                self.check(call, name)
        os.kill(self.server.pid, signal.SIGCONT)
        client.ping()
        self.assertFalse(out.any(), "a job whose caller has the error must not change the array")
        np.testing.assert_array_equal(other.result(), BYTES)

    def test_the_limit_of_the_client(self):
        client = self.client
        client.timeout = LIMIT
        self.assertEqual(client.timeout, LIMIT)
        buffer = client.buffer((100,))
        plan = client.plan(buffer.array())
        self.stop()
        for call in (client.ping, client.info, client.stats, client.jobs, client.wait, client.events, client.resume,
                     client.drain, lambda: client.submit(BYTES), lambda: client.start(BYTES).result(),
                     lambda: plan.start().result(), lambda: client.plan(BYTES), lambda: client.buffer(10),
                     lambda: client.status(1), lambda: client.cancel(1)):
            self.check(call, "WAITED")
        os.kill(self.server.pid, signal.SIGCONT)
        client.timeout = None
        client.ping()
        self.assertIsNone(client.timeout)
        client.events().close()

    def test_the_limit_from_the_beginning(self):
        self.stop()
        with mli.Client(self.server.path, timeout=LIMIT) as client:
            self.check(lambda: client.greeting, "WAITED")

    def test_asyncio(self):
        async def expect(name, awaitable):
            with self.assertRaises(mli.ServiceTimeoutError) as caught:
                async with asyncio.timeout(PATIENCE):
                    await awaitable
            self.assertEqual(caught.exception.name, name)

        async def scenario():
            async with await mli.aio.connect(self.server.path, timeout=LIMIT) as client:
                await client.ping()
                self.stop()
                for call in (client.ping, client.info, client.stats, client.jobs, client.wait, client.events,
                             client.resume, client.drain):
                    await expect("WAITED", call())
                await expect("WAITED", client.submit(BYTES))
                await expect("WAITED", client.plan(BYTES))
                await expect("WAITED", client.start(BYTES))
                client.timeout = None
                await expect("WAITED", client.call("daemon.ping", timeout=LIMIT))
                await expect("WAITED", client.ping(LIMIT))
                await expect("TIMED_OUT", client.submit(BYTES, timeout=LIMIT))
                await expect("TIMED_OUT", client.wait(timeout=LIMIT))
                await expect("TIMED_OUT", client.wait([1], timeout=LIMIT))
                os.kill(self.server.pid, signal.SIGCONT)
                await client.ping()
        asyncio.run(scenario())

    def test_the_end_of_a_stopped_service(self):
        self.stop()
        begin = time.monotonic()
        self.server.close()
        self.assertLess(time.monotonic() - begin, 5)

    def test_wrong_limits(self):
        for timeout in (-1, float("nan"), 1e9):
            for call in (self.client.ping, lambda t: setattr(self.client, "timeout", t),
                         lambda t: self.client.wait(timeout=t), lambda t: mli.Client(self.server.path, timeout=t)):
                with self.subTest(timeout), self.assertRaises(mli.Error):
                    call(timeout)
        with self.assertRaises((TypeError, ValueError)):
            self.client.ping("soon")
        self.client.ping(float("inf"))

    def test_pickles(self):
        error = mli.ServiceTimeoutError(-4, "WAITED", "nothing")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.name, str(again)), (-4, "WAITED", "nothing (WAITED)"))


if __name__ == "__main__":
    suite.main()
