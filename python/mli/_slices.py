# SPDX-License-Identifier: BSD-3-Clause
"""Indices as text: "1:9, ::2" as in job files."""
from __future__ import annotations

from ._errors import Error
from ._typing import Index


def _number(text: str, place: str) -> int | None:
    text = text.strip()
    try:
        return int(text) if text else None
    except ValueError:
        raise Error("BAD_FUNC_CFG", place, text, "integers are allowed") from None


def _index(text: str, place: str) -> Index:
    if text.strip() == "...":
        return Ellipsis
    parts = text.split(":")
    if len(parts) > 3:
        raise Error("BAD_FUNC_CFG", place, text, "start:stop:step is allowed")
    numbers = [_number(part, place) for part in parts]
    if len(parts) == 1:
        if numbers[0] is None:
            raise Error("BAD_FUNC_CFG", place, text, "an index is required")
        return numbers[0]
    return slice(*numbers)


def parse(text: str) -> tuple[Index, ...]:
    """Return the indices of a text as a tuple.

    >>> parse("1:9, ::2")
    (slice(1, 9, None), slice(None, None, 2))
    """
    return tuple(_index(part, f"slice[{i}]") for i, part in enumerate(text.split(",")))
