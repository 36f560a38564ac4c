#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that programs contain nothing of boards/: no function, and no text that only boards/ has.

    check_boards.py NM ROOT [--present] PROGRAM...

With --present the last program must contain boards/: this shows that the check can find boards/.
"""
import pathlib
import re
import subprocess
import sys

OTHERS = ("cli", "client", "daemon", "libmli", "proto", "target")
ONLY_WITH_BOARDS = re.compile(r"BOARDS_(?:WORDS|OPTION)\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\([^()]*\))*)\)")
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
JOINT = re.compile(r'"\s*\n\s*"')  # between two parts of a text
FUNCTION = re.compile(r"^[a-z][\w \*]*?\b(\w+)\(", re.M)
TEXT_MIN = 8  # bytes: shorter texts are in many programs


def sources(root, *folders, pattern="*.[ch]"):
    files = (path for folder in folders for path in sorted((root / folder).rglob(pattern)))
    return JOINT.sub("", "\n".join(path.read_text() for path in files))


def texts(source):
    """Returns the string literals of a source as bytes."""
    lines = "\n".join(line for line in source.splitlines() if not line.lstrip().startswith("#include"))
    return {text for text in (match[1].encode().decode("unicode_escape").encode("latin-1")
                              for match in TEXT.finditer(lines)) if len(text) >= TEXT_MIN}


def main():
    nm, root, *programs = sys.argv[1:]
    root, present = pathlib.Path(root), "--present" in programs
    programs = [program for program in programs if program != "--present"]
    link, others = sources(root, "boards/link", "boards/serial"), sources(root, *OTHERS)
    words = " ".join(match[1] for match in ONLY_WITH_BOARDS.finditer(others))
    rest = ONLY_WITH_BOARDS.sub("", others)
    functions = set(FUNCTION.findall(sources(root, "boards/link", "boards/serial", pattern="*.h")))
    known = rest.encode()
    wanted = {text for text in texts(link) | texts(words) if text not in known}
    errors = 0
    for program in programs:
        out = subprocess.run([nm, "--defined-only", "-P", program], check=True, capture_output=True, text=True).stdout
        data = pathlib.Path(program).read_bytes()
        found = sorted(functions & {line.split()[0] for line in out.splitlines() if line})
        found += [text.decode("latin-1") for text in sorted(wanted) if text + b"\0" in data]
        print(f"{program}: {len(found)} of {len(functions)} functions and {len(wanted)} texts of boards/")
        if (len(found) == 0) if present and program == programs[-1] else found:
            print(*found[:20], sep="\n")
            errors += 1
    return 1 if errors or not functions or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
