#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets the time of day jump by up to a year with each reading (clock.c): results, timeouts and reports do not depend
on it."""
import json
import os
import subprocess
import xml.etree.ElementTree

import soak
from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from harness import MLID, PATIENCE, main, mov, npy, wait_for
from wire import Connection


class Jumps(BatchCase):
    def setUp(self):
        super().setUp()
        if "MLI_CLOCK" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")
        self.seed = 0
        for i in range(12):
            self.add(f"c{i}", "bad.npy" if i == 7 else "good.npy", timeout_ms=60000)
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1], timeout_ms=60000) for i in range(8)])
        self.new = npy("|i1", MOVED_SHAPE, MOVED)

    def environment(self):
        return dict(super().environment(), LD_PRELOAD=os.environ["MLI_CLOCK"], CLOCK_SEED=str(self.seed))

    def check_outputs(self):
        for i in range(8):
            self.assertEqual(self.read(f"{i}.npy"), self.new)
            os.unlink(self.path(f"{i}.npy"))

    def rounds(self, sample, soak_rounds, check):
        numbers = soak.rounds(sample, soak_rounds)
        for self.seed in numbers:
            with self.subTest(again=soak.again(self, self.seed)):
                check()
        soak.count("run with a clock that jumps", len(numbers))

    def test_mlictl(self):
        """Results and kept cases are right, although --resume compares file times and batch removes the oldest kept
        cases."""
        def check():
            self.ctl("run", "job.json", code=0)
            self.check_outputs()
            words = ("cases", "-j2", "--timeout", "1m", "--resume", "s.jsonl", "--junit", "r.xml")
            _, cases, end = self.events_by_case(*words, code=1)
            self.assertEqual(self.counts(end), {"passed": 11, "failed": 1})
            self.assertLess(end["ns"], PATIENCE * 10**9)
            self.assertTrue(self.exists(cases["c7"]["kept"]))
            for suite in xml.etree.ElementTree.parse(self.path("r.xml")).getroot().iter("testcase"):
                self.assertLess(abs(float(suite.get("time"))), PATIENCE)
            self.add("c3", "bad.npy" if self.seed % 2 else "good.npy", timeout_ms=60000)
            _, cases, end = self.events_by_case(*words, code=1)
            self.assertEqual(self.counts(end)["failed"], 1 + self.seed % 2)
            self.add("c3", "good.npy", timeout_ms=60000)
        self.rounds(3, 200, check)

    def test_mlid(self):
        """No job times out, no channel counts as stuck, and the uptime grows."""
        def check():
            self.write("mlid.json", {"watchdog": {"limit_ms": 20000}})
            path = self.root / "mlid.sock"
            with open(self.root / "mlid.log", "w+b") as log:
                daemon = subprocess.Popen(
                    [MLID, "--config", self.path("mlid.json"), "--socket", path, "--log-format", "json", "--log-level",
                     "debug", "--engine", "fault:threads,tiny=0,delay_us=500"],
                    env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                self.addCleanup(lambda: daemon.poll() is None and (daemon.kill(), daemon.wait()))
                self.assertTrue(wait_for(lambda: self.ctl("ping", "-s", path).code == 0))
                self.ctl("submit", "-s", path, "job.json", code=0)
                self.check_outputs()
                with Connection(str(path)) as link:
                    self.assertLess(link.call("daemon.stats")["uptime_ms"], PATIENCE * 1000)
                daemon.terminate()
                self.assertEqual(daemon.wait(PATIENCE), 0)
                log.seek(0)
                events = [json.loads(line) for line in log]
            self.assertEqual([e for e in events if e["priority"] < 4], [])
            self.assertGreater(len({e["time"][:10] for e in events}), 1, "the clock did not jump")
        self.rounds(2, 100, check)


if __name__ == "__main__":
    main()
