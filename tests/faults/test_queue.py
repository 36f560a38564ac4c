#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kills workers and the server of queues with SIGKILL at random points: each case is reported once, with its right result."""
import time

import soak
from harness import PATIENCE, main
from queue_server import Redis
from test_kill import Killed

SLOW = "fault:inline,tiny=0,delay_us=20000"  # a case takes up to 20 ms


class Queue(Killed):
    def setUp(self):
        super().setUp()
        missing = Redis.missing()
        if missing:
            self.skipTest(missing)
        self.server = Redis(self.root / "server")
        self.addCleanup(self.server.kill)
        self.wanted = {f"c{i}": "failed" if i == 7 else "passed" for i in range(12)}
        for name, status in self.wanted.items():
            self.add(name, "good.npy" if status == "passed" else "bad.npy")

    def fill(self, number):
        """Fills the queue of a round. Returns its URL and two workers."""
        url = self.server.url(f"night{number}")
        self.ctl("batch", "enqueue", "--queue", url, "--lease", "2s", "cases", code=0)
        return url, [self.launch("batch", "--queue", url, "-j1", "-q", "-e", SLOW) for _ in range(2)]

    def collect(self, url):
        """Runs the remaining cases, and expects the results of all cases."""
        self.assertIn(self.ctl("batch", "--queue", url, "-q").code, (0, 1))
        _, cases, _ = self.events_by_case("collect", "--queue", url, "--remove", code=1)
        self.assertEqual({name: case["status"] for name, case in cases.items()}, self.wanted)

    def kill_worker(self, pick, number):
        """Kills one of two workers. The other worker takes its cases over."""
        url, workers = self.fill(number)
        time.sleep(pick.random() * 0.15)
        workers[0].kill()
        for worker in workers:
            err = worker.communicate(timeout=PATIENCE)[1].decode()
            self.assertIn(worker.returncode, (-9, 0, 1), err)
        self.collect(url)
        return workers[0].returncode == -9

    def kill_server(self, pick, number):
        """Kills the server and starts it again. The workers connect again."""
        url, workers = self.fill(number)
        time.sleep(pick.random() * 0.15)
        self.server.kill()
        time.sleep(pick.random() * 0.05)
        self.server.start()
        for worker in workers:
            err = worker.communicate(timeout=PATIENCE)[1].decode()
            self.assertIn(worker.returncode, (0, 1), err)
        self.collect(url)
        return True

    def test_workers(self):
        self.rounds(3, 150, "kill -9 of a worker of a queue", self.kill_worker)

    def test_server(self):
        self.rounds(2, 100, "kill -9 of the server of a queue", self.kill_server)


if __name__ == "__main__":
    main()
