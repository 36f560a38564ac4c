# SPDX-License-Identifier: BSD-3-Clause
"""Calls that are made of moves."""
from __future__ import annotations

import operator
from typing import Any, Iterable, NamedTuple, SupportsIndex, TypeVar, overload

import numpy
from numpy.typing import NDArray

from . import _arrays, _core, _qmoves
from ._errors import Error
from ._qmoves import QLayout
from ._qtensor import QTensor
from ._records import fields
from ._typing import Destination, Pad, Perm, Slice, Source, Step

_T = TypeVar("_T", bound=numpy.generic)
_Out = TypeVar("_Out", bound=Destination)
_Shape = tuple[int, ...]


@fields(shape="Shape of the result.", dtype="Element type of the result.",
        bytes="Bytes of the result.")
class Layout(NamedTuple):
    """What a move would write."""
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    bytes: int


@overload
def check(src: QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
          step: Step | None = None, perm: Perm | None = None) -> QLayout: ...
@overload
def check(src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
          step: Step | None = None, perm: Perm | None = None) -> Layout: ...
def check(src: Any, *, pad: Pad | None = None, slice: Slice | None = None,
          step: Step | None = None, perm: Perm | None = None) -> Layout | QLayout:
    """Check the arguments of a move without moving, and return the Layout of the result.

    For a QTensor, returns a QLayout, which also has the quantisation parameters.

    >>> check(numpy.zeros((8, 8), numpy.int8), pad=1, step=2)
    Layout(shape=(5, 5), dtype=dtype('int8'), bytes=25)

    Raises mli.Error as mli.move() does.
    """
    if isinstance(src, QTensor):
        return _qmoves.check(src, {"pad": pad, "slice": slice, "step": step, "perm": perm})
    array = _core.as_array(src, "src")
    *_, shape = _core.window(array, pad=pad, slice=slice, step=step, perm=perm)
    size = int(numpy.prod(shape, dtype=object)) * array.dtype.itemsize
    if size >= 1 << 63:
        raise Error("NOT_SUPPORTED", "", shape, "the shape of the result must be below 2^63 bytes")
    return Layout(shape, array.dtype, size)


@overload
def permute(src: QTensor, perm: Perm, *, out: QTensor | Destination | None = None,
            channels: SupportsIndex = 1) -> QTensor: ...
@overload
def permute(src: NDArray[_T], perm: Perm, *, out: None = None,
            channels: SupportsIndex = 1) -> NDArray[_T]: ...
@overload
def permute(src: Source, perm: Perm, *, out: _Out, channels: SupportsIndex = 1) -> _Out: ...
@overload
def permute(src: Source, perm: Perm, *, out: None = None,
            channels: SupportsIndex = 1) -> NDArray[Any]: ...
def permute(src: Any, perm: Perm, *, out: Any = None, channels: SupportsIndex = 1) -> Any:
    """Transpose: dimension i of the result is dimension perm[i] of `src`.

    >>> permute(numpy.arange(6, dtype=numpy.int8).reshape(2, 3), (1, 0))
    array([[0, 3],
           [1, 4],
           [2, 5]], dtype=int8)
    """
    return _core.move(src, perm=perm, out=out, channels=channels)


def _shape_of_all(shapes: list[_Shape], axis: SupportsIndex) -> tuple[_Shape, int]:
    """Return the shape of the concatenation and the axis from 0 on."""
    first = shapes[0]
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError(f"axis: an integer is required, not {axis!r}") from None
    if not first:
        raise Error("RANK_MISMATCH", "arrays[0]", first, "at least one dimension is required")
    if not -len(first) <= axis < len(first):
        raise Error("BAD_FUNC_CFG", "axis", axis,
                    f"{-len(first)} to {len(first) - 1} are allowed")
    axis %= len(first)
    for i, shape in enumerate(shapes):
        if len(shape) != len(first) or any(
                n != m for d, (n, m) in enumerate(zip(shape, first)) if d != axis):
            raise Error("SHAPE_MISMATCH", f"arrays[{i}]", shape,
                        f"the shape {first} is required, except for dimension {axis}")
    total = sum(shape[axis] for shape in shapes)
    return (*first[:axis], total, *first[axis + 1:]), axis


@overload
def concatenate(arrays: Iterable[QTensor], axis: SupportsIndex = 0, *,
                out: QTensor | Destination | None = None,
                channels: SupportsIndex = 1) -> QTensor: ...
@overload
def concatenate(arrays: Iterable[NDArray[_T]], axis: SupportsIndex = 0, *, out: None = None,
                channels: SupportsIndex = 1) -> NDArray[_T]: ...
@overload
def concatenate(arrays: Iterable[Source], axis: SupportsIndex = 0, *, out: _Out,
                channels: SupportsIndex = 1) -> _Out: ...
@overload
def concatenate(arrays: Iterable[Source], axis: SupportsIndex = 0, *, out: None = None,
                channels: SupportsIndex = 1) -> NDArray[Any]: ...
def concatenate(arrays: Iterable[Any], axis: SupportsIndex = 0, *, out: Any = None,
                channels: SupportsIndex = 1) -> Any:
    """Join arrays along a dimension: one allocation, one move for each array.

    >>> concatenate([numpy.zeros((1, 2), numpy.int8), numpy.ones((2, 2), numpy.int8)])
    array([[0, 0],
           [1, 1],
           [1, 1]], dtype=int8)

    All arrays have the same element type, and the same shape but for `axis`. Nothing is written if
    one of them is refused. QTensors have equal parameters, or parameters of this axis.
    """
    arrays = list(arrays)
    if not arrays:
        raise Error("BAD_TENSOR", "arrays", 0, "at least one array is required")
    arrays = [array if isinstance(array, QTensor) else _core.as_array(array, f"arrays[{i}]")
              for i, array in enumerate(arrays)]
    is_quantised = any(isinstance(array, QTensor) for array in arrays)
    shapes = [array.shape if isinstance(array, QTensor) else _core.window(array)[-1]
              for array in arrays]
    shape, axis = _shape_of_all(shapes, axis)
    if is_quantised:
        return _qmoves.concatenate(
            arrays, axis, out,
            lambda datas, data_out: concatenate(datas, axis, out=data_out, channels=channels))
    dtypes = [array.dtype for array in arrays]
    for i, dtype in enumerate(dtypes):
        if dtype != dtypes[0]:
            raise Error("TYPE_MISMATCH", f"arrays[{i}]", dtype, f"{dtypes[0]} is required")
    if out is None:
        out = numpy.empty(shape, dtypes[0])
    target = _core.as_array(out, "out")
    if target.shape != shape:
        raise Error("SHAPE_MISMATCH", "out", target.shape, f"the shape {shape} is required")
    at, plans = [0] * len(shape), []
    for array, part in zip(arrays, shapes):
        plans.append(_core.Plan(array, out=target, at=at, channels=channels))
        at[axis] += part[axis]
    for plan in plans:
        plan.run()
    return out


def configure(engine: str | None = None, channels: int = 0) -> None:
    """Choose the engine and the number of DMA channels of this process (0: the default, 1 to 4).

    `engine` is as for mlictl and mlid: "threads", "inline", or "fault:threads,...", which injects
    faults. Refused while a transfer runs. Synchronous moves on one channel need no channels: the
    calling thread moves the data.
    """
    _core.configure(engine, channels)


def engine() -> tuple[str, int]:
    """Return (name of the engine, number of its channels; 0 before the first transfer)."""
    return _core.engine()
