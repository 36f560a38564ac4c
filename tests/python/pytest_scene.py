# SPDX-License-Identifier: BSD-3-Clause
"""Folders with test files, on which pytest runs with the plugin, each time in a process of its own. The processes are
forked from a process that has imported NumPy and pytest, because new processes would take longer to start than the
tests run.
"""
import importlib.util
import os
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import numpy  # noqa: F401 (for the forked processes)
import suite

if importlib.util.find_spec("pytest"):
    import pytest

HEAD = """
import mli, numpy as np
image = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
"""
PLUGIN = ("-p", "mli.pytest_plugin")


@suite.not_sanitized
@suite.needs_module("pytest", "python3-pytest")
class Scene(unittest.TestCase):
    """A folder with test files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(os.path.realpath(folder.name))
        (self.folder / "pytest.ini").write_text("[pytest]\n")

    def write_test(self, body, name="test_it.py"):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + textwrap.dedent(body))
        return path

    def golden(self, name):
        return self.folder / "golden" / name

    def pytest(self, *words, plugin=PLUGIN, env=None):
        """Runs pytest in a forked process. Returns (status, output)."""
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if child == 0:
                self._run(words, plugin, env or {}, output.fileno())
            _, status = os.waitpid(child, 0)
            output.seek(0)
            return os.waitstatus_to_exitcode(status), output.read().decode()

    def _run(self, words, plugin, env, output):
        """Runs pytest and ends the process."""
        status = 99
        try:
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.stdout, sys.stderr = (os.fdopen(fd, "w", closefd=False) for fd in (1, 2))
            os.chdir(self.folder)
            for name in ("CI", "BUILD_NUMBER"):  # with them, pytest prints its summary in full
                os.environ.pop(name, None)
            os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # other plugins, as labgrid's, take a second to import
            os.environ.update(env)
            status = pytest.main(["-p", "no:cacheprovider", "--color=no", *plugin, *map(str, words)])
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(int(status))

    def passes(self, *words, **options):
        status, output = self.pytest(*words, **options)
        self.assertEqual(status, 0, output)
        return output

    def fails(self, *words, **options):
        status, output = self.pytest(*words, **options)
        self.assertEqual(status, 1, output)
        return output
