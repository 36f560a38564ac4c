# SPDX-License-Identifier: BSD-3-Clause
"""Tests how the package finds mlictl and mlid."""
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import mli
import suite
from mli import _programs


class Find(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ, {"PATH": "", "MLICTL": "", "MLID": ""})
        environment.start()
        self.addCleanup(environment.stop)
        package = mock.patch.object(_programs, "_PACKAGE", self.folder / "python" / "mli")
        package.start()
        self.addCleanup(package.stop)

    def program(self, place):
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    def test_order(self):
        os.environ["PATH"] = os.path.dirname(self.program("path/mlictl"))
        self.assertEqual(_programs.find("mlictl"), str(self.folder / "path/mlictl"))
        built = self.program("cli/mlictl")
        self.assertEqual(_programs.find("mlictl"), str(self.folder / "path/mlictl"))
        (self.folder / "build.ninja").touch()
        self.assertEqual(_programs.find("mlictl"), built)
        packaged = self.program("python/mli/bin/mlictl")
        self.assertEqual(_programs.find("mlictl"), packaged)
        os.environ["MLICTL"] = self.program("mine")
        self.assertEqual(_programs.find("mlictl"), os.environ["MLICTL"])

    def test_missing(self):
        (self.folder / "build.ninja").touch()
        with self.assertRaises(mli.Error) as caught:
            _programs.find("mlid")
        self.assertEqual(caught.exception.field, "mlid")
        for words in ("python/mli/bin/mlid", "daemon/mlid", "$PATH", "$MLID"):
            self.assertIn(words, str(caught.exception))

    def test_variable_without_program(self):
        os.environ["MLID"] = str(self.folder / "none")
        with self.assertRaises(mli.Error) as caught:
            _programs.find("mlid")
        self.assertEqual(caught.exception.given, os.environ["MLID"])
        os.environ["MLID"] = str(self.folder)  # a folder
        self.assertRaises(mli.Error, _programs.find, "mlid")

    def test_not_executable(self):
        path = self.program("python/mli/bin/mlictl")
        os.chmod(path, 0o644)
        self.assertRaises(mli.Error, _programs.find, "mlictl")


class Here(unittest.TestCase):
    @suite.needs_service
    def test_programs_of_the_build(self):
        built = {name: os.environ[name.upper()] for name in ("mlictl", "mlid")}
        with mock.patch.dict(os.environ, {"MLICTL": "", "MLID": ""}):
            for name, path in built.items():
                self.assertEqual(os.path.realpath(_programs.find(name)), os.path.realpath(path))
                self.assertTrue(shutil.which(_programs.find(name)))


if __name__ == "__main__":
    suite.main()
