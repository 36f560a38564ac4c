#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl batch: which files are cases, their names, and their results."""
import json
import os
import random
import shutil
from xml.etree import ElementTree

from batch_scene import MOVED, MOVED_SHAPE, PERM, SOURCE, BatchCase, at_root
from harness import main, mov, npy

SEED = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 30)))


class Cases(BatchCase):
    def test_a_directory(self):
        for name in ("b", "a/z", "a/y", "a.b"):
            self.add(name)
        self.write("cases/data.json", {"scale": 1})
        self.write("cases/list.json", [1, {"x": 2}])
        self.write("cases/number.json", 7)
        self.write("cases/.hidden.json", self.job())
        self.write("cases/.git/x.json", self.job())
        self.write("cases/readme.txt", "no case")
        self.write("cases/array.json", [self.job(up="../")])
        self.write("cases/jobs.json", {"jobs": [self.job(up="../")]})
        wanted = ["a.b", "a/y", "a/z", "array", "b", "jobs"]
        self.assertEqual(self.names("cases"), wanted)
        self.assertEqual(self.names("cases//"), wanted)
        self.assertEqual(self.names("./cases"), wanted)
        begin, cases, end = self.events_by_case("cases", code=0)
        self.assertEqual((begin["cases"], begin["total"]), (6, 6))
        self.assertEqual(sorted(cases), wanted)
        self.assertEqual(self.counts(end), {"passed": 6})
        self.assertEqual(cases["a/y"]["file"], "cases/a/y.json")

    def test_arguments_and_manifests(self):
        self.add("one")
        self.add("deep/two")
        self.assertEqual(self.names("./cases/one.json"), ["cases/one"])
        self.write("cases/list", "# all of them\n\n  one.json  # the first\r\n./deep/two.json\n")
        self.assertEqual(self.names("cases/list"), ["deep/two", "one"])
        self.assertEqual(self.events_by_case("cases/list", code=0)[1]["one"]["file"], "cases/one.json")
        self.assertEqual(self.names("-", stdin="cases/one.json\ncases/deep\n"),
                         ["cases/one", "two"])
        self.write("other", f"{self.path('cases/one.json')}\n")
        self.assertEqual(self.names("other"), [self.path("cases/one")])
        self.events_by_case("other", code=0)
        self.write("hash", "cases/one#1.json\n")
        self.write("cases/one#1.json", self.job(up="../"))
        self.events_by_case("hash", code=0)

    def test_a_manifest_may_name_missing_files(self):
        self.add("one")
        self.write("list", "cases/one.json\ncases/none.json\n")
        _, cases, end = self.events_by_case("list", code=1)
        self.assertEqual(self.counts(end), {"passed": 1, "error": 1})
        self.assertEqual(cases["cases/none"]["reason"], "unreadable")

    def test_wrong_usage(self):
        self.add("one")
        self.write("twice", "cases/one.json\n./cases/one.json\n")
        self.write("binary", b"cases/one.json\n\0\n")
        self.write("empty", "\n")
        (self.dir / "nothing").mkdir()
        for arguments, word in (
                (["none"], "No such file"), ([], "usage"), (["twice"], "two cases have the name"),
                (["binary"], "binary:2"), (["empty"], "no cases"), (["nothing"], "no cases"),
                (["cases", "--filter", "x*"], "selects none of 1"),
                (["cases", "--filter", ""], "pattern"), (["cases", "-j", "0"], "--jobs"),
                (["cases", "--resume", "s", "--junit", "./s"], "cannot be the same file: s"),
                (["cases", "--rerun"], "--resume"), (["cases", "--shard", "3/2"], "--shard"),
                (["cases", "--update-golden", "--retries", "1"], "--update-golden"),
                (["cases", "-s", "x.sock", "-c", "2"], "--channels"),
                (["cases", "--engine", "none"], "none"), (["cases", "--flaky", "x"], "--flaky"),
                (["cases", "cases"], "case one is given twice: cases/one.json")):
            with self.subTest(arguments):
                result = self.batch(*arguments, code=2)
                self.assertIn(word, result.err)
                self.assertEqual(result.out, "")

    def test_links(self):
        self.add("a/one")
        os.symlink("..", self.path("cases/a/up"))
        os.symlink("a", self.path("cases/same"))
        os.symlink(self.path("cases"), self.path("cases/a/self"))
        os.symlink("one.json", self.path("cases/a/two.json"))
        os.symlink("nowhere", self.path("cases/a/broken.json"))
        os.symlink("loop.json", self.path("cases/a/loop.json"))
        self.assertEqual(self.names("cases"), ["a/broken", "a/loop", "a/one", "a/two"])
        _, cases, end = self.events_by_case("cases", code=1)
        self.assertEqual(self.counts(end), {"passed": 2, "error": 2})
        self.assertIn("symbolic links", cases["a/loop"]["message"])

    def test_filters(self):
        for name in ("conv/a", "conv/b", "conv/deep/a", "pool/a"):
            self.add(name)
        for globs, wanted in (
                (["conv/*"], ["conv/a", "conv/b", "conv/deep/a"]),
                (["*/a"], ["conv/a", "conv/deep/a", "pool/a"]),
                (["*a", "!*deep*"], ["conv/a", "pool/a"]),
                (["!conv*"], ["pool/a"]), (["pool/?", "conv/[b-z]"], ["conv/b", "pool/a"]),
                (["conv/a"], ["conv/a"])):
            options = [word for glob in globs for word in ("--filter", glob)]
            self.assertEqual(self.names("cases", *options), wanted, globs)
        result = self.batch("cases", "--list", "--json", "--filter=pool*", code=0)
        self.assertEqual(result.json, [{"name": "pool/a", "file": "cases/pool/a.json"}])

    def test_shards_are_a_partition(self):
        for i in range(40):
            self.add(f"c{i}")
        shards = [self.names("cases", "--shard", f"{i}/3") for i in (1, 2, 3)]
        self.assertEqual(sorted(sum(shards, [])), self.names("cases"))
        self.assertTrue(all(len(shard) > 4 for shard in shards))
        begin, cases, _ = self.events_by_case("cases", "--shard", "2/3", code=0)
        self.assertEqual(sorted(cases), shards[1])
        self.assertEqual((begin["shard"], begin["total"]), ("2/3", 40))
        empty = self.events_by_case("cases/c1.json", "--shard", "1/1000", code=0)
        self.assertEqual((empty[0]["cases"], self.counts(empty[2])), (0, {}))

    def test_kept_failures_are_not_run_as_cases(self):
        self.add("x", "bad.npy")
        self.add("y")
        self.batch("cases", "--keep", "cases/failed", code=1)
        self.assertTrue(self.exists("cases/failed/x/job.json"))
        self.assertEqual(self.names("cases", "--keep", "cases/failed"), ["x", "y"])


class NoExpectation(BatchCase):
    """A case that compares nothing does not pass, and --require-expect makes it a failure."""

    def setUp(self):
        super().setUp()
        self.add("bare", None)
        self.write("cases/last.json", [self.job(None, "../"), dict(self.job(up="../"), dst={"file": "other.npy"})])

    def test_lines(self):
        self.assertRegex(self.batch("cases/bare.json", code=0).out, "^1 case: 1 ran, compares nothing; ")
        self.add("bare2", None)
        out = self.batch("cases", "-v", code=0).out
        self.assertRegex(out, r"(?m)^ran cases/bare.json, .*, compares nothing$")
        self.assertRegex(out, r"(?m)^passed cases/last.json, .* [mu]s$")
        self.assertIn("3 cases: 1 passed, 2 ran, compare nothing; ", out)

    def test_reports(self):
        _, cases, end = self.events_by_case("cases", code=0)
        self.assertEqual({name: case["status"] for name, case in cases.items()}, {"bare": "ran", "last": "passed"})
        self.assertEqual(self.counts(end), {"passed": 1, "ran": 1})
        tap = self.batch("cases", "-j1", "--tap", code=0).out
        self.assertEqual(tap, "TAP version 13\n1..2\nok 1 - bare # no expectation\nok 2 - last\n")
        self.batch("cases", "--junit", "report.xml", "--html", "page", code=0)
        found = {case.get("name"): [p.attrib for p in case.iter("property")]
                 for case in ElementTree.parse(self.path("report.xml")).iter("testcase")}
        self.assertEqual(found, {"bare": [{"name": "expectation", "value": "none"}], "last": []})
        page = self.read("page/index.html").decode()
        self.assertEqual(page.count("ran, compares nothing"), 2)  # in the totals, and in the table

    def test_require_expect(self):
        result = self.batch("cases", "--require-expect", code=1)
        self.assertIn('FAILED cases/bare.json: no job has "expect", which --require-expect requires\n', result.out)
        self.assertIn("2 cases: 1 passed, 1 failed; ", result.out)
        self.assertEqual(self.batch("cases/last.json", "--require-expect", code=0).err, "")

    def test_with_a_state_file(self):
        words = ("cases", "--resume", "s.jsonl")
        self.batch(*words, code=0)
        self.assertIn("1 passed, 1 ran, compares nothing; 2 reused", self.batch(*words, code=0).out)
        self.assertIn("1 passed, 1 ran, compares nothing", self.ctl("batch", "merge", "s.jsonl").out)
        self.assertIn("1 passed, 1 failed", self.batch(*words, "--require-expect", code=1).out)


class Verdicts(BatchCase):
    def test_verdicts_and_reasons(self):
        self.add("good")
        self.add("no_expectation", None)
        self.add("mismatch", "bad.npy")
        self.add("refused", timeout_ms=0, offset=[9, 0, 0])
        self.write("cases/as_expected.json",
                   dict(self.job(None, "../", offset=[9, 0, 0]),
                        expect={"error": "MLI_STATUS_BAD_FUNC_CFG", "pointer": "/cfg/offset/0"}))
        self.write("cases/not_refused.json",
                   dict(self.job(None, "../"), expect={"error": "REFUSED"}))
        self.write("cases/other_error.json",
                   dict(self.job(None, "../", offset=[9, 0, 0]), expect={"error": "LIMIT"}))
        self.write("cases/digest.json",
                   dict(self.job(None, "../"), expect={"digest": "sha256:" + 64 * "0"}))
        self.add("no_golden", "none.npy")
        self.write("cases/no_source.json", mov("none.npy"))
        self.write("cases/no_directory.json", mov("../in.npy", "none/out.npy"))
        self.write("cases/syntax.json", "{\n  \"op\": mov }")
        self.write("cases/key.json", dict(self.job(up="../"), speed=1))
        _, cases, end = self.events_by_case("cases", code=1)
        got = {name: (case["status"], case.get("reason")) for name, case in cases.items()}
        self.assertEqual(got, {
            "good": ("passed", None), "no_expectation": ("ran", None),
            "as_expected": ("passed", None), "mismatch": ("failed", "mismatch"),
            "digest": ("failed", "mismatch"), "refused": ("failed", "refused"),
            "other_error": ("failed", "refused"), "not_refused": ("failed", "not refused"),
            "no_golden": ("error", "unreadable"), "no_source": ("error", "unreadable"),
            "no_directory": ("error", "unreadable"), "syntax": ("error", "unreadable"),
            "key": ("error", "unreadable")})
        self.assertEqual(self.counts(end), {"passed": 2, "ran": 1, "failed": 5, "error": 5})
        mismatch = cases["mismatch"]
        self.assertEqual(mismatch["message"], "1 of 24 elements differ, the first at [0, 1, 2]: "
                                              f"got {MOVED[5]}, expected 99 in bad.npy; "
                                              "the result is batch-failed/mismatch/given.npy")
        self.assertEqual(mismatch["pointer"], "/expect")
        self.assertEqual(mismatch["difference"]["at"], [0, 1, 2])
        self.assertEqual(cases["refused"]["pointer"], "/cfg/offset/0")
        self.assertEqual((cases["syntax"]["line"], cases["syntax"]["column"]), (2, 9))
        self.assertFalse([name for name, case in cases.items() if "line" in case and name != "syntax"])
        self.assertEqual(cases["good"]["bytes"], 24)
        self.assertNotIn("message", cases["good"])

    def test_positions(self):
        """All reports name the place of a syntax error as FILE:LINE:COLUMN, as run does."""
        self.write("cases/syntax.json", "{\n  \"op\": mov }")
        place = "cases/syntax.json:2:9: "
        message = self.ctl("run", "cases/syntax.json", code=2).err.removeprefix("mlictl: " + place)
        result = self.batch("cases", "--resume", "s.jsonl", "--junit", "r.xml", "--html", "page", code=1)
        self.assertTrue(result.out.startswith(f"ERROR  {place}{message}1 case: 1 error; "), result.out)
        self.assertEqual(ElementTree.fromstring(self.read("r.xml")).find(".//error").text, place + message.strip())
        self.assertIn("cases/syntax.json:2:9</li>", self.read("page/index.html").decode())
        self.assertIn(f'message: "{place}', self.batch("cases", "--tap", code=1).out)
        merged = self.batch("merge", "s.jsonl", "--json", code=1).json[1]
        self.assertEqual((merged["line"], merged["column"], "op: " + merged["message"] + "\n"), (2, 9, message))

    def test_a_hostile_file_does_not_stop_the_batch(self):
        self.add("good")
        self.write("cases/empty.json", b"")
        self.write("cases/zeros.json", bytes(4096))
        self.write("cases/latin.json", b'{"op": "m\xf6v"}')
        self.write("cases/deep.json", b"[" * 100000)
        self.write("cases/huge.json", b'{"op": "' + b"x" * (1 << 20) + b'"}')
        os.mkfifo(self.path("cases/fifo.json"))
        os.symlink("/dev/zero", self.path("cases/device.json"))
        self.write("cases/self.json", mov("self.json", "self.json"))
        self.write("cases/fifo_source.json", mov("fifo.json"))
        self.write("cases/wide.json", self.job(None, "../", channels=17))
        bad = ["deep", "device", "empty", "fifo", "fifo_source", "huge", "latin", "self", "wide",
               "zeros"]
        if not at_root():
            os.chmod(self.add("locked"), 0)
            (self.dir / "cases/shut").mkdir(mode=0)
            self.addCleanup(os.chmod, self.path("cases/shut"), 0o700)
            bad += ["locked", "shut"]
        _, cases, end = self.events_by_case("cases", code=1)
        self.assertEqual(sorted(cases), sorted(bad + ["good"]))
        self.assertEqual(cases["good"]["status"], "passed")
        self.assertEqual({cases[name]["status"] for name in bad}, {"error"}, cases)

    def test_random_damage_does_not_stop_the_batch(self):
        generator = random.Random(SEED)
        whole = [json.dumps(job).encode() for job in (
            self.job(up="../"), [self.job(None, "../", timeout_ms=1000, name="a"),
                                 mov("out.npy", {"file": "b.npy", "params": "p.json"},
                                     after=["a"], expect={"file": "../good.npy"})],
            {"defaults": {"src": {"file": "../in.npy", "type": "sa8", "scale": 3,
                                  "zero_point": 1, "scale_frac_bits": 2}},
             "jobs": [{"op": "mov", "dst": {"file": "x.raw"}, "expect": {"error": "REFUSED"}}]})]
        for i in range(300):
            text = bytearray(generator.choice(whole))
            for _ in range(generator.randrange(1, 4)):
                at = generator.randrange(len(text))
                kind = generator.randrange(4)
                if kind == 0:
                    text[at] = generator.randrange(256)
                elif kind == 1:
                    del text[at:at + generator.randrange(1, 9)]
                elif kind == 2:
                    text[at:at] = generator.choice((b"9" * 20, b"-", b'"', b"..", b"/", b"null"))
                else:
                    text[at:at] = text[at // 2:at]
                text = text or bytearray(b"{")
            self.write(f"cases/c{i}.json", bytes(text))
        before = self.listing()
        _, cases, end = self.events_by_case("cases", "--timeout", "20s", "--keep", "none", "--retries", "1")
        self.assertEqual(sum(self.counts(end).values()), len(cases), f"seed {SEED}")
        self.assertGreater(len(cases), 200)
        self.assertEqual(self.listing(), before)
        self.events_by_case("cases", "--keep", "kept", code=end["exit"])

    def test_an_unreadable_file_is_a_case(self):
        if not at_root():
            self.skipTest("only root can be somebody else")
        self.add("good")
        os.chmod(self.add("locked"), 0)
        (self.dir / "cases/shut").mkdir(mode=0)
        self.add("names/only/a")
        (self.dir / "cases/names").chmod(0o444)
        self.dir.chmod(0o777)
        result = self.as_nobody("batch", "cases", "--json", "--keep", "none")
        cases = {e["name"]: e for e in result.json if e["event"] == "case"}
        self.assertEqual(result.code, 1, str(result))
        self.assertEqual({n: c["status"] for n, c in cases.items()},
                         {"good": "passed", "locked": "error", "shut": "error",
                          "names/only": "error"})
        self.assertEqual(cases["shut"]["file"], "cases/shut")

    def test_too_deep_directories_are_reported(self):
        """A directory whose path is too long is reported, not skipped silently."""
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(self.dir)
            for name in ["cases"] + ["d" * 250] * 20:
                os.mkdir(name)
                os.chdir(name)
        finally:
            os.fchdir(here)
            os.close(here)
        _, cases, end = self.events_by_case("cases", "--keep", "none", code=1)
        shutil.rmtree(self.path("cases"))  # by descriptors: nobody else gets there
        self.assertEqual((self.counts(end), len(cases)), ({"error": 1}, 1))
        self.assertIn("too long", next(iter(cases.values()))["message"])

    def test_names_of_any_bytes(self):
        directory = os.fsencode(self.path("cases"))
        os.mkdir(directory)
        for name in (b"sp ace", b"new\nline", b"uml\xe4ut", b"\xf0\x9f\x98\x80", b"-q", b"%2e"):
            with open(directory + b"/" + name + b".json", "w", encoding="utf-8") as file:
                json.dump(self.job(up="../"), file)
        begin, _, end = self.events_by_case("cases", code=0)
        self.assertEqual((begin["cases"], self.counts(end)), (6, {"passed": 6}))


class Chains(BatchCase):
    """The outputs of a case stay in memory, where later jobs of the same case read them."""

    def chain(self, *jobs):
        return self.write("cases/chain.json", list(jobs))

    def test_no_files_are_written_beside_the_cases(self):
        self.chain(mov("../in.npy", "a.npy", perm_dim=PERM, name="a"),
                   mov("./a.npy", {"file": "../cases/b.npy", "params": "b.json"},
                       expect={"file": "../good.npy"}),
                   mov({"file": "b.json", "format": "raw", "type": "fx8", "shape": [2]}, "c.npy"),
                   mov("b.npy", {"file": "a.npy", "update": True}, expect={"file": "b.npy"}),
                   mov("a.npy", "d.npy", expect={"file": "a.npy"}))
        before = self.listing()
        self.events_by_case("cases", code=0)
        self.assertEqual(self.listing(), before)

    def test_links_lead_to_the_same_output(self):
        os.mkdir(self.path("cases"))
        os.symlink(".", self.path("cases/here"))
        self.chain(mov("../in.npy", "a.npy", perm_dim=PERM),
                   mov("here/a.npy", "b.npy", expect={"file": "../good.npy"}))
        self.events_by_case("cases", code=0)

    def test_updates_leave_the_existing_file_unchanged(self):
        self.write("cases/big.npy", npy("|i1", (4, 4, 3), bytes(48)))
        want = b"".join(bytes(6) + MOVED[i * 6:i * 6 + 6] for i in range(4))
        self.write("want.npy", npy("|i1", (4, 4, 3), want))
        self.chain(mov("../in.npy", {"file": "big.npy", "update": True}, perm_dim=PERM,
                       dst_offset=[0, 2, 0]),
                   mov("big.npy", "copy.npy", expect={"file": "../want.npy"}))
        before = self.listing()
        self.events_by_case("cases", code=0)
        self.assertEqual(self.listing(), before)

    def test_holes_take_no_memory(self):
        """A case updates a sparse file that is larger than the memory but holds little data."""
        size = 1 << 40
        with open(self.path("sparse.raw"), "wb") as file:
            for at in (100, size // 2, size - 1):
                file.seek(at)
                file.write(b"\x07")
        job = mov("in.npy", {"file": "sparse.raw", "update": True, "offset": size - 30},
                  perm_dim=PERM)
        later = dict(mov({"file": "sparse.raw", "type": "fx8", "shape": [30], "offset": size - 30},
                         "end.raw"), expect={"file": "end"})
        self.write("end", MOVED + bytes(5) + b"\x07")
        self.write("a.json", [job, later])
        self.assertEqual(self.events_by_case("a.json", code=0)[2]["passed"], 1)
        self.write("b.json", dict(job, expect={"file": "end"}))
        _, cases, _ = self.events_by_case("b.json", code=1)
        self.assertIn("sizes differ", cases["b"]["message"])
        kept = os.stat(self.path("batch-failed/b/given.raw"))
        self.assertEqual(kept.st_size, size)
        self.assertLess(kept.st_blocks, 10000)
        with open(self.path("sparse.raw"), "rb") as file:
            file.seek(size - 30)
            self.assertEqual(file.read(), bytes(29) + b"\x07")

    def test_an_output_hides_the_existing_file(self):
        self.write("cases/a.npy", npy("|i1", MOVED_SHAPE, bytes(24)))
        self.chain(mov("../in.npy", "a.npy", perm_dim=PERM),
                   mov("a.npy", "b.npy", expect={"file": "../good.npy"}))
        self.events_by_case("cases", code=0)
        self.chain(mov("a.npy", "b.npy", expect={"file": "../good.npy"}))
        self.events_by_case("cases", code=1)

    def test_order_of_jobs_and_first_failure(self):
        self.chain(mov("b.npy", "c.npy", after=["b"], expect={"file": "../bad.npy"}),
                   mov("../in.npy", "b.npy", perm_dim=PERM, name="b"),
                   mov("none.npy", "d.npy"))
        _, cases, _ = self.events_by_case("cases", code=1)
        self.assertEqual(cases["chain"]["pointer"], "/0/expect")
        self.assertEqual(cases["chain"]["bytes"], 48)

    def test_cases_are_independent(self):
        self.write("cases/a.json", mov("../in.npy", "x.npy"))
        self.write("cases/b.json", mov("x.npy", "y.npy"))
        for _ in range(5):
            _, cases, _ = self.events_by_case("cases", "-j1", code=1)
            self.assertEqual(cases["b"]["reason"], "unreadable")

    def test_a_directory_that_cannot_be_written(self):
        if not at_root():
            self.skipTest("only root can be somebody else")
        self.chain(mov("../in.npy", "a.npy", perm_dim=PERM, expect={"file": "../good.npy"}))
        result = self.as_nobody("batch", "cases", "--keep", "none")
        self.assertEqual(result.code, 0, str(result))

    def test_many_outputs(self):
        jobs = [mov("../in.npy" if i == 0 else f"{i - 1}.npy", f"{i}.npy", name=f"j{i}")
                for i in range(3000)]
        self.chain(*jobs, mov("2999.npy", "last.npy", perm_dim=PERM,
                              expect={"file": "../good.npy"}))
        self.events_by_case("cases", code=0)

    def test_large_ones(self):
        size = 8 << 20
        self.write_npy("big.npy", "|u1", (size,), data=SOURCE * (size // 24) + SOURCE[:size % 24])
        self.chain(mov("../big.npy", "a.npy"), mov("a.npy", "b.npy", expect={"file": "../big.npy"}))
        _, cases, _ = self.events_by_case("cases", code=0)
        self.assertEqual(cases["chain"]["bytes"], 2 * size)


if __name__ == "__main__":
    main()
