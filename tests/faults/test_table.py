#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the table of docs/reliability.md with the tests: each named test exists, each counted fault has a row."""
import json
import os
import pathlib
import re
import subprocess
import unittest

import soak  # noqa: F401: finds the harness
from harness import SOURCE, main

HERE = pathlib.Path(__file__).resolve().parent
# Finds the names of the faults that the tests count: two or more words in quotes, as an argument
# of a counting method or as the constant FAULT.
COUNTED = re.compile(r'(?:FAULT = |soak\.count\(|self\.(?:each|check_service|rounds)\()[^"\n]*?"(\S+ [^"]+)"')
TEST = re.compile(r"\*((?:mlictl|mlid|faults)_\w+)\*")


class Table(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "docs" / "reliability.md").read_text()
        self.rows = {line.split("|")[1].strip() for line in self.text.splitlines() if line.startswith("| ")}

    def test_tests_exist(self):
        if "MLI_BUILD" not in os.environ:
            self.skipTest("meson runs this test")
        done = subprocess.run(["meson", "introspect", "--tests", os.environ["MLI_BUILD"]], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        named = set(TEST.findall(self.text))
        self.assertGreater(len(named), 10)
        self.assertEqual(named - {test["name"] for test in json.loads(done.stdout)}, set())

    def test_counts_have_rows(self):
        faults = {fault for path in HERE.glob("test_*.py") if path != pathlib.Path(__file__).resolve()
                  for fault in COUNTED.findall(path.read_text())}
        self.assertGreater(len(faults), 10)
        self.assertEqual(faults - self.rows, set())


if __name__ == "__main__":
    main()
