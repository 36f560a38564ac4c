# SPDX-License-Identifier: BSD-3-Clause
"""Runs mlictl on a pseudoterminal and computes the visible text."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

from harness import MLICTL, wait_for


class Screen:
    """A process whose controlling terminal is a pseudoterminal, so that ^C reaches it."""

    def __init__(self, case, *arguments, rows=24, columns=80, streams=None, **environment):
        self.ours, theirs = pty.openpty()
        self.resize(rows, columns)
        variables = dict(case.environment(), TERM="xterm-256color")
        variables.pop("NO_COLOR", None)
        for name, value in environment.items():
            if value is None:
                variables.pop(name)
            else:
                variables[name] = value
        self.process = subprocess.Popen(
            [MLICTL, *map(str, arguments)], cwd=case.dir, env=variables, start_new_session=True,
            **{"stdin": theirs, "stdout": theirs, "stderr": theirs, **(streams or {})},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.bytes = b""
        case.addCleanup(self.close)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def read(self):
        """Returns the output so far. If the process has ended, this is all of its output."""
        try:
            while select.select([self.ours], [], [], 0.02)[0]:
                piece = os.read(self.ours, 65536)
                if not piece:
                    break
                self.bytes += piece
        except OSError:  # the other end is closed
            pass
        return self.bytes.decode()

    def resize(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def press(self, key):
        os.write(self.ours, key)

    def end(self):
        """Waits for the end of the process; returns all its output and the exit code."""
        assert wait_for(lambda: self.read() is not None and self.process.poll() is not None)
        return self.read().replace("\r\n", "\n"), self.process.returncode


def picture(text):
    """Returns the lines that are visible after the output. Interprets the controls that mlictl uses outside of full-
    screen mode: carriage return, newline, erase to the end of the line, colours."""
    lines, column = [""], 0
    for piece in re.findall(r"\033\[[0-9;]*[a-zA-Z]|.", text, re.S):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            lines.append("")
            column = 0
        elif piece == "\033[K":
            lines[-1] = lines[-1][:column]
        elif re.fullmatch(r"\033\[[0-9;]*m", piece):
            pass
        elif piece.startswith("\033"):
            raise AssertionError(f"{piece!r} is not known here")
        else:
            lines[-1] = lines[-1][:column].ljust(column) + piece + lines[-1][column + 1:]
            column += 1
    return lines
