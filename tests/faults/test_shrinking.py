#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Truncates and restores random files while commands read them: no signal ends a command, and each failure is
reported.

mlictl_shrinking and mlid_failures truncate at chosen moments and expect certain messages; this test truncates at
random moments.
"""
import os
import pathlib
import random
import threading
import zipfile

import soak
from harness import Case, main, mov, npy, ramp

HIDDEN = ".mlictl-"  # begins the names of files that have no name yet
SIDE = 512


def safetensors(data):
    header = b'{"w":{"dtype":"I8","shape":[%d,%d],"data_offsets":[0,%d]}}' % (SIDE, SIDE, len(data))
    return len(header).to_bytes(8, "little") + header + data


class Storm(threading.Thread):
    """Truncates random files to random sizes and restores them, until stop() is called."""

    def __init__(self, paths, pick):
        super().__init__(daemon=True)
        self.files = {path: pathlib.Path(path).read_bytes() for path in paths}
        self.pick, self.over, self.count = pick, threading.Event(), 0

    def run(self):
        while not self.over.wait(self.pick.random() * 0.002):
            path = self.pick.choice(list(self.files))
            size = len(self.files[path])
            os.truncate(path, self.pick.choice((0, 1, min(4096, size), self.pick.randrange(size + 1))))
            self.count += 1
            self.over.wait(self.pick.random() * 0.003)
            self.restore(path)

    def restore(self, path):
        with open(path, "r+b") as file:
            file.write(self.files[path])

    def stop(self):
        self.over.set()
        self.join()
        for path in self.files:
            self.restore(path)


class Shrinking(Case):
    def setUp(self):
        super().setUp()
        self.data = ramp(SIDE * SIDE)
        whole = npy("|i1", (SIDE, SIDE), self.data)
        for name in ("in.npy", "golden.npy", "both.npy", "same.npy"):
            self.write(name, whole)
        self.write("in.raw", self.data)
        self.write("in.safetensors", safetensors(self.data))
        sources = [{"file": "in.npy"}, {"file": "in.raw", "shape": [SIDE, SIDE], "type": "sa8"},
                   {"file": "in.safetensors", "tensor": "w"}]
        if os.environ.get("MLI_NPZ") == "1":
            with zipfile.ZipFile(self.path("in.npz"), "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("w.npy", whole)
            sources.append({"file": "in.npz", "tensor": "w"})
        self.jobs = []
        for i, source in enumerate(sources):
            self.jobs.append(self.write(f"cases/{i}.json", self.up(mov(source, f"o{i}.npy", perm_dim=[1, 0]))))
            self.jobs.append(self.write(f"cases/{i}g.json", self.up(
                mov(source, f"g{i}.npy") | {"expect": {"file": "golden.npy"}})))
        self.jobs.append(self.write("cases/u.json", self.up(
            mov({"file": "in.npy"}, {"file": "both.npy", "update": True}, size=[9, SIDE], dst_offset=[3, 0]))))
        self.shrinking = [self.path(n) for n in ("in.npy", "golden.npy", "both.npy", "in.raw", "in.safetensors")
                          + (("in.npz",) if len(sources) == 4 else ())]

    def up(self, job):
        """Prefixes the names of files with "../", because the case is in a subdirectory."""
        for end in ("src", "dst", "expect"):
            if end in job:
                job[end] = dict(job[end], file="../" + job[end]["file"])
        return job

    def commands(self, pick):
        job, other = pick.choice(self.jobs), pick.choice(self.jobs)
        slow = ("-e", "fault:threads,tiny=0,delay_us=2000")
        return pick.choice((
            ("run", job, other, *slow), ("run", job, "-e", "inline"), ("submit", "-s", self.daemon.socket, job, other),
            ("batch", "cases", "--keep", "none", "-j2", *slow), ("batch", "cases", "--resume", "s.jsonl", "-j2"),
            ("diff", "in.npy", "same.npy"), ("diff", "in.safetensors", "golden.npy"), ("diff", "in.npz", "in.safetensors"),
            ("show", pick.choice(self.shrinking)), ("validate", job, other), ("explain", "--no-memcpy", job, other),
            ("mov", "in.npy", "m.npy", "--force"), ("tile", "in.npy", "t.npy", "--budget", "8000")))

    def test_all_readers(self):
        self.daemon  # starts it while no file shrinks
        shrunk = failed = 0
        for number in soak.rounds(60, 3000):
            pick = soak.pick_of(self, number)
            words = self.commands(pick)
            storm = Storm(self.shrinking + (self.jobs if pick.random() < 0.2 else []), random.Random(pick.random()))
            storm.start()
            try:
                result = self.ctl(*words)
            finally:
                storm.stop()
            shrunk += storm.count
            failed += result.code != 0
            with self.subTest(command=words, again=soak.again(self, number)):
                self.assertIn(result.code, (0, 1, 2), str(result))
                if result.code and words[0] not in ("diff", "batch"):
                    self.assertRegex(result.err, "^mlictl: ")
            self.assertEqual([name for name in os.listdir(self.dir) if name.startswith(HIDDEN)], [])
        for job in self.jobs:
            self.ctl("run", job, code=0)
            self.ctl("submit", "-s", self.daemon.socket, job, code=0)
        soak.count("shrinking file", shrunk, commands=len(soak.rounds(60, 3000)), failed=failed)
        self.assertTrue(failed or not soak.SOAK, "no command noticed")


if __name__ == "__main__":
    main()
