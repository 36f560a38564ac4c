#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs jobs on channels that fail, hang, delay and reorder at random (engine `fault`): each job writes the right bytes,
or fails with the reason of the fault, and the service continues.

mlid_failures and mlictl_engines inject single faults, and the property tests use the engine without a service.
"""
import os
import subprocess

import soak
from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from harness import MLID, PATIENCE, main, mov, npy, wait_for


class Channels(BatchCase):
    def setUp(self):
        super().setUp()
        self.new = npy("|i1", MOVED_SHAPE, MOVED)
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1], timeout_ms=200) for i in range(6)])
        for i in range(10):
            self.add(f"c{i}", "bad.npy" if i == 7 else "good.npy")
        self.failed = 0

    def engine(self, pick):
        """Returns an engine with random faults."""
        device = pick.choice(("threads", "threads", "mock"))
        return (f"fault:{device},tiny=0,seed={pick.randrange(1000)},fail_pct={pick.choice((0, 5, 30))},"
                f"stick_pct={pick.choice((0, 2, 5))},delay_us={pick.choice((0, 500))},reorder_pct={pick.choice((0, 50))}")

    def check(self, result):
        """Expects that each job has the right output, or an error with a reason that the faults explain."""
        states = [job["state"] for job in result.json]
        self.assertEqual(len(states), 6, str(result))
        for i, job in enumerate(result.json):
            if job["state"] == "done":
                self.assertEqual(self.read(f"{i}.npy"), self.new)
                os.unlink(self.path(f"{i}.npy"))
            else:
                self.failed += 1
                self.assertIn(job["exit"], (1, 4), str(result))
                self.assertIn(job["error"]["name"], ("DMA_ERROR", "CHANNEL_STUCK", "TIMED_OUT"), str(result))
                self.assertFalse(self.exists(f"{i}.npy"))
        self.assertIn(result.code, (0, 1, 4))

    def rounds(self, sample, soak_rounds, one):
        for number in soak.rounds(sample, soak_rounds):
            pick = soak.pick_of(self, number)
            engine = self.engine(pick)
            with self.subTest(engine=engine, again=soak.again(self, number)):
                one(engine, pick)
        soak.count("failing or stuck channel", self.failed)

    def test_run(self):
        self.rounds(8, 500, lambda engine, _: self.check(self.ctl("run", "--json", "-e", engine, "job.json")))

    def test_batch(self):
        """Each case passes, or its message says that the channel failed."""
        def one(engine, _):
            _, cases, _ = self.events_by_case("cases", "-j2", "-e", engine, "--timeout", "300ms", "--keep", "none")
            for name, case in cases.items():
                if case.get("reason") in ("channel", "timeout"):
                    self.failed += 1
                else:
                    self.assertEqual(case["status"], "failed" if name == "c7" else "passed", case)
        self.rounds(3, 150, one)

    def test_mlid(self):
        def one(engine, pick):
            path = self.root / "mlid.sock"
            self.write("mlid.json", {"watchdog": {"limit_ms": 100, "quarantine_ms": 0}, "drain_ms": 2000})
            with open(self.root / "mlid.log", "ab") as log:
                daemon = subprocess.Popen([MLID, "--config", self.path("mlid.json"), "--socket", path, "--engine", engine],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            self.addCleanup(lambda: daemon.poll() is None and (daemon.kill(), daemon.wait()))
            self.assertTrue(wait_for(lambda: self.ctl("ping", "-s", path).code == 0))
            for _ in range(4):
                self.check(self.ctl("submit", "--json", "-s", path, "job.json"))
            daemon.terminate()
            self.assertIn(daemon.wait(PATIENCE), (0, 1))
            self.assertFalse(path.exists())
        self.rounds(3, 150, one)


if __name__ == "__main__":
    main()
