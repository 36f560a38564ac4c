# SPDX-License-Identifier: BSD-3-Clause
from types import GenericAlias
from typing import Any, Callable, Generator, Generic, SupportsFloat, SupportsIndex, TypeAlias, TypedDict, TypeVar, final, overload

import numpy
from numpy.typing import NDArray

from ._qtensor import QTensor
from ._typing import Destination, Offsets, Pad, Perm, Slice, Source, Step

_T = TypeVar("_T", bound=numpy.generic)
_Out = TypeVar("_Out", bound=Destination)
_Result = TypeVar("_Result")
_Result_co = TypeVar("_Result_co", covariant=True)

class _Dimension(TypedDict):
    pre: int
    post: int
    offset: int
    size: int
    step: int
    dropped: bool

version: str

@overload
def move(src: QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
         step: Step | None = None, perm: Perm | None = None,
         out: QTensor | Destination | None = None, at: Offsets | None = None,
         channels: SupportsIndex = 1) -> QTensor: ...
@overload
def move(src: NDArray[_T], *, pad: Pad | None = None, slice: Slice | None = None,
         step: Step | None = None, perm: Perm | None = None, out: None = None, at: None = None,
         channels: SupportsIndex = 1) -> NDArray[_T]: ...
@overload
def move(src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
         step: Step | None = None, perm: Perm | None = None, out: _Out, at: Offsets | None = None,
         channels: SupportsIndex = 1) -> _Out: ...
@overload
def move(src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
         step: Step | None = None, perm: Perm | None = None, out: None = None, at: None = None,
         channels: SupportsIndex = 1) -> NDArray[Any]: ...

_Window: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], int, list[_Dimension],
                           tuple[int, ...], tuple[int, ...]]

def window(src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
           step: Step | None = None, perm: Perm | None = None) -> _Window: ...

def as_array(array: Source, name: str, /) -> NDArray[Any]: ...
def register(type: type, move: Callable[..., Any], plan: Callable[..., Any], /) -> None: ...
def configure(engine: str | None = None, channels: int = 0) -> None: ...
def engine() -> tuple[str, int]: ...
def shutdown() -> None: ...

@final
class Transfer(Generic[_Result_co]):
    def done(self) -> bool: ...
    def result(self, timeout: SupportsFloat | None = None) -> _Result_co: ...
    def cancel(self) -> None: ...
    def _notify(self, eventfd: int, /) -> None: ...
    def __await__(self) -> Generator[Any, None, _Result_co]: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...

@final
class Plan(Generic[_Result]):
    @overload
    def __new__(cls, src: QTensor, *, pad: Pad | None = None, slice: Slice | None = None,
                step: Step | None = None, perm: Perm | None = None,
                out: QTensor | Destination | None = None, at: Offsets | None = None,
                channels: SupportsIndex = 1) -> Plan[QTensor]: ...
    @overload
    def __new__(cls, src: NDArray[_T], *, pad: Pad | None = None, slice: Slice | None = None,
                step: Step | None = None, perm: Perm | None = None, out: None = None,
                at: None = None, channels: SupportsIndex = 1) -> Plan[NDArray[_T]]: ...
    @overload
    def __new__(cls, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
                step: Step | None = None, perm: Perm | None = None, out: _Out,
                at: Offsets | None = None, channels: SupportsIndex = 1) -> Plan[_Out]: ...
    @overload
    def __new__(cls, src: Source, *, pad: Pad | None = None, slice: Slice | None = None,
                step: Step | None = None, perm: Perm | None = None, out: None = None,
                at: None = None, channels: SupportsIndex = 1) -> Plan[NDArray[Any]]: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def run(self) -> _Result: ...
    def start(self) -> Transfer[_Result]: ...
    def _time(self, count: int, /) -> int: ...
    @property
    def out(self) -> _Result: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def bytes(self) -> int: ...
    @property
    def moves(self) -> int: ...
    @property
    def _window(self) -> tuple[_Window, tuple[int, ...]]: ...
