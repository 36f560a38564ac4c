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

_NPY = b"\x93NUMPY"
_LFS = b"version https://git-lfs"


def path_of(folder: Path, name: str) -> Path:
    """Return the path of a golden file in a folder.

    Raises ValueError for other names, and TypeError for a value that is no path.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise TypeError(f"name: a path such as \"tile.npy\" is required, not {type(name).__name__}; "
                        "the array comes first: mli_golden(array, name)")
    parts = PurePath(name)
    if parts.is_absolute() or ".." in parts.parts or parts.suffix != ".npy":
        raise ValueError(f"golden file {name!r}: a relative path that ends with .npy is required")
    return folder / parts


def _native(array: AnyArray) -> AnyArray:
    """Return an array in the byte order of this machine."""
    return numpy.asarray(array, array.dtype.newbyteorder("="))


def _check_start(start: bytes) -> None:
    """Raise ValueError for the first bytes of a file that is no .npy file."""
    if not start:
        raise ValueError("it is empty")
    if start == _LFS:
        raise ValueError("it is a pointer of Git LFS: `git lfs pull` gets the file")
    if not start.startswith(_NPY):
        raise ValueError(f"it begins with {start[:len(_NPY)]!r} instead of {_NPY!r}")


def read(path: Path, like: AnyArray) -> AnyArray:
    """Return the array of a golden file. Raises OSError or ValueError.

    A .npy file stores types of other packages, like bfloat16, as plain bytes. These elements get
    the dtype of `like` if it is such a type of the same size.
    """
    with open(path, "rb") as file:
        _check_start(file.read(len(_LFS)))
    golden: AnyArray = _native(numpy.load(path, allow_pickle=False))
    is_foreign = like.dtype.kind == "V" and like.dtype.names is None
    if is_foreign and golden.dtype.kind == "V" and golden.dtype.itemsize == like.dtype.itemsize:
        return golden.view(like.dtype)
    return golden


def array_of(value: Any) -> AnyArray:
    """Return the elements of a result for the comparison. Raises TypeError for objects and masks."""
    if isinstance(value, numpy.ma.MaskedArray) and value.mask.any():
        raise TypeError("an array without masked elements is required: give array.filled(0), and "
                        "array.mask in a golden file of its own")
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
