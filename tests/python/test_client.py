# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.Client with a service of its own; NumPy computes the expected results."""
import gc
import json
import os
import pickle
import resource
import signal
import socket
import threading
import time
import unittest

import numpy as np

import mli
from mli import _client
import suite  # noqa: F401 (adds the path of suspend)
from random_moves import RandomMove
from suspend import suspend

SEED = int(os.environ.get("MLI_TEST_SEED", np.random.SeedSequence().entropy % 2**32))
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
STUCK = "fault:threads,stick=1"  # the first transfer never ends, until it is cancelled


def bytes_of(array):
    return np.ascontiguousarray(array).tobytes()


def ramp(*shape, dtype=np.int8):
    return np.arange(np.prod(shape)).astype(dtype).reshape(shape)


class WithService(unittest.TestCase):
    engine = "threads"

    @classmethod
    def setUpClass(cls):
        cls.server = mli.serve(engine=cls.engine, channels=4)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        self.client = self.server.connect()
        self.addCleanup(self.client.close)


class Moves(WithService):
    def case(self, number, move):
        return self.subTest(f"MLI_TEST_SEED={SEED}, case {number}: {move}")

    def test_random_moves(self):
        moved = refused = 0
        for number in range(2000 * PERCENT // 100):
            move = RandomMove([SEED, 11, number], rank_max=5)
            with self.case(number, move):
                try:
                    result = self.client.submit(move.src, **move.arguments)
                except mli.Error as error:
                    self.assertEqual(error.status, "NOT_SUPPORTED")
                    refused += 1
                    continue
                self.assertEqual((result.dtype, result.shape),
                                 (move.src.dtype, move.expected.shape))
                self.assertEqual(bytes_of(result), bytes_of(move.expected))
                moved += 1
        self.assertGreater(moved, 4 * refused)

    def test_random_places(self):
        for number in range(1000 * PERCENT // 100):
            move = RandomMove([SEED, 12, number], rank_max=4)
            with self.case(number, move):
                out, at = move.destination()
                whole = out if out.base is None else out.base
                expected = out.copy()
                expected[tuple(slice(a, a + n) for a, n in zip(at, move.expected.shape))] = \
                    move.expected
                before, saved = whole.tobytes(), out.copy()
                try:
                    self.assertIs(self.client.submit(move.src, out=out, at=at, **move.arguments),
                                  out)
                except mli.Error as error:
                    self.assertEqual(error.status, "NOT_SUPPORTED")
                    continue
                self.assertEqual(bytes_of(out), bytes_of(expected))
                out[...] = saved
                self.assertEqual(whole.tobytes(), before, "bytes outside the result have changed")

    def test_random_views_of_buffers(self):
        rng = np.random.default_rng([SEED, 13])
        source = self.client.buffer((8, 9, 10, 4)).array()
        target = self.client.buffer((20000,)).array()
        source[...] = rng.integers(0, 256, source.shape)
        for number in range(500 * PERCENT // 100):
            view = source[tuple(slice(int(rng.integers(0, n)), None, int(rng.integers(1, 3)))
                                for n in source.shape)]
            perm = tuple(int(d) for d in rng.permutation(4))
            expected = view.transpose(perm)
            start = int(rng.integers(0, target.size - expected.size))
            out = target[start:start + expected.size].reshape(expected.shape)
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {number}"):
                self.assertIs(self.client.submit(view, perm=perm, out=out), out)
                self.assertEqual(bytes_of(out), bytes_of(expected))

    def test_results_are_sources_without_copies(self):
        first = self.client.submit(ramp(4, 6), perm=(1, 0))
        for _ in range(4):  # until the memory of the pool is registered
            first = self.client.submit(first, perm=(1, 0))
        self.assertEqual(first.base.__class__, _client.Memory)
        self.assertGreater(first.base.id, 0)
        self.assertEqual(bytes_of(first), bytes_of(ramp(4, 6).T))

    def test_quantised_tensors(self):
        for number in range(200 * PERCENT // 100):
            rng = np.random.default_rng([SEED, 14, number])
            src = mli.QTensor(rng.integers(-128, 128, (3, 4, 5)).astype(np.int8),
                              rng.integers(-99, 99, 4), rng.integers(-9, 9, 4), axis=1)
            arguments = {"pad": int(rng.integers(0, 3)), "step": int(rng.integers(1, 3)),
                         "perm": [int(d) for d in rng.permutation(3)],
                         "slice": (slice(None), int(rng.integers(0, 4))) if number % 9 == 0
                         else np.s_[1:, :3]}
            if number % 9 == 0:
                arguments |= {"step": None, "perm": (1, 0)}
            expected, result = mli.move(src, **arguments), self.client.submit(src, **arguments)
            with self.subTest(f"MLI_TEST_SEED={SEED}, case {number}"):
                self.assertIsInstance(result, mli.QTensor)
                self.assertEqual(bytes_of(result.data), bytes_of(expected.data))
                self.assertEqual(result.axis, expected.axis)
                self.assertTrue((result.real() == expected.real()).all())
        out = mli.QTensor(np.zeros((3, 4, 5), np.int8), np.ones(4, int), axis=1)
        self.assertIs(self.client.submit(src, out=out), out)
        self.assertTrue((out.real() == src.real()).all())

    def test_many_results_keep_their_bytes(self):
        results = [self.client.submit(np.full((100, 100), n, np.int16), perm=(1, 0))
                   for n in range(300)]
        for n, result in enumerate(results):
            self.assertTrue((result == n).all())

    def test_what_the_protocol_cannot_express(self):
        for src, arguments in ((ramp(5), {"pad": 300}), (ramp(5), {"pad": 1 << 33}),
                               (ramp(2, 3, 2, 3, 2), {"perm": (4, 3, 2, 1, 0)})):
            with self.subTest(arguments), self.assertRaises(mli.Error) as caught:
                self.client.submit(src, **arguments)
            self.assertEqual(caught.exception.status, "NOT_SUPPORTED")
            self.assertIn("mli.move()", str(caught.exception))

    def test_empty_and_scalar(self):
        self.assertEqual(self.client.submit(np.zeros((0, 3), np.int8)).shape, (0, 3))
        self.assertEqual(self.client.submit(np.int16(7)), 7)
        self.assertEqual(self.client.plan(np.zeros(0, np.int8)).start().result().shape, (0,))


class Arguments(WithService):
    def test_refusals(self):
        a = ramp(2, 3)
        for arguments, error in (({"channels": 0}, mli.Error), ({"channels": 17}, mli.Error),
                                 ({"priority": 2}, mli.Error), ({"timeout": 0}, mli.Error),
                                 ({"timeout": "x"}, TypeError), ({"after": "none"}, mli.ServiceError),
                                 ({"after": [object()]}, TypeError),
                                 ({"name": "a b"}, mli.Error), ({"name": "\u00e4"}, mli.Error), ({"name": ""}, mli.Error),
                                 ({"name": 3}, TypeError), ({"name": "py:1"}, mli.Error),
                                 ({"at": (0, 0)}, mli.Error), ({"pads": 1}, TypeError),
                                 ({"out": np.zeros((3, 3), np.int8)}, mli.Error),
                                 ({"out": b"abcdef"}, mli.Error), ({"perm": (0, 0)}, mli.Error)):
            with self.subTest(arguments), self.assertRaises(error):
                self.client.submit(a, **arguments)
        self.assertEqual(bytes_of(self.client.submit(a)), bytes_of(a))

    def test_errors_have_everything(self):
        with self.assertRaises(mli.ServiceError) as caught:
            self.client.submit(ramp(4), channels=9)
        error = caught.exception
        self.assertEqual((error.code, error.name, error.pointer, error.field),
                         (-32002, "LIMIT", "/channels", "channels"))
        self.assertIsInstance(error, mli.Error)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.pointer, str(again)),
                         (error.code, error.pointer, str(error)))

    def test_methods(self):
        self.client.ping()
        self.assertEqual(self.client.info()["channels"], 4)
        self.assertEqual(self.client.stats()["state"], "serving")
        self.assertEqual(self.client.greeting["protocol"], 1)
        self.assertEqual(self.client.call("daemon.ping"), {"pong": True})
        with self.assertRaises(mli.ServiceError) as caught:
            self.client.call("no.such")
        self.assertEqual(caught.exception.name, "METHOD_NOT_FOUND")
        self.assertEqual(self.client.drain(), "drained")
        with self.assertRaises(mli.ServiceError):
            self.client.submit(ramp(4))
        self.assertEqual(self.client.resume(), "serving")

    def test_files(self):
        fd = os.memfd_create("test")
        os.write(fd, bytes(range(6)))
        buffer = self.client.register(fd, (2, 3))
        os.close(fd)
        self.assertEqual(bytes_of(self.client.submit(buffer.array(), perm=(1, 0))),
                         bytes([0, 3, 1, 4, 2, 5]))
        with buffer:
            pass
        self.assertEqual(buffer.id, 0)
        with self.assertRaises(mli.ServiceError):
            self.client.register(0, 10)  # a terminal or a pipe

    def test_bad_descriptors(self):
        ticket = self.client.start(ramp(2, 3), perm=(1, 0))
        for fd in (-1, 999, 2**31 - 1):
            with self.subTest(fd), self.assertRaisesRegex(mli.Error, f"{fd} given; an open descriptor"):
                self.client.register(fd, (3,))
            with self.subTest(fd), self.assertRaises(mli.Error):
                self.client.call("buffer.register", {"fd": 0}, fds=(fd,))
        for fd in ("x", None, 2.0, 2**31, 2**70):
            with self.subTest(fd), self.assertRaises((TypeError, mli.Error)):
                self.client.register(fd, (3,))
        self.assertEqual(bytes_of(ticket.result()), bytes_of(ramp(2, 3).T))
        self.client.ping()


class Jobs(WithService):
    def test_tickets(self):
        a = ramp(64, 64)
        tickets = [self.client.start(a + n, perm=(1, 0)) for n in range(20)]
        for n, ticket in enumerate(tickets):
            self.assertEqual(bytes_of(ticket.result()), bytes_of((a + n).T))
            self.assertEqual(ticket.cost.bytes, 4096)
        self.assertEqual(self.client.status(tickets[3]).state, "done")
        self.assertEqual(self.client.status(tickets[3].number).name, tickets[3].name)
        self.client.wait(tickets)
        self.client.wait()
        self.assertEqual(self.client.pending, 0)
        self.assertEqual(self.client.jobs(limit=1)[0].job, tickets[-1].number)

    def test_after(self):
        buffer = self.client.buffer((3, 64, 64)).array()
        buffer[0] = ramp(64, 64)
        first = self.client.start(buffer[0], perm=(1, 0), out=buffer[1], name="first")
        second = self.client.start(buffer[1], out=buffer[2], after=first)
        third = self.client.start(buffer[1], after=["first", second])
        self.assertEqual(bytes_of(third.result()), bytes_of(buffer[0].T))
        fourth = self.client.start(buffer[1], after=(first, second.number or second))
        self.assertEqual(bytes_of(fourth.result()), bytes_of(buffer[0].T))

    def test_after_a_failed_job(self):
        with self.assertRaises(mli.ServiceError):
            self.client.submit(ramp(4), channels=9, name="bad")
        with self.assertRaises(mli.ServiceError) as caught:
            self.client.submit(ramp(4), after="bad")
        self.assertEqual(caught.exception.name, "PREDECESSOR_FAILED")

    def test_plans(self):
        src = self.client.buffer((4, 8, 8))
        out = self.client.buffer((2, 8, 8))
        a, b = src.array(), out.array()
        a[...] = np.random.default_rng(1).integers(0, 256, a.shape)
        plan = self.client.plan(a[0], perm=(1, 0), out=b[0])
        self.assertEqual((plan.bytes, plan.shape), (64, (8, 8)))
        for i in range(4):
            result = plan.start(src=a[i], out=b[i % 2]).result()
            self.assertEqual(bytes_of(result), bytes_of(a[i].T))
        for wrong in ({"src": a[0].T}, {"src": a[:2]}, {"src": ramp(8, 8, dtype=np.uint8)},
                      {"out": np.zeros((8, 8), np.uint8)}, {"source": a[0]}):
            with self.subTest(wrong), self.assertRaises((mli.Error, TypeError)):
                plan.start(**wrong)
        plan.release()
        with self.assertRaises(mli.ServiceError):
            plan.start()

    def test_plans_of_private_arrays(self):
        a, out = ramp(6, 5), np.full((9, 9), 7, np.int8)
        plan = self.client.plan(a, perm=(1, 0), out=out, at=(2, 3))
        for n in range(10):
            a += 1
            self.assertIs(plan.start().result(), out)
            self.assertEqual(bytes_of(out[2:7, 3:9]), bytes_of(a.T))
        self.assertTrue((out[:2] == 7).all())
        plan.start()
        with self.assertRaises(mli.ServiceError) as caught:
            while True:  # the first may have ended
                plan.start()
        self.assertIn("on its way", str(caught.exception))

    def test_one_subscription_at_a_time(self):
        first = self.client.events(("done",))
        with self.assertRaisesRegex(mli.ServiceError, "has a subscription already") as caught:
            self.client.events()
        self.assertEqual(caught.exception.name, "MISUSE")
        self.client.submit(ramp(3), name="first")
        self.assertEqual(next(first).job.name, "first")  # the first one still works
        first.close()
        with self.client.events(("done",)) as second:
            self.client.submit(ramp(3), name="second")
            self.assertEqual(next(second).job.name, "second")
            self.assertEqual(list(first), [])
        with self.assertRaises(mli.ServiceError):
            self.client.events(("no such kind",))
        third = self.client.events(("done",))
        self.client.submit(ramp(3))
        del third  # as after a loop that was left: nothing is kept for it
        fourth = self.client.events(("done",))
        self.assertIsNone(fourth.next(timeout=0))

    def test_polling(self):
        tickets = [self.client.start(ramp(50), perm=(0,)) for _ in range(3)]
        tickets.append(self.client.plan(ramp(50)).start())
        end = time.monotonic() + 20
        while not all(ticket.done() for ticket in tickets):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)
        ended = []
        ticket = self.client.start(ramp(5))
        ticket.add_done_callback(lambda ticket: ended.append(ticket.done()))
        while not ticket.done():
            self.assertLess(time.monotonic(), end)
        self.assertEqual(ended, [True])
        late = self.client.start(ramp(5))
        late.add_done_callback(lambda _: 1 / 0)
        with self.assertRaises(ZeroDivisionError):
            while not late.done():
                self.assertLess(time.monotonic(), end)
        self.client.close()
        self.assertTrue(late.done())

    def test_jobs_that_are_none(self):
        ticket = self.client.start(ramp(5), name="five")
        for job in (None, 1.5, object()):
            for call in (self.client.status, self.client.cancel, self.client.wait if job else self.client.status,
                         lambda j: self.client.start(ramp(5), after=[j]), lambda j: self.client.wait([ticket, j])):
                with self.subTest(job), self.assertRaisesRegex(TypeError, "a job is required"):
                    call(job)
        for job in (0, -1, 2**64):
            with self.subTest(job), self.assertRaises(mli.Error):
                self.client.start(ramp(5), after=[job])
        ticket.result()
        self.client.wait(np.uint64(ticket.number))
        self.client.submit(ramp(5), after=np.array([ticket.number]))

    def test_events(self):
        with self.client.events(("queued", "done")) as events:
            ticket = self.client.start(ramp(100), name="watched")
            ticket.result()
            kinds = [next(events), next(events)]
            self.assertEqual([event.kind for event in kinds], ["queued", "done"])
            self.assertEqual(kinds[1].job.name, "watched")
            self.assertEqual(kinds[1].job.job, ticket.number)
            self.assertIsNone(events.next(0.01))
        self.assertEqual(list(events), [])

    def test_two_clients(self):
        with self.server.connect() as other:
            a = self.client.buffer((32, 32)).array()
            a[...] = ramp(32, 32, dtype=np.uint8)
            self.assertEqual(bytes_of(other.submit(a, perm=(1, 0))), bytes_of(a.T))
            result = other.submit(a)
        self.assertEqual(bytes_of(self.client.submit(result)), bytes_of(a))
        with self.assertRaises(mli.ServiceError) as caught:
            other.ping()
        self.assertEqual(caught.exception.name, "MISUSE")

    def test_arrays_outlive_client_and_buffer(self):
        client = self.server.connect()
        buffer = client.buffer((16,))
        a = buffer.array()
        a[...] = 5
        result = client.submit(a)
        buffer.release()
        client.close()
        del client, buffer
        gc.collect()
        self.assertTrue((a == 5).all() and (result == 5).all())


class Callbacks(WithService):
    def test_exceptions_are_raised_by_the_wait(self):
        def fail(ticket):
            raise ZeroDivisionError("in a callback")

        ticket = self.client.start(ramp(10))
        ticket.add_done_callback(fail)
        with self.assertRaises(ZeroDivisionError):
            ticket.result()
        self.assertEqual(bytes_of(ticket.result()), bytes_of(ramp(10)))

    def test_callbacks_may_send_and_must_not_wait(self):
        seen = []

        def more(ticket):
            with self.assertRaises(mli.ServiceError):
                self.client.ping()
            with self.assertRaises(mli.ServiceError):
                self.client.close()
            seen.append(self.client.start(ticket.result()))

        ticket = self.client.start(ramp(10))
        ticket.add_done_callback(more)
        ticket.result()
        self.assertEqual(bytes_of(seen[0].result()), bytes_of(ramp(10)))
        ticket.add_done_callback(seen.append)  # at once
        self.assertIs(seen[1], ticket)

    def test_threads(self):
        errors = []
        ready = threading.Event()
        self.client.ping()  # the greeting has arrived

        def wait():
            ready.set()
            self.client._connection.turn(1)

        thread = threading.Thread(target=wait)
        thread.start()
        ready.wait()
        time.sleep(0.05)
        try:
            self.client.submit(ramp(4))
        except mli.ServiceError as error:
            errors.append(error.name)
        thread.join()
        self.assertEqual(errors, ["MISUSE"])
        self.client.ping()


class Stuck(WithService):
    """The first transfer does not end by itself."""

    def setUp(self):
        self.server = mli.serve(engine=STUCK, channels=2)
        self.addCleanup(self.server.close)
        self.client = self.server.connect()
        self.addCleanup(self.client.close)

    def test_cancel(self):
        ticket = self.client.start(ramp(100))
        with self.assertRaises(TimeoutError):
            ticket.result(timeout=0.02)
        ticket.cancel()
        with self.assertRaises(mli.ServiceError) as caught:
            ticket.result()
        self.assertEqual(caught.exception.name, "CANCELLED")

    def test_cancel_by_number_and_name(self):
        ticket = self.client.start(ramp(100), name="slow")
        self.assertIn(self.client.cancel("slow"), ("running", "cancelled"))
        with self.assertRaises(mli.ServiceError):
            ticket.result()
        self.assertEqual(self.client.cancel(ticket.name), "cancelled")

    def test_cancel_an_older_start(self):
        buffers = [self.client.buffer((100,)).array() for _ in range(2)]
        plan = self.client.plan(buffers[0], out=buffers[1])
        tickets = [plan.start() for _ in range(3)]
        follower = self.client.start(buffers[1], after=tickets[0])
        tickets[0].cancel()  # the one that is stuck: a name would mean the last
        for ticket, end in zip(tickets, ("CANCELLED", None, None)):
            if end:
                with self.assertRaises(mli.ServiceError) as caught:
                    ticket.result()
                self.assertEqual(caught.exception.name, end)
            else:
                ticket.result()
        with self.assertRaises(mli.ServiceError) as caught:
            follower.result()
        self.assertEqual(caught.exception.name, "PREDECESSOR_FAILED")

    def test_timeout_of_a_job(self):
        with self.assertRaises(mli.ServiceError) as caught:
            self.client.submit(ramp(100), timeout=0.03)
        self.assertEqual(caught.exception.name, "TIMED_OUT")

    def test_keyboard_interrupt(self):
        out = np.zeros(100, np.int8)
        timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            self.client.submit(ramp(100), out=out)
        timer.join()
        try:
            self.client.wait()
        except mli.ServiceError as error:  # the job may have stopped before
            self.assertEqual(error.name, "CANCELLED")
        self.assertEqual(self.client.jobs(limit=1)[0].state, "cancelled")
        self.assertFalse(out.any())

    def test_close_with_a_job_on_its_way(self):
        ticket = self.client.start(ramp(100))
        self.client.close()
        with self.assertRaises(mli.ServiceError) as caught:
            ticket.result()
        self.assertEqual(caught.exception.name, "LOST")

    def test_the_loss_of_the_service_under_each_call(self):
        buffer = self.client.buffer((100,)).array()
        plan = self.client.plan(buffer)
        events = self.client.events()
        calls = (lambda: self.client.submit(ramp(100)), lambda: plan.start().result(),
                 lambda: self.client.start(ramp(5)).result(), lambda: self.client.wait(),
                 lambda: self.client.wait([1], timeout=5), lambda: self.client.status(1),
                 lambda: self.client.cancel(1), lambda: self.client.jobs(),
                 lambda: self.client.info(), lambda: self.client.buffer(10),
                 lambda: self.client.plan(buffer), lambda: self.client.ping(),
                 lambda: self.client.events(), lambda: list(events))
        self.client.start(buffer)  # it is stuck, so that waits last
        self.client._connection.flush()
        timer = threading.Timer(0.05, os.kill, (self.server.pid, signal.SIGKILL))
        timer.start()
        with self.assertRaises(mli.ServiceError):
            self.client.wait()
        for number, call in enumerate(calls):
            with self.subTest(number), self.assertRaises(mli.ServiceError) as caught:
                call()
            self.assertEqual(caught.exception.name, "LOST")
        self.assertFalse(self.client.connected)
        # A killed process closes its sockets one by one, and its listening socket may be the last.
        end = time.monotonic() + 30
        with self.assertRaises(mli.ServiceError) as caught:
            while time.monotonic() < end:
                self.server.connect().close()
        self.assertIn(caught.exception.name, ("NO_SERVICE", "LOST"))
        with self.assertRaises(mli.ServiceError) as caught:
            self.server.connect()
        self.assertEqual(caught.exception.name, "NO_SERVICE")

    def test_a_signal_stop_under_a_call(self):
        suspend(self.server.pid)
        try:
            with self.assertRaises(TimeoutError):
                self.client.call("daemon.ping", timeout=0.05)
        finally:
            os.kill(self.server.pid, signal.SIGCONT)
        self.client.ping()


class Hostile(unittest.TestCase):
    """The other end sends replies that no service would send."""

    def test_replies(self):
        hello = (b'{"jsonrpc":"2.0","method":"hello","params":{"protocol":1,"version":"9","client":1,'
                 b'"capabilities":[],"limits":{"line":65536,"fds":16,"jobs":9,"job_bytes":9,'
                 b'"buffers":9,"buffer_bytes":9,"prepared":9}}}\n')
        replies = (b"", b"\n", b"{}\n", b"null\n", b"\xff\xfe\n", b"[" * 1000 + b"\n",
                   b'{"jsonrpc":"2.0","id":1}\n', b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
                   b'{"jsonrpc":"2.0","id":1,"result":{}}\n', b'{"jsonrpc":"2.0","id":1,"result":7}\n',
                   b'{"jsonrpc":"2.0","id":1,"fds":3,"result":{}}\n',
                   b'{"jsonrpc":"2.0","id":1,"error":{}}\n',
                   b'{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"\\u0000"}}\n',
                   b'{"jsonrpc":"2.0","id":1,"result":{"buffer":0,"prepared":-1,"size":-5}}\n',
                   b'{"jsonrpc":"2.0","method":"event","params":{}}\n',
                   b'{"jsonrpc":"2.0","method":"hello","params":[]}\n', b"x" * 2_000_000)
        calls = (lambda c: c.submit(ramp(10)), lambda c: c.info(), lambda c: c.buffer(10),
                 lambda c: c.plan(ramp(10)), lambda c: c.jobs(), lambda c: c.status(1))
        for reply in replies:
            for number, call in enumerate(calls):
                ours, theirs = socket.socketpair()
                with theirs, self.subTest(reply=reply[:80], call=number):
                    theirs.setblocking(False)
                    try:
                        theirs.sendall(hello + reply)
                    except BlockingIOError:
                        pass
                    theirs.shutdown(socket.SHUT_WR)
                    with mli.Client.adopt(ours.detach()) as client:
                        try:
                            call(client)
                        except (mli.ServiceError, KeyError, AssertionError, TypeError, ValueError):
                            pass


class Processes(WithService):
    def test_fork(self):
        result = self.client.submit(ramp(10))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.client.submit(ramp(10))
            except mli.ServiceError:
                with self.server.connect() as client:
                    code = 0 if (client.submit(result) == result).all() else 2
                self.client.close()
                self.server.close()  # does nothing: it is the parent's
            os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(bytes_of(self.client.submit(result)), bytes_of(result))

    def measure(self):
        gc.collect()
        descriptors = len(os.listdir("/proc/self/fd"))
        with open("/proc/self/statm") as statm:
            pages = int(statm.read().split()[1])
        with open("/proc/self/maps") as maps:
            return descriptors, pages * resource.getpagesize(), len(maps.readlines())

    def test_leaks(self):
        a = ramp(40, 50)
        out = np.zeros((50, 40), np.int8)
        buffer = self.client.buffer((100,)).array()
        plan = self.client.plan(buffer[:50], out=buffer[50:])

        def run(count):
            for n in range(count // 10):
                self.client.submit(a, perm=(1, 0))
                self.client.submit(a, perm=(1, 0), out=out)
                self.client.submit(buffer, name="same")
                for ticket in [plan.start() for _ in range(6)]:
                    ticket.result()
                try:
                    self.client.submit(a, channels=9)
                except mli.ServiceError:
                    pass
                if n % 50 == 0:
                    self.client.buffer(1000).array()
                    self.client.plan(a[::2])

        count = 100_000 * PERCENT // 100
        run(count // 10)
        before = self.measure()
        run(count)
        after = self.measure()
        self.assertLessEqual(after[0], before[0])
        if "MLI_TEST_SANITIZER" not in os.environ:  # which keeps freed memory
            self.assertLess(after[1] - before[1], 4 << 20)
            self.assertLess(after[2] - before[2], 20)
        stats = self.client.stats()
        self.assertLessEqual(stats["buffers"]["now"], 40)
        self.assertLessEqual(stats["prepared"], 5)


if __name__ == "__main__":
    print(f"MLI_TEST_SEED={SEED}")
    unittest.main(verbosity=2)
