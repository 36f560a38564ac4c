# SPDX-License-Identifier: BSD-3-Clause
"""Clients hold only a few descriptors even with many running jobs, and report an error if no descriptor is left."""
import asyncio
import contextlib
import os
import resource
import unittest

import numpy as np

import mli
import mli.aio
import suite

JOBS = 1500
LIMIT = 200  # of descriptors on top of those that are open
MATRIX = np.arange(64, dtype=np.uint8).reshape(8, 8)


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@contextlib.contextmanager
def descriptors(more):
    """Lets this process open at most `more` further descriptors."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


class Descriptors(unittest.TestCase):
    def setUp(self):
        self.server = mli.serve(channels=2)
        self.addCleanup(self.server.close)

    def check(self, results):
        self.assertEqual(len(results), JOBS)
        for result in results:
            np.testing.assert_array_equal(result, MATRIX.T)

    def test_all_start_then_collect(self):
        with self.server.connect() as client, descriptors(LIMIT):
            tickets = [client.start(MATRIX, perm=(1, 0)) for _ in range(JOBS)]
            self.check([ticket.result() for ticket in tickets])

    def test_all_start_and_nobody_collects(self):
        with self.server.connect() as client, descriptors(LIMIT):
            for _ in range(JOBS):
                client.start(MATRIX, perm=(1, 0))
            client.wait()
            client.submit(MATRIX)

    def test_gather(self):
        async def scenario():
            async with await mli.aio.connect(self.server.path) as client:
                with descriptors(LIMIT):
                    return await asyncio.gather(*(client.submit(MATRIX, perm=(1, 0)) for _ in range(JOBS)))
        self.check(asyncio.run(scenario()))

    def test_jobs_that_are_stuck(self):
        """Jobs that were sent hold no descriptors in the client: the service has its own."""
        with mli.serve(engine="fault:threads,stick=1", channels=1) as client:
            before = open_descriptors()
            tickets = [client.start(MATRIX, perm=(1, 0)) for _ in range(60)]
            self.assertLessEqual(open_descriptors(), before + 32)  # POOL_MAX requests for registration
            client.close()
            self.assertEqual(len(tickets), 60)
            self.assertLess(open_descriptors(), before)

    def test_buffers_and_plans_hold_none(self):
        with self.server.connect() as client:
            before = open_descriptors()
            kept = [client.buffer((100,)) for _ in range(20)] + [client.plan(MATRIX) for _ in range(20)]
            self.assertEqual(len(kept), 40)
            self.assertLessEqual(open_descriptors(), before + 16)

    def test_no_descriptor_is_left(self):
        with self.server.connect() as client, descriptors(0):
            with self.assertRaises(mli.Error) as caught:
                client.start(MATRIX, perm=(1, 0))
            for words in ("ulimit -n", "wait for results", "client.buffer()"):
                self.assertIn(words, str(caught.exception))
            with self.assertRaisesRegex(mli.Error, "ulimit -n"):
                client.buffer((100,))
            with self.assertRaises(mli.Error):
                self.server.connect()
            client.ping()  # the connection is not lost
        with self.server.connect() as client:
            client.submit(MATRIX)


if __name__ == "__main__":
    suite.main()
