# SPDX-License-Identifier: BSD-3-Clause
"""Differences of quantised tensors, in words."""
from __future__ import annotations

from typing import Any, Iterator

from ._differences import SHOWN, compare
from ._qtensor import QTensor

# Values of parameters that a JSON file leaves out, as in job files.
_NEUTRAL = {"scale": 1, "scale_frac_bits": 0, "zero_point": 0}
_MEMBERS = {"type", "axis", *_NEUTRAL}
_NOTHING = "nothing"  # the value of a missing member, in words


def are_params(value: Any) -> bool:
    """Return whether a JSON value has members of quantisation parameters.

    >>> are_params({"type": "sa8", "scale": 3}), are_params({"src": "a.npy"}), are_params([1])
    (True, False, False)
    """
    return isinstance(value, dict) and bool(_MEMBERS & value.keys())


def _count(value: Any) -> str:
    return f"{len(value)} numbers" if isinstance(value, list) else "one number"


def _numbers(name: str, got: Any, wanted: Any, axis: Any) -> Iterator[str]:
    """Yield the differences of one parameter. One number stands for all indices of an axis."""
    if isinstance(got, list) and not isinstance(wanted, list) and axis is not None:
        wanted = [wanted] * len(got)
    if not isinstance(got, list) and not isinstance(wanted, list):
        if got != wanted:
            yield f"{name}: got {got}, expected {wanted}"
    elif _count(got) != _count(wanted):
        yield f"{name}: got {_count(got)}, expected {_count(wanted)}"
    else:
        for i, (a, b) in enumerate(zip(got, wanted)):
            if a != b:
                yield f"{name}[{i}]: got {a}, expected {b}"


def _lines(got: dict[str, Any], wanted: dict[str, Any]) -> Iterator[str]:
    for name in ("type", "axis"):
        a, b = (params.get(name, _NOTHING) for params in (got, wanted))
        if a != b:
            yield f"{name}: got {a}, expected {b}"
    for name, neutral in _NEUTRAL.items():
        yield from _numbers(name, got[name], wanted.get(name, neutral), wanted.get("axis"))
    for name in wanted.keys() - _MEMBERS:
        yield f"{name}: expected, but a QTensor has no such parameter"


def compare_params(got: dict[str, Any], expected: Any) -> str:
    """Return how QTensor.params differ from the content of a JSON file; "" if they are equal.

    >>> a = {"type": "sa8", "axis": 0, "scale": [3, 5], "scale_frac_bits": [0, 0],
    ...      "zero_point": [0, 0]}
    >>> print(compare_params(a, {"type": "sa8", "axis": 0, "scale": [3, 4]}))
    the parameters differ
      scale[1]: got 5, expected 4
    """
    if not isinstance(expected, dict):
        return "not a JSON object with parameters"
    lines = list(_lines(got, expected))
    more = [f"... {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return "\n  ".join(["the parameters differ", *lines[:SHOWN], *more]) if lines else ""


def compare_tensors(got: QTensor, expected: QTensor) -> list[str]:
    """Return lines about the differences of two QTensors; none if they are equal."""
    params = compare_params(got.params, expected.params)
    lines = params.splitlines()
    if got.shape != expected.shape:
        lines.append(f"the shapes differ: got {got.shape}, expected {expected.shape}")
    elif got.type == expected.type:
        differences = compare(got.data, expected.data)
        lines += differences.report().splitlines() if differences else []
    return lines
