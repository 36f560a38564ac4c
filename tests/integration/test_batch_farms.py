#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what conf/fleet/ktap.py and lava.py make of the output of batch --json, as test farms do, even if names are
hostile."""
import json
import re
import shutil
import subprocess
import sys

from batch_scene import BatchCase
from harness import SOURCE, main

# The dispatcher of LAVA searches the output of a device's console for this expression.
SIGNAL = re.compile(r"<LAVA_SIGNAL_(\S+) ([^>]+)>")
RESULT = re.compile(r"(ok|not ok) (\d+) (?:- )?([^#\n]*?)(?: # (SKIP|TODO|XFAIL|TIMEOUT|ERROR)(?: (.*))?)?$")
NAMES = ["plain", "conv/tile_3", "conv/tile 4", "conv/deep/a#b", "x/<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=y RESULT=pass>",
         "x/ok 1 - z # SKIP", "x/\nok 9 w"]


def parse_ktap(lines, depth=0):
    """Returns [(name, ok, directive, subtests)] of the tests at this depth; removes the lines that it has read from
    the list `lines`."""
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


def filtered(name, text, *options):
    """Runs a filter with these lines of JSON. Returns its exit code and output."""
    run = subprocess.run([sys.executable, SOURCE / "conf/fleet" / f"{name}.py", *options], input=text.encode(),
                         capture_output=True, check=False)
    assert run.stderr == b"", run.stderr.decode()
    return run.returncode, run.stdout.decode()


class Farms(BatchCase):
    def farm(self, name, *arguments, code, **more):
        """Runs batch and a filter for its output. Expects that both have the same exit code; returns the filter's
        output."""
        text = self.batch(*arguments, "--json", code=code, **more).out
        got, out = filtered(name, text)
        self.assertEqual(got, code)
        return out

    def add_all(self):
        for name in NAMES:
            self.add(name, "bad.npy" if name in ("conv/tile 4", "x/\nok 9 w") else "good.npy")
        self.write("cases/conv/broken.json", "{")

    def test_ktap(self):
        self.add_all()
        out = self.farm("ktap", "cases", code=1)
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
        text = self.farm("ktap", "cases", code=1)
        program = ("use TAP::Parser; local $/; my $p = TAP::Parser->new({tap => <STDIN>}); $p->run;"
                   "print join(',', $p->tests_planned, scalar $p->passed, scalar $p->failed, scalar $p->parse_errors);")
        out = subprocess.run(["perl", "-e", program], input=text.encode(), capture_output=True, check=True).stdout
        self.assertEqual(out, b"4,2,2,0")

    def test_ktap_not_run(self):
        for name in "abc":
            self.add(name, "bad.npy" if name == "a" else "good.npy")
        tests = parse_ktap(self.farm("ktap", "cases", "--fail-fast", "-j1", code=1).splitlines())
        self.assertEqual([(name, ok, directive) for name, ok, directive, _ in tests[0][3]],
                         [("a", False, None), ("b", False, "SKIP"), ("c", False, "SKIP")])
        self.assertFalse(tests[0][1])

    def test_ktap_timeout(self):
        self.add("a")
        out = self.farm("ktap", "cases", "--timeout", "50ms", "-c4", "-e", "fault:threads,tiny=0,stick=1", code=1)
        self.assertIn("not ok 1 a # TIMEOUT timeout\n", out)

    def signals(self, text):
        """Returns (set, name, result, units, measurement) of each LAVA signal for a case, and the lines that are not
        signals."""
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
        cases, rest = self.signals(self.farm("lava", "cases", "-j1", code=1))
        self.assertEqual(sorted(cases, key=str), sorted([
            (None, "plain", "pass", "ms"), ("conv", "tile_3", "pass", "ms"), ("conv", "tile_4", "fail", "ms"),
            ("conv", "broken", "fail", "ms"), ("conv.deep", "a_b", "pass", "ms"),
            ("x", "_LAVA_SIGNAL_TESTCASE_TEST_CASE_ID_y_RESULT_pass_", "pass", "ms"),
            ("x", "ok_1_-_z___SKIP", "pass", "ms"), ("x", "_ok_9_w", "fail", "ms"),
            (None, "mlictl-batch", "fail", "cases"), (None, "mlictl-batch-duration", "pass", "s")], key=str))
        self.assertTrue(any(line.startswith("failed conv/tile 4: cases/conv/tile 4.json") for line in rest), rest)

    def test_lava_with_a_profile(self):
        self.add("a")
        cases, _ = self.signals(self.farm("lava", "cases", "--profile", "vpx5-nsim", code=0))
        self.assertIn((None, "a.predicted", "pass", "ns"), cases)

    def test_of_shards(self):
        self.add_all()
        self.batch("cases", "--shard", "1/2", "--resume", "1.jsonl", "-q")
        tests = parse_ktap(self.farm("ktap", "merge", "1.jsonl", code=1).splitlines())
        self.assertIn(("shard 2 of 2", False), [(name, ok) for name, ok, _, _ in tests])
        cases, _ = self.signals(self.farm("lava", "merge", "1.jsonl", code=1))
        self.assertIn((None, "shard_2_of_2", "fail", None), cases)

    def test_options_of_earlier_versions(self):
        self.add("a")
        for name in ("ktap", "lava"):
            self.assertIn(f"--{name} is no longer an option: pipe mlictl batch --json into conf/fleet/{name}.py",
                          self.batch("cases", f"--{name}", code=2).err)

    def test_a_stream(self):
        self.add("a")
        out = self.farm("ktap", "-", stdin="cases/a.json\ncases/a.json\n", code=2)
        tests = parse_ktap(out.splitlines())
        self.assertEqual([(name, ok) for name, ok, _, _ in tests], [("cases", True), ("standard input", False)])

    def test_every_byte(self):
        """Tests what the filters write for each status, for hostile texts, and for cases that did not run."""
        lines = "".join(json.dumps(event) + "\n" for event in EVENTS)
        self.assertEqual(filtered("ktap", lines), (4, KTAP))
        self.assertEqual(filtered("lava", lines), (4, LAVA))
        self.assertIn("  not ok 3 flaky\n", filtered("ktap", lines, "--flaky", "fail")[1])
        self.assertIn("TEST_CASE_ID=flaky RESULT=fail", filtered("lava", lines, "--flaky", "fail")[1])

    def test_a_run_without_results(self):
        """Without any event, as after a refused command line, ktap.py reports that there are no cases, and both
        filters fail."""
        self.assertEqual(filtered("ktap", ""), (1, "KTAP version 1\n1..0 # SKIP no cases\n"))
        self.assertEqual(filtered("lava", ""), (1, ""))
        self.assertEqual(filtered("lava", '{"exit":2,"error":{}}\n'), (2, ""))


def case(name, status, reason=None, message=None, **more):
    event = {"event": "case", "name": name, "file": "cases/a.json", "status": status, "attempts": 1, "ns": 1234567,
             "bytes": 64}
    return event | ({"reason": reason, "message": message, "pointer": "/expect"} if reason else {}) | more


MISMATCH = "2 of 24 elements differ, the first at [1, 0, 2]: 14 in out.npy, 99 in golden.npy"
AGAIN = "mlictl run batch-failed/conv/tile_3/job.json"
EVENTS = [
    {"event": "begin", "cases": 8, "total": 20, "shard": "2/4", "resumed": 0, "set": "0" * 15 + "3"},
    case("plain", "passed"),
    case("flaky", "flaky", "timeout", "took longer than 5 ms", attempts=3),
    case("conv/tile_3", "failed", "mismatch", MISMATCH, again=AGAIN),
    case("a#b\\c\n\"<&>'\x1b[31m\ufffd\x9b\uffff", "error", "unreadable",
         "]]> & \t \x01\x7f \u20ac\U0001f600 \ufffd\ufffd\ufffd", again="mlictl run 'it'\\''s here/a b'", line=3, column=5,
         name_bytes=b"a#b\\c\n\"<&>'\x1b[31m\xff\xc2\x9b\xef\xbf\xbf".hex()),
    case("u", "updated", "mismatch", "wrote g.npy.new"),
    case("bare", "ran"),
    {"event": "not_run", "name": "never/begun", "file": "cases/never/begun.json"},
    {"event": "end", "passed": 1, "ran": 1, "flaky": 1, "failed": 1, "error": 1, "updated": 1, "not_run": 1, "ns": 1310000000,
     "exit": 4}]
HOSTILE = "]]> & ? ?? \u20ac\U0001f600 \ufffd\ufffd\ufffd"
KTAP = f"""KTAP version 1
1..3
  KTAP version 1
  # Subtest: (root)
  1..5
  # error: cases/a.json:3:5: expect: {HOSTILE}
  # attempts 1
  # rerun: mlictl run 'it'\\''s here/a b'
  # duration_ns 1234567
  not ok 1 a\\x23b\\c?"<&>'?[31m\ufffd?\uffff # ERROR unreadable
  # no expectation
  # duration_ns 1234567
  ok 2 bare
  # flaky: cases/a.json: expect: took longer than 5 ms
  # attempts 3
  # duration_ns 1234567
  ok 3 flaky
  # duration_ns 1234567
  ok 4 plain
  # updated: cases/a.json: expect: wrote g.npy.new
  # attempts 1
  # duration_ns 1234567
  not ok 5 u
not ok 1 (root)
  KTAP version 1
  # Subtest: conv
  1..1
  # failed: cases/a.json: expect: {MISMATCH}
  # attempts 1
  # rerun: {AGAIN}
  # duration_ns 1234567
  not ok 1 tile_3
not ok 2 conv
  KTAP version 1
  # Subtest: never
  1..1
  not ok 1 begun # SKIP not run
not ok 3 never
"""
MEASURED = " UNITS=ms MEASUREMENT=1.234567>"
LAVA = f"""<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=plain RESULT=pass{MEASURED}
flaky flaky: cases/a.json: expect: took longer than 5 ms
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=flaky RESULT=pass{MEASURED}
<LAVA_SIGNAL_TESTSET START conv>
failed conv/tile_3: cases/a.json: expect: {MISMATCH}
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=tile_3 RESULT=fail{MEASURED}
<LAVA_SIGNAL_TESTSET STOP>
error a#b\\c?"&lt;&>'?[31m\ufffd?\uffff: cases/a.json:3:5: expect: {HOSTILE}
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=a_b_c________31m______ RESULT=fail{MEASURED}
updated u: cases/a.json: expect: wrote g.npy.new
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=u RESULT=fail{MEASURED}
ran bare: no expectation
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=bare RESULT=pass{MEASURED}
<LAVA_SIGNAL_TESTSET START never>
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=begun RESULT=skip>
<LAVA_SIGNAL_TESTSET STOP>
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=mlictl-batch RESULT=fail UNITS=cases MEASUREMENT=6>
<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=mlictl-batch-duration RESULT=pass UNITS=s MEASUREMENT=1.310000>
"""


if __name__ == "__main__":
    main()
