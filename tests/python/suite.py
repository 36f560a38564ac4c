# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of the tests of the Python package."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import mli

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(mli.__file__).parent
sys.path.append(str(SOURCE / "tests" / "support"))


not_sanitized = unittest.skipIf(os.environ.get("MLI_TEST_SANITIZER"), "other programs run without the sanitizer")
needs_service = unittest.skipUnless(os.environ.get("MLICTL"), "this build has no service: no mlictl, no mlid")


def needs_module(name, package):
    """Returns a decorator that skips a test if a Python module is missing, and names the Debian package that has it.
    """
    return unittest.skipUnless(importlib.util.find_spec(name), f"no Python module {name} (Debian: {package})")


def run(command, **options):
    """Runs a command with the package on its path. Returns (status, output and errors)."""
    env = {**os.environ,
           "PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent), **options.pop("env", {})}
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, env=env, check=False, **options)
    return done.returncode, done.stdout


def main():
    """Runs the tests of the file; exits with 77 (skipped) if all tests were skipped."""
    program = unittest.main(verbosity=2, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
