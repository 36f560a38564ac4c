# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy on several sources at a time, and remembers which contents passed.

What passed is kept in ~/.cache/mli-clang-tidy (or $XDG_CACHE_HOME): empty files, named by a hash of the
source, the headers it includes, its compile command, .clang-tidy and clang-tidy's version.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import time

from stage import CPUS, ROOT, TREES, say

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "mli-clang-tidy"
KEEP_DAYS = 30
FOLDERS = ("libmli/src/", "libmli/port/", "proto/", "target/", "client/", "daemon/", "cli/")


def checked(path):
    """Whether clang-tidy is run on the file, a path from the root."""
    return path.endswith(".c") and path.startswith(FOLDERS)


class Keys:
    """Names contents: equal keys mean that clang-tidy would say the same."""

    def __init__(self, tree):
        self.tree = TREES / tree
        self.common = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
        self.common += (ROOT / ".clang-tidy").read_bytes()
        self.commands = {}
        for entry in json.loads((self.tree / "compile_commands.json").read_text()):
            source = self._name(entry["file"])
            self.commands.setdefault(source, entry["command"])
        self.headers = self._headers()
        self.digests = {}

    def _name(self, file):
        return os.path.relpath(os.path.join(self.tree, file), ROOT)

    def _headers(self):
        """What each source includes, from the dependencies that ninja recorded."""
        listing = subprocess.run(["ninja", "-C", self.tree, "-t", "deps"], check=True, capture_output=True,
                                 text=True).stdout
        headers = {}
        for block in listing.split("\n\n"):
            first, *files = block.splitlines() or [""]
            if "(VALID)" in first and files:
                names = [self._name(file.strip()) for file in files]
                headers.setdefault(names[0], set()).update(names[1:])
        return headers

    def _digest(self, name):
        if name not in self.digests:
            try:
                self.digests[name] = hashlib.sha256((ROOT / name).read_bytes()).hexdigest()
            except OSError:
                self.digests[name] = "missing"
        return self.digests[name]

    def of(self, source):
        """Returns the key of a source, or None if its headers are not known: it was never compiled."""
        if source not in self.headers or source not in self.commands:
            return None
        parts = [f"{name} {self._digest(name)}" for name in sorted({source, *self.headers[source]})]
        return hashlib.sha256(self.common + "\n".join([self.commands[source], *parts]).encode()).hexdigest()


def _forget_old():
    limit = time.time() - KEEP_DAYS * 86400
    for entry in CACHE.iterdir():
        if entry.stat().st_mtime < limit:
            entry.unlink(missing_ok=True)


def tidy(stage, sources, tree, nice=0):
    """Checks the sources (paths from the root) with the compile commands of a tree. Returns whether all passed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    _forget_old()
    keys = Keys(tree)
    waiting = []
    for source in sources:
        key = keys.of(source)
        if key and (CACHE / key).exists():
            (CACHE / key).touch()
        else:
            waiting.append((source, key))
    done = []

    def check(source, key):
        command = ["nice", "-n", str(nice), "clang-tidy", "-p", str(TREES / tree), "--quiet", source]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        output = process.stdout.read().decode(errors="replace")
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stage.cpu += used.ru_utime + used.ru_stime
        if process.returncode == 0 and key:
            (CACHE / key).touch()
        done.append(source)
        stage.status = f"{len(done)} of {len(waiting)}"
        if process.returncode != 0:
            say(output or f"clang-tidy fails on {source}")
        return process.returncode == 0

    with concurrent.futures.ThreadPoolExecutor(CPUS) as pool:
        passed = all(list(pool.map(lambda job: check(*job), waiting)))
    stage.status = ""
    say(f"clang-tidy: {len(sources)} sources, {len(sources) - len(waiting)} of them unchanged since they passed")
    return passed
