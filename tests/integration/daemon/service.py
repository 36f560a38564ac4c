# SPDX-License-Identifier: BSD-3-Clause
"""A private mlid, observed from outside: its socket, its /proc, its exit code."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import (MLICTL, MLID, SOURCE, main, needs_root, npy, open_files,  # noqa: E402,F401
                     ramp)
from wire import PATIENCE, SLOW, Connection  # noqa: E402

SANITIZED = os.environ.get("MLI_SANITIZE", "none") != "none"
SOAK = os.environ.get("MLI_SOAK") == "1"
SEED = int(os.environ.get("MLI_TEST_SEED", time.time_ns() % 1000000))
NOBODY = 65534
PROTOCOL = SOURCE / "proto" / "PROTOCOL.md"


def wait_for(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


@contextlib.contextmanager
def as_user(uid):
    """Opens files and connects as this user inside the context (only root can)."""
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


class Memory:
    """A memfd or another file, with tensors in it."""

    def __init__(self, content=b"", size=None, sealing=True, fd=None):
        flags = os.MFD_CLOEXEC | (os.MFD_ALLOW_SEALING if sealing else 0)
        self.fd = os.memfd_create("tensor", flags) if fd is None else fd
        if size is not None:
            os.ftruncate(self.fd, size)
        if content:
            os.pwrite(self.fd, content, 0)

    def __del__(self):
        self.close()

    def close(self):
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None

    @property
    def size(self):
        return os.fstat(self.fd).st_size

    @property
    def content(self):
        return os.pread(self.fd, self.size, 0)

    def part(self, offset, size):
        return os.pread(self.fd, size, offset)

    def put(self, offset, content):
        os.pwrite(self.fd, content, offset)

    def truncate(self, size=0):
        os.ftruncate(self.fd, size)


def copy(size, src=0, dst=1, type="fx8", **more):
    """Returns the params of a plain copy. `src` and `dst` are descriptor indices or members."""
    place = [{"fd": end} if isinstance(end, int) else dict(end) for end in (src, dst)]
    shape = size if isinstance(size, list) else [size]
    return {"op": "mov", "src": {**place[0], "type": type, "shape": shape}, "dst": place[1], **more}


class Service:
    def __init__(self, directory, *options, config=None, address_space=None):
        directory = pathlib.Path(directory)
        self.socket = str(directory / "mlid.sock")
        self.log = open(directory / "mlid.log", "w+b")
        (directory / "mlid.json").write_text(json.dumps(config or {}))
        environment = dict(os.environ)
        # Freed memory that a sanitizer keeps would look like a leak in /proc.
        environment["ASAN_OPTIONS"] = "quarantine_size_mb=4:" + environment.get("ASAN_OPTIONS", "")

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [MLID, "--config", directory / "mlid.json", "--socket", self.socket,
             "--allow-core", *options],  # for its /proc to be read by others than root
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment,
            preexec_fn=limit if address_space else None)

    @property
    def pid(self):
        return self.process.pid

    def connect(self, **more):
        """Connects to the service; waits for a service that is starting."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return Connection(self.socket, **more)
            except (FileNotFoundError, ConnectionRefusedError):
                # Only the process that started mlid, its parent, can poll mlid; a process that was forked from the
                # parent cannot.
                gone = os.getpid() == self.owner and self.process.poll() is not None
                if gone or time.monotonic() > end:
                    raise AssertionError(f"mlid does not listen:\n{self.text()}") from None
                time.sleep(0.005)

    def text(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def fds(self):
        return len(open_files(self.pid))

    def fds_at_rest(self):
        """Returns the number of descriptors once it is stable, because descriptors are closed
        shortly after the reply."""
        end, found = time.monotonic() + PATIENCE, self.fds()
        while time.monotonic() < end:
            before, found = found, (time.sleep(0.2), self.fds())[1]
            if found == before:
                break
        return found

    def memory(self):
        """Returns the private bytes of the service, without mappings of clients' tensors."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("no RssAnon")

    def mapped(self):
        """Returns the number of mappings of memfds."""
        maps = pathlib.Path(f"/proc/{self.pid}/maps").read_text()
        return sum("/memfd:" in line for line in maps.splitlines())

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()

    def stop(self):
        """Sends SIGTERM, as a service manager does; returns the exit code of the service."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"mlid does not end:\n{self.text()}") from None


class Case(unittest.TestCase):
    """Tests with private services; each service must exit with 0 unless the test says otherwise."""

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="mlid-test-")
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.root.chmod(0o755)
        self.services = 0

    def service(self, *options, config=None, exits=0, **more):
        """Starts a service. `exits`: its expected exit code; None: not checked."""
        directory = self.root / f"service{self.services}"
        directory.mkdir(mode=0o755)
        self.services += 1
        service = Service(directory, *options, config=config, **more)
        self.addCleanup(service.kill)
        if exits is not None:
            self.addCleanup(lambda: self.end(service, exits))
        return service

    def end(self, service, code):
        self.assertEqual(service.stop(), code, service.text())
        for word in ("Sanitizer", "runtime error"):
            self.assertNotIn(word, service.text())

    def connect(self, service, **more):
        connection = service.connect(**more)
        self.addCleanup(connection.close)
        return connection

    def eventually(self, condition, message="", seconds=PATIENCE):
        self.assertTrue(wait_for(condition, seconds), message)

    def assertFault(self, fault, name, pointer=None):
        self.assertEqual(fault.name, name, fault)
        if pointer is not None:
            self.assertEqual(fault.pointer, pointer, fault)
