#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests files that shrink while mlictl reads them: mlictl reports these files, and neither mlictl nor a batch ends
early."""
import os
import unittest

from batch_scene import BatchCase
from harness import Case, main, npy, open_files, wait_for

WORDS = "it shrank while it was read, or its storage failed"


def safetensors(dtype, count):
    header = b'{"w":{"dtype":"%s","shape":[%d],"data_offsets":[0,%d]}}' % (
        dtype.encode(), count, count * int(dtype[1:]) // 8)
    return len(header).to_bytes(8, "little") + header + bytes(count * int(dtype[1:]) // 8)


class WhileMapped(Case):
    """Uses a preloaded library that truncates the file once it is mapped."""

    def setUp(self):
        super().setUp()
        if "MLI_SHRINK" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")
        self.shrinking = None
        self.reading = False

    def environment(self):
        environment = super().environment()
        if self.reading:
            environment["SHRINK_READ"] = "1"
        if self.shrinking:
            environment.update(LD_PRELOAD=os.environ["MLI_SHRINK"], SHRINK_FILE=self.shrinking)
        return environment

    def shrunk(self, file, *arguments):
        self.shrinking = self.path(file)
        result = self.ctl(*arguments, code=1)
        self.shrinking = None
        self.assertEqual(os.path.getsize(self.path(file)), 0)
        self.assertIn(file, result.err)
        self.assertIn(WORDS, result.err)
        return result

    def test_diff(self):
        for shrinking in ("a.npy", "b.npy"):
            for fortran in (False, True):
                self.write_npy("a.npy", "|i1", (100, 100))
                self.write_npy("b.npy", "|i1", (100, 100), fortran)
                result = self.shrunk(shrinking, "diff", "a.npy", "b.npy", "--json")
                self.assertEqual([e["file"] for e in result.json], [shrinking])

    def test_a_header(self):
        """The file has become empty when mlictl reads its first bytes."""
        self.reading = True
        self.write_npy("a.npy", "|i1", (100, 100))
        result = self.shrunk("a.npy", "show", "a.npy")
        self.assertNotIn("No data available", result.err)

    def test_diff_of_archives(self):
        for dtype in ("I16", "I64"):  # one that moves, one whose bytes are compared
            for shrinking in ("a.safetensors", "b.safetensors"):
                self.write("a.safetensors", safetensors(dtype, 4096))
                self.write("b.safetensors", safetensors(dtype, 4096))
                result = self.shrunk(shrinking, "diff", "a.safetensors", "b.safetensors")
                self.assertNotIn("the same", result.out)

    def test_show(self):
        for words in ((), ("--json",)):
            self.write_npy("a.npy", "|i1", (100, 100))
            result = self.shrunk("a.npy", "show", "a.npy", *words)
            if words:
                self.assertEqual([list(e) for e in result.json], [["file", "exit", "error"]])

    def test_golden_of_a_run(self):
        self.write_npy("in.npy", "|i1", (100, 100))
        self.write_npy("golden.npy", "|i1", (100, 100))
        self.write("job.json", {"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"},
                                "expect": {"file": "golden.npy"}})
        self.write("in.npy", npy("|i1", (100, 100), bytes([1]) * 10000))  # differs from the rest of the golden file
        result = self.shrunk("golden.npy", "run", "job.json", "--json")
        self.assertNotIn("elements differ", result.err)
        self.assertEqual(result.json[0]["state"], "failed")
        self.assertNotIn("difference", result.json[0])


class DuringABatch(BatchCase):
    def test_other_cases_continue(self):
        """A golden file is rewritten in place while its case runs."""
        for name in "abc":
            self.add(name)
        self.write("slow.npy", self.read("good.npy"))
        self.add("b", "slow.npy")
        process = self.start("batch", "cases", "--json", "-j1", "-c1", "-e",
                             "fault:threads,tiny=0,delay_us=700000")
        self.assertTrue(wait_for(lambda: self.path("slow.npy") in open_files(process.pid)))
        os.truncate(self.path("slow.npy"), 0)
        events = self.finish(process, code=1).json
        cases = {e["name"]: e for e in events if e["event"] == "case"}
        self.assertEqual({n: c["status"] for n, c in cases.items()},
                         {"a": "passed", "b": "error", "c": "passed"})
        self.assertEqual(cases["b"]["reason"], "storage")
        self.assertIn(f"slow.npy: {WORDS}", cases["b"]["message"])


class WhileCompared(Case):
    def test_large_files(self):
        """Holes of a file take no storage, but comparing them takes time."""
        size = 1 << 29
        for name in ("a.npy", "b.npy"):
            self.write(name, npy("|i1", (size,), b""))
            os.truncate(self.path(name), 128 + size)
        process = self.start("diff", "a.npy", "b.npy")
        self.assertTrue(wait_for(lambda: process.poll() is not None or
                                 self.path("b.npy") in open_files(process.pid)))
        os.truncate(self.path("b.npy"), 4096)
        result = self.finish(process)
        if result.code == 0:
            self.skipTest("the comparison was over before the file shrank")
        self.assertIn(result.code, (1, 2), str(result))
        self.assertIn("b.npy", result.err)


if __name__ == "__main__":
    main()
