# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the verdicts of mutants in a file of the build tree, so that an interrupted run resumes.

A verdict is kept under a key of the source and the mutant. Mutants that survived are judged again after a test program
or the list of tests has changed.
"""
import dataclasses
import hashlib
import json
import threading

from judge import Verdict


def key_of(mutant):
    """Returns a hash of the source's name and of its mutated text."""
    return hashlib.sha256(f"{mutant.source}\n{mutant.text}".encode()).hexdigest()[:24]


def print_of_tests(tree, tests):
    """Returns a hash of the programs and commands of the tests."""
    total = hashlib.sha256()
    for test in tests:
        total.update(json.dumps(tree.tests[test]["cmd"][1:]).encode())
        total.update((tree.path / tree.program(test)).read_bytes())
    return total.hexdigest()[:24]


class Results:
    def __init__(self, path, fresh=False):
        self.path, self.lock, self.known = path, threading.Lock(), {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                self._remember(line)

    def _remember(self, line):
        try:
            entry = json.loads(line)
            self.known[entry["key"]] = entry
        except (ValueError, KeyError):
            pass  # the last line of an interrupted run

    def find(self, mutant, tests_print):
        """Returns the kept verdict of a mutant, or None."""
        entry = self.known.get(key_of(mutant))
        if not entry or (entry["outcome"] == "survived" and entry["tests"] != tests_print):
            return None
        return Verdict(**{field.name: entry[field.name] for field in dataclasses.fields(Verdict) if field.name in entry})

    def add(self, mutant, verdict, tests_print):
        line = json.dumps({"key": key_of(mutant), "name": mutant.name, "tests": tests_print,
                           **dataclasses.asdict(verdict)})
        with self.lock, open(self.path, "a") as file:
            file.write(line + "\n")
