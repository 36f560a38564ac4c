# SPDX-License-Identifier: BSD-3-Clause
"""Moves of arrays: copy, slice, concatenate, subsample, permute and pad, all in one call.

>>> import mli, numpy as np
>>> image = np.arange(12, dtype=np.int8).reshape(3, 4)
>>> mli.move(image, pad=1, slice=np.s_[0:3, ::2], perm=(1, 0))
array([[0, 0, 0],
       [0, 1, 5],
       [0, 3, 7]], dtype=int8)

Ask for one name, like help(mli.move): this page has all names. The guide is docs/python.md.

In this process
    move, permute, concatenate      move arrays
    check, explain                  return what a move would do
    Plan, Transfer                  a move that is checked once; a move on its way
    QTensor                         an array with parameters of quantisation
    configure, engine               choose DMA channels

On a service (mlid)
    serve, Client, aio.connect      start a service; connect to one
    Ticket, Prepared, Buffer        a job on its way; a job to start often; shared memory
    Event, JobInfo, JobCost         what the service says about jobs

Exceptions
    Error                           a ValueError: status, field, given, allowed
    ServiceError                    an Error of a service
    ServiceTimeoutError             a ServiceError and TimeoutError: no reply in time
"""
import atexit as _atexit
import importlib as _importlib
import typing as _typing

from . import _core
from ._core import Plan, Transfer, move
from ._errors import Error
from ._explain import Explanation, explain
from ._moves import Layout, check, concatenate, configure, engine, permute
from ._qmoves import QLayout
from ._qtensor import QTensor

try:
    from ._buffers import Buffer
    from ._client import Prepared, Ticket
    from ._jobs import Event, JobCost, JobInfo
    from ._server import Server, serve
    from ._service import Client
    from ._service_error import ServiceError, ServiceTimeoutError
except ModuleNotFoundError as _missing:  # built without the service
    if _missing.name not in {f"{__name__}.{name}" for name in ("_buffers", "_client")}:
        raise

if _typing.TYPE_CHECKING:
    from . import aio
else:
    def __getattr__(name):
        """Import mli.aio when it is used first: asyncio takes longer to load than all of mli."""
        if name == "aio":
            return _importlib.import_module("mli.aio")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

__version__ = _core.version
__all__ = ["Error", "Explanation", "Layout", "Plan", "QLayout", "QTensor", "Transfer", "check",
           "concatenate", "configure", "engine", "explain", "move", "permute"]
if "Client" in globals():
    __all__ += ["Buffer", "Client", "Event", "JobCost", "JobInfo", "Prepared", "Server",
                "ServiceError", "ServiceTimeoutError", "Ticket", "serve"]
    for _class in (Buffer, Client, Event, JobCost, JobInfo, Server, ServiceError, ServiceTimeoutError):
        _class.__module__ = __name__

for _class in (Error, Explanation, Layout, QLayout, QTensor):
    _class.__module__ = __name__  # for tracebacks, pickles and documentation

_atexit.register(_core.shutdown)
