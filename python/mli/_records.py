# SPDX-License-Identifier: BSD-3-Clause
"""Named tuples whose fields help() describes."""
from __future__ import annotations

from typing import Callable, TypeVar

_Record = TypeVar("_Record", bound=type)


def fields(**texts: str) -> Callable[[_Record], _Record]:
    """Return a decorator that sets the docstrings of the fields of a NamedTuple."""
    def describe(record: _Record) -> _Record:
        for name, text in texts.items():
            getattr(record, name).__doc__ = text
        return record

    return describe
