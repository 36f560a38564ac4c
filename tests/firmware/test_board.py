#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the agent of a board under QEMU: the test sends and receives in place of mlictl.

    test_board.py BOARD IMAGE

Jobs on the board give the same files as jobs on this machine, the selftest passes, and it finds corrupted bytes and
errors of channels. mlictl is $MLICTL, one in build-test/ or the installed one. Exits with 77 if mlictl or QEMU is
missing.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
PATIENCE = 300
ROOT = pathlib.Path(__file__).resolve().parents[2]
FEW = ["--seed", "2", "--iterations", "12", "--max-bytes", "2000"]
JOBS = [
    {"op": "mov", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "b.npy"},
     "cfg": {"offset": [2, 1], "sub_sample_step": [2, 1], "perm_dim": [1, 0], "padding_post": [0, 3]}},
    {"op": "permute", "src": {"file": "a.npy", "type": "fx16"}, "dst": {"file": "c.npy"}, "cfg": {"perm_dim": [1, 0]}},
]


def find_mlictl():
    built = [path for path in sorted(ROOT.glob("build-test/*/cli/mlictl")) if path.parts[-3] != "no-boards"]
    places = [os.environ.get("MLICTL"), *built, shutil.which("mlictl")]
    return next((str(place) for place in places if place and os.access(place, os.X_OK)), None)


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


class Board:
    def __init__(self, mlictl, board, image, directory):
        self.mlictl, self.directory = mlictl, directory
        self.url = f"qemu:{board},firmware={image}"

    def ctl(self, *arguments, code=0):
        done = subprocess.run([self.mlictl, *arguments], cwd=self.directory, capture_output=True, text=True,
                              timeout=PATIENCE)
        if done.returncode != code:
            sys.exit(f"mlictl {' '.join(arguments)}: exit status {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done

    def contents(self):
        return {name: (self.directory / name).read_bytes() for name in ("b.npy", "c.npy")}

    def check_jobs(self):
        self.ctl("gen", "a.npy", "--shape", "23,17", "--dtype", "int16")
        (self.directory / "jobs.json").write_text(json.dumps(JOBS))
        self.ctl("run", "-H", self.url, "jobs.json")
        on_board = self.contents()
        self.ctl("run", "jobs.json")
        assert on_board == self.contents(), "the board's files differ from those of this machine"

    def check_faults(self, engine):
        fault = f"fault:{engine},tiny=0"
        done = self.ctl("selftest", "-H", self.url, *FEW, "--engine", f"{fault},corrupt_pct=40", code=1)
        assert "one bit is flipped" in done.stderr, done.stderr
        done = self.ctl("run", "-H", f"{self.url},engine={fault},fail=1", "jobs.json", code=1)
        assert re.search(r"DMA channel \d+ of the board \w+ failed: descriptor 0", done.stderr), done.stderr


def main():
    board, image = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    program = (image.parent / "qemu.args").read_text().split()[0]
    mlictl = find_mlictl()
    if not mlictl:
        skip("no mlictl; build one in build-test/plain, or set MLICTL")
    if not shutil.which(program):
        skip(f"{program} not found; scripts/install-deps test installs it")
    with tempfile.TemporaryDirectory() as directory:
        tested = Board(mlictl, board, image, pathlib.Path(directory))
        info = json.loads(tested.ctl("info", "--json", "-H", tested.url).stdout)["board"]
        assert info["name"] == board, info
        tested.check_jobs()
        print(tested.ctl("selftest", "-H", tested.url, *FEW).stdout, end="")
        tested.check_faults(info["engine"])
    print(f"agent {board}: passed")


if __name__ == "__main__":
    main()
