#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes descriptors, mappings, address space and the memory of a control group away from mlictl and mlid.

mlictl_lost_output and mlictl_interrupted test single limits; this test tries all values of a limit.
"""
import contextlib
import os
import pathlib
import resource
import subprocess
import time

import soak
from batch_scene import MOVED, MOVED_SHAPE, BatchCase
from harness import MLID, PATIENCE, main, mov, npy, wait_for
from wire import Closed, Connection, Fault

LOADER = 127  # exit code if the dynamic loader cannot load the libraries of a program
MIB = 1 << 20
CGROUPS = pathlib.Path("/sys/fs/cgroup")


def limit(kind, value):
    """Returns a function that limits a resource in the child process."""
    return lambda: resource.setrlimit(kind, (value, value))


class Exhausted(BatchCase):
    def setUp(self):
        super().setUp()
        self.new = npy("|i1", MOVED_SHAPE, MOVED)
        self.write("job.json", [mov("in.npy", f"{i}.npy", perm_dim=[2, 0, 1]) for i in range(3)])
        for i in range(6):
            self.add(f"c{i}", "bad.npy" if i == 3 else "good.npy")
        self.hits = 0
        self.preload = {}

    def environment(self):
        return dict(super().environment(), **self.preload)

    def text(self):
        return (self.root / "mlid.log").read_text()[-4000:]

    def commands(self):
        return ((("run", "job.json"), 0), (("submit", "-s", self.daemon.socket, "job.json"), 0),
                (("batch", "cases", "-j2", "--keep", "none"), 1), (("explain", "--no-memcpy", "job.json"), 0),
                (("selftest", "--iterations", "1", "--seed", "1", "-e", "threads"), 0))

    def check(self, words, code, **more):
        """Expects the right result, or a message and no partly written file."""
        result = self.ctl(*words, stdin=b"", **more)
        complete = result.code == code and (code == 0 or "6 cases: 5 passed, 1 failed" in result.out)
        if not complete and result.code != LOADER:
            self.assertIn(result.code, (1, 2, 3), str(result))
            self.assertTrue(result.err or " error" in result.out, f"no message: {result}")
        self.hits += not complete
        for i in range(3):
            if self.exists(f"{i}.npy"):
                self.assertEqual(self.read(f"{i}.npy"), self.new)
                os.unlink(self.path(f"{i}.npy"))
            else:
                self.assertFalse(complete and "job.json" in words and words[0] != "explain")
        self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(".mlictl-")], [])

    def each(self, what, values, settings):
        """Runs every command with all values of the limit, or with a sample of them; settings(value) returns the
        options of Popen."""
        self.daemon  # has no limits
        for number in soak.rounds(20, len(values) * 5):
            words, code = self.commands()[number % 5]
            value = values[number // 5 % len(values)]
            if not soak.SOAK and number >= 5:  # the first rounds have the lowest limit, which has an effect
                value = soak.pick_of(self, number).choice(values)
            with self.subTest(command=words, value=value, again=soak.again(self, number)):
                self.check(words, code, **settings(value))
        soak.count(what, self.hits)
        self.assertTrue(soak.ONLY or self.hits, "the limits were too high to matter")


class Mlictl(Exhausted):
    def test_descriptors(self):
        self.each("no descriptors left", range(3, 40),
                  lambda value: {"preexec_fn": limit(resource.RLIMIT_NOFILE, value)})

    def test_mappings(self):
        if "MLI_MAPPINGS" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")

        def settings(value):
            self.preload = {"LD_PRELOAD": os.environ["MLI_MAPPINGS"], "MAPPINGS_LEFT": str(value)}
            return {}
        values = [*range(0, 40, 2), *range(40, 200, 10)]
        self.daemon  # has mappings of its own
        self.each("no mappings left", values, settings)
        self.preload = {}

    def test_address_space(self):
        if soak.INSTRUMENTED:
            self.skipTest("sanitizers reserve terabytes")
        self.each("no address space left", [k << 18 for k in range(24, 1000, 13)],
                  lambda value: {"preexec_fn": limit(resource.RLIMIT_AS, value)})


class Mlid(Exhausted):
    def serve(self, config="{}", **more):
        self.write("mlid.json", config)
        with open(self.root / "mlid.log", "ab") as log:
            process = subprocess.Popen([MLID, "--config", self.path("mlid.json"), "--socket", self.root / "mlid.sock"],
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log, **more)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def use(self, path):
        """Requests connections, buffers and jobs; returns how many of these were refused."""
        refused = 0
        with contextlib.ExitStack() as links:
            for _ in range(20):
                try:
                    link = links.enter_context(Connection(path, patience=0.5))
                    for _ in range(40):
                        reply = link.reply(link.request("buffer.alloc", {"size": 4096}))
                        for fd in reply.fds:
                            os.close(fd)
                        self.assertIn(reply.name, (None, "LIMIT", "NO_MEMORY", "IO_ERROR", "INTERNAL"), reply)
                        refused += reply.name is not None
                except (Closed, ConnectionError, TimeoutError):
                    refused += 1
        return refused

    def check_service(self, what, values, settings):
        """For each value of the limit, mlid either refuses to start and prints a message, or serves, refuses requests
        for which it lacks resources, and recovers."""
        path, refused = str(self.root / "mlid.sock"), 0
        for number in soak.rounds(3, len(values)):
            value = values[number % len(values)] if soak.SOAK else soak.pick_of(self, number).choice(values)
            with self.subTest(value=value, again=soak.again(self, number)):
                daemon = self.serve(**settings(value))
                self.assertTrue(wait_for(lambda: daemon.poll() is not None or os.path.exists(path)))
                if daemon.poll() is not None or not wait_for(lambda: self.is_up(daemon, path)):
                    self.assertIn(daemon.wait(PATIENCE), (1, 2, LOADER), self.text())
                    self.assertTrue(self.text())
                    refused += 1
                    continue
                worked = self.submits(path)
                refused += self.use(path) + (not worked)
                self.assertIsNone(daemon.poll(), self.text())
                self.assertTrue(not worked or wait_for(lambda: self.submits(path), 20), self.text())
                daemon.terminate()
                self.assertEqual(daemon.wait(PATIENCE), 0, self.text())
                self.assertFalse(os.path.exists(path))
        soak.count(what, refused)

    def submits(self, path):
        """Returns whether the jobs run; if they are refused, checks that there is a message."""
        result = self.ctl("submit", "-s", path, "job.json")
        self.assertTrue(result.code == 0 or result.err, str(result))
        return result.code == 0

    def is_up(self, daemon, path):
        return daemon.poll() is not None or self.ctl("ping", "-s", path).code == 0

    def test_descriptors(self):
        self.check_service("no descriptors left", range(4, 120),
                           lambda value: {"preexec_fn": limit(resource.RLIMIT_NOFILE, value)})

    def test_mappings(self):
        if "MLI_MAPPINGS" not in os.environ:
            self.skipTest("a sanitizer's library is loaded first")
        self.check_service("no mappings left", range(0, 300, 4), lambda value: {
            "env": dict(self.environment(), LD_PRELOAD=os.environ["MLI_MAPPINGS"], MAPPINGS_LEFT=str(value))})

    def test_address_space(self):
        if soak.INSTRUMENTED:
            self.skipTest("sanitizers reserve terabytes")
        self.check_service("no address space left", [k << 20 for k in range(4, 300, 5)],
                           lambda value: {"preexec_fn": limit(resource.RLIMIT_AS, value)})


class Group:
    """A control group with a memory limit, of version 2 or 1."""

    def __init__(self, limit_bytes):
        legacy = CGROUPS / "memory"
        parent = legacy if (legacy / "memory.limit_in_bytes").exists() else CGROUPS
        self.path = parent / f"mli-test-{os.getpid()}-{time.monotonic_ns()}"
        self.path.mkdir()
        name = "memory.limit_in_bytes" if parent == legacy else "memory.max"
        try:
            (self.path / name).write_text(str(limit_bytes))
        except OSError:
            self.path.rmdir()
            raise

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        def remove():
            with contextlib.suppress(OSError):
                self.path.rmdir()
            return not self.path.exists()
        wait_for(remove, 5)


class ControlGroup(Exhausted):
    """The kernel kills a process whose control group has no memory left."""

    def setUp(self):
        super().setUp()
        if soak.INSTRUMENTED:
            self.skipTest("sanitizers take more memory")
        self.new_group()

    def new_group(self):
        """Makes a new group, because the memory of a killed process may stay charged to the old group for a while."""
        try:
            self.group = Group(24 * MIB)
        except OSError as reason:
            self.skipTest(f"no control group can be made: {reason}")
        self.addCleanup(self.group.close)

    def test_mlictl(self):
        """The batch is killed or fails. Either way no file is partly written, and the results so far are right."""
        self.write("huge.raw", b"")
        os.truncate(self.path("huge.raw"), 64 * MIB)
        huge = mov({"file": "../huge.raw", "type": "sa8", "shape": [64, MIB]}, "o.raw", perm_dim=[1, 0])
        self.write("cases/c9.json", huge)
        words = ("batch", "cases", "-j1", "--resume", "s.jsonl", "--json", "--limit-bytes", str(512 * MIB))
        for number in soak.rounds(1, 20):
            with self.subTest(again=soak.again(self, number)):
                self.new_group()
                result = self.ctl(*words, preexec_fn=self.group.join)
                self.assertIn(result.code, (-9, 1), str(result))
                self.hits += result.code == -9
                if self.exists("s.jsonl"):
                    for name, record in self.records("s.jsonl").items():
                        if name != "c9":
                            self.assertEqual(record["status"], "failed" if name == "c3" else "passed")
        soak.count("no memory in the control group", self.hits)
        result = self.ctl(*words, code=1)
        verdicts = {e["name"]: e["status"] for e in result.json if e["event"] == "case"}
        self.assertEqual(verdicts, {f"c{i}": "failed" if i == 3 else "passed" for i in range(6)} |
                         {"c9": verdicts["c9"]})

    def test_mlid(self):
        """Clients of a killed mlid see that the connection is lost, and the next mlid serves clients."""
        path = self.root / "mlid.sock"
        for number in soak.rounds(1, 20):
            with self.subTest(again=soak.again(self, number)):
                self.new_group()
                self.write("mlid.json", "{}")
                with open(self.root / "mlid.log", "ab") as log:
                    daemon = subprocess.Popen([MLID, "--config", self.path("mlid.json"), "--socket", path],
                                              stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              preexec_fn=self.group.join)
                self.addCleanup(lambda daemon=daemon: daemon.poll() is None and (daemon.kill(), daemon.wait()))
                self.assertTrue(wait_for(lambda: daemon.poll() is not None or self.ctl("ping", "-s", path).code == 0))
                self.assertIsNone(daemon.poll(), self.text())
                if self.exhaust(str(path)):
                    self.assertEqual(daemon.wait(PATIENCE), -9, self.text())
                    self.hits += 1
                self.ctl("submit", "-s", path, "job.json", code=0 if daemon.poll() is None else 3)
                daemon.kill()
                daemon.wait()
        soak.count("no memory in the control group", self.hits)

    def exhaust(self, path):
        """Makes the service hold more memory than its control group has. Returns whether the kernel killed it."""
        with Connection(path) as link:
            try:
                for i in range(1, 100):
                    link.call("buffer.alloc", {"size": 2 * MIB})
                    link.call("job.submit", {"op": "mov", "src": {"buffer": i, "type": "fx8", "shape": [MIB]},
                                             "dst": {"buffer": i, "offset": MIB}})
            except Fault:
                return False
            except (Closed, ConnectionError, AssertionError):
                return True
        return False


if __name__ == "__main__":
    main()
