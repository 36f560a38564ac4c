#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests output that cannot be printed: on a full disk, a closed stream or without memory, the exit code is not 0."""
import os
import re
import subprocess
import unittest

from harness import MLICTL, MLID, Case, main, mov

SWEEP = 20  # failing allocations for each command, spread over all of them


def timeless(output):
    """Removes the time of day from a JUnit report."""
    return re.sub(rb'timestamp="[^"]*"', b"", output)


class LostOutput(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.write_npy("same.npy")
        self.write("cases/a.json", mov("../in.npy", "out.npy"))
        self.ctl("batch", "cases", "--resume", "s.jsonl", "-q", code=0)

    def offline(self):
        """Returns commands whose output is always the same."""
        merge = ("batch", "merge", "s.jsonl")
        return (("--help",), ("help",), ("--version",), ("run", "--help"), ("help", "explain"),
                ("completion", "bash"), ("completion", "zsh"), ("completion", "fish"),
                ("show", "in.npy"), ("show", "in.npy", "--json"),
                ("diff", "in.npy", "same.npy"), ("diff", "in.npy", "same.npy", "--json"),
                ("gen", "new.npy", "--shape", "4", "--dtype", "int8", "-f"),
                ("gen", "new.npy", "--shape", "4", "--dtype", "int8", "-f", "--json"),
                ("validate", "cases/a.json"), ("validate", "--json", "cases/a.json"),
                ("explain", "--no-memcpy", "cases/a.json"),
                ("explain", "--no-memcpy", "--json", "cases/a.json"),
                ("make", "mov", "in.npy", "o.npy"), ("make", "mov", "in.npy", "o.npy", "--json"),
                ("make", "mov", "in.npy", "o.npy", "-o", "job.json", "-f"),
                ("batch", "cases", "--list"), ("batch", "cases", "--list", "--json"),
                (*merge, "--json"), (*merge, "--tap"), (*merge, "--junit", "-"), (*merge, "-v"))

    def others(self):
        socket = ("-s", self.daemon.socket)
        return (("run", "cases/a.json"), ("run", "--json", "cases/a.json"),
                ("make", "mov", "in.npy", "o.npy", "--run", "-f"),
                ("batch", "cases"), ("batch", "cases", "--json"), ("batch", "cases", "--tap"),
                ("batch", "cases", "--junit", "-"),
                *((*words, *socket) for words in (
                    ("ping",), ("info",), ("stats",), ("stats", "--json"), ("jobs",),
                    ("top", "--once"), ("top", "--once", "--json"),
                    ("submit", "cases/a.json"), ("drain",), ("resume",),
                    ("trace", "--seconds", "1", "-o", "-"))))

    def lose(self, program, words, stdout):
        """Runs the command with this standard output. Returns its exit code and its message."""
        run = subprocess.run([program, *words], cwd=self.dir, env=self.environment(), stdout=stdout,
                             stderr=subprocess.PIPE, timeout=60, check=False, preexec_fn=None
                             if stdout else lambda: os.close(1))
        return run.returncode, run.stderr.decode()

    def check_message(self, text, words, got):
        """Expects this message and no other."""
        self.assertEqual(got, (1, text), words)

    def check_lost(self, program, name, words):
        if os.path.exists("/dev/full"):
            with open("/dev/full", "wb") as full:
                self.check_message(f"{name}: standard output: No space left on device\n", words,
                                self.lose(program, words, full))
        self.check_message(f"{name}: standard output: Bad file descriptor\n", words,
                        self.lose(program, words, None))

    def test_full_disk_and_closed_stream(self):
        for words in (*self.offline(), *self.others()):
            self.check_lost(MLICTL, "mlictl", words)

    def test_daemon(self):
        self.write("mlid.json", "{}")
        for words in (("--help",), ("--version",), ("--config", "mlid.json", "--check")):
            full = open("/dev/full", "wb") if os.path.exists("/dev/full") else None
            if full:
                with full:
                    code, err = self.lose(MLID, words, full)
                self.assertEqual((code, err), (1, "mlid: standard output: No space left on device\n"))

    def test_commands_without_output_need_none(self):
        self.assertEqual(self.lose(MLICTL, ("diff", "-q", "in.npy", "same.npy"), None), (0, ""))

    def test_no_memory(self):
        """If one allocation fails, the output is complete, or mlictl prints a message and its exit code is not 0."""
        if "MLI_FAIL_ALLOC" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first, or the C library is not glibc")
        environment = dict(self.environment(), LD_PRELOAD=os.environ["MLI_FAIL_ALLOC"], LC_ALL="C",
                           FAIL_COUNT=self.path("count"))

        def run(words, number):
            return subprocess.run([MLICTL, *words], cwd=self.dir, capture_output=True, timeout=60,
                                  env=dict(environment, FAIL_AT=str(number)), check=False)
        lost = 0
        for words in self.offline():
            whole = run(words, 0)
            self.assertEqual(whole.returncode, 0, (words, whole.stderr))
            count = int(self.read("count"))
            for number in range(count, 0, -max(1, count // SWEEP)):
                got = run(words, number)
                if got.returncode == 0:
                    self.assertEqual(timeless(got.stdout), timeless(whole.stdout), (words, number))
                else:
                    self.assertIn(got.returncode, (1, 2), (words, number))
                    self.assertTrue(got.stderr.startswith(b"mlictl: "), (words, number, got.stderr))
                    lost += 1
        self.assertGreater(lost, 100)

    def test_no_memory_for_the_service(self):
        """If an allocation fails in a command that runs its own service, no signal ends the command."""
        if "MLI_FAIL_ALLOC" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first, or the C library is not glibc")
        environment = dict(self.environment(), LD_PRELOAD=os.environ["MLI_FAIL_ALLOC"], LC_ALL="C",
                           FAIL_COUNT=self.path("count"))
        last_words = 0
        for words in (("run", "cases/a.json"), ("batch", "cases")):
            number, count = 0, 1
            while number <= count:
                got = subprocess.run([MLICTL, *words], cwd=self.dir, capture_output=True, timeout=60,
                                     env=dict(environment, FAIL_AT=str(number)), check=False)
                self.assertIn(got.returncode, range(5), (words, number, got.stderr))
                last_words += got.stderr == b"mlictl: out of memory\n"
                count = count if number else int(self.read("count"))
                number += 1
        self.assertGreater(last_words, 0)


if __name__ == "__main__":
    main()
