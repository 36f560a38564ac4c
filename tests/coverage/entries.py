# SPDX-License-Identifier: BSD-3-Clause
"""Reads uncovered.txt: sides of branches that no test takes, each with the reason.

    SOURCE: FUNCTION
    ? the condition, with single spaces
    never true
      the reason, in one or more lines

"never true, second" names the second condition of a function that has several with this text. Several conditions of
one function may share a reason: repeat the lines "?" and "never". An empty line ends an entry; lines that begin with
"#" are comments. A reason that begins with "sometimes:" is for a side that depends on time, addresses or the processor:
a run that takes it does not make the entry stale.
"""
import dataclasses

ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclasses.dataclass
class Entry:
    key: tuple  # as branches.Uncovered.key
    reason: str
    line: int

    @property
    def sometimes(self):
        return self.reason.startswith("sometimes:")


def show(missing):
    """Returns the text of an entry for an uncovered side, without a reason."""
    ordinal = f", {ORDINALS[missing.count]}" if missing.count > 1 else ""
    return f"{missing.file}: {missing.function}\n? {missing.condition}\nnever {missing.side}{ordinal}"


def _block(lines, number):
    """Yields the entries of one block."""
    file, _, function = lines[0].partition(": ")
    reason = " ".join(line.strip() for line in lines if line.startswith("  "))
    condition, found = None, False
    for line in lines[1:]:
        if line.startswith("? "):
            condition = line[2:]
        elif line.startswith("never ") and condition:
            side, _, ordinal = line[len("never "):].partition(", ")
            if side not in ("true", "false") or ordinal not in ORDINALS:
                raise ValueError(f"uncovered.txt:{number}: \"{line}\": expected \"never true\" or \"never false\"")
            found = True
            yield Entry((file, function, condition, side, max(1, ORDINALS.index(ordinal))), reason, number)
        elif not line.startswith("  "):
            raise ValueError(f"uncovered.txt:{number}: \"{line}\": expected \"? \", \"never \" or two spaces")
    if not found or not reason or not function:
        raise ValueError(f"uncovered.txt:{number}: expected a place, conditions, sides and a reason")


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
            for entry in _block(block, begin):
                if entry.key in entries:
                    raise ValueError(f"uncovered.txt:{begin}: the entry of line {entries[entry.key].line} again")
                entries[entry.key] = entry
            block = []
    return entries


def compare(missing, explained):
    """Returns two lists: the uncovered sides of branches that no entry explains, and the entries
    whose side is covered."""
    keys = {side.key for side in missing}
    return [side for side in missing if side.key not in explained], \
        [entry for entry in explained.values() if entry.key not in keys and not entry.sometimes]
