# SPDX-License-Identifier: BSD-3-Clause
"""Where the programs mlictl and mlid are."""
from __future__ import annotations

import os
import shutil
from pathlib import Path

from ._errors import Error

_PACKAGE = Path(__file__).resolve().parent
# Folders of the programs in the build tree, which has the package in python/mli.
_BUILD_FOLDERS = {"mlictl": "cli", "mlid": "daemon"}


def _is_program(path: str | Path) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _beside_package(name: str) -> list[Path]:
    """Return the files that an installation by pip, and a build tree, would have."""
    places = [_PACKAGE / "bin" / name]
    if _PACKAGE.parent.name == "python" and (_PACKAGE.parents[1] / "build.ninja").is_file():
        places.append(_PACKAGE.parents[1] / _BUILD_FOLDERS.get(name, "") / name)
    return places


def _not_found(name: str, given: str | None, looked: str) -> Error:
    return Error("ARGUMENT_ERROR", name, given,
                 f"{looked}; install the programs of mli, or set ${name.upper()} to the path of "
                 f"{name}")


def find(name: str) -> str:
    """Return the path of a program of mli, "mlictl" or "mlid".

    Looks at the variable $MLICTL or $MLID, then in the folder bin/ of the package, in the build
    tree that contains the package, and in the folders of $PATH.

    Raises mli.Error if the program is not there, or if the variable names no program.
    """
    variable = os.environ.get(name.upper())
    if variable:
        if _is_program(variable):
            return os.path.abspath(variable)
        raise _not_found(name, variable, f"${name.upper()} must name a program")
    places = _beside_package(name)
    for place in places:
        if _is_program(place):
            return str(place)
    found = shutil.which(name)
    if found:
        return os.path.abspath(found)
    looked = ", ".join(map(str, places))
    raise _not_found(name, None, f"not found as {looked}, nor in $PATH")
