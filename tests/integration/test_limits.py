# SPDX-License-Identifier: BSD-3-Clause
"""Tests the limits of a service on one job: validate and explain report them before the job runs."""
import json
import os
import pathlib

from harness import MLICTL, Case, main, mov, npy, ramp

GIB = 1 << 30
STAND_IN = "#!/bin/sh\nshift\nexec /bin/sh -c \"$*\"\n"  # for ssh: the rest of its command, here


class Limits(Case):
    variables = {}

    def big(self, name="big.json", **more):
        """Returns a job that moves 3 GiB from a sparse file."""
        with open(self.path("big.raw"), "wb") as file:
            file.truncate(3 * GIB)
        return self.job_file(name, {
            "op": "mov", "src": {"file": "big.raw", "type": "fx8", "shape": [3, 1024, 1024, 1024]},
            "dst": {"file": "out.raw"}, **more})

    def small(self):
        self.write("in.npy", npy("|i1", (4, 6), ramp(24)))
        return self.job_file("small.json", mov("in.npy", "out.npy"))

    def job_file(self, name, job):
        self.write(name, job)
        return name

    def environment(self):
        return dict(super().environment(), **self.variables)

    def test_the_limit_of_a_daemon(self):
        daemon = self.daemon
        self.big()
        for command in (["validate"], ["explain", "--no-memcpy", "--no-picture"]):
            refused = self.ctl(*command, "-s", daemon.socket, "big.json", code=1)
            self.assertIn(f"src and dst take {6 * GIB} B, but one job may map at most {4 * GIB} B "
                          f"(the limit of the daemon at {daemon.socket})", refused.err)
            self.assertEqual("writes" in refused.out, command[0] == "explain")
        error = self.ctl("validate", "--json", "-s", daemon.socket, "big.json", code=1).json[0]["error"]
        self.assertEqual(error["name"], "LIMIT")
        self.assertIn("limits.job_bytes", self.ctl("submit", "-s", daemon.socket, "big.json",
                                                   code=1).err)
        self.ctl("validate", "-s", daemon.socket, self.small(), code=0)

    def test_channels_of_a_daemon(self):
        daemon = self.start_daemon(self.root, "--channels", "2")
        self.write("in.npy", npy("|i1", (4, 6), ramp(24)))
        self.job_file("wide.json", mov("in.npy", "out.npy", channels=3))
        refused = self.ctl("validate", "-s", daemon.socket, "wide.json", code=1)
        self.assertIn("channels: 3 given; the daemon has 2", refused.err)
        self.ctl("explain", "-s", daemon.socket, "-c", "2", "wide.json", code=0)
        self.ctl("validate", "wide.json", code=0)

    def test_a_named_daemon_must_be_there(self):
        self.small()
        self.assertIn("no daemon listens", self.ctl("validate", "-s", self.path("none"),
                                                    "small.json", code=3).err)
        # The variable names a daemon that does not exist: validate needs none.
        self.variables = {"MLID_SOCKET": self.path("none")}
        self.ctl("validate", "small.json", code=0)

    def test_ssh(self):
        daemon = self.daemon
        ssh, board = pathlib.Path(self.path("ssh")), pathlib.Path(self.path("bin"))
        ssh.write_text(STAND_IN)
        ssh.chmod(0o755)
        board.mkdir()
        (board / "mlictl").symlink_to(MLICTL)
        self.variables = {"MLI_SSH": str(ssh), "PATH": f"{board}:{os.environ['PATH']}"}
        where = ["-H", "ssh://board", "-s", daemon.socket]
        with open(self.path("half.raw"), "wb") as file:
            file.truncate(GIB // 2 + 1)
        self.job_file("half.json", {
            "op": "mov", "src": {"file": "half.raw", "type": "fx8", "shape": [GIB // 2 + 1]},
            "dst": {"file": "out.raw"}})
        refused = self.ctl("validate", *where, "half.json", code=1)
        self.assertIn(f"the files have {GIB + 2} B, but one job may send at most {GIB} B over ssh", refused.err)
        self.assertIn("(the limit of the daemon at ssh://board)", self.ctl(
            "validate", *where, self.big(), code=1).err)
        self.ctl("validate", *where, self.small(), code=0)
        self.ctl("validate", "-s", daemon.socket, "half.json", code=0)

    def test_limit_bytes(self):
        """The job has a source and a destination of 24 B each."""
        self.small()
        for command in ("validate", "explain", "run"):
            self.ctl(command, "--limit-bytes", 48, "small.json", code=0)
            refused = self.ctl(command, "--limit-bytes", 47, "small.json", code=1)
            self.assertIn("limits.job_bytes: src and dst take", refused.err)
            self.assertIn("--limit-bytes", refused.err)
            for wrong in ("0", "-1", "x", "1x", "", " 5", "9007199254740992", "99999999999999999999"):
                refused = self.ctl(command, f"--limit-bytes={wrong}", "small.json", code=2)
                self.assertIn("a size from 1 to 9007199254740991 B is needed", refused.err)
        refused = self.ctl("validate", "--limit-bytes", 47, "-s", "x", "small.json", code=2)
        self.assertIn("--limit-bytes cannot be combined with --socket", refused.err)

    def test_a_source_beyond_4_gib(self):
        """The tensor is larger than any capacity: every command refuses it for this reason before it checks another
        limit."""
        size = 30 * GIB
        with open(self.path("huge.raw"), "wb") as file:
            file.truncate(size)
        with open(self.path("huge.npy"), "wb") as file:
            file.write(npy("|i1", (30, GIB), b""))
            file.truncate(128 + size)
        raw = {"file": "huge.raw", "type": "fx8", "shape": [30, GIB]}
        strided = {"file": "huge.raw", "type": "fx8", "shape": [5, 8], "strides": [GIB, 1]}
        batch = ["batch", "--keep", "none"]
        commands = [["validate"], ["explain", "--no-memcpy"], ["run"], batch,
                    ["submit", "-s", self.daemon.socket], ["validate", "-s", self.daemon.socket],
                    ["validate", "--limit-bytes", 1000], ["run", "--limit-bytes", 1000]]
        for source, window in ((raw, "3:8:4,:5"), (strided, ":,:5"), ({"file": "huge.npy"}, "0:5:4,:5")):
            self.job_file("huge.json", {"op": "mov", "src": source, "slice": window,
                                        "dst": {"file": "out.raw"}})
            for command in commands:
                with self.subTest(command=command, source=source):
                    refused = self.ctl(*command, "huge.json", code=1 if command == batch else 2)
                    self.assertIn(f": src.data.capacity: {4 * GIB + 5} B are needed, but a tensor has "
                                  f"at most {4 * GIB - 1} B (4 GiB): move it in parts",
                                  refused.out + refused.err)
                    self.assertFalse(self.exists("out.raw"))
        for command in commands[:4]:
            # The bytes beyond 4 GiB can be moved as a separate tensor with an offset. A window
            # that ends before 4 GiB needs no offset.
            for source, window in (({**raw, "shape": [1, 8], "offset": 4 * GIB}, ":,:5"),
                                   (raw, "1:2,:5"), (raw, "4:5,:5")):
                self.job_file("part.json", {"op": "mov", "src": source, "slice": window,
                                            "dst": {"file": "part.raw"}})
                self.ctl(*command, "part.json", code=0)

    def test_windows_beyond_4_gib(self):
        """A window counts from its own first element."""
        with open(self.path("huge.npy"), "wb") as file:
            file.write(npy("|i1", (5, GIB), b""))
            file.seek(128 + 5 * GIB - 3)
            file.write(b"xyz")
        for arguments, wanted in ((["--slice", "4:5,-3:"], npy("|i1", (1, 3), b"xyz")),
                                  (["--slice", "-2:,-3:", "--perm", "1,0"], npy("|i1", (3, 2), b"\0x\0y\0z"))):
            self.ctl("mov", "-f", "huge.npy", "out.npy", *arguments, code=0)
            self.assertEqual(self.read("out.npy"), wanted)
            self.job_file("job.json", json.loads(self.ctl("make", "mov", "huge.npy", "far.npy", *arguments, code=0).out))
            fact = self.ctl("explain", "--no-memcpy", "--json", "job.json", code=0).json[0]
            self.assertEqual([part["src"] for part in fact["plan"]["descriptors"]], [0])
            self.ctl("mov", "-s", self.daemon.socket, "-f", "huge.npy", "far.npy", *arguments, code=0)
            self.assertEqual(self.read("far.npy"), wanted)

    def test_every_command_says_the_same(self):
        """Each command takes the limit from an option of its own."""
        self.small()
        moved = ["mov", "in.npy", "out.npy"]
        for command in (["validate", "small.json"], ["run", "small.json"], moved, ["make", *moved, "--run"],
                        ["batch", "--keep", "none", "small.json"]):
            result = self.ctl(*command, "--limit-bytes", 47, code=1)
            self.assertIn("limits.job_bytes: src and dst take 48 B, but one job may map at most 47 B "
                          "(--limit-bytes)", result.out + result.err)
            self.ctl(*command, "--limit-bytes", 48, code=0)
            if self.exists("out.npy"):
                os.unlink(self.path("out.npy"))
        self.assertIn("--limit-bytes requires --run",
                      self.ctl("make", *moved, "--limit-bytes", 48, code=2).err)
        self.assertIn("--limit-bytes cannot be combined with --socket", self.ctl(
            "batch", "--keep", "none", "-s", "x", "--limit-bytes", 48, "small.json", code=2).err)

    def test_validate_and_run_agree(self):
        """The limit is also exact if a sub-tensor, gaps and padding make the ranges smaller or larger than the files.
        """
        self.write("in.npy", npy("<i2", (9, 8), ramp(144)))
        for cfg in ({}, {"offset": [3, 2], "size": [2, 3]}, {"sub_sample_step": [4, 3]},
                    {"padding_pre": [200, 0], "size": [2, 0]}, {"perm_dim": [1, 0]},
                    {"dst_offset": [3, 1]}, {"dst_mem_stride": [64, 2]}):
            self.job_file("job.json", {"op": "mov", "src": {"file": "in.npy"}, "cfg": cfg,
                                       "dst": {"file": "out.raw"}})
            error = self.ctl("validate", "--limit-bytes", 1, "job.json", code=1).err
            needed = int(error.split("take ")[1].split()[0])
            for limit, code in ((needed, 0), (needed - 1, 1)):
                for command in ("validate", "run"):
                    self.ctl(command, "--limit-bytes", limit, "job.json", code=code)

    def test_an_expected_limit(self):
        daemon = self.daemon
        self.big(expect={"error": "LIMIT"})
        self.assertIn("refused as expected: LIMIT", self.ctl("validate", "-s", daemon.socket,
                                                             "big.json", code=0).out)


if __name__ == "__main__":
    main()
