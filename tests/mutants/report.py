# SPDX-License-Identifier: BSD-3-Clause
"""Counts verdicts, and prints them as text or JSON."""
import json

import survivors

GOAL = 95  # percent of the counted mutants that must be found


class Tally:
    """The verdicts of one run, by source. seconds: processor time of the tests."""

    def __init__(self, explained, sanitized):
        self.explained, self.sanitized = explained, sanitized
        self.counts, self.survivors, self.excused, self.needless = {}, [], [], []
        self.seconds = 0

    def add(self, mutant, verdict):
        count = self.counts.setdefault(mutant.source, {})
        count[verdict.outcome] = count.get(verdict.outcome, 0) + 1
        self.seconds += verdict.seconds
        entry = self.explained.get(survivors.key_of(mutant))
        excused = entry and not (self.sanitized and entry.sanitizers_find_it)
        if verdict.outcome == "survived":
            (self.excused if excused else self.survivors).append(mutant)
        elif excused and verdict.outcome == "found" and not entry.may_be_found and not self.sanitized:
            self.needless.append((entry, verdict.test))

    def total(self):
        total = {}
        for count in self.counts.values():
            for outcome, number in count.items():
                total[outcome] = total.get(outcome, 0) + number
        return total


def percent(count):
    """Returns the found mutants as a percentage of the counted ones, or None if none is counted."""
    found, survived = count.get("found", 0), count.get("survived", 0)
    return 100 * found / (found + survived) if found + survived else None


def _line(name, count):
    share = percent(count)
    return (f"{name:26} {count.get('found', 0):5} found {count.get('survived', 0):4} survived  "
            f"{'  -  ' if share is None else f'{share:5.1f}'} %   not counted: {count.get('invalid', 0)} invalid, "
            f"{count.get('equal', 0)} equal, {count.get('duplicate', 0)} duplicate")


def reproduction(mutant):
    return f"scripts/mutants --only {mutant.name}"


def text(tally, stale):
    """Returns the lines of the report."""
    lines = []
    for mutant in tally.survivors:
        lines += ["survived, and survivors.txt does not explain it:", *survivors.show(mutant).splitlines(),
                  f"  {reproduction(mutant)}", ""]
    for entry, test in tally.needless:
        lines.append(f"survivors.txt:{entry.line}: remove the entry: \"{test}\" finds this mutant")
    for entry in stale:
        lines.append(f"survivors.txt:{entry.line}: remove the entry: {entry.place} has no such mutant")
    lines += [_line(source, count) for source, count in tally.counts.items()]
    total = tally.total()
    lines.append(_line("all", total))
    lines.append(f"{len(tally.excused)} of the {total.get('survived', 0)} survivors are explained in survivors.txt; "
                 f"{tally.seconds:.0f} s of processor time in tests")
    return "\n".join(lines)


def as_json(tally, stale):
    return json.dumps({
        "sources": tally.counts,
        "percent": percent(tally.total()),
        "survivors": [{"name": mutant.name, "function": mutant.function, "removed": mutant.removed,
                       "added": mutant.added, "reproduce": reproduction(mutant)} for mutant in tally.survivors],
        "explained": [mutant.name for mutant in tally.excused],
        "needless": [entry.line for entry, _ in tally.needless],
        "stale": [entry.line for entry in stale],
    }, indent=1)
