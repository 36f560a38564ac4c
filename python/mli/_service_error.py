# SPDX-License-Identifier: BSD-3-Clause
"""The exception of the service."""
from __future__ import annotations

import re
from typing import Any

from ._errors import Error


def _field(pointer: str) -> str:
    """Return a JSON pointer as a field: "/src/shape/1" becomes "src.shape[1]"."""
    return re.sub(r"/(\d+)", r"[\1]", pointer).replace("/", ".").lstrip(".")


class ServiceError(Error):
    """The service refused a request or failed, or the connection is lost.

    Attributes
    ----------
    code : int
        Negative number of the error: see PROTOCOL.md; -1 to -10 are those of the client itself.
    name : str
        Name of the code, such as "TIMED_OUT", "CANCELLED", "LOST".
    message : str
        What was given and what is allowed.
    pointer : str or None
        JSON pointer to the member at fault, like "/src/shape/1".
    job : int or None
        Number of the failed job, if a call waited for several.
    status, field, given, allowed
        As in mli.Error. The status is that of libmli if the job was refused, else the name.
    """

    def __init__(self, code: int, name: str, message: str, pointer: str | None = None,
                 job: int | None = None, status: str | None = None) -> None:
        super().__init__(status.removeprefix("MLI_STATUS_") if status else name,
                         _field(pointer or ""), None, message)
        self.args = (code, name, message, pointer, job, status)
        self.code = code
        self.name = name
        self.message = message
        self.pointer = pointer
        self.job = job

    def __str__(self) -> str:
        return f"{self.message} ({self.name})"


class ServiceTimeoutError(TimeoutError, ServiceError):
    """The service did not reply in time: a ServiceError, and a TimeoutError of Python too.

    The request continues, and its reply is dropped when it arrives.
    """

    def __init__(self, *args: Any) -> None:
        ServiceError.__init__(self, *args)

    def __str__(self) -> str:
        return ServiceError.__str__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


def no_reply(seconds: float) -> ServiceTimeoutError:
    """Return the exception for a wait that has timed out."""
    return ServiceTimeoutError(-4, "WAITED", f"the service has not replied within {seconds:g} s")


def timed_out(seconds: float) -> ServiceTimeoutError:
    """Return the exception for a service that should have kept a time limit but is silent."""
    return ServiceTimeoutError(-32003, "TIMED_OUT", f"timeout: {seconds:g} s are over, and the "
                               "service is silent")


def from_reply(error: dict[str, Any]) -> ServiceError:
    """Return the exception for the member "error" of a reply or of a job."""
    data = error.get("data", {})
    return ServiceError(error["code"], data.get("name", "UNKNOWN"), error["message"],
                        data.get("pointer"), data.get("job"), data.get("status"))
