# SPDX-License-Identifier: BSD-3-Clause
"""Transfers in asyncio: an eventfd wakes the loop when one of its transfers has ended."""
import asyncio
import os
import weakref

_watchers = weakref.WeakKeyDictionary()  # by event loop


class _Watcher:
    """The transfers that coroutines of one loop await."""

    def __init__(self, loop):
        self._loop = weakref.ref(loop)
        self._waiting = {}  # transfers, and the futures of coroutines
        self._eventfd = -1

    def wait(self, transfer):
        """Return a future that becomes done when the transfer has ended."""
        loop = self._loop()
        future = loop.create_future()
        if not self._waiting:
            self._eventfd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            loop.add_reader(self._eventfd, self._wake)
        self._waiting.setdefault(transfer, []).append(future)
        transfer._notify(self._eventfd)
        return future

    def _wake(self):
        os.eventfd_read(self._eventfd)
        for transfer in [each for each in self._waiting if each.done()]:
            for future in self._waiting.pop(transfer):
                if not future.done():
                    future.set_result(None)
        if not self._waiting:
            self._loop().remove_reader(self._eventfd)
            os.close(self._eventfd)
            self._eventfd = -1


async def _until_done(transfer):
    if not transfer.done():
        loop = asyncio.get_running_loop()
        watcher = _watchers.get(loop)
        if watcher is None:
            watcher = _watchers[loop] = _Watcher(loop)
        try:
            await watcher.wait(transfer)
        except asyncio.CancelledError:
            transfer.cancel()
            raise
    return transfer.result()


def await_transfer(transfer):
    """Return the iterator of `await transfer`. A cancelled task cancels the transfer."""
    return _until_done(transfer).__await__()
