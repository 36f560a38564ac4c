# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of the service: what describes them, and how to refer to them."""
from __future__ import annotations

import json
import math
import operator
from typing import (TYPE_CHECKING, Any, Callable, Iterable, NamedTuple, Sequence, SupportsFloat,
                    Union)

from ._errors import Error
from ._records import fields
from ._service_error import ServiceError, from_reply

if TYPE_CHECKING:
    from ._client import Connection, Ticket

_GRACE = 0.25  # seconds that a reply to a wait with a limit may take longer
_SECONDS_MAX = 86400

Job = Union[int, str, "Ticket[Any]"]

_UNFINISHED = ("waiting", "queued", "running")


_QUEUED = "Nanoseconds from the admission of the job to its start."
_MOVING = "Nanoseconds from the start to the end."


@fields(bytes="Bytes written to the destination.",
        channels="DMA channels that the job used.",
        engine="Name of the engine, as in mli.engine().",
        ns_queued=_QUEUED,
        ns_moving=_MOVING)
class JobCost(NamedTuple):
    """The cost of a job that has ended."""
    bytes: int
    channels: int
    engine: str
    ns_queued: int
    ns_moving: int


@fields(job="Number of the job.",
        name="Name of the job, or None.",
        state='"waiting", "queued", "running", "done", "failed" or "cancelled".',
        client="Number of the connection that sent the job.",
        uid="User of the connection.",
        priority="-1, 0 or 1.",
        channels="DMA channels that the job requires.",
        first_channel="Number of the first of its channels; None before the start.",
        bytes="Bytes that the job writes.",
        bytes_done="Bytes that it has written so far.",
        detached="Whether the job continues without its connection.",
        ns_queued=_QUEUED,
        ns_moving=_MOVING,
        error="mli.ServiceError of a job that failed or was cancelled; else None.")
class JobInfo(NamedTuple):
    """A job, as the service describes it."""
    job: int
    name: str | None
    state: str
    client: int
    uid: int
    priority: int
    channels: int
    first_channel: int | None
    bytes: int
    bytes_done: int
    detached: bool
    ns_queued: int
    ns_moving: int
    error: ServiceError | None


@fields(kind='"queued", "started", "progress" or "done".',
        time_ns="Nanoseconds on the monotonic clock of the service's machine.",
        dropped="Events lost since the previous one, because they were not read in time.",
        job="mli.JobInfo at that time.")
class Event(NamedTuple):
    """Something that happened to a job."""
    kind: str
    time_ns: int
    dropped: int
    job: JobInfo


def read_job(reply: dict[str, Any]) -> JobInfo:
    """Return the JobInfo of a job in a reply."""
    error = reply.get("error")
    values = {name: reply.get(name) for name in JobInfo._fields}
    values["error"] = from_reply(error) if error else None
    return JobInfo(**values)  # type: ignore[arg-type]


def read_event(line: bytes) -> Event | None:
    """Return the Event of a notification; None for other notifications."""
    notification = json.loads(line)
    if notification.get("method") != "event":
        return None
    params = notification["params"]
    return Event(params["event"], params["time_ns"], params["dropped"], read_job(params["job"]))


def result_of(line: bytes) -> Any:
    """Return the member "result" of a reply."""
    return json.loads(line)["result"]


# References. A name means the latest job of the connection with that name, and the number of a job
# is unknown before its end: an older job on its way is found in the service's list of jobs.

def reference(job: Job) -> int | str | None:
    """Return the number or the name of a job; None if it must be looked up in the service's
    list."""
    if isinstance(job, str):
        return job
    if hasattr(job, "__index__"):
        number = operator.index(job)
        if not 0 < number < 2**63:
            raise Error("ARGUMENT_ERROR", "job", number, "numbers of jobs count from 1")
        return number
    if not hasattr(job, "_later"):
        raise TypeError(f"a job is required (a ticket, a number or a name), not {job!r}")
    if job._ended:
        if job.number is None:
            job.result()  # raises its error
        return job.number
    return job.name if job._named() else None


def ask_for(connection: Connection, ticket: Ticket[Any]) -> tuple[Ticket[bytes], list[int]]:
    """Ask for the number of a ticket's job. Return the question, and a list for the answer.

    The list stays empty if the job has ended. It is filled while the reply is handled, because
    later replies may end other jobs.
    """
    serial = connection.serial
    params = {"name": ticket.name, "states": _UNFINISHED, "limit": 1000}
    question = connection.call("job.list", json.dumps(params))
    found: list[int] = []

    def read(question: Ticket[bytes]) -> None:
        client = client_number(connection)
        jobs = result_of(question.result())["jobs"]  # the latest first
        numbers = [job["job"] for job in jobs if job["client"] == client]
        later = ticket._later(serial)
        if not ticket._ended and later < len(numbers):
            found.append(numbers[later])

    question.add_done_callback(_unless_lost(read))
    return question, found


def _unless_lost(callback: Callable[[Ticket[bytes]], None]) -> Callable[[Ticket[bytes]], None]:
    """Return a callback that ignores errors of the service, which calls that wait will raise."""
    def guarded(ticket: Ticket[bytes]) -> None:
        try:
            callback(ticket)
        except ServiceError:
            pass

    return guarded


def seconds_of(timeout: SupportsFloat | None) -> float | None:
    """Return a time limit in seconds; None: none."""
    if timeout is None:
        return None
    seconds = float(timeout)
    if seconds == math.inf:
        return None
    if not 0 <= seconds <= _SECONDS_MAX:
        raise Error("ARGUMENT_ERROR", "timeout", timeout,
                    f"seconds from 0 on, up to {_SECONDS_MAX}, are allowed")
    return seconds


def silence_after(seconds: float | None) -> float | None:
    """Return the seconds to wait for a service that itself keeps a time limit of `seconds`."""
    return None if seconds is None else seconds + _GRACE


def wait_params(jobs: Sequence[int | str] | None, seconds: float | None) -> dict[str, Any]:
    """Return the params of job.wait; None: all jobs."""
    params: dict[str, Any] = {"all": True} if jobs is None else {"jobs": jobs}
    if seconds is not None:
        params["timeout_ms"] = max(1, round(seconds * 1000))
    return params


def client_number(connection: Connection) -> int:
    """Return the number of a connection that has received a reply, and thus the greeting."""
    assert connection.greeting is not None
    number = json.loads(connection.greeting)["params"]["client"]
    assert isinstance(number, int)
    return number


def references(connection: Connection, jobs: Job | Iterable[Job],
               seconds: float | None = None) -> tuple[int | str, ...]:
    """Return the numbers or names that identify the jobs to the service.

    May ask the service for its list of jobs, and then waits at most `seconds` for each reply.
    """
    found: list[int | str] = []
    for job in as_sequence(jobs):
        known = reference(job)
        while known is None:
            assert not isinstance(job, (int, str))
            question, numbers = ask_for(connection, job)
            question.result(seconds)
            known = numbers[0] if numbers else reference(job)
        found.append(known)
    return tuple(found)


def as_sequence(jobs: Job | Iterable[Job]) -> Sequence[Job]:
    """Return one job, or several, as a sequence. Tickets of mli.aio become those of mli."""
    if isinstance(jobs, str) or not hasattr(jobs, "__iter__"):
        jobs = (jobs,)
    return tuple(getattr(job, "_ticket", job) for job in jobs)  # type: ignore[union-attr]


def cancel(connection: Connection, ticket: Ticket[Any], is_latest: bool) -> None:
    """Cancel the job of a ticket without waiting: by its name or number."""
    if is_latest:
        connection.send("job.cancel", json.dumps({"job": ticket.name}))
        return
    question, found = ask_for(connection, ticket)

    def cancel_it(_: Ticket[bytes]) -> None:
        for number in found:
            connection.send("job.cancel", json.dumps({"job": number}))

    question.add_done_callback(_unless_lost(cancel_it))
    connection.flush()
