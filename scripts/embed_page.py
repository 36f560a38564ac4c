#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C file with the style and the script of the page of `mlictl batch --html`, and their
hashes for its Content-Security-Policy (cli/report/html.h).

    embed_page.py FILE.css... FILE.js... > page.c
"""
import base64
import hashlib
import pathlib
import sys


def quote(line):
    """Returns a line of text as C strings. `?` is escaped, because `??` may begin a trigraph."""
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in line.encode())
    return f'    "{escaped}"'


def write(name, paths):
    text = "".join(path.read_text(encoding="utf-8") for path in paths)
    if "</" + name in text.lower():
        sys.exit(f"embed_page.py: the files of the {name} must not contain its end tag")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    print(f"const char html_page_{name}[] =")
    print("\n".join(quote(line) for line in text.splitlines(keepends=True)) + ";")
    print(f'const char html_page_{name}_hash[] = "sha256-{digest}";\n')


def main():
    paths = [pathlib.Path(name) for name in sys.argv[1:]]
    print('#include "cli/report/html.h"\n')
    write("style", [path for path in paths if path.suffix == ".css"])
    write("script", [path for path in paths if path.suffix == ".js"])


main()
