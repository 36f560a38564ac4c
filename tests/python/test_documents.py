# SPDX-License-Identifier: BSD-3-Clause
"""Runs the code of docs/python*.md, and compares what it prints with the outputs in the documents."""
import importlib.util
import re
import sys
import unittest

import mli
import suite
from mli import _programs

sys.path.insert(0, str(suite.SOURCE / "scripts" / "recipes"))
import document  # noqa: E402 (from the folder above)

# Modules that sections need besides the package, each with a word by which the section's code is recognised.
NEEDED = {"pytest": "python3-pytest"}


def can_import(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def missing_module(section):
    """Returns the reason why a section cannot run here, or None."""
    code = "".join(block.text for block in section.blocks if block.kind != "text")
    for name, package in NEEDED.items():
        if name in code and not can_import(name):
            return f"no Python module {name} (Debian: {package})"
    if re.search(r"mli\.(explain|serve)\(|--mli-jobs", code):
        for program in ("mlictl", "mlid"):
            try:
                _programs.find(program)
            except mli.Error as error:
                return str(error)
    return None


def add_tests(cls, path):
    """Adds a test for each section that has code."""
    for section in document.parse(path.read_text(encoding="utf-8")):
        if not section.has_code():
            continue

        def test(self, section=section):
            reason = missing_module(section)
            if reason:
                self.skipTest(reason)
            wrong = document.run_section(section, path)
            if wrong:
                self.fail("".join(f"\n{path.name}:{line}: {text}" for line, text in wrong))

        words = "".join(letter if letter.isalnum() else "_" for letter in section.title.lower())
        setattr(cls, f"test_{path.stem}_{section.line:03}_{words}", test)


class Documents(unittest.TestCase):
    pass


for each in sorted((suite.SOURCE / "docs").glob("python*.md")):
    add_tests(Documents, each)

if __name__ == "__main__":
    suite.main()
