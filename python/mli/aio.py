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
from typing import (TYPE_CHECKING, Any, AsyncIterator, Generator, Generic, Iterable, Sequence,
                    SupportsFloat, SupportsIndex, TypeVar, overload)

import numpy
from numpy.typing import DTypeLike, NDArray

from . import _client
from . import _service
from ._aio_loop import AnyJob, Loop, known
from ._buffers import Buffer, Shape, alloc_params, duplicate, map_buffer
from ._events import KINDS, Queue, subscription
from ._jobs import (Event, JobCost, JobInfo, read_job, result_of, seconds_of, silence_after,
                    wait_params)
from ._qjobs import send
from ._qtensor import QTensor
from ._service_error import ServiceTimeoutError, timed_out
from ._typing import Destination, Offsets, Pad, Perm, Slice, Source, Step

if TYPE_CHECKING:
    from types import TracebackType

_T = TypeVar("_T", bound=numpy.generic)
_Out = TypeVar("_Out", bound=Destination)
_Result_co = TypeVar("_Result_co", covariant=True)

__all__ = ["Client", "Events", "Prepared", "Ticket", "connect"]


class Ticket(Generic[_Result_co]):
    """A job on its way: `await ticket` is its result. A cancelled task cancels the job."""

    def __init__(self, loop: Loop, ticket: _client.Ticket[_Result_co]) -> None:
        self._loop = loop
        self._ticket = ticket

    @property
    def number(self) -> int | None:
        """Number of the job at the service; None until the job has ended, and if it failed."""
        return self._ticket.number

    @property
    def name(self) -> str | None:
        """Name of the job."""
        return self._ticket.name

    @property
    def cost(self) -> JobCost | None:
        """The cost of the job; None before its end."""
        return self._ticket.cost

    def done(self) -> bool:
        """Return whether the job has ended."""
        return self._ticket._ended

    def cancel(self) -> None:
        """Request that the job end early."""
        self._ticket.cancel()
        self._loop.flush_soon()

    async def _result(self, seconds: float | None = None) -> _Result_co:
        try:
            return await self._loop.reply(self._ticket, seconds)
        except asyncio.CancelledError:
            self._give_up()
            raise

    def _give_up(self) -> None:
        self._ticket._abandon()
        if self._loop.connection.connected:
            self.cancel()

    def __await__(self) -> Generator[Any, None, _Result_co]:
        return self._result().__await__()


class Prepared:
    """A job that the service has checked and planned once: `await prepared.start()`."""

    def __init__(self, loop: Loop, prepared: _client.Prepared) -> None:
        self._loop = loop
        self._prepared = prepared

    @property
    def out(self) -> Any:
        """The array that receives the result."""
        return self._prepared.out

    def start(self, *, src: Source | None = None, out: Destination | None = None,
              priority: SupportsIndex | None = None,
              timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None) -> Ticket[Any]:
        """Start the job: see mli.Prepared.start."""
        ticket = self._prepared.start(src=src, out=out, priority=priority, timeout=timeout,
                                      after=known(after))
        self._loop.flush_soon()
        return Ticket(self._loop, ticket)

    def release(self) -> None:
        """Make the service forget the job. Jobs that were started before continue."""
        self._prepared.release()


class Events:
    """Events of jobs: `async for event in events`."""

    def __init__(self, loop: Loop) -> None:
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
            self._loop.connection.send("events.subscribe", '{"events":[]}')
        self._forget()

    def _forget(self) -> None:
        self._open = False
        self._queue.forget()
        for future in self._loop.arrived:
            if not future.done():
                future.set_result(None)


class Client:
    """A connection to a service, in an event loop: like mli.Client, with coroutines.

    Made by `await mli.aio.connect()`. No call blocks the loop, but for copies of arrays that are not
    in shared memory: use buffers for large ones.
    """

    _last_path = ""  # after close()

    def __init__(self, connection: _client.Connection) -> None:
        self._connection = connection
        self._loop = Loop(connection)

    async def close(self) -> None:
        """Close the connection. The service cancels its jobs and releases its buffers."""
        self._last_path = self.path
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
        return self._connection.path or self._last_path

    @property
    def connected(self) -> bool:
        """False after the loss of the connection was seen, and after close()."""
        return self._connection.connected

    @property
    def pending(self) -> int:
        """Requests without a reply."""
        return self._connection.pending

    @property
    def timeout(self) -> float | None:
        """Seconds that calls without a limit of their own wait for a reply; None: forever."""
        return self._connection.timeout

    @timeout.setter
    def timeout(self, seconds: SupportsFloat | None) -> None:
        self._connection.timeout = seconds_of(seconds)

    @overload
    def start(self, src: QTensor, *, pad: Pad | None = None,
              slice: Slice | None = None, step: Step | None = None,
              perm: Perm | None = None, out: Destination | QTensor | None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1,
              priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None,
              name: str | None = None) -> Ticket[QTensor]: ...
    @overload
    def start(self, src: NDArray[_T], *, pad: Pad | None = None,
              slice: Slice | None = None, step: Step | None = None,
              perm: Perm | None = None, out: None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1,
              priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None,
              name: str | None = None) -> Ticket[NDArray[_T]]: ...
    @overload
    def start(self, src: Source, *, pad: Pad | None = None,
              slice: Slice | None = None, step: Step | None = None,
              perm: Perm | None = None, out: _Out,
              at: Offsets | None = None, channels: SupportsIndex = 1,
              priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None,
              name: str | None = None) -> Ticket[_Out]: ...
    @overload
    def start(self, src: Source, *, pad: Pad | None = None,
              slice: Slice | None = None, step: Step | None = None,
              perm: Perm | None = None, out: None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1,
              priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None,
              name: str | None = None) -> Ticket[NDArray[Any]]: ...
    def start(self, src: Any, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: Any = None,
              at: Offsets | None = None, channels: SupportsIndex = 1,
              priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
              after: AnyJob | Iterable[AnyJob] | None = None,
              name: str | None = None) -> Ticket[Any]:
        """Send a move to the service: see mli.Client.start."""
        arguments = dict(pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                         channels=channels, priority=priority, timeout=timeout,
                         after=known(after), name=name)
        ticket = (send(self._connection.submit, src, arguments) if isinstance(src, QTensor) else
                  self._connection.submit(src, **arguments))
        self._loop.flush_soon()
        return Ticket(self._loop, ticket)

    @overload
    async def submit(self, src: QTensor, *, pad: Pad | None = None,
                     slice: Slice | None = None, step: Step | None = None,
                     perm: Perm | None = None, out: Destination | QTensor | None = None,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> QTensor: ...
    @overload
    async def submit(self, src: NDArray[_T], *, pad: Pad | None = None,
                     slice: Slice | None = None, step: Step | None = None,
                     perm: Perm | None = None, out: None = None,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> NDArray[_T]: ...
    @overload
    async def submit(self, src: Source, *, pad: Pad | None = None,
                     slice: Slice | None = None, step: Step | None = None,
                     perm: Perm | None = None, out: _Out,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> _Out: ...
    @overload
    async def submit(self, src: Source, *, pad: Pad | None = None,
                     slice: Slice | None = None, step: Step | None = None,
                     perm: Perm | None = None, out: None = None,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> NDArray[Any]: ...
    async def submit(self, src: Any, *, pad: Pad | None = None, slice: Slice | None = None,
                     step: Step | None = None, perm: Perm | None = None, out: Any = None,
                     at: Offsets | None = None, channels: SupportsIndex = 1,
                     priority: SupportsIndex = 0, timeout: SupportsFloat | None = None,
                     after: AnyJob | Iterable[AnyJob] | None = None,
                     name: str | None = None) -> Any:
        """Move on the service, and return the array that holds the result: see start()."""
        refs = None if after is None else await self._loop.references(after)
        await self._loop.room()
        ticket = self.start(src, pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                            channels=channels, priority=priority, timeout=timeout, after=refs,
                            name=name)
        try:
            return await ticket._result(silence_after(seconds_of(timeout)))
        except ServiceTimeoutError:
            ticket._give_up()
            if timeout is None:
                raise
            raise timed_out(float(timeout)) from None

    async def plan(self, src: Source | QTensor, *, pad: Pad | None = None,
                   slice: Slice | None = None, step: Step | None = None, perm: Perm | None = None,
                   out: Destination | QTensor | None = None, at: Offsets | None = None,
                   channels: SupportsIndex = 1, priority: SupportsIndex = 0,
                   name: str | None = None) -> Prepared:
        """Check and plan a move once, to start it often."""
        arguments = dict(pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                         channels=channels, priority=priority, name=name)
        ticket: _client.Ticket[Any]
        ticket = (send(self._connection.prepare, src, arguments) if isinstance(src, QTensor) else
                  self._connection.prepare(src, **arguments))
        return Prepared(self._loop, await self._loop.reply(ticket))

    async def buffer(self, shape: Shape, dtype: DTypeLike = numpy.uint8, *,
                     memory: str | None = None, address: int | None = None) -> Buffer:
        """Allocate memory that client and service share: see mli.Client.buffer."""
        params = alloc_params(shape, dtype, memory, address)
        ticket = self._connection.call("buffer.alloc", json.dumps(params))
        reply = result_of(await self._loop.reply(ticket))
        return map_buffer(self._connection, reply, ticket._take_fd(), shape, dtype)

    async def register(self, fd: int, shape: Shape, dtype: DTypeLike = numpy.uint8) -> Buffer:
        """Share the beginning of a file, memfd or dma-buf: see mli.Client.register."""
        params = alloc_params(shape, dtype, None, None)
        reply = await self.call("buffer.register", {"fd": 0, **params}, fds=(fd,))
        return map_buffer(self._connection, reply, duplicate(fd), shape, dtype)

    async def _one(self, job: AnyJob) -> int | str:
        return (await self._loop.references(job))[0]

    async def cancel(self, job: AnyJob) -> str:
        """Cancel a job, and return its state: "running" while it stops."""
        reply = await self._loop.ask("job.cancel", {"job": await self._one(job)})
        return str(reply["state"])

    async def wait(self, jobs: AnyJob | Iterable[AnyJob] | None = None,
                   timeout: SupportsFloat | None = None) -> None:
        """Wait until jobs have ended; None: all jobs of this client. See mli.Client.wait."""
        seconds = seconds_of(timeout)
        limit = silence_after(seconds)
        try:
            listed = None
            if jobs is not None:
                listed = await self._loop.references(jobs, limit)
                if not listed:
                    return
            await self._loop.ask("job.wait", wait_params(listed, seconds), seconds=limit)
        except ServiceTimeoutError:
            if seconds is None:
                raise
            raise timed_out(seconds) from None

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
            events._forget()
            raise
        return events

    async def info(self, timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Return the description of the service: daemon.info in PROTOCOL.md."""
        return await self.call("daemon.info", timeout=timeout)

    async def stats(self, timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Return the counters of the service: daemon.stats in PROTOCOL.md."""
        return await self.call("daemon.stats", timeout=timeout)

    async def ping(self, timeout: SupportsFloat | None = None) -> None:
        """Wait for a reply of the service, at most `timeout` seconds."""
        await self.call("daemon.ping", timeout=timeout)

    async def drain(self, wait: bool = True) -> str:
        """Make the service refuse new jobs, and return its state: see mli.Client.drain."""
        return str((await self.call("daemon.drain", {"wait": wait}))["state"])

    async def resume(self) -> str:
        """Make the service accept jobs again, and return its state."""
        return str((await self.call("daemon.resume"))["state"])

    async def call(self, method: str, params: dict[str, Any] | None = None, *,
                   fds: Iterable[int] = (),
                   timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Call any method of the protocol, and return its result: see mli.Client.call."""
        result = await self._loop.ask(method, params, tuple(fds), seconds_of(timeout))
        assert isinstance(result, dict)
        return result


async def connect(path: str | os.PathLike[str] | None = None, *,
                  host: str | None = None, timeout: SupportsFloat | None = None) -> Client:
    """Connect to a service: the arguments are those of mli.Client."""
    seconds = seconds_of(timeout)
    loop = asyncio.get_running_loop()
    connection = await loop.run_in_executor(None, _service.open_connection, path, host)
    connection.timeout = seconds
    return Client(connection)
