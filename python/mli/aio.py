# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on a service (mlid), in asyncio.

>>> import asyncio, mli, mli.aio, numpy as np
>>> async def transpose_twice(path):
...     async with await mli.aio.connect(path) as client:
...         first = client.start(np.arange(6, dtype=np.int8).reshape(2, 3), perm=(1, 0))
...         return await client.submit(await first, perm=(1, 0))
>>> with mli.serve() as client:
...     asyncio.run(transpose_twice(client.path))
array([[0, 1, 2],
       [3, 4, 5]], dtype=int8)
"""
from __future__ import annotations

import asyncio
import json
import os
import select
from typing import (TYPE_CHECKING, Any, AsyncIterator, Generator, Iterable, Sequence, SupportsFloat,
                    SupportsIndex, Union)

import numpy
from numpy.typing import DTypeLike

from . import _client
from . import _service
from ._buffers import Buffer, Shape, alloc_params, map_buffer
from ._events import KINDS, Queue, subscription
from ._jobs import (Event, Job, JobCost, JobInfo, as_sequence, ask_for, read_job, reference,
                    result_of)
from ._qjobs import split
from ._qtensor import QTensor
from ._typing import Destination, Offsets, Pad, Perm, Slice, Source, Step

if TYPE_CHECKING:
    from types import TracebackType

AnyJob = Union[int, str, _client.Ticket[Any], "Ticket"]

__all__ = ["Client", "Events", "Prepared", "Ticket", "connect"]


class _Loop:
    """A connection in an event loop: reads when the socket is readable, and writes when it can."""

    def __init__(self, connection: _client.Connection) -> None:
        self.connection = connection
        self.arrived: set[asyncio.Future[None]] = set()  # wait for any line
        self._loop = asyncio.get_running_loop()
        self._fd = connection.fd
        self._writing = self._flushing = False
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
        """Stop watching the socket. Legal after its end."""
        if self._fd >= 0 and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
            self._loop.remove_writer(self._fd)
        self._fd = -1

    async def reply(self, ticket: _client.Ticket[Any]) -> Any:
        """Return the result of a ticket when it has one."""
        if not ticket.done():
            self.flush_soon()
            future = self._loop.create_future()

            def wake(_: _client.Ticket[Any]) -> None:
                if not future.done():
                    future.set_result(None)

            ticket.add_done_callback(wake)
            await future
        return ticket.result()

    async def ask(self, method: str, params: dict[str, Any] | None = None,
                  fds: tuple[int, ...] = ()) -> Any:
        """Call a method and return its result."""
        text = None if params is None else json.dumps(params)
        return result_of(await self.reply(self.connection.call(method, text, fds)))

    async def references(self, jobs: AnyJob | Iterable[AnyJob]) -> list[int | str]:
        """Return numbers and names of jobs, which may take a look at the service's list."""
        found: list[int | str] = []
        listed: Sequence[Any]
        listed = (jobs,) if isinstance(jobs, Ticket) else as_sequence(jobs)  # type: ignore[arg-type]
        for job in listed:
            plain: Job = job._ticket if isinstance(job, Ticket) else job
            known = reference(plain)
            while known is None:
                assert not isinstance(plain, (int, str))
                question, numbers = ask_for(self.connection, plain)
                await self.reply(question)
                known = numbers[0] if numbers else reference(plain)
            found.append(known)
        return found


class Ticket:
    """A job on its way: `await ticket` is its result. A cancelled task cancels the job."""

    def __init__(self, loop: _Loop, ticket: _client.Ticket[Any]) -> None:
        self._loop = loop
        self._ticket = ticket

    @property
    def number(self) -> int | None:
        """Number of the job at the service; None before its end, and of a failed job."""
        return self._ticket.number

    @property
    def name(self) -> str | None:
        """Name of the job."""
        return self._ticket.name

    @property
    def cost(self) -> JobCost | None:
        """What the job took; None before its end."""
        return self._ticket.cost

    def done(self) -> bool:
        """Return whether the job has ended."""
        return self._ticket.done()

    def cancel(self) -> None:
        """Request that the job end early."""
        self._ticket.cancel()
        self._loop.flush_soon()

    async def _result(self) -> Any:
        try:
            return await self._loop.reply(self._ticket)
        except asyncio.CancelledError:
            self._ticket._abandon()
            if self._loop.connection.connected:
                self.cancel()
            raise

    def __await__(self) -> Generator[Any, None, Any]:
        return self._result().__await__()


class Prepared:
    """A job that the service has checked and planned once: `await prepared.start()`."""

    def __init__(self, loop: _Loop, prepared: _client.Prepared) -> None:
        self._loop = loop
        self._prepared = prepared

    @property
    def out(self) -> Any:
        """The array that receives the result."""
        return self._prepared.out

    def start(self, *, src: Source | None = None, out: Destination | None = None,
              priority: SupportsIndex | None = None,
              timeout: SupportsFloat | None = None) -> Ticket:
        """Start the job: see mli.Prepared.start."""
        ticket = self._prepared.start(src=src, out=out, priority=priority, timeout=timeout)
        self._loop.flush_soon()
        return Ticket(self._loop, ticket)

    def release(self) -> None:
        """Make the service forget the job. Starts on their way continue."""
        self._prepared.release()


class Events:
    """Events of jobs: `async for event in events`."""

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop
        self._queue = Queue(loop.connection)
        self._open = True

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while self._open:
            event = self._queue.next()
            if event is not None:
                return event
            future = asyncio.get_running_loop().create_future()
            self._loop.arrived.add(future)
            await future
        raise StopAsyncIteration

    def close(self) -> None:
        """End the subscription."""
        if self._open and self._loop.connection.connected:
            self._loop.connection.set_notify(None)
            self._loop.connection.send("events.subscribe", '{"events":[]}')
        self._open = False
        for future in self._loop.arrived:
            if not future.done():
                future.set_result(None)


class Client:
    """A connection to a service, in an event loop: as mli.Client, with coroutines.

    Made by `await mli.aio.connect()`. No call blocks the loop, but for copies of arrays that are not
    in shared memory: use buffers for large ones.
    """

    def __init__(self, connection: _client.Connection) -> None:
        self._connection = connection
        self._loop = _Loop(connection)

    async def close(self) -> None:
        """Close the connection. The service cancels its jobs and releases its buffers."""
        self._loop.stop()
        self._connection.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.close()

    @property
    def path(self) -> str:
        """Path of the socket, or the command."""
        return self._connection.path

    @property
    def connected(self) -> bool:
        """False after the loss of the connection was seen, and after close()."""
        return self._connection.connected

    def start(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: Destination | None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None,
              after: Sequence[int | str] | None = None, name: str | None = None) -> Ticket:
        """Send a move to the service: see mli.Client.start. `after`: numbers and names only."""
        ticket = self._connection.submit(src, pad=pad, slice=slice, step=step, perm=perm, out=out,
                                         at=at, channels=channels, priority=priority,
                                         timeout=timeout, after=after, name=name)
        self._loop.flush_soon()
        return Ticket(self._loop, ticket)

    async def submit(self, src: Source | QTensor, *, pad: Pad | None = None,
                     slice: Slice | None = None, step: Step | None = None,
                     perm: Perm | None = None, out: Destination | QTensor | None = None,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> Any:
        """Move on the service, and return the array that holds the result.

        A QTensor becomes a QTensor, as with mli.move().
        """
        finish = None
        target: Any = out
        if isinstance(src, QTensor):
            target, finish = split(src, out, at, {"pad": pad, "slice": slice, "step": step,
                                                  "perm": perm})
            src = src.data
        refs = None if after is None else await self._loop.references(after)
        result = await self.start(src, pad=pad, slice=slice, step=step, perm=perm, out=target,
                                  at=at, channels=channels, priority=priority, timeout=timeout,
                                  after=refs, name=name)
        return result if finish is None else finish(result)

    async def plan(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
                   step: Step | None = None, perm: Perm | None = None,
                   out: Destination | None = None, at: Offsets | None = None,
                   channels: SupportsIndex = 1, priority: SupportsIndex = 0,
                   name: str | None = None) -> Prepared:
        """Check and plan a move once, to start it often."""
        ticket = self._connection.prepare(src, pad=pad, slice=slice, step=step, perm=perm, out=out,
                                          at=at, channels=channels, priority=priority, name=name)
        return Prepared(self._loop, await self._loop.reply(ticket))

    async def buffer(self, shape: Shape, dtype: DTypeLike = numpy.uint8, *,
                     memory: str | None = None, address: int | None = None) -> Buffer:
        """Allocate memory that client and service share: see mli.Client.buffer."""
        params = alloc_params(shape, dtype, memory, address)
        ticket = self._connection.call("buffer.alloc", json.dumps(params))
        reply = result_of(await self._loop.reply(ticket))
        return map_buffer(self._connection, reply, ticket._take_fd(), shape, dtype)

    async def _one(self, job: AnyJob) -> int | str:
        return (await self._loop.references(job))[0]

    async def cancel(self, job: AnyJob) -> str:
        """Cancel a job, and return its state: "running" while it stops."""
        reply = await self._loop.ask("job.cancel", {"job": await self._one(job)})
        return str(reply["state"])

    async def wait(self, jobs: AnyJob | Iterable[AnyJob] | None = None,
                   timeout: SupportsFloat | None = None) -> None:
        """Wait until jobs have ended; None: all jobs of this client. See mli.Client.wait."""
        params: dict[str, Any] = {"all": True}
        if jobs is not None:
            listed = await self._loop.references(jobs)
            if not listed:
                return
            params = {"jobs": listed}
        if timeout is not None:
            params["timeout_ms"] = max(1, round(float(timeout) * 1000))
        await self._loop.ask("job.wait", params)

    async def status(self, job: AnyJob) -> JobInfo:
        """Return the description of a job."""
        return read_job(await self._loop.ask("job.status", {"job": await self._one(job)}))

    async def jobs(self, states: Sequence[str] | None = None, *, client: int | None = None,
                   name: str | None = None, before: int | None = None,
                   limit: int = 100) -> list[JobInfo]:
        """Return descriptions of jobs, the latest first."""
        params = {"states": states, "client": client, "name": name, "before": before,
                  "limit": limit}
        reply = await self._loop.ask("job.list", {key: value for key, value in params.items()
                                                  if value is not None})
        return [read_job(job) for job in reply["jobs"]]

    async def events(self, kinds: Sequence[str] = KINDS, *, scope: str = "connection",
                     interval: float = 0.25) -> Events:
        """Subscribe to events of jobs: `async for event in await client.events()`."""
        events = Events(self._loop)
        try:
            await self._loop.ask("events.subscribe", subscription(kinds, scope, interval))
        except BaseException:
            self._connection.set_notify(None)
            raise
        return events

    async def info(self) -> dict[str, Any]:
        """Return the description of the service: daemon.info in PROTOCOL.md."""
        return await self.call("daemon.info")

    async def stats(self) -> dict[str, Any]:
        """Return the counters of the service: daemon.stats in PROTOCOL.md."""
        return await self.call("daemon.stats")

    async def ping(self) -> None:
        """Wait for a reply of the service."""
        await self.call("daemon.ping")

    async def call(self, method: str, params: dict[str, Any] | None = None, *,
                   fds: Iterable[int] = ()) -> dict[str, Any]:
        """Call any method of the protocol, and return its result."""
        result = await self._loop.ask(method, params, tuple(fds))
        assert isinstance(result, dict)
        return result


async def connect(path: str | os.PathLike[str] | None = None, *,
                  host: str | None = None) -> Client:
    """Connect to a service: the arguments are those of mli.Client."""
    loop = asyncio.get_running_loop()
    connection = await loop.run_in_executor(None, _service.open_connection, path, host)
    return Client(connection)
