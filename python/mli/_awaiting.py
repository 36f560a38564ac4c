# SPDX-License-Identifier: BSD-3-Clause
"""Transfers in asyncio: an eventfd wakes the loop when one of its transfers has ended."""
from __future__ import annotations

import asyncio
import os
import weakref
from typing import Any, Generator, TypeVar

from ._core import Transfer

_Result = TypeVar("_Result")
_linux: Any = os  # eventfd is not in the types of all versions of mypy
_watchers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Watcher] = (
    weakref.WeakKeyDictionary())


class _Watcher:
    """The transfers that coroutines of one loop await."""

    def __init__(self) -> None:
        self._waiting: dict[Transfer[Any], list[asyncio.Future[None]]] = {}  # futures of coroutines
        self._eventfd = -1

    def wait(self, transfer: Transfer[Any]) -> asyncio.Future[None]:
        """Return a future that becomes done when the transfer has ended."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        if not self._waiting:
            self._eventfd = _linux.eventfd(0, _linux.EFD_NONBLOCK | _linux.EFD_CLOEXEC)
            loop.add_reader(self._eventfd, self._wake)
        self._waiting.setdefault(transfer, []).append(future)
        transfer._notify(self._eventfd)
        return future

    def _wake(self) -> None:
        _linux.eventfd_read(self._eventfd)
        for transfer in [each for each in self._waiting if each.done()]:
            for future in self._waiting.pop(transfer):
                if not future.done():
                    future.set_result(None)
        self._close_if_idle(asyncio.get_running_loop())

    def forget(self, transfer: Transfer[Any], future: asyncio.Future[None]) -> None:
        """Drop a future that no coroutine awaits any more, because a future keeps its loop
        alive."""
        futures = self._waiting.get(transfer, [])
        if future in futures:
            futures.remove(future)
            if not futures:
                del self._waiting[transfer]
                transfer._notify(-1)
        self._close_if_idle(future.get_loop())

    def _close_if_idle(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._waiting or self._eventfd < 0:
            return
        if not loop.is_closed():
            loop.remove_reader(self._eventfd)
        os.close(self._eventfd)
        self._eventfd = -1


async def _until_done(transfer: Transfer[_Result]) -> _Result:
    if not transfer.done():
        loop = asyncio.get_running_loop()
        watcher = _watchers.get(loop)
        if watcher is None:
            watcher = _watchers[loop] = _Watcher()
        future = watcher.wait(transfer)
        try:
            await future
        except asyncio.CancelledError:
            transfer.cancel()
            raise
        finally:
            watcher.forget(transfer, future)
    return transfer.result()


def await_transfer(transfer: Transfer[_Result]) -> Generator[Any, None, _Result]:
    """Return the iterator of `await transfer`. A cancelled task cancels the transfer."""
    return _until_done(transfer).__await__()
