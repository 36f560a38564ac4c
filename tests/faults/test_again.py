#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the lines that failed rounds print: each round must fail again, even if no environment variable is set. The
failures come from a script in place of mlictl, which under a condition ends with an exit code that no test accepts.
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

import soak  # noqa: F401: finds the harness
from harness import MLICTL, PATIENCE, main

HERE = pathlib.Path(__file__).resolve().parent
SEED, CODE = "4711", 99
# The printed parameters of a failed round; the last one is the command that repeats the round.
FAILED = re.compile(r"^(?:FAIL|ERROR): .*again=(['\"])repeat with: (?P<line>.*)\1.*$", re.MULTILINE)
CALLS = re.compile(r"call='\d+ of \d+', ")


class Again(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="mli again ")
        self.addCleanup(self.directory.cleanup)
        self.mlictl = pathlib.Path(self.directory.name) / "mlictl"
        self.seen = pathlib.Path(self.directory.name) / "seen"

    def wrap(self, condition):
        """Writes an mlictl that fails if the shell's `condition` holds for its arguments."""
        self.mlictl.write_text(f"#!/bin/sh\nif {condition}; then exit {CODE}; fi\n"
                               f'exec {shlex.quote(MLICTL)} "$@"\n')
        self.mlictl.chmod(0o755)

    def failure(self, command, **more):
        """Runs a test that must fail; returns the printed line with its parameters, and the
        command that repeats it. Removes the number of calls from the line: in a batch with two
        threads this number varies.
        """
        self.seen.unlink(missing_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE, check=False, **more)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        found = list(FAILED.finditer(done.stderr))
        self.assertEqual(len(found), 1, done.stdout + done.stderr)
        return CALLS.sub("", found[0].group()), found[0]["line"]

    def check(self, file, test, number, needs="MLICTL", condition='[ "$1" = run ]', **settings):
        if needs not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")
        self.wrap(condition)
        environment = {key: value for key, value in os.environ.items() if key not in ("MLI_SOAK", "MLI_FAULTS_COUNTS")}
        environment |= {"MLICTL": str(self.mlictl), "MLI_TEST_SEED": SEED, "MLI_FAULTS_ONLY": str(number), **settings}
        first, line = self.failure(["/usr/bin/python3", HERE / file, test], env=environment)
        again, _ = self.failure(line, shell=True, env={"PATH": os.environ["PATH"]}, cwd="/")
        self.assertEqual(again, first)

    def test_limit_of_a_sample(self):
        self.check("test_exhaustion.py", "Mlictl.test_descriptors", 100)

    def test_limit_of_a_soak_run(self):
        """Repeats a round with MLI_SOAK, because without it the round with this number has a
        different limit."""
        self.check("test_exhaustion.py", "Mlictl.test_descriptors", 100, MLI_SOAK="1")

    def test_mappings(self):
        self.check("test_exhaustion.py", "Mlictl.test_mappings", 150, needs="MLI_MAPPINGS", MLI_SOAK="1")

    def test_clock(self):
        self.check("test_clock.py", "Jumps.test_mlictl", 3, needs="MLI_CLOCK")

    def test_power_cut(self):
        """Of the batches in the directory after the power cut, the second one fails. The first one
        is the run without a power cut."""
        seen = shlex.quote(str(self.seen))
        self.check("test_power_cut.py", "Resume.test_first_run", 3, needs="MLI_RECORD",
                   condition=f'[ "$1:${{PWD##*/}}:$2" = batch:after:cases ] && {{ [ -e {seen} ] || ! : >{seen}; }}')


if __name__ == "__main__":
    main()
