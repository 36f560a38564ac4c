# SPDX-License-Identifier: BSD-3-Clause
"""The plugin of pytest: golden files, and job files as tests. docs/python-testing.md describes it.

An installed package loads it; otherwise `pytest -p mli.pytest_plugin` does.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ._pytest_golden import WRITTEN, Golden, mli_golden
from ._pytest_jobs import MARKER, JobFile, is_job_file

__all__ = ["Golden", "mli_golden"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of the configuration file."""
    group = parser.getgroup("mli", "golden files and job files of mli")
    group.addoption("--mli-update", action="store_true", default=False,
                    help="Write golden files that are missing or differ, instead of failing.")
    group.addoption("--mli-jobs", action="store_true", default=False,
                    help="Collect job files of mlictl (*.json) as tests.")
    group.addoption("--mli-batch", metavar="OPTIONS", default="",
                    help="Pass OPTIONS to mlictl batch, which runs job files (default: none).")
    parser.addini("mli_jobs", "Collect job files of mlictl as tests, as --mli-jobs.", type="bool",
                  default=False)
    parser.addini("mli_batch", "Options for mlictl batch, as --mli-batch.", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of job files, for -m."""
    config.addinivalue_line("markers", f"{MARKER}: a job file of mlictl (added by the plugin).")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> JobFile | None:
    """Collect a job file, and every *.json file that the command line names."""
    if file_path.suffix != ".json":
        return None
    if not (parent.config.getoption("mli_jobs") or parent.config.getini("mli_jobs")):
        return None
    if not parent.session.isinitpath(file_path) and not is_job_file(file_path):
        return None
    collected: JobFile = JobFile.from_parent(parent, path=file_path)
    return collected


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the golden files that tests wrote."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    written = {value: None for report in reports for name, value in
               getattr(report, "user_properties", ()) if name == WRITTEN}
    if written:
        terminalreporter.section("golden files written")
        for path in written:
            terminalreporter.write_line(path)
