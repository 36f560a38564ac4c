# SPDX-License-Identifier: BSD-3-Clause
"""Element types of arrays, and messages about arguments that are no arrays."""
from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy

from ._errors import Error

# Formats of the buffer protocol that NumPy refuses, and its types for the same elements.
_FORMATS = {"n": numpy.dtype(numpy.intp), "N": numpy.dtype(numpy.uintp),
            "<g" if sys.byteorder == "little" else ">g": numpy.dtype(numpy.longdouble)}

# Codes of element types in DLPack.
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_DLPACK_BFLOAT = 4


def refuse_objects(dtype: numpy.dtype[Any], field: str) -> None:
    """Raise mli.Error if elements of a type have references to Python objects."""
    if dtype.hasobject:
        raise Error("NOT_SUPPORTED", field, dtype,
                    "elements must be plain bytes, not Python objects")


def no_array(value: object, name: str, reason: Exception | None) -> Exception:
    """Return the exception for an argument that is no array, with advice."""
    if reason is not None:
        return Error("BAD_TENSOR", name, None, f"the memory cannot be used: {reason}")
    kind = type(value)
    if hasattr(kind, "scale_frac_bits"):  # a QTensor where only arrays go
        return TypeError(f"{name}: an array is required, not {kind}: give `tensor.data`, its "
                         "elements")
    if name == "out":
        return TypeError(f"out: an array that can be written is required, not {kind}: it receives "
                         "the result, as one of numpy.empty(shape, dtype) does")
    return TypeError(f"{name}: an array is required, not {kind}: an object with the buffer "
                     "protocol, __array_interface__ or __dlpack__; numpy.asarray() makes one of "
                     "lists")


def _bfloat16() -> numpy.dtype[Any]:
    """Return the type of ml_dtypes, if that is installed; else 16-bit words with the same bits."""
    try:
        types = importlib.import_module("ml_dtypes")
    except ImportError:
        return numpy.dtype(numpy.uint16)
    return numpy.dtype(types.bfloat16)


def dtype_of_element(code: int, bits: int, lanes: int) -> numpy.dtype[Any]:
    """Return the dtype of an element type of DLPack."""
    if lanes != 1:
        return bytes_type(bits * lanes // 8)
    if code == _DLPACK_BFLOAT and bits == 16:
        return _bfloat16()
    kind = _DLPACK_KINDS.get(code)
    return numpy.dtype(f"{kind}{bits // 8}") if kind else bytes_type(bits // 8)


def dtype_of_interface(interface: dict[str, Any]) -> numpy.dtype[Any]:
    """Return the dtype of an __array_interface__, with fields if it describes them."""
    dtype = numpy.dtype(interface["typestr"])
    if dtype.kind != "V" or "descr" not in interface:
        return dtype
    try:
        fields = numpy.dtype(interface["descr"])
    except (TypeError, ValueError):
        return dtype  # names or sizes that NumPy refuses: the bytes are moved without them
    return fields if fields.hasobject or fields.itemsize == dtype.itemsize else dtype


def itemsize_of_interface(interface: dict[str, Any], name: str) -> int:
    """Return the size in bytes of an element of an __array_interface__, or raise mli.Error."""
    try:
        dtype = dtype_of_interface(interface)
        if not isinstance(interface["typestr"], (str, bytes)):  # numpy.dtype takes more
            raise TypeError
    except (KeyError, TypeError, ValueError):
        raise Error("BAD_TENSOR", name, interface.get("typestr"), "the member typestr of "
                    "__array_interface__ is missing or not valid") from None
    refuse_objects(dtype, name)
    return dtype.itemsize


def dtype_of_buffer(view: memoryview) -> numpy.dtype[Any]:
    """Return the dtype of a buffer. Raises ValueError for formats that NumPy does not have."""
    known = _FORMATS.get(memoryview(view).format.removeprefix("@"))
    return numpy.asarray(view).dtype if known is None else known


def bytes_type(size: int) -> numpy.dtype[Any]:
    """Return the dtype of elements that are bytes of any type."""
    return numpy.dtype(f"V{size}")
