# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl batch merge: complete sets of state files, and every way in which sets are
incomplete."""
import json
import os
import random
import signal
import time
import xml.etree.ElementTree as ElementTree

from harness import PERCENT, Case, main, mov, wait_for
from states import Batch, case, shard_of, text_of

SEED = int(os.environ.get("MLI_TEST_SEED", time.time_ns() % 2**32))


class Merge(Case):
    def setUp(self):
        super().setUp()
        self.batch = Batch([case(f"c{i}") for i in range(24)])

    def write_shards(self, count, batch=None, prefix=""):
        for i in range(1, count + 1):
            self.write(f"{prefix}{i}.jsonl", text_of((batch or self.batch).state(i, count)))
        return [f"{prefix}{i}.jsonl" for i in range(1, count + 1)]

    def merge(self, *arguments, code=0):
        return self.ctl("batch", "merge", *arguments, code=code)

    def assert_complaints(self, files, *complaints, code=1, report=None):
        """Expects each complaint on stderr (with --json: as an event), and either a report or none."""
        result = self.merge(*files, code=code)
        self.assertEqual(result.err, "".join(f"mlictl: {c}\n" for c in complaints))
        self.assertEqual(result.out, report or "")
        events = self.merge("--json", *files, code=code).json
        printed = [":".join(str(e[key]) for key in ("file", "line", "column") if key in e) +
                   (": " if "file" in e else "") + e["message"] for e in events if e["event"] == "problem"]
        self.assertEqual(printed, list(complaints))
        self.assertEqual([e["event"] for e in events if e["event"] in ("begin", "end")],
                         ["begin", "end"] if report else [])

    # Complete sets of state files.

    def test_any_number_of_shards(self):
        whole = None
        for count in (1, 2, 3, 5, 16, 40):
            files = self.write_shards(count)
            random.Random(SEED + count).shuffle(files)
            result = self.merge("--json", *files)
            whole = whole or result.out
            self.assertEqual(result.out, whole, f"{count} shards, seed {SEED}")

    def test_a_batch_that_was_not_sharded(self):
        self.write("all.jsonl", text_of(self.batch.state()))
        self.write_shards(1)
        self.assertEqual(self.merge("--json", "all.jsonl").out, self.merge("--json", "1.jsonl").out)

    def test_the_merged_report_equals_one_run(self):
        self.batch.cases[3] = case("c3", "failed", kept="batch-failed/c3/job.json",
                                   again="mlictl run batch-failed/c3/job.json")
        files = self.write_shards(2)
        begin, *cases, end = self.merge("--json", *files, code=1).json
        self.assertEqual(begin, self.batch.begin())
        self.assertEqual(end, self.batch.end())
        self.assertEqual([c["name"] for c in cases], sorted(c["name"] for c in self.batch.cases))
        result = self.merge(*files, code=1)
        self.assertEqual(result.out,
                         "FAILED cases/c3.json: expect: 2 of 24 elements differ\n"
                         "       rerun: mlictl run batch-failed/c3/job.json\n"
                         "24 cases: 23 passed, 1 failed; 2.00 s, 12 cases/s\n")

    def test_the_time_is_that_of_the_slowest_shard(self):
        for i, ns in ((1, 10**9), (2, 7 * 10**9)):
            lines = self.batch.state(i, 2)
            self.write(f"{i}.jsonl", text_of(lines[:-1] + [self.batch.end(i, 2, ns=ns)]))
        self.assertEqual(self.merge("--json", "1.jsonl", "2.jsonl").json[-1]["ns"], 7 * 10**9)

    def test_runs_of_a_shard_add_up(self):
        lines = self.batch.state(1, 2)
        again = [self.batch.begin(1, 2, resumed=2), *lines[3:-1], self.batch.end(1, 2, ns=5 * 10**9)]
        self.write("1.jsonl", text_of(lines[:3] + [self.batch.end(1, 2)] + again))
        self.write("2.jsonl", text_of(self.batch.state(2, 2)))
        self.assertEqual(self.merge("--json", "1.jsonl", "2.jsonl").json[-1]["ns"], 7 * 10**9)

    def test_the_last_line_of_a_case_is_valid(self):
        lines = self.batch.state()
        self.write("a.jsonl", text_of(lines[:1] + [case("c0", "failed")] + lines[1:]))
        self.merge("a.jsonl", code=0)
        self.write("a.jsonl", text_of(lines[:-1] + [case("c0", "failed"), lines[-1]]))
        self.merge("a.jsonl", code=1)

    def test_without_an_end(self):
        """The shard was killed after its last case: only the total time is missing."""
        self.write("a.jsonl", text_of(self.batch.state()[:-1]))
        self.assertEqual(self.merge("a.jsonl").out, "24 cases: 24 passed\n")

    def test_empty_shards(self):
        batch = Batch([case("only")])
        files = self.write_shards(4, batch)
        self.assertEqual(self.merge(*files).out, "1 case: 1 passed; 2.00 s, 0.50 cases/s\n")

    # Incomplete or contradicting sets.

    def test_missing(self):
        files = self.write_shards(8)
        left = [f for f in files if f[0] in "135"]
        cases = [c for c in self.batch.cases if shard_of(c["name"], 8) in (1, 3, 5)]
        own = "with its own --resume"
        self.assert_complaints(left, f"shard 2/8 is missing; run it {own}",
                         f"shard 4/8 is missing; run it {own}",
                         f"shards 6 to 8 of 8 are missing; run each {own}",
                         report=f"{len(cases)} cases: {len(cases)} passed; {24 - len(cases)} not "
                                f"run; 2.00 s, {len(cases) / 2:.{0 if len(cases) > 19 else 2}f} "
                                "cases/s\n")
        self.assertIn("Bail out! ", self.merge("--tap", *left, code=1).out)
        self.merge("--junit", "report.xml", *left, code=1)
        root = ElementTree.parse(self.path("report.xml")).getroot()
        self.assertEqual([(c.get("name"), c.find("error").get("message"))
                          for c in root.iter("testcase") if c.find("error") is not None],
                         [("shard 2 of 8", f"shard 2/8 is missing; run it {own}"),
                          ("shard 4 of 8", f"shard 4/8 is missing; run it {own}"),
                          ("shards 6 to 8 of 8",
                           f"shards 6 to 8 of 8 are missing; run each {own}")])
        self.assertEqual((root.get("tests"), root.get("errors")), (str(len(cases) + 3), "3"))

    def test_missing_of_very_many(self):
        begin = dict(self.batch.begin(), cases=0, shard="4294967295/4294967295")
        self.write("a.jsonl", text_of([begin]))
        self.assert_complaints(["a.jsonl"], "shards 1 to 4294967294 of 4294967295 are missing; "
                         "run each with its own --resume",
                         report="0 cases; 24 not run\n")

    def test_twice(self):
        files = self.write_shards(2)
        self.write("copy.jsonl", text_of(self.batch.state(2, 2)))
        self.assert_complaints([*files, "copy.jsonl"],
                               "copy.jsonl: shard 2/2 was given twice; the other file is 2.jsonl")
        self.assert_complaints(["1.jsonl", "1.jsonl"],
                               "1.jsonl: shard 1/2 was given twice; the other file is 1.jsonl")

    def test_not_finished(self):
        self.write_shards(2)
        lines = self.batch.state(2, 2)
        count = len(lines) - 2
        self.write("2.jsonl", text_of(lines[:-3]))
        self.assert_complaints(["1.jsonl", "2.jsonl"],
                         f"2.jsonl: shard 2/2: 2 of {count} cases have not run; run it again with "
                         "the same --resume",
                         report="22 cases: 22 passed; 2 not run; 2.00 s, 11 cases/s\n")

    def test_a_truncated_line(self):
        """The state file ends with an incomplete line, as that of a shard that still runs."""
        self.write_shards(2)
        text = text_of(self.batch.state(2, 2)[:-1])
        self.write("2.jsonl", text[:-10])
        result = self.merge("1.jsonl", "2.jsonl", code=1)
        self.assertIn("2.jsonl: shard 2/2: 1 of ", result.err)
        self.assertIn("; 1 not run;", result.out)

    def test_never_begun(self):
        self.write_shards(2)
        self.write("2.jsonl", "")
        self.assert_complaints(["1.jsonl", "2.jsonl"], "2.jsonl: the file has no complete \"begin\" line")

    def test_other_cases(self):
        self.write_shards(2)
        self.write_shards(2, Batch([case(f"d{i}") for i in range(24)]), "d")
        self.write_shards(2, Batch([case(f"c{i}") for i in range(25)]), "e")
        self.assert_complaints(["1.jsonl", "d2.jsonl", "e2.jsonl"],
                         "d2.jsonl: it has other cases than 1.jsonl: the names differ",
                         "e2.jsonl: it has other cases than 1.jsonl: 25 cases here, 24 there")

    def test_another_number_of_shards(self):
        self.write_shards(2)
        self.write_shards(3, prefix="t")
        self.write("all.jsonl", text_of(self.batch.state()))
        self.assert_complaints(["1.jsonl", "t2.jsonl", "all.jsonl"],
                         "t2.jsonl: it is shard 2/3, but 1.jsonl is shard 1/2",
                         "all.jsonl: it is shard 1/1, but 1.jsonl is shard 1/2")

    def test_cases_of_earlier_runs(self):
        """merge does not require cases that were removed after the run, but requires cases that were added."""
        old = Batch([case("old", "failed"), *self.batch.cases[:-1]])
        lines = old.state()
        self.write("a.jsonl", text_of(lines + [self.batch.begin(resumed=23)] +
                                      self.batch.cases[:-1]))
        self.assert_complaints(["a.jsonl"], "a.jsonl: shard 1/1: 1 of 24 cases have not run; run it again "
                                      "with the same --resume",
                         report="23 cases: 23 passed; 1 not run\n")
        self.write("a.jsonl", text_of(lines + [self.batch.begin(resumed=23)] + self.batch.cases))
        self.merge("a.jsonl")

    def test_edited_files(self):
        """Files that were changed with an editor are refused."""
        lines = self.batch.state()
        self.write("a.jsonl", text_of(lines[:1] + [case("x")] + lines[2:]))
        self.assert_complaints(["a.jsonl"],
                         "the state files have other cases than the batch; at least one of them was edited")
        self.write("a.jsonl", text_of(lines[:1] + [case("x")] + lines[1:]))
        self.assert_complaints(["a.jsonl"],
                         "the state files have other cases than the batch; at least one of them was edited")
        self.write_shards(2)
        one, two = self.batch.state(1, 2), self.batch.state(2, 2)
        self.write("2.jsonl", text_of(two[:1] + [one[1]] + two[2:]))
        self.assert_complaints(["1.jsonl", "2.jsonl"],
                         f"case {one[1]['name']} is in two state files; at least one of them was edited")

    # Files that cannot be read.

    def test_no_state_file(self):
        self.write("job.json", {"op": "mov"})
        self.write("line.jsonl", text_of(self.batch.state()[:2]) + "{}\n")
        self.write("long.jsonl", b"x" * (2 << 20))
        os.mkfifo(self.path("fifo"))
        for files, complaint in (
                ("none", "none: cannot be opened: No such file or directory"),
                (".", ".: not a regular file"),
                ("fifo", "fifo: not a regular file"),
                ("/dev/zero", "/dev/zero: not a regular file"),
                ("long.jsonl", "long.jsonl:1:1: the line is too long; the file is not a state file, or was edited"),
                ("line.jsonl", "line.jsonl:3:1: event: missing, a string is required; "
                               "the file is not a state file, or was edited")):
            code = 1 if files == "long.jsonl" else 2
            self.assert_complaints([files], complaint, code=code)
        self.assert_complaints(["job.json"], "job.json: the file has no complete \"begin\" line")  # no newline
        self.write("job.json", json.dumps({"op": "mov"}) + "\n")
        self.assert_complaints(["job.json"],
                         "job.json:1:1: event: missing, a string is required; "
                         "the file is not a state file, or was edited", code=2)

    def test_usage(self):
        result = self.merge(code=2)
        self.assertIn("usage: mlictl batch merge", result.err)
        self.write("a.jsonl", text_of(self.batch.state()))
        result = self.merge("a.jsonl", "--jobs", "3", code=2)
        self.assertEqual(result.err, "mlictl: --jobs cannot be combined with batch merge; its options are "
                                     "--tap, --junit, --html, --flaky, --verbose, --json, "
                                     "--quiet and --help\n")

    def test_random_damage(self):
        """merge exits with a documented code, whatever the file contains."""
        rng = random.Random(SEED)
        text = bytearray(text_of(self.batch.state()).encode())
        for _ in range(60):
            damaged = bytearray(text)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(damaged))
                damaged[at:at + rng.randrange(3)] = rng.randbytes(rng.randrange(3))
            self.write("a.jsonl", bytes(damaged))
            result = self.merge("a.jsonl", "--json", code=None)
            self.assertIn(result.code, (0, 1, 2), f"seed {SEED}\n{result}")


class Shards(Case):
    """Runs real shards: merge must report the same as one run of all cases."""

    def setUp(self):
        super().setUp()
        print("seed", SEED)
        rng = random.Random(SEED)
        self.write_npy("in.npy")
        self.write_npy("golden.npy", data=bytes(24))
        self.names = set()
        for i in range(150):
            name = "/".join(rng.choice("abcdé ä#x") * rng.randrange(1, 4)
                            for _ in range(rng.randrange(3))) + f"/t{i}"
            name = name.lstrip("/")
            job = mov(self.path("in.npy"), name=f"n{i}")
            if rng.random() < 0.1:
                job["expect"] = {"file": self.path("golden.npy")}
            self.write(f"cases/{name}.json", job)
            self.names.add(name)

    def listed(self, *options):
        return self.ctl("batch", "cases", "--list", *options, code=0).out.split("\n")[:-1]

    def test_each_case_is_in_one_shard(self):
        self.assertEqual(set(self.listed()), self.names)
        for count in range(1, 17) if PERCENT == 100 else (1, 2, 7):
            together = []
            for index in range(1, count + 1):
                names = self.listed("--shard", f"{index}/{count}")
                self.assertEqual(sorted(names), sorted(n for n in self.names
                                                       if shard_of(n, count) == index))
                together += names
            self.assertEqual(sorted(together), sorted(self.names))

    def outcome(self, result):
        events = result.json
        stable = [{k: v for k, v in e.items() if k != "ns"} for e in events]
        return stable[0], sorted(stable[1:-1], key=lambda e: e["name"]), stable[-1]

    def test_shards_together_are_one_run(self):
        whole = self.outcome(self.ctl("batch", "cases", "--keep", "none", "--json", code=1))
        for count in (1, 3, 7):
            files = [f"{count}-{i}.jsonl" for i in range(1, count + 1)]
            for i, path in enumerate(files, 1):
                self.ctl("batch", "cases", "--keep", "none", "--shard", f"{i}/{count}", "--resume",
                         path, "-q")
            self.assertEqual(self.outcome(self.merge("--json", *files)), whole)

    def merge(self, *arguments):
        return self.ctl("batch", "merge", *arguments, code=1)

    def test_an_interrupted_shard(self):
        for i in (1, 2):
            self.ctl("batch", "cases", "--keep", "none", "--shard", f"{i}/2", "--resume",
                     f"{i}.jsonl", "-q")
        whole = self.outcome(self.merge("--json", "1.jsonl", "2.jsonl"))
        os.unlink(self.path("2.jsonl"))
        words = ("batch", "cases", "--keep", "none", "--shard", "2/2", "--resume", "2.jsonl", "-q",
                 "-j", "1")
        slow = self.start(*words, "-e", "fault:threads,tiny=0,delay_us=20000")
        self.assertTrue(wait_for(lambda: self.exists("2.jsonl") and
                                 self.read("2.jsonl").count(b"\n") > 5))
        slow.send_signal(signal.SIGINT)
        self.finish(slow, code=4)
        result = self.merge("--json", "1.jsonl", "2.jsonl")
        left = result.json[-1]["not_run"]
        self.assertGreater(left, 0)
        self.assertRegex(result.err, rf"2.jsonl: shard 2/2: {left} of \d+ cases have not run")
        self.ctl(*words, code=1)
        self.assertEqual(self.outcome(self.merge("--json", "1.jsonl", "2.jsonl")), whole)


if __name__ == "__main__":
    main()
