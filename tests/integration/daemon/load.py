# SPDX-License-Identifier: BSD-3-Clause
"""Clients that keep a service busy, each in a process of its own."""
import multiprocessing
import os
import time
from dataclasses import dataclass

from service import Memory, copy
from wire import PATIENCE, Closed

FORK = multiprocessing.get_context("fork")


@dataclass
class End:
    """A job that has ended."""
    when: float
    bytes: int
    error: str


def buffered(connection, size, **more):
    """Registers a buffer; returns the params of a copy inside the buffer, and the buffer's memory."""
    memory = Memory(size=2 * size)
    number = connection.call("buffer.register", {"fd": 0}, [memory.fd])["buffer"]
    return copy(size, {"buffer": number}, {"buffer": number, "offset": size}, **more), memory


def keep_busy(service, pipe, size, depth, more):
    ends = []
    with service.connect() as connection:
        params, memory = buffered(connection, size, **more)
        for _ in range(depth):
            connection.request("job.submit", params)
        pipe.send("busy")
        while not pipe.poll():
            connection.wait(lambda: connection.replies or pipe.poll(), 0.1)
            replies, connection.replies = connection.replies, {}
            now = time.monotonic()
            for message in replies.values():
                moved = message["result"]["cost"]["bytes"] if "result" in message else 0
                ends.append(End(now, moved, message.name))
                connection.request("job.submit", params)
    pipe.send(ends)


def child(service, pipe, uid, *rest):
    if uid is not None:
        os.seteuid(uid)
    try:
        keep_busy(service, pipe, *rest)
    except (Closed, OSError) as error:
        pipe.send(error)
    os._exit(0)


class Flood:
    """A context manager: a client that always has `depth` unfinished copies of `size` bytes. `uid` is the user that
    connects (only root can choose one).
    """

    def __init__(self, service, size, depth, uid=None, **more):
        self.ends = []
        self.pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=child,
                                    args=(service, theirs, uid, size, depth, more))

    def __enter__(self):
        self.process.start()
        self.answer()
        self.begun = time.monotonic()
        return self

    def __exit__(self, *_):
        if self.process.is_alive():
            self.stop()

    def answer(self):
        if not self.pipe.poll(PATIENCE):
            self.process.kill()
            raise TimeoutError("the flood does not come")
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def stop(self):
        self.pipe.send("stop")
        self.ends = self.answer()
        self.process.join(PATIENCE)
        return self.ends

    def within(self, begin, end):
        return [one for one in self.ends if begin <= one.when < end]


def side_by_side(floods, seconds, settle=0.3):
    """Runs floods at the same time; for each flood, returns the jobs that ended while all floods were running."""
    for flood in floods:
        flood.__enter__()
    begin = time.monotonic() + settle
    time.sleep(settle + seconds)
    end = time.monotonic()
    for flood in floods:
        flood.stop()
    return [flood.within(begin, end) for flood in floods]


def percentiles(times):
    """Returns a text about the times (in seconds), their median, and their 99th percentile."""
    ordered = sorted(times)
    half, most = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.99))
    text = (f"{len(ordered)} times: shortest {ordered[0] * 1e3:.2f} ms, median {half * 1e3:.2f}, "
            f"99 % {most * 1e3:.2f}, longest {ordered[-1] * 1e3:.2f}")
    return text, half, most
