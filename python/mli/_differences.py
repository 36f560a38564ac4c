# SPDX-License-Identifier: BSD-3-Clause
"""Differences of two arrays, in words."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy
from numpy.typing import NDArray

from ._diagnosis import diagnose
from ._typing import AnyArray

SHOWN = 10  # differing elements of a report


def _as_words(array: AnyArray) -> AnyArray:
    """Return the elements as unsigned integers, or as rows of bytes, for a comparison of bits."""
    packed = numpy.array(array, order="C", ndmin=1)
    if packed.dtype.itemsize in (1, 2, 4, 8):
        return packed.view(f"u{packed.dtype.itemsize}").reshape(array.shape)
    return packed.view(numpy.uint8).reshape(*array.shape, packed.dtype.itemsize)


def _magnitude(a: AnyArray, b: AnyArray) -> AnyArray:
    """Return |a - b| of numbers, without overflow; NaN if only one is NaN."""
    if a.dtype.kind in "iu":
        wide = numpy.dtype("u8" if a.dtype.kind == "u" else "i8")
        larger, smaller = numpy.maximum(a, b).astype(wide), numpy.minimum(a, b).astype(wide)
        return numpy.asarray(larger.view("u8") - smaller.view("u8")).astype(numpy.float64)
    with numpy.errstate(all="ignore"):
        wide = numpy.promote_types(a.dtype, numpy.float64)
        difference = numpy.abs(a.astype(wide) - b.astype(wide)).astype(numpy.float64)
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))  # infinities too
    return numpy.where(same, 0.0, difference)


def is_number(array: AnyArray) -> bool:
    """Return whether the elements are integers, real numbers or complex numbers."""
    return array.dtype.kind in "iufc"


def _differing(a: AnyArray, b: AnyArray, tolerance: float, relative: float) -> AnyArray:
    """Return a mask. Without tolerances the bits are compared, so -0.0 differs from 0.0."""
    if tolerance or relative:
        wide = b.astype(numpy.promote_types(b.dtype, numpy.float64))
        limit = tolerance + relative * numpy.abs(numpy.where(numpy.isfinite(wide), wide, 0))
        return numpy.asarray(~(_magnitude(a, b) <= limit))  # NaN: one of two elements is NaN
    mask = numpy.asarray(_as_words(a) != _as_words(b))
    return mask if mask.ndim == a.ndim else numpy.asarray(mask.any(axis=-1))


@dataclass
class Differences:
    """The elements at which an array differs from the expected one."""
    actual: AnyArray
    expected: AnyArray
    places: NDArray[numpy.intp]  # coordinates of each, in a row

    def _count(self) -> str:
        count, total = len(self.places), self.actual.size
        return f"{count} of {total} elements differ ({100 * count / total:.3g} %)"

    def _region(self) -> str:
        least, most = self.places.min(axis=0), self.places.max(axis=0)
        dims = [str(a) if a == b else f"{a}:{b + 1}" for a, b in zip(least, most)]
        return f", in [{', '.join(dims)}]" if dims and len(self.places) > 1 else ""

    def _largest(self) -> str:
        if not is_number(self.actual):
            return ""
        index = tuple(self.places.T)
        is_integer = self.actual.dtype.kind in "iu"
        magnitude = _magnitude(numpy.atleast_1d(self.actual[index]),
                               numpy.atleast_1d(self.expected[index]))
        if numpy.isnan(magnitude).all():
            return ""
        at = int(numpy.nanargmax(magnitude))
        if magnitude[at] == 0:
            return "; as numbers they are equal, but their bits differ"
        largest = f"{magnitude[at]:.17g}" if is_integer else f"{magnitude[at]:.6g}"
        return f"; the largest difference is {largest} at {self.places[at].tolist()}"

    def _element(self, place: tuple[int, ...]) -> str:
        got, wanted = self.actual[place], self.expected[place]
        texts = [str(got), str(wanted)]
        if texts[0] == texts[1]:
            texts = [f"{value} (bytes {value.tobytes().hex()})" for value in (got, wanted)]
        return f"{list(place)}: got {texts[0]}, expected {texts[1]}"

    def report(self, origin: Callable[[tuple[int, ...]], str] | None = None) -> str:
        """Return lines: a summary, the first elements, and the cause if it is a usual mistake. `origin`
        says where an element comes from."""
        lines = [self._count() + self._region() + self._largest()]
        for row in self.places[:SHOWN]:
            place = tuple(int(i) for i in row)
            lines.append(f"  {self._element(place)}" + (f"; {origin(place)}" if origin else ""))
        if len(self.places) > SHOWN:
            lines.append(f"  ... {len(self.places) - SHOWN} more")
        cause = diagnose(self.actual, self.expected)
        if cause:
            lines.append(f"  {cause}")
        return "\n".join(lines)


def compare(actual: Any, expected: Any, tolerance: float = 0, relative: float = 0,
            ) -> Differences | None:
    """Return the differences of two arrays of one dtype and shape, or None.

    Equal is: |actual - expected| <= tolerance + relative * |expected|, or both are NaN. Without
    tolerances: all bits are equal.

    >>> a, b = np.array([[1, 2], [3, 4]]), np.array([[1, 2], [0, 5]])
    >>> print(compare(a, b).report())
    2 of 4 elements differ (50 %), in [1, 0:2]; the largest difference is 3 at [1, 0]
      [1, 0]: got 3, expected 0
      [1, 1]: got 4, expected 5
    """
    actual, expected = numpy.asarray(actual), numpy.asarray(expected)
    mask = _differing(actual, expected, tolerance, relative)
    places = numpy.argwhere(mask)
    return Differences(actual, expected, places) if len(places) else None
