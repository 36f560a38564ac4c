# SPDX-License-Identifier: BSD-3-Clause
"""New arrays for results."""
import numpy

# Codes of element types in DLPack.
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_DLPACK_BFLOAT = 4


def _bfloat16():
    """Return the type of ml_dtypes, if that is installed; else 16-bit words with the same bits."""
    try:
        from ml_dtypes import bfloat16
    except ImportError:
        return numpy.dtype(numpy.uint16)
    return numpy.dtype(bfloat16)


def _dtype_of_dlpack(array):
    """Return the dtype of an object that has only __dlpack__."""
    from ._dlpack import element_type
    code, bits, lanes = element_type(array)
    if lanes != 1:
        return numpy.dtype(f"V{bits * lanes // 8}")
    if code == _DLPACK_BFLOAT and bits == 16:
        return _bfloat16()
    kind = _DLPACK_KINDS.get(code)
    return numpy.dtype(f"{kind}{bits // 8}" if kind else f"V{bits // 8}")


def dtype_of(array):
    """Return the dtype of an object with the buffer protocol, an array interface or DLPack."""
    interface = getattr(array, "__array_interface__", None)
    if isinstance(interface, dict):
        return numpy.dtype(interface["typestr"])
    try:
        view = memoryview(array)
    except TypeError:
        return _dtype_of_dlpack(array)
    return numpy.asarray(view).dtype


def empty_for(array, shape):
    """Return a new NumPy array of a shape, with the element type of any array."""
    return numpy.empty(shape, dtype_of(array))
