# SPDX-License-Identifier: BSD-3-Clause
"""Tests the report of coverage on llvm-cov's JSON of a small source, and that uncovered.txt matches the sources."""
import pathlib
import sys
import tempfile
import unittest

import branches
import entries
import scope

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else branches.ROOT
SOURCE = """\
static int f(int a, int b)
{
    if (sizeof(int) == 4 && a > b)
        return a;
    while (b++ < 10)
        ;
    return a ? 1 : 2;
}

static int never(int a)
{
    return a ? 1 : 2;
}
"""
# An entry of llvm-cov 19: line, column, end line, end column, true, false, file, expanded file, kind.
ENTRY = {
    "branches": [[3, 9, 3, 25, 0, 0, 0, 0, 6], [3, 29, 3, 34, 0, 5, 0, 0, 6], [5, 12, 5, 20, 9, 5, 0, 0, 4],
                 [7, 12, 7, 13, 2, 0, 0, 0, 4], [7, 12, 7, 13, 0, 3, 0, 0, 4], [12, 12, 12, 13, 0, 0, 0, 0, 4]],
    "segments": [[2, 1, 5, True, True, False], [11, 1, 0, True, True, False]],
}


class Branches(unittest.TestCase):
    def setUp(self):
        self.counts, self.missing = branches.uncovered("f.c", ENTRY, SOURCE)

    def test_sides_of_the_small_source(self):
        self.assertEqual([(side.line, side.function, side.condition, side.side) for side in self.missing],
                         [(3, "f", "a > b", "true"), (12, "never", "a", "false"), (12, "never", "a", "true")])
        self.assertEqual(self.counts, [5, 8])  # without sizeof, which the compiler evaluates

    def test_an_entry_for_each_side(self):
        text = "# comment\n\nf.c: f\n? a > b\nnever true\n  because\n\nf.c: never\n? a\nnever true\nnever false\n  both\n"
        explained = self.read(text)
        self.assertEqual(entries.compare(self.missing, explained), ([], []))
        self.assertEqual(len(explained), 3)

    def test_a_missing_entry_and_a_stale_one(self):
        unexplained, stale = entries.compare(self.missing, self.read("f.c: f\n? b++ < 10\nnever true\n  because\n"))
        self.assertEqual(len(unexplained), 3)
        self.assertEqual([entry.key for entry in stale], [("f.c", "f", "b++ < 10", "true", 1)])
        _, stale = entries.compare(self.missing, self.read("f.c: f\n? b++ < 10\nnever true\n  sometimes: in a race\n"))
        self.assertEqual(stale, [])

    def test_a_shown_side_can_be_an_entry(self):
        explained = self.read("\n\n".join(f"{entries.show(side)}\n  because" for side in self.missing))
        self.assertEqual(entries.compare(self.missing, explained), ([], []))

    def test_malformed_entries_are_refused(self):
        for text in ("f.c: f\n? a\nnever\n  because\n", "f.c: f\nnever true\n  because\n", "f.c: f\n? a\nnever true\n",
                     "f.c\n? a\nnever true\n  because\n", "f.c: f\n? a\nnever true\n  a\n\nf.c: f\n? a\nnever true\n  b\n"):
            with self.assertRaises(ValueError):
                self.read(text)

    @staticmethod
    def read(text):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return entries.read(pathlib.Path(file.name))


class Files(unittest.TestCase):
    def test_every_explained_condition_exists(self):
        texts, stale = {}, []
        for entry in entries.read(ROOT / "tests/coverage/uncovered.txt").values():
            file, function, condition = entry.key[:3]
            if file not in texts:
                path = ROOT / file
                texts[file] = branches.Text(path.read_text()) if path.exists() else None
            if not texts[file] or not (function == "(file)" or texts[file].has(function, condition)):
                stale.append(f"line {entry.line}: {file}: {function} has no condition \"{condition}\"")
        self.assertEqual(stale, [])

    def test_the_scope(self):
        self.assertTrue(scope.in_scope("libmli/src/plan.c"))
        self.assertTrue(scope.in_scope("libmli/src/exec/level.c"))
        self.assertFalse(scope.in_scope("libmli/src/exec/x86/rows_avx2.c"))
        self.assertFalse(scope.in_scope("libmli/src/exec/arm/leaf_neon.c"))
        self.assertFalse(scope.in_scope("tests/unit/proto/test_frame.c"))


if __name__ == "__main__":
    unittest.main()
