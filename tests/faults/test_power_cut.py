#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cuts the power between any two system calls of mlictl, and starts again with what the disk may have kept.

record.c logs the calls of a command, disk.py replays a part of them and loses what was not synced.
"""
import os
import pathlib
import shutil
import subprocess
import xml.etree.ElementTree

import disk
import soak
from batch_scene import BatchCase
from harness import MLICTL, PATIENCE, main, mov


class PowerCut(BatchCase):
    def setUp(self):
        super().setUp()
        if "MLI_RECORD" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")
        self.log = str(self.root / "log")
        self.after = self.root / "after"

    def recorded(self, *arguments, code=0):
        """Runs mlictl in the test's directory; returns the disk as it was before, and its changes."""
        before = disk.Disk(self.dir)
        if os.path.exists(self.log):
            os.unlink(self.log)
        environment = dict(self.environment(), LD_PRELOAD=os.environ["MLI_RECORD"], RECORD_LOG=self.log)
        run = subprocess.run([MLICTL, *arguments], cwd=self.dir, env=environment, capture_output=True,
                             timeout=PATIENCE, check=False)
        self.assertEqual(run.returncode, code, run.stderr)
        records = disk.read_log(self.log)
        self.assertTrue(records)
        return before, records

    def cut(self, before, records, rounds, check):
        """Calls `check` for each state that a power cut may leave; the files of this state are in self.after."""
        seen = set()
        for number in soak.rounds(*rounds):
            pick = soak.pick_of(self, number)
            # The cut visits every position once before it visits a position again.
            cut = (number * 7919 + soak.SEED) % (len(records) + 1)
            now = disk.Copy(before)
            for record in records[:cut]:
                now.apply(*record)
            files = now.after_cut(pick, all_names=number % 4 == 0)
            state = hash(tuple(sorted(files.items(), key=lambda item: item[0])))
            if state in seen:
                continue
            seen.add(state)
            shutil.rmtree(self.after, ignore_errors=True)
            self.after.mkdir()
            disk.make(files, self.after)
            with self.subTest(round=number, call=f"{cut} of {len(records)}", again=soak.again(self, number)):
                check()
        shutil.rmtree(self.after, ignore_errors=True)
        soak.count(self.FAULT, len(seen))

    def run_after(self, *arguments, **more):
        return self.ctl(*arguments, cwd=self.after, **more)


class Resume(PowerCut):
    """Runs a batch with --resume, --junit and kept cases."""

    FAULT = "power cut during batch"
    WORDS = ("batch", "cases", "--resume", "s.jsonl", "--junit", "r.xml", "-j2", "--json")
    ROUNDS = (25, 3000)

    def setUp(self):
        super().setUp()
        self.reused, self.earlier = 0, None
        for i in range(8):
            self.add(f"{'ab'[i % 2]}/c{i}", "bad.npy" if i in (2, 5) else "good.npy")

    def verdicts(self, result):
        return {e["name"]: (e["status"], e.get("message")) for e in result.json if e["event"] == "case"}

    def check(self, whole):
        """Expects that a resumed run reports the same as a run without a power cut."""
        junit = self.after / "r.xml"
        if junit.exists():
            xml.etree.ElementTree.parse(junit)
        self.check_merge(whole)
        kept = self.kept()
        result = self.run_after(*self.WORDS, code=1)
        self.assertEqual(self.verdicts(result), whole)
        reused = result.json[0]["resumed"]
        for event in result.json:
            if event["event"] == "case" and "kept" in event:
                self.check_kept(event["kept"], reused and kept.get(event["kept"]))
        self.reused += reused

    def kept(self):
        return {str(path.relative_to(self.after)): path.stat().st_ino
                for path in self.after.glob("batch-failed/**/job.json")}

    def check_kept(self, job, before):
        """Expects that a kept case fails in the same way as its case. Leaves out cases that were
        kept only after the cut."""
        if before and (self.after / job).stat().st_ino == before:
            self.assertIn("differ", self.run_after("run", job, code=1).err)

    def check_merge(self, whole):
        """Expects that the report of a state after a cut has only verdicts of this run, or only verdicts of the run
        before."""
        if not (self.after / "s.jsonl").exists():
            return
        result = self.run_after("batch", "merge", "s.jsonl", "--json")
        verdicts = self.verdicts(result)
        if verdicts != self.earlier:
            self.assertEqual(verdicts, {name: whole[name] for name in verdicts})

    def test_first_run(self):
        before, records = self.recorded(*self.WORDS, code=1)
        shutil.copytree(self.dir, self.after)
        whole = self.verdicts(self.run_after(*self.WORDS, code=1))
        self.assertEqual(sorted(v[0] for v in whole.values()), ["failed"] * 2 + ["passed"] * 6)
        self.cut(before, records, self.ROUNDS, lambda: self.check(whole))
        few = len(soak.rounds(*self.ROUNDS)) < 20  # a part of the sample may have no state file that survives
        self.assertTrue(soak.ONLY or few or self.reused, "no state file survived, so nothing was tested")

    def test_second_run(self):
        """Golden files change between two runs: results of the first run must not come back."""
        self.earlier = self.verdicts(self.ctl(*self.WORDS, code=1))
        for i in (0, 2):
            self.add(f"a/c{i}", "good.npy" if i == 2 else "bad.npy")
        before, records = self.recorded(*self.WORDS, code=1)
        shutil.copytree(self.dir, self.after)
        whole = self.verdicts(self.run_after(*self.WORDS, code=1))
        self.cut(before, records, self.ROUNDS, lambda: self.check(whole))


class Files(PowerCut):
    """Each file that mlictl syncs is either the old file or the whole new file."""

    FAULT = "power cut during another command"

    def check_command(self, *arguments, code=0, rounds=(3, 200)):
        old = self.tree(self.dir)
        before, records = self.recorded(*arguments, code=code)
        new = self.tree(self.dir)
        self.assertNotEqual(old, new)
        self.cut(before, records, rounds, lambda: self.check_files(old, new))
        self.restore(old)
        # A cut after the end of the command: everything is on the disk.
        finished = disk.Copy(before)
        for record in records:
            finished.apply(*record)
        for number in range(4):
            left = {p: c for p, c in finished.after_cut(soak.pick_of(self, number)).items() if c is not None}
            self.assertEqual(left, new, "the command has ended, and the disk may lose its file")

    def check_files(self, old, new):
        """Expects that each file has its old or its new content. A hidden file that has not got its final name may
        remain."""
        left = self.tree(self.after)
        for path, content in left.items():
            if not pathlib.PurePath(path).name.startswith(".mlictl-"):
                self.assertIn(content, (old.get(path), new.get(path)), path)
        self.assertEqual([path for path in old if path not in left], [])

    def tree(self, root):
        return {str(p.relative_to(root)): p.read_bytes() for p in pathlib.Path(root).rglob("*") if p.is_file()}

    def restore(self, files):
        for path in self.tree(self.dir):
            if path not in files:
                (self.dir / path).unlink()
        for path, content in files.items():
            self.write(path, content)

    def test_outputs_of_run(self):
        self.write_npy("out.npy", "|i1", (50, 60))
        self.write_npy("big.npy", "|i1", (50, 60), data=bytes(range(250)) * 12)
        self.write("job.json", [mov("big.npy", "out.npy"), mov("big.npy", "new.npy")])
        self.check_command("run", "--sync", "job.json", rounds=(6, 500))
        self.write("job.json", mov("in.npy", {"file": "out.npy", "update": True}, dst_offset=[0, 0])
                   | {"src": {"file": "big.npy"}, "cfg": {"size": [10, 60], "dst_offset": [20, 0]}})
        self.check_command("run", "--sync", "job.json", rounds=(6, 500))

    def test_texts(self):
        self.write("job.json", mov())
        self.check_command("make", "mov", "in.npy", "o.npy", "-o", "made.json")
        self.check_command("explain", "--no-memcpy", "job.json", "--svg", "picture.svg")
        self.check_command("tile", "in.npy", "o.npy", "--budget", "32", "-o", "jobs.json", "--svg", "tiles.svg")
        self.check_command("batch", "job.json", "--junit", "r.xml")
        self.ctl("batch", "job.json", "--resume", "s.jsonl")
        self.check_command("batch", "merge", "s.jsonl", "--junit", "m.xml")

    def test_golden_files(self):
        self.add("fresh", "none.npy")
        self.check_command("batch", "cases", "--update-golden", code=1)
        self.add("fresh", "bad.npy")
        self.check_command("batch", "cases", "--update-golden", code=1)


if __name__ == "__main__":
    main()
