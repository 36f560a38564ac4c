#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests `mlictl batch -`, which runs each case as soon as its line arrives on standard input."""
import json
import signal
import time
import xml.etree.ElementTree as ElementTree

from batch_scene import BatchCase
from harness import PATIENCE, main, wait_for


class Input(BatchCase):
    def feed(self, *arguments):
        """Starts a run whose standard input stays open."""
        return self.start("batch", "-", *arguments)

    def put(self, process, text):
        process.stdin.write(text if isinstance(text, bytes) else text.encode())
        process.stdin.flush()

    def lines(self, *arguments, stdin, code):
        return self.events_by_case("-", *arguments, stdin=stdin, code=code)

    def ended(self, name, path="s.jsonl"):
        return wait_for(lambda: self.exists(path) and f'"name":"{name}"'.encode() in self.read(path))

    def test_each_line_runs_at_once(self):
        for name in "abc":
            self.add(name)
        process = self.feed("--resume", "s.jsonl", "-j2", "--tap")
        for name in "bac":
            self.put(process, f"cases/{name}.json\n")
            self.assertTrue(self.ended(f"cases/{name}"), "the case did not run while the pipe was open")
            self.assertIsNone(process.poll())
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(out.decode().splitlines(),
                         ["TAP version 13", "ok 1 - cases/b", "ok 2 - cases/a", "ok 3 - cases/c", "1..3"])

    def test_a_line_comes_in_pieces(self):
        self.add("a")
        process = self.feed("--resume", "s.jsonl")
        for piece in ("ca", "ses/", "a.json", "\n"):
            self.put(process, piece)
            time.sleep(0.02)
        self.assertTrue(self.ended("cases/a"))
        self.finish(process, code=0)

    def test_directories_comments_and_empty_lines(self):
        for name in ("x/a", "x/b", "c"):
            self.add(name)
        _, cases, end = self.lines(stdin="# all\n\n  cases/x  # two\r\n\t\ncases/c.json", code=0)
        self.assertEqual(sorted(cases), ["a", "b", "cases/c"])
        self.assertEqual(self.counts(end), {"passed": 3})

    def test_refused_lines_do_not_end_the_run(self):
        self.add("a")
        self.add("b")
        text = b"cases/a.json\n./cases/a.json\nx\0y\n" + b"z" * (1 << 20) + b"\n" + b"y" * 5000 + \
            b"\ncases/none.json\ncases/b.json"
        result = self.batch("-", "--json", "--junit", "r.xml", stdin=text.decode(), code=2)
        events = result.json
        self.assertEqual(sorted(e["name"] for e in events if e["event"] == "case"),
                         ["cases/a", "cases/b", "cases/none"])
        problems = [e["message"] for e in events if e["event"] == "problem"]
        for (line, words), problem in zip(((2, "case cases/a is given twice"), (3, "zero byte"),
                                           (4, "the line is longer than 65535 bytes"),
                                           (5, "the path is longer than 4095 bytes")), problems, strict=True):
            self.assertTrue(problem.startswith(f"stdin:{line}: "), problem)
            self.assertIn(words, problem)
            self.assertIn(problem, result.err)
        self.assertEqual(self.counts(events[-1]), {"passed": 2, "error": 1, "not_run": 4})
        errors = ElementTree.fromstring(self.read("r.xml")).iter("error")
        self.assertEqual(sum(e.get("type") == "not run" for e in errors), 4)

    def test_no_case(self):
        for text, options in (("", ()), ("#\n\n", ()), ("cases/a.json", ("--filter", "b*"))):
            self.assertIn("standard input names no cases", self.batch("-", *options, stdin=text, code=2).err)

    def test_resume(self):
        for name in "abcd":
            self.add(name)
        names = [f"cases/{name}.json\n" for name in "abcd"]
        process = self.feed("--resume", "s.jsonl")
        self.put(process, names[0] + names[1])
        self.assertTrue(self.ended("cases/a") and self.ended("cases/b"))
        process.kill()
        process.communicate()
        self.assertIn("the run ended before standard input did", self.batch("merge", "s.jsonl", code=1).err)
        begin, cases, _ = self.lines("--resume", "s.jsonl", stdin="".join(names[::-1]), code=0)
        self.assertTrue(begin["open"])
        self.assertEqual(len(cases), 4)
        text = self.batch("-", "--resume", "s.jsonl", stdin="".join(names), code=0).out
        self.assertIn("4 cases: 4 passed; 4 reused", text)
        self.assertIn("4 cases: 4 passed", self.batch("merge", "s.jsonl", code=0).out)
        self.assertIn("4 reused", self.batch("cases/a.json", "cases/b.json", "cases/c.json", "cases/d.json",
                                              "--resume", "s.jsonl", code=0).out)

    def test_a_whole_run_continues_as_a_stream(self):
        self.add("a")
        self.batch("cases/a.json", "--resume", "s.jsonl", code=0)
        self.add("b")
        self.lines("--resume", "s.jsonl", stdin="cases/a.json\ncases/b.json", code=0)
        self.assertIn("2 cases: 2 passed", self.batch("merge", "s.jsonl", code=0).out)

    def test_shards(self):
        names = [f"c{i}" for i in range(12)]
        for name in names:
            self.add(name, "bad.npy" if name == "c5" else "good.npy")
        text = "".join(f"cases/{name}.json\n" for name in names)
        for i in (1, 2, 3):
            self.batch("-", "--shard", f"{i}/3", "--resume", f"{i}.jsonl", "-q", stdin=text)
        _, cases, _ = self.events_by_case("merge", "1.jsonl", "2.jsonl", "3.jsonl", code=1)
        self.assertEqual(sorted(cases), sorted(f"cases/{name}" for name in names))

    def test_fail_fast_ends_with_an_open_pipe(self):
        self.add("a", "bad.npy")
        self.add("b")
        process = self.feed("--fail-fast", "-j1")
        self.put(process, "cases/a.json\n")
        self.assertEqual(process.wait(timeout=PATIENCE), 1)

    def test_interrupted_with_an_open_pipe(self):
        self.add("a")
        process = self.feed("--resume", "s.jsonl", "-j4")
        self.put(process, "cases/a.json\n")
        self.assertTrue(self.ended("cases/a"))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=PATIENCE), 4)
        events = [json.loads(line) for line in self.read("s.jsonl").splitlines()]
        self.assertEqual([e["event"] for e in events], ["begin", "case", "end"])

    def test_kept_cases_are_refused(self):
        self.add("a", "bad.npy")
        self.batch("-", stdin="cases/a.json", code=1)
        kept = self.batch("-", stdin="batch-failed/cases/a/job.json\n", code=2)
        self.assertIn("was kept in batch-failed", kept.err)
        self.assertTrue(self.exists("batch-failed/cases/a/job.json"))

    def test_beside_other_paths_it_is_a_manifest(self):
        self.add("a")
        self.add("x/b")
        _, cases, _ = self.events_by_case("-", "cases/x", stdin="cases/a.json", code=0)
        self.assertEqual(sorted(cases), ["b", "cases/a"])


if __name__ == "__main__":
    main()
