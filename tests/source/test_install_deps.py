#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests scripts/install-deps with a fake apt-get: it finds its locks taken, fails, or installs packages.

    test_install_deps.py SCRIPT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop(1)
LOCKED = ("E: Could not get lock /var/lib/apt/lists/lock. It is held by process 77 (apt-get)\n"
          "E: Unable to lock directory /var/lib/apt/lists/")


class InstallDeps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.fake("dpkg-query", "exit 1")
        self.fake("id", "echo 0")
        self.fake("sleep", 'echo "$1" >> "$ROOT/sleeps"')

    def fake(self, name, text):
        path = self.root / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)

    def run_it(self, apt, *arguments):
        self.fake("apt-get", f'echo "$@" >> "$ROOT/calls"\ncalls=$(wc -l < "$ROOT/calls")\n{apt}')
        env = dict(os.environ, PATH=f"{self.root}:{os.environ['PATH']}", ROOT=str(self.root))
        return subprocess.run(["sh", SCRIPT, *(arguments or ["build"])], capture_output=True, text=True, env=env, timeout=60)

    def lines(self, name):
        path = self.root / name
        return path.read_text().splitlines() if path.exists() else []

    def test_lock_that_is_released(self):
        done = self.run_it(f'[ "$calls" -gt 3 ] || {{ echo "{LOCKED}" >&2; exit 100; }}')
        self.assertEqual(done.returncode, 0, done.stderr)
        verbs = [[word for word in call.split() if word in ("update", "install")] for call in self.lines("calls")]
        self.assertEqual(verbs[:5], [["update"]] * 4 + [["install"]])
        self.assertEqual(len(self.lines("sleeps")), 3)
        self.assertEqual(done.stderr.count("waiting up to"), 1)
        self.assertIn("held by process 77", done.stderr)

    def test_lock_that_is_kept(self):
        done = self.run_it(f'echo "{LOCKED}" >&2; exit 100')
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.endswith(LOCKED + "\n"), done.stderr)
        self.assertGreaterEqual(sum(map(int, self.lines("sleeps"))), 600)

    def test_other_errors_do_not_wait(self):
        done = self.run_it('echo "E: Unable to locate package gcc" >&2; exit 100')
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.lines("sleeps"), [])
        self.assertEqual(len(self.lines("calls")), 1)
        self.assertIn("Unable to locate package gcc", done.stderr)

    def test_optional_packages_may_fail(self):
        done = self.run_it('case "$*" in *scdoc*) echo "E: none" >&2; exit 100 ;; esac')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("continuing without scdoc", done.stderr)
        self.assertNotIn("continuing without zlib1g-dev", done.stderr)  # the others are installed

    def test_named_packages(self):
        done = self.run_it("exit 0", "packages", "gcc-riscv64-linux-gnu", "qemu-user")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.lines("calls")[-1].endswith(" gcc-riscv64-linux-gnu qemu-user"), self.lines("calls"))
        self.assertEqual(self.run_it('case "$*" in *install*) echo "E: none" >&2; exit 100 ;; esac', "packages",
                                     "gcc-none").returncode, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
