# SPDX-License-Identifier: BSD-3-Clause
"""Where the elements of a moved array come from."""
from __future__ import annotations

from typing import Any, Mapping, Union

import numpy

from . import _core
from ._errors import Error
from ._qmoves import offsets_of
from ._qtensor import QTensor

# A plan, or the arguments of mli.move() by name.
Move = Union[_core.Plan[Any], Mapping[str, Any]]
_WINDOW = ("pad", "slice", "step", "perm")


def _data_of(array: Any) -> Any:
    return array.data if isinstance(array, QTensor) else array


def run_move(move_: Move) -> Any:
    """Return the result of a plan, or of mli.move() with the arguments."""
    _check_move(move_)
    return move_.run() if isinstance(move_, _core.Plan) else _core.move(**move_)


def _check_move(move_: Any) -> None:
    if isinstance(move_, _core.Plan) or (isinstance(move_, Mapping) and "src" in move_):
        return
    what = ('a dictionary without "src"' if isinstance(move_, Mapping)
            else f"{type(move_).__module__}.{type(move_).__qualname__}".removeprefix("builtins."))
    raise TypeError("move: an mli.Plan, or a dictionary with the arguments of mli.move(), is "
                    f"required, not {what}")


class Origins:
    """The place in the source of each element of a result, or of the array that it was placed in.

    >>> Origins(dict(src=np.arange(6).reshape(2, 3), pad=1, perm=(1, 0)), (5, 4)).of((2, 1))
    'from src[0, 1], which is 1'
    """

    def __init__(self, move_: Move, shape: tuple[int, ...]) -> None:
        """Take a move, and the shape of the array that it made."""
        _check_move(move_)
        self._src = None
        if isinstance(move_, _core.Plan):
            window, at = move_._window
            whole = _core.window(_data_of(move_.out))[-1]
        else:
            self._src = numpy.asarray(_data_of(move_["src"]))
            window = _core.window(self._src, **{name: move_.get(name) for name in _WINDOW})
            out = _data_of(move_.get("out"))
            whole = window[-1] if out is None else _core.window(out)[-1]
            at = tuple(offsets_of(move_.get("at"), len(window[-1])))
        self._extents, _, _, self._dims, self._order, self._shape = window
        self._at = (0,) * len(at) if shape == self._shape else at
        if shape not in (self._shape, whole):
            raise Error("SHAPE_MISMATCH", "move", whole, f"it must have made the shape {shape}")

    def _sample_of(self, coordinate: tuple[int, ...]) -> list[int] | None:
        """Return the coordinate in the padded source, or None if `coordinate` is outside the
        result."""
        place = [dim["offset"] for dim in self._dims]
        for i, d in enumerate(self._order):
            index = coordinate[i] - self._at[i]
            if not 0 <= index < self._shape[i]:
                return None
            place[d] += index * self._dims[d]["step"]
        return place

    def of(self, coordinate: tuple[int, ...]) -> str:
        """Return a phrase about the origin of an element."""
        place = self._sample_of(coordinate)
        if place is None:
            return "not written by the move"
        source = [sample - dim["pre"] for sample, dim in zip(place, self._dims)]
        if any(not 0 <= s < n for s, n in zip(source, self._extents)):
            return "a zero of the padding"
        name = f"from src{source}"
        return name if self._src is None else f"{name}, which is {self._src[tuple(source)]}"
