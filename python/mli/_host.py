# SPDX-License-Identifier: BSD-3-Clause
"""The command that reaches a service on another host, like `mlictl -H ssh://...`."""
from __future__ import annotations

import os
import re
import shlex

from ._errors import Error

# No part may begin with a dash: ssh would take it for an option.
_NAME = r"[A-Za-z0-9_.][A-Za-z0-9._-]*"
_URL = re.compile(rf"ssh://(?:(?P<user>{_NAME})@)?"
                  rf"(?P<host>{_NAME}|\[[A-Fa-f0-9:.]+(?:%[A-Za-z0-9._-]+)?\])"
                  r"(?::(?P<port>[0-9]{1,5}))?/?")


def command_for(host: str, path: str | None) -> list[str]:
    """Return the command for a URL ssh://[user@]host[:port]; $MLI_SSH replaces ssh."""
    found = _URL.fullmatch(host)
    if not found or not 0 < int(found["port"] or 22) < 65536:
        raise Error("ARGUMENT_ERROR", "host", host, "ssh://[user@]host[:port] is allowed")
    target = found["host"].strip("[]")
    if found["user"]:
        target = f"{found['user']}@{target}"
    port = ["-p", found["port"]] if found["port"] else []
    socket = ["--socket", shlex.quote(path)] if path is not None else []
    return [os.environ.get("MLI_SSH") or "ssh", *port, target, "mlictl", "proxy", *socket]
