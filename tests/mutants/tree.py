# SPDX-License-Identifier: BSD-3-Clause
"""The build tree that mutants are made in: its compile and link commands, and its tests.

A mutant changes nothing in the tree. Its object is linked before the static libraries, so that the linker does not
take the original from them.
"""
import json
import os
import pathlib
import shlex
import subprocess

import suites


def _output_of(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def _option_names(words):
    """Yields the words of a compile command, without ccache and without the options for warnings,
    debug information, optimisation, files and dependencies."""
    skip = False
    for word in words[1:] if "ccache" in words[0] else words:
        if skip:
            skip = False
        elif word in ("-o", "-MQ", "-MF"):
            skip = True
        elif word not in ("-c", "-MD") and not word.startswith(("-W", "-g", "-O", "-fdiagnostics")):
            yield word


class Tree:
    def __init__(self, path, root):
        self.path, self.root = pathlib.Path(path), root
        self.sanitized = self.path.name == "sanitize"
        self.tests = {test["name"]: test
                      for test in json.loads(_output_of(["meson", "introspect", "--tests", str(self.path)]))}
        self._links = {}

    def compiler(self, source):
        """Returns the command that compiles the source from its standard input to a file named after "-o".

        -O2 without debug information: the objects of equivalent mutants are then often equal.
        """
        top = source.split("/")[0] + "/"
        for entry in json.loads((self.path / "compile_commands.json").read_text()):
            name = os.path.relpath(self.path / entry["file"], self.root)
            if name == source and entry["output"].startswith(top):
                words = list(_option_names(shlex.split(entry["command"])))
                return [*words[:-1], "-O2", "-g0", "-w", "-x", "c", "-c", "-", "-o"]
        raise LookupError(f"{source}: no compile command in {self.path}")

    def program(self, test):
        """Returns the path of a test's program, from the tree."""
        return os.path.relpath(self.tests[test]["cmd"][0], self.path)

    def linker(self, test):
        """Returns the words of the command that links the program of a test."""
        program = self.program(test)
        if program not in self._links:
            commands = _output_of(["ninja", "-C", str(self.path), "-t", "commands", program]).splitlines()
            self._links[program] = shlex.split(commands[-1])
        return self._links[program]

    def command(self, test, program):
        """Returns the command of a test with a different program, and its environment."""
        entry = self.tests[test]
        env = {**os.environ, **entry["env"], "MLI_TEST_PERCENT": str(suites.PERCENT)}
        env["ASAN_OPTIONS"] = f"{env.get('ASAN_OPTIONS', '')}:hard_rss_limit_mb=4096"
        return [str(program), *entry["cmd"][1:]], env

    def build(self, tests):
        """Builds the programs of the tests. Returns whether the build succeeded."""
        programs = sorted({self.program(test) for test in tests})
        return subprocess.run(["nice", "ninja", "-C", str(self.path), *programs],
                              stdout=subprocess.DEVNULL).returncode == 0
