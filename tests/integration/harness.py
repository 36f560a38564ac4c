# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the integration tests: a temporary directory, mlictl, and a private daemon.

Meson sets the programs in the environment (MLICTL, MLID). Only the standard library is required; tests that
compare with NumPy are marked `@needs_numpy` and reported as skipped without it.
"""
import importlib.util
import itertools
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest


def _on_demand(name):
    """Returns a module that is imported at its first use, or None if it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return None
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


numpy = _on_demand("numpy")  # its import takes longer than most tests
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

MLICTL = os.environ.get("MLICTL", "mlictl")
MLID = os.environ.get("MLID", "mlid")
AGENT = os.environ.get("MLI_AGENT", "mli-agent")  # empty: mlictl was built without boards
SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("MLI_TEST_DATA", SOURCE.parent / "shared" / "data"))
# Whoever runs the tests may ignore these signals (nohup does); the tested programs must not ignore
# them.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

# How many of the random cases run, in percent. Less than 100 for instrumented programs, which take
# long to start.
PERCENT = int(os.environ.get("MLI_TEST_PERCENT", "100"))
# The leak sanitizer reads all data of a process when it ends, which takes half of the time of a
# short run. If PERCENT is less than 100, it checks only one in four starts of mlictl;
# MLI_TEST_TURN chooses which ones.
LEAKS_PART = 4
# Time limit for a step of a test, in seconds; suffices with sanitizers and valgrind.
PATIENCE = 120 if float(os.environ.get("MLI_TEST_SLOW", "1")) > 1 else 60


def scaled(count):
    """Returns how many of `count` similar cases to run: PERCENT of them, but at least one."""
    return max(1, count * PERCENT // 100)


def sampled(items):
    """Returns the items to run of a list of cases that differ little: the first and every n-th."""
    return list(items)[::100 // PERCENT]


needs_numpy = unittest.skipUnless(numpy, "this python has no numpy")
needs_root = unittest.skipUnless(os.geteuid() == 0, "only root can set this up")


def npy(dtype, shape, data, fortran=False):
    """Returns the bytes of a .npy file."""
    shape_text = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    header = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape_text}, }}"
    header = header.ljust(127 - 10) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data


def transpose_model():
    """Returns an ONNX model: transposes of x, a float32 tensor of shape (batch, 2), and of the constants w and v."""
    def member(number, value):
        if isinstance(value, int):
            return bytes([number << 3, value])
        value = value.encode() if isinstance(value, str) else value
        return bytes([number << 3 | 2, len(value)]) + value

    dims = member(1, member(2, "batch")) + member(1, member(1, 2))
    value = member(1, "x") + member(2, member(1, member(1, 1) + member(2, dims)))
    raw = member(1, 2) + member(1, 3) + member(2, 3) + member(8, "w") + member(9, ramp(6))
    numbers = member(1, 3) + member(1, 2) + member(2, 5) + member(8, "v") + member(5, ramp(6))
    nodes = b"".join(member(1, member(1, name) + member(2, name + "_t") + member(4, "Transpose")) for name in "xwv")
    return member(7, nodes + member(11, value) + member(5, raw) + member(5, numbers)) + member(8, member(2, 13))


needs_boards = unittest.skipUnless(AGENT, "mlictl was built without boards")


def make_board(directory, board):
    """Makes a firmware directory in which the agent runs on this machine, not on a board in QEMU."""
    place = pathlib.Path(directory) / board
    place.mkdir(parents=True, exist_ok=True)
    stand_in = place / "qemu"
    stand_in.write_text(f'#!/bin/sh\nexec "{AGENT}" --stdio --board {board}\n')
    stand_in.chmod(0o755)
    (place / "agent.elf").write_text("")
    (place / "qemu.args").write_text(f"{stand_in} -kernel @IMAGE@\n")
    return place.parent


def ramp(count):
    return bytes(i % 251 for i in range(count))


def open_files(pid):
    """Returns the open files of a process, from /proc."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
        except FileNotFoundError:
            pass
    return found


class Result:
    """A finished mlictl: exit code, stdout, stderr, and the JSON lines of stdout."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out.decode(), err.decode()

    @property
    def json(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Daemon:
    """An mlid on a private socket."""

    def __init__(self, directory, *arguments):
        self.socket = str(directory / "mlid.sock")
        self.log = open(directory / "mlid.log", "w+b")
        config = directory / "mlid.json"
        config.write_text("{}")
        self.process = subprocess.Popen(
            [MLID, "--config", str(config), "--socket", self.socket, "--allow-core", *arguments],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_for(lambda: self.accepts() or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise AssertionError("mlid does not start:\n" + self.text())
        self.fds_at_start = None

    def accepts(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    @property
    def pid(self):
        return self.process.pid

    def text(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def fds(self):
        return len(open_files(self.pid))

    def idle(self):
        """Returns whether the listening socket is the only open socket."""
        return sum(name.startswith("socket:") for name in open_files(self.pid)) == 1

    def serves(self, method):
        """Returns whether the service knows the method; a call without params may be refused."""
        with socket.socket(socket.AF_UNIX) as peer, peer.makefile("rb") as replies:
            peer.connect(self.socket)
            peer.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode() + b"\n")
            for line in replies:
                reply = json.loads(line)
                if "id" in reply:
                    return reply.get("error", {}).get("code") != -32601
        return False

    def stop(self):
        """Sends SIGTERM, as a service manager does; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("mlid does not end:\n" + self.text())


def wait_for(condition, seconds=PATIENCE, pause=0.005):
    """Returns true as soon as the condition is true, false after `seconds`. Give a longer `pause`
    to conditions that run a program."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def await_handler(process, number):
    """Waits until the process catches the signal, or has ended: the signal kills a program that is still starting."""
    def catches():
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return True
        return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> (number - 1) & 1 == 1
    return wait_for(lambda: process.poll() is not None or catches())


def _sleeping(pid):
    """Returns the numbers of context switches of a process if all its threads sleep, else None."""
    switches = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        try:
            fields = dict(line.split(":", 1) for line in task.read_text().splitlines())
        except OSError:  # the thread has ended
            return None
        if fields["State"].split()[0] not in "STI":
            return None
        switches.append(fields["voluntary_ctxt_switches"])
    return switches or None


def cpu_ticks(process):
    """Returns the CPU time of a process, in ticks of 10 ms."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def at_rest(process, *pids):
    """Waits until the process sleeps or has ended, and the processes `pids` also sleep.

    Use it after starting a client: then the client and its daemon have exchanged all they can.
    """
    seen = []

    def unchanged():
        if process.poll() is not None:
            return True
        time.sleep(0.02)
        seen.append(_sleeping(process.pid))
        return seen[-1] and seen[-4:] == [seen[-1]] * 4 and all(_sleeping(pid) for pid in pids)
    return wait_for(unchanged)


class Case(unittest.TestCase):
    """A test with a directory of its own, and with a daemon on request."""

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="mlictl-test-")
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.dir = self.root / "work"
        self.dir.mkdir()
        self._daemon = None
        self.daemon_may_die = False

    def tearDown(self):
        left = [p for p in self.root.rglob("*") if p.name.startswith(".mlictl")]
        self.assertEqual(left, [], "temporary files are left behind")
        if self._daemon and not self.daemon_may_die:
            daemon = self._daemon
            same = wait_for(lambda: daemon.fds() == daemon.fds_at_start, 20)
            self.assertTrue(same, f"{daemon.fds()} descriptors, {daemon.fds_at_start} at first")
            self.assertEqual(daemon.stop(), 0, daemon.text())
            for word in ("Sanitizer", "runtime error"):
                self.assertNotIn(word, daemon.text())

    @property
    def daemon(self):
        if not self._daemon:
            run = self.root / "run"
            run.mkdir(exist_ok=True)
            self._daemon = self.start_daemon(run)
        return self._daemon

    def start_daemon(self, directory, *arguments):
        daemon = Daemon(directory, *arguments)
        self.addCleanup(daemon.log.close)
        self.addCleanup(lambda: daemon.process.poll() is None and daemon.process.kill())
        # The first client makes the daemon open files that it keeps open, which is not a leak.
        self.ctl("ping", "--socket", daemon.socket, code=0)
        self.assertTrue(wait_for(daemon.idle))
        daemon.fds_at_start = daemon.fds()
        return daemon

    # Files

    def path(self, name):
        return str(self.dir / name)

    def write(self, name, content):
        """Writes a file in the test's directory: bytes, text, or another value in the form of JSON."""
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def write_npy(self, name, dtype="|i1", shape=(2, 3, 4), fortran=False, data=None):
        size = int(dtype[-1])
        for extent in shape:
            size *= extent
        return self.write(name, npy(dtype, shape, ramp(size) if data is None else data, fortran))

    def read(self, name):
        return (self.dir / name).read_bytes()

    def exists(self, name):
        return os.path.lexists(self.path(name))

    def listing(self):
        """Returns the names and contents of all files in the test's directory."""
        return {str(p.relative_to(self.dir)): p.read_bytes() if p.is_file() else None
                for p in sorted(self.dir.rglob("*"))}

    # Programs

    def environment(self):
        environment = dict(os.environ, XDG_RUNTIME_DIR=str(self.root))
        environment.pop("MLID_SOCKET", None)
        return environment

    starts = itertools.count(int(os.environ.get("MLI_TEST_TURN", "0")))

    def start(self, *arguments, **more):
        """Starts mlictl in the test's directory and does not wait for it."""
        words = [word if isinstance(word, bytes) else str(word) for word in arguments]
        environment = dict(self.environment())
        if PERCENT < 100 and next(self.starts) % LEAKS_PART:
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        process = subprocess.Popen([MLICTL, *words], cwd=more.pop("cwd", self.dir),
                                   env=environment, stdin=more.pop("stdin", subprocess.PIPE),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

        def end():
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.addCleanup(end)
        return process

    def finish(self, process, stdin=None, code=None):
        out, err = process.communicate(stdin, timeout=PATIENCE)
        result = Result(process.returncode, out, err)
        for word in ("Sanitizer", "runtime error"):
            self.assertNotIn(word, result.err)
        if code is not None:
            self.assertEqual(result.code, code, str(result))
        return result

    def ctl(self, *arguments, stdin=None, code=None, **more):
        stdin = stdin.encode() if isinstance(stdin, str) else stdin
        return self.finish(self.start(*arguments, **more), stdin, code)

    def as_nobody(self, *arguments):
        """Runs mlictl as user nobody if the test runs as root, else as the current user."""
        if os.geteuid() != 0:
            return self.ctl(*arguments)
        self.root.chmod(0o755)
        try:
            return self.ctl(*arguments, user=65534, group=65534, extra_groups=[])
        except PermissionError:
            self.skipTest("nobody may not run " + MLICTL)

    def submit(self, *arguments, **more):
        return self.ctl("submit", "--socket", self.daemon.socket, *arguments, **more)

    def move(self, job, name="job.json", **more):
        """Runs a job and expects that it succeeds."""
        return self.ctl("run", self.write(name, job), code=more.pop("code", 0), **more)

    # Expectations for wrong input

    turn = itertools.count(random.randrange(4))

    def assert_refused(self, job, pointer, *words, code=2, files=None, explained=False):
        """Expects that validate, explain, run and submit all refuse the job, name the place and write nothing.

        With MLI_TEST_PERCENT below 100, runs only one of the commands, in turns. With `explained`,
        leaves out explain, which accepts the job.
        """
        self.write("job.json", job)
        before = self.listing()
        place = "job.json" if files is None else files
        commands = [("validate",), ("run",), ("submit", "--socket", self.daemon.socket)]
        if not explained:
            commands.append(("explain", "--no-memcpy"))
        if PERCENT < 100:
            commands = [commands[next(self.turn) % len(commands)]]
        for command in commands:
            result = self.ctl(*command, "--json", "job.json", stdin="")
            with self.subTest(command=command[0], stderr=result.err):
                self.assertEqual(result.code, code)
                self.assertRegex(result.err, r"^mlictl: " + place)
                for word in words:
                    self.assertIn(word, result.err)
                error = result.json[0]["error"]
                self.assertEqual(error.get("pointer", ""), pointer)
                if pointer:
                    self.assertRegex(result.err, rf": {re.escape(place_of(pointer))}(?![\w-])")
                    self.assertNotIn(f"{pointer}: ", result.err, "the place is named twice")
                self.assertIn(error["message"], result.err)
                self.assertEqual(result.json[0]["exit"], code)
                self.assertEqual(self.listing(), before)


def place_of(pointer):
    """Returns the place as messages name it: "jobs[0].cfg.size" for the JSON pointer
    "/jobs/0/cfg/size"."""
    return re.sub(r"/(\d+)(?=/|$)", r"[\1]", pointer).replace("/", ".").removeprefix(".")


def mov(src="in.npy", dst="out.npy", **more):
    """Returns a job with op "mov"; fields of cfg may be given beside the members of the job."""
    cfg_fields = ("offset", "size", "sub_sample_step", "perm_dim", "padding_pre", "padding_post",
                  "dst_offset", "dst_mem_stride")
    cfg = {k: more.pop(k) for k in cfg_fields if k in more}
    job = {"op": "mov", "src": src if isinstance(src, dict) else {"file": src},
           "dst": dst if isinstance(dst, dict) else {"file": dst}}
    if cfg:
        job["cfg"] = cfg
    job.update(more)
    return job


def main():
    """Runs the tests of the file; exits with 77 (skipped) if all tests were skipped."""
    program = unittest.main(verbosity=2, exit=False)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.testsRun == len(result.skipped) else 0)
