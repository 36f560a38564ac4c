# SPDX-License-Identifier: BSD-3-Clause
"""Reads the report of the preloaded library: the numbers of calls, the failed call, and its stack."""
import os
import pathlib
import re
import struct
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
KINDS = re.findall(r"X\((\w+), \w+\)", (HERE / "preload_kinds.h").read_text())[1:]
# The format of struct report in preload_report.c
HEAD = struct.Struct("=II16QQ32siI")
FRAMES, FRAME = 24, struct.Struct("=Q104s")
TAIL = struct.Struct("=II")
OPEN, OPEN_NAME = 16, 96
STACKS = 16384
FRAMES_AT = HEAD.size
TAIL_AT = FRAMES_AT + FRAMES * FRAME.size
OPEN_AT = TAIL_AT + TAIL.size
STACKS_AT = OPEN_AT + OPEN * OPEN_NAME
SIZE = STACKS_AT + len(KINDS) * STACKS * 8


def _text(raw):
    return raw.partition(b"\0")[0].decode(errors="replace")


def create(path):
    """Makes an empty report."""
    with open(path, "wb") as file:
        file.truncate(SIZE)


class Report:
    """What the library has written about one process."""

    def __init__(self, path):
        with open(path, "rb") as file:
            raw = file.read(STACKS_AT)
        self.path = path
        head = HEAD.unpack_from(raw)
        self.pid, kinds = head[:2]
        if self.pid and kinds != len(KINDS):
            raise ValueError(f"{path}: {kinds} kinds, {len(KINDS)} expected")
        self.counts = dict(zip(KINDS, head[2:18]))
        self.failed, name, self.error, frames = head[18:]
        self.name = _text(name)
        self.frames = []
        for number in range(frames):
            offset, module = FRAME.unpack_from(raw, FRAMES_AT + number * FRAME.size)
            self.frames.append((_text(module), offset))
        self.ended, count = TAIL.unpack_from(raw, TAIL_AT)
        at = [OPEN_AT + number * OPEN_NAME for number in range(min(count, OPEN))]
        self.open = [_text(raw[offset:offset + OPEN_NAME]) for offset in at]

    def stacks(self, kind):
        """Returns hashes of the stacks of all calls of this kind, in the order of the calls."""
        count = min(self.counts[kind], STACKS)
        with open(self.path, "rb") as file:
            file.seek(STACKS_AT + KINDS.index(kind) * STACKS * 8)
            return struct.unpack(f"={count}Q", file.read(count * 8))


class Symbols:
    """Looks up the names of functions, with one addr2line process for each module."""

    def __init__(self):
        self.tools, self.names = {}, {}

    def _ask(self, module, offset):
        if module not in self.tools:
            self.tools[module] = subprocess.Popen(
                ["addr2line", "-a", "-f", "-i", "-s", "-e", module], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        tool = self.tools[module]
        # Looks up the address of the call, not that of the next instruction. addr2line's answer to the address 0 shows
        # where the answer to the first address ends.
        tool.stdin.write(f"{offset - 1:#x}\n0\n")
        tool.stdin.flush()
        lines = [tool.stdout.readline().strip()]
        while not (lines[-1].startswith("0x") and int(lines[-1], 16) == 0 and len(lines) > 1):
            lines.append(tool.stdout.readline().strip())
        tool.stdout.readline(), tool.stdout.readline()
        functions, places = lines[1:-1:2], lines[2:-1:2]
        return [(function, place.partition(" ")[0]) for function, place in zip(functions, places)]

    def frames(self, module, offset):
        """Returns (function, file:line) of a frame, and of each function that was inlined there."""
        if (module, offset) not in self.names:
            found = self._ask(module, offset)
            if found[0][1].startswith("?"):  # without debug information
                found = [(os.path.basename(module) if found[0][0] == "??" else found[0][0], f"{offset:#x}")]
            self.names[module, offset] = found
        return self.names[module, offset]

    def stack(self, report):
        return [frame for at in report.frames for frame in self.frames(*at)]
