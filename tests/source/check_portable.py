#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the sources use no types that 32-bit processors lack.

    check_portable.py ROOT

They have no 128-bit integers, and no atomic operations on 64 bits without libatomic.
"""
import pathlib
import re
import sys

FOLDERS = ("libmli", "proto", "target", "client", "daemon", "cli", "boards", "tests", "examples")
LACKING = {
    re.compile(r"\b__u?int128(_t)?\b"): "128-bit integers: 32-bit processors have none",
    re.compile(r"_Atomic\W+u?int64_t|\batomic_u?(llong|int_(fast|least)64_t|intmax_t)\b"):
        "atomic operations on 64 bits: some 32-bit processors need libatomic; use 32 bits or a mutex",
}


def errors(root, path):
    text = path.read_text()
    for pattern, reason in LACKING.items():
        for match in pattern.finditer(text):
            yield f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}: {reason}"


def main():
    root = pathlib.Path(sys.argv[1])
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]"))
    found = [error for path in paths for error in errors(root, path)]
    print(*found, f"{len(paths)} files checked, {len(found)} errors", sep="\n")
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
