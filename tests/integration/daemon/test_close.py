# SPDX-License-Identifier: BSD-3-Clause
"""Passes descriptors whose close(2) blocks: sockets that linger while their peer does not read. Only the user that has
sent such descriptors may have to wait.
"""
import array
import contextlib
import os
import signal
import socket
import struct
import time

from service import Case, Memory, copy, main
from suspend import suspend
from wire import SLOW, envelope

LINGER = 20  # seconds that close(2) takes
SOON = LINGER / 4  # far more than an answer takes
ROUNDS = 40


class Lingering:
    """Holds the only descriptor of a connected TCP socket whose send queue is full."""

    def __init__(self, seconds=LINGER):
        listener = socket.create_server(("127.0.0.1", 0))
        self.socket = socket.create_connection(listener.getsockname())
        self.reader = listener.accept()[0]
        listener.close()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, int(seconds)))
        self.socket.setblocking(False)
        try:
            while True:
                self.socket.send(bytes(1 << 16))
        except BlockingIOError:
            pass
        self.socket.setblocking(True)

    def hand_over(self, link, data, more=()):
        """Sends the descriptor and closes the test's own copy while the service is stopped, so that the service's
        close(2) is the last one and blocks. dup2() replaces the test's copy before the service continues."""
        fd = self.socket.detach()
        link.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                               array.array("i", [fd, *more]))])
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, fd)
        os.close(null)
        os.close(fd)


@contextlib.contextmanager
def stopped(service):
    suspend(service.pid)
    try:
        yield
    finally:
        os.kill(service.pid, signal.SIGCONT)


class Close(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service(exits=None)
        self.other = self.connect(self.mlid)

    def lingering(self):
        lingering = Lingering()
        self.addCleanup(lingering.reader.close)
        return lingering

    def all_served(self):
        """Expects that pings, jobs and buffers of another client are answered as usual."""
        source, target = Memory(b"abcd"), Memory(size=4)
        begin = time.monotonic()
        for _ in range(ROUNDS):
            self.other.ping()
            self.other.call("job.submit", copy(4), [source.fd, target.fd])
        late = self.connect(self.mlid)
        late.ping()
        late.close()
        self.assertLess(time.monotonic() - begin, SOON * SLOW)
        self.assertEqual(target.content, b"abcd")

    def sent(self, line, more=()):
        """Returns a connection that has sent a line with a descriptor whose close(2) blocks; the service now owns the
        descriptor."""
        link = self.connect(self.mlid)
        with stopped(self.mlid):
            self.lingering().hand_over(link.sock, line, more)
        return link

    def test_refused(self):
        link = self.sent(envelope("buffer.register", {"fd": 0}, fds=1) + b"\n")
        self.assertEqual(link.error(1, SOON * SLOW).name, "BAD_DESCRIPTOR")
        self.all_served()

    def test_job(self):
        target = Memory(size=4)
        link = self.sent(envelope("job.submit", copy(4), fds=2) + b"\n", [target.fd])
        self.assertEqual(link.error(1, SOON * SLOW).name, "BAD_DESCRIPTOR")
        self.all_served()

    def test_method_without_descriptors(self):
        link = self.sent(envelope("daemon.ping", fds=1) + b"\n")
        self.assertEqual(link.error(1, SOON * SLOW).name, "INVALID_REQUEST")
        self.all_served()

    def test_unfinished_line(self):
        link = self.sent(b"{")
        self.all_served()
        link.close()
        self.all_served()

    def test_not_received(self):
        """The connection is closed before the service has received the line with the descriptor."""
        link = self.connect(self.mlid)
        with stopped(self.mlid):
            link.send_raw(b"no JSON\n" * 9000)  # more than the service reads at once
            self.lingering().hand_over(link.sock, b"{")
        self.assertEqual(link.nameless_error(SOON * SLOW).name, "PARSE_ERROR")
        link.close()
        self.all_served()

    def test_a_refused_connection(self):
        """The service refuses the connection in whose queue the descriptor is."""
        mlid = self.service(config={"limits": {"clients": 1}}, exits=None)
        only = self.connect(mlid)
        for _ in range(3):
            with socket.socket(socket.AF_UNIX) as link, stopped(mlid):
                link.connect(mlid.socket)
                self.lingering().hand_over(link, b"{")
            begin = time.monotonic()
            only.ping()
            self.assertLess(time.monotonic() - begin, SOON * SLOW)

    def test_too_many(self):
        """A message has more descriptors than a message may carry: the service must not be blocked by closing them
        either."""
        more = [Memory(size=1) for _ in range(40)]
        link = self.sent(b"{", [one.fd for one in more])
        self.assertEqual(link.nameless_error(SOON * SLOW).name, "STREAM_ERROR")
        self.assertTrue(link.ended(SOON * SLOW))
        self.all_served()

    def test_metrics(self):
        """A client sends descriptors to the socket of the metrics."""
        path = str(self.root / "metrics")
        mlid = self.service(config={"metrics": {"listen": "unix:" + path}}, exits=None)
        other = self.connect(mlid)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(path)
            with stopped(mlid):
                self.lingering().hand_over(link, b"GET")
            begin = time.monotonic()
            self.assertEqual(link.recv(1), b"")
        other.ping()
        self.assertLess(time.monotonic() - begin, SOON * SLOW)

    def test_end(self):
        """On SIGTERM the service waits a moment for descriptors to close, but not until all are closed."""
        begin = time.monotonic()
        self.sent(envelope("buffer.register", {"fd": 0}, fds=1) + b"\n").error(1)
        self.assertEqual(self.mlid.stop(), 0)
        self.assertLess(time.monotonic() - begin, (SOON + 2) * SLOW)


if __name__ == "__main__":
    main()
