# SPDX-License-Identifier: BSD-3-Clause
"""Reads the branches of sources from llvm-cov's JSON.

clang counts each condition of if, while, for, ?:, && and ||, and each case of a switch. This
module leaves out conditions that no input can make both true and false:
  - assert(): the tree is compiled with NDEBUG;
  - conditions that the compiler evaluates (sizeof, options of the build): llvm-cov reports no count for either side;
  - conditions inside a macro: llvm-cov counts them where the macro is used.
"""
import bisect
import collections
import dataclasses
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/mutants"))

import c_tokens  # noqa: E402

@dataclasses.dataclass(frozen=True)
class Uncovered:
    """One side of a branch that no test took."""
    file: str
    function: str
    line: int
    condition: str  # the text of the condition, with single spaces
    side: str       # "true" or "false"
    count: int      # this is the n-th of the function with this text

    @property
    def key(self):
        return self.file, self.function, self.condition, self.side, self.count


@dataclasses.dataclass
class Counts:
    """Numbers of one file or folder: [covered, all]."""
    lines: list = dataclasses.field(default_factory=lambda: [0, 0])
    functions: list = dataclasses.field(default_factory=lambda: [0, 0])
    branches: list = dataclasses.field(default_factory=lambda: [0, 0])
    mcdc: list = dataclasses.field(default_factory=lambda: [0, 0])

    def add(self, other):
        for field in dataclasses.fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            mine[0] += theirs[0]
            mine[1] += theirs[1]


class Text:
    """The text of a source file; finds the function at an offset."""

    def __init__(self, text):
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        tokens = c_tokens.tokens_of(text)
        self.functions = [(tokens[begin].start, tokens[end].end, name) for name, begin, end in c_tokens.bodies(tokens)]

    def offset(self, line, column):
        return self.starts[line - 1] + column - 1

    def part(self, begin_line, begin_column, end_line, end_column):
        """Returns the text of a place; if the place ends in a macro, returns the text up to the end of the line."""
        begin, end = self.offset(begin_line, begin_column), self.offset(end_line, end_column)
        if end <= begin:
            end = self.text.index("\n", begin)
        return " ".join(self.text[begin:end].split())

    def has(self, function, condition):
        """Returns whether a function contains this text, when all white space is single spaces."""
        return any(condition in " ".join(self.text[begin:end].split())
                   for begin, end, name in self.functions if name == function)

    def function(self, line, column):
        at = self.offset(line, column)
        return next((name for begin, end, name in self.functions if begin <= at < end), "(file)")


def _count_at(entry, line, column):
    """Returns how often the code at a place ran."""
    at = bisect.bisect_right(entry["segments"], [line, column, float("inf")]) - 1
    return entry["segments"][at][2] if at >= 0 else 0


def sides(entry):
    """Returns {(place, side): count} of the branches of one file in llvm-cov's JSON.

    Code that is compiled several times (inline functions, libraries with different options) has several branches at
    one place: their counts add up.
    """
    taken = collections.Counter()
    for branch in entry["branches"]:
        place, true, false = tuple(branch[:4]), branch[4], branch[5]
        taken[place, "true"] += true
        taken[place, "false"] += false
    for place in {place for place, _ in taken}:
        evaluated_by_compiler = not taken[place, "true"] and not taken[place, "false"] and _count_at(entry, *place[:2])
        if evaluated_by_compiler:
            del taken[place, "true"], taken[place, "false"]
    return taken


def uncovered(name, entry, text):
    """Returns (Counts.branches, list of Uncovered) of one file."""
    source, taken, seen, missing = Text(text), sides(entry), collections.Counter(), []
    for (place, side), count in sorted(taken.items()):
        condition, function = source.part(*place), source.function(*place[:2])
        seen[function, condition, side] += 1
        if not count:
            missing.append(Uncovered(name, function, place[0], condition, side, seen[function, condition, side]))
    return [len(taken) - len(missing), len(taken)], missing


def counts(entry, branches):
    summary = entry["summary"]

    def pair(name):
        return [summary[name]["covered"], summary[name]["count"]] if name in summary else [0, 0]

    return Counts(pair("lines"), pair("functions"), branches, pair("mcdc"))
