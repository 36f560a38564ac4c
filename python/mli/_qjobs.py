# SPDX-License-Identifier: BSD-3-Clause
"""Quantised tensors on a service: it moves the elements, and the parameters follow here."""
from __future__ import annotations

from typing import Any, Callable

from ._client import Ticket
from ._qmoves import extended
from ._qtensor import QTensor

_MOVE = ("pad", "slice", "step", "perm", "out", "at")


def send(method: Callable[..., Ticket[Any]], src: QTensor, arguments: dict[str, Any]
         ) -> Ticket[Any]:
    """Call Connection.submit or Connection.prepare for a QTensor, and return the ticket.

    The results of the ticket, or of the starts of the prepared job, are QTensors.
    """
    data, out, wrap, store = extended(src, **{name: arguments[name] for name in _MOVE})
    ticket = method(data, **{**arguments, "out": out})
    ticket._wrap(wrap, store)
    return ticket
