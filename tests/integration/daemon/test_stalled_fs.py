# SPDX-License-Identifier: BSD-3-Clause
"""Passes files of a FUSE file system whose server does not answer (stalled_fs.py). Whenever such a file makes a part
of mlid wait, mlid must still serve all other connections.
"""
import os
import pathlib
import tempfile
import threading
import time
import unittest

import stalled_fs
from service import NOBODY, SANITIZED, Case, Memory, as_user, copy, main, open_files
from wire import SLOW

SILENCE = 1 * SLOW  # seconds that a ping may take meanwhile
WATCHED = 2  # seconds for which the pings go on
BIG = 256 * 1024
SMALL = 4096  # bytes that the loop moves itself, if they are in memory
MANY = 64  # descriptors: as many as mlid takes from a user while none of them closes


def prepare():
    """Returns whether the test runs as the machine's root user, and the reason why no file system can be mounted
    (None: it can)."""
    try:
        root = stalled_fs.private_mounts()
        with tempfile.TemporaryDirectory() as directory:
            stalled_fs.StalledFs(directory).close()
    except stalled_fs.Unavailable as reason:
        return False, f"no FUSE file system: {reason}"
    return root, None


IS_ROOT, UNAVAILABLE = prepare()


class Pings:
    """Sends pings from a thread of its own, during the whole `with` block and for at least WATCHED seconds."""

    def __init__(self, test, service):
        self.test = test
        self.link = test.connect(service)
        self.thread = threading.Thread(target=self.run)
        self.over = False
        self.longest = 0

    def run(self):
        begin = time.monotonic()
        while not self.over or time.monotonic() - begin < WATCHED:
            sent = time.monotonic()
            self.link.request("daemon.ping")
            # link.reply() would wait too long: if mlid is blocked, the test must fail soon.
            answered = self.link.wait(lambda: self.link.replies, 10 * SILENCE)
            self.longest = max(self.longest, time.monotonic() - sent)
            if not answered:
                return
            self.link.replies.clear()
            time.sleep(0.002)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over = True
        self.thread.join()
        self.link.close()
        print(f"    longest silence: {self.longest * 1000:.0f} ms", flush=True)
        self.test.assertLess(self.longest, SILENCE, "the service did not answer pings")


@unittest.skipIf(UNAVAILABLE, UNAVAILABLE)
class StalledFs(Case):
    def setUp(self):
        super().setUp()
        mount = self.root / "mount"
        mount.mkdir()
        self.fs = stalled_fs.StalledFs(mount)
        self.addCleanup(self.fs.close)
        self.kept = []
        self.addCleanup(self.close_all)

    def close_all(self):
        self.fs.free()
        self.close_kept()

    def close_kept(self):
        while self.kept:
            self.kept.pop().close()

    def start(self, config=None):
        self.mlid = self.service(config=config)
        self.addCleanup(self.fs.free)  # before the end of mlid, which would wait for the server
        # The first jobs make mlid open the files that it keeps open.
        with self.connect(self.mlid) as link:
            for size in SMALL, BIG:
                link.call("job.submit", copy(size), [self.memory(size=size), self.memory(size=size)])
        self.at_rest = self.mlid.fds_at_rest()

    def file(self, number=0):
        """Opens a file and returns its descriptor, which stays open."""
        return self.keep(Memory(fd=self.fs.open(number)))

    def memory(self, content=b"", size=None):
        return self.keep(Memory(content, size))

    def keep(self, memory):
        self.kept.append(memory)
        return memory.fd

    def client(self):
        """Returns a connection of another user than that of the pings, if this is possible."""
        if not IS_ROOT:
            return self.connect(self.mlid, patience=10 * SILENCE)
        os.chmod(self.mlid.socket, 0o666)
        with as_user(NOBODY):
            return self.connect(self.mlid, patience=10 * SILENCE)

    def stalls(self, requests=1):
        self.eventually(lambda: self.fs.waiting() >= requests, "no request of mlid waits")

    def mapped(self):
        maps = pathlib.Path(f"/proc/{self.mlid.pid}/maps").read_text(encoding="utf-8")
        return str(self.fs.directory) in maps

    def free(self):
        """Lets the server answer: then mlid closes and unmaps all files."""
        self.fs.free()
        self.eventually(lambda: self.mlid.fds() == self.at_rest,
                        f"{open_files(self.mlid.pid)}; {self.at_rest} before", 10 * SLOW)
        self.eventually(lambda: not self.mapped(), "a file is still mapped")

    # close(2)

    def test_surplus_descriptor(self):
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            client = self.client()
            self.assertFault(client.fault("daemon.ping", None, [self.file()]), "INVALID_REQUEST", "/fds")
            self.stalls()
            client.close()
        self.free()

    def test_unfinished_line(self):
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            client = self.client()
            client.send_raw(b"{", [self.file(i) for i in range(16)])
            self.eventually(lambda: self.mlid.fds() >= self.at_rest + 16)
            client.close()
            self.stalls()
        self.free()

    def test_refused_job(self):
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            client = self.client()
            fault = client.fault("job.submit", copy(2 << 20), [self.file(), self.memory(size=4)])
            self.assertFault(fault, "BAD_DESCRIPTOR", "/src/fd")
            self.stalls()
            client.close()
        self.free()

    def test_done_job(self):
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            client = self.client()
            for size in SMALL, BIG:
                target = Memory(size=size)
                client.call("job.submit", copy(size), [self.file(), target.fd])
                self.assertEqual(target.content, stalled_fs.content(0, size))
            self.stalls()
            client.close()
        self.free()

    def test_released_buffer(self):
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            client = self.client()
            buffer = client.call("buffer.register", {"fd": 0}, [self.file()])["buffer"]
            client.call("buffer.register", {"fd": 0}, [self.file()])  # its client leaves it behind
            client.call("buffer.release", {"buffer": buffer})
            self.stalls()
            client.close()
        self.free()

    def test_many(self):
        """The user who sent all these descriptors has to wait; other users do not."""
        self.start()
        self.fs.stall("flush")
        with Pings(self, self.mlid):
            clients = [self.client() for _ in range(MANY // 16)]
            for i, client in enumerate(clients):
                client.request("daemon.ping", None, [self.file(16 * i + k) for k in range(16)])
            self.stalls()
            self.eventually(lambda: self.mlid.fds() >= self.at_rest + MANY)
            for client in clients:
                self.assertFault(client.error(1), "INVALID_REQUEST", "/fds")
            waits = self.client()
            waits.request("daemon.ping")
            self.assertFalse(waits.wait(lambda: waits.replies, 0.2))
            for client in clients:
                client.close()
            late = self.connect(self.mlid)
            target = Memory(size=SMALL)
            late.call("job.submit", copy(SMALL), [self.memory(size=SMALL), target.fd])
            late.close()
        self.fs.free()
        self.assertEqual(waits.result(1), {"pong": True})
        waits.close()
        self.free()

    # Tests with stalled requests for attributes and pages

    def test_attributes(self):
        """mlid does not ask the server for any attribute."""
        self.start()
        self.fs.stall("getattr", "statfs")
        client, target = self.client(), Memory(size=SMALL)
        with Pings(self, self.mlid):
            client.call("job.submit", copy(SMALL), [self.file(), target.fd])
            client.call("buffer.register", {"fd": 0}, [self.file()])
            client.close()
        self.assertEqual(self.fs.waiting(), 0)
        self.free()

    def test_reads(self):
        """Channels wait for pages of the file system, and the client of these jobs leaves."""
        self.start()
        self.fs.stall("read")
        with Pings(self, self.mlid):
            client = self.client()
            for number, size in enumerate((SMALL, BIG)):
                client.request("job.submit", copy(size), [self.file(number), self.memory(size=size)])
            self.stalls(2)
            client.close()
            self.jobs_of_others()
        self.free()

    def test_writes(self):
        """Unmapping waits until the server has taken the pages that a job has written."""
        self.start()
        self.fs.stall("write", "fsync")
        with Pings(self, self.mlid):
            client = self.client()
            for number, size in enumerate((SMALL, BIG)):
                client.request("job.submit", copy(size), [self.memory(size=size), self.file(number)])
            self.stalls()
            client.close()
            self.jobs_of_others()
        self.free()

    def test_writes_to_buffer(self):
        self.start()
        self.fs.stall("write", "fsync")
        with Pings(self, self.mlid):
            client = self.client()
            buffer = client.call("buffer.register", {"fd": 0}, [self.file(3)])["buffer"]
            # Does not wait for replies of mlid: if the kernel writes a page back meanwhile, a job
            # waits for the server of the file system.
            for size in SMALL, BIG:
                client.request("job.submit", copy(size, dst={"buffer": buffer}), [self.memory(size=size)])
            client.request("buffer.release", {"buffer": buffer})
            self.stalls()
            client.close()
            self.jobs_of_others()
        self.free()

    def jobs_of_others(self):
        """Runs jobs whose mappings are not shared with other jobs."""
        other = self.connect(self.mlid, patience=10 * SILENCE)
        for size in SMALL, BIG, SMALL, BIG:
            target = Memory(size=size)
            other.call("job.submit", copy(size), [self.memory(stalled_fs.content(0, size)), target.fd])
            self.assertEqual(target.content, stalled_fs.content(0, size))
        other.close()

    def test_memory_only(self):
        """With memory_only, mlid maps no file of the file system, whatever the server does."""
        self.start({"memory_only": True})
        self.fs.stall("read", "write", "flush", "getattr")
        with Pings(self, self.mlid):
            client = self.client()
            fault = client.fault("job.submit", copy(SMALL), [self.file(4), self.memory(size=SMALL)])
            self.assertFault(fault, "BAD_DESCRIPTOR", "/src/fd")
            fault = client.fault("buffer.register", {"fd": 0}, [self.file(4)])
            self.assertFault(fault, "BAD_DESCRIPTOR", "/fd")
            client.close()
        self.free()

    # The end

    @unittest.skipIf(SANITIZED, "the leak check waits until all threads have stopped, which one of them cannot")
    def test_end(self):
        """After SIGTERM, mlid serves its clients to the end, and leaves its socket to the next mlid."""
        self.start()
        self.fs.stall("flush")
        client = self.client()
        client.fault("daemon.ping", None, [self.file()])
        self.stalls()
        begin = time.monotonic()
        self.mlid.process.terminate()
        self.assertTrue(client.ended(5 * SLOW))
        self.eventually(lambda: "descriptors do not close" in self.mlid.text())
        self.eventually(lambda: self.state() == "Z" or self.mlid.process.poll() is not None)
        print(f"    SIGTERM to the end of the main thread: {time.monotonic() - begin:.1f} s; "
              f"threads left: {self.threads()}", flush=True)
        self.assertLess(time.monotonic() - begin, 3 * SLOW)
        self.close_kept()  # or the new process would close its copies, and wait
        following = self.service("--socket", self.mlid.socket)
        following.socket = self.mlid.socket
        self.connect(following).ping()
        self.fs.free()
        self.assertEqual(self.mlid.stop(), 0)

    def state(self):
        return pathlib.Path(f"/proc/{self.mlid.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def threads(self):
        return len(os.listdir(f"/proc/{self.mlid.pid}/task"))


if __name__ == "__main__":
    main()
