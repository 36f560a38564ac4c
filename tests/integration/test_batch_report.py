# SPDX-License-Identifier: BSD-3-Clause
"""Reads the reports of a batch with parsers that users of the reports have: XML, TAP::Parser, YAML, JSON."""
import collections
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
import unicodedata
import unittest
import xml.etree.ElementTree as ElementTree

from harness import Case, main, mov, npy, wait_for
from states import GOOD, Batch, case, random_batch, raw_name, text_of

try:
    import yaml
except ImportError:
    yaml = None

SCHEMA = pathlib.Path(__file__).with_name("junit.xsd")
SEED = int(os.environ.get("MLI_TEST_SEED", time.time_ns() % 2**32))
COUNT = 10000

# Prints what TAP::Parser reads from a file: "ok NUMBER DESCRIPTION" for each test, and the errors of the file.
PERL = r"""
use TAP::Parser;
my $parser = TAP::Parser->new({source => $ARGV[0]});
while (my $r = $parser->next) {
    print(($r->is_ok ? "ok" : "not"), " ", $r->number, " ", $r->description, $r->explanation ? " # " . $r->explanation : "", "\n") if $r->is_test;
    print "bail ", $r->explanation, "\n" if $r->is_bailout;
    print "unknown ", $r->as_string, "\n" if $r->is_unknown;
    print "yaml ", (ref $r->data), " ", $r->data->{status}, "\n" if $r->is_yaml;
    print "directive ", $r->as_string, "\n" if $r->is_test && $r->directive;
}
print "plan ", $parser->tests_planned, " failed ", scalar($parser->failed), "\n";
print "errors ", join("; ", $parser->parse_errors), "\n" if $parser->parse_errors;
"""


@functools.cache
def made():
    """Makes the cases once for all tests; returns the cases, their shards, and the cases by name."""
    batch = random_batch(SEED, COUNT)
    texts = [text_of(batch.state(i, 3)) for i in (1, 2, 3)]
    return batch, texts, sorted(batch.cases, key=raw_name)


def is_control(c):
    return c < " " or "\x7f" <= c <= "\x9f"


def plain(text):
    """Returns the text as a terminal shows it: controls, separators of lines and format characters are "?"."""
    return "".join("?" if is_control(c) or unicodedata.category(c) in ("Cf", "Zl", "Zp") else c for c in text)


def as_xml(text):
    return "".join("\ufffd" if is_control(c) and c not in "\t\n\r" or c in "\ufffe\uffff" else c
                   for c in text)


def sentence(line):
    """Returns a text with the file, the place and the message of a result. The place is the
    result's pointer in the form a.b[0]. If the message begins with the end of the place, this part
    is not repeated."""
    place, message = "", line["message"]
    for token in line["pointer"].split("/")[1:]:
        place += f"[{token}]" if re.fullmatch("[0-9]+", token) else f".{token}" if place else token
    for i, c in enumerate(place):
        named = (i == 0 or place[i - 1] == ".") and c != "." and message.startswith(place[i:])
        if named and message[len(place) - i:][:1] in ("", ":", ".", "[", " "):
            return f"{line['file']}: {place[:i]}{message}"
    return ": ".join(part for part in (line["file"], place, message) if part)


def shown_name(line):
    """Returns the name as reports show it: U+FFFD for each byte that is not UTF-8."""
    name, out = raw_name(line), ""
    while name:
        for size in (1, 2, 3, 4):
            try:
                out += name[:size].decode()
                break
            except UnicodeDecodeError:
                continue
        else:
            out, size = out + "\ufffd", 1
        name = name[size:]
    return out


class Merged(Case):
    def setUp(self):
        super().setUp()
        self.batch, texts, self.in_order = made()
        for i, text in enumerate(texts, 1):
            self.write(f"{i}.jsonl", text)

    def merge(self, *options, code=1):
        print("seed", SEED)
        result = self.ctl("batch", "merge", "1.jsonl", "2.jsonl", "3.jsonl", *options, code=code)
        self.assertEqual(result.err, "")
        return result


class Junit(Merged):
    def expected(self, line):
        name = shown_name(line)
        folder, _, last = name.rpartition("/")
        return as_xml(folder) or "(root)", as_xml(last), as_xml(line["file"])

    def verdict(self, line):
        flaky = "flakyError" if line.get("reason") in ("unreadable", "timeout", "storage",
                                                       "service") else "flakyFailure"
        return {"passed": None, "ran": None, "flaky": flaky, "failed": "failure", "error": "error",
                "updated": "failure"}[line["status"]]

    def check(self, path):
        root = ElementTree.parse(path).getroot()
        suite = root.find("testsuite")
        found = suite.findall("testcase")
        self.assertEqual(len(found), COUNT)
        counts = collections.Counter()
        for element, line in zip(found, self.in_order):
            self.assertEqual((element.get("classname"), element.get("name"), element.get("file")),
                             self.expected(line))
            self.assertEqual(element.get("time"),
                             f"{line['ns'] // 10**9}.{line['ns'] // 1000 % 10**6:06}")
            verdict = self.verdict(line)
            tags = [child.tag for child in element]
            if line["status"] == "ran":
                self.assertEqual(tags, ["properties"])
                continue
            self.assertEqual(tags, [verdict, "system-out"] if verdict else [])
            counts[verdict] += 1
            if verdict:
                printed = element.find(verdict)
                self.assertEqual(printed.get("message"), as_xml(line["message"]))
                self.assertEqual(printed.text, as_xml(sentence(line)))
        for element in (root, suite):
            self.assertEqual(int(element.get("tests")), COUNT)
            self.assertEqual(int(element.get("failures")), counts["failure"])
            self.assertEqual(int(element.get("errors")), counts["error"])
        self.assertEqual(suite.get("skipped"), "0")
        self.assertEqual(suite.get("time"), "2.000000")

    def lint(self, path):
        if not shutil.which("xmllint"):
            self.skipTest("no xmllint (Debian: libxml2-utils)")
        lint = subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, path], capture_output=True,
                              text=True, errors="replace")  # its complaints end within characters
        self.assertEqual(lint.returncode, 0, lint.stderr[-2000:])

    def test_file(self):
        result = self.merge("--junit", "report.xml")
        self.assertRegex(result.out.splitlines()[-1], rf"^{COUNT} cases: \d+ passed, .*; 2.00 s, ")
        self.check(self.path("report.xml"))
        self.lint(self.path("report.xml"))

    def test_standard_output(self):
        self.write("report.xml", self.merge("--junit", "-").out)
        self.check(self.path("report.xml"))

    def test_no_two_cases_are_the_same(self):
        names = ("a/b/c", "a.b/c", "a/b.c", "a.b.c", "c")
        self.write("few.jsonl", text_of(Batch([case(name) for name in names]).state()))
        self.ctl("batch", "merge", "few.jsonl", "--junit", "report.xml", code=0)
        self.lint(self.path("report.xml"))
        found = ElementTree.parse(self.path("report.xml")).iter("testcase")
        self.assertEqual(sorted(f"{e.get('classname')}/{e.get('name')}" for e in found),
                         sorted(name if "/" in name else f"(root)/{name}" for name in names))

    def test_the_schema_refuses_wrong_reports(self):
        """Tests that the schema refuses wrong reports: a schema that accepted everything would prove nothing."""
        self.write("few.jsonl", text_of(random_batch(SEED, 200).state()))
        self.ctl("batch", "merge", "few.jsonl", "--junit", "report.xml", code=1)
        self.lint(self.path("report.xml"))
        text = self.read("report.xml").decode()
        for before, after in ((' time="', ' seconds="'), ("<failure ", "<failed "),
                              ('tests="', 'tests="-'), (' classname="', ' classname="" class="'),
                              ("</testsuite>", "<testcase/></testsuite>")):
            self.assertIn(before, text)
            self.write("bad.xml", text.replace(before, after, 1))
            with self.subTest(before=before), self.assertRaises(AssertionError):
                self.lint(self.path("bad.xml"))


class Tap(Merged):
    def description(self, line):
        return plain(shown_name(line)).replace("\\", "\\\\").replace("#", "\\#")

    def test_tap_parser(self):
        if not shutil.which("perl") or subprocess.run(["perl", "-MTAP::Parser", "-e", ""],
                                                      stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no perl with TAP::Parser (Debian: perl)")
        self.write("report.tap", self.merge("--tap").out)
        parsed = subprocess.run(["perl", "-e", PERL, self.path("report.tap")], capture_output=True,
                                text=True)
        self.assertEqual(parsed.stderr, "")
        lines = parsed.stdout.split("\n")[:-1]
        failed = sum(c["status"] not in GOOD for c in self.batch.cases)
        self.assertEqual(lines[-1], f"plan {COUNT} failed {failed}")
        expected = []
        for number, line in enumerate(self.in_order, 1):
            ok = "ok" if line["status"] in GOOD else "not"
            directive = " # no expectation" if line["status"] == "ran" else ""
            expected.append(f"{ok} {number} - {self.description(line)}{directive}".rstrip(" "))
            if line["status"] not in ("passed", "ran"):
                expected.append(f"yaml HASH {line['status']}")
        self.assertEqual([line.rstrip(" ") for line in lines[:-1]], expected)

    @unittest.skipUnless(yaml, "this python has no yaml (Debian: python3-yaml)")
    def test_diagnostics(self):
        text = self.merge("--tap").out
        blocks = re.findall(r"^  ---\n(.*?)^  \.\.\.\n", text, re.M | re.S)
        lines = [c for c in self.in_order if c["status"] not in ("passed", "ran")]
        self.assertEqual(len(blocks), len(lines))
        for block, line in zip(blocks, lines):
            printed = yaml.safe_load(block)
            self.assertEqual(printed["message"], sentence(line))
            for key in ("status", "reason", "file", "pointer", "attempts"):
                self.assertEqual(printed[key], line[key])
            self.assertEqual(printed["severity"], "comment" if line["status"] == "flaky" else "fail")
            self.assertEqual("again" in printed, "kept" in line)

    def test_every_line_is_valid_tap(self):
        lines = self.merge("--tap").out.split("\n")
        self.assertEqual(lines[:2], ["TAP version 13", f"1..{COUNT}"])
        for line in lines[2:-1]:
            self.assertRegex(line, r"^((not )?ok \d+ - |  )")


class Events(Merged):
    def test_lines(self):
        # In this file U+2028 does not end a line.
        events = [json.loads(line) for line in self.merge("--json").out.split("\n")[:-1]]
        self.assertEqual(events[0], self.batch.begin())
        for printed, line in zip(events[1:-1], self.in_order):
            self.assertEqual(printed, {k: v for k, v in line.items()
                                    if k not in ("fingerprint", "basis")})
        self.assertEqual(events[-1], self.batch.end())
        self.assertEqual(len(events), COUNT + 2)


class Lines(Merged):
    def test_no_control_characters(self):
        for options in ((), ("--verbose",), ("--quiet",)):
            out = self.merge(*options).out
            self.assertNotRegex(out.replace("\n", ""), "[\x00-\x1f\x7f-\x9f\u2028-\u202e]")
            lines = [line for line in out.split("\n") if not line.startswith("       rerun: ")]
            passed = sum(c["status"] in ("passed", "ran") for c in self.batch.cases)
            self.assertEqual(len(lines) - 2, COUNT if "--verbose" in options else COUNT - passed)

    def test_the_rerun_command_is_quoted_for_a_shell(self):
        out = self.merge().out
        again = re.findall(r"^       rerun: mlictl run (.*)$", out, re.M)
        kept = [plain(c["kept"]) for c in self.in_order if "kept" in c]
        self.assertEqual(len(again), len(kept))
        script = "".join(f"printf '%s\\0' {word}\n" for word in again)
        printed = subprocess.run(["sh"], input=script.encode(), capture_output=True, check=True)
        self.assertEqual(printed.stdout.decode().split("\0")[:-1], kept)


class Interrupted(Case):
    """Interrupts a run with ^C: the report is complete XML, TAP or JSON, and names the cases that did not run."""

    COUNT = 60

    def interrupt(self, *options):
        self.write_npy("in.npy")
        for i in range(self.COUNT):
            self.write(f"cases/t{i:02}.json", dict(mov("../in.npy"), expect={"file": "../in.npy"}))
        process = self.start("batch", "cases", "-j", "1", "--resume", "s.jsonl", "-e",
                             "fault:threads,tiny=0,delay_us=50000", *options)
        self.assertTrue(wait_for(lambda: self.exists("s.jsonl") and
                                 self.read("s.jsonl").count(b"\n") > 5))
        process.send_signal(signal.SIGINT)
        return self.finish(process, code=4)

    def test_junit(self):
        self.interrupt("--junit", "report.xml")
        suite = ElementTree.parse(self.path("report.xml")).find("testsuite")
        found = {e.get("name"): [child.tag for child in e] for e in suite.findall("testcase")}
        self.assertEqual(set(found), {f"t{i:02}" for i in range(self.COUNT)})
        skipped = [name for name, tags in found.items() if tags == ["skipped"]]
        self.assertEqual(suite.get("skipped"), str(len(skipped)))
        self.assertEqual([tags for tags in found.values() if tags not in ([], ["skipped"])], [])
        self.assertGreater(len(skipped), 0)
        self.assertLess(len(skipped), self.COUNT - 3)
        if shutil.which("xmllint"):
            subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, self.path("report.xml")],
                           check=True, capture_output=True)

    def test_tap(self):
        lines = self.interrupt("--tap").out.split("\n")[:-1]
        self.assertEqual(lines[:2], ["TAP version 13", f"1..{self.COUNT}"])
        left = self.COUNT - (len(lines) - 3)
        self.assertEqual(lines[-1], f"Bail out! {left} of {self.COUNT} cases have not run: "
                                    "interrupted")

    def test_events(self):
        begin, *events, end = self.interrupt("--json").json
        cases = [event for event in events if event["event"] == "case"]
        self.assertEqual((begin["event"], end["event"], end["exit"]), ("begin", "end", 4))
        self.assertEqual(end["passed"] + end["not_run"], self.COUNT)
        self.assertEqual(end["passed"], len(cases))
        self.assertEqual([event["event"] for event in events[len(cases):]], ["not_run"] * end["not_run"])
        self.assertEqual(len({event["name"] for event in events}), self.COUNT)


class Sorted(Case):
    """Reports of a run whose cases end in another order are sorted by name."""

    COUNT = 30
    ENGINE = ("-e", "fault:threads,tiny=0,delay_us=20000", "--keep", "none")

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.write_npy("bad.npy", data=bytes(24))
        self.names = [f"{chr(ord('a') + i % 3)}/t{i:02}" for i in range(self.COUNT)]
        for i, name in enumerate(self.names):  # the first case by name takes longest
            job = mov("../../in.npy", expect={"file": "../../" + ("bad.npy" if i % 7 == 3 else "in.npy")})
            self.write(f"cases/{name}.json", self.repeated(job, 12) if i == 0 else job)

    def batch(self, *options, code=1, **more):
        return self.ctl("batch", "cases", "-j", "4", *self.ENGINE, *options, code=code, **more)

    @staticmethod
    def repeated(job, count):
        return [{**job, "dst": {"file": f"out{i}.npy"}} for i in range(count)]

    def slow_last(self):
        """Lets the last case take 2 s, so that a test has time while the run lasts."""
        job = mov("../../in.npy", expect={"file": "../../in.npy"})
        self.write(f"cases/{max(self.names)}.json", self.repeated(job, 200))

    def state_names(self):
        lines = [json.loads(line) for line in self.read("s.jsonl").splitlines()]
        return [line["name"] for line in lines if line["event"] == "case"]

    def test_streams(self):
        events = self.batch("--json", "--resume", "s.jsonl").json
        self.assertNotEqual(self.state_names()[0], "a/t00")
        self.assertEqual([e["name"] for e in events[1:-1]], sorted(self.names))
        lines = self.batch("--tap").out.splitlines()
        wanted = [f"{i} - {name}" for i, name in enumerate(sorted(self.names), 1)]
        self.assertEqual([re.sub("^(not )?ok ", "", line) for line in lines if "ok " in line], wanted)

    def test_files(self):
        self.batch("--junit", "r.xml", "--html", "page")
        found = [f"{e.get('classname')}/{e.get('name')}"
                 for e in ElementTree.parse(self.path("r.xml")).iter("testcase")]
        self.assertEqual(found, sorted(self.names))
        rows = re.findall(r"<tr class=\"\w+\"><td>(?:<a[^>]*>)?([^<]*)", self.read("page/index.html").decode())
        self.assertEqual(rows, sorted(self.names))

    def test_two_runs_can_be_compared(self):
        for options in (("--json",), ("--tap",), ("--junit", "-")):
            one, other = (re.sub(r'"ns":\d+|duration_ms: [\d.]+|(time|timestamp)="[^"]*"', "", self.batch(*options).out)
                          for _ in range(2))
            self.assertEqual(one, other)

    def test_reused_results_and_an_interrupt(self):
        """Reused results, new ones and cases that have not run are sorted together."""
        self.slow_last()
        self.batch("--filter", "b/*", "--resume", "s.jsonl")
        process = self.start("batch", "cases", "-j", "1", *self.ENGINE, "--resume", "s.jsonl", "--json",
                             "--junit", "r.xml")
        self.assertTrue(wait_for(lambda: len(set(self.state_names())) > 13))
        process.send_signal(signal.SIGINT)
        events = self.finish(process, code=4).json[1:-1]
        self.assertEqual([e["name"] for e in events], sorted(self.names))
        self.assertEqual({e["event"] for e in events if e["name"].startswith("b/")}, {"case"})
        self.assertIn("not_run", {e["event"] for e in events})
        found = [(f"{e.get('classname')}/{e.get('name')}", e.find("skipped") is not None)
                 for e in ElementTree.parse(self.path("r.xml")).iter("testcase")]
        self.assertEqual(found, [(e["name"], e["event"] == "not_run") for e in events])

    def test_lines_come_while_cases_run(self):
        self.slow_last()
        process = self.start("batch", "cases", "-j", "2", *self.ENGINE, "--tap")
        lines = [process.stdout.readline() for _ in range(5)]
        self.assertIsNone(process.poll())
        self.assertEqual(lines[:3], [b"TAP version 13\n", b"1..30\n", b"ok 1 - a/t00\n"])
        self.finish(process, code=1)

    def test_an_open_run_is_not_held_back(self):
        """The cases of `batch -` are not known in advance: streams have them as they end, files are sorted."""
        process = self.start("batch", "-", "-j", "1", *self.ENGINE, "--json", "--junit", "r.xml")
        self.assertIn(b'"begin"', process.stdout.readline())
        for name in ("c/t02", "a/t00"):
            process.stdin.write(f"cases/{name}.json\n".encode())
            process.stdin.flush()
            self.assertIn(name.encode(), process.stdout.readline())
        self.finish(process, code=0)
        self.assertEqual([e.get("name") for e in ElementTree.parse(self.path("r.xml")).iter("testcase")],
                         ["t00", "t02"])


class Small(Case):
    def test_quiet_omits_passed_cases(self):
        self.write("a.jsonl", text_of(Batch([case("a"), case("b", "flaky")]).state()))
        for options in (("-q",), ("-q", "--junit", "r.xml")):
            result = self.ctl("batch", "merge", "a.jsonl", *options, code=0)
            self.assertRegex(result.out + result.err, r"^FLAKY  cases/b.json: [^\n]*; passed at attempt 1\n$")
        self.write("a.jsonl", text_of(Batch([case("a"), case("b")]).state()))
        result = self.ctl("batch", "merge", "a.jsonl", "-q", code=0)
        self.assertEqual(result.out + result.err, "")

    def test_flaky(self):
        self.write("a.jsonl", text_of(Batch([case("a"), case("b", "flaky")]).state()))
        self.ctl("batch", "merge", "a.jsonl", code=0)
        self.ctl("batch", "merge", "a.jsonl", "--flaky", "fail", code=1)
        self.assertIn("not ok 2 - b\n",
                      self.ctl("batch", "merge", "a.jsonl", "--flaky=fail", "--tap", code=1).out)

    def test_a_report_that_cannot_be_written(self):
        self.write("a.jsonl", text_of(Batch([case("a")]).state()))
        for path, words in (("none/r.xml", "the directory none must exist"),
                            (".", "not a regular file")):
            result = self.ctl("batch", "merge", "a.jsonl", "--junit", path, code=2)
            self.assertEqual(result.out, "")
            self.assertRegex(result.err, rf"^mlictl: --junit {re.escape(path)}: .*{words}")

    def test_a_report_replaces_only_reports(self):
        """`--junit cases/*.json` must not overwrite a job file."""
        self.write("a.jsonl", text_of(Batch([case("a")]).state()))
        for text in (b"", b"<testsuites/>"):
            self.write("r.xml", text)
            self.ctl("batch", "merge", "a.jsonl", "--junit", "r.xml", code=0)
            self.assertIn(b"<testcase", self.read("r.xml"))
        for text in (b"{}", npy("|i1", (3,), bytes(3))):
            self.write("r.xml", text)
            result = self.ctl("batch", "merge", "a.jsonl", "--junit", "r.xml", code=2)
            self.assertIn("r.xml exists and is not a report; only an empty file", result.err)
            self.assertEqual((result.out, self.read("r.xml")), ("", text))

    def test_without_cases(self):
        self.write("a.jsonl", text_of(Batch([]).state()))
        self.assertEqual(self.ctl("batch", "merge", "a.jsonl", code=0).out, "0 cases; 2.00 s\n")
        self.assertEqual(self.ctl("batch", "merge", "a.jsonl", "--tap", code=0).out,
                         "TAP version 13\n1..0 # SKIP no case is in this shard\n")


if __name__ == "__main__":
    main()
