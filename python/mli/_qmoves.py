# SPDX-License-Identifier: BSD-3-Clause
"""Moves of quantised tensors: per-axis parameters are moved like the indices of their axis."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple

import numpy

from . import _core
from ._qtensor import NEUTRAL, QTensor, refuse
from ._records import fields
from ._typing import AnyArray


@fields(shape="Shape of the result.", dtype="Element type of the result.",
        bytes="Bytes of the elements of the result.",
        axis="Axis of the parameters in the result; None: one set for the whole tensor.",
        scale="Scales, int16: those of each index of the axis.",
        zero_point="Zero points, int16.",
        scale_frac_bits="Fractional bits of the scales, int8.")
class QLayout(NamedTuple):
    """What a move of a quantised tensor would write, and its parameters."""
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    bytes: int
    axis: int | None
    scale: AnyArray
    zero_point: AnyArray
    scale_frac_bits: AnyArray


class _Moved(NamedTuple):
    """The parameters of the result of a move."""
    shape: tuple[int, ...]  # of the result
    axis: int | None  # of the result
    parameters: AnyArray


def _moved(src: QTensor, arguments: dict[str, Any]) -> _Moved:
    """Pad, slice, step and permute the parameters. `arguments`: pad, slice, step, perm."""
    *_, dims, order, shape = _core.window(src.data, **arguments)
    if src.axis is None:
        return _Moved(shape, None, src._parameters)
    dim = dims[src.axis]
    samples = dim["offset"] - dim["pre"] + numpy.arange(0, dim["size"], dim["step"])
    is_padding = (samples < 0) | (samples >= src.data.shape[src.axis])
    parameters = numpy.full(len(samples), NEUTRAL)
    parameters[~is_padding] = src._parameters[samples[~is_padding]]
    if dim["dropped"]:
        return _Moved(shape, None, parameters[0])
    return _Moved(shape, order.index(src.axis), parameters)


def check(src: QTensor, arguments: dict[str, Any]) -> QLayout:
    """Return the layout of a move, like mli.check()."""
    shape, axis, parameters = _moved(src, arguments)
    size = int(numpy.prod(shape, dtype=object)) * src.data.itemsize
    return QLayout(shape, src.data.dtype, size, axis, parameters["scale"],
                   parameters["zero_point"], parameters["scale_frac_bits"])


def _merged(out: QTensor, moved: _Moved, at: list[int]) -> AnyArray:
    """Return the parameters of `out` after a result was placed there.

    Raises mli.Error if elements that the move does not write would change their real values.
    """
    axis = out.axis
    if moved.axis is not None and moved.axis != axis:
        raise refuse("out.axis", axis, f"{moved.axis} is required, the axis of the result")
    if 0 in moved.shape:
        return out._parameters
    covered = all(n == m for d, (n, m) in enumerate(zip(moved.shape, out.shape)) if d != axis)
    merged = out._parameters.copy()
    region = ... if axis is None else slice(at[axis], at[axis] + moved.shape[axis])
    merged[region] = moved.parameters
    changed = merged != out._parameters
    if not covered and changed.any():
        index = "" if axis is None else f" at index {numpy.flatnonzero(changed)[0]}"
        raise refuse("out", None, f"the parameters{index} must be equal to those of the result, "
                     "because the move does not write all elements that have them")
    return merged


def offsets_of(at: Any, rank: int) -> list[int]:
    """Return the argument `at` as a list with an offset for each dimension. The caller has checked
    `at`."""
    offsets: list[int] = numpy.broadcast_to(0 if at is None else at, (rank,)).tolist()
    return offsets


def _around(out: AnyArray, moved: _Moved, at: list[int]) -> AnyArray:
    """Return parameters for an array in which a result was placed, with neutral ones around the
    result."""
    if moved.axis is None:
        return moved.parameters
    first = at[moved.axis]
    parameters = numpy.full(out.shape[moved.axis], NEUTRAL)
    parameters[first:first + len(moved.parameters)] = moved.parameters
    return parameters


def extended(src: QTensor, pad: Any, slice: Any, step: Any, perm: Any, out: Any,
             at: Any) -> tuple[AnyArray, Any, Callable[[AnyArray], QTensor],
                               Callable[[], None] | None]:
    """Return (elements, array for the result or None, wrap, store) of the move of a QTensor.

    `wrap(array)` is the result of a move of the elements into the array. If `store` is not None, a
    call of it after the move stores the parameters. The arguments are those of mli.move(). This
    function checks the parameters and offsets; the move of the elements checks the rest.
    """
    moved = _moved(src, {"pad": pad, "slice": slice, "step": step, "perm": perm})
    if not isinstance(out, QTensor):
        def wrap(data: AnyArray) -> QTensor:
            parameters = _around(numpy.asarray(data), moved, offsets_of(at, len(moved.shape)))
            return QTensor._of(data, parameters, moved.axis)

        return src.data, out, wrap, None
    target = out
    # Refuse an illegal move before its parameters are merged into those of `out`.
    _core.Plan(src.data, pad=pad, slice=slice, step=step, perm=perm, out=target.data, at=at)
    merged = _merged(target, moved, offsets_of(at, len(moved.shape)))

    def store() -> None:
        target._parameters[...] = merged

    return src.data, target.data, lambda _: target, store


def move(src: QTensor, pad: Any, slice: Any, step: Any, perm: Any, out: Any, at: Any,
         channels: Any) -> QTensor:
    """Move a quantised tensor, like mli.move()."""
    plan = _core.Plan(src, pad=pad, slice=slice, step=step, perm=perm, out=out, at=at,
                      channels=1 if channels is None else channels)
    return plan.run()


def _joined(tensors: list[QTensor], axis: int) -> AnyArray:
    """Return the parameters of the concatenation of tensors along a dimension."""
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        if tensor.axis != first.axis:
            raise refuse(f"arrays[{i}].axis", tensor.axis, f"{first.axis} is required")
    if first.axis == axis:
        return numpy.concatenate([tensor._parameters for tensor in tensors])
    for i, tensor in enumerate(tensors):
        if (tensor._parameters != first._parameters).any():
            raise refuse(f"arrays[{i}]", None,
                         "the parameters of arrays[0] are required, unless they are those of "
                         f"axis {axis}")
    return first._parameters


def concatenate(arrays: list[Any], axis: int, out: Any,
                join: Callable[[list[AnyArray], Any], Any]) -> QTensor:
    """Join quantised tensors of fitting shapes. `join` joins their elements; `axis` counts from 0."""
    for i, tensor in enumerate(arrays):
        if not isinstance(tensor, QTensor):
            raise TypeError(f"arrays[{i}]: a QTensor is required, as the other arrays are")
    parameters = _joined(arrays, axis)
    datas = [tensor.data for tensor in arrays]
    if not isinstance(out, QTensor):
        return QTensor._of(join(datas, out), parameters, arrays[0].axis)
    if out.axis != arrays[0].axis:
        raise refuse("out.axis", out.axis, f"{arrays[0].axis} is required")
    join(datas, out.data)
    out._parameters[...] = parameters
    return out


_core.register(QTensor, move, extended)
