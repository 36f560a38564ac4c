# SPDX-License-Identifier: BSD-3-Clause
"""Reads survivors.txt: mutants that no test finds, each with the reason.

    SOURCE: FUNCTION
    - the line before, with single spaces
    + the line after
      the reason, in one or more lines

A reason that begins with "sanitizers:" is for a mutant that only the tree `sanitize` finds, such as a leak. One that begins
with "sometimes:" is for a mutant that a test finds by chance.
"SOURCE: FUNCTION, second" names the second mutant of a function that has several with these lines. An empty line ends
an entry; lines that begin with "#" are comments.
"""
import dataclasses

ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


@dataclasses.dataclass
class Entry:
    place: str
    removed: str
    added: str
    reason: str
    line: int

    @property
    def key(self):
        return self.place, self.removed, self.added

    @property
    def sanitizers_find_it(self):
        return self.reason.startswith("sanitizers:")

    @property
    def may_be_found(self):
        return self.reason.startswith(("sanitizers:", "sometimes:"))


def place_of(mutant):
    return f"{mutant.source}: {mutant.function}" + (f", {ORDINALS[mutant.count]}" if mutant.count > 1 else "")


def key_of(mutant):
    return place_of(mutant), mutant.removed, mutant.added


def show(mutant):
    """Returns a mutant in the form of an entry without its reason."""
    return f"{place_of(mutant)}\n- {mutant.removed}\n+ {mutant.added}".rstrip()


def _entry(lines, number):
    places = [line for line in lines if not line.startswith(("- ", "+", "  "))]
    removed = [line[2:] for line in lines if line.startswith("- ")]
    added = [line[2:] for line in lines if line.startswith("+")]
    reason = [line.strip() for line in lines if line.startswith("  ")]
    if (len(places), len(removed), len(added)) != (1, 1, 1) or not reason:
        raise ValueError(f"survivors.txt:{number}: expected a place, a line with \"- \", a line with \"+ \" and a reason")
    return Entry(places[0], removed[0], added[0], " ".join(reason), number)


def read(path):
    """Returns the entries by their keys. Raises ValueError for a malformed or repeated one."""
    entries, block, begin = {}, [], 1
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        if line.startswith("#"):
            continue
        if line.strip():
            begin = begin if block else number
            block.append(line)
        elif block:
            entry = _entry(block, begin)
            if entry.key in entries:
                raise ValueError(f"survivors.txt:{begin}: the entry of line {entries[entry.key].line} again")
            entries[entry.key] = entry
            block = []
    return entries
