# SPDX-License-Identifier: BSD-3-Clause
"""Job files of mlictl as tests of pytest."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Iterator

import pytest

from . import _programs
from ._errors import Error

MARKER = "mli_job"
_JOB = {"op", "src", "dst"}
_BYTES_MAX = 64 * 2**20  # of a job file


def _is_job(value: Any) -> bool:
    """Return whether a JSON value has two of the three members of all jobs: one may be misspelt."""
    return isinstance(value, dict) and len(_JOB & value.keys()) >= 2


def _are_jobs(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, dict) and _JOB & item.keys() for item in value)


def is_job_text(text: str) -> bool:
    """Return whether a JSON text is meant as a job file. Broken JSON is if it has all members.

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
    """Return the path from a folder, or the absolute path of a file that is not in the folder."""
    name = os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)
    return f"./{name}" if name.startswith("-") else name


def run_job_file(path: Path, options: list[str], folder: Path) -> dict[str, Any]:
    """Run a job file by `mlictl batch`, which writes no outputs. Returns its object of the case.

    `folder` is the working directory of mlictl.

    Raises JobFailure, or mli.Error if there is no mlictl.
    """
    words = ["batch", "--keep", "none", *options]
    name = _relative(path, folder)
    done = subprocess.run([_programs.find("mlictl"), *words, "--json", name], cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          errors="replace")
    case = _case_of(done.stdout)
    again = f"To repeat: {shlex.join(['mlictl', *words, name])}"
    if case is None:
        reason = done.stderr.strip() or f"mlictl ended with the code {done.returncode}"
        raise JobFailure(f"{reason}\n{again}")
    if done.returncode != 0 or case["status"] not in ("passed", "flaky"):
        place = f" (at {case['pointer']})" if case.get("pointer") else ""
        reason = case.get("message", done.stderr.strip() or case["status"])
        raise JobFailure(f"{case.get('reason', case['status'])}: {reason}{place}\n{again}")
    return case


class JobItem(pytest.Item):
    """A job file as a test."""

    def runtest(self) -> None:
        """Run the jobs of the file."""
        options: str = self.config.getoption("mli_batch") or self.config.getini("mli_batch")
        folder = self.config.invocation_params.dir
        case = run_job_file(self.path, shlex.split(options), folder)
        self.user_properties.append(("mli_bytes", case["bytes"]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report of a failure: the message of mlictl."""
        if isinstance(excinfo.value, (JobFailure, Error)):
            folder = self.config.invocation_params.dir
            return f"{_relative(self.path, folder)}: {excinfo.value}"
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the title of a failure."""
        return self.path, None, f"job file {self.name}"


class JobFile(pytest.File):
    """A collected job file, which is one test."""

    def collect(self) -> Iterator[JobItem]:
        """Return the test."""
        item: JobItem = JobItem.from_parent(self, name=self.path.stem)
        item.add_marker(MARKER)
        yield item
