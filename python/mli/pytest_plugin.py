# SPDX-License-Identifier: BSD-3-Clause
"""The plugin of pytest: golden files, and job files as tests. docs/python-testing.md describes it.

An installed package loads it; otherwise `pytest -p mli.pytest_plugin` does.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ._batch_options import parse
from ._pytest_golden import WRITTEN, Golden, mli_golden
from ._pytest_jobs import (BATCH, MARKER, Batch, JobFile, NoExpectWarning, NoParamsWarning,
                           has_option, is_job_file, mli_service)
from ._qdifferences import compare_tensors
from ._qtensor import QTensor

__all__ = ["Golden", "NoExpectWarning", "NoParamsWarning", "mli_golden", "mli_service"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration file."""
    group = parser.getgroup("mli", "golden files and job files of mli")
    group.addoption("--mli-update", action="store_true", default=False,
                    help="Write golden files that are missing or differ, instead of failing.")
    group.addoption("--mli-jobs", action="store_true", default=False,
                    help="Collect job files of mlictl (*.json) as tests.")
    group.addoption("--mli-batch", metavar="OPTIONS", default="",
                    help="Pass OPTIONS to mlictl batch, which runs job files (default: none).")
    group.addoption("--mli-service", action="store_true", default=False,
                    help="Run job files on the service of the fixture mli_service.")
    parser.addini("mli_jobs", "Collect job files of mlictl as tests, as --mli-jobs.", type="bool",
                  default=False)
    parser.addini("mli_batch", "Options for mlictl batch, as --mli-batch.", default="")
    parser.addini("mli_service", "Run job files on a service, as --mli-service.", type="bool",
                  default=False)


def _batch_of(config: pytest.Config) -> Batch:
    """Return how job files run. Raises pytest.UsageError."""
    try:
        options = parse(config.getoption("mli_batch") or config.getini("mli_batch"))
    except ValueError as error:
        raise pytest.UsageError(f"--mli-batch: {error}") from None
    if options.of_place and has_option(config, "mli_service"):
        raise pytest.UsageError(f"--mli-batch: {options.of_place[0]} cannot be combined with "
                                "--mli-service: the fixture mli_service makes the service")
    return Batch(options, config.invocation_params.dir)


def pytest_configure(config: pytest.Config) -> None:
    """Check the options, and register the marker of job files, for -m."""
    config.stash[BATCH] = _batch_of(config)
    config.addinivalue_line("markers", f"{MARKER}: a job file of mlictl (added by the plugin).")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> JobFile | None:
    """Collect a job file, and every *.json file that the command line names."""
    if file_path.suffix != ".json":
        return None
    if not has_option(parent.config, "mli_jobs"):
        return None
    if not parent.session.isinitpath(file_path) and not is_job_file(file_path):
        return None
    collected: JobFile = JobFile.from_parent(parent, path=file_path)
    return collected


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain the failure of `assert got == expected` for two QTensors."""
    if op != "==" or not (isinstance(left, QTensor) and isinstance(right, QTensor)):
        return None
    return [f"{left!r} == {right!r}", *compare_tensors(left, right)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the golden files that tests wrote."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    written = {value: None for report in reports for name, value in
               getattr(report, "user_properties", ()) if name == WRITTEN}
    if written:
        terminalreporter.section("golden files written")
        for path in written:
            terminalreporter.write_line(path)
