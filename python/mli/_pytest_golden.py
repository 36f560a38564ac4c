# SPDX-License-Identifier: BSD-3-Clause
"""The fixture mli_golden of the pytest plugin."""
from __future__ import annotations

import json
import math
import os
import shlex
from pathlib import Path
from typing import Any, NamedTuple, Optional

import pytest

from . import _golden
from ._differences import Differences, compare, is_number
from ._origins import Move, Origins, run_move
from ._qdifferences import are_params, compare_params
from ._qtensor import QTensor
from ._typing import AnyArray

WRITTEN = "mli_golden_written"  # property of a test's report: a golden file that the test wrote
_PLUGIN = "mli.pytest_plugin"
_Writers = dict[Path, tuple[str, Optional[bytes]]]  # test and content of written files
_WITHOUT_PARAMS = ("parameters are expected, but the test gives an array without them: it has lost "
                   "them, or it must give the QTensor instead of its data")
_writers = pytest.StashKey[_Writers]()


class _Wrong(NamedTuple):
    """A golden file that differs from the result of a test."""
    path: Path
    problem: str  # "": it does not differ
    content: bytes | None  # that is right; None: no file


def _wrong_params(path: Path, array: Any) -> _Wrong:
    """Compare the parameters of a result, which only a QTensor has, with their file."""
    params = array.params if isinstance(array, QTensor) else None
    content = None if params is None else json.dumps(params).encode() + b"\n"
    try:
        expected = json.loads(path.read_bytes())
    except FileNotFoundError:
        problem = "" if params is None else "missing"
    except (OSError, ValueError) as error:
        problem = f"not a readable JSON file: {error}"
    else:
        if params is not None:
            problem = compare_params(params, expected)
        else:
            problem = _WITHOUT_PARAMS if are_params(expected) else ""
    return _Wrong(path, problem, content)


def _check_tolerances(**tolerances: float) -> None:
    for name, value in tolerances.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name}: {value!r} given; a finite number from 0 on is required")


class Golden:
    """Compares arrays with golden files in the folder golden/ beside the test file."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node = request.node
        self._config = request.config
        self._folder = request.path.parent / "golden"
        self._update: bool = request.config.getoption("mli_update")

    def __call__(self, array: Any = None, name: str = "", *, move: Move | None = None,
                 tolerance: float = 0, relative: float = 0) -> None:
        """Fail the test if an array differs from a golden file.

        Parameters
        ----------
        array
            The result: an array, or a QTensor, whose parameters are in the file .json beside the
            .npy file. Default: the result of `move`, which is run.
        name
            The golden file: a path in the folder golden/, with the suffix .npy.
        move : mli.Plan or dict, optional
            What made the array: a plan, or the arguments of mli.move() by name. The failure then
            has the source coordinates of elements.
        tolerance, relative
            Numbers are equal if |got - expected| <= tolerance + relative * |expected|. Default: all
            bits must be equal.
        """
        __tracebackhide__ = True
        path = _golden.path_of(self._folder, name)
        _check_tolerances(tolerance=tolerance, relative=relative)
        if array is None:
            if move is None:
                raise TypeError("mli_golden() requires an array or a move")
            array = run_move(move)
        actual = _golden.array_of(array)
        if (tolerance or relative) and not is_number(actual):
            raise TypeError(f"tolerances require numbers, not {actual.dtype}")
        origins = None if move is None else Origins(move, actual.shape)
        wrong = [_Wrong(path, self._difference(path, actual, tolerance, relative, origins),
                        _golden.content_of(actual)),
                 _wrong_params(path.with_suffix(".json"), array)]
        self._settle([each for each in wrong if each.problem])

    def _difference(self, path: Path, actual: AnyArray, tolerance: float, relative: float,
                    origins: Origins | None) -> str:
        """Return how an array differs from its golden file; "" if it is equal."""
        try:
            expected = _golden.read(path, actual)
        except FileNotFoundError:
            return "missing"
        except (OSError, ValueError, EOFError) as error:
            return f"not a readable .npy file: {error}"
        layouts = [f"dtype {expected.dtype} expected, got {actual.dtype}"
                   if expected.dtype != actual.dtype else "",
                   f"shape {expected.shape} expected, got {actual.shape}"
                   if expected.shape != actual.shape else ""]
        if any(layouts):
            return "; ".join(filter(None, layouts))
        differences: Differences | None = compare(actual, expected, tolerance, relative)
        return differences.report(origins.of if origins else None) if differences else ""

    def _settle(self, wrong: list[_Wrong]) -> None:
        """Write the files that differ with --mli-update; otherwise fail the test for them."""
        __tracebackhide__ = True
        if self._update:
            for each in wrong:
                self._write(each.path, each.content)
        elif wrong:
            lines = [f"{self._shown(each.path)}: {each.problem}" for each in wrong]
            pytest.fail("\n".join([*lines, self._advice()]))

    def _write(self, path: Path, content: bytes | None) -> None:
        """Write a golden file, or remove it, once for all tests of a run."""
        __tracebackhide__ = True
        new: _Writers = {}
        writers = self._config.stash.setdefault(_writers, new)
        writer, written = writers.get(path, (self._node.nodeid, content))
        if written != content:
            pytest.fail(f"{self._shown(path)}: the test {writer} of this run has written it with "
                        "other content; give each test a golden file of its own")
        if content is None:
            path.unlink(missing_ok=True)
        else:
            _golden.write_atomically(path, content)
        writers[path] = (self._node.nodeid, content)
        removed = " (removed)" if content is None else ""
        self._node.user_properties.append((WRITTEN, self._shown(path) + removed))

    def _shown(self, path: Path) -> str:
        """Return a path as the user would type it."""
        folder = self._config.invocation_params.dir
        return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)

    def _advice(self) -> str:
        """Return the command that writes the golden files of this test."""
        arguments = self._config.invocation_params.args
        named = _PLUGIN in arguments or f"-p{_PLUGIN}" in arguments
        node = self._config.cwd_relative_nodeid(self._node.nodeid)
        words = ["pytest", *(["-p", _PLUGIN] if named else []), "--mli-update", shlex.quote(node)]
        return f"To accept what the test got: {' '.join(words)}"


@pytest.fixture
def mli_golden(request: pytest.FixtureRequest) -> Golden:
    """Compare an array with a golden .npy file: mli_golden(array, "name.npy")."""
    return Golden(request)
