# SPDX-License-Identifier: BSD-3-Clause
"""Moves of arrays: copy, slice, concatenate, subsample, permute and pad, all in one call.

>>> import mli, numpy as np
>>> image = np.arange(12, dtype=np.int8).reshape(3, 4)
>>> mli.move(image, pad=1, slice=np.s_[0:3, ::2], perm=(1, 0))
array([[0, 0, 0],
       [0, 1, 5],
       [0, 3, 7]], dtype=int8)
"""
import atexit as _atexit

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
    from ._service_error import ServiceError
except ModuleNotFoundError as _missing:  # built without the service
    if _missing.name not in {f"{__name__}.{name}" for name in ("_buffers", "_client")}:
        raise

__version__ = _core.version
__all__ = ["Error", "Explanation", "Layout", "Plan", "QLayout", "QTensor", "Transfer", "check",
           "concatenate", "configure", "engine", "explain", "move", "permute"]
if "Client" in globals():
    __all__ += ["Buffer", "Client", "Event", "JobCost", "JobInfo", "Prepared", "Server",
                "ServiceError", "Ticket", "serve"]
    for _class in (Buffer, Client, Event, JobCost, JobInfo, Server, ServiceError):
        _class.__module__ = __name__

for _class in (Error, Explanation, Layout, QLayout, QTensor):
    _class.__module__ = __name__  # for tracebacks, pickles and documentation

_atexit.register(_core.shutdown)
