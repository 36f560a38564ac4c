#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Refuses circles of files that include or call one another.

    check_circles.py ROOT BUILD [NM]

A file is a .c file with the header of the same path, or a header alone. A file calls another one if its object needs
a symbol that the other object in the build tree BUILD defines; calls through pointers do not count. Sources that BUILD
does not compile (images of boards, kernels of other processors) are checked for includes only.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

FOLDERS = ("libmli", "proto", "target", "client", "daemon", "cli", "python", "boards")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
PUBLIC = ("libmli/include/", "client/include/")  # headers there are included without a path
SYMBOL = re.compile(r"(?:[0-9a-f]+)? *([A-Za-z]) (\S+)$")


def include_edges(root):
    """Returns for each file the other files that it depends on: {file: {other file: included
    header of the other file}}."""
    paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.[ch]"))]
    names = {path.relative_to(root).as_posix() for path in paths}
    edges = collections.defaultdict(dict)
    for path in paths:
        name = path.relative_to(root).with_suffix("").as_posix()
        edges[name].update({})
        for header in INCLUDE.findall(path.read_text()):
            for other in (header, *(folder + header for folder in PUBLIC)):
                if other in names and other[:-2] != name:
                    edges[name].setdefault(other[:-2], header)
    return edges


def objects_of(root, build):
    """Returns {file: an object file of it} of the sources that the build tree has compiled."""
    found = {}
    for command in json.loads((build / "compile_commands.json").read_text()):
        source = (build / command["file"]).resolve()
        output = build / command["output"]
        if source.suffix == ".c" and source.is_relative_to(root) and output.is_file():
            name = source.relative_to(root).with_suffix("").as_posix()
            # Tests also compile some sources of the programs, with other options. For such a
            # source, use the object of the program.
            if name.startswith(FOLDERS) and (name not in found or not command["output"].startswith("tests/")):
                found.setdefault(name, output)
    return found


def call_edges(objects, nm):
    """Returns {file: {other file: symbol of the other file that the file needs}}. Symbols that several files define
    belong to variants of one source."""
    by_path = {str(path): name for name, path in objects.items()}
    text = subprocess.run([nm, "-A", *by_path], check=True, capture_output=True, text=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for line in text.splitlines():
        path, _, rest = line.rpartition(":")
        match = SYMBOL.match(rest)
        if match and match[1] == "U":
            needed[by_path[path]].add(match[2])
        elif match and match[1].isupper():
            defined[match[2]].add(by_path[path])
    edges = collections.defaultdict(dict)
    for name, symbols in needed.items():
        for symbol in sorted(symbols):
            if len(defined[symbol]) == 1:
                edges[name].setdefault(*defined[symbol], symbol)
    return edges


def circles(edges):
    """Returns the groups of files that reach each other (strongly connected components, by Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(edges.get(file, ())):
            if other not in index:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], index[other])
        if low[file] == index[file]:
            at = stack.index(file)
            found.append(stack[at:])
            del stack[at:]

    sys.setrecursionlimit(10000)
    for file in sorted(edges):
        if file not in index:
            visit(file)
    return [group for group in found if len(group) > 1]


def shortest(edges, group):
    """Returns a shortest circle through the first file of the group: [(file, reason, next file)]."""
    start = min(group)
    before, queue = {}, [start]
    for file in queue:
        for other in sorted(set(edges[file]) & set(group)):
            if other not in before:
                before[other] = file
                queue.append(other)
    way, file = [], start
    while not way or file != start:
        way.insert(0, (before[file], edges[before[file]][file], file))
        file = before[file]
    return way


def main():
    root, build = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    objects = objects_of(root, build)
    includes = include_edges(root)
    count = 0
    for verb, edges in (("includes", includes), ("uses", call_edges(objects, (sys.argv[3:] + ["nm"])[0]))):
        for group in circles(edges):
            count += 1
            print(f"circle of {len(group)} files: {' '.join(sorted(group))}")
            for file, reason, other in shortest(edges, group):
                print(f"    {file} {verb} {reason} of {other}")
    print(f"{len(includes)} files checked for includes, {len(objects)} for calls: {count} circles")
    return 1 if count or not includes or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
