#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the daemon's folders call and include each other in one direction only.

    check_calls.py ROOT LIBRARY [NM]

LIBRARY is the archive of daemon/. A call is a symbol that one object needs and another one defines.
A folder may call and include the folders that come before it in FOLDERS, and no other one.
check_circles.py refuses circles of files.
"""
import pathlib
import re
import subprocess
import sys

# The layers of mlid, from the lowest to the highest; a file may only call or include its own layer
# and lower ones. "" stands for the files in daemon/ itself. daemon/service.h describes the layers.
FOLDERS = ["base", "memory", "config", "job", "net", "", "ops"]

SKIPPED = 77
INCLUDE = re.compile(r'^\s*#\s*include\s+"daemon/([^"]+)"', re.M)
SYMBOL = re.compile(r"(?:[0-9a-f]+ )?\s*([A-Za-z]) (\S+)$")


def folder_of(name):
    return name.rpartition("/")[0]


def is_wrong(name, other):
    """Returns whether the file `name` must not call or include the file `other`; both paths are relative to daemon/.
    """
    if folder_of(name) == folder_of(other):
        return False
    return FOLDERS.index(folder_of(other)) > FOLDERS.index(folder_of(name))


def read_symbols(library, nm, sources):
    """Returns the defined and the undefined symbols of each source file of the archive."""
    by_object = {name.replace("/", "_") + ".o": name for name in sources}
    defined, needed, name = {}, {}, None
    text = subprocess.run([nm, library], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        if line.endswith(".o:"):
            name = by_object[line[:-1].rpartition("/")[2].rpartition(":")[2]]
            needed[name] = set()
            continue
        match = SYMBOL.match(line)
        if match and match[1] in "Uu":
            needed[name].add(match[2])
        elif match and match[1].isupper():
            defined[match[2]] = name
    return defined, needed


def find_calls(defined, needed):
    """Returns the calls between files: {file: {other file: symbols}}."""
    calls = {name: {} for name in needed}
    for name, symbols in needed.items():
        for symbol in symbols & defined.keys():
            calls[name].setdefault(defined[symbol], set()).add(symbol)
    return calls


def complaints(daemon, sources, calls):
    for name in sources:
        for match in INCLUDE.finditer((daemon / name).read_text()):
            if is_wrong(name, match[1]):
                yield f"daemon/{name}: includes daemon/{match[1]}"
    for name, others in calls.items():
        for other, symbols in others.items():
            if is_wrong(name, other):
                yield f"daemon/{name}: calls daemon/{other}: {', '.join(sorted(symbols))}"


def main():
    root, library, nm = (sys.argv[1:] + ["nm"])[:3]
    daemon = pathlib.Path(root) / "daemon"
    sources = sorted(p.relative_to(daemon).as_posix() for p in daemon.rglob("*.[ch]"))
    unknown = {folder_of(name) for name in sources} - set(FOLDERS)
    if unknown:
        print(f"daemon/{unknown.pop()}: add the folder to FOLDERS, above the folders that it calls")
        return 1
    defined, needed = read_symbols(library, nm, sources)
    if not defined:
        print(f"{library}: nm finds no symbols (link-time optimisation?)")
        return SKIPPED
    calls = find_calls(defined, needed)
    found = sorted(complaints(daemon, sources, calls))
    print(*found, sep="\n")
    print(f"{len(sources)} files, {len(found)} calls and includes from a lower folder to a higher one")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
