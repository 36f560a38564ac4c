# SPDX-License-Identifier: BSD-3-Clause
"""mlid as a scene: it starts, serves clients, reloads its configuration, and ends, while one call fails.

Because of a failed call, mlid may refuse a request or close a connection. It must not send wrong bytes or end, and
must serve the next client. Only while it starts may it end, with a message.
"""
import dataclasses
import grp
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

import judge
import report
from scene import HERE, PATIENCE, PRELOAD, SLOW, Outcome, timeless

sys.path.insert(0, str(HERE.parent / "integration" / "daemon"))

from harness import MLID, open_files, wait_for  # noqa: E402
from service import Memory, copy  # noqa: E402
from wire import Closed, Connection, Fault  # noqa: E402

NEW, OLD = bytes(range(1, 25)), b"\xee" * 24
CROWD = 40
SESSIONS = 3  # at most, until the call has failed and a later session has succeeded


class Wrong(Exception):
    """Raised for a wrong answer of mlid."""


def check(condition, what):
    if not condition:
        raise Wrong(what)


def plain_jobs(link):
    """A chain of jobs with files."""
    source, middle, last = Memory(NEW), Memory(OLD), Memory(OLD)
    first = link.request("job.submit", copy(24, name="first"), [source.fd, middle.fd])
    second = link.request("job.submit", copy(24, name="second", after=["first"]), [middle.fd, last.fd])
    done = link.result(first)
    check(middle.content == NEW, "job.submit: wrong bytes")
    link.result(second)
    check(last.content == NEW, "job.submit after another: wrong bytes")
    check(link.call("job.wait", {"job": done["job"]})["job"] == done["job"], "job.wait: another job")
    check(link.call("job.status", {"job": done["job"]})["state"] == "done", "job.status: not done")
    check(link.call("job.list", {})["jobs"], "job.list: no jobs")


def prepared_jobs(link):
    """A registered buffer, an allocated buffer, and a prepared job between them."""
    source = Memory(NEW)
    one = link.call("buffer.register", {"fd": 0}, [source.fd])["buffer"]
    made = link.reply(link.request("buffer.alloc", {"size": 4096}))
    if "error" in made:
        raise Fault(made["error"])
    memory, two = Memory(fd=made.fds[0]), made["result"]["buffer"]
    job = copy(24, src={"buffer": one}, dst={"buffer": two, "offset": 8})
    prepared = link.call("job.prepare", job)["prepared"]
    for number in range(3):
        memory.put(8, OLD)
        link.call("job.start", {"prepared": prepared})
        check(memory.part(8, 24) == NEW, f"job.start {number}: wrong bytes")
        check(memory.part(0, 8) == bytes(8), "job.start: bytes outside the result")
    link.call("job.release", {"prepared": prepared})
    link.call("buffer.release", {"buffer": one})
    link.call("buffer.release", {"buffer": two})


def questions(link):
    link.ping()
    check(link.call("daemon.info")["version"], "daemon.info: no version")
    check(link.call("daemon.stats")["channels"], "daemon.stats: no channels")
    link.call("events.subscribe", {"events": ["done"]})
    check(link.fault("job.status", {"job": 999999}).name == "NOT_FOUND", "job.status: found an unknown job")


def session(path):
    """Runs a client that uses everything. Returns None, or the reason why mlid refused something; raises Wrong."""
    try:
        with Connection(path, patience=PATIENCE) as link:
            questions(link)
            plain_jobs(link)
            prepared_jobs(link)
    except (Fault, Closed, OSError) as error:
        return f"{type(error).__name__} {error}"
    return None


@dataclasses.dataclass
class MlidScene:
    name: str = "mlid"
    words: tuple = ("--config", "mlid.json", "--socket", "mlid.sock", "--allow-core")
    program: str = MLID
    slow: bool = False

    def stage(self, root):
        return MlidStage(root, self)

    @staticmethod
    def plain(text):
        return re.sub(r"\d+(\.\d+)?", "#", timeless(text))


class MlidStage:
    """The directory of mlid. run() runs one mlid from its start to its end."""

    def __init__(self, root, scene):
        self.scene, self.root = scene, pathlib.Path(root)
        self.report, self.before, self.fds = self.root / "report", {}, None
        self.socket, self.log = str(self.root / "mlid.sock"), self.root / "mlid.log"
        self.config = self.root / "mlid.json"
        self.process = None

    def text(self):
        return self.log.read_text(errors="replace")

    def configure(self, level):
        self.config.write_text(json.dumps({
            "channels": 2, "log_level": level, "metrics": {"listen": f"unix:{self.root}/metrics.sock"},
            "trace": f"{self.root}/trace.json", "socket_group": grp.getgrgid(os.getegid()).gr_name}))

    def start(self, fail):
        for name in ("mlid.sock", "metrics.sock"):
            (self.root / name).unlink(missing_ok=True)
        report.create(self.report)
        self.configure("info")
        environment = dict(os.environ, TORTURE_FAIL=fail, TORTURE_REPORT=str(self.report), LD_PRELOAD=PRELOAD)
        environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + environment.get("ASAN_OPTIONS", "")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([MLID, *self.scene.words], cwd=self.root, env=environment, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)

    def accepts(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    def crowd(self):
        """Opens more connections than libuv's first table has entries."""
        links = []
        try:
            for _ in range(CROWD):
                links.append(Connection(self.socket, patience=PATIENCE))
        except (Closed, OSError) as error:
            return f"one of {CROWD} clients: {error}"
        finally:
            for link in links:
                link.close()
        return None

    def starts(self):
        """Returns whether mlid serves. The line about this in its log is the last step of the start, unless writing
        the line failed."""
        if wait_for(lambda: " listening " in self.text() or self.process.poll() is not None, SLOW):
            return self.process.poll() is None
        return wait_for(lambda: self.accepts() or self.process.poll() is not None, PATIENCE) and self.accepts()

    def metrics(self):
        """Reads the metrics. Returns None, or the reason why mlid sent none."""
        try:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(PATIENCE)
                peer.connect(str(self.root / "metrics.sock"))
                peer.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                page = b"".join(iter(lambda: peer.recv(65536), b""))
        except OSError as error:
            return f"metrics: {error}"
        return None if b"200 OK" in page and page.endswith(b"\n") else f"metrics: {page[:100]}"

    def reload(self):
        """Sends SIGHUP. Returns None, or the reason why mlid did not reload."""
        self.configure("debug")
        self.process.send_signal(signal.SIGHUP)
        if not wait_for(lambda: "reloaded" in self.text() or self.process.poll() is not None, PATIENCE):
            raise Wrong("SIGHUP: neither reloaded nor not reloaded")
        refused = re.search("not reloaded.*", self.text())
        return refused[0] if refused else None

    def serve(self):
        """Returns what mlid refused in each step."""
        steps = [lambda: session(self.socket), self.crowd, self.metrics, self.reload]
        refused = [text for text in (step() for step in steps) if text]
        for _ in range(SESSIONS):
            text = session(self.socket)
            if not text:
                return refused
            refused.append(text)
        raise Wrong(f"serves no client after the fault: {refused[-1]}")

    def settled(self):
        """Expects that as many descriptors are open as in a run without a failure."""
        if self.fds is None:
            wait_for(lambda: sum(name.startswith("socket:") for name in open_files(self.process.pid)) <= 2, 2 * SLOW)
            self.fds = len(open_files(self.process.pid))
        if not wait_for(lambda: len(open_files(self.process.pid)) <= self.fds, 3 * SLOW):
            raise Wrong(f"keeps descriptors open: {sorted(open_files(self.process.pid))}")

    def run(self, fail):
        self.start(fail)
        refused, wrong, served = [], [], False
        try:
            served = self.starts()
            if served:
                refused = self.serve()
                self.settled()
        except Wrong as error:
            wrong.append(str(error))
        except (AssertionError, TimeoutError) as error:
            wrong.append(f"the protocol is violated: {error}")
        code = self.end()
        names = {path.name for path in self.root.iterdir()} - {"report", "mlid.json", "mlid.log", "trace.json"}
        wrong += [f"{name} is left" for name in names if code == 0]
        return Outcome(code, "\n".join(refused), self.text(), {"served": served}, wrong, report.Report(self.report))

    def end(self):
        """Sends SIGTERM. Returns the exit code, or None if mlid hangs."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None

    def differs(self, again, good):
        """The order of the lines in the log may differ between runs, but what clients saw must not."""
        return again.out or again.left or good.out or good.left or again.code != good.code

    def judge(self, kind, outcome, _):
        wrong = list(outcome.left)
        if outcome.code is None:
            return wrong + ["does not end"]
        if outcome.code < 0:
            return [f"ended by signal {-outcome.code}"]
        wrong += [line for line in outcome.err.splitlines() if "Sanitizer" in line or "runtime error:" in line]
        if not outcome.files["served"]:
            wrong += self.judge_start(kind, outcome)
        elif outcome.code != 0:
            wrong.append(f"exit code {outcome.code} after serving")
        if kind in judge.SOFT and outcome.out:
            wrong.append(f"does not survive: {outcome.out}")
        return wrong

    @staticmethod
    def judge_start(kind, outcome):
        """mlid has ended before it served."""
        if kind in judge.SOFT:
            return [f"does not survive: exit code {outcome.code}"]
        if outcome.code == 0:
            return ["ends with 0 without serving"]
        if not outcome.err.strip():
            return ["ends without a message"]
        words = judge.reason_words(kind, outcome.report.error)
        if not any(word in outcome.err.lower() for word in words):
            return ["the message does not give the reason"]
        return []

    def close(self):
        return []


def all_scenes():
    return [MlidScene()]
