# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants: compiles one, compares its object, links the tests with it and runs them.

A test that fails, crashes, or uses more than its limits of time or memory has found the mutant.
"""
import dataclasses
import hashlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import threading
import time

MEMORY_MAX = 8 << 30      # address space of a test; the sanitizers need far more, and limit the memory themselves
FILE_MAX = 256 << 20      # bytes of a file that a test writes
CPU_FACTOR, CPU_MORE = 4, 2   # a test may use the processor for 4 times its usual time plus 2 s
WALL_FACTOR, WALL_MORE = 8, 10  # and take 8 times its usual time plus 10 s


@dataclasses.dataclass
class Verdict:
    """outcome: found, survived; or not counted: invalid (does not compile), equal (has the object of the original),
    duplicate (has the object of an earlier mutant)."""
    outcome: str
    test: str = ""     # the test that found the mutant
    reason: str = ""   # how: exit code, signal, timeout; the mutant that this is a duplicate of
    seconds: float = 0  # of processor
    object: str = ""   # hash


@dataclasses.dataclass
class Run:
    reason: str  # empty: the test passed
    cpu: float
    wall: float


def run_limited(command, env, folder, cpu, wall, memory):
    """Runs a command in its own process group with limits. Returns a Run."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env={**env, "TMPDIR": str(folder)}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=limit)
    late = threading.Timer(wall, _kill_group, [process.pid])
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    timed_out = late.finished.is_set()
    late.cancel()
    _kill_group(process.pid)  # processes that the test has left
    took = time.monotonic() - begin
    if code == 0:
        reason = ""
    elif timed_out or code == -signal.SIGXCPU:
        reason = "timeout"
    else:
        reason = f"exit code {code}" if code > 0 else signal.Signals(-code).name
    return Run(reason, used.ru_utime + used.ru_stime, took)


def _kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass


class Judge:
    """Judges the mutants of one source. May be shared by threads."""

    def __init__(self, tree, source, tests, folder):
        self.tree, self.source, self.tests, self.folder = tree, source, tests, pathlib.Path(folder)
        self.compiler = tree.compiler(source)
        self.usual = {}
        self.objects = {}
        self.lock = threading.Lock()

    def prepare(self, text):
        """Judges the source without a change. Returns a message if a test does not pass, or None."""
        own = self._own_folder()
        found = self._compile(text, own)
        if not found:
            return f"{self.source}: does not compile"
        self.objects[found] = "original"
        for test in self.tests:
            run = self._run(test, own, 120, 240)
            if run.reason:
                return f"{test}: fails without a mutant ({run.reason})"
            self.usual[test] = run
        return None

    def judge(self, mutant):
        own = self._own_folder()
        verdict = self._judge(mutant, own)
        shutil.rmtree(own, ignore_errors=True)
        return verdict

    def _judge(self, mutant, own):
        found = self._compile(mutant.text, own)
        if not found:
            return Verdict("invalid")
        with self.lock:
            same = self.objects.setdefault(found, mutant.name)
        if same == "original":
            return Verdict("equal", object=found)
        if same != mutant.name:
            return Verdict("duplicate", reason=same, object=found)
        seconds = 0
        for test in self.tests:
            usual = self.usual[test]
            run = self._run(test, own, int(usual.cpu * CPU_FACTOR + CPU_MORE), usual.wall * WALL_FACTOR + WALL_MORE)
            seconds += run.cpu
            if run.reason:
                return Verdict("found", test, run.reason, seconds, found)
        return Verdict("survived", seconds=seconds, object=found)

    def object_of(self, mutant):
        """Returns the hash of a mutant's object, or None."""
        return self._compile(mutant.text, self._own_folder())

    def _own_folder(self):
        own = self.folder / f"thread-{threading.get_ident()}"
        shutil.rmtree(own, ignore_errors=True)
        own.mkdir(parents=True)
        return own

    def _compile(self, text, own):
        """Compiles a text to a file in the folder. Returns the hash of the object, or None."""
        out = own / "mutant.o"
        done = subprocess.run([*self.compiler, str(out)], cwd=self.tree.path, input=f'# 1 "{self.source}"\n{text}',
                              text=True, stderr=subprocess.DEVNULL)
        return hashlib.sha256(out.read_bytes()).hexdigest() if done.returncode == 0 else None

    def _run(self, test, own, cpu, wall):
        program = own / pathlib.Path(self.tree.program(test)).name
        if not program.exists():
            words = self.tree.linker(test)
            at = words.index("-o")
            subprocess.run([*words[:at], "-o", str(program), str(own / "mutant.o"), *words[at + 2:]],
                           cwd=self.tree.path, check=True, stderr=subprocess.DEVNULL)
        command, env = self.tree.command(test, program)
        scratch = own / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        memory = resource.RLIM_INFINITY if self.tree.sanitized else MEMORY_MAX
        return run_limited(command, env, scratch, cpu, wall, memory)
