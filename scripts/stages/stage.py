# SPDX-License-Identifier: BSD-3-Clause
"""Runs the stages of a test run in parallel lanes, and reports their progress and their times.

    stage.py    runs commands, measures them, reports their progress
    trees.py    build trees: configure, compile, run meson test
    tidy.py     clang-tidy of several sources, cached
    count.py    adds up the test cases of meson's logs
    full.py     scripts/test
    changed.py  scripts/check
    torture.py  scripts/torture

To add a stage: write a function that returns whether it passed, and list it in full.py or changed.py.
"""
import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HEARTBEAT = 20  # seconds between two lines of progress
CPUS = os.cpu_count() or 1
ROOT = pathlib.Path(__file__).resolve().parents[2]
TREES = ROOT / "build-test"
MEMORY = "/dev/shm"
MEMORY_FREE = 3 << 30  # bytes: the tests need less than half of them at a time

_print_lock = threading.Lock()


def say(text):
    with _print_lock:
        print(text, flush=True)


@dataclasses.dataclass
class Stage:
    """One step of a run. `log` is where its commands write, `progress()` says how far it is."""
    name: str
    log: pathlib.Path = None
    wall: float = 0
    cpu: float = 0
    passed: bool = False
    status: str = ""

    def progress(self):
        if self.status:
            return f"{self.name}: {self.status}"
        counts = re.findall(r"^\[?\s*(\d+)/(\d+)", _tail(self.log), re.M) if self.log else []
        return f"{self.name}: {counts[-1][0]} of {counts[-1][1]}" if counts else self.name

    def run(self, command, env=None, nice=0):
        """Runs a command with its output in the log. Returns its exit status."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "w") as log:
            process = subprocess.Popen(
                ["nice", "-n", str(nice), *map(str, command)] if nice else list(map(str, command)),
                cwd=ROOT, env={**os.environ, **(env or {})}, stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu += used.ru_utime + used.ru_stime
        return process.returncode


def _tail(path, size=4096):
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            return file.read().decode(errors="replace").replace("\r", "\n")
    except OSError:
        return ""


class Run:
    """Stages in lanes: the stages of one lane run one after another, and lanes run at the same
    time."""

    def __init__(self):
        self.begun = time.monotonic()
        self.done = []
        self._active = []
        self._finished = {}
        self._lock = threading.Lock()

    def stage(self, name, function, *arguments, after=()):
        """Runs function(stage, *arguments) and reports whether it returned true.

        Waits for the stages named in `after`; is skipped as failed if one of them failed.
        """
        if not all([self._event(other).wait() and self._passed(other) for other in after]):
            self._end(Stage(name, status="not run, a stage before it failed"))
            return False
        stage = Stage(name)
        begin = time.monotonic()
        with self._lock:
            self._active.append(stage)
        try:
            stage.passed = bool(function(stage, *arguments))
        except (OSError, subprocess.SubprocessError) as error:
            say(f"{name}: {error}")
        stage.wall = time.monotonic() - begin
        with self._lock:
            self._active.remove(stage)
        say(f"== {name}: {'ok' if stage.passed else 'FAILED'} "
            f"({stage.wall:.0f} s, {stage.cpu:.0f} s of processor)")
        self._end(stage)
        return stage.passed

    def lanes(self, *lanes):
        """Runs lanes (functions without arguments) at the same time, and prints a line of progress
        every HEARTBEAT s."""
        threads = [threading.Thread(target=lane, daemon=True) for lane in lanes]
        for thread in threads:
            thread.start()
        beat = time.monotonic() + HEARTBEAT
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(0.1)
            if time.monotonic() >= beat:
                beat += HEARTBEAT
                with self._lock:
                    active = [stage.progress() for stage in self._active]
                if active:
                    say(f"{time.monotonic() - self.begun:6.0f} s: {'; '.join(active)}")

    def failed(self):
        return [stage for stage in self.done if not stage.passed]

    def print_times(self):
        wall = time.monotonic() - self.begun
        for stage in sorted(self.done, key=lambda stage: -stage.cpu):
            say(f"{stage.cpu:6.0f} s of processor {stage.wall:6.0f} s  {stage.name}")
        say(f"{sum(stage.cpu for stage in self.done):6.0f} s of processor {wall:6.0f} s  in all")

    def _event(self, name):
        with self._lock:
            return self._finished.setdefault(name, threading.Event())

    def _passed(self, name):
        return any(stage.name == name and stage.passed for stage in self.done)

    def _end(self, stage):
        if stage.status:
            say(f"== {stage.name}: {stage.status}")
        with self._lock:
            self.done.append(stage)
        self._event(stage.name).set()


def _has_memory():
    """Returns whether MEMORY can hold the files and programs of tests."""
    try:
        system = os.statvfs(MEMORY)
        available = int(re.search(r"^MemAvailable: *(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.M)[1]) << 10
    except (OSError, TypeError):
        return False
    return not system.f_flag & os.ST_NOEXEC and min(system.f_bavail * system.f_frsize, available) >= MEMORY_FREE


@contextlib.contextmanager
def temporary_files():
    """Keeps temporary files of compilers and tests in memory, if it has room.

    Tests make and delete some 100 000 files. On ext4, that takes half of the time of tests with many small files: each
    new file searches for an inode that was not deleted recently.
    """
    if "TMPDIR" in os.environ or not _has_memory():
        yield
        return
    os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="mli-", dir=MEMORY)
    os.chmod(os.environ["TMPDIR"], 0o755)  # some tests run programs as another user
    try:
        yield
    finally:
        shutil.rmtree(os.environ.pop("TMPDIR"), ignore_errors=True)


def main(function):
    """Calls function() and exits with its result; 130 after ^C."""
    try:
        with temporary_files():
            result = function()
        sys.exit(result)
    except KeyboardInterrupt:
        sys.stdout.flush()
        os._exit(130)  # other lanes wait for children, which ^C has ended too
