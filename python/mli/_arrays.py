# SPDX-License-Identifier: BSD-3-Clause
"""New arrays for results."""
from __future__ import annotations

import importlib
from typing import Any, Sequence, cast

import numpy

from ._typing import AnyArray, HasDLPack, Source

# Codes of element types in DLPack.
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_DLPACK_BFLOAT = 4


def _bfloat16() -> numpy.dtype[Any]:
    """Return the type of ml_dtypes, if that is installed; else 16-bit words with the same bits."""
    try:
        types = importlib.import_module("ml_dtypes")
    except ImportError:
        return numpy.dtype(numpy.uint16)
    return numpy.dtype(types.bfloat16)


def _dtype_of_dlpack(array: HasDLPack) -> numpy.dtype[Any]:
    """Return the dtype of an object that has only __dlpack__."""
    from ._dlpack import element_type
    code, bits, lanes = element_type(array)
    if lanes != 1:
        return numpy.dtype(f"V{bits * lanes // 8}")
    if code == _DLPACK_BFLOAT and bits == 16:
        return _bfloat16()
    kind = _DLPACK_KINDS.get(code)
    return numpy.dtype(f"{kind}{bits // 8}" if kind else f"V{bits // 8}")


def dtype_of(array: Source) -> numpy.dtype[Any]:
    """Return the dtype of an object with the buffer protocol, an array interface or DLPack."""
    interface = getattr(array, "__array_interface__", None)
    if isinstance(interface, dict):
        return numpy.dtype(interface["typestr"])
    try:
        view = memoryview(cast(bytes, array))
    except TypeError:
        return _dtype_of_dlpack(cast(HasDLPack, array))
    return numpy.asarray(view).dtype


def empty_for(array: Source, shape: Sequence[int]) -> AnyArray:
    """Return a new NumPy array of a shape, with the element type of any array."""
    return numpy.empty(shape, dtype_of(array))
