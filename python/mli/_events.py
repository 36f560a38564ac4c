# SPDX-License-Identifier: BSD-3-Clause
"""Subscriptions to events of jobs."""
from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from ._jobs import Event, read_event
from ._service_error import ServiceError

if TYPE_CHECKING:
    from types import TracebackType

    from ._client import Connection

KINDS = ("queued", "started", "done")


def subscription(kinds: Sequence[str], scope: str, interval: float) -> dict[str, Any]:
    """Return the params of events.subscribe."""
    return {"events": list(kinds), "scope": scope, "interval_ms": round(interval * 1000)}


class Queue:
    """Notifications that have arrived and that nobody has read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lines: deque[bytes] = deque()
        connection.set_notify(self._lines.append)

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
            self._connection.set_notify(None)
            self._connection.send("events.subscribe", '{"events":[]}')
        self._open = False

    def __enter__(self) -> Events:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()
