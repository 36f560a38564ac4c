#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C file with the texts of profiles, as target/profile/profile_load.h declares them.

    embed_profiles.py FILE.json... > profiles.c
"""
import pathlib
import sys


def quote(line):
    """Returns a line of text as a C string, which keeps the text readable in the generated file."""
    escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'    "{escaped}"'


def main():
    files = sorted((pathlib.Path(name) for name in sys.argv[1:]), key=lambda path: path.stem)
    print('#include "target/profile/profile_load.h"\n')
    for number, path in enumerate(files):
        text = path.read_text(encoding="ascii")
        print(f"static const char text_{number}[] =")
        print("\n".join(quote(line) for line in text.splitlines(keepends=True)) + ";\n")
    print("const struct profile_text profile_built_in[] = {")
    for number, path in enumerate(files):
        print(f'    {{"{path.stem}", text_{number}, sizeof text_{number} - 1}},')
    print("    {0},\n};")


main()
