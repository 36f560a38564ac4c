#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl batch: attempts, interruptions, state files, daemons that stop, and the rate of cases."""
import fcntl
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import time

from batch_scene import BatchCase
from harness import MLICTL, main, mov, npy, open_files, scaled, wait_for
from suspend import suspend
from test_remote import STAND_IN

SEED = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 30)))


ENGINE_CHANGED = "the engine, its channels, the target profile, $MLI_CPU_MASK, $MLI_STREAM_MIN or the daemon changed"


class Attempts(BatchCase):
    """The fault engine counts work items. With one worker, each job is one work item."""

    def engine(self, faults):
        return ("-j1", "-c1", "-e", f"fault:threads,tiny=0,{faults}")

    def test_flaky(self):
        for name in "abc":
            self.add(name)
        corrupt = self.engine("corrupt=2")
        _, cases, end = self.events_by_case("cases", *corrupt, code=1)
        self.assertEqual(self.counts(end), {"passed": 2, "failed": 1})
        _, cases, end = self.events_by_case("cases", "--retries", "1", *corrupt, code=0)
        self.assertEqual(self.counts(end), {"passed": 2, "flaky": 1})
        self.assertEqual((cases["b"]["attempts"], cases["b"]["reason"]), (2, "mismatch"))
        self.assertIn("differ", cases["b"]["message"])
        self.assertNotIn("kept", cases["b"])
        self.events_by_case("cases", "--retries", "1", "--flaky", "fail", *corrupt, code=1)

    def test_retries_end(self):
        self.add("a")
        always = self.engine("corrupt_pct=100")
        _, cases, end = self.events_by_case("cases", "--retries", "3", *always, code=1)
        self.assertEqual((self.counts(end), cases["a"]["attempts"]), ({"failed": 1}, 4))

    def test_repeat(self):
        self.add("a")
        self.add("b")
        _, cases, _ = self.events_by_case("cases", "--repeat", "5", *self.engine("corrupt=99"), code=0)
        self.assertEqual({case["attempts"] for case in cases.values()}, {5})
        _, cases, end = self.events_by_case("cases", "--repeat", "5", *self.engine("corrupt=3"), code=1)
        self.assertEqual((cases["a"]["attempts"], cases["a"]["status"]), (3, "failed"))
        self.assertEqual(cases["b"]["attempts"], 5)
        _, cases, _ = self.events_by_case("cases", "--repeat", "5", "--retries", "1",
                                *self.engine("corrupt=3"), code=0)
        self.assertEqual((cases["a"]["attempts"], cases["a"]["status"]), (6, "flaky"))

    def test_fail_fast(self):
        for i in range(10):
            self.add(f"c{i}", "bad.npy" if i == 3 else "good.npy")
        _, cases, end = self.events_by_case("cases", "--fail-fast", "-j1", code=1)
        self.assertEqual(self.counts(end), {"passed": 3, "failed": 1, "not_run": 6})
        self.assertEqual(sorted(cases), ["c0", "c1", "c2", "c3"])

    def test_a_stuck_channel(self):
        for i in range(6):
            self.add(f"c{i}")
        _, cases, end = self.events_by_case("cases", "--timeout", "300ms", "-j1", "-c4", "-e",
                                  "fault:threads,tiny=0,stick=3", code=1)
        self.assertEqual(self.counts(end), {"passed": 5, "error": 1})
        self.assertEqual(cases["c2"]["reason"], "timeout")
        self.assertLess(cases["c2"]["ns"], 20e9)

    def test_engines_with_few_channels(self):
        self.add("a", channels=8)
        for engine in ("mock", "fault:mock,seed=1", "threads", "inline"):
            self.events_by_case("cases", "-e", engine, code=0)
        result = self.batch("cases", "-e", "mock", "-c9", code=2)
        self.assertIn("channels 0 to 8 given, but the engine has 0 to 7", result.err)

    def test_a_limit_of_the_job_may_be_expected(self):
        job = dict(self.job(None, "../"), timeout_ms=100, expect={"error": "TIMED_OUT"})
        self.write("cases/a.json", job)
        stick = ("-j1", "-c4", "-e", "fault:threads,tiny=0,stick=1")
        self.events_by_case("cases", *stick, code=0)
        self.write("cases/a.json", dict(job, timeout_ms=60000))
        _, cases, _ = self.events_by_case("cases", "--timeout", "200ms", *stick, code=1)
        self.assertEqual((cases["a"]["status"], cases["a"]["reason"]), ("error", "timeout"))

    def test_a_service_that_does_not_answer(self):
        self.add("a")
        self.add("b")
        self._daemon = self.start_daemon(self.root, "--engine",
                                         "fault:threads,tiny=0,delay_us=1000000")
        process = self.start("batch", "cases", "--json", "--timeout", "5s", "-j1", "--resume",
                             "s.jsonl", "-s", self.daemon.socket)
        self.assertTrue(wait_for(lambda: self.exists("s.jsonl") and
                                 b'"begin"' in self.read("s.jsonl")))
        suspend(self.daemon.pid)
        self.assertTrue(wait_for(lambda: b'"a"' in self.read("s.jsonl")))
        os.kill(self.daemon.pid, signal.SIGCONT)
        self.finish(process, code=1)
        records = self.records("s.jsonl")
        self.assertEqual((records["a"]["status"], records["a"]["reason"]), ("error", "timeout"))
        self.assertEqual(records["b"]["status"], "passed")


class Daemons(BatchCase):
    def test_on_a_daemon(self):
        for i in range(40):
            self.add(f"c{i}", "bad.npy" if i == 7 else "good.npy")
        _, _, end = self.events_by_case("cases", "-s", self.daemon.socket, "-j4", code=1)
        self.assertEqual(self.counts(end), {"passed": 39, "failed": 1})
        self.assertTrue(wait_for(self.daemon.idle))

    def test_the_environment_names_no_daemon(self):
        self.add("a")
        environment = dict(self.environment(), MLID_SOCKET="/none", MLID_HOST="ssh://none")
        self.environment = lambda: environment
        self.events_by_case("cases", code=0)

    def test_without_a_daemon(self):
        self.add("a")
        result = self.batch("cases", "-s", self.path("none.sock"), "--resume", "s.jsonl", code=3)
        self.assertIn("no daemon listens", result.err)

    def test_killed_in_the_middle(self):
        for i in range(300):
            self.add(f"c{i:03}")
        self.daemon_may_die = True
        arguments = ("batch", "cases", "-j2", "--json", "--resume", "s.jsonl", "-s")
        engine = "fault:threads,tiny=0,delay_us=20000"
        daemon = self._daemon = self.start_daemon(self.root, "--engine", engine)
        process = self.start(*arguments, daemon.socket)
        self.assertTrue(wait_for(lambda: self.exists("s.jsonl") and
                                 self.read("s.jsonl").count(b"\n") > 20))
        daemon.process.kill()
        daemon.process.wait()
        result = self.finish(process, code=3)
        self.assertIn("lost", result.err)
        end = result.json[-1]
        self.assertGreater(end["passed"], 10)
        self.assertEqual(end["passed"] + end["not_run"], 300)
        self.assertEqual(len(self.records("s.jsonl")), end["passed"])
        _, cases, end = self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertEqual((len(cases), end["passed"]), (300, 300))

    def test_over_ssh(self):
        stand_in = self.root / "ssh"
        stand_in.write_text(STAND_IN.replace("{before}", ""))
        stand_in.chmod(0o755)
        log = self.root / "ssh.log"
        environment = dict(self.environment(), MLI_SSH=str(stand_in), STAND_IN_LOG=str(log),
                           MLID_SOCKET=self.daemon.socket,
                           PATH=str(pathlib.Path(MLICTL).parent) + ":" + os.environ["PATH"])
        self.environment = lambda: environment
        for i in range(30):
            self.add(f"c{i}", "bad.npy" if i == 7 else "good.npy")
        for extra, connections in (((), 1), (("-j3",), 3)):
            log.write_text("")
            _, _, end = self.events_by_case("cases", "-H", "ssh://board", *extra, code=1)
            self.assertEqual(self.counts(end), {"passed": 29, "failed": 1})
            self.assertEqual(len(log.read_text().splitlines()), connections)
        self.assertTrue(wait_for(self.daemon.idle))

    def test_few_open_descriptors(self):
        for i in range(400):
            self.add(f"c{i}", "bad.npy" if i % 3 == 0 else "good.npy")
        counts = set()
        process = self.start("batch", "cases", "-j2", "--repeat", "20", "--retries", "5")
        while process.poll() is None:
            try:
                counts.add(len(open_files(process.pid)))
            except FileNotFoundError:
                break
            time.sleep(0.01)
        self.finish(process, code=1)
        self.assertLess(max(counts), 120)


class Resumed(BatchCase):
    def setUp(self):
        super().setUp()
        for i in range(12):
            self.add(f"c{i:02}", "bad.npy" if i in (3, 8) else "good.npy")

    def test_nothing_runs_twice(self):
        _, _, first = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        lines = self.read("s.jsonl").count(b"\n")
        begin, cases, end = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.assertEqual((begin["resumed"], len(cases)), (12, 12))
        self.assertEqual(self.counts(end), self.counts(first))
        self.assertEqual(self.read("s.jsonl").count(b"\n"), lines + 2)
        self.assertIn("differ", cases["c03"]["message"])

    def test_changed_and_repaired_cases(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        begin, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", "--rerun", code=1)
        self.assertEqual(begin["resumed"], 10)
        self.assertEqual({n: c["rerun"] for n, c in cases.items() if "rerun" in c},
                         {"c03": "the last result was not a pass", "c08": "the last result was not a pass"})
        self.write("bad.npy", self.read("good.npy"))
        begin, _, end = self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertEqual((begin["resumed"], self.counts(end)), (10, {"passed": 12}))
        self.add("c05", "bad.npy", priority=1)
        begin, _, end = self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertEqual((begin["resumed"], self.counts(end)), (11, {"passed": 12}))
        self.write("cases/c05.json", "{")
        for resumed in (11, 12):
            begin, _, end = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
            self.assertEqual((begin["resumed"], self.counts(end)),
                             (resumed, {"passed": 11, "error": 1}))

    def reruns(self, *options, code=None):
        """Returns the cases of a state file that must run again, and the reasons."""
        begin, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", *options, code=code)
        found = {name: case["rerun"] for name, case in cases.items() if "rerun" in case}
        self.assertEqual(begin["resumed"], 12 - len(found))
        return found

    def all_cases(self, why):
        return {f"c{i:02}": why for i in range(12)}

    def test_inputs_of_the_fingerprint(self):
        self.write("same.npy", self.read("in.npy"))
        self.write("big.npy", self.read("good.npy"))
        self.write("cases/c00.json", [self.job("fresh.npy", "../"), mov("../in.npy", "other.npy")])
        self.write("cases/c01.json", dict(self.job("good.npy", "../"), src={"file": "../same.npy"}))
        self.write("cases/c02.json", dict(self.job(None, "../"),
                                          dst={"file": "../big.npy", "update": True}))
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.assertEqual(self.reruns(code=1), {})
        # The new file has the same size and the same times as the old one, as a copy may have.
        times = os.stat(self.path("same.npy"))
        self.write("same.npy", npy("|i1", (2, 3, 4), bytes(24)))
        os.utime(self.path("same.npy"), ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.reruns(code=1), {"c01": "source same.npy changed"})
        self.write("big.npy", npy("|i1", (4, 2, 3), bytes(24)))
        self.assertEqual(self.reruns(code=1), {"c02": "updated file big.npy changed"})
        self.write("fresh.npy", self.read("good.npy"))
        self.assertEqual(self.reruns(code=1), {"c00": "golden file fresh.npy exists now"})
        os.unlink(self.path("fresh.npy"))
        self.assertEqual(self.reruns(code=1), {"c00": "golden file fresh.npy is missing now"})
        self.write("good.npy", npy("|i1", (4, 2, 3), bytes(24)))
        good = {f"c{i:02}": "golden file good.npy changed" for i in (1, 4, 5, 6, 7, 9, 10, 11)}
        self.assertEqual(self.reruns(code=1), good)
        self.assertEqual(self.reruns(code=1), {})

    def test_a_copy_on_another_machine(self):
        """State file and cases are copied: the copies have other inodes and other times."""
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        for entry in list(self.dir.iterdir()):
            entry.rename(self.root / entry.name)
        shutil.copytree(self.root / "cases", self.dir / "cases", copy_function=shutil.copyfile)
        for name in ("in.npy", "good.npy", "bad.npy", "s.jsonl"):
            shutil.copyfile(self.root / name, self.dir / name)
        shutil.copytree(self.root / "batch-failed", self.dir / "batch-failed",
                        copy_function=shutil.copyfile)
        self.assertEqual(self.reruns(code=1), {})

    def test_missing_kept_files(self):
        """A report names no file that does not exist any more."""
        _, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        failed = {name for name, case in cases.items() if "kept" in case}
        self.assertGreater(len(failed), 0)
        shutil.rmtree(self.path("batch-failed"))
        _, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", "--keep", "none", code=1)
        for name in failed:
            self.assertEqual({"kept", "again"} & set(cases[name]), set())
            self.assertNotIn("the result is", cases[name]["message"])
        self.events_by_case("cases", "--resume", "s.jsonl", "--rerun", code=1)
        why = {name: "its kept files are missing" for name in failed}
        for keep in ("kk", "kk", "batch-failed"):
            self.assertEqual(self.reruns("--keep", keep, code=1), why)
            self.assertEqual(self.reruns("--keep", keep, code=1), {})
            shutil.rmtree(self.path(keep))

    def test_a_missing_actual_file_is_written_again(self):
        words = ("cases", "--update-golden", "--resume", "s.jsonl")
        self.add("c00", "bad.npy")
        _, cases, _ = self.events_by_case(*words, code=1)
        self.assertEqual(cases["c00"]["status"], "updated")
        os.unlink(self.path("bad.npy.new"))
        _, cases, _ = self.events_by_case(*words, code=1)
        self.assertEqual(cases["c00"]["rerun"], "--update-golden must write its result again")
        self.assertTrue(self.exists("bad.npy.new"))
        # Without the option, the case counts as failed.
        os.unlink(self.path("bad.npy.new"))
        _, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.assertEqual(cases["c00"]["status"], "failed")

    def test_the_default_engine_by_its_name(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.assertEqual(self.reruns("-e", "threads", code=1), {})
        self.assertEqual(self.reruns("-e", "threads:tiny=0", code=1),
                         self.all_cases(ENGINE_CHANGED))

    def test_a_state_without_its_format(self):
        """A fingerprint that lacks the other members of the format is not accepted."""
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        text = self.read("s.jsonl").decode()
        self.write("s.jsonl", text.replace('"format":4', '"format":1'))
        why = "the state file has no complete fingerprint of the case"
        self.assertEqual(self.reruns(code=1), self.all_cases(why))
        self.write("s.jsonl", text.replace(',"format":4', ''))
        self.assertNotEqual(self.read("s.jsonl").decode(), text)
        self.assertEqual(self.reruns(code=1), self.all_cases(why))

    def test_options_that_change_results(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        engine = ENGINE_CHANGED
        other = "an option that can change results changed, such as --repeat or --timeout"
        self.assertEqual(self.reruns("-j1", "--retries", "2", "--flaky", "fail", "-v", code=1), {})
        self.assertEqual(self.reruns("-e", "inline", code=1), self.all_cases(engine))
        self.assertEqual(self.reruns("-e", "inline", code=1), {})
        self.assertEqual(self.reruns("-e", "inline", "-c2", code=1), self.all_cases(engine))
        self.assertEqual(self.reruns(code=1), self.all_cases(engine))
        self.assertEqual(self.reruns("--repeat", "2", code=1), self.all_cases(other))
        self.assertEqual(self.reruns("--timeout", "1m", code=1), self.all_cases(other))
        self.assertEqual(self.reruns("--timeout", "1m", code=1), {})

    def test_another_program(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        lines = [json.loads(line) for line in self.read("s.jsonl").splitlines()]
        self.assertEqual(lines[0]["format"], 4)
        for line in lines:
            if "basis" in line:
                line["basis"]["program"] = "0123456789abcdef"
        self.write("s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual(self.reruns(code=1), self.all_cases("mlictl changed"))

    def test_another_daemon(self):
        words = ("-s", self.daemon.socket)
        self.events_by_case("cases", "--resume", "s.jsonl", *words, code=1)
        self.assertEqual(self.reruns(*words, code=1), {})
        why = ENGINE_CHANGED
        self.assertEqual(self.reruns(code=1), self.all_cases(why))
        self.events_by_case("cases", "--resume", "s.jsonl", *words, code=1)
        (self.root / "other").mkdir()
        self.daemon_may_die = True
        self.daemon.stop()
        self._daemon = self.start_daemon(self.root / "run", "--channels", "3")
        self.assertEqual(self.daemon.socket, words[1])
        self.assertEqual(self.reruns(*words, code=1), self.all_cases(why))

    def test_state_files_of_earlier_versions(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        lines = [json.loads(line) for line in self.read("s.jsonl").splitlines()]
        for line in lines:
            line.pop("basis", None)
            line.pop("format", None)
        old = "".join(json.dumps(line) + "\n" for line in lines)
        self.write("s.jsonl", old)
        why = "the state file has no complete fingerprint of the case"
        self.assertEqual(self.reruns(code=1), self.all_cases(why))
        self.assertEqual(self.reruns(code=1), {})
        self.write("s.jsonl", old)
        self.assertIn(f"12 cases run again: {why}\n",
                      self.batch("cases", "--resume", "s.jsonl", code=1).out)
        self.write("s.jsonl", old)
        self.assertIn(f"\n# 12 cases run again: {why}\n",
                      self.batch("cases", "--resume", "s.jsonl", "--tap", code=1).out)
        lines[0]["format"] = 5
        self.write("s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        result = self.batch("cases", "--resume", "s.jsonl", code=2)
        self.assertIn("format: 5 given; at most 4 is supported; a newer mlictl wrote the file", result.err)

    def test_a_file_that_changes_while_its_case_runs(self):
        for i in range(1, 12):
            os.unlink(self.path(f"cases/c{i:02}.json"))
        process = self.start("batch", "cases", "--resume", "s.jsonl", "-e",
                             "fault:threads,tiny=0,delay_us=700000")
        self.assertTrue(wait_for(lambda: self.path("good.npy") in open_files(process.pid)))
        self.write("new.npy", self.read("bad.npy"))
        os.rename(self.path("new.npy"), self.path("good.npy"))
        self.finish(process, code=0)
        files = self.records("s.jsonl")["c00"]["basis"]["files"]
        self.assertEqual([(f["role"], f["content"] == "changed") for f in files],
                         [("src", False), ("expect", True)])
        _, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", "-e",
                                "fault:threads,tiny=0,delay_us=700000", code=1)
        self.assertEqual(cases["c00"]["rerun"], "golden file good.npy changed")

    def test_old_files_are_not_read_again(self):
        time.sleep(3.2)
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        files = json.loads(self.read("s.jsonl").splitlines()[1])["basis"]["files"]
        self.assertEqual([f["file"] for f in files], ["../in.npy", "../good.npy"])
        for file in files:
            self.assertRegex(file["stamp"], "^[0-9a-f]{16}$")
            self.assertRegex(file["content"], "^[0-9a-f]{16}$")
        self.assertEqual(self.reruns(code=1), {})

    def test_only_inputs_are_fingerprinted(self):
        """Files that a case writes do not count as its inputs, nor do sources that an earlier job has written."""
        self.write("cases/c00.json", [self.job(None, "../"),
                                      dict(self.job(None), src={"file": "out.npy"}, dst={"file": "b"})])
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        files = self.records("s.jsonl")["c00"]["basis"]["files"]
        self.assertEqual([f["file"] for f in files], ["../in.npy"])
        self.write("cases/out.npy", "anything")
        self.write("cases/b", "anything")
        self.assertEqual(self.reruns(code=1), {})

    def test_a_file_of_another_shard_is_refused(self):
        self.events_by_case("cases", "--shard", "1/2", "--resume", "s.jsonl")
        before = self.read("s.jsonl")
        for arguments, words in ((("--shard", "2/2"), "of shard 2/2"), ((), "of all shards"),
                                 (("--shard", "1/3"), "of shard 1/3")):
            result = self.batch("cases", *arguments, "--resume", "s.jsonl", code=2)
            self.assertEqual(result.err, "mlictl: s.jsonl is a state file of shard 1/2, but this run is "
                                         f"{words}; give each shard its own --resume STATE\n")
        self.assertEqual(self.read("s.jsonl"), before)
        self.assertIn("s.txt", self.batch("cases", "--resume", self.write("s.txt", "hello\n"),
                                          code=2).err)

    def test_added_and_removed_cases(self):
        """The record of a case stays valid as long as the case's name and text do not change."""
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.add("d", "good.npy")
        self.add("c03", "good.npy", priority=1)
        os.unlink(self.path("cases/c08.json"))
        begin, cases, end = self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertEqual((begin["resumed"], self.counts(end)), (10, {"passed": 12}))
        self.assertIn("d", cases)
        self.assertEqual(self.ctl("batch", "merge", "s.jsonl", code=0).out.split(";")[0],
                         "12 cases: 12 passed")
        begin, _, end = self.events_by_case("cases", "--filter", "c0*", "--resume", "s.jsonl", code=0)
        self.assertEqual((begin["resumed"], self.counts(end)), (9, {"passed": 9}))
        self.assertEqual(self.ctl("batch", "merge", "s.jsonl", code=0).out.split(";")[0],
                         "9 cases: 9 passed")
        begin, _, end = self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertEqual((begin["resumed"], self.counts(end)), (12, {"passed": 12}))
        self.assertEqual(self.ctl("batch", "merge", "s.jsonl", code=0).out.split(";")[0],
                         "12 cases: 12 passed")

    def test_merge_reports_cases_to_run_again(self):
        """If the batch is interrupted, a case that changed or must run again counts as not run."""
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.add("c05", "good.npy", priority=1)
        self.add("c04", "bad.npy", priority=1)
        for options in ((), ("--rerun",)):
            self.events_by_case("cases", "--resume", "s.jsonl", "--fail-fast", "-j1", *options, code=1)
            result = self.ctl("batch", "merge", "s.jsonl", code=1)
            self.assertRegex(result.err, r"of 12 cases have not run; run it again")
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        result = self.ctl("batch", "merge", "s.jsonl", code=1)
        self.assertEqual((result.err, result.out.splitlines()[-1].split(";")[0]),
                         ("", "12 cases: 9 passed, 3 failed"))

    def test_a_truncated_line(self):
        self.events_by_case("cases", "--resume", "whole.jsonl", code=1)
        whole = self.read("whole.jsonl")
        generator = random.Random(SEED)
        for _ in range(10):
            self.write("s.jsonl", whole[:generator.randrange(len(whole))])
            _, cases, end = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
            self.assertEqual(self.counts(end), {"passed": 10, "failed": 2}, f"seed {SEED}")
            self.assertEqual(self.records("s.jsonl"), self.records("whole.jsonl"))

    def test_foreign_files_are_not_overwritten(self):
        self.events_by_case("cases", "--resume", "whole.jsonl", code=1)
        whole = self.read("whole.jsonl")
        for text in (b"notes", b'{"op": "mov"}', b'{"event":"case"', bytes(100), whole + b"notes",
                     whole + b"{}"):
            self.write("s.jsonl", text)
            result = self.batch("cases", "--resume", "s.jsonl", code=2)
            self.assertIn("s.jsonl: its incomplete last line is not from a state file", result.err)
            self.assertEqual(self.read("s.jsonl"), text)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        # Each case has 100 attempts, so some cases have not run when writing a line fails.
        result = self.ctl("batch", "cases", "-j1", "--repeat", "100", "--json", "--resume",
                          "s.jsonl", preexec_fn=lambda: resource.setrlimit(
                              resource.RLIMIT_FSIZE, (1200, 1200)))
        self.assertEqual(result.code, 1)
        self.assertIn("s.jsonl", result.err)
        self.assertGreater(result.json[-1]["not_run"], 0)
        self.assertTrue(self.read("s.jsonl").endswith(b"\n"))
        _, _, end = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        self.assertEqual(self.counts(end), {"passed": 10, "failed": 2})

    def test_one_run_at_a_time(self):
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)
        with open(self.path("s.jsonl"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertIn("another run", self.batch("cases", "--resume", "s.jsonl", code=2).err)


class Interrupted(BatchCase):
    """Interrupts a batch at random places and resumes it until it ends: the results are those of a run without
    interruptions."""

    DELAY = ("-e", "fault:threads,tiny=0,delay_us=3000", "-c2")

    def setUp(self):
        super().setUp()
        self.cases = max(60, scaled(150))
        for i in range(self.cases):
            self.add(f"c{i:03}", "bad.npy" if i % 17 == 3 else "good.npy")
        self.events_by_case("cases", *self.DELAY, "--resume", "whole.jsonl", code=1)
        self.generator = random.Random(SEED)

    def size_of_state(self):
        """Returns the number of lines of the state file."""
        return self.read("s.jsonl").count(b"\n") if self.exists("s.jsonl") else 0

    def cut(self, number, codes, most=200):
        """Interrupts a batch after a random number of cases and resumes it, until all cases have ended."""
        runs = 0
        while True:
            before, ends = self.size_of_state(), self.generator.randrange(self.cases // 5)
            process = self.start("batch", "cases", "-j2", *self.DELAY, "--resume", "s.jsonl", "-q")
            wait_for(lambda before=before, ends=ends: self.size_of_state() >= before + ends or process.poll() is not None,
                     pause=0.001)
            time.sleep(self.generator.uniform(0, 0.005))
            process.send_signal(number)
            result = self.finish(process)
            runs += 1
            self.assertIn(result.code, codes, str(result))
            left = len(self.records("s.jsonl")) if self.exists("s.jsonl") else 0
            if left == self.cases or runs == most:
                break
        # On a slow machine some cases do not run; their member "again" then also names the engine.
        begin, cases, end = self.events_by_case("cases", *self.DELAY, "--resume", "s.jsonl", code=1)
        self.assertEqual(self.records("s.jsonl"), self.records("whole.jsonl"), f"seed {SEED}")
        self.assertEqual((len(cases), end["not_run"]), (self.cases, 0))
        self.assertGreater(runs, 2)
        self.assertEqual([p.name for p in self.dir.rglob("*") if p.name.startswith(".")],
                         [".kept"])
        kept = {str(p.parent.relative_to(self.path("batch-failed")))
                for p in self.dir.rglob("job.json")}
        lines = self.read("batch-failed/.kept").decode().splitlines()
        listed = {line.split("\t")[0] for line in lines}
        self.assertLessEqual(kept, listed)

    def test_by_sigint(self):
        self.cut(signal.SIGINT, (1, 4, -signal.SIGINT))

    def test_cases_remain_after_the_last_interruption(self):
        self.cut(signal.SIGINT, (1, 4, -signal.SIGINT), most=3)

    def test_by_sigkill(self):
        self.cut(signal.SIGKILL, (1, -signal.SIGKILL))

    def test_interrupted_cases_are_not_recorded(self):
        process = self.start("batch", "cases", "--json", "-j2", "-c2", "--resume", "s.jsonl", "-e",
                             "fault:threads,tiny=0,stick=20")
        self.assertTrue(wait_for(lambda: self.exists("s.jsonl") and
                                 self.read("s.jsonl").count(b"\n") > 25))  # after the stuck move
        process.send_signal(signal.SIGTERM)
        result = self.finish(process, code=4)
        end = result.json[-1]
        self.assertEqual(end["exit"], 4)
        self.assertGreater(end["not_run"], 0)
        printed = [e for e in result.json if e["event"] == "case"]
        self.assertEqual({e["status"] for e in printed} - {"passed", "failed"}, set())
        self.assertEqual(len(self.records("s.jsonl")), len(printed))
        self.assertEqual(len(printed) + end["not_run"], self.cases)


class Rate(BatchCase):
    def test_many_small_cases(self):
        count = scaled(10000)
        text = json.dumps(self.job(up="../../"))
        for i in range(count):
            if i % 500 == 0:
                directory = self.dir / f"cases/d{i // 500}"
                directory.mkdir(parents=True)
            (directory / f"c{i}.json").write_text(text)
        begun = time.monotonic()
        _, _, end = self.events_by_case("cases", code=0)
        wall = time.monotonic() - begun
        self.assertEqual(end["passed"], count)
        print(f"{count} cases: {count / wall:.0f} cases/s with looking for them, "
              f"{count / end['ns'] * 1e9:.0f} without", end=" ")


if __name__ == "__main__":
    main()
