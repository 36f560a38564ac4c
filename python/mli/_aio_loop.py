# SPDX-License-Identifier: BSD-3-Clause
"""A connection to a service in an event loop of asyncio."""
from __future__ import annotations

import asyncio
import json
import select
from typing import TYPE_CHECKING, Any, Iterable, TypeAlias, TypeVar, Union

from . import _client
from ._errors import Error
from ._jobs import as_sequence, ask_for, reference, result_of
from ._service_error import no_reply

if TYPE_CHECKING:
    from .aio import Ticket

AnyJob: TypeAlias = "Union[int, str, _client.Ticket[Any], Ticket[Any]]"
_Result = TypeVar("_Result")


async def _at_most(seconds: float | None, future: asyncio.Future[None]) -> None:
    """Wait for a future; mli.ServiceTimeoutError after `seconds`."""
    if seconds is None:
        await future
        return
    try:
        async with asyncio.timeout(seconds):
            await future
    except TimeoutError:
        raise no_reply(seconds) from None


class Loop:
    """A connection in an event loop: reads when the socket is readable, and writes when it can."""

    def __init__(self, connection: _client.Connection) -> None:
        self.connection = connection
        self.arrived: set[asyncio.Future[None]] = set()  # wait for any line
        self._loop = asyncio.get_running_loop()
        self._fd = connection.fd
        self._writing = self._flushing = False
        connection.set_nonblocking()
        self._loop.add_reader(self._fd, self._on_ready)

    def flush_soon(self) -> None:
        """Send what is queued when the running callbacks are done: one write for many requests."""
        if not self._flushing and self._fd >= 0:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        if self._fd >= 0:
            self.connection.flush()
            self._watch()

    def _on_ready(self) -> None:
        try:
            self.connection.dispatch()
        finally:
            self._watch()
            for future in self.arrived:
                if not future.done():
                    future.set_result(None)
            self.arrived.clear()

    def _watch(self) -> None:
        """Watch the socket for what the connection needs now."""
        if self.connection.fd < 0:
            self.stop()
            return
        writing = bool(self.connection.events & select.POLLOUT)
        if writing and not self._writing:
            self._loop.add_writer(self._fd, self._on_ready)
        elif self._writing and not writing:
            self._loop.remove_writer(self._fd)
        self._writing = writing

    def stop(self) -> None:
        """Stop watching the socket. May be called again."""
        if self._fd >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
        self._fd = -1

    async def reply(self, ticket: _client.Ticket[_Result], seconds: float | None = None) -> _Result:
        """Return the result of a ticket when it has one. Default of `seconds`: the client's."""
        if not ticket._ended:
            limit = self.connection.timeout if seconds is None else seconds
            self.flush_soon()
            future = self._loop.create_future()

            def wake(_: _client.Ticket[_Result]) -> None:
                if not future.done():
                    future.set_result(None)

            ticket.add_done_callback(wake)
            await _at_most(limit, future)
        return ticket.result()

    async def room(self) -> None:
        """Wait while many jobs with descriptors are queued in this process."""
        while self.connection.connected and not self.connection.has_room:
            future = self._loop.create_future()
            self.arrived.add(future)
            self._watch()
            await _at_most(self.connection.timeout, future)

    async def ask(self, method: str, params: dict[str, Any] | None = None,
                  fds: tuple[int, ...] = (), seconds: float | None = None) -> Any:
        """Call a method and return its result."""
        text = None if params is None else json.dumps(params)
        return result_of(await self.reply(self.connection.call(method, text, fds), seconds))

    async def references(self, jobs: AnyJob | Iterable[AnyJob],
                         seconds: float | None = None) -> list[int | str]:
        """Return the numbers or names that identify the jobs to the service.

        Asks the service for its list of jobs if a later job has the same name.
        """
        found: list[int | str] = []
        for job in as_sequence(jobs):  # type: ignore[arg-type]
            known = reference(job)
            while known is None:
                assert not isinstance(job, (int, str))
                question, numbers = ask_for(self.connection, job)
                await self.reply(question, seconds)
                known = numbers[0] if numbers else reference(job)
            found.append(known)
        return found


def known(jobs: AnyJob | Iterable[AnyJob] | None) -> list[int | str] | None:
    """Return the numbers or names of the jobs, without waiting. If `jobs` is None, return None."""
    if jobs is None:
        return None
    found: list[int | str] = []
    for i, job in enumerate(as_sequence(jobs)):  # type: ignore[arg-type]
        known = reference(job)
        if known is None:
            raise Error("ARGUMENT_ERROR", f"after[{i}]", job, "a later job has the same name, so "
                        "that the number is required: await client.submit(), which asks for it")
        found.append(known)
    return found
