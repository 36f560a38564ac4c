#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the example of a tiling loop, which checks its own result."""
import os
import subprocess

from harness import Case, main


class Tiling(Case):
    def run_it(self, socket):
        return subprocess.run([os.environ["TILING"], socket], capture_output=True, text=True,
                              timeout=60)

    def test_the_loop(self):
        for _ in range(3):
            done = self.run_it(self.daemon.socket)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (0, "48 tiles, 0 elements differ\n", ""))

    def test_a_corrupted_byte_is_found(self):
        directory = self.root / "bad"
        directory.mkdir()
        daemon = self.start_daemon(directory, "--engine", "fault:threads,tiny=0,corrupt=7")
        done = self.run_it(daemon.socket)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertNotIn(" 0 elements differ", done.stdout)
        daemon.stop()

    def test_no_daemon(self):
        done = self.run_it(self.path("none"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("NO_SERVICE", done.stderr)


if __name__ == "__main__":
    main()
