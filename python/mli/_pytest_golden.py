# SPDX-License-Identifier: BSD-3-Clause
"""The fixture mli_golden of the pytest plugin."""
from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from . import _golden
from ._differences import Differences, compare, is_number
from ._origins import Move, Origins, run_move
from ._qtensor import QTensor
from ._typing import AnyArray

WRITTEN = "mli_golden_written"  # property of a test's report: a golden file that the test wrote
_Writers = dict[Path, tuple[str, bytes]]  # test and content of written files
_writers = pytest.StashKey[_Writers]()


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
        if array is None:
            if move is None:
                raise TypeError("mli_golden() requires an array or a move")
            array = run_move(move)
        actual = _golden.array_of(array)
        if (tolerance or relative) and not is_number(actual):
            raise TypeError(f"tolerances require numbers, not {actual.dtype}")
        origins = None if move is None else Origins(move, actual.shape)
        problem = self._difference(path, actual, tolerance, relative, origins)
        if problem and self._update:
            self._write(path, _golden.content_of(actual))
        elif problem:
            pytest.fail(f"{self._shown(path)}: {problem}\n{self._advice()}")
        if isinstance(array, QTensor):
            self._check_params(path.with_suffix(".json"), array)

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

    def _check_params(self, path: Path, tensor: QTensor) -> None:
        __tracebackhide__ = True
        try:
            expected = json.loads(path.read_bytes())
        except FileNotFoundError:
            expected, problem = None, "missing"
        except (OSError, ValueError) as error:
            expected, problem = None, f"not a readable JSON file: {error}"
        else:
            problem = f"the parameters differ\n  got      {json.dumps(tensor.params)}\n" \
                      f"  expected {json.dumps(expected)}"
        if expected == tensor.params:
            return
        if not self._update:
            pytest.fail(f"{self._shown(path)}: {problem}\n{self._advice()}")
        self._write(path, json.dumps(tensor.params).encode() + b"\n")

    def _write(self, path: Path, content: bytes) -> None:
        """Write a golden file, once for all tests of a run."""
        __tracebackhide__ = True
        new: _Writers = {}
        writers = self._config.stash.setdefault(_writers, new)
        writer, written = writers.get(path, (self._node.nodeid, content))
        if written != content:
            pytest.fail(f"{self._shown(path)}: the test {writer} of this run has written it with "
                        "other content; give each test a golden file of its own")
        _golden.write_atomically(path, content)
        writers[path] = (self._node.nodeid, content)
        self._node.user_properties.append((WRITTEN, self._shown(path)))

    def _shown(self, path: Path) -> str:
        """Return a path as the user would type it."""
        folder = self._config.invocation_params.dir
        return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)

    def _advice(self) -> str:
        node = self._config.cwd_relative_nodeid(self._node.nodeid)
        return f"To accept what the test got: pytest --mli-update {shlex.quote(node)}"


@pytest.fixture
def mli_golden(request: pytest.FixtureRequest) -> Golden:
    """Compare an array with a golden .npy file: mli_golden(array, "name.npy")."""
    return Golden(request)
