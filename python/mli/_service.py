# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on a service (mlid), with calls that wait."""
from __future__ import annotations

import json
import os
from typing import (TYPE_CHECKING, Any, Iterable, Sequence, SupportsFloat, SupportsIndex, TypeVar,
                    overload)

import numpy
from numpy.typing import DTypeLike, NDArray

from . import _client, _host
from ._buffers import Buffer, Shape, alloc_params, duplicate, map_buffer
from ._client import Prepared, Ticket
from ._events import KINDS, Events, subscription
from ._jobs import (Job, JobInfo, as_sequence, read_job, references, result_of, seconds_of,
                    silence_after, wait_params)
from ._qjobs import send
from ._qtensor import QTensor
from ._service_error import ServiceTimeoutError, timed_out
from ._typing import Destination, Offsets, Pad, Perm, Slice, Source, Step

if TYPE_CHECKING:
    from types import TracebackType

    from ._server import Server

_T = TypeVar("_T", bound=numpy.generic)
_Out = TypeVar("_Out", bound=Destination)


def open_connection(path: str | os.PathLike[str] | None, host: str | None) -> _client.Connection:
    """Connect to a socket, or by ssh."""
    name = None if path is None else os.fspath(path)
    if host is not None:
        return spawn_connection(_host.command_for(host, name))
    return _client.connect(name)


def spawn_connection(command: Sequence[str]) -> _client.Connection:
    """Start a command and talk over its standard streams."""
    return _client.spawn([os.fsencode(word) for word in command])


class Client:
    """A connection to a service (mlid).

    Parameters
    ----------
    path : str, optional
        The socket of the service. Default: $MLID_SOCKET, else $XDG_RUNTIME_DIR/mlid.sock, else
        /run/mlid.sock. With `host`: the path there.
    host : str, optional
        ssh://[user@]host[:port], as for mlictl -H: the bytes of arrays are sent. Buffers and plans
        need shared memory, and are refused.
    timeout : float, optional
        Seconds that a call waits for the reply of the service if it has no `timeout` of its own;
        then it raises mli.ServiceTimeoutError, which is a TimeoutError too. Default: forever.
        Include the time that jobs take. It can be changed: `client.timeout = 5`.

    >>> import mli, numpy as np
    >>> with mli.serve(channels=2) as client:
    ...     client.submit(np.arange(6, dtype=np.int8).reshape(2, 3), perm=(1, 0))
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int8)

    Errors are mli.ServiceError, with `code`, `name`, `pointer` and `job`. One thread at a time may
    use a client: make one for each thread. After a fork, a child connects again.
    """

    _server: Server | None = None
    _last_path = ""  # after close()

    def __init__(self, path: str | os.PathLike[str] | None = None, *, host: str | None = None,
                 timeout: SupportsFloat | None = None) -> None:
        seconds = seconds_of(timeout)
        self._connection = open_connection(path, host)
        self._connection.timeout = seconds

    @classmethod
    def _of(cls, connection: _client.Connection) -> Client:
        client = cls.__new__(cls)
        client._connection = connection
        return client

    @classmethod
    def spawn(cls, command: Sequence[str]) -> Client:
        """Start a command, like ["ssh", "board", "mlictl", "proxy"], and talk over its streams."""
        return cls._of(spawn_connection(command))

    @classmethod
    def adopt(cls, socket: int, inline: bool = False) -> Client:
        """Use the descriptor of a connected socket, which the client owns from now on.

        `inline`: the stream carries no descriptors, so that bytes are sent instead.
        """
        return cls._of(_client.adopt(socket, inline))

    def close(self) -> None:
        """Close the connection. The service cancels its jobs and releases its buffers."""
        self._last_path = self.path
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    @property
    def server(self) -> Server | None:
        """The mli.Server that made the client; None if this program did not start the service."""
        return self._server

    @property
    def path(self) -> str:
        """Path of the socket, or the command."""
        return self._connection.path or self._last_path

    @property
    def timeout(self) -> float | None:
        """Seconds that calls without a limit of their own wait for a reply; None: forever."""
        return self._connection.timeout

    @timeout.setter
    def timeout(self, seconds: SupportsFloat | None) -> None:
        self._connection.timeout = seconds_of(seconds)

    @property
    def connected(self) -> bool:
        """False after the loss of the connection was seen, and after close().

        True does not mean that a command or a host has answered: ping() waits for that.
        """
        return self._connection.connected

    @property
    def pending(self) -> int:
        """Requests without a reply."""
        return self._connection.pending

    # Jobs

    @overload
    def start(self, src: QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None,
              out: QTensor | Destination | None = None, at: Offsets | None = None,
              channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
              name: str | None = None) -> Ticket[QTensor]: ...
    @overload
    def start(self, src: NDArray[_T], *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
              name: str | None = None) -> Ticket[NDArray[_T]]: ...
    @overload
    def start(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: _Out,
              at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
              name: str | None = None) -> Ticket[_Out]: ...
    @overload
    def start(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: None = None,
              at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
              name: str | None = None) -> Ticket[NDArray[Any]]: ...
    def start(self, src: Any, *, pad: Pad | None = None, slice: Slice | None = None,
              step: Step | None = None, perm: Perm | None = None, out: Any = None,
              at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
              timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
              name: str | None = None) -> Ticket[Any]:
        """Send a move to the service, and return its mli.Ticket at once.

        The arguments `pad`, `slice`, `step`, `perm`, `out` and `at` are those of mli.move().
        Arrays in buffers of the client, and results of earlier jobs, are not copied. The samples
        of any other source are copied into shared memory now; a result for any other `out` is
        copied into it at the end of the job, in the call that waits for it. The result of a
        QTensor is a QTensor, as with mli.move().

        Parameters
        ----------
        channels : int
            DMA channels, 1 to 16.
        priority : int
            -1, 0 or 1.
        timeout : float, optional
            Seconds after which the service gives the job up (TIMED_OUT).
        after : tickets, numbers or names, optional
            Jobs that must succeed before this one starts; at most 64.
        name : str, optional
            Name in the service's log and lists: 1 to 128 characters of A-Z a-z 0-9 _ . : -
            that do not begin with "py:". Default: a generated name, which begins with "py:".

        Raises
        ------
        mli.Error
            The move is not possible, or not in one move of libmli.
        """
        if isinstance(src, QTensor):
            return send(self._connection.submit, src,
                        dict(pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                             channels=channels, priority=priority, timeout=timeout, after=after,
                             name=name))
        return self._connection.submit(src, pad=pad, slice=slice, step=step, perm=perm, out=out,
                                       at=at, channels=channels, priority=priority,
                                       timeout=timeout, after=after, name=name)

    @overload
    def submit(self, src: QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
               step: Step | None = None, perm: Perm | None = None,
               out: Destination | QTensor | None = None, at: Offsets | None = None,
               channels: SupportsIndex = 1, priority: SupportsIndex = 0,
               timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
               name: str | None = None) -> QTensor: ...
    @overload
    def submit(self, src: NDArray[_T], *, pad: Pad | None = None, slice: Slice | None = None,
               step: Step | None = None, perm: Perm | None = None, out: None = None,
               at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
               timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
               name: str | None = None) -> NDArray[_T]: ...
    @overload
    def submit(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
               step: Step | None = None, perm: Perm | None = None, out: _Out,
               at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
               timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
               name: str | None = None) -> _Out: ...
    @overload
    def submit(self, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
               step: Step | None = None, perm: Perm | None = None, out: None = None,
               at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
               timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
               name: str | None = None) -> NDArray[Any]: ...
    def submit(self, src: Any, *, pad: Pad | None = None, slice: Slice | None = None,
               step: Step | None = None, perm: Perm | None = None, out: Any = None,
               at: Offsets | None = None, channels: SupportsIndex = 1, priority: SupportsIndex = 0,
               timeout: SupportsFloat | None = None, after: Job | Iterable[Job] | None = None,
               name: str | None = None) -> Any:
        """Move on the service, and return the array that holds the result: see start()."""
        ticket = self.start(src, pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                            channels=channels, priority=priority, timeout=timeout, after=after,
                            name=name)
        return self._finish(ticket, timeout)

    def _finish(self, ticket: Ticket[Any], timeout: SupportsFloat | None) -> Any:
        """Return the result of a ticket that no other code uses. If the wait is interrupted,
        cancel it."""
        try:
            return ticket.result(None if timeout is None else silence_after(float(timeout)))
        except BaseException as error:
            if not ticket._ended and not self._connection.closed:
                ticket._abandon()
                ticket.cancel()
                if timeout is not None and isinstance(error, ServiceTimeoutError):
                    raise timed_out(float(timeout)) from None
            raise

    def plan(self, src: Source | QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
             step: Step | None = None, perm: Perm | None = None,
             out: Destination | QTensor | None = None, at: Offsets | None = None,
             channels: SupportsIndex = 1, priority: SupportsIndex = 0,
             name: str | None = None) -> Prepared:
        """Check and plan a move once, to start it often: `client.plan(...).start()`.

        Each start moves what `src` holds then. The arguments are those of start().
        """
        arguments = dict(pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                         channels=channels, priority=priority, name=name)
        if isinstance(src, QTensor):
            prepared = send(self._connection.prepare, src, arguments).result()
        else:
            prepared = self._connection.prepare(src, **arguments).result()
        assert isinstance(prepared, Prepared)
        return prepared

    # Buffers

    def buffer(self, shape: Shape, dtype: DTypeLike = numpy.uint8, *, memory: str | None = None,
               address: int | None = None) -> Buffer:
        """Allocate memory that client and service share; `buffer.array()` is an array in it.

        `memory` and `address` place it in a memory of the service's board (target profile).
        """
        params = alloc_params(shape, dtype, memory, address)
        ticket = self._connection.call("buffer.alloc", json.dumps(params))
        reply = result_of(ticket.result())
        return map_buffer(self._connection, reply, ticket._take_fd(), shape, dtype)

    def register(self, fd: int, shape: Shape, dtype: DTypeLike = numpy.uint8) -> Buffer:
        """Share the beginning of a file, memfd or dma-buf. The caller keeps the descriptor."""
        params = alloc_params(shape, dtype, None, None)
        reply = self.call("buffer.register", {"fd": 0, **params}, fds=(fd,))
        return map_buffer(self._connection, reply, duplicate(fd), shape, dtype)

    # Status of jobs

    def _one(self, job: Job) -> int | str:
        return references(self._connection, job)[0]

    def cancel(self, job: Job) -> str:
        """Cancel a job, and return its state: "running" while it stops."""
        state = self.call("job.cancel", {"job": self._one(job)})["state"]
        assert isinstance(state, str)
        return state

    def wait(self, jobs: Job | Iterable[Job] | None = None,
             timeout: SupportsFloat | None = None) -> None:
        """Wait until jobs have ended; None: all jobs of this client.

        Raises the error of the first that failed; ServiceError TIMED_OUT after `timeout` seconds.
        """
        seconds = seconds_of(timeout)
        try:
            listed = None
            if jobs is not None:
                listed = references(self._connection, as_sequence(jobs), silence_after(seconds))
                if not listed:
                    return
            self.call("job.wait", wait_params(listed, seconds), timeout=silence_after(seconds))
        except ServiceTimeoutError:
            if seconds is None:
                raise
            raise timed_out(seconds) from None

    def status(self, job: Job) -> JobInfo:
        """Return the description of a job."""
        return read_job(self.call("job.status", {"job": self._one(job)}))

    def jobs(self, states: Sequence[str] | None = None, *, client: int | None = None,
             name: str | None = None, before: int | None = None,
             limit: int = 100) -> list[JobInfo]:
        """Return descriptions of jobs, the latest first: jobs of the user; all jobs for root."""
        params = {"states": states, "client": client, "name": name, "before": before,
                  "limit": limit}
        reply = self.call("job.list", {key: value for key, value in params.items()
                                       if value is not None})
        return [read_job(job) for job in reply["jobs"]]

    def events(self, kinds: Sequence[str] = KINDS, *, scope: str = "connection",
               interval: float = 0.25) -> Events:
        """Subscribe to events of jobs; iteration waits for each.

        A client has one subscription at a time: close it, or make another client for a second.

        `kinds`: any of "queued", "started", "progress", "done". `scope`: "connection", "user" or
        "all". `interval`: seconds between two progress events of a job.
        """
        events = Events(self._connection)  # refuses a second subscription
        try:
            self.call("events.subscribe", subscription(kinds, scope, interval))
        except BaseException:
            events._forget()
            raise
        return events

    # The service

    @property
    def greeting(self) -> dict[str, Any]:
        """The first line of the service: protocol, version, client, capabilities, limits."""
        if self._connection.greeting is None:
            self.ping()
        assert self._connection.greeting is not None
        params = json.loads(self._connection.greeting)["params"]
        assert isinstance(params, dict)
        return params

    def info(self, timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Return the description of the service: daemon.info in PROTOCOL.md."""
        return self.call("daemon.info", timeout=timeout)

    def stats(self, timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Return the counters of the service: daemon.stats in PROTOCOL.md."""
        return self.call("daemon.stats", timeout=timeout)

    def ping(self, timeout: SupportsFloat | None = None) -> None:
        """Wait for a reply of the service, at most `timeout` seconds."""
        self.call("daemon.ping", timeout=timeout)

    def drain(self, wait: bool = True) -> str:
        """Make the service refuse new jobs, and return its state: for its user and root only."""
        return str(self.call("daemon.drain", {"wait": wait})["state"])

    def resume(self) -> str:
        """Make the service accept jobs again, and return its state."""
        return str(self.call("daemon.resume")["state"])

    def call(self, method: str, params: dict[str, Any] | None = None, *, fds: Iterable[int] = (),
             timeout: SupportsFloat | None = None) -> dict[str, Any]:
        """Call any method of the protocol, and return its result.

        Raises mli.ServiceError; mli.ServiceTimeoutError after `timeout` seconds without a reply.
        """
        text = None if params is None else json.dumps(params)
        ticket = self._connection.call(method, text, tuple(fds))
        result = result_of(ticket.result(seconds_of(timeout)))
        assert isinstance(result, dict)
        return result

    def __repr__(self) -> str:
        connection = self._connection
        if connection.closed or not connection.connected:
            state = "closed" if connection.closed else "lost"
        else:
            state = "connected" if connection.greeting else "connected, no reply yet"
        return f"<mli.Client {self.path}: {state}>"
