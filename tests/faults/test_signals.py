#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sends signals to mlictl and mlid at random points: the exit code must be a documented one, and no partly written
file may remain."""
import os
import random
import signal
import subprocess
import threading
import time
import xml.etree.ElementTree

import soak
from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from harness import MLICTL, MLID, PATIENCE, main, mov, npy, wait_for

HARMLESS = (signal.SIGCHLD, signal.SIGWINCH, signal.SIGCONT, signal.SIGURG, signal.SIGSTOP, signal.SIGTSTP)
STOPS = (signal.SIGSTOP, signal.SIGTSTP)
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Storm(threading.Thread):
    """Sends harmless signals to a process until stop() is called. If a signal stops the process,
    lets it continue at once."""

    def __init__(self, pid, pick, signals=HARMLESS):
        super().__init__(daemon=True)
        self.pid, self.pick, self.signals, self.over, self.count = pid, pick, signals, threading.Event(), 0

    def run(self):
        while not self.over.wait(self.pick.random() * 0.001):
            number = self.pick.choice(self.signals)
            self.send(number)
            if number in STOPS:
                self.over.wait(0.001)
                self.send(signal.SIGCONT)

    def send(self, number):
        """Nobody waits for the process before stop() is called, so its process id is not used again."""
        os.kill(self.pid, number)
        self.count += 1

    def stop(self):
        self.over.set()
        self.join()


class Signals(BatchCase):
    def setUp(self):
        super().setUp()
        self.write_npy("big.npy", "|i1", (256, 256))
        self.new = npy("|i1", MOVED_SHAPE, MOVED)
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1]) for i in range(12)])
        for i in range(40):
            self.add(f"c{i:02}", "bad.npy" if i == 7 else "good.npy")

    def launch(self, *arguments):
        return subprocess.Popen([MLICTL, *map(str, arguments)], cwd=self.dir, env=self.environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def output(self, process):
        """Returns what a process prints until it ends, without waiting for the process, so that its id stays in use.
        """
        texts = {}

        def read(name, stream):
            texts[name] = stream.read().decode()
        readers = [threading.Thread(target=read, args=each) for each in
                   (("out", process.stdout), ("err", process.stderr))]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(PATIENCE)
            self.assertFalse(reader.is_alive(), "the process does not end")
        return texts["out"], texts["err"]

    def finish_storm(self, process, storm):
        out, err = self.output(process)
        storm.stop()
        process.stdout.close()
        process.stderr.close()
        return process.wait(PATIENCE), out, err

    def check_outputs(self):
        for i in range(12):
            if self.exists(f"{i}.npy"):
                self.assertEqual(self.read(f"{i}.npy"), self.new)
                os.unlink(self.path(f"{i}.npy"))
        if self.exists("r.xml"):
            xml.etree.ElementTree.parse(self.path("r.xml"))
            os.unlink(self.path("r.xml"))
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".mlictl-")], [])

    def commands(self):
        slow = ("-e", "fault:threads,tiny=0,delay_us=500")
        return ((("run", "job.json", *slow), 0), (("submit", "-s", self.daemon.socket, "job.json"), 0),
                (("batch", "cases", "-j2", "--junit", "r.xml", "--resume", "s.jsonl", "--rerun", *slow), 1),
                (("selftest", "--iterations", "5", "--seed", "1"), 0), (("diff", "big.npy", "big.npy"), 0))


class Mlictl(Signals):
    def test_harmless(self):
        """Signals that have no effect on mlictl change nothing: exit code, output and files are the same as in a run
        without signals."""
        sent = 0
        for number in soak.rounds(10, 500):
            pick = soak.pick_of(self, number)
            words, code = pick.choice(self.commands())
            with self.subTest(command=words, again=soak.again(self, number)):
                process = self.launch(*words)
                storm = Storm(process.pid, random.Random(pick.random()))
                storm.start()
                got, out, err = self.finish_storm(process, storm)
                sent += storm.count
                self.assertEqual(got, code, out + err)
                if "job.json" in words:
                    self.assertTrue(all(self.exists(f"{i}.npy") for i in range(12)))
                self.check_outputs()
        soak.count("harmless signal", sent)

    def test_end(self):
        """SIGINT, SIGTERM and SIGHUP end a command with exit code 4, or by the signal if it comes before the command
        handles signals."""
        sent = 0
        for number in soak.rounds(20, 1000):
            pick = soak.pick_of(self, number)
            words, code = pick.choice(self.commands())
            with self.subTest(command=words, again=soak.again(self, number)):
                process = self.launch(*words)
                time.sleep(pick.random() * 0.05)
                process.send_signal(pick.choice(ENDS))
                out, err = self.output(process)
                process.stdout.close()
                process.stderr.close()
                got = process.wait(PATIENCE)
                sent += got not in (0, 1)
                self.assertIn(got, (code, 4, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP), out + err)
                if got == 4:
                    self.assertTrue(err or words[0] in ("batch", "selftest"), "no message")
                self.check_outputs()
        soak.count("signal that ends mlictl", sent)
        self.ctl("batch", "cases", "--resume", "s.jsonl", "--junit", "r.xml", code=1)
        self.check_outputs()


class Mlid(Signals):
    def serve(self):
        self.write("mlid.json", "{}")
        with open(self.root / "mlid.log", "ab") as log:
            process = subprocess.Popen(
                [MLID, "--config", self.path("mlid.json"), "--socket", self.root / "mlid.sock", "--log-level", "warning",
                 "--engine", "fault:threads,tiny=0,delay_us=300"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def text(self):
        return (self.root / "mlid.log").read_text()[-4000:]

    def up(self, daemon):
        self.assertTrue(wait_for(lambda: daemon.poll() is not None or
                                 self.ctl("ping", "-s", self.root / "mlid.sock").code == 0))
        self.assertIsNone(daemon.poll(), self.text())

    def test_harmless(self):
        """mlid continues to serve, and SIGHUP (a reload) loses no job."""
        daemon = self.serve()
        self.up(daemon)
        storm = Storm(daemon.pid, soak.pick_of(self, 0), (*HARMLESS, signal.SIGHUP))
        storm.start()
        for number in soak.rounds(5, 200):
            with self.subTest(again=soak.again(self, number)):
                self.ctl("submit", "-s", self.root / "mlid.sock", "job.json", code=0)
                self.assertTrue(all(self.exists(f"{i}.npy") for i in range(12)))
                self.check_outputs()
        storm.stop()
        daemon.terminate()
        self.assertEqual(daemon.wait(PATIENCE), 0, self.text())
        soak.count("harmless signal", storm.count)

    def test_end(self):
        """mlid finishes the running jobs, exits with 0, and leaves no socket and no lock file."""
        ended = 0
        for number in soak.rounds(5, 200):
            pick = soak.pick_of(self, number)
            with self.subTest(again=soak.again(self, number)):
                daemon = self.serve()
                starting = pick.random() < 0.3
                if not starting:
                    self.up(daemon)
                clients = [self.launch("submit", "-s", self.root / "mlid.sock", "job.json") for _ in range(2)]
                time.sleep(pick.random() * (0.01 if starting else 0.04))
                number = pick.choice((signal.SIGTERM, signal.SIGINT))
                daemon.send_signal(number)
                got = daemon.wait(PATIENCE)
                self.assertIn(got, (0, -number) if starting else (0,), self.text())
                ended += 1
                for client in clients:
                    err = client.communicate(timeout=PATIENCE)[1].decode()
                    self.assertIn(client.returncode, (0, 1, 3), err)
                    self.assertTrue(err or client.returncode == 0)
                self.check_outputs()
                if got == 0:
                    self.assertEqual(sorted(os.listdir(self.root)), ["mlid.log", "work"])
        soak.count("signal that ends mlid", ended)


if __name__ == "__main__":
    main()
