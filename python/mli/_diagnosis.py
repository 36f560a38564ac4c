# SPDX-License-Identifier: BSD-3-Clause
"""The cause of a difference of two arrays, if it is a usual mistake; in the words of `mlictl diff`."""
from __future__ import annotations

import itertools
import math
from typing import Iterator

import numpy

from ._typing import AnyArray

_LETTERS = "ijklmnop"
_SHIFT_MAX = 4
_RANK_MAX = 4
_EVIDENCE = 18  # bits of information that a diagnosis needs
_SIZE_MAX = 1 << 24  # larger arrays would need copies of their size


def _element(coordinates: list[str]) -> str:
    return f"expected[{', '.join(coordinates)}]"


def _replaced(rank: int, axis: int, coordinate: str) -> str:
    names = list(_LETTERS[:rank])
    names[axis] = coordinate
    return _element(names)


def _permuted(expected: AnyArray) -> Iterator[tuple[str, AnyArray, str]]:
    for order in itertools.permutations(range(expected.ndim)):
        moved = expected.transpose(order)
        if order != tuple(sorted(order)) and moved.shape == expected.shape:
            yield _element([_LETTERS[order.index(d)] for d in range(expected.ndim)]), moved, ": wrong perm?"


def _reversed(expected: AnyArray) -> Iterator[tuple[str, AnyArray, str]]:
    for axis, extent in enumerate(expected.shape):
        channels = ", the order of channels?" if extent <= 4 else "?"
        yield (_replaced(expected.ndim, axis, f"{extent - 1} - {_LETTERS[axis]}"), numpy.flip(expected, axis),
               f": dimension {axis} reversed{channels}")


def _shifted(expected: AnyArray) -> Iterator[tuple[str, AnyArray, str]]:
    for axis, extent in enumerate(expected.shape):
        for shift in range(1, min(_SHIFT_MAX, extent - 1) + 1):
            for sign, by in (("-", shift), ("+", -shift)):
                element = _replaced(expected.ndim, axis, f"{_LETTERS[axis]} {sign} {shift}")
                moved = numpy.roll(expected, by, axis)
                yield element, moved, ", wrapped around: wrong slice?"
                zeros = numpy.moveaxis(moved.copy(), axis, 0)
                zeros[slice(by) if by > 0 else slice(by, None)] = 0
                yield element, numpy.moveaxis(zeros, 0, axis), ", with zeros beyond the edge: wrong slice or pad?"


def _bits(expected: AnyArray) -> float:
    """Return how many bits of information a value has: -log2 of the probability that two values
    other than 0 are equal."""
    values = expected[expected != 0]
    if values.size < 2:
        return 0.0
    _, counts = numpy.unique(values, return_counts=True)
    equal = float((counts * (counts - 1.0)).sum())
    bits = -math.log2((equal + 1) / (values.size * (values.size - 1.0) + 1))
    return min(bits, math.log2(expected.size))


def diagnose(actual: AnyArray, expected: AnyArray) -> str:
    """Return a sentence about the cause of a difference, or "". Both arrays have one dtype and shape.

    >>> a = np.arange(25).reshape(5, 5)
    >>> diagnose(a.T, a)
    'every value is expected[j, i] where expected[i, j] was wanted: wrong perm?'
    """
    if not 1 <= expected.ndim <= _RANK_MAX or expected.size > _SIZE_MAX or expected.dtype.kind not in "biufc":
        return ""
    differing = actual != expected
    if numpy.count_nonzero(differing & (actual != 0)) * _bits(expected) >= _EVIDENCE:
        wanted = _element(list(_LETTERS[:expected.ndim]))
        for element, moved, question in itertools.chain(_permuted(expected), _reversed(expected), _shifted(expected)):
            if numpy.array_equal(actual, moved):
                return f"every value is {element} where {wanted} was wanted{question}"
        if numpy.array_equal(actual, expected.byteswap()):
            return "every value is the wanted value with its bytes reversed: wrong byte order?"
    if numpy.count_nonzero(differing) * _bits(expected) >= _EVIDENCE and not actual[differing].any():
        return "every wrong value is 0: not written, or zeros written there?"
    return ""
