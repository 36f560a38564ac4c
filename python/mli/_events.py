# SPDX-License-Identifier: BSD-3-Clause
"""Subscriptions to events of jobs."""
from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

from ._jobs import Event, read_event
from ._service_error import ServiceError

if TYPE_CHECKING:
    from types import TracebackType

    from ._client import Connection

KINDS = ("queued", "started", "done")


def subscription(kinds: Sequence[str], scope: str, interval: float) -> dict[str, Any]:
    """Return the params of events.subscribe."""
    return {"events": list(kinds), "scope": scope, "interval_ms": round(interval * 1000)}


def _appender(queue: weakref.ref[Queue]) -> Callable[[bytes], None]:
    """Return a callback that queues notifications, and drops them if the queue has no reader."""
    def append(line: bytes) -> None:
        reader = queue()
        if reader is not None:
            reader._lines.append(line)

    return append


class Queue:
    """Notifications that have arrived and that nobody has read: one for each connection."""

    def __init__(self, connection: Connection) -> None:
        if connection in _queues and connection.connected:
            raise ServiceError(-8, "MISUSE", "this client has a subscription already: close() the "
                                             "other one first, or subscribe with another client")
        self._connection = connection
        self._lines: deque[bytes] = deque()
        connection.set_notify(_appender(weakref.ref(self)))
        _queues[connection] = self

    def forget(self) -> None:
        """Make room for another queue of the connection."""
        if _queues.get(self._connection) is self:
            del _queues[self._connection]
            self._connection.set_notify(None)

    def next(self) -> Event | None:
        """Return the next event that has arrived; None if there is none yet.

        Raises ServiceError if there is none, and the connection is lost.
        """
        while self._lines:
            event = read_event(self._lines.popleft())
            if event is not None:
                return event
        if not self._connection.connected:
            raise ServiceError(-1, "LOST", "the connection is lost, and its events with it")
        return None


_queues: weakref.WeakValueDictionary[Connection, Queue] = weakref.WeakValueDictionary()


class Events:
    """Events of jobs, by iteration: each step waits for the next event."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queue = Queue(connection)
        self._open = True

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        event = self.next()
        if event is None:
            raise StopIteration
        return event

    def next(self, timeout: float | None = None) -> Event | None:
        """Return the next event; None after `timeout` seconds without one, or after close()."""
        while self._open:
            event = self._queue.next()
            if event is not None:
                return event
            if not self._connection.turn(timeout):
                return None
        return None

    def close(self) -> None:
        """End the subscription."""
        if self._open and self._connection.connected:
            self._connection.send("events.subscribe", '{"events":[]}')
        self._forget()

    def _forget(self) -> None:
        self._open = False
        self._queue.forget()

    def __enter__(self) -> Events:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
