# SPDX-License-Identifier: BSD-3-Clause
"""A client of mlid, written from proto/PROTOCOL.md: lines, descriptors, ids, events."""
import array
import collections
import itertools
import json
import os
import select
import socket
import time

SLOW = float(os.environ.get("MLI_TEST_SLOW", "1"))  # how much slower than usual things may be
PATIENCE = 60 * SLOW  # seconds that nothing ever takes
REPLY_MAX = 1048576
FDS_MAX = 16


class Fault(Exception):
    """Raised for an error reply of the service."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code, self.message = error["code"], error["message"]
        self.data = error["data"]
        self.name = self.data["name"]
        self.pointer = self.data.get("pointer")
        self.status = self.data.get("status")


class Closed(Exception):
    """Raised when the service has closed the connection."""


class Message(dict):
    """A line from the service: its members, its number in the order of arrival, its descriptors."""

    serial = 0
    fds = ()

    @property
    def name(self):
        """Returns the name of the error, or None."""
        return self["error"]["data"]["name"] if "error" in self else None


def once(pairs):
    """Hook for the json module: checks that no key of an object occurs twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError(f"a key is there twice: {[key for key, _ in pairs]}")
    return members


def envelope(method, params=None, id=1, fds=0):
    """Returns the line of a request without its newline."""
    request = {"jsonrpc": "2.0", "id": id, "method": method}
    if fds:
        request["fds"] = fds
    if params is not None:
        request["params"] = params
    return json.dumps(request, separators=(",", ":")).encode()


class Connection:
    """A connection for one thread. It reads whenever it waits, unless a test reads the socket itself."""

    def __init__(self, path, greet=True, patience=PATIENCE):
        self.patience = patience
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.connect(path)
        except OSError:
            self.sock.close()
            raise
        self.sock.setblocking(False)
        self.ids = itertools.count(1)
        self.begun = bytearray()
        self.waiting_fds = collections.deque()
        self.arrived = 0
        self.replies = {}  # by id
        self.nameless = collections.deque()  # replies with the id null
        self.notes = collections.deque()  # notifications
        self.eof = False
        self.strict_ids = True  # no id is answered twice
        self.hello = self.greeting() if greet else None

    def greeting(self):
        """Returns the first line of the service; closes the connection if there is none."""
        try:
            hello = self.note()
            if hello["method"] != "hello":
                raise AssertionError(f"no greeting: {hello}")
        except BaseException:
            self.close()
            raise
        return hello

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()
        while self.waiting_fds:
            os.close(self.waiting_fds.popleft())

    # Out

    def send(self, line, fds=()):
        """Sends one line (given without newline); meanwhile receives the lines that arrive."""
        self.send_raw(line + b"\n", fds)

    def send_raw(self, data, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        view = memoryview(data)
        end = time.monotonic() + self.patience
        while view:
            try:
                sent = self.sock.sendmsg([view], rights, socket.MSG_NOSIGNAL)
                view, rights = view[sent:], []
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError("the service does not take what is sent") from None
                if self.ready(1, select.POLLIN | select.POLLOUT) & select.POLLIN and not self.eof:
                    self.receive()
            except (BrokenPipeError, ConnectionResetError):
                raise Closed("while something was sent") from None

    def ready(self, timeout, events=select.POLLIN):
        poll = select.poll()
        poll.register(self.sock, events)
        found = poll.poll(max(0, timeout) * 1000)
        return found[0][1] if found else 0

    def request(self, method, params=None, fds=(), id=None):
        """Sends a request; returns its id, for reply()."""
        id = next(self.ids) if id is None else id
        self.send(envelope(method, params, id, len(fds)), fds)
        return id

    def call(self, method, params=None, fds=()):
        """Returns the result of a request; raises an error reply as a Fault."""
        return self.result(self.request(method, params, fds))

    def fault(self, method, params=None, fds=()):
        """Returns the Fault of a request that must fail."""
        try:
            result = self.call(method, params, fds)
        except Fault as fault:
            return fault
        raise AssertionError(f"{method} {params} gave {result}, not an error")

    def ping(self):
        """Returns after the service has handled everything that was sent before."""
        if self.call("daemon.ping") != {"pong": True}:
            raise AssertionError("no pong")

    # In

    def receive(self):
        """Receives the available data. At least one byte, one descriptor or the end of the stream must be available.
        """
        try:
            data, ancillary, flags, _ = self.sock.recvmsg(1 << 18, socket.CMSG_SPACE(4 * FDS_MAX),
                                                          socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data, ancillary, flags = b"", [], 0
        for level, kind, content in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                self.waiting_fds.extend(array.array("i", content[:len(content) // 4 * 4]))
        if flags & socket.MSG_CTRUNC:
            raise AssertionError("more descriptors than the protocol allows in one message")
        if not data:
            self.eof = True
            if self.begun:
                raise AssertionError(f"the last line has no end: {bytes(self.begun[-200:])}")
        self.begun += data
        *lines, self.begun = self.begun.split(b"\n")
        for line in lines:
            self.take(bytes(line))
        if len(self.begun) >= REPLY_MAX:
            raise AssertionError("a line that does not end")

    def take(self, line):
        if len(line) >= REPLY_MAX:
            raise AssertionError(f"a line of {len(line)} bytes")
        message = Message(json.loads(line, object_pairs_hook=once))
        self.arrived += 1
        message.serial = self.arrived
        message.fds = [self.waiting_fds.popleft() for _ in range(message.get("fds", 0))]
        if message.get("jsonrpc") != "2.0":
            raise AssertionError(f"no JSON-RPC: {line}")
        if "id" not in message:
            self.notes.append(message)
        elif message["id"] is None:
            self.nameless.append(message)
        elif message["id"] in self.replies and self.strict_ids:
            raise AssertionError(f"answered twice: {line}")
        else:
            self.replies[message["id"]] = message

    def wait(self, condition, timeout=None):
        """Receives until the condition holds; returns False after the timeout."""
        end = time.monotonic() + (self.patience if timeout is None else timeout)
        while not condition():
            if self.eof:
                raise Closed(str(list(self.nameless)))
            left = end - time.monotonic()
            if left < 0:
                return False
            if self.ready(left):
                self.receive()
        return True

    def need(self, condition, what, timeout=None):
        if not self.wait(condition, timeout):
            raise TimeoutError(f"{what} does not come")

    def reply(self, id, timeout=None):
        self.need(lambda: id in self.replies, f"the reply {id!r}", timeout)
        return self.replies.pop(id)

    def result(self, id, timeout=None):
        message = self.reply(id, timeout)
        if "error" in message:
            raise Fault(message["error"])
        return message["result"]

    def error(self, id, timeout=None):
        """Returns the Fault that must answer this id."""
        message = self.reply(id, timeout)
        if "error" not in message:
            raise AssertionError(f"an error was expected: {message}")
        return Fault(message["error"])

    def nameless_error(self, timeout=None):
        self.need(lambda: self.nameless, "a reply without an id", timeout)
        return Fault(self.nameless.popleft()["error"])

    def note(self, timeout=None):
        """Returns the next notification."""
        self.need(lambda: self.notes, "a notification", timeout)
        return self.notes.popleft()

    def ended(self, timeout=None):
        """Returns whether the service closes the connection; stores the lines that come before the end."""
        try:
            return self.wait(lambda: self.eof, timeout)
        except Closed:
            return True

    def drained(self):
        """Receives the available data without waiting."""
        while not self.eof and self.ready(0):
            self.receive()
        return self
