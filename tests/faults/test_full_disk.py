#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fills the disk before each write of mlictl and of mlid: a small tmpfs with 0, 1, 2, ... free pages."""
import os
import re
import subprocess
import xml.etree.ElementTree

import soak
import stalled_fs
from batch_scene import BatchCase
from harness import MLID, PATIENCE, main, mov, wait_for

PAGE = os.sysconf("SC_PAGESIZE")
PAGES = 256
FULL = "No space left on device"


def prepare():
    """Returns why no file system can be mounted, or None."""
    try:
        stalled_fs.private_mounts()
    except stalled_fs.Unavailable as reason:
        return f"no tmpfs: {reason}"
    return None


UNAVAILABLE = prepare()


class FullDisk(BatchCase):
    def setUp(self):
        if UNAVAILABLE:
            self.skipTest(UNAVAILABLE)
        super().setUp()
        self.small = self.root / "small"
        self.small.mkdir()
        try:
            stalled_fs.call("mount", b"none", str(self.small).encode(), b"tmpfs", 0, b"size=%d" % (PAGES * PAGE))
        except stalled_fs.Unavailable as reason:
            self.skipTest(f"no tmpfs: {reason}")
        self.addCleanup(stalled_fs.libc.umount2, str(self.small).encode(), stalled_fs.MNT_DETACH)
        self.write_npy("big.npy", "|i1", (100, 100))

    def tree(self):
        """Returns the names and contents of the files; removes the times of day from reports."""
        return {str(p.relative_to(self.small)): re.sub(rb'timestamp="[^"]*"', b"", p.read_bytes())
                for p in self.small.rglob("*") if p.is_file()}

    def leave(self, pages):
        """Fills the disk until `pages` pages are free."""
        free = os.statvfs(self.small).f_bavail
        self.assertGreaterEqual(free, pages)
        with open(self.small / "ballast", "wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, max(1, (free - pages) * PAGE))

    def make_room(self):
        os.unlink(self.small / "ballast")

    def each(self, most, check):
        """Calls check() with each number of free pages from 0 to `most`; in instrumented programs with a third of
        them."""
        self.hits = 0
        for pages in range(0, most + 1, 3 if soak.INSTRUMENTED else 1):
            with self.subTest(pages=pages):
                self.leave(pages)
                check()
                if (self.small / "ballast").exists():
                    self.make_room()
        soak.count("full disk", self.hits)
        self.assertGreater(self.hits, 0)

    def check_command(self, *arguments, pages=8, done=0):
        """Expects the same output as on an empty disk, or a message and unchanged files."""
        before = self.tree()
        self.ctl(*arguments, cwd=self.small, code=done)
        after = self.tree()
        self.assertNotEqual(before, after)
        self.restore(before)

        def check():
            result = self.ctl(*arguments, cwd=self.small)
            self.make_room()
            if result.code == done and FULL not in result.err:
                self.assertEqual(self.tree(), after, str(result))
            else:
                self.hits += 1
                self.assertEqual(result.code, 1, str(result))
                self.assertIn(FULL, result.err + result.out)
                for path, content in self.tree().items():
                    self.assertIn(content, (before.get(path), after.get(path)), path)
            self.restore(before)
        self.each(pages, check)

    def restore(self, files):
        for path in self.tree():
            if path not in files:
                os.unlink(self.small / path)
        for path in sorted((p for p in self.small.rglob("*") if p.is_dir()), reverse=True):
            if not any(path.iterdir()):
                path.rmdir()
        for path, content in files.items():
            if not (self.small / path).exists() or (self.small / path).read_bytes() != content:
                (self.small / path).write_bytes(content)


class Commands(FullDisk):
    def test_run(self):
        (self.small / "o1.npy").write_bytes(b"old")
        self.write("job.json", [mov("big.npy", str(self.small / f"o{i}.npy")) for i in range(3)])
        for more in ((), ("--sync",)):
            self.check_command("run", self.path("job.json"), *more, pages=12)

    def test_update(self):
        (self.small / "both.npy").write_bytes(self.read("big.npy"))
        self.write("job.json", mov("big.npy", {"file": str(self.small / "both.npy"), "update": True}, size=[50, 100],
                                   dst_offset=[50, 0]))
        self.check_command("run", self.path("job.json"))

    def test_submit(self):
        self.write("job.json", [mov("big.npy", str(self.small / f"o{i}.npy")) for i in range(2)])
        self.check_command("submit", "-s", self.daemon.socket, self.path("job.json"), pages=8)

    def test_texts(self):
        self.write("job.json", mov("big.npy", "o.npy"))
        big, job = self.path("big.npy"), self.path("job.json")
        self.check_command("make", "mov", big, "o.npy", "-o", "made.json", pages=3)
        self.check_command("gen", "new.npy", "--shape", "100,50", "--dtype", "int8", pages=4)
        self.check_command("explain", "--no-memcpy", job, "--svg", "picture.svg", pages=12)
        self.check_command("tile", big, "o.npy", "--budget", "4000", "-o", "jobs.json", "--svg", "tiles.svg", pages=12)


class Batch(FullDisk):
    WORDS = ("batch", "cases", "-j2", "--resume", "s.jsonl", "--junit", "r.xml", "--json")

    def setUp(self):
        super().setUp()
        cases = self.small / "cases"
        cases.mkdir()
        for i in range(6):
            self.add(f"c{i}", "bad.npy" if i in (1, 4) else "good.npy")
            job = self.read(f"cases/c{i}.json").decode().replace("../", str(self.dir) + "/")
            (cases / f"c{i}.json").write_text(job)

    def verdicts(self, result):
        return {e["name"]: (e["status"], (e.get("message") or "").partition("; the result is")[0])
                for e in result.json if e["event"] == "case"}

    def test_batch(self):
        """However full the disk is, the verdicts are right, and after a resumed run the state file has all of them."""
        whole = self.verdicts(self.ctl(*self.WORDS, cwd=self.small, code=1))
        clean = {path: content for path, content in self.tree().items() if path.startswith("cases")}
        self.assertEqual(sorted(v[0] for v in whole.values()), ["failed"] * 2 + ["passed"] * 4)
        self.restore(clean)

        def check():
            result = self.ctl(*self.WORDS, cwd=self.small)
            self.assertEqual(result.code, 1, str(result))
            for name, verdict in self.verdicts(result).items():
                if verdict[0] != "not_run":
                    self.assertEqual(verdict, whole[name], str(result))
            if FULL in result.err:
                self.hits += 1
            else:
                self.assertEqual(self.verdicts(result), whole)
            self.make_room()
            if (self.small / "r.xml").exists():
                xml.etree.ElementTree.parse(self.small / "r.xml")
            again = self.ctl(*self.WORDS, cwd=self.small, code=1)
            self.assertEqual(self.verdicts(again), whole)
            self.assertEqual([p for p in self.small.rglob(".mlictl-*")], [])
            self.restore(clean)
        self.each(24, check)

    def test_merge(self):
        self.ctl(*self.WORDS, cwd=self.small, code=1)
        os.unlink(self.small / "r.xml")
        self.check_command("batch", "merge", "s.jsonl", "--junit", "r.xml", done=1, pages=3)

    def test_golden(self):
        """A golden file is never partly written, and the case is reported as updated only if it was written."""
        files = self.tree()
        job = files["cases/c0.json"].replace(str(self.dir / "good.npy").encode(), b"fresh.npy")
        self.restore({"cases/c0.json": job})
        self.ctl("batch", "cases", "--update-golden", cwd=self.small, code=1)
        golden = self.tree()["cases/fresh.npy"]
        self.restore({"cases/c0.json": job})

        def check():
            result = self.ctl("batch", "cases", "--update-golden", "--keep", "none", cwd=self.small, code=1)
            self.hits += FULL in result.out + result.err
            self.assertEqual(self.tree().get("cases/fresh.npy", None if FULL in result.out else golden),
                             None if FULL in result.out else golden)
            self.restore({"cases/c0.json": job, "ballast": self.tree()["ballast"]})
        self.each(3, check)


class Service(FullDisk):
    def test_trace(self):
        """mlid continues to serve if there is no room for the trace."""
        def check():
            self.write("mlid.json", {"trace": str(self.small / "trace.json")})
            with open(self.root / "mlid.log", "w+b") as log:
                path = self.root / "mlid.sock"
                daemon = subprocess.Popen([MLID, "--config", self.path("mlid.json"), "--socket", path],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
                self.addCleanup(daemon.kill)
                self.assertTrue(wait_for(path.exists))
                self.write("job.json", [mov("in.npy", f"o{i}.npy") for i in range(50)])
                self.ctl("submit", "-s", path, "job.json", code=0)
                daemon.terminate()
                self.assertEqual(daemon.wait(PATIENCE), 0)
                log.seek(0)
                self.hits += b"the trace stops" in log.read()
        self.each(2, check)


if __name__ == "__main__":
    if UNAVAILABLE:
        print(UNAVAILABLE)
    main()
