# SPDX-License-Identifier: BSD-3-Clause
"""The element type of a DLPack tensor."""
from __future__ import annotations

import ctypes

from ._typing import HasDLPack


class _Tensor(ctypes.Structure):
    """The beginning of DLManagedTensor: https://dmlc.github.io/dlpack/latest/c_api.html"""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


def element_type(array: HasDLPack) -> tuple[int, int, int]:
    """Return (code, bits, lanes) of an object with __dlpack__."""
    capsule = array.__dlpack__()
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(get_pointer(capsule, b"dltensor"))
    return tensor.code, tensor.bits, tensor.lanes
