#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl batch: the files that it keeps from failed cases, and golden files that do not exist
yet."""
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import tarfile
import time
import zipfile

from batch_scene import MOVED, MOVED_SHAPE, PERM, BatchCase
from harness import MLICTL, main, mov, npy


class Kept(BatchCase):
    def run_kept(self, kept):
        """Runs a kept case from another directory."""
        elsewhere = self.dir / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        return self.finish(self.start_in(elsewhere, "run", kept))

    def start_in(self, directory, *arguments):
        here, self.dir = self.dir, directory
        try:
            return self.start(*arguments)
        finally:
            self.dir = here

    def kept(self, name):
        _, cases, _ = self.events_by_case("cases", code=1)
        self.assertEqual(cases[name]["kept"], f"batch-failed/{name}/job.json")
        return cases[name], self.path(cases[name]["kept"])

    def test_a_mismatch(self):
        self.add("deep/a", "bad.npy")
        case, kept = self.kept("deep/a")
        for _ in range(2):
            result = self.run_kept(kept)
            self.assertEqual(result.code, 1)
            self.assertIn("1 of 24 elements differ, the first at [0, 1, 2]", result.err)
        self.assertEqual(self.read("batch-failed/deep/a/given.npy")[-24:], MOVED)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed/deep/a"))),
                         ["given.npy", "golden.npy", "job.json", "out.npy", "source.npy"])
        self.assertRegex(case["message"], "^1 of 24 elements differ, the first at .*: got 20, expected"
                         " 99 in bad.npy; the result is batch-failed/deep/a/given.npy$")

    def test_elsewhere(self):
        """Runs the kept case with nothing but its kept directory, as on another machine."""
        self.write("cases/a.json", [
            mov("../in.npy", {"file": "x.raw"}, perm_dim=PERM),
            mov({"file": "x.raw", "type": "fx8", "shape": list(MOVED_SHAPE)}, "y.npy",
                expect={"file": "../in.npy"})])
        with zipfile.ZipFile(self.path("all.npz"), "w") as archive:
            archive.writestr("in.npy", self.read("in.npy"))
        self.write("cases/b.json", mov({"file": "../all.npz", "tensor": "in"},
                                       {"file": "o.npy", "params": "p.json"}, perm_dim=PERM,
                                       expect={"file": self.path("bad.npy")}))
        self.add("c", "bad.npy")
        _, cases, _ = self.events_by_case("cases", code=1)
        with tarfile.open(self.root / "kept.tar", "w") as tar:
            tar.add(self.path("batch-failed"), "kept")
        for entry in list(self.dir.iterdir()):
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        with tarfile.open(self.root / "kept.tar") as tar:
            tar.extractall(self.dir)
        for name in "abc":
            job = json.loads(self.read(f"kept/{name}/job.json"))
            for path in (job["src"]["file"], job["dst"]["file"], job["expect"]["file"]):
                self.assertNotIn("/", path)
            result = self.ctl("run", f"kept/{name}/job.json", code=1)
            self.assertIn(cases[name]["message"].split(" in ")[0], result.err)

    def test_large_files_are_shared_and_keep_their_holes(self):
        size = 32 << 20
        for name in ("big.npy", "golden.npy"):
            self.write(name, npy("|i1", (size,), b""))
            os.truncate(self.path(name), 128 + size)
        self.write("golden.npy", npy("|i1", (size,), b"x"))
        os.truncate(self.path("golden.npy"), 128 + size)
        for i in range(4):
            self.write(f"cases/c{i}.json", mov("../big.npy", "o.npy", size=[64],
                                               expect={"file": "../golden.npy"}))
        time.sleep(3.2)  # until the files' times prove something
        self.events_by_case("cases", code=1)
        files = [os.stat(self.path(f"batch-failed/c{i}/{name}.npy"))
                 for i in range(4) for name in ("source", "golden")]
        self.assertEqual(len({f.st_ino for f in files}), 2)
        self.assertEqual({f.st_nlink for f in files}, {4})
        self.assertLess(sum(f.st_blocks for f in files) * 512, size)
        self.assertEqual({f.st_size for f in files}, {128 + size})
        self.assertEqual(sorted(os.listdir(self.path("batch-failed"))),
                         [".kept", "c0", "c1", "c2", "c3"])

    def test_a_device_is_no_source(self):
        self.write("cases/a.json", mov({"file": "/dev/zero", "type": "fx8", "shape": [4],
                                        "format": "raw"}, "o.raw"))
        case, _ = self.kept("a")
        self.assertEqual(os.listdir(self.path("batch-failed/a")), ["job.json"])
        self.assert_rerun(case)

    def test_a_kept_case_is_removed_once_it_passes(self):
        for name in ("a", "b", "deep/c"):
            self.add(name, "bad.npy")
        self.events_by_case("cases", code=1)
        self.add("a")
        self.events_by_case("cases", code=1)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed"))), [".kept", "b", "deep"])
        self.events_by_case("cases", "--filter", "a", code=0)
        self.events_by_case("cases", "--keep", "none", code=1)
        self.assertTrue(self.exists("batch-failed/b/job.json"))
        os.unlink(self.path("cases/deep/c.json"))
        self.add("b")
        self.events_by_case("cases", "--filter", "b", code=0)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed"))), [".kept", "deep"])
        self.ctl("run", "batch-failed/deep/c/job.json", code=1)  # writes out.npy
        self.events_by_case("cases", code=0)
        self.assertFalse(self.exists("batch-failed"))

    def test_names_like_comments(self):
        for name in ("#a", "# b", "#c/d"):
            self.add(name, "bad.npy")
        for _ in range(2):
            _, cases, _ = self.events_by_case("cases", code=1)
            self.assertEqual({case["kept"] for case in cases.values()},
                             {f"batch-failed/{name}/job.json" for name in ("#a", "# b", "#c/d")})
        for name in ("#a", "# b", "#c/d"):
            self.add(name)
        self.events_by_case("cases", code=0)
        self.assertFalse(self.exists("batch-failed"))

    def test_foreign_files_stay(self):
        self.add("a", "bad.npy")
        self.add("b", "bad.npy")
        self.events_by_case("cases", code=1)
        self.write("batch-failed/a/notes.txt", "mine")
        self.write("batch-failed/mine/job.json", "mine")
        self.write("precious/job.json", "mine")
        with open(self.path("batch-failed/.kept"), "a", encoding="utf-8") as marker:
            marker.write("../precious\n/\n" + self.path("precious") + "\n..\n.\n\na/../../precious\n")
        self.add("a")
        self.add("b")
        self.events_by_case("cases", code=0)
        left = sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*") if p.is_file())
        self.assertEqual([p for p in left if not p.startswith("cases/") and "/" in p],
                         ["batch-failed/.kept", "batch-failed/a/notes.txt",
                          "batch-failed/mine/job.json", "precious/job.json"])
        # If the list of kept cases is missing, batch removes nothing.
        self.add("c", "bad.npy")
        self.events_by_case("cases", code=1)
        os.unlink(self.path("batch-failed/.kept"))
        self.add("c")
        self.events_by_case("cases", code=0)
        self.assertTrue(self.exists("batch-failed/c/job.json"))

    def test_a_directory_of_the_user_stays(self):
        os.mkdir(self.path("artifacts"))
        self.add("a", "bad.npy")
        self.add("b", "bad.npy")
        self.events_by_case("cases", "--keep", "artifacts", code=1)
        self.add("a")
        self.events_by_case("cases", "--keep", "artifacts", code=1)
        self.add("b")
        self.events_by_case("cases", "--keep", "artifacts", code=0)
        self.assertEqual(os.listdir(self.path("artifacts")), [])

    def test_resumed_failures_stay(self):
        self.add("a", "bad.npy")
        self.add("b")
        for _ in range(3):
            _, cases, _ = self.events_by_case("cases", "--resume", "s.jsonl", code=1)
            self.assertTrue(self.exists(cases["a"]["kept"]))
        self.add("a")
        self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertFalse(self.exists("batch-failed"))

    def test_an_incomplete_run_removes_nothing(self):
        self.add("a", "bad.npy")
        self.add("b", "bad.npy")
        self.events_by_case("cases", code=1)
        self.add("a")
        self.events_by_case("cases", "--fail-fast", "-j1", code=1)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed"))), [".kept", "b"])
        self.add("a", "bad.npy")
        self.events_by_case("cases", code=1)
        self.add("b")
        self.events_by_case("cases", "--fail-fast", "-j1", code=1)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed"))), [".kept", "a", "b"])

    def test_a_job_of_a_chain(self):
        self.write("cases/a.json", [
            mov("../in.npy", {"file": "x.raw"}, perm_dim=PERM),
            mov("../in.npy", "gold.npy", perm_dim=PERM),
            mov({"file": "x.raw", "type": "fx8", "shape": list(MOVED_SHAPE)},
                {"file": "gold.npy", "update": True}, offset=[1, 0, 0],
                expect={"file": "x.raw"}, name="culprit", priority=1)])
        case, kept = self.kept("a")
        result = self.run_kept(kept)
        self.assertIn(case["message"].split(":")[0], result.err)
        job = json.loads(self.read("batch-failed/a/job.json"))
        self.assertEqual((job["name"], job["src"]["file"], job["expect"]["file"], job["priority"]),
                         ("culprit", "source.raw", "golden.raw", 1))
        self.assertEqual(self.read("batch-failed/a/source.raw"), MOVED)

    def test_an_output_of_an_earlier_job_that_is_no_npy(self):
        self.write("cases/a.json", [mov("../in.npy", {"file": "x.raw"}, perm_dim=PERM),
                                    mov({"file": "x.raw", "format": "npy"}, "y.npy")])
        case, kept = self.kept("a")
        self.assertEqual(case["reason"], "unreadable")
        self.assertIn(case["message"].split(": ")[-1], self.run_kept(kept).err)

    def test_an_update(self):
        self.write("cases/big.npy", npy("|i1", (4, 4, 3), bytes(48)))
        self.write("cases/a.json", mov("../in.npy", {"file": "big.npy", "update": True},
                                       perm_dim=PERM, dst_offset=[0, 2, 0],
                                       expect={"digest": "sha256:" + "0" * 64}))
        case, kept = self.kept("a")
        self.assertEqual(self.read("batch-failed/a/out.npy"), self.read("cases/big.npy"))
        for _ in range(2):
            self.assertIn(case["message"].split(";")[0], self.run_kept(kept).err)
        self.assertEqual(self.read("batch-failed/a/out.npy"),
                         self.read("batch-failed/a/given.npy"))

    def test_an_error(self):
        self.add("a", offset=[9, 0, 0])
        case, kept = self.kept("a")
        self.assertEqual(self.run_kept(kept).code, 2)
        self.write("cases/a.json", dict(self.job(None, "../"), expect={"error": "LIMIT"}))
        case, kept = self.kept("a")
        self.assertIn("LIMIT expected", self.run_kept(kept).err)
        self.assertEqual(sorted(os.listdir(self.path("batch-failed/a"))), ["job.json", "source.npy"])
        self.write("cases/a.json", mov("none.npy"))
        case, kept = self.kept("a")
        self.assertIn("src.file: cases/none.npy: No such file", case["message"])
        self.assertIn("/cases/none.npy: No such file", self.run_kept(kept).err)

    def test_names_that_lead_elsewhere(self):
        (self.dir / "w").mkdir()
        self.write("up.json", self.job("bad.npy"))
        absolute = self.write("abs.json", self.job("bad.npy"))
        self.write("w/list", f"../up.json\n{absolute}\n")
        result = self.batch("w/list", "--json", "--keep", "w/kept", code=1)
        kept = [e["kept"] for e in result.json if e["event"] == "case"]
        self.assertEqual(len(kept), 2)
        for path in kept:
            self.assertTrue(path.startswith("w/kept/") and "/../" not in path, path)
            self.assertTrue(self.exists(path))
            self.assertIn("differ", self.run_kept(self.path(path)).err)

    def test_unprintable_names(self):
        """The command that batch prints can be typed into a shell, and the files that it names exist."""
        names = [b"a\nb", b"\x1b[31m", b"\x7f", b"uml\xe4ut", "\u0085".encode(), "\u00e4".encode(),
                 b"a\xc2", b"50%"]
        os.mkdir(self.path("cases"))
        for name in names:
            with open(os.fsencode(self.path("cases")) + b"/" + name + b".json", "w",
                      encoding="utf-8") as file:
                json.dump(self.job("bad.npy", "../"), file)
        result = self.batch("cases", code=1)
        again = re.findall(r"^       rerun: (.*)$", result.out, re.M)
        self.assertEqual(len(again), len(names), str(result))
        self.assertEqual(len(os.listdir(self.path("batch-failed"))), len(names) + 1)
        for command in again:
            words = shlex.split(command)
            self.assertEqual(words[:2], ["mlictl", "run"])
            self.assertIn("differ", self.run_kept(self.path(words[2])).err)

    def failing(self, *names):
        for name in names:
            self.add(name, "bad.npy")

    def test_a_foreign_directory_is_not_changed(self):
        self.failing("tile", "sub/conv")
        self.write("kept/tile/job.json", "notes")
        self.write("kept/tile/source.npy", "mine")
        os.makedirs(self.path("kept/sub"))
        before = self.listing()
        for keep in ("kept", "."):
            if keep == ".":
                os.rename(self.path("kept/tile"), self.path("tile"))
                before = self.listing()
            result = self.batch("cases", "--keep", keep, code=1)
            self.assertIn("tile exists and was not made by `mlictl batch`", result.err)
            self.assertNotIn("tile", self.read(f"{keep}/.kept").decode())
            self.assertEqual({k: v for k, v in self.listing().items() if k in before}, before)
            self.add("tile")
            self.add("sub/conv")
            self.batch("cases", "--keep", keep, code=0)
            after = {k: v for k, v in self.listing().items() if not k.startswith("cases")}
            self.assertEqual(after, {k: v for k, v in before.items() if not k.startswith("cases")})
            self.assertFalse(self.exists(f"{keep}/.kept"))
            self.assertTrue(self.exists("kept/sub"))
            self.failing("tile", "sub/conv")

    def test_a_run_does_not_remove_the_cases_that_it_reads(self):
        self.failing("c1", "deep/c2")
        self.batch("cases", code=1)
        before = self.listing()
        result = self.batch("batch-failed", code=2)
        self.assertIn("batch-failed/c1/job.json was kept in batch-failed", result.err)
        self.write("list", "batch-failed/deep/c2\n")
        self.batch("list", code=2)
        after = self.listing()
        after.pop("list")
        self.assertEqual(after, before)
        self.batch("batch-failed", "--keep", "second", code=1)
        self.batch("batch-failed", "--keep", "none", code=1)
        self.assertTrue(self.exists("batch-failed/c1/golden.npy"))
        self.assertTrue(self.exists("second/c1/job/job.json"))

    def test_kept_cases_of_another_run_are_no_cases(self):
        self.failing("c1", "deep/c2")
        self.finish(self.start_in(self.dir / "cases", "batch", "deep", "c1.json"), code=1)
        self.assertTrue(self.exists("cases/batch-failed/c1/job.json"))
        self.assertEqual(self.ctl("batch", "-l", "cases", code=0).out, "c1\ndeep/c2\n")
        self.write("list", "cases\n")
        self.assertEqual(self.ctl("batch", "-l", "list", code=0).out, "c1\ndeep/c2\n")
        before = self.listing()
        self.batch("cases", "--update-golden", "--keep", "none", code=1)
        self.assertEqual({name for name in self.listing() if name not in before}, {"bad.npy.new"})
        # Paths that are named are cases.
        self.assertEqual(self.ctl("batch", "-l", "cases/batch-failed", code=0).out, "c1/job\nc2/job\n")
        self.assertEqual(self.ctl("batch", "-l", "cases/batch-failed/c1/job.json", code=0).out, "cases/batch-failed/c1/job\n")
        os.remove(self.path("cases/batch-failed/.kept"))
        self.assertIn("batch-failed/c1/job\n", self.ctl("batch", "-l", "cases", code=0).out)

    def test_other_paths_leave_kept_cases(self):
        self.failing("c1")
        self.batch("cases", code=1)
        self.write("other/fine.json", self.job("good.npy", "../"))
        self.batch("other", code=0)
        self.assertTrue(self.exists("batch-failed/c1/job.json"))
        # Another directory has a case with the same PATH and name, and with a copy of the kept case.
        os.makedirs(self.path("elsewhere"))
        for name in ("in.npy", "good.npy", "bad.npy"):
            shutil.copy(self.path(name), self.path("elsewhere"))
        shutil.copytree(self.path("batch-failed"), self.path("elsewhere/batch-failed"))
        os.mkdir(self.path("elsewhere/cases"))
        shutil.copy(self.path("other/fine.json"), self.path("elsewhere/cases"))
        shutil.copy(self.path("other/fine.json"), self.path("elsewhere/cases/c1.json"))
        self.finish(self.start_in(self.dir / "elsewhere", "batch", "cases"), code=0)
        self.assertTrue(self.exists("elsewhere/batch-failed/c1/job.json"))

    def test_links_below_the_directory_are_not_followed(self):
        self.failing("a", "b", "deep/c")
        self.batch("cases", code=1)
        for name in ("a", "b", "deep"):
            os.rename(self.path(f"batch-failed/{name}"), self.path(f"moved-{name}"))
            os.symlink(f"../moved-{name}", self.path(f"batch-failed/{name}"))
        def moved():
            return {k: v for k, v in self.listing().items() if k.startswith("moved-")}
        before = moved()
        result = self.batch("cases", code=1)
        self.assertIn("is not a directory, or is a symbolic link", result.err)
        self.assertEqual(moved(), before)
        self.add("a")
        self.batch("cases", code=1)
        self.add("b")
        self.add("deep/c")
        self.batch("cases", code=0)
        self.assertEqual(moved(), before)
        self.assertTrue(os.path.islink(self.path("batch-failed/a")))

    def test_a_link_in_place_of_a_file_is_replaced(self):
        self.failing("a")
        self.batch("cases", code=1)
        self.write("mine", "mine")
        for name in ("job.json", "source.npy"):
            os.unlink(self.path(f"batch-failed/a/{name}"))
            os.symlink("../../mine", self.path(f"batch-failed/a/{name}"))
        self.batch("cases", code=1)
        self.assertEqual(self.read("mine"), b"mine")
        self.assertIn("differ", self.run_kept(self.path("batch-failed/a/job.json")).err)

    def test_an_updated_case_keeps_its_failure(self):
        self.failing("a")
        self.batch("cases", code=1)
        self.events_by_case("cases", "--update-golden", code=1)
        self.assertTrue(self.exists("batch-failed/a/job.json"))

    def test_names_reserved_in_the_directory(self):
        for name in (".kept", ".kept-files"):
            self.write(f"{name}.json", self.job("bad.npy"))
            result = self.batch(f"./{name}.json", code=1)
            self.assertNotIn("--keep", result.err)
            self.assertTrue(self.exists(f"batch-failed/%2E{name[1:]}/job.json"), str(result))

    def test_an_empty_path_is_refused(self):
        self.add("a")
        for option in ("--keep", "--resume", "--junit", "--socket"):
            result = self.batch("cases", option, "", code=2)
            self.assertIn(f"{option} is empty", result.err)
    def test_directories_that_cannot_be_made(self):
        self.add("a", "bad.npy")
        self.assertNotIn("kept", self.events_by_case("cases", "--keep", "none", code=1)[1]["a"])
        self.assertFalse(self.exists("batch-failed"))
        self.write("file", "")
        result = self.batch("cases", "--keep", "file", code=1)
        self.assertIn("--keep", result.err)

    def test_a_full_disk_leaves_no_partly_kept_case(self):
        for name in ("a", "b/c", "b/d"):
            self.add(name, "bad.npy")
        result = self.batch("cases", code=1, preexec_fn=lambda:
                            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
        self.assertIn("--keep", result.err)
        left = [files for _, _, files in os.walk(self.path("batch-failed")) if files]
        self.assertEqual(left, [])
        self.assertFalse(self.exists("batch-failed/a"))
        self.assertFalse(self.exists("batch-failed/b/c"))

    def test_a_full_disk_leaves_no_part_of_a_line(self):
        """The list of kept cases may end with a partial line, to which a new line must not be appended."""
        self.failing("a", "b")
        self.batch("cases", "--fail-fast", "-j1", code=1, preexec_fn=lambda:
                   resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
        for _ in range(2):
            self.assertNotIn("--keep", self.batch("cases", "-j1", code=1).err)

    def test_a_directory_name_that_is_not_utf8(self):
        directory = os.fsencode(self.path("cases")) + b"/uml\xe4ut"
        os.makedirs(directory)
        for name in ("in.npy", "bad.npy"):
            with open(directory + b"/" + os.fsencode(name), "wb") as file:
                file.write(self.read(name))
        with open(directory + b"/a.json", "w", encoding="utf-8") as file:
            json.dump(self.job("bad.npy"), file)
        self.ctl("batch", "cases", "--json", "-q", code=1)
        kept = self.path("batch-failed/uml%E4ut/a")
        self.assertEqual(sorted(os.listdir(kept)),
                         ["given.npy", "golden.npy", "job.json", "source.npy"])
        self.assertIn("differ", self.run_kept(f"{kept}/job.json").err)

    def run_printed_command(self, case):
        """Runs, in a shell, the command that batch has printed."""
        environment = self.environment()
        environment["PATH"] = f"{pathlib.Path(MLICTL).resolve().parent}:{environment['PATH']}"
        return subprocess.run(["sh", "-c", case["again"]], cwd=self.dir, env=environment,
                              capture_output=True, text=True, timeout=60, check=False)

    def assert_rerun(self, case, part=None):
        """Runs the printed command, and expects a failure with the message of the case, or with a part of it."""
        result = self.run_printed_command(case)
        self.assertNotEqual(result.returncode, 0, case)
        self.assertIn(part or case["message"], result.stderr)

    def test_the_rerun_says_the_same(self):
        os.mkdir(self.path("directory.npy"))
        self.write("cases/x.raw", "not JSON")
        source, golden = {"file": "../in.npy", "type": "sa8", "axis": 2, "scale": [1, 2, 3, 4]}, {"file": "../good.npy"}
        for name, job in (("missing", mov("none.npy")),
                          ("absolute", mov(self.path("none.npy"))),
                          ("deep/hint", mov("../../inn.npy")),
                          ("directory", mov("../directory.npy")),
                          ("golden", mov("../in.npy", expect={"file": "../none/gold.npy"})),
                          ("fresh", mov("../in.npy", expect={"file": "fresh.npy"})),
                          ("params", mov(source, perm_dim=PERM, expect=dict(golden, params="none.json"))),
                          ("archive", mov({"file": "none.npz", "tensor": "w"}))):
            self.write(f"cases/{name}.json", job)
        for keep in ("batch-failed", "k/./deep", self.path("absolute")):
            _, cases, _ = self.events_by_case("cases", "--keep", keep, code=1)
            for name, case in cases.items():
                with self.subTest(name=name, keep=keep):
                    part = case["message"].split(": ", 1)[1].split("; did you mean", 1)[0]  # paths may become absolute
                    self.assert_rerun(case, None if "/" not in keep else part)
        self.assertIn("did you mean in.npy?", cases["deep/hint"]["message"])

    def test_the_rerun_refuses_an_output_that_is_an_input(self):
        self.write("cases/a.json", mov("../in.npy", "../in.npy"))
        self.write("cases/b.json", mov("../in.npy", "../good.npy", perm_dim=PERM, expect={"file": "../good.npy"}))
        before = self.read("in.npy"), self.read("good.npy")
        _, cases, _ = self.events_by_case("cases", code=1)
        for name, file in (("a", "src.file"), ("b", "expect.file")):
            text = f"is the same file as {file}"
            self.assertIn(text, cases[name]["message"])
            self.assert_rerun(cases[name], text)
        self.assertEqual((self.read("in.npy"), self.read("good.npy")), before)

    def test_the_rerun_has_the_limits_of_the_batch(self):
        self.add("a")
        self.write("t.json", {"format": 1, "machine": {"cpu": "other", "l1d": 1, "l2": 1, "l3": 1}, "level": "c",
                              "measured": {"library": "0", "date": "", "seconds": 1}, "values": {}})
        _, cases, _ = self.events_by_case("cases", "--limit-bytes", "8", "--tuning", "t.json", code=1)
        self.assertEqual(cases["a"]["again"],
                         "mlictl run --limit-bytes 8 --tuning t.json batch-failed/a/job.json")
        self.assert_rerun(cases["a"])
        _, cases, _ = self.events_by_case("cases", "--timeout", "200ms", "-c4", "-e", "fault:threads,tiny=0,stick=1",
                                          code=1)
        self.assertEqual(cases["a"]["reason"], "timeout")
        self.assertLessEqual(json.loads(self.read(cases["a"]["kept"]))["timeout_ms"], 200)
        self.assert_rerun(cases["a"], "time")

    def test_the_rerun_command_names_the_engine(self):
        name = "it's $HOME -x"
        self.add(name)
        self.add("-y")
        engine = "fault:threads,fail_pct=100"
        _, cases, _ = self.events_by_case("cases", "-e", engine, "-c2", code=1)
        for case in (cases[name], cases["-y"]):
            self.assertEqual((case["status"], case["reason"]), ("failed", "channel"))
            self.assertIn(f" run --engine {engine} --channels 2 ", case["again"])
            result = self.run_printed_command(case)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("failed at byte", result.stderr)

    def test_the_rerun_command_names_the_daemon(self):
        path = self.daemon.socket
        self.add("a", "bad.npy")
        _, cases, _ = self.events_by_case("cases", "--socket", path, code=1)
        self.assertEqual(cases["a"]["again"],
                         f"mlictl submit --socket {path} batch-failed/a/job.json")
        self.assertIn("elements differ", self.run_printed_command(cases["a"]).stderr)


class Golden(BatchCase):
    def update(self, code=1):
        return self.events_by_case("cases", "--update-golden", code=code)

    def test_actual_output_beside_the_golden_file(self):
        self.add("a", "bad.npy")
        self.add("b")
        before = self.listing()
        _, cases, end = self.update()
        self.assertEqual(self.counts(end), {"passed": 1, "updated": 1})
        self.assertIn("1 of 24 elements differ", cases["a"]["message"])
        self.assertIn("bad.npy.new; rename that file", cases["a"]["message"])
        new = {k: v for k, v in self.listing().items() if k not in before}
        self.assertEqual(new, {"bad.npy.new": self.read("good.npy")})
        self.update()
        os.rename(self.path("bad.npy.new"), self.path("bad.npy"))
        self.events_by_case("cases", code=0)

    def test_new_is_named_until_its_case_passes(self):
        self.add("a", "bad.npy")
        self.add("b")
        self.update()
        self.assertNotIn("earlier", self.update()[1]["a"]["message"])
        message = self.events_by_case("cases", code=1)[1]["a"]["message"]
        self.assertIn("; bad.npy.new has the result of an earlier --update-golden; the result is batch-failed/a/given",
                      message)
        self.add("a", "bad.npy", offset=[9, 0, 0])
        message = self.events_by_case("cases", code=1)[1]["a"]["message"]
        self.assertIn("; bad.npy.new has the result of an earlier --update-golden", message)
        self.add("a", "bad.npy")
        self.write("bad.npy", self.read("good.npy"))
        self.batch("cases", "--filter", "b", code=0)
        self.assertTrue(self.exists("bad.npy.new"))
        out = self.batch("cases", "--filter", "a", code=0).out
        self.assertEqual(out.count("bad.npy.new is removed: its case passes again\n"), 1)
        self.assertFalse(self.exists("bad.npy.new"))

    def test_new_of_parameters_is_removed(self):
        self.write("wanted.json", {"scale": 7})
        self.add_quantised("a", "../wanted.json")
        self.update()
        self.assertIn("; wanted.json.new has the result of an earlier --update-golden",
                      self.events_by_case("cases", code=1)[1]["a"]["message"])
        self.write("wanted.json", self.PARAMS)
        self.events_by_case("cases", "--update-golden", code=0)
        self.assertFalse(self.exists("wanted.json.new"))

    def test_new_of_another_case_stays(self):
        """Two cases have one golden file: its new result is needed until both pass."""
        self.add("a")
        self.add("b", "./good.npy", offset=[1, 0, 0])
        self.update()
        for _ in range(2):
            self.events_by_case("cases", "--resume", "s.jsonl", code=1)
            self.assertTrue(self.exists("good.npy.new"))
        self.add("a", size=[2, 3, 4])
        self.events_by_case("cases", "--resume", "s.jsonl", code=1)  # reuses the result of b
        self.events_by_case("cases", "--fail-fast", "-j1", code=1)
        self.assertTrue(self.exists("good.npy.new"))
        self.add("b")
        for path, name in (("cases", "a"), ("cases", "b"), ("-", "cases/a")):
            self.batch(path, "--filter", name, stdin="cases/a.json\ncases/b.json\n", code=0)
            self.assertTrue(self.exists("good.npy.new"))
        self.events_by_case("cases", "--resume", "s.jsonl", code=0)
        self.assertFalse(self.exists("good.npy.new"))

    def test_new_that_a_case_names_stays(self):
        self.write("good.npy.new", self.read("good.npy"))
        self.add("a")
        self.write("cases/b.json", dict(self.job(None, "../"), expect={"file": "../good.npy.new", "format": "npy"}))
        for options in ([], ["--filter", "a"], ["--filter", "b"]):
            self.batch("cases", *options, code=0)
            self.assertTrue(self.exists("good.npy.new"))
        os.unlink(self.path("cases/b.json"))
        self.batch("cases", code=0)
        self.assertFalse(self.exists("good.npy.new"))

    def test_new_that_is_a_link_stays(self):
        self.add("a")
        self.write("mine", "mine")
        os.symlink("mine", self.path("good.npy.new"))
        self.events_by_case("cases", code=0)
        self.assertEqual(self.read("good.npy.new"), b"mine")

    def test_a_missing_golden_file(self):
        self.add("a", "fresh.npy")
        _, cases, _ = self.events_by_case("cases", code=1)
        self.assertRegex(cases["a"]["message"],
                         r"fresh\.npy: No such file.*; `mlictl batch --update-golden` writes it$")
        self.assertEqual(self.counts(self.update()[2]), {"updated": 1})
        self.assertEqual(self.read("fresh.npy"), self.read("good.npy"))
        self.assertEqual(self.counts(self.update(0)[2]), {"passed": 1})

    PARAMS = {"type": "sa8", "axis": 0, "scale": [1, 2, 3, 4], "zero_point": [0] * 4, "scale_frac_bits": [0] * 4}

    def add_quantised(self, name, params, golden="good.npy"):
        job = self.job(golden, "../")
        job["src"] = {"file": "../in.npy", "type": "sa8", "axis": 2, "scale": [1, 2, 3, 4]}
        job["expect"]["params"] = params
        self.write(f"cases/{name}.json", job)

    def test_params_beside_the_golden_file(self):
        self.write("wanted.json", dict(self.PARAMS, scale=[1, 2, 4, 3]))
        self.add_quantised("a", "../wanted.json")
        _, cases, _ = self.update()
        self.assertIn("differ in scale[2] and 1 more: got 3, expected 4 in wanted.json", cases["a"]["message"])
        self.assertIn("; written to wanted.json.new; rename that file", cases["a"]["message"])
        self.assertFalse(self.exists("good.npy.new"))
        os.rename(self.path("wanted.json.new"), self.path("wanted.json"))
        self.assertEqual(json.loads(self.read("wanted.json")), self.PARAMS)
        self.events_by_case("cases", code=0)

    def test_elements_and_params_at_once(self):
        self.write("wanted.json", {"scale": 7})
        self.add_quantised("a", "../wanted.json", "bad.npy")
        self.update()
        self.assertEqual(self.read("bad.npy.new"), self.read("good.npy"))
        self.assertEqual(json.loads(self.read("wanted.json.new")), self.PARAMS)

    def test_missing_params(self):
        self.add_quantised("a", "../fresh.json")
        self.add_quantised("b", "../both.json", "fresh.npy")
        _, cases, _ = self.events_by_case("cases", code=1)
        self.assertRegex(cases["a"]["message"], r"fresh\.json: No such file.*; `mlictl batch --update-golden` writes it$")
        self.assertEqual(cases["a"]["pointer"], "/expect/params")
        self.assertEqual(self.counts(self.update()[2]), {"updated": 2})
        self.assertEqual(json.loads(self.read("fresh.json")), self.PARAMS)
        self.assertEqual(json.loads(self.read("both.json")), self.PARAMS)
        self.assertEqual(self.counts(self.update(0)[2]), {"passed": 2})

    def test_params_in_the_job_file(self):
        self.add_quantised("a", {"scale": 1})
        _, cases, _ = self.update()
        new = cases["a"]["message"].split("; to accept the parameters, put ")[1].removesuffix(" into expect.params")
        self.assertEqual(json.loads(new), self.PARAMS)
        self.add_quantised("a", json.loads(new))
        self.assertEqual(self.counts(self.update(0)[2]), {"passed": 1})

    def test_changed_params_run_again(self):
        self.write("wanted.json", self.PARAMS)
        self.add_quantised("a", "../wanted.json")
        self.batch("cases", "--resume", "s.jsonl", code=0)
        self.assertIn("1 reused", self.batch("cases", "--resume", "s.jsonl", code=0).out)
        self.write("wanted.json", dict(self.PARAMS, axis=1))
        out = self.batch("cases", "--resume", "s.jsonl", code=1).out
        self.assertIn("cases/a.json runs again: golden file wanted.json changed", out)
        self.assertIn("differ in axis: got 0, expected 1 in wanted.json; the result is batch-failed/a/given.json", out)
        kept = self.path("batch-failed/a")
        self.assertEqual(sorted(os.listdir(kept)),
                         ["given.json", "given.npy", "golden.json", "golden.npy", "job.json", "source.npy"])
        os.unlink(self.path("wanted.json"))
        self.assertIn("differ in axis: got 0, expected 1", self.ctl("run", f"{kept}/job.json", code=1).err)
        self.assertEqual(json.loads(self.read("batch-failed/a/given.json")), self.PARAMS)
        self.add_quantised("a", self.PARAMS)
        self.batch("cases", code=0)
        self.assertFalse(self.exists("batch-failed"))

    def test_a_remark_without_params(self):
        self.add_quantised("a", self.PARAMS)
        job = json.loads(self.read("cases/a.json"))
        del job["expect"]["params"]
        self.write("cases/b.json", job)
        _, cases, _ = self.events_by_case("cases", code=0)
        remark = "the quantisation parameters of the result are not compared: expect has no params"
        self.assertEqual([cases[name].get("remark") for name in "ab"], [None, remark])
        self.assertIn("\nremark: 1 case does not compare the quantisation parameters of a result; ",
                      self.batch("cases", code=0).out)
        self.assertIn(f"ok 2 - b\n# {remark}\n", self.batch("cases", "-j1", "--tap", code=0).out)
        self.assertIn(f'name="remark" value="{remark}"', self.batch("cases", "--junit", "-", code=0).out)

    def test_messages_if_a_golden_file_cannot_be_written(self):
        os.symlink("nowhere", self.path("dangling.npy"))
        for golden in ("none/fresh.npy", "dangling.npy"):
            self.add("a", golden)
            _, cases, _ = self.events_by_case("cases", code=1)
            self.assertNotIn("--update-golden", cases["a"]["message"])
            _, cases, _ = self.update()
            self.assertEqual(cases["a"]["status"], "error")

    def test_paths_are_relative_to_the_working_directory(self):
        """A path through a link stays as it is, because ".." behind the link leads to another directory than without
        the link."""
        os.makedirs(self.path("real/deep"))
        os.symlink("real/deep", self.path("link"))
        for name in ("in.npy", "bad.npy"):
            shutil.copy(self.path(name), self.path("real"))
        self.write("link/a.json", self.job("bad.npy", "../"))
        self.add("deep/b", "bad.npy")
        for directory, shown in (("link", "link/../bad.npy"), ("cases", "bad.npy")):
            result = self.batch(directory, code=1)
            self.assertIn(f"expected 99 in {shown}; the result is", result.out)
            result = self.batch(directory, "--update-golden", code=1)
            self.assertIn(f"written to {shown}.new; rename that file", result.out)
        result = self.ctl("run", "cases/deep/b.json", code=1)
        self.assertIn("expected 99 in bad.npy", result.err)

    def test_one_file_of_several_cases(self):
        """If several cases write the same file, the case that ends first writes it."""
        for i in range(8):
            self.add(f"c{i}", "fresh.npy")
        for _ in range(20):
            _, cases, end = self.events_by_case("cases", "--update-golden", "-j8")
            self.assertEqual((end["error"], end["failed"]), (0, 0), cases)
            self.events_by_case("cases", code=0)
            os.unlink(self.path("fresh.npy"))

    def test_all_jobs_of_a_case(self):
        self.write("cases/a.json", [
            mov("../in.npy", "x.npy", perm_dim=PERM, expect={"file": "../bad.npy"}, name="x"),
            mov("x.npy", "y.npy", expect={"file": "../y.npy"}, after=["x"]),
            mov("x.npy", "z.npy", expect={"digest": "sha256:" + "0" * 64})])
        _, cases, _ = self.update()
        self.assertEqual(self.read("y.npy"), self.read("good.npy"))
        self.assertEqual(self.read("bad.npy.new"), self.read("good.npy"))
        self.assertRegex(cases["a"]["message"],
                         r"; \[2\].expect: digests differ.*; to accept the result")

    def test_npy_and_raw_golden_files(self):
        self.write("cases/a.json", [
            mov("../in.npy", "x.npy", perm_dim=PERM, expect={"file": "../a.raw"}),
            mov("../in.npy", {"file": "y.raw", "strides": [12, 4, 1]}, perm_dim=PERM,
                expect={"file": "../b.npy"}),
            mov("../in.npy", "z.raw", perm_dim=PERM, expect={"file": "../c.raw"})])
        self.assertEqual(self.counts(self.update()[2]), {"updated": 1})
        self.assertEqual(self.read("a.raw"), MOVED)
        self.assertEqual(self.read("b.npy"), self.read("good.npy"))
        self.assertEqual(self.read("c.raw"), MOVED)
        self.events_by_case("cases", code=0)

    def test_tensors_of_archives(self):
        with zipfile.ZipFile(self.path("all.npz"), "w") as archive:
            for name in ("in.npy", "good.npy", "bad.npy"):
                archive.writestr(name, self.read(name))
        job = dict(mov({"file": "../all.npz", "tensor": "in"}, "x.npy", perm_dim=PERM))
        self.write("cases/a.json", dict(job, expect={"file": "../all.npz", "tensor": "good"}))
        self.write("cases/b.json", dict(job, expect={"file": "../all.npz", "tensor": "bad"}))
        self.write("cases/c.json", dict(job, src={"file": "../all.npz", "tensor": "none"}))
        _, cases, end = self.events_by_case("cases", code=1)
        self.assertEqual((cases["a"]["status"], cases["b"]["reason"], cases["c"]["reason"]),
                         ("passed", "mismatch", "unreadable"))
        again = self.ctl("run", cases["b"]["kept"], code=1)
        self.assertIn("1 of 24 elements differ", again.err)
        before = self.listing()
        _, cases, _ = self.update()
        self.assertIn("a golden tensor in a .npz file cannot be updated", cases["b"]["message"])
        self.assertEqual({k for k in self.listing() if k not in before}, set())

    def test_failures_without_golden_files(self):
        self.add("a", offset=[9, 0, 0])
        self.add("b", "bad.npy")
        os.symlink("in.npy", self.path("bad.npy.new"))
        before = self.read("in.npy")
        _, cases, end = self.update()
        self.assertEqual(self.counts(end), {"failed": 1, "error": 1})
        self.assertIn("not a regular file", cases["b"]["message"])
        self.assertEqual(self.read("in.npy"), before)


class Unused(BatchCase):
    def unused(self, *arguments):
        before = self.listing()
        out = self.batch("--unused", *arguments, code=0).out.splitlines()
        self.assertEqual(self.listing(), before)
        return out

    def test_goldens(self):
        self.add("a")
        self.add("deep/b")
        os.unlink(self.path("bad.npy"))
        self.assertEqual(self.unused("cases"), [])
        for name in ("old.npy", "old.npy.new", "good.npy.new", "cases/deep/x.raw", "cases/gone/y.npz", "golden/z.npy"):
            self.write(name, "")
        self.write("wanted.json", {"scale": 1})
        self.write("wanted.json.new", {"scale": 1})
        self.write("notes.json", {"name": "mine"})
        self.write("notes.txt", "mine")
        self.write(".hidden.npy", "mine")
        wanted = ["cases/deep/x.raw", "cases/gone/y.npz", "old.npy", "old.npy.new", "wanted.json", "wanted.json.new"]
        self.assertEqual(self.unused("cases"), wanted)
        self.assertEqual(self.unused("cases", "golden"), [*wanted[:2], "golden/z.npy", *wanted[2:]])
        self.assertEqual(sorted(self.unused(".")), sorted([*wanted, "golden/z.npy"]))
        self.write("list", "cases/a.json\n")
        self.assertEqual(self.unused("list"), wanted[2:])
        lines = self.batch("cases", "--unused", "--json", code=0).json
        self.assertEqual(lines, [{"file": name} for name in wanted])

    def test_files_of_all_roles_are_used(self):
        self.write("cases/a.json", [
            mov("../in.npy", {"file": "x.raw", "params": "p.json"}, perm_dim=PERM),
            mov({"file": "../bad.npy"}, {"file": "gold.npy", "update": True}, offset=[1, 0, 0],
                expect={"file": "../good.npy", "params": "wanted.json"})])
        for name in ("x.raw", "gold.npy"):
            self.write(f"cases/{name}", "")
        for name in ("p.json", "wanted.json"):
            self.write(f"cases/{name}", {"scale": 1})
        self.assertEqual(self.unused("cases"), [])
        os.symlink("../good.npy", self.path("cases/link.npy"))
        self.assertEqual(self.unused("cases"), [])

    def test_kept_cases(self):
        os.unlink(self.path("good.npy"))
        for name in ("a", "deep/b"):
            self.add(name, "bad.npy")
        self.batch("cases", code=1)
        self.assertEqual(self.unused("cases"), [])
        os.rename(self.path("cases/deep/b.json"), self.path("cases/c.json"))
        self.add("c", "bad.npy")
        self.assertEqual(self.unused("cases/"), ["batch-failed/deep/b/job.json"])
        self.assertEqual(self.unused("cases", "--keep", "none"), [])
        self.assertEqual(self.unused("cases", "--keep", "other"), [])
        os.unlink(self.path("batch-failed/deep/b/job.json"))
        self.assertEqual(self.unused("cases"), [])

    def test_refusals(self):
        self.add("a")
        for option in (["--filter", "a"], ["--shard", "1/2"], ["--list"]):
            self.assertIn("--unused cannot be combined with", self.batch("cases", "--unused", *option, code=2).err)
        self.write("cases/b.json", '{"op": "mov", "src": ')
        result = self.batch("cases", "--unused", code=2)
        self.assertIn("cases/b.json", result.err)
        self.assertEqual(result.out, "")


if __name__ == "__main__":
    main()
