# SPDX-License-Identifier: BSD-3-Clause
"""Exceptions of the package."""
from __future__ import annotations

import re
from typing import Any


class Error(ValueError):
    """A move, or another call, was refused or has failed.

    Attributes
    ----------
    status : str
        Name of the status of libmli, like "BAD_FUNC_CFG".
    field : str
        The argument, like "pad[1]".
    given
        The value that was given, or None.
    allowed : str
        What is allowed.
    """

    def __init__(self, status: str, field: str, given: Any, allowed: str) -> None:
        super().__init__(status, field, given, allowed)
        self.status = status
        self.field = field
        self.given = given
        self.allowed = allowed

    def __str__(self) -> str:
        given = "" if self.given is None else f"{self.given!r} given; "
        field = f"{self.field}: " if self.field else ""
        return f"{field}{given}{self.allowed} ({self.status})"


def from_sentence(status: str, sentence: str) -> Error:
    """Return the Error for a text of mli_last_error(), like "cfg.size[1]: 9 given; at most 8"."""
    found = re.match(r"([\w.\[\]]+): (?:(-?\d+) given; )?(.*)", sentence)
    if not found:
        return Error(status, "", None, sentence or "not possible now")
    field, given, allowed = found.groups()
    field = re.sub(r"\bdst\b", "out", field)
    field = re.sub(r"\.data\.mem\b", "", field).replace(".mem_stride", ".strides")
    return Error(status, field, None if given is None else int(given), allowed)
