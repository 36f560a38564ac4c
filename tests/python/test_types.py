# SPDX-License-Identifier: BSD-3-Clause
"""Tests the annotations and stubs of the package with mypy --strict and stubtest. stubtest compares the stubs of the
extension modules with these modules; for other modules, it would compare the annotations with themselves.
"""
import sys
import tempfile
import unittest

import suite

EXAMPLES = suite.SOURCE / "tests" / "python" / "typed_examples.py"


@suite.not_sanitized
@suite.needs_module("mypy", "mypy")
@suite.needs_module("pytest", "python3-pytest")
class Types(unittest.TestCase):
    def check(self, *command):
        with tempfile.TemporaryDirectory() as folder:
            status, output = suite.run([sys.executable, "-m", *command], cwd=folder)
        self.assertEqual(status, 0, output)

    def test_package_and_examples(self):
        self.check("mypy", "--strict", suite.PACKAGE, EXAMPLES)

    def test_stubs(self):
        names = [f"mli.{path.stem}" for path in sorted(suite.PACKAGE.glob("*.pyi"))]
        self.assertIn("mli._core", names)
        self.check("mypy.stubtest", *names)


class Examples(unittest.TestCase):
    def test_run(self):
        status, output = suite.run([sys.executable, EXAMPLES])
        self.assertEqual(status, 0, output)


if __name__ == "__main__":
    suite.main()
