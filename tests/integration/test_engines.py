# SPDX-License-Identifier: BSD-3-Clause
"""Tests jobs on a daemon whose DMA channels fail, get stuck, or have to be polled."""
import re
import signal
import time

from harness import Case, main, mov, wait_for


class Engines(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", shape=(64, 64, 16))
        self.write("job.json", mov())

    def serve(self, *arguments):
        """Starts a daemon with these options; tearDown checks it like any other daemon."""
        run = self.root / "run"
        run.mkdir()
        self._daemon = self.start_daemon(run, *arguments)

    def runs_a_job(self):
        return re.search(r'"jobs_running": ?1\b',
                         self.ctl("info", "--json", "--socket", self.daemon.socket, code=0).out)

    def test_failing_channel(self):
        self.serve("--engine", "fault:threads,fail=1,row=0")
        result = self.submit("job.json", code=1)
        self.assertRegex(result.err, r"^mlictl: job\.json: DMA channel \d failed at byte 0 of dst: "
                                     r"descriptor 0 \(copy\), row 0; at least 0 of 65536 B")
        self.assertFalse(self.exists("out.npy"))
        self.submit("job.json", code=0)
        self.assertEqual(self.read("out.npy")[128:], self.read("in.npy")[128:])

    def test_failing_channel_as_json(self):
        self.serve("--engine", "fault:threads,fail_pct=100")
        [job] = self.submit("--json", "job.json", code=1).json
        self.assertEqual(job["state"], "failed")
        self.assertEqual(job["error"]["name"], "DMA_ERROR")
        self.assertEqual(job["error"]["code"], -32008)

    def test_stuck_channel(self):
        self.serve("--engine", "fault:threads,stick=1", "--channels", "1")
        self.write("late.json", dict(mov(), timeout_ms=100))
        self.assertIn("timeout_ms", self.submit("late.json", code=4).err)
        self.submit("job.json", code=0)

    def test_stuck_channel_and_a_client_that_dies(self):
        self.serve("--engine", "fault:threads,stick=1", "--channels", "1")
        process = self.start("submit", "--socket", self.daemon.socket, "job.json")
        self.assertTrue(wait_for(self.runs_a_job))
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.submit("job.json", code=0)

    def test_stuck_channel_and_sigterm(self):
        self.write("drain.json", {"drain_ms": 300})
        self.serve("--config", self.path("drain.json"), "--engine", "fault:threads,stick=1")
        self.daemon_may_die = True
        process = self.start("submit", "--socket", self.daemon.socket, "job.json")
        self.assertTrue(wait_for(self.runs_a_job))
        begun = time.monotonic()
        self.assertEqual(self.daemon.stop(), 1)
        self.assertLess(time.monotonic() - begun, 20)
        self.assertIn("shutting down", self.finish(process, code=3).err)

    def test_corrupted_bytes(self):
        """A job with flipped bits fails only because its golden file differs."""
        self.serve("--engine", "fault:threads,corrupt=1")
        self.write("golden.json", dict(mov(), expect={"file": "in.npy"}))
        self.submit("golden.json", code=1)
        self.submit("golden.json", code=0)

    def test_polled_device(self):
        self.serve("--engine", "mock")
        self.write("wide.json", dict(mov(), channels=3))
        [job] = self.submit("--json", "wide.json", code=0).json
        self.assertEqual(job["result"]["cost"]["engine"], "mock")
        self.assertEqual(self.read("out.npy")[128:], self.read("in.npy")[128:])


if __name__ == "__main__":
    main()
