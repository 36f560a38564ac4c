# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples in the docstrings of all modules of the package."""
import doctest
import importlib.util
import inspect
import os
import pkgutil
import unittest

import numpy as np

import mli
import suite

NOT_IMPORTED = {"__main__"}
if not importlib.util.find_spec("pytest"):
    NOT_IMPORTED |= {"pytest_plugin", "_pytest_golden", "_pytest_jobs"}
NOT_RUN = set() if os.environ.get("MLICTL") else {"mli._explain"}  # examples that run mlictl
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def modules():
    yield mli
    for info in pkgutil.iter_modules(mli.__path__, "mli."):
        if info.name.rpartition(".")[2] not in NOT_IMPORTED:
            yield importlib.import_module(info.name)


def public_objects():
    return [(name, getattr(mli, name)) for name in mli.__all__]


class Docstrings(unittest.TestCase):
    def test_examples(self):
        finder = doctest.DocTestFinder(exclude_empty=True)
        runner = doctest.DocTestRunner(optionflags=OPTIONS)
        tests = {}
        for module in modules():
            if module.__name__ in NOT_RUN:
                continue
            for test in finder.find(module, module.__name__, extraglobs={"mli": mli, "np": np, "numpy": np}):
                tests.setdefault((test.name, test.docstring), test)
        # Adds the functions of extension modules, because doctest finds only those of Python modules.
        for name, value in public_objects():
            if inspect.isbuiltin(value):
                for test in finder.find(value, f"mli.{name}", module=False, globs={"mli": mli}):
                    tests.setdefault((test.name, test.docstring), test)
        output = []
        for test in tests.values():
            runner.run(test, out=output.append)
        result = runner.summarize(verbose=False)
        self.assertEqual(result.failed, 0, "".join(output))
        self.assertGreater(result.attempted, 10)

    def test_everything_public_has_a_docstring(self):
        for name, value in public_objects():
            with self.subTest(name):
                self.assertTrue(inspect.getdoc(value))
                members = vars(value).items() if inspect.isclass(value) else ()
                for member, attribute in members:
                    if not member.startswith("_") and not isinstance(value, type(None)):
                        self.assertTrue(inspect.getdoc(attribute), f"{name}.{member}")

    def test_fields_of_records(self):
        for name, value in public_objects():
            for field in getattr(value, "_fields", ()):
                with self.subTest(f"{name}.{field}"):
                    self.assertNotIn("Alias for field", inspect.getdoc(getattr(value, field)))

    def test_the_overview_has_all_names(self):
        for name in mli.__all__:
            if name not in ("Explanation", "Layout", "QLayout", "Server"):  # what functions there return
                self.assertRegex(mli.__doc__, rf"\b{name}\b")

    def test_signatures(self):
        for name, value in public_objects():
            if callable(value):
                with self.subTest(name):
                    inspect.signature(value)
        self.assertEqual(
            str(inspect.signature(mli.move)),
            "(src, *, pad=None, slice=None, step=None, perm=None, out=None, at=None, channels=1)")


if __name__ == "__main__":
    suite.main()
