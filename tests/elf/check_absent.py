#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a program contains no symbol of a static library.

    check_absent.py NM PROGRAM LIBRARY PRESENT

PRESENT is a static library that the program does contain: its symbols show that the program has a
symbol table.
"""
import subprocess
import sys


def defined(nm, path, *flags):
    out = subprocess.run([nm, "--defined-only", "-P", *flags, path], check=True, capture_output=True, text=True)
    return {words[0] for words in map(str.split, out.stdout.splitlines()) if len(words) > 2}


def main():
    nm, program, library, present = sys.argv[1:]
    names = defined(nm, program)
    absent = defined(nm, library, "-g")
    if not absent:
        print(f"{library}: no symbols")
        return 1
    if not names & defined(nm, present, "-g"):
        print(f"{program}: no symbol of {present}: is the program stripped?")
        return 1
    for name in sorted(names & absent):
        print(f"{program}: contains {name} of {library}")
    return 1 if names & absent else 0


if __name__ == "__main__":
    sys.exit(main())
