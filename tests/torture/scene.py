# SPDX-License-Identifier: BSD-3-Clause
"""A scene: a command, its files, and the result of a run."""
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))
sys.dont_write_bytecode = True

import judge  # noqa: E402
import report  # noqa: E402
from harness import AGENT, MLICTL, PERCENT, Daemon, wait_for  # noqa: E402

PRELOAD = os.environ.get("MLI_TORTURE_PRELOAD", "")
SLOW = float(os.environ.get("MLI_TEST_SLOW", "1"))
PATIENCE = 10 * SLOW  # seconds after which a run hangs


def timeless(text):
    """Replaces texts that differ between two runs: times, rates, temporary names and process ids."""
    text = re.sub(r'("[\w-]*(?:time|timestamp|seconds|_ns|ns_\w+|_per_s|duration\w*|start|pid|version)": )'
                  r'("[^"]*"|[\d.e+-]+|null)', r"\1T", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "T", text)
    text = re.sub(r"[\d.,]+ ?(ns|us|µs|ms|s|min)\b", "T", text)
    text = re.sub(r'[\d.]+ (cases|jobs|moves|[KMG]?i?B)/s', "T", text)
    return re.sub(r'time="[\d.]+"', 'time="T"', text)


@dataclasses.dataclass
class Outcome:
    """The result of a run: exit code (None: it hung), output, files, and the report of the library."""
    code: int
    out: str
    err: str
    files: dict
    left: list  # temporary files, processes, and what `after` of the scene says
    report: report.Report


@dataclasses.dataclass
class Scene:
    """A command of mlictl over a few files.

    files     name -> content, before the command
    make      called with (ctl, directory) to make files with mlictl before the scene
    daemon    the command uses a daemon: {socket} in its words
    board     the command uses a board at a serial line, which is a process of this machine: {board} in its words
    queue     the class of the server of a queue: {queue} in its words is the URL of a queue, a new one for each run
    before    called with (ctl) before each run
    after     called with (ctl) after each run; returns what is wrong with what the run left
    stdin     what the command reads
    loose     regular expressions of files whose contents differ in each run
    digits    the numbers in the output, and their widths, differ in each run
    remarks   regular expression of lines that a run may add to the output
    evidence  regular expression of files that a failed run keeps for people
    reports   a failure is reported on standard output
    slow      a run takes more than a second: only one call in 20 fails
    """
    name: str
    words: tuple
    files: dict = dataclasses.field(default_factory=dict)
    make: object = None
    daemon: bool = False
    board: bool = False
    queue: type = None
    before: object = None
    after: object = None
    stdin: bytes = b""
    loose: tuple = ()
    digits: bool = False
    remarks: str = ""
    evidence: str = ""
    reports: bool = False
    slow: bool = False
    program: str = MLICTL
    children: bool = False
    environment: dict = dataclasses.field(default_factory=dict)

    def plain(self, text):
        text = timeless(re.sub(self.remarks, "", text) if self.remarks else text)
        return re.sub(r" *(\d+(\.\d+)?|\bT\b)", " #", text) if self.digits else text

    def stage(self, root):
        return Stage(root, self)

    def is_loose(self, name):
        return any(re.fullmatch(pattern, name) for pattern in self.loose)

    def is_evidence(self, name):
        return bool(self.evidence and re.fullmatch(self.evidence, name))


class Stage:
    """The directory and the daemon for the many runs of a scene."""

    def __init__(self, root, scene):
        self.scene, self.root = scene, pathlib.Path(root)
        self.work, self.tmp, self.run_dir = (self.root / name for name in ("work", "tmp", "run"))
        for directory in (self.work, self.tmp, self.run_dir):
            directory.mkdir(parents=True)
        self.report = self.root / "report"
        self.daemon = self.agent = self.queue = None
        self.runs = 0
        for name, content in scene.files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_bytes(content)
        if scene.daemon:
            self.daemon = Daemon(self.run_dir)
            self.ctl("ping", "-s", self.daemon.socket)
            wait_for(self.daemon.idle)
            self.fds_at_start = self.daemon.fds()
        if scene.queue:
            self.queue = scene.queue(self.run_dir / "queue")
        if scene.board:
            self.line = self.run_dir / "board.sock"
            self.agent = subprocess.Popen([AGENT, "--listen", self.line])
            wait_for(self.line.exists)
        if scene.make:
            scene.make(self.ctl, self.work)
        self.before = self.tree(self.work)
        self.kept = self.before

    def environment(self):
        environment = dict(os.environ, TMPDIR=str(self.tmp), XDG_RUNTIME_DIR=str(self.root / "none"),
                           HOME=str(self.root), LC_ALL="C.UTF-8", **self.scene.environment)
        for name in ("MLID_SOCKET", "XDG_CACHE_HOME", "LD_PRELOAD"):
            environment.pop(name, None)
        return environment

    def filled(self, word):
        """Replaces {socket}, {board} and {queue} in a word by the addresses of what the scene has started."""
        if not isinstance(word, str):
            return word
        for name, value in (("{socket}", self.daemon and self.daemon.socket),
                            ("{board}", self.agent and f"serial:{self.line}"),
                            ("{queue}", self.queue and self.queue.url(f"run{self.runs}"))):
            word = word.replace(name, str(value or ""))
        return word

    def ctl(self, *words):
        """Runs mlictl without failing calls, before or after the command of the scene."""
        words = [self.filled(word) for word in words]
        done = subprocess.run([MLICTL, *words], cwd=self.work, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=PATIENCE)
        if done.returncode not in (0, 1):
            raise AssertionError(f"{words}: {done.returncode} {done.stderr}")
        return done

    @staticmethod
    def tree(directory):
        """Returns the contents of files, the targets of links, and None for directories."""
        found = {}
        for at, directories, names in os.walk(directory):
            for name in directories:
                found[os.path.relpath(os.path.join(at, name), directory)] = None
            for name in names:
                path = pathlib.Path(at, name)
                if path.is_symlink():
                    found[str(path.relative_to(directory))] = os.readlink(path)
                elif path.is_file():
                    found[str(path.relative_to(directory))] = path.read_bytes()
                else:
                    found[str(path.relative_to(directory))] = "special file"
        return found

    def restore(self):
        """Restores the files of the scene as they were before the command."""
        if self.kept == self.before:
            return
        for directory in (self.work, self.tmp):
            shutil.rmtree(directory)
            directory.mkdir()
        for name, content in self.before.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.mkdir(exist_ok=True)
            elif isinstance(content, str):
                path.symlink_to(content)
            else:
                path.write_bytes(content)
        self.kept = self.before

    def run(self, fail):
        """Runs the command with TORTURE_FAIL=fail. Returns its Outcome."""
        self.restore()
        report.create(self.report)
        self.runs += 1
        if self.scene.before:
            self.scene.before(self.ctl)
        words = [self.filled(word) for word in self.scene.words]
        environment = dict(self.environment(), TORTURE_FAIL=fail, TORTURE_REPORT=str(self.report),
                           LD_PRELOAD=PRELOAD)
        environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + environment.get("ASAN_OPTIONS", "")
        process = subprocess.Popen([self.scene.program, *words], cwd=self.work, env=environment,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        try:
            out, err = process.communicate(self.scene.stdin, timeout=PATIENCE)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = None
        left = self.leftovers(process.pid) if code is not None else []
        self.kept = self.tree(self.work)
        if self.scene.after and code is not None:
            left += self.scene.after(self.ctl)
        return Outcome(code, out.decode(errors="replace"), err.decode(errors="replace"), self.kept, left,
                       report.Report(self.report))

    def leftovers(self, group):
        """Returns temporary files and running processes that the command has left."""
        left = [f"temporary file {name}" for name in self.tree(self.tmp)]

        def gone():
            try:
                os.killpg(group, 0)
                return False
            except ProcessLookupError:
                return True
        if not wait_for(gone, 3 * SLOW):
            left.append("child process")
            os.killpg(group, signal.SIGKILL)
        if left:
            shutil.rmtree(self.tmp)
            self.tmp.mkdir()
        return left

    def differs(self, again, good):
        """Returns whether the results of two runs without a failed call differ."""
        return judge.same_result(self.scene, again, good)

    def judge(self, kind, outcome, good):
        return judge.defects(self.scene, kind, outcome, good, self.before)

    def close(self):
        """Ends the daemon, the board and the queue. Returns what is wrong with the daemon after all runs."""
        if self.queue:
            self.queue.stop()
        if self.agent:
            self.agent.kill()
            self.agent.wait()
        if not self.daemon:
            return []
        wrong = []
        if not wait_for(lambda: self.daemon.fds() <= self.fds_at_start, 10):
            wrong.append(f"mlid keeps {self.daemon.fds()} descriptors, {self.fds_at_start} at first")
        code = self.daemon.stop()
        if code != 0:
            wrong.append(f"mlid ends with {code}: {self.daemon.text()[-500:]}")
        self.daemon.log.close()
        return wrong
