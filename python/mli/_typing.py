# SPDX-License-Identifier: BSD-3-Clause
"""Types of the arguments of moves, for annotations."""
from __future__ import annotations

from types import EllipsisType
from typing import TYPE_CHECKING, Any, Protocol, Sequence, SupportsIndex, TypeAlias, Union

import numpy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class HasArrayInterface(Protocol):
    """An object with __array_interface__, version 3."""

    @property
    def __array_interface__(self) -> dict[str, Any]: ...


class HasDLPack(Protocol):
    """An object with __dlpack__ whose memory the processor can read, like a tensor of PyTorch."""

    def __dlpack__(self) -> Any: ...


AnyArray: TypeAlias = NDArray[Any]
Source: TypeAlias = "Union[AnyArray, numpy.generic, HasArrayInterface, HasDLPack, ReadableBuffer]"
Destination: TypeAlias = "Union[AnyArray, HasArrayInterface, HasDLPack, WriteableBuffer]"

Pair: TypeAlias = tuple[SupportsIndex, SupportsIndex]
Pad: TypeAlias = Union[SupportsIndex, Pair, Sequence[Pair]]
Index: TypeAlias = Union[SupportsIndex, slice, EllipsisType]
Slice: TypeAlias = Union[str, Index, tuple[Index, ...]]
Step: TypeAlias = Union[SupportsIndex, Sequence[SupportsIndex]]
Perm: TypeAlias = Sequence[SupportsIndex]
Offsets: TypeAlias = Union[SupportsIndex, Sequence[SupportsIndex]]
