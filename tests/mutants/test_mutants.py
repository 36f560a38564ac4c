# SPDX-License-Identifier: BSD-3-Clause
"""Tests the makers of mutants, and that survivors.txt and suites.py match the sources."""
import pathlib
import sys
import tempfile
import unittest

import c_tokens
import mutants
import report
import suites
import survivors
from judge import Verdict

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
SOURCE = """\
/* a < b in a comment */
#define LESS(a, b) ((a) < (b))
static const char text[] = "a < b";

int f(int *a, const struct pair *p)
{
    int *q = a, sum = p->x + 1;

    if (sum <= 7 && !q)
        return 0;
    for (int i = 0; i < 3; i++)
        *a -= i;
    g((struct pair){.x = 1,
                    .y = -2});
    return a ? sum : 5;
}
"""


def changes(text=SOURCE):
    return [(mutant.removed, mutant.added, mutant.change) for mutant in mutants.of("f.c", text)]


class Mutants(unittest.TestCase):
    def test_each_change_of_a_small_source(self):
        got = [(mutant.line, mutant.change) for mutant in mutants.of("f.c", SOURCE)]
        self.assertEqual(got, [
            (7, "minus"), (7, "0"),
            (9, "negated"), (9, "gt"), (9, "lt"), (9, "8"), (9, "or"), (9, "not-removed"),
            (10, "removed"), (10, "1"),
            (11, "1"), (11, "ge"), (11, "le"), (11, "4"), (11, "dec"),
            (12, "removed"), (12, "plus-assign"),
            (13, "removed"), (13, "removed"), (13, "0"),
            (14, "removed"), (14, "minus-removed"), (14, "3"),
            (15, "always"), (15, "never"), (15, "6"),
        ])

    def test_comments_strings_macros_and_pointers_stay(self):
        for removed, _, _ in changes():
            self.assertNotIn("comment", removed)
            self.assertNotIn("LESS", removed)
            self.assertNotIn("text", removed)
        self.assertNotIn(("int *q = a, sum = p->x + 1;", "int +q = a, sum = p->x + 1;", "plus"), changes())

    def test_lines_keep_their_numbers(self):
        for mutant in mutants.of("f.c", SOURCE):
            self.assertEqual(mutant.text.count("\n"), SOURCE.count("\n"), mutant.name)
            self.assertNotEqual(mutant.text, SOURCE)

    def test_equal_lines_of_a_function_are_counted(self):
        twice = "void f(void)\n{\n    g();\n    g();\n}\n"
        self.assertEqual([(mutant.line, mutant.count) for mutant in mutants.of("f.c", twice)], [(3, 1), (4, 2)])
        self.assertEqual([survivors.place_of(mutant) for mutant in mutants.of("f.c", twice)],
                         ["f.c: f", "f.c: f, second"])

    def test_the_function_of_a_change(self):
        text = "enum { N = 1 };\nstatic __attribute__((cold)) int f(void)\n{\n    return N > 1;\n}\n"
        self.assertEqual({mutant.function for mutant in mutants.of("f.c", text)}, {"(file)", "f"})

    def test_statements_of_all_sources_are_understood(self):
        for source in suites.TESTS:
            _, functions = c_tokens.parse((ROOT / source).read_text())
            self.assertGreater(sum(len(function.statements) for function in functions), 10, source)


class Report(unittest.TestCase):
    def tally(self, outcome, entries, sanitized=False):
        mutant = mutants.of("f.c", SOURCE)[0]
        tally = report.Tally(entries, sanitized)
        tally.add(mutant, Verdict(outcome, "a test"))
        return tally

    def entries(self, reason):
        mutant = mutants.of("f.c", SOURCE)[0]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(f"# comment\n\n{survivors.show(mutant)}\n  {reason}\n")
            file.flush()
            return survivors.read(pathlib.Path(file.name))

    def test_a_survivor_needs_an_entry(self):
        self.assertEqual(len(self.tally("survived", {}).survivors), 1)
        self.assertEqual(len(self.tally("survived", self.entries("equivalent")).survivors), 0)
        self.assertEqual(len(self.tally("found", self.entries("equivalent")).needless), 1)
        self.assertEqual(report.percent(self.tally("found", {}).total()), 100)
        self.assertEqual(report.percent(self.tally("survived", {}).total()), 0)
        self.assertIsNone(report.percent(self.tally("equal", {}).total()))

    def test_sanitizers_must_find_their_mutants(self):
        entries = self.entries("sanitizers: a leak")
        self.assertEqual(len(self.tally("survived", entries).survivors), 0)
        self.assertEqual(len(self.tally("survived", entries, sanitized=True).survivors), 1)
        self.assertEqual(len(self.tally("found", entries, sanitized=True).needless), 0)
        self.assertEqual(len(self.tally("found", entries).needless), 0)  # by chance

    def test_a_mutant_that_is_found_by_chance(self):
        entries = self.entries("sometimes: a random key")
        self.assertEqual(len(self.tally("survived", entries).survivors), 0)
        self.assertEqual(len(self.tally("found", entries).needless), 0)

    def test_malformed_entries_are_refused(self):
        for text in ("f.c: f\n- a\n+ b\n", "f.c: f\n- a\n  reason\n", "- a\n+ b\n  reason\n",
                     "f.c: f\n- a\n+ b\n  reason\n\nf.c: f\n- a\n+ b\n  again\n"):
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file, self.assertRaises(ValueError):
                file.write(text)
                file.flush()
                survivors.read(pathlib.Path(file.name))


class Files(unittest.TestCase):
    def test_every_explained_mutant_exists(self):
        entries = survivors.read(ROOT / "tests/mutants/survivors.txt")
        keys = {survivors.key_of(mutant) for source in suites.TESTS
                for mutant in mutants.of(source, (ROOT / source).read_text())}
        self.assertEqual([f"line {entry.line}: {entry.place}" for entry in entries.values() if entry.key not in keys], [])


if __name__ == "__main__":
    unittest.main()
