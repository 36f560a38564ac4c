# SPDX-License-Identifier: BSD-3-Clause
"""Tests failures around mlid: killed clients, a killed service, files that shrink under the DMA, full storage,
channels that fail or get stuck."""
import fcntl
import os
import random
import subprocess
import time

from load import FORK, buffered
from service import MLICTL, SANITIZED, SEED, Case, Memory, copy, main, needs_root, npy, ramp
from wire import PATIENCE, Connection

STUCK = ("--engine", "fault:threads,stick=1")
MIB = 1 << 20
OLD, NEW = b"\xee" * 6, b"012345"


def idle(link):
    stats = link.call("daemon.stats")
    return (stats["jobs"]["running"], stats["jobs"]["queued"], stats["buffers"], stats["prepared"],
            stats["clients"]["now"]) == (0, [0, 0, 0], {"now": 0, "bytes": 0}, 0, 1)


class Killed(Case):
    def crowd(self, path, ready):
        """Runs in the client process that will be killed: starts jobs of every kind, and makes buffers and prepared
        jobs."""
        link = Connection(path)
        params, memory = buffered(link, MIB)
        link.call("job.prepare", params)
        link.call("buffer.alloc", {"size": MIB})
        source, target = Memory(size=MIB), Memory(size=MIB)
        for _ in range(20):
            link.request("job.submit", params)
            link.request("job.start", {"prepared": 1})
            link.request("job.submit", copy(MIB), [source.fd, target.fd])
        link.ping()
        ready.send("ready")
        time.sleep(PATIENCE)

    def test_clients(self):
        mlid = self.service("--engine", "fault:threads,delay_us=20000,stick_pct=5")
        watcher = self.connect(mlid)
        watcher.call("daemon.stats")
        before, mapped = mlid.fds(), mlid.mapped()
        for _ in range(5):
            ours, theirs = FORK.Pipe()
            victims = [FORK.Process(target=self.crowd, args=(mlid.socket, theirs))
                       for _ in range(2)]
            for victim in victims:
                victim.start()
            for victim in victims:
                self.assertTrue(ours.poll(PATIENCE))
                ours.recv()
            self.assertEqual(watcher.call("daemon.stats")["buffers"]["now"], 4)
            for victim in victims:
                victim.kill()
                victim.join()
            self.eventually(lambda: idle(watcher))
        self.eventually(lambda: (mlid.fds(), mlid.mapped()) == (before, mapped),
                        f"{mlid.fds()} descriptors, {before} before; {mlid.mapped()} mapped")

    def test_service(self):
        """mlictl exits with the documented code and leaves no files."""
        mlid = self.service(*STUCK, exits=None)
        watcher = self.connect(mlid)
        work = self.root / "work"
        work.mkdir()
        (work / "in.npy").write_bytes(npy("|i1", (6,), ramp(6)))
        (work / "out.npy").write_bytes(b"as it was")
        (work / "job.json").write_text('{"op": "mov", "src": {"file": "in.npy"}, '
                                       '"dst": {"file": "out.npy"}}')
        ctl = subprocess.Popen([MLICTL, "submit", "--socket", mlid.socket, "job.json"], cwd=work,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.eventually(lambda: watcher.call("daemon.info")["jobs_running"] == 1)
        mlid.process.kill()
        errors = ctl.communicate(timeout=PATIENCE)[1].decode()
        self.assertEqual(ctl.returncode, 3, errors)
        self.assertEqual(sorted(os.listdir(work)), ["in.npy", "job.json", "out.npy"])
        self.assertEqual((work / "out.npy").read_bytes(), b"as it was")
        self.assertTrue(watcher.ended())


class Terminated(Case):
    def jobs(self, mlid, count):
        link = self.connect(mlid)
        source, self.targets = Memory(NEW), [Memory(OLD) for _ in range(count)]
        ids = [link.request("job.submit", copy(6), [source.fd, target.fd])
               for target in self.targets]
        link.ping()
        return link, ids

    def test_running_jobs_are_finished(self):
        mlid = self.service("--engine", "fault:threads,delay_us=600000", config={"channels": 1})
        link, (running, *queued) = self.jobs(mlid, 5)
        info = link.call("daemon.info")
        self.assertEqual((info["jobs_running"], info["jobs_queued"]), (1, 4))
        mlid.process.terminate()
        link.result(running)
        for id in queued:
            self.assertFault(link.error(id), "SHUTTING_DOWN")
        self.assertTrue(link.ended())
        self.assertEqual(mlid.process.wait(PATIENCE), 0)
        self.assertEqual([target.content for target in self.targets], [NEW] + 4 * [OLD])
        self.assertFalse(os.path.exists(mlid.socket))

    def test_jobs_that_outlast_the_drain(self):
        mlid = self.service(*STUCK, config={"channels": 1, "drain_ms": 200}, exits=1)
        link, ids = self.jobs(mlid, 3)
        mlid.process.terminate()
        for id in ids:
            self.assertFault(link.error(id), "SHUTTING_DOWN")
        self.assertTrue(link.ended())

    def test_a_job_without_a_client_that_outlasts_the_drain(self):
        mlid = self.service(*STUCK, config={"channels": 1, "drain_ms": 200}, exits=1)
        source, target = Memory(NEW), Memory(OLD)
        with mlid.connect() as link:
            link.call("job.submit", copy(len(NEW), detach=True), [source.fd, target.fd])
            self.eventually(lambda: link.call("daemon.info")["jobs_running"] == 1)
        source.close()
        target.close()
        with mlid.connect() as link:
            self.eventually(lambda: link.call("daemon.info")["clients"] == 1)


class Shrinking(Case):
    """Truncates files during a DMA transfer: a transpose of 32 MiB takes long enough."""
    SHAPE = [8192, 4096]
    BYTES = 32 * MIB
    TRIES = 4 if SANITIZED else 10

    def params(self, src=0, dst=1):
        return copy(self.SHAPE, src, dst, cfg={"perm_dim": [1, 0]})

    def running(self, link, id):
        """Waits until the job runs, and then a moment longer; the job may have ended by that time."""
        while link.call("daemon.info")["jobs_running"] == 0 and id not in link.replies:
            pass
        time.sleep(self.random.random() * 0.005)

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.mlid = self.service()
        self.link = self.connect(self.mlid)

    def cut(self, victim):
        """Returns the error names of the jobs whose source or destination was truncated."""
        found = []
        for _ in range(self.TRIES):
            files = [Memory(size=self.BYTES), Memory(size=self.BYTES)]
            id = self.link.request("job.submit", self.params(), [file.fd for file in files])
            self.running(self.link, id)
            files[victim].truncate(self.random.choice((0, 4096, MIB)))
            message = self.link.reply(id)
            found.append(message.name)
            if message.name:
                self.assertEqual(message.name, "IO_ERROR")
                self.assertEqual(message["error"]["data"]["pointer"], ("/src", "/dst")[victim])
        self.link.ping()
        self.eventually(lambda: self.mlid.mapped() == 0)
        self.assertIn("IO_ERROR", found, f"the machine is too quick for this test, seed {SEED}")

    def test_source(self):
        self.cut(0)

    def test_destination(self):
        self.cut(1)

    def test_sealed(self):
        """A file that is sealed against shrinking is moved completely."""
        files = [Memory(size=self.BYTES), Memory(size=self.BYTES)]
        for file in files:
            fcntl.fcntl(file.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        id = self.link.request("job.submit", self.params(), [file.fd for file in files])
        self.running(self.link, id)
        self.assertRaises(PermissionError, files[0].truncate)
        self.link.result(id)

    def test_sealed_buffer(self):
        """The service immediately adds the seals that the file accepts."""
        memory = Memory(size=4096)
        self.assertTrue(self.link.call("buffer.register", {"fd": 0}, [memory.fd])["sealed"])
        self.assertRaises(PermissionError, memory.truncate)
        memory.truncate(8192)
        target = Memory(size=8192)
        fault = self.link.fault("job.submit", copy(4097, {"buffer": 1}, 0), [target.fd])
        self.assertFault(fault, "BAD_DESCRIPTOR")
        self.link.call("job.submit", copy(4096, {"buffer": 1}, 0), [target.fd])

    def test_unsealed_buffer(self):
        """This job and all later jobs in the buffer fail; all other jobs succeed."""
        memory = Memory(size=2 * self.BYTES, sealing=False)
        buffer = self.link.call("buffer.register", {"fd": 0}, [memory.fd])
        self.assertFalse(buffer["sealed"])
        params = self.params({"buffer": 1}, {"buffer": 1, "offset": self.BYTES})
        self.link.call("job.prepare", params)
        id = self.link.request("job.submit", params)
        self.running(self.link, id)
        memory.truncate()
        self.assertIn(self.link.reply(id).name, (None, "IO_ERROR"))
        for method, again in (("job.submit", params), ("job.start", {"prepared": 1})) * 2:
            self.assertFault(self.link.fault(method, again), "IO_ERROR")
        source, target = Memory(NEW), Memory(OLD)
        self.link.call("job.submit", copy(6), [source.fd, target.fd])
        self.assertEqual(target.content, NEW)
        self.link.call("buffer.release", {"buffer": 1})
        self.link.call("job.release", {"prepared": 1})
        self.eventually(lambda: self.mlid.mapped() == 0)

    @needs_root
    def test_full_storage(self):
        """The DMA writes into holes of a file for which the file system has no room."""
        place = self.root / "small"
        place.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place],
                               capture_output=True, check=False)
        if mount.returncode:
            self.skipTest(f"no tmpfs: {mount.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        fd = os.open(place / "sparse", os.O_RDWR | os.O_CREAT)
        source, target = Memory(size=4 * MIB), Memory(size=4 * MIB, fd=fd)
        for _ in range(3):
            fault = self.link.fault("job.submit", copy(4 * MIB), [source.fd, target.fd])
            self.assertFault(fault, "IO_ERROR", "/dst")
        target.truncate(65536)
        self.link.call("job.submit", copy(65536), [source.fd, target.fd])
        target.close()


class Channels(Case):
    def test_stuck(self):
        """The watchdog takes a stuck channel out of service, the other channels continue, and the channel returns
        later."""
        mlid = self.service(*STUCK, config={
            "channels": 2, "watchdog": {"limit_ms": 100, "quarantine_ms": 1500}})
        link = self.connect(mlid)
        params, _memory = buffered(link, 4096)
        begin = time.monotonic()
        self.assertFault(link.fault("job.submit", params), "CHANNEL_STUCK")
        self.assertGreater(time.monotonic() - begin, 0.09)
        info = link.call("daemon.info")
        self.assertEqual((info["channels_quarantined"], info["channels_busy"]), (1, 0))
        states = sorted(c["state"] for c in link.call("daemon.stats")["channels"])
        self.assertEqual(states, ["idle", "quarantined"])
        if time.monotonic() - begin < 1:
            fault = link.fault("job.submit", dict(params, channels=2))
            self.assertFault(fault, "CHANNEL_STUCK")
        for _ in range(20):
            link.call("job.submit", params)
        self.eventually(lambda: link.call("daemon.info")["channels_quarantined"] == 0)
        self.assertGreater(time.monotonic() - begin, 1.5)
        self.assertEqual(link.call("job.submit", dict(params, channels=2))["cost"]["channels"], 2)

    def test_resume_brings_it_back(self):
        mlid = self.service(*STUCK, config={"channels": 1, "watchdog": {"limit_ms": 50}})
        link = self.connect(mlid)
        params, _memory = buffered(link, 4096)
        for _ in range(2):
            self.assertFault(link.fault("job.submit", params), "CHANNEL_STUCK")
        self.eventually(lambda: link.call("daemon.resume") and
                        link.call("daemon.info")["channels_quarantined"] == 0)
        link.call("job.submit", params)

    def test_all_that_can_stick(self):
        """Half of the transfers get stuck; jobs that wait for the channels of stuck jobs are served later or fail."""
        mlid = self.service("--engine", f"fault:threads,stick_pct=50,seed={SEED}", config={
            "watchdog": {"limit_ms": 30, "quarantine_ms": 50}})
        link = self.connect(mlid)
        params, _memory = buffered(link, 4096)
        ids = [link.request("job.submit", params) for _ in range(60)]
        names = [link.reply(id).name for id in ids]
        self.assertLessEqual(set(names), {None, "CHANNEL_STUCK"})
        self.eventually(lambda: link.call("daemon.info")["channels_quarantined"] == 0)
        info = link.call("daemon.info")
        self.assertEqual((info["jobs_done"], info["jobs_failed"]), (
            names.count(None), names.count("CHANNEL_STUCK")))

    def test_failing(self):
        """Each job has the right result or fails, and the channel continues to work."""
        mlid = self.service("--engine", f"fault:threads,fail_pct=30,seed={SEED}")
        link = self.connect(mlid)
        source = Memory(NEW * 1000)
        names = []
        for _ in range(200):
            target = Memory(size=6000)
            message = link.reply(link.request("job.submit", copy([100, 60], channels=2),
                                              [source.fd, target.fd]))
            names.append(message.name)
            if not message.name:
                self.assertEqual(target.content, source.content)
        self.assertEqual(set(names), {None, "DMA_ERROR"})
        self.assertEqual(link.call("daemon.info")["channels_busy"], 0)


if __name__ == "__main__":
    main()
