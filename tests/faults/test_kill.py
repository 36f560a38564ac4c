#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills mlictl, mlid and clients with SIGKILL at random points, and starts them again."""
import os
import re
import shutil
import subprocess
import time
import xml.etree.ElementTree

import soak
from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from harness import MLICTL, MLID, PATIENCE, main, mov, npy, open_files, ramp, wait_for

HIDDEN = ".mlictl-"  # begins the names of files that have no name yet, which SIGKILL may leave


class Killed(BatchCase):
    def launch(self, *arguments):
        return subprocess.Popen([MLICTL, *map(str, arguments)], cwd=self.dir, env=self.environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def seconds(self, *arguments):
        """Returns how long the command takes: the shortest of three runs."""
        times = []
        for _ in range(3):
            begin = time.monotonic()
            process = self.launch(*arguments)
            process.communicate(timeout=PATIENCE)
            times.append(time.monotonic() - begin)
        return min(times)

    def kill_at_random(self, pick, seconds, *arguments):
        """Kills the command at a random time of its run. Returns whether it was still running."""
        process = self.launch(*arguments)
        time.sleep(pick.random() * seconds * 1.1)
        process.kill()
        err = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertIn(process.returncode, (-9, 0, 1, 3), err)
        return process.returncode == -9

    def rounds(self, sample, soak_rounds, what, round_of):
        """Runs the rounds and counts the kills; round_of(pick, number) runs one round, and returns whether it has
        killed the process."""
        killed = 0
        for number in soak.rounds(sample, soak_rounds):
            with self.subTest(again=soak.again(self, number)):
                killed += bool(round_of(soak.pick_of(self, number), number))
        soak.count(what, killed)

    def sweep(self):
        """Removes temporary files and unfinished kept cases, which do not have their final names yet, as the manual
        says."""
        for path in list(self.dir.rglob(HIDDEN + "*")):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def check_file(self, name, *contents):
        """Expects that a file is absent, or has one of the contents."""
        if self.exists(name):
            self.assertIn(self.read(name), contents, name)


class Run(Killed):
    OUTPUTS = 12

    def setUp(self):
        super().setUp()
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1])
                                for i in range(self.OUTPUTS)])
        self.new = npy("|i1", MOVED_SHAPE, MOVED)

    def test_run(self):
        seconds = self.seconds("run", "job.json")

        def one(pick, number):
            for i in range(self.OUTPUTS):
                self.write(f"{i}.npy", b"old" if number % 2 else self.new)
                if number % 3 == 0:
                    os.unlink(self.path(f"{i}.npy"))
            killed = self.kill_at_random(pick, seconds, "run", "job.json")
            for i in range(self.OUTPUTS):
                self.check_file(f"{i}.npy", b"old", self.new)
            self.ctl("run", "job.json", code=0)
            self.assertEqual({self.read(f"{i}.npy") for i in range(self.OUTPUTS)}, {self.new})
            self.sweep()
            return killed
        self.rounds(15, 450, "kill -9 of mlictl run", one)

    def test_update(self):
        """A file is either updated in place completely or not at all; the lock ends with the process."""
        self.write_npy("both.npy", "|u1", (8, 4), data=bytes(32))
        self.write_npy("row.npy", "|u1", (8, 4), data=bytes(range(1, 33)))
        self.write("update.json", [mov("row.npy", {"file": "both.npy", "update": True}, offset=[i, 0], size=[1, 4],
                                       dst_offset=[i, 0]) for i in range(8)])
        seconds = self.seconds("run", "update.json")
        states = [npy("|u1", (8, 4), bytes(range(1, 33))[:4 * i].ljust(32, b"\0")) for i in range(9)]

        def one(pick, _):
            self.write("both.npy", states[0])
            killed = self.kill_at_random(pick, seconds, "run", "update.json")
            self.assertIn(self.read("both.npy"), states)
            self.ctl("run", "update.json", code=0)
            self.assertEqual(self.read("both.npy"), states[8])
            self.sweep()
            return killed
        self.rounds(5, 150, "kill -9 of mlictl run", one)


class Batch(Killed):
    def setUp(self):
        super().setUp()
        for i in range(60):
            self.add(f"c{i:02}", "bad.npy" if i % 20 == 7 else "good.npy")
        self.failures = {f"c{i:02}": i % 20 == 7 for i in range(60)}
        self.words = ("batch", "cases", "-j2", "--resume", "s.jsonl", "--junit", "r.xml", "--json")

    def verdicts(self, result):
        return {e["name"]: (e["status"], e.get("message")) for e in result.json if e["event"] == "case"}

    def check_junit(self):
        """Expects that a report is absent or complete: it has each case with its verdict."""
        if self.exists("r.xml"):
            cases = xml.etree.ElementTree.parse(self.path("r.xml")).getroot().iter("testcase")
            self.assertEqual({case.get("name"): case.find("failure") is not None for case in cases}, self.failures)

    def report(self):
        """Returns the report without the time of day at which it was made."""
        return re.sub(rb'timestamp="[^"]*"', b"", self.read("r.xml"))

    def test_batch(self):
        whole = self.verdicts(self.ctl(*self.words, code=1))
        seconds = self.seconds("batch", "cases", "-j2")

        def one(pick, number):
            if number % 4 == 0:
                os.unlink(self.path("s.jsonl"))
            killed = self.kill_at_random(pick, seconds, *self.words, *(("--rerun",) if number % 4 == 2 else ()))
            self.check_junit()
            self.sweep()
            if number % 4 == 3:
                self.assertEqual(self.verdicts(self.ctl(*self.words, code=1)), whole)
            return killed
        self.rounds(8, 400, "kill -9 of mlictl batch", one)
        self.assertEqual(self.verdicts(self.ctl(*self.words, code=1)), whole)

    def test_merge(self):
        self.ctl("batch", "cases", "--resume", "s.jsonl")
        words = ("batch", "merge", "s.jsonl", "--junit", "r.xml")
        seconds = self.seconds(*words)
        self.check_junit()
        old, new = b"<old/>", self.report()

        def one(pick, _):
            self.write("r.xml", old)
            killed = self.kill_at_random(pick, seconds, *words)
            self.assertIn(self.report(), (old, new) if killed else (new,))
            self.sweep()
            return killed
        self.rounds(5, 200, "kill -9 of mlictl merge", one)
        self.ctl(*words, code=1)
        self.assertEqual(self.report(), new)


class Submit(Killed):
    def test_client(self):
        """When clients are killed, mlid forgets them: it has as many descriptors as before, and runs the next job."""
        daemon = self.daemon
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1]) for i in range(8)])
        new = npy("|i1", MOVED_SHAPE, MOVED)
        seconds = self.seconds("submit", "-s", daemon.socket, "job.json")

        def one(pick, _):
            killed = self.kill_at_random(pick, seconds, "submit", "-s", daemon.socket, "job.json")
            for i in range(8):
                self.check_file(f"{i}.npy", new)
                if self.exists(f"{i}.npy"):
                    os.unlink(self.path(f"{i}.npy"))
            self.sweep()
            return killed
        self.rounds(10, 400, "kill -9 of mlictl submit", one)
        self.ctl("submit", "-s", daemon.socket, "job.json", code=0)
        self.assertEqual({self.read(f"{i}.npy") for i in range(8)}, {new})


class Service(Killed):
    """Kills mlid while clients use it. The next mlid replaces the stale socket and serves at once."""

    def serve(self):
        self.write("mlid.json", "{}")
        log = open(self.root / "mlid.log", "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen([MLID, "--config", self.path("mlid.json"), "--socket", self.root / "mlid.sock",
                                    "--engine", "fault:threads,tiny=0,delay_us=300"],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def text(self):
        return (self.root / "mlid.log").read_text()[-4000:]

    def test_service(self):
        path = self.root / "mlid.sock"
        self.write_npy("in.npy", "|u1", (16, 16))
        for i in range(3):
            self.write(f"{i}.json", [mov("in.npy", f"{i}-{k}.npy", offset=[i, 0]) for k in range(10)])
        news = {i: npy("|u1", (16 - i, 16), ramp(256)[16 * i:]) for i in range(3)}

        def one(pick, number):
            daemon = self.serve()
            if number % 4:  # otherwise it may be killed while it starts
                self.assertTrue(wait_for(lambda: self.answers(path)), self.text())
            clients = [self.launch("submit", "-s", path, f"{i}.json") for i in range(3)]
            time.sleep(pick.random() * 0.08)
            self.assertIsNone(daemon.poll(), self.text())
            daemon.kill()
            daemon.wait()
            for client in clients:
                err = client.communicate(timeout=PATIENCE)[1].decode()
                self.assertIn(client.returncode, (0, 3), err)
            for i in range(3):
                for k in range(10):
                    self.check_file(f"{i}-{k}.npy", news[i])
            return True
        self.rounds(5, 250, "kill -9 of mlid", one)
        daemon = self.serve()
        self.assertTrue(wait_for(lambda: self.answers(path)), self.text())
        for i in range(3):
            self.ctl("submit", "-s", path, f"{i}.json", code=0)
            self.assertEqual(self.read(f"{i}-9.npy"), news[i])
        self.assertEqual([name for name in open_files(daemon.pid) if str(self.dir) in name], [])
        daemon.terminate()
        self.assertEqual(daemon.wait(PATIENCE), 0, self.text())
        self.assertEqual(sorted(os.listdir(self.root)), ["mlid.log", "work"])

    def answers(self, path):
        return self.ctl("ping", "-s", path).code == 0


if __name__ == "__main__":
    main()
