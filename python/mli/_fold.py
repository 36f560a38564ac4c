# SPDX-License-Identifier: BSD-3-Clause
"""Folds a move of arrays into one move of libmli, whose tensors have at most 4 dimensions and
elements of 1, 2 or 4 bytes.

Strides are in bytes here. Extents, offsets and padding are in elements.
"""
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy

from . import _core
from ._errors import Error
from ._typing import Offsets, Source

RANK_MAX = 4
PADDING_MAX = 255


@dataclass
class Axis:
    """One dimension of the source, and the dimension of the destination that it becomes."""
    dims: list[str]  # of the source array: the numbers of one, or of several that are one here
    extent: int
    stride: int
    pre: int = 0
    post: int = 0
    offset: int = 0
    size: int = 0
    step: int = 1
    dst_extent: int = 1
    dst_stride: int = 0
    at: int = 0

    @property
    def label(self) -> str:
        """The name of the dimension in sentences."""
        return " and ".join(self.dims)

    def is_whole(self) -> bool:
        """Return whether the move takes and writes the dimension as it is."""
        return (self.pre == self.post == self.offset == self.at == 0 and self.step == 1
                and self.size == self.extent == self.dst_extent)


@dataclass
class Fold:
    """The axes by dimension of the source, and in the order of the destination."""
    unit: int  # bytes of an element
    axes: list[Axis]
    order: list[Axis]
    notes: list[str] = field(default_factory=list)  # how the tensors differ from the arrays


def _read_window(src: Source, arguments: dict[str, Any]) -> tuple[Fold, list[Axis]]:
    """Return all axes, and the axes of which an integer in `slice` chose one sample."""
    shape, strides, itemsize, dims, order, _ = _core.window(src, **arguments)
    axes = [Axis([str(d)], shape[d], strides[d], dim["pre"], dim["post"], dim["offset"],
                 dim["size"], dim["step"]) for d, dim in enumerate(dims)]
    dropped = [axis for axis, dim in zip(axes, dims) if dim["dropped"]]
    return Fold(itemsize, axes, [axes[d] for d in order]), dropped


def _place(fold: Fold, result: tuple[int, ...], out: Any, at: Offsets | None) -> None:
    """Set the destination of the axes: an array, or a new packed one."""
    extents = result
    strides = tuple(fold.unit * math.prod(result[i + 1:]) for i in range(len(result)))
    if out is not None:
        extents, strides, *_ = _core.window(out)
    offsets = [0] * len(result)
    if at is not None:
        offsets = [int(n) for n in numpy.broadcast_to(numpy.asarray(at), (len(result),))]
    for axis, extent, stride, offset in zip(fold.order, extents, strides, offsets):
        axis.dst_extent, axis.dst_stride, axis.at = int(extent), int(stride), int(offset)


def _add_dropped(fold: Fold, dropped: list[Axis]) -> None:
    """Give dropped dimensions an extent of 1 in the destination."""
    for axis in dropped:
        fold.order.insert(min(int(axis.dims[0]), len(fold.order)), axis)
        fold.notes.append(f"dimension {axis.label}, of which an integer chose one sample, has the "
                          "extent 1 in the destination")


def _split_elements(fold: Fold) -> None:
    """Split the elements into units of 1, 2 or 4 bytes that divide all strides."""
    size = fold.unit
    strides = [n for axis in fold.axes for n in (axis.stride, axis.dst_stride)]
    fold.unit = math.gcd(4, size, *strides)
    if fold.unit == size:
        return
    count = size // fold.unit
    parts = Axis(["of the parts of an element"], count, fold.unit, size=count, dst_extent=count,
                 dst_stride=fold.unit)
    fold.axes.append(parts)
    fold.order.append(parts)
    unit = f"{fold.unit} byte" + ("s" if fold.unit > 1 else "")
    fold.notes.append(f"elements of {size} bytes are the last dimension: {count} elements of "
                      f"{unit}")


def _is_mergeable(fold: Fold, outer: Axis, inner: Axis) -> bool:
    """Return whether two neighbouring dimensions can be merged, in the source and in the
    destination."""
    at = fold.order.index(outer) + 1
    return (at < len(fold.order) and fold.order[at] is inner and inner.is_whole()
            and outer.step == 1 and outer.stride == inner.stride * inner.extent
            and outer.dst_stride == inner.dst_stride * inner.extent)


def _remove(fold: Fold, axis: Axis) -> None:
    fold.axes = [each for each in fold.axes if each is not axis]
    fold.order = [each for each in fold.order if each is not axis]


def _merge(fold: Fold, outer: Axis, inner: Axis) -> None:
    n = inner.extent
    inner.dims = outer.dims + inner.dims
    for name in ("extent", "pre", "post", "offset", "size", "dst_extent", "at"):
        setattr(inner, name, getattr(outer, name) * n)
    _remove(fold, outer)


def _reduce_rank(fold: Fold) -> None:
    """Leave out dimensions of extent 1 and merge others, until the rank is at most 4."""
    for axis in list(fold.axes):
        if len(fold.axes) > RANK_MAX and axis.extent == 1 and axis.is_whole():
            _remove(fold, axis)
            fold.notes.append(f"dimension {axis.label}, with an extent of 1, is left out")
    while len(fold.axes) > RANK_MAX:
        pairs = [pair for pair in zip(fold.axes, fold.axes[1:]) if _is_mergeable(fold, *pair)]
        if not pairs:
            raise Error("RANK_MISMATCH", "src", None,
                        f"at most {RANK_MAX} dimensions can be explained, but {len(fold.axes)} are "
                        "left after folding; mli.move() takes several moves")
        _merge(fold, *min(pairs, key=lambda pair: max(pair[0].pre, pair[0].post) * pair[1].extent))
    fold.notes += [f"dimensions {axis.label} are one dimension" for axis in fold.axes
                   if len(axis.dims) > 1]


def _check(fold: Fold) -> None:
    for axis in fold.axes:
        if axis.extent == 0 or axis.size == 0:
            raise Error("BAD_TENSOR", "src", None,
                        f"nothing can be explained: dimension {axis.label} has no elements")
    for axis in fold.axes:
        if axis.stride == 0 and axis.extent > 1:
            raise Error("NOT_SUPPORTED", "src", None,
                        f"dimension {axis.label} repeats one element (stride 0), which cannot be "
                        "explained; explain a copy: numpy.ascontiguousarray()")
        if max(axis.pre, axis.post) > PADDING_MAX:
            raise Error("BAD_FUNC_CFG", "pad", max(axis.pre, axis.post),
                        f"at most {PADDING_MAX} zeros on each side of dimension {axis.label} can "
                        "be explained; mli.move() takes several moves")


def fold_move(src: Source, arguments: dict[str, Any], out: Any, at: Offsets | None) -> Fold:
    """Return a move as one move of libmli. `arguments`: pad, slice, step, perm.

    The caller has checked the move. Raises mli.Error if it does not fit into one move.
    """
    fold, dropped = _read_window(src, arguments)
    result = _core.window(src, **arguments)[-1]
    _place(fold, result, out, at)
    _add_dropped(fold, dropped)
    _check(fold)
    _split_elements(fold)
    if not fold.axes:
        only = Axis(["0"], 1, fold.unit, size=1, dst_stride=fold.unit)
        fold.axes, fold.order = [only], [only]
    _reduce_rank(fold)
    _check(fold)
    return fold
