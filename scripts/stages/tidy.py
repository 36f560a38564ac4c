# SPDX-License-Identifier: BSD-3-Clause
"""Runs clang-tidy on several sources at a time, and remembers which contents passed.

What passed is kept in ~/.cache/mli-clang-tidy (or $XDG_CACHE_HOME): empty files, named by a hash of the
source, the headers it includes, its compile command, .clang-tidy, clang-tidy's version and the depth.

Most of the time goes to clang's static analyzer, in proportion to the states that it may explore in a function
(max-nodes, 225000 by default). scripts/check explores all of them in the changed sources; scripts/test explores
NODES_OF_ALL in all sources, which takes a quarter of the time.
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
NODES_OF_ALL = 30000
FOLDERS = ("libmli/src/", "libmli/port/", "proto/", "target/", "client/", "daemon/", "cli/", "boards/drivers/", "boards/serial/", "boards/link/")


def checked(path):
    """Returns whether clang-tidy is run on the file, a path from the root."""
    return path.endswith(".c") and path.startswith(FOLDERS)


class Keys:
    """Computes keys from contents: equal keys mean that clang-tidy would print the same."""

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
        """Knows the headers that each source includes, from the dependencies that ninja recorded."""
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

    def of(self, source, nodes=None):
        """Returns the key of a source, or None if its headers are not known: it was never compiled."""
        if source not in self.headers or source not in self.commands:
            return None
        parts = [f"{name} {self._digest(name)}" for name in sorted({source, *self.headers[source]})]
        if nodes:
            parts.append(f"max-nodes {nodes}")
        return hashlib.sha256(self.common + "\n".join([self.commands[source], *parts]).encode()).hexdigest()


def _forget_old():
    limit = time.time() - KEEP_DAYS * 86400
    for entry in CACHE.iterdir():
        if entry.stat().st_mtime < limit:
            entry.unlink(missing_ok=True)


def _passed_before(keys):
    """Returns whether the cache has a source that passed with one of these keys."""
    known = [CACHE / key for key in keys if key and (CACHE / key).exists()]
    for entry in known:
        entry.touch()
    return bool(known)


def tidy(stage, sources, tree, nice=0, nodes=None):
    """Checks the sources (paths from the root) with the compile commands of a tree. Returns whether all passed.

    nodes: the states that the analyzer explores in a function (default: the analyzer's own limit).
    """
    CACHE.mkdir(parents=True, exist_ok=True)
    _forget_old()
    keys = Keys(tree)
    waiting = [(source, keys.of(source, nodes)) for source in sources
               if not _passed_before([keys.of(source), keys.of(source, nodes)])]
    waiting.sort(key=lambda job: -(ROOT / job[0]).stat().st_size)  # the longest first
    depth = [f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={nodes}")]
    done = []

    def check(source, key):
        # Commands that compile have options of the linker, too: see trees.configure().
        command = ["nice", "-n", str(nice), "clang-tidy", "-p", str(TREES / tree), "--quiet",
                   "--extra-arg=-Wno-unused-command-line-argument", *(depth if nodes else []), source]
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
