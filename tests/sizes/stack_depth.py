# SPDX-License-Identifier: BSD-3-Clause
"""Finds the deepest stack below a function, from the call graphs of gcc's -fcallgraph-info=su.

The graph has the size of each function's frame, and an edge for each call. A call through a pointer has no target in
the graph: pointers.txt lists the possible targets for the text of the calling line. It also lists the depth of
recursive functions, the calls that do not count, and the stack of functions that are not compiled here.
"""
import collections
import pathlib
import re

NODE = re.compile(r'node: \{ title: "([^"]+)" label: "([^"]*)"')
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"(?: label: "([^"]*)")?')
BYTES = re.compile(r"\\n(\d+) bytes \((\w+)\)")
CLONE = re.compile(r"\.(constprop|isra|part|cold|lto_priv)\.?\d*")
ENTRY = re.compile(r"(\S.*?)\s+->(?:\s+(.*))?$")
INDIRECT = "__indirect_call"


def plain(label):
    """Returns the name of a function in the source, without .constprop.0."""
    return CLONE.sub("", label.partition("\\n")[0])


class Pointers:
    """Reads pointers.txt: lines `CALL -> NAMES`, `recursion NAME TIMES`, `cut NAME NAME`, `outside NAME BYTES`; #
    begins a comment."""

    def __init__(self, path):
        self.calls, self.recursion, self.outside, self.cuts = [], {}, {}, set()
        for line in pathlib.Path(path).read_text().splitlines():
            line = line.partition("#")[0].strip()
            words = line.split()
            if not words:
                continue
            if words[0] == "recursion":
                self.recursion[words[1]] = int(words[2])
            elif words[0] == "cut":
                self.cuts.add((words[1], words[2]))
            elif words[0] == "outside":
                self.outside[words[1]] = int(words[2])
            else:
                call, targets = ENTRY.match(line).groups()
                self.calls.append((call, (targets or "").split()))

    def targets(self, text):
        for call, targets in self.calls:
            if call in text:
                return targets
        return None


class Graph:
    def __init__(self, files, pointers):
        self.pointers = pointers
        self.frame, self.calls = {}, collections.defaultdict(set)
        self.titles = collections.defaultdict(set)  # name, and file.c:name -> functions with a body
        self.names = {}
        self.lines, self.unlisted = {}, set()
        self.depths = {}
        for file in files:
            self.read(file)

    def read(self, file):
        text = pathlib.Path(file).read_text()
        for title, label in NODE.findall(text):
            found = BYTES.search(label)
            if found:
                self.frame[title] = int(found[1])
                self.names[title] = plain(label)
                file = label.split("\\n")[1].split(":")[0].rpartition("/")[2]
                for name in (title, self.names[title], f"{file}:{self.names[title]}"):
                    self.titles[name].add(title)
                if found[2] == "dynamic":
                    self.unlisted.add((title, "a frame of variable size"))
        for source, target, label in EDGE.findall(text):
            if target == INDIRECT:
                self.add_pointer(source, label)
            else:
                self.calls[source].add(target)

    def source_line(self, place):
        file, line = place.split(":")[:2]
        if file not in self.lines:
            self.lines[file] = pathlib.Path(file).read_text().splitlines()
        return self.lines[file][int(line) - 1].strip()

    def add_pointer(self, source, place):
        text = self.source_line(place)
        targets = self.pointers.targets(text)
        if targets is None:
            self.calls[source].add((place, text))
            return
        self.calls[source].update(targets)

    def depth(self, title, inside=()):
        """Returns (bytes, path) of the deepest stack that begins with the function."""
        if isinstance(title, tuple):
            self.unlisted.add(title)
            return 0, ()
        if title not in self.frame:  # a name of the list, or a function of another file
            found = self.titles.get(title)
            if not found:
                return self.pointers.outside.get(title, self.pointers.outside["*"]), (title,)
            return max(self.depth(name, inside) for name in found)
        if title in self.depths:
            return self.depths[title]
        if title in inside:
            self.unlisted.add((title, "recursion without a bound"))
            return 0, ()
        times = self.pointers.recursion.get(self.names[title], 1)
        below = [self.depth(name, inside + (title,)) for name in sorted(self.calls[title], key=str)
                 if (name != title or times == 1)
                 and (self.names[title], self.names.get(name, name)) not in self.pointers.cuts]
        deepest, path = max(below, default=(0, ()))
        result = self.frame[title] * times + deepest, (f"{self.names[title]} {self.frame[title]}"
                                                       + (f" x {times}" if times > 1 else ""),) + path
        self.depths[title] = result
        return result
