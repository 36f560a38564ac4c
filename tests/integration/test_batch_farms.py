#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the reports for test farms, --ktap and --lava, as their readers do, also with hostile names."""
import re
import shutil
import subprocess

from batch_scene import BatchCase
from harness import main

# The dispatcher of LAVA searches the console of a device with this expression.
SIGNAL = re.compile(r"<LAVA_SIGNAL_(\S+) ([^>]+)>")
RESULT = re.compile(r"(ok|not ok) (\d+) (?:- )?([^#\n]*?)(?: # (SKIP|TODO|XFAIL|TIMEOUT|ERROR)(?: (.*))?)?$")
NAMES = ["plain", "conv/tile_3", "conv/tile 4", "conv/deep/a#b", "x/<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=y RESULT=pass>",
         "x/ok 1 - z # SKIP", "x/\nok 9 w"]


def parse_ktap(lines, depth=0):
    """Returns [(name, ok, directive, subtests)] of the test at this depth; `lines` is a list that shrinks."""
    indent = "  " * depth
    assert lines.pop(0) == indent + "KTAP version 1"
    tests, plan, inner = [], None, None
    while lines and lines[0].startswith(indent):
        line = lines[0][len(indent):]
        if line == "  KTAP version 1":
            assert inner is None, "two lists of subtests for one test"
            inner = parse_ktap(lines, depth + 1)
            continue
        lines.pop(0)
        if line.startswith("#"):
            continue
        count = re.fullmatch(r"1\.\.(\d+)", line)
        if count:
            assert plan is None and not tests, "a plan after a test"
            plan = int(count[1])
            continue
        match = RESULT.fullmatch(line)
        assert match, f"not a line of KTAP: {line!r}"
        assert int(match[2]) == len(tests) + 1
        tests.append((match[3], match[1] == "ok", match[4], inner))
        inner = None
    assert plan == len(tests), f"{len(tests)} tests, but the plan is {plan}"
    return tests


class Farms(BatchCase):
    def add_all(self):
        for name in NAMES:
            self.add(name, "bad.npy" if name in ("conv/tile 4", "x/\nok 9 w") else "good.npy")
        self.write("cases/conv/broken.json", "{")

    def test_ktap(self):
        self.add_all()
        out = self.batch("cases", "--ktap", code=1).out
        lines = out.splitlines()
        tests = parse_ktap(lines)
        self.assertEqual(lines, [])
        self.assertEqual([(name, ok) for name, ok, _, _ in tests],
                         [("(root)", True), ("conv", False), ("conv/deep", True), ("x", False)])
        conv = tests[1][3]
        self.assertEqual([(name, ok, directive) for name, ok, directive, _ in conv],
                         [("broken", False, "ERROR"), ("tile 4", False, None), ("tile_3", True, None)])
        self.assertEqual([name for name, _, _, _ in tests[2][3]], ["a\\x23b"])
        self.assertEqual(len(tests[3][3]), 3)
        self.assertIn("  # failed: cases/conv/tile 4.json: expect: 1 of 24 elements differ", out)
        self.assertRegex(out, r"  # duration_ns \d+\n")

    def test_ktap_is_tap(self):
        if not shutil.which("perl") or subprocess.run(["perl", "-MTAP::Parser", "-e", ""], check=False,
                                                      capture_output=True).returncode:
            self.skipTest("no perl with TAP::Parser (Debian: perl)")
        self.add_all()
        text = self.batch("cases", "--ktap", code=1).out
        program = ("use TAP::Parser; local $/; my $p = TAP::Parser->new({tap => <STDIN>}); $p->run;"
                   "print join(',', $p->tests_planned, scalar $p->passed, scalar $p->failed, scalar $p->parse_errors);")
        out = subprocess.run(["perl", "-e", program], input=text.encode(), capture_output=True, check=True).stdout
        self.assertEqual(out, b"4,2,2,0")

    def test_ktap_not_run(self):
        for name in "abc":
            self.add(name, "bad.npy" if name == "a" else "good.npy")
        tests = parse_ktap(self.batch("cases", "--ktap", "--fail-fast", "-j1", code=1).out.splitlines())
        self.assertEqual([(name, ok, directive) for name, ok, directive, _ in tests[0][3]],
                         [("a", False, None), ("b", False, "SKIP"), ("c", False, "SKIP")])
        self.assertFalse(tests[0][1])

    def test_ktap_timeout(self):
        self.add("a")
        out = self.batch("cases", "--ktap", "--timeout", "50", "-c4", "-e", "fault:threads,tiny=0,stick=1", code=1).out
        self.assertIn("not ok 1 a # TIMEOUT timeout\n", out)

    def signals(self, text):
        """Returns (set, name, result, units, measurement) of each signal for a case, and the other lines."""
        cases, current, rest = [], None, []
        for line in text.splitlines():
            match = SIGNAL.search(line)
            if not match:
                rest.append(line)
                continue
            self.assertEqual(match[0], line)
            if match[1] == "TESTSET":
                action, *name = match[2].split()
                self.assertIn((action, current is None), (("START", True), ("STOP", False)))
                current = name[0] if name else None
                continue
            self.assertEqual(match[1], "TESTCASE")
            values = dict(word.split("=", 1) for word in match[2].split())
            self.assertLessEqual({"TEST_CASE_ID", "RESULT"}, values.keys())
            self.assertRegex(values["TEST_CASE_ID"], r"\A[-\w.]+\Z")
            self.assertEqual("UNITS" in values, "MEASUREMENT" in values)
            if "MEASUREMENT" in values:
                float(values["MEASUREMENT"])
            cases.append((current, values["TEST_CASE_ID"], values["RESULT"], values.get("UNITS")))
        self.assertIsNone(current)
        return cases, rest

    def test_lava(self):
        self.add_all()
        cases, rest = self.signals(self.batch("cases", "--lava", "-j1", code=1).out)
        self.assertEqual(sorted(cases, key=str), sorted([
            (None, "plain", "pass", "ms"), ("conv", "tile_3", "pass", "ms"), ("conv", "tile_4", "fail", "ms"),
            ("conv", "broken", "fail", "ms"), ("conv.deep", "a_b", "pass", "ms"),
            ("x", "_LAVA_SIGNAL_TESTCASE_TEST_CASE_ID_y_RESULT_pass_", "pass", "ms"),
            ("x", "ok_1_-_z___SKIP", "pass", "ms"), ("x", "_ok_9_w", "fail", "ms"),
            (None, "mlictl-batch", "fail", "cases"), (None, "mlictl-batch-duration", "pass", "s")], key=str))
        self.assertTrue(any(line.startswith("failed conv/tile 4: cases/conv/tile 4.json") for line in rest), rest)

    def test_lava_with_a_profile(self):
        self.add("a")
        cases, _ = self.signals(self.batch("cases", "--lava", "--profile", "vpx5-nsim", code=0).out)
        self.assertIn((None, "a.predicted", "pass", "ns"), cases)

    def test_of_shards_and_combinations(self):
        self.add_all()
        self.batch("cases", "--shard", "1/2", "--resume", "1.jsonl", "-q")
        out = self.batch("merge", "1.jsonl", "--ktap", code=1).out
        tests = parse_ktap(out.splitlines())
        self.assertIn(("shard 2 of 2", False), [(name, ok) for name, ok, _, _ in tests])
        cases, _ = self.signals(self.batch("merge", "1.jsonl", "--lava", code=1).out)
        self.assertIn((None, "shard_2_of_2", "fail", None), cases)
        result = self.batch("cases", "--ktap", "--lava", code=2)
        self.assertIn("both write to standard output", result.err)
        self.batch("cases", "--ktap", "--junit", "r.xml", code=1)
        self.assertTrue(self.exists("r.xml"))

    def test_a_stream(self):
        self.add("a")
        out = self.batch("-", "--ktap", stdin="cases/a.json\ncases/a.json\n", code=2).out
        tests = parse_ktap(out.splitlines())
        self.assertEqual([(name, ok) for name, ok, _, _ in tests], [("cases", True), ("standard input", False)])


if __name__ == "__main__":
    main()
