# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of the service: what describes them, and how to refer to them."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple, Sequence, Union

from ._service_error import ServiceError, from_reply

if TYPE_CHECKING:
    from ._client import Connection, Ticket

Job = Union[int, str, "Ticket[Any]"]

_UNFINISHED = ("waiting", "queued", "running")


class JobCost(NamedTuple):
    """What a job that has ended took."""
    bytes: int  # written
    channels: int
    engine: str
    ns_queued: int  # nanoseconds from the request to the start
    ns_moving: int  # and from the start to the end


class JobInfo(NamedTuple):
    """A job, as the service describes it."""
    job: int
    name: str | None
    state: str  # "waiting", "queued", "running", "done", "failed" or "cancelled"
    client: int  # number of the connection
    uid: int
    priority: int
    channels: int
    first_channel: int | None  # None: not started
    bytes: int
    bytes_done: int
    detached: bool
    ns_queued: int
    ns_moving: int
    error: ServiceError | None


class Event(NamedTuple):
    """Something that happened to a job."""
    kind: str  # "queued", "started", "progress" or "done"
    time_ns: int  # on the service's monotonic clock
    dropped: int  # events lost since the previous one
    job: JobInfo


def read_job(reply: dict[str, Any]) -> JobInfo:
    """Return the JobInfo of a job in a reply."""
    error = reply.get("error")
    values = {name: reply.get(name) for name in JobInfo._fields}
    values["error"] = from_reply(error) if error else None
    return JobInfo(**values)  # type: ignore[arg-type]


def read_event(line: bytes) -> Event | None:
    """Return the Event of a notification; None if it is another one."""
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
    """Return the number or the name that means a job; None: only the service's list has it."""
    if isinstance(job, (int, str)):
        return job
    if job.done():
        if job.number is None:
            job.result()  # raises its error
        return job.number
    return job.name if job._named() else None


def ask_for(connection: Connection, ticket: Ticket[Any]) -> tuple[Ticket[bytes], list[int]]:
    """Ask for the number of a ticket's job. Return the question, and a list for the answer.

    The list stays empty if the job has ended. It is filled when the reply arrives: later replies
    change which jobs are on their way.
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
        if not ticket.done() and later < len(numbers):
            found.append(numbers[later])

    question.add_done_callback(_unless_lost(read))
    return question, found


def _unless_lost(callback: Callable[[Ticket[bytes]], None]) -> Callable[[Ticket[bytes]], None]:
    """Return a callback that ignores errors of the service: whoever waits gets them."""
    def guarded(ticket: Ticket[bytes]) -> None:
        try:
            callback(ticket)
        except ServiceError:
            pass

    return guarded


def client_number(connection: Connection) -> int:
    """Return the number of a connection that has received a reply, and thus the greeting."""
    assert connection.greeting is not None
    number = json.loads(connection.greeting)["params"]["client"]
    assert isinstance(number, int)
    return number


def references(connection: Connection, jobs: Job | Iterable[Job]) -> tuple[int | str, ...]:
    """Return numbers and names of jobs. May wait for the service's list."""
    found: list[int | str] = []
    for job in as_sequence(jobs):
        known = reference(job)
        while known is None:
            assert not isinstance(job, (int, str))
            question, numbers = ask_for(connection, job)
            question.result()
            known = numbers[0] if numbers else reference(job)
        found.append(known)
    return tuple(found)


def as_sequence(jobs: Job | Iterable[Job]) -> Sequence[Job]:
    """Return one job, or several, as a sequence."""
    if isinstance(jobs, (int, str)) or hasattr(jobs, "_later"):
        return (jobs,)  # type: ignore[return-value]
    return tuple(jobs)


def cancel(connection: Connection, ticket: Ticket[Any], is_latest: bool) -> None:
    """Cancel the job of a ticket without waiting: by its name, or after a look at the list."""
    if is_latest:
        connection.send("job.cancel", json.dumps({"job": ticket.name}))
        return
    question, found = ask_for(connection, ticket)

    def cancel_it(_: Ticket[bytes]) -> None:
        for number in found:
            connection.send("job.cancel", json.dumps({"job": number}))

    question.add_done_callback(_unless_lost(cancel_it))
    connection.flush()
