# SPDX-License-Identifier: BSD-3-Clause
"""Quantised tensors on a service: it moves the elements, and the parameters follow here."""
from __future__ import annotations

from typing import Any, Callable

import numpy

from . import _qmoves
from ._qtensor import QTensor
from ._typing import AnyArray


def split(src: QTensor, out: Any, at: Any, arguments: dict[str, Any]
          ) -> tuple[Any, Callable[[AnyArray], QTensor]]:
    """Return `out` for the elements, and a function that makes the result of the moved elements.

    `arguments`: pad, slice, step and perm. Raises mli.Error as mli.move() does.
    """
    moved = _qmoves._moved(src, arguments)
    offsets = [0] * len(moved.shape) if at is None else numpy.ravel(at).tolist()
    if isinstance(out, QTensor):
        target, merged = out, _qmoves._merged(out, moved, offsets)

        def store(_: AnyArray) -> QTensor:
            target._parameters[...] = merged
            return target

        return out.data, store

    def wrap(data: AnyArray) -> QTensor:
        return QTensor._of(data, _qmoves._around(numpy.asarray(data), moved, offsets), moved.axis)

    return out, wrap
