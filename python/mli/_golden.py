# SPDX-License-Identifier: BSD-3-Clause
"""Golden files: expected arrays as .npy files."""
from __future__ import annotations

import io
import os
from pathlib import Path, PurePath
from typing import Any

import numpy

from ._qtensor import QTensor
from ._typing import AnyArray


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a golden file in a folder. Raises ValueError for other names."""
    parts = PurePath(name)
    if parts.is_absolute() or ".." in parts.parts or parts.suffix != ".npy":
        raise ValueError(f"golden file {name!r}: a relative path that ends with .npy is required")
    return folder / parts


def _native(array: AnyArray) -> AnyArray:
    """Return an array in the byte order of this machine."""
    return numpy.asarray(array, array.dtype.newbyteorder("="))


def read(path: Path, like: AnyArray) -> AnyArray:
    """Return the array of a golden file. Raises OSError or ValueError.

    A .npy file has no name for the types of other packages, as bfloat16: elements of plain bytes
    get the dtype of `like`, if that has such a type and the size is equal.
    """
    golden: AnyArray = _native(numpy.load(path, allow_pickle=False))
    is_foreign = like.dtype.kind == "V" and like.dtype.names is None
    if is_foreign and golden.dtype.kind == "V" and golden.dtype.itemsize == like.dtype.itemsize:
        return golden.view(like.dtype)
    return golden


def array_of(value: Any) -> AnyArray:
    """Return the elements of a result for the comparison. Raises TypeError for objects."""
    array = numpy.asarray(value.data if isinstance(value, QTensor) else value)
    if array.dtype.hasobject:
        raise TypeError("an array of plain elements is required, not of Python objects")
    return _native(array)


def content_of(array: AnyArray) -> bytes:
    """Return the bytes of the .npy file of an array: in C order."""
    file = io.BytesIO()
    numpy.save(file, numpy.asarray(array, order="C"), allow_pickle=False)
    return file.getvalue()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that appears complete or not at all. Creates its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
