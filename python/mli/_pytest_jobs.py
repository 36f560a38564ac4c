# SPDX-License-Identifier: BSD-3-Clause
"""Job files of mlictl as tests of pytest."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import pytest

from . import _programs
from ._batch_options import BatchOptions
from ._errors import Error

if TYPE_CHECKING:
    from ._server import Server

MARKER = "mli_job"
_JOB = {"op", "src", "dst"}
_BYTES_MAX = 64 * 2**20  # of a job file


def _is_job(value: Any) -> bool:
    """Return whether a JSON value has at least two of the members of _JOB: one may be misspelt."""
    return isinstance(value, dict) and len(_JOB & value.keys()) >= 2


def _are_jobs(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, dict) and _JOB & item.keys() for item in value)


def is_job_text(text: str) -> bool:
    """Return whether a JSON text is meant as a job file.

    Broken JSON counts as a job file if it has all members.

    >>> is_job_text('{"op": "mov", "src": {}}'), is_job_text('{"src": "a.js"}')
    (True, False)
    """
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return all(f'"{name}"' in text for name in _JOB)
    if isinstance(root, dict) and "jobs" in root:
        return _are_jobs(root["jobs"])
    return _is_job(root) or (isinstance(root, list) and any(map(_is_job, root)))


def is_job_file(path: Path) -> bool:
    """Return whether a file is meant as a job file."""
    try:
        return path.stat().st_size <= _BYTES_MAX and is_job_text(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return False


class JobFailure(Exception):
    """A job file did not pass. The text is the report."""


def _case_of(output: str) -> dict[str, Any] | None:
    """Return the object of the only case in the output of `mlictl batch --json`."""
    for line in output.splitlines():
        if line.startswith("{"):
            event: dict[str, Any] = json.loads(line)
            if event.get("event") == "case":
                return event
    return None


def _relative(path: Path, folder: Path) -> str:
    """Return `path` relative to a folder, or the absolute path if the file is not in the
    folder."""
    name = os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)
    return f"./{name}" if name.startswith("-") else name


class Batch(NamedTuple):
    """How `mlictl batch` runs job files."""
    options: BatchOptions
    folder: Path  # working directory

    def run(self, path: Path, service: str | None) -> dict[str, Any]:
        """Run a job file, on a service if there is one; return the object of its case.

        Raises JobFailure, or mli.Error if there is no mlictl. Writes no outputs.
        """
        words = ["batch", "--keep", "none", *self.options.words]
        place = [] if service is None else ["--socket", service]
        name = _relative(path, self.folder)
        done = subprocess.run([_programs.find("mlictl"), *words, *place, "--json", name],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace")
        case = _case_of(done.stdout)
        again = f"To repeat: {shlex.join(['mlictl', *words, name])}"
        if case is None:
            reason = done.stderr.strip() or f"mlictl ended with the code {done.returncode}"
            raise JobFailure(f"{reason}\n{again}")
        if done.returncode != 0 or case["status"] not in ("passed", "ran", "flaky"):
            at = f" (at {case['pointer']})" if case.get("pointer") else ""
            if "line" in case:
                at = f" (at {name}:{case['line']}:{case['column']})"
            reason = case.get("message", done.stderr.strip() or case["status"])
            advice = self._advice(case, [*words, "--update-golden", name])
            raise JobFailure(f"{case.get('reason', case['status'])}: {reason}{at}\n{again}{advice}")
        return case

    def _advice(self, case: dict[str, Any], words: list[str]) -> str:
        """Return advice on how to replace a golden file that differs; "" for other failures."""
        kind = case.get("difference", {}).get("kind", "digest")
        if kind == "digest" or "update-golden" in self.options.names:
            return ""
        return ("\nTo write what the job gives beside the golden file, as *.new: "
                + shlex.join(["mlictl", *words]))


BATCH = pytest.StashKey[Batch]()  # of the configuration


class NoExpectWarning(pytest.PytestWarning):
    """A job file ran, but none of its jobs has the member `expect`: nothing was compared."""


class NoParamsWarning(pytest.PytestWarning):
    """A job file compares elements, but not the quantisation parameters that its results have."""


def _run_item(request: pytest.FixtureRequest) -> None:
    """Run the job file of a JobItem."""
    item, config = request.node, request.config
    service = None
    if has_option(config, "mli_service"):
        value = request.getfixturevalue("mli_service")
        service = os.fspath(getattr(value, "path", value))
    case = config.stash[BATCH].run(item.path, service)
    item.user_properties.append(("mli_bytes", case["bytes"]))
    file = _relative(item.path, config.stash[BATCH].folder)
    if case["status"] == "ran":
        warnings.warn_explicit("no job has `expect`, so the test compares nothing",
                               NoExpectWarning, file, 0)
    if "remark" in case:
        warnings.warn_explicit(case["remark"], NoParamsWarning, file, 0)


def has_option(config: pytest.Config, name: str) -> bool:
    """Return whether the command line or the configuration file has a switch."""
    return bool(config.getoption(name) or config.getini(name))


class JobItem(pytest.Function):
    """A job file as a test. Like a test function, it may use fixtures."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of a failure: the message of mlictl."""
        if isinstance(excinfo.value, (JobFailure, Error, NoExpectWarning, NoParamsWarning)):
            folder = self.config.invocation_params.dir
            return f"{_relative(self.path, folder)}: {excinfo.value}"
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the title of a failure."""
        return self.path, None, f"job file {self.name}"


class JobFile(pytest.Module):
    """A collected job file, which is one test. For fixtures, the job file is a module."""

    obj = None  # there is no module to import

    def collect(self) -> Iterator[JobItem]:
        """Return the test."""
        make: Any = JobItem.from_parent  # untyped in older releases of pytest
        item: JobItem = make(self, name=self.path.stem, callobj=_run_item)
        item.add_marker(MARKER)
        yield item


@pytest.fixture(scope="session")
def mli_service() -> Iterator[Server]:
    """A service of this run, an mli.Server; --mli-service runs the job files on it.

    A conftest.py may have another fixture of this name, which gives a service with other options,
    or the path of a socket.
    """
    from ._server import serve  # a build without the service has no such module

    server = serve()
    yield server
    server.close()
