# SPDX-License-Identifier: BSD-3-Clause
"""Tests tensor files with errors, and outputs that cannot be written."""
import os
import resource
import shutil
import socket
import subprocess
import sys
import time

from harness import Case, at_rest, main, mov, needs_root, npy, ramp, wait_for


def header(text, version=b"\x01\x00"):
    size = len(text).to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + size + text.encode()


class Source(Case):
    def refuse_file(self, content, *words):
        self.write("in.npy", content)
        self.assert_refused(mov(), "/src/file", "src.file: in.npy: ", *words)

    def test_missing(self):
        self.assert_refused(mov("no.npy"), "/src/file", "src.file: no.npy: No such file")
        self.assert_refused(mov("no/in.npy"), "/src/file", "No such file")
        self.write_npy("in.npy")
        self.assert_refused(mov("in.npy/x.npy"), "/src/file", "Not a directory")
        self.assert_refused(mov("x" * 300 + ".npy"), "/src/file", "File name too long")

    def test_a_file_that_is_not_regular(self):
        os.mkdir(self.path("dir.npy"))
        os.mkfifo(self.path("fifo.npy"))
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.path("socket.npy"))
            for name, kind in (("dir", "a directory"), ("fifo", "a fifo"), ("socket", "a socket")):
                self.assert_refused(mov(name + ".npy"), "/src/file",
                                    f"src.file: {name}.npy is {kind}; a regular file is needed")
        self.assert_refused(mov({"file": "/dev/zero", "shape": [4], "type": "fx8"}), "/src/file",
                            "/dev/zero is a device")

    def test_without_permission(self):
        os.chmod(self.write_npy("in.npy"), 0)
        self.write("job.json", mov())
        result = self.as_nobody("run", "job.json")
        self.assertEqual(result.code, 2)
        self.assertIn(": src.file: in.npy: Permission denied", result.err)

    def test_a_file_that_is_no_npy(self):
        self.refuse_file(b"")
        self.refuse_file(b"hello, world")
        self.refuse_file(b"\x93NUMPX\x01\x00" + bytes(200))
        self.refuse_file(header("x" * 118, b"\x07\x00"), "7")
        self.refuse_file(bytes(100000))

    def test_truncated(self):
        whole = npy("|i1", (2, 3, 4), ramp(24))
        for length in (1, 7, 9, 20, 127, 128, 140, len(whole) - 1):
            self.refuse_file(whole[:length])

    def test_data_behind_the_tensor(self):
        self.refuse_file(npy("|i1", (2, 3, 4), ramp(25)), "25", "24")

    def test_wrong_headers(self):
        for text in ("{'descr': '|i1', 'fortran_order': False, 'shape': (4,)",
                     "{'descr': '|i1', 'fortran_order': False}",
                     "{'descr': '|i1', 'fortran_order': 1, 'shape': (4,), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (-4,), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (4.0,), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (0,), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,4), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999999999999,), }",
                     "{'descr': '|i1', 'fortran_order': False, 'shape': (4294967295, 4294967295, "
                     "4294967295), }",
                     "{'descr': '|i1', 'descr': '<i2', 'fortran_order': False, 'shape': (4,), }",
                     "{'descr': [('a', '|i1')], 'fortran_order': False, 'shape': (4,), }",
                     "__import__('os').system('true')", "{" * 1000, ""):
            self.refuse_file(header(text.ljust(117) + "\n") + ramp(4))

    def test_header_longer_than_the_file(self):
        self.refuse_file(b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(100))
        self.refuse_file(b"\x93NUMPY\x01\x00\xff\xff" + bytes(100))

    def test_unsupported_dtypes(self):
        for dtype, size in ((">f16", 16), ("<c32", 32), ("<i16", 16), ("|S1", 1), ("<U1", 4), ("|O", 8),
                            ("|V3", 3), ("<M8[s]", 8)):
            self.refuse_file(npy(dtype, (4,), bytes(4 * size)), dtype)

    def test_raw_too_short(self):
        self.write("in.bin", ramp(23))
        src = {"file": "in.bin", "shape": [2, 3, 4], "type": "fx8"}
        self.assert_refused(mov(src), "/src/file",
                            "23 B from offset 0 on, but 24 B are needed for shape (2, 3, 4)")
        self.assert_refused(mov(dict(src, shape=[23], offset=1)), "/src/file", "22 B from offset 1")
        self.assert_refused(mov(dict(src, shape=[2], offset=2**53 - 1)), "/src/file", "0 B")
        self.assert_refused(mov(dict(src, shape=[3, 3], strides=[2**31 - 1, 1])), "/src/file")
        self.assert_refused(mov(dict(src, shape=[2**32 - 1] * 4)), "/src/file",
                            "packed stride", "2147483647")
        self.assert_refused(mov(dict(src, shape=[2, 3, 4], strides=[0, 2**30, 1])), "/src/file",
                            "packed stride", "2147483647")
        self.assert_refused(mov(dict(src, shape=[2**32 - 1] * 4, strides=[2**31 - 1] * 4)),
                            "/src/file", "2^63")

    def test_the_message_for_a_very_long_path_keeps_its_reason(self):
        deep = "/".join(["d" * 200] * 10)
        self.assert_refused(mov(deep + "/in.npy"), "/src/file", "in.npy: No such file")

    def test_a_header_that_is_too_large(self):
        """NumPy writes headers of 70 KB for dtypes with many fields."""
        header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }".ljust(69999) + b"\n"
        self.write("in.npy", b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + b"ab")
        self.assertIn("in.npy: npy header of 70000 bytes given; at most 65524 are read",
                      self.ctl("show", "in.npy", code=2).err)


class NotOpened(Case):
    """mlictl checks with stat() whether a file is regular, and does not open other files: opening a FIFO would release
    a process that waits for a reader."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        os.mkfifo(self.path("fifo.npy"))
        self.writer = subprocess.Popen([sys.executable, "-c", "open('fifo.npy', 'wb')"],
                                       cwd=self.dir)
        self.addCleanup(self.writer.wait)
        self.addCleanup(self.writer.kill)
        self.assertTrue(at_rest(self.writer))

    def test_in_every_command(self):
        self.assertIsNone(self.writer.poll())
        self.write("cases/a.json", mov("../fifo.npy", "out.npy"))
        self.write("cases/b.json", mov("../in.npy", "out.npy", expect={"file": "../fifo.npy"}))
        self.write("cases/c.json", mov("../in.npy", {"file": "../fifo.npy", "update": True}))
        self.write("cases/d.json", mov("../in.npy", "../fifo.npy"))
        for words in (("show", "fifo.npy"), ("diff", "in.npy", "fifo.npy"), ("show", "fifo.npz",),
                      ("make", "mov", "fifo.npy", "out.npy"), ("gen", "fifo.npy", "--shape", "1",
                                                              "--dtype", "int8", "-f"),
                      ("make", "mov", "in.npy", "fifo.npy", "--run", "-f"),
                      *((verb, f"cases/{case}.json") for case in "abcd" for verb in ("validate", "run")),
                      *(("explain", f"cases/{case}.json") for case in "abc")):
            result = self.ctl(*words)
            self.assertNotEqual(result.code, 0, str(result))
        self.ctl("explain", "cases/d.json", code=0)
        self.ctl("batch", "cases", "--resume", "s.jsonl", code=1)
        self.ctl("batch", "cases", "--resume", "fifo.npy", code=2)
        self.ctl("batch", "cases", "--junit", "fifo.npy", code=2)
        self.ctl("batch", "merge", "fifo.npy")
        os.symlink("../fifo.npy", self.path("cases/e.json"))
        self.ctl("batch", "cases", code=1)
        time.sleep(0.2)
        self.assertIsNone(self.writer.poll(), "somebody has opened the FIFO")
        with open(self.path("fifo.npy"), "rb"):
            self.assertEqual(self.writer.wait(60), 0)


class Same(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4,))

    def test_by_name(self):
        for name in ("in.npy", "./in.npy", self.path("in.npy"), "../work/in.npy"):
            self.assert_refused(mov(dst=name), "/dst/file", "is the same file as src.file")

    def test_by_link(self):
        os.link(self.path("in.npy"), self.path("hard.npy"))
        os.symlink("in.npy", self.path("soft.npy"))
        for name in ("hard.npy", "soft.npy"):
            self.assert_refused(mov(dst=name), "/dst/file", "same file")
            self.assert_refused(mov(name, "in.npy"), "/dst/file", "same file")

    def test_update(self):
        self.assert_refused(mov(dst={"file": "in.npy", "update": True}), "/dst/file", "same file")

    def test_the_job_file(self):
        self.assert_refused(mov(dst="job.json"), "/dst/file", "same file as the job file")
        self.assert_refused(mov(dst={"file": "o.npy", "params": "job.json"}), "/dst/params",
                            "same file as the job file")

    def test_params(self):
        self.assert_refused(mov(dst={"file": "o.npy", "params": "in.npy"}), "/dst/params",
                            "src.file")
        self.assert_refused(mov(dst={"file": "o.npy", "params": "./o.npy"}), "/dst/params",
                            "dst.file")


class Output(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4,))

    def assert_refused(self, job, *arguments):
        """Expects a refusal by all commands but explain, which opens no output."""
        super().assert_refused(job, *arguments, explained=True)
        fact, = self.ctl("explain", "--no-memcpy", "--json", "job.json", code=0).json
        self.assertEqual(fact["dst"]["file"], job["dst"]["file"])

    def test_directory_missing(self):
        self.assert_refused(mov(dst="no/out.npy"), "/dst/file", "dst.file: no/out.npy",
                            "the directory no must exist: No such file or directory")
        self.assert_refused(mov(dst="in.npy/out.npy"), "/dst/file", "Not a directory")
        self.assert_refused(mov(dst={"file": "o.npy", "params": "no/p.json"}), "/dst/params",
                            "dst.params: no/p.json")

    def test_without_a_file_name(self):
        for name in ("no/", ".", "..", "/", "./"):
            self.assert_refused(mov(dst=name), "/dst/file")
        self.assert_refused(mov(dst="x" * 300 + ".npy"), "/dst/file", "File name too long")

    def test_a_directory_that_accepts_no_files(self):
        # A container may have no /proc or /sys; the path then names an ordinary directory.
        mounted = [name for name in ("/proc", "/sys") if os.path.ismount(name)]
        if not mounted:
            self.skipTest("neither /proc nor /sys is mounted")
        for name in (directory + "/out.npy" for directory in mounted):
            self.assert_refused(mov(dst=name), "/dst/file", name + ": cannot be created")

    def test_read_only_directory(self):
        os.mkdir(self.path("closed"), 0o555)
        self.write("job.json", mov(dst="closed/out.npy"))
        for command in ("validate", "run"):
            result = self.as_nobody(command, "job.json")
            self.assertEqual(result.code, 2)
            self.assertIn(": dst.file: closed/out.npy: cannot be created: Permission "
                          "denied", result.err)
        self.assertEqual(os.listdir(self.path("closed")), [])

    @needs_root
    def test_read_only_file_system(self):
        with self.mounted("ro,size=64k") as where:
            self.assert_refused(mov(dst=where + "/out.npy"), "/dst/file", "Read-only file system")

    def test_outputs_that_are_not_regular_files(self):
        os.mkdir(self.path("dir.npy"))
        os.mkfifo(self.path("fifo.npy"))
        for name in ("dir.npy", "fifo.npy", "/dev/null"):
            self.assert_refused(mov(dst=name), "/dst/file", "not a regular file")

    def mounted(self, options):
        """Mounts a small tmpfs at self.root/mnt."""
        where = self.root / "mnt"
        where.mkdir()

        class Mounted:
            def __enter__(_):
                done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", where],
                                      capture_output=True)
                if done.returncode:
                    self.skipTest("cannot mount: " + done.stderr.decode().strip())
                return str(where)

            def __exit__(_, *exception):
                subprocess.run(["umount", where], check=True)
        return Mounted()

    @needs_root
    def test_disk_full(self):
        if not shutil.which("mount"):
            self.skipTest("there is no mount")
        self.write_npy("in.npy", "|i1", (256, 1024))
        with self.mounted("size=128k") as where:
            job = mov(dst=where + "/out.npy")
            self.write("job.json", job)
            for command in (("run",), ("submit", "-s", self.daemon.socket)):
                result = self.ctl(*command, "--json", "job.json", code=1)
                self.assertIn(f"mlictl: job.json: dst.file: {where}/out.npy: 256 KiB "
                              "needed: No space left on device", result.err)
                self.assertEqual(result.json[0]["state"], "failed")
                self.assertEqual(os.listdir(where), [])
            result = self.ctl("gen", where + "/x.npy", "--shape", "1024,1024", "--dtype", "int8",
                              code=1)
            self.assertIn("No space left", result.err)
            # To update a file, mlictl needs room for a copy of it.
            with open(where + "/both.npy", "wb") as file:
                file.write(npy("|i1", (80, 1024), bytes(80 * 1024)))
            self.write_npy("in.npy", "|i1", (4, 1024))
            self.move(mov(dst={"file": where + "/both.npy", "update": True}), code=1)
            self.assertEqual(os.listdir(where), ["both.npy"])

    def test_file_size_limit(self):
        self.write_npy("in.npy", "|i1", (64, 1024))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        result = self.ctl("run", self.write("job.json", mov()), preexec_fn=limit, code=1)
        self.assertIn("64.1 KiB needed: File too large", result.err)
        self.assertFalse(self.exists("out.npy"))


class Place(Case):
    """Tests how a temporary output file gets its final name."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4,))
        self.result = npy("|i1", (4,), ramp(4))

    def test_an_existing_file_is_replaced_atomically(self):
        self.write("out.npy", b"before")
        before = os.open(self.path("out.npy"), os.O_RDONLY)
        self.move(mov())
        self.assertEqual(os.read(before, 100), b"before")
        os.close(before)
        self.assertEqual(self.read("out.npy"), self.result)

    def test_follows_links(self):
        self.write("there/real.npy", b"before")
        os.symlink("there/real.npy", self.path("out.npy"))
        self.move(mov())
        self.assertTrue(os.path.islink(self.path("out.npy")))
        self.assertEqual(self.read("there/real.npy"), self.result)

    def test_follows_dangling_links(self):
        os.mkdir(self.path("there"))
        os.symlink("there/second.npy", self.path("out.npy"))
        os.symlink(self.path("there/real.npy"), self.path("there/second.npy"))
        for command in (("run", self.write("job.json", mov())),
                        ("gen", "out.npy", "--shape", "4", "--dtype", "int8")):
            self.ctl(*command, code=0)
            self.assertTrue(os.path.islink(self.path("out.npy")))
            self.assertTrue(os.path.islink(self.path("there/second.npy")))
            os.remove(self.path("there/real.npy"))

    def test_links_in_a_circle(self):
        os.symlink("b.npy", self.path("a.npy"))
        os.symlink("a.npy", self.path("b.npy"))
        self.assert_refused(mov(dst="a.npy"), "/dst/file", "Too many levels of symbolic links",
                            explained=True)

    def test_a_replaced_file_keeps_its_permissions(self):
        self.write("out.npy", b"before")
        for command in (("run", self.write("job.json", mov())),
                        ("gen", "-f", "out.npy", "--shape", "4", "--dtype", "int8")):
            for mode in (0o600, 0o444, 0o666):
                os.chmod(self.path("out.npy"), mode)
                self.ctl(*command, code=0)
                self.assertEqual(os.stat(self.path("out.npy")).st_mode & 0o777, mode)

    def test_permissions_follow_the_umask(self):
        old = os.umask(0o027)
        try:
            self.move(mov())
        finally:
            os.umask(old)
        self.assertEqual(os.stat(self.path("out.npy")).st_mode & 0o777, 0o640)

    def test_unusual_names(self):
        for name in ("a b.npy", "-x.npy", "\u00e4\u4e2d.npy", "'\".npy", "\n.npy"):
            self.move(mov(dst=name))
            self.assertEqual(self.read(name), self.result)
            self.move(mov(dst=name))


class WithoutNamelessFiles(Place):
    """Repeats the tests of Place on a file system without O_TMPFILE and fallocate()."""

    def setUp(self):
        shim = os.environ.get("MLI_PLAIN_FS")
        if not shim:
            self.skipTest("no preloaded library (MLI_PLAIN_FS) is given")
        super().setUp()
        self.shim = shim

    def environment(self):
        return dict(super().environment(), LD_PRELOAD=self.shim)

    def test_a_failure_leaves_no_files(self):
        self.write_npy("golden.npy", "|i1", (5,))
        self.assert_refused(mov(dst="no/out.npy"), "/dst/file", explained=True)
        self.assert_refused(mov(dst={"file": "out.npy", "params": "no/p.json"}), "/dst/params", explained=True)
        self.assert_refused(mov(size=[9]), "/cfg/size/0")

    def test_updates(self):
        self.write_npy("both.npy", "|i1", (6,), data=bytes(6))
        self.move(mov(dst={"file": "both.npy", "update": True}, dst_offset=[1]))
        self.assertEqual(self.read("both.npy")[128:], bytes([0]) + ramp(4) + bytes([0]))

    def test_gen(self):
        self.ctl("gen", "x.npy", "--shape", "4", "--dtype", "int8", code=0)
        self.ctl("gen", "x.npy", "--shape", "4", "--dtype", "int8", code=2)


if __name__ == "__main__":
    main()
