# SPDX-License-Identifier: BSD-3-Clause
"""Memory that this process and the service share."""
from __future__ import annotations

import math
import operator
import os
from typing import TYPE_CHECKING, Any, Sequence, SupportsIndex, Union

import numpy
from numpy.typing import DTypeLike

from ._arrays import refuse_objects
from ._errors import Error
from ._service_error import ServiceError
from ._typing import AnyArray

if TYPE_CHECKING:
    from types import TracebackType

    from ._client import Connection, Memory

Shape = Union[SupportsIndex, Sequence[SupportsIndex]]


def _index(number: SupportsIndex, field: str) -> int:
    """Return an integer of any type as int."""
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{field}: an integer is required, not {number!r}") from None


def shape_of(shape: Shape) -> tuple[int, ...]:
    """Return a shape as a tuple of extents of at least 0."""
    extents = shape if numpy.iterable(shape) else (shape,)
    checked = tuple(_index(extent, f"shape[{i}]") for i, extent in enumerate(extents))
    for i, extent in enumerate(checked):
        if extent < 0:
            raise Error("BAD_TENSOR", f"shape[{i}]", extent, "numbers from 0 on are allowed")
    return checked


def _plain_dtype(dtype: DTypeLike) -> numpy.dtype[Any]:
    """Return a dtype whose elements are plain bytes, because the service also accesses the
    elements."""
    plain = numpy.dtype(dtype)
    refuse_objects(plain, "dtype")
    return plain


def _bytes_of(shape: tuple[int, ...], dtype: numpy.dtype[Any]) -> int:
    return math.prod(shape) * dtype.itemsize


def alloc_params(shape: Shape, dtype: DTypeLike, memory: str | None,
                 address: int | None) -> dict[str, Any]:
    """Return the params of buffer.alloc for an array."""
    size = _bytes_of(shape_of(shape), _plain_dtype(dtype))
    if size < 1:
        raise Error("BAD_TENSOR", "shape", shape, "at least one byte is required")
    params: dict[str, Any] = {"size": size}
    if memory is not None:
        params["memory"] = memory
    if address is not None:
        params["address"] = address
    return params


class Buffer:
    """Memory that the service has mapped, for many jobs without copies.

    Made by `client.buffer(shape, dtype)`. Arrays of it, and their views, are recognised by their
    address: `client.submit(buffer.array()[2:5])` sends no bytes and no descriptor.

    Attributes
    ----------
    size : int
        Bytes.
    memory : str or None
        Name of the memory of the service's board, and
    address : int or None
        the address of the first byte there.
    """

    def __init__(self, memory: Memory, reply: dict[str, Any], shape: Shape,
                 dtype: DTypeLike) -> None:
        self._memory = memory
        self._shape = shape_of(shape)
        self._dtype = _plain_dtype(dtype)
        self.size: int = reply["size"]
        self.memory: str | None = reply.get("memory")
        self.address: int | None = reply.get("address")

    @property
    def id(self) -> int:
        """Number at the service; 0 after release()."""
        return self._memory.id

    def array(self, shape: Shape | None = None, dtype: DTypeLike | None = None,
              offset: SupportsIndex = 0) -> AnyArray:
        """Return an array in the buffer, from a byte `offset` on.

        The shape and the type are those of the buffer, or others that fit; mli.Error if they do
        not. After release(), an array may still be used: its memory stays until the array is
        deleted.
        """
        extents = self._shape if shape is None else shape_of(shape)
        element = self._dtype if dtype is None else _plain_dtype(dtype)
        first = _index(offset, "offset")
        if not 0 <= first <= self.size:
            raise Error("BAD_TENSOR", "offset", first, f"0 to {self.size} are allowed")
        size = _bytes_of(extents, element)
        if size > self.size - first:
            raise Error("BAD_TENSOR", "shape", extents,
                        f"{element} elements of this shape take {size} bytes; the buffer has "
                        f"{self.size - first} from the offset on")
        return numpy.ndarray(extents, element, self._memory,  # type: ignore[arg-type]
                             first)

    def release(self) -> None:
        """Make the service forget the buffer. Jobs on their way continue."""
        self._memory.release()

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"<mli.Buffer {self.id}: {self._shape} {self._dtype}, {self.size} bytes>"


def duplicate(fd: int) -> int:
    """Return a duplicate of a descriptor, to map it."""
    try:
        return os.dup(fd)
    except OSError as error:
        raise ServiceError(-7, "SYSTEM", f"the descriptor cannot be duplicated: {error.strerror}") \
            from None


def map_buffer(connection: Connection, reply: dict[str, Any], fd: int, shape: Shape,
               dtype: DTypeLike) -> Buffer:
    """Return the Buffer of a reply to buffer.alloc or buffer.register. Takes the descriptor."""
    memory = connection.map(fd, reply["size"], reply["buffer"], reply["access"] == "write")
    return Buffer(memory, reply, shape, dtype)
