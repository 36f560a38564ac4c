# SPDX-License-Identifier: BSD-3-Clause
"""Memory that this process and the service share."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence, Union

import numpy
from numpy.typing import DTypeLike

from ._errors import Error
from ._typing import AnyArray

if TYPE_CHECKING:
    from types import TracebackType

    from ._client import Connection, Memory

Shape = Union[int, Sequence[int]]


def shape_of(shape: Shape) -> tuple[int, ...]:
    """Return a shape as a tuple."""
    return (shape,) if isinstance(shape, int) else tuple(int(extent) for extent in shape)


def alloc_params(shape: Shape, dtype: DTypeLike, memory: str | None,
                 address: int | None) -> dict[str, Any]:
    """Return the params of buffer.alloc for an array."""
    size = math.prod(shape_of(shape)) * numpy.dtype(dtype).itemsize
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
        self._dtype = numpy.dtype(dtype)
        self.size: int = reply["size"]
        self.memory: str | None = reply.get("memory")
        self.address: int | None = reply.get("address")

    @property
    def id(self) -> int:
        """Number at the service; 0 after release()."""
        return self._memory.id

    def array(self, shape: Shape | None = None, dtype: DTypeLike | None = None,
              offset: int = 0) -> AnyArray:
        """Return an array in the buffer, from a byte `offset` on.

        The shape and the type are those of the buffer, or others that fit. The memory of an array
        stays after release(), as long as the array.
        """
        return numpy.ndarray(self._shape if shape is None else shape,
                             self._dtype if dtype is None else dtype,
                             self._memory,  # type: ignore[arg-type]
                             offset)

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


def map_buffer(connection: Connection, reply: dict[str, Any], fd: int, shape: Shape,
               dtype: DTypeLike) -> Buffer:
    """Return the Buffer of a reply to buffer.alloc or buffer.register. Takes the descriptor."""
    memory = connection.map(fd, reply["size"], reply["buffer"], reply["access"] == "write")
    return Buffer(memory, reply, shape, dtype)
