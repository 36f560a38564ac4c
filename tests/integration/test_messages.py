# SPDX-License-Identifier: BSD-3-Clause
"""Tests that, after ordinary mistakes, messages say what to do next."""
import os
import socket
import subprocess
import unittest

from harness import AGENT, MLICTL, MLID, SOURCE, Case, main, mov, needs_boards, needs_root


class Messages(Case):
    def says(self, words, *line, code=2, **more):
        result = self.ctl(*line, code=code, **more)
        self.assertIn(words, result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        return result


class Slips(Messages):
    def test_commands(self):
        self.says("unknown command valdiate; did you mean validate?", "valdiate", "x")
        self.says("unknown command sub; did you mean submit?", "sub", "x")
        self.says("unknown command frobnicate; see mlictl --help", "frobnicate")

    def test_a_file_in_place_of_a_command(self):
        self.says("tile.json is not a command; did you mean: mlictl run tile.json", "tile.json")
        self.says("did you mean: mlictl show a.npy", "a.npy")
        self.says("did you mean: mlictl show dir/a.safetensors", "dir/a.safetensors")

    def test_options(self):
        self.says("unknown option --fial-fast; did you mean --fail-fast?", "run", "--fial-fast", "j")
        self.says("did you mean --engine?", "run", "--eng", "inline", "j")
        self.says("unknown option --frobnicate; --help lists", "run", "--frobnicate", "j")
        self.says("unknown option -x; --help lists", "run", "-x", "j")
        self.says("--engine needs a value: --engine SPEC", "run", "j", "--engine")
        # The value of the option -c is the name of the file.
        self.says("--channels job.json: an integer from 1 to 16 is needed", "run", "-c", "job.json")

    def test_words(self):
        gen = ("gen", "x.npy", "--shape", "2", "--dtype")
        self.says("--dtype in16 is unknown; did you mean int16?", *gen, "in16")
        self.says("--dtype complex is unknown; did you mean complex64?", *gen, "complex")
        self.says("--dtype long: int8, uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64, "
                  "complex64, complex128, bool, void8, void16, void32, void64 or void128 is needed", *gen, "long")
        self.says("--pattern rampp is unknown; did you mean ramp?", *gen, "int8", "-p", "rampp")
        self.says("--pattern stripes: index, ramp, zeros, ones, checker or random is needed", *gen,
                  "int8", "--pattern", "stripes")
        self.says("--mode pol is unknown; did you mean poll?", "selftest", "--mode", "pol")
        self.says("--state runing is unknown; did you mean running?", "jobs", "--state",
                  "done,runing")
        self.says("--state lost: waiting, queued, running, done, failed or cancelled is needed",
                  "jobs", "--state", "lost")
        self.write_npy("in.npy")
        self.says('did you mean "sa8"', "run", self.write("j", mov({"file": "in.npy",
                                                                   "type": "sa9"})))
        self.says('did you mean "perm_dim"?', "run", self.write("j", mov(cfg={"perm": [0]})))

    def test_engines(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        self.says("did you mean threads?", "run", "-e", "thread", "job.json")
        self.says("did you mean inline?", "selftest", "-e", "inlin:tiny=0")
        self.says("did you mean threads?", "run", "-e", "fault:thread,seed=1", "job.json")
        result = self.says("fault", "run", "-e", "nvidia", "job.json")
        for name in ("threads", "inline"):
            self.assertIn(name, result.err)


class Files(Messages):
    def test_a_similar_name_is_suggested(self):
        self.write_npy("input.npy")
        self.write("tile.json", mov("inptu.npy"))
        for command in ("run", "validate"):
            self.says("tile.jsn: No such file or directory; did you mean tile.json?", command,
                      "tile.jsn")
            self.says("No such file or directory; did you mean input.npy?", command, "tile.json")
        self.says("tile: No such file or directory; did you mean tile.json?", "run", "tile")
        self.says("did you mean input.npy?", "show", "imput.npy")
        self.says("did you mean input.npy?", "diff", "input.npy", "./inputs.npy")
        self.write_npy("sub/input.npy")
        self.write("sub/tile.json", mov("inptu.npy"))
        self.says("did you mean sub/input.npy?", "run", "sub/tile.json")
        result = self.says("quite_another.npy: No such file", "show", "quite_another.npy")
        self.assertNotIn("did you mean", result.err)
        self.says("No such file", "show", "nowhere/input.npy")

    def test_a_dangling_link(self):
        self.write_npy("in.npy")
        self.write_npy("lost.npy")
        for name in ("link.npy", "link.json"):
            (self.dir / name).symlink_to("gone")
        words = "No such file or directory; it is a link to gone, which does not exist"
        for command in (["show", "link.npy"], ["diff", "in.npy", "link.npy"], ["run", "link.json"],
                        ["mov", "link.npy", "out.npy"]):
            result = self.says(words, *command)
            self.assertNotIn("did you mean", result.err)
        self.write("job.json", mov(expect={"file": "link.npy"}))
        self.assertNotIn("--update-golden", self.says(words, "run", "job.json").err)

    def test_golden_files_that_cannot_be_written(self):
        """A message recommends --update-golden only if that option writes the file."""
        self.write_npy("in.npy")
        self.write("job.json", mov(expect={"file": "golden.npy"}))
        self.says("; `mlictl batch --update-golden` writes it", "run", "job.json")
        for golden in ("none/golden.npy", "in.npy/golden.npy"):
            self.write("job.json", mov(expect={"file": golden}))
            self.assertNotIn("--update-golden", self.ctl("run", "job.json", code=2).err)

    def test_in_another_directory(self):
        self.write("deep/down/tile.json", mov())
        self.says("deep/down/title.json: No such file or directory; did you mean deep/down/tile.json?", "run",
                  "deep/down/title.json")

    def test_a_tensor_in_place_of_a_job(self):
        self.write_npy("in.npy")
        self.write("job", self.read("in.npy"))
        for command in ("run", "validate"):
            self.says("in.npy: it is a .npy file, not a job file; `mlictl show in.npy` prints it",
                      command, "in.npy")
            self.says("it is a .npy file", command, "job")
        self.write("x.npz", b"PK\3\4" + bytes(100))
        self.says("it is a zip archive", "run", "x.npz")
        self.write("x.safetensors", (40).to_bytes(8, "little") + b'{"a":{"dtype":"I8"}}' + bytes(40))
        self.says("it is a .safetensors file", "run", "x.safetensors")
        self.says("stdin: it is a .npy file", "run", "-", stdin=self.read("in.npy"))

    def test_a_directory(self):
        os.mkdir(self.path("jobs"))
        self.says("jobs: it is a directory; mlictl batch runs directories", "run", "jobs")
        self.says("jobs is a directory; a regular file is needed", "show", "jobs")

    def test_a_job_in_place_of_a_tensor(self):
        self.write("job.json", mov())
        self.says("job.json: a raw file does not say what it holds: give --shape and --dtype; "
                  "mlictl explain describes job files", "show", "job.json")


class Daemons(Messages):
    runtime = ""  # XDG_RUNTIME_DIR: null: not set; empty: the test's own

    def environment(self):
        environment = super().environment()
        if self.runtime is None:
            del environment["XDG_RUNTIME_DIR"]
        elif self.runtime:
            environment["XDG_RUNTIME_DIR"] = self.runtime
        return environment

    def test_no_daemon(self):
        self.says(f"no daemon listens at {self.root}/mlid.sock; start one with `mlid &`\n", "ping",
                  code=3)
        self.write_npy("in.npy")
        self.write("job.json", mov())
        self.says("start one with `mlid &`; `mlictl run` needs no daemon", "submit", "job.json", code=3)
        path = self.path("x.sock")
        self.says(f"no daemon listens at {path}; start one with `mlid --socket {path} &`\n", "info",
                  "-s", path, code=3)

    def test_no_runtime_directory(self):
        """Only root can write to /run: users without XDG_RUNTIME_DIR must choose a path."""
        if os.path.exists("/run/mlid.sock"):
            self.skipTest("a daemon of this machine has /run/mlid.sock")
        for value, why in ((None, "is not set"), ("run", "is not a usable path"),
                           ("/" + 100 * "x", "is not a usable path")):
            self.runtime = value
            with self.subTest(value=value):
                err = self.as_nobody("ping").err
                self.assertIn("no daemon listens at /run/mlid.sock (the default, as XDG_RUNTIME_DIR "
                              f"{why}); start one with `mlid --socket PATH &` and give --socket PATH "
                              "or set MLID_SOCKET\n", err)
                if os.geteuid() == 0:
                    self.assertIn("start one with `mlid &`\n", self.ctl("ping", code=3).err)

    def test_a_runtime_directory_that_does_not_exist(self):
        self.runtime = self.path("none")
        self.says(f"no daemon listens at {self.runtime}/mlid.sock, and its directory does not exist; "
                  "set XDG_RUNTIME_DIR to a directory that exists, or give --socket PATH\n", "ping",
                  code=3)
        path = self.path("gone/x.sock")
        self.says(f"no daemon listens at {path}, and its directory does not exist\n", "ping", "-s",
                  path, code=3)
        done = subprocess.run([MLID, "--socket", path], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn('hint="the directory of the socket does not exist: create it, or start mlid with '
                      '--socket PATH"', done.stderr)

    @needs_root
    def test_mlid_without_a_runtime_directory(self):
        if os.path.exists("/run/mlid.sock"):
            self.skipTest("a daemon of this machine has /run/mlid.sock")
        environment = self.environment()
        del environment["XDG_RUNTIME_DIR"]
        try:
            done = subprocess.run([MLID], env=environment, user=65534, group=65534, extra_groups=[],
                                  cwd="/", capture_output=True, text=True, timeout=60)
        except PermissionError:
            self.skipTest("nobody may not run " + MLID)
        self.assertEqual(done.returncode, 1)
        self.assertIn('hint="XDG_RUNTIME_DIR has no absolute path; start mlid with --socket PATH"',
                      done.stderr)

    def test_no_socket(self):
        self.write("file", b"")
        self.says("/file is not a socket; give the socket of mlid", "ping", "-s",
                  self.path("file"), code=3)
        self.says(" is not a socket", "ping", "-s", str(self.dir), code=3)

    @needs_root
    def test_no_permission(self):
        import grp
        path = self.path("mlid.sock")
        group = next(entry for entry in grp.getgrall() if entry.gr_gid not in (0, 65534))
        self.dir.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path)
            listening.listen()
            os.chmod(path, 0o600)
            result = self.as_nobody("ping", "-s", path)
            self.assertEqual(result.code, 3)
            self.assertIn(f'no permission to connect to {path}: it is for the user root alone; '
                          '"socket_mode" and "socket_group" of mlid.json let others in', result.err)
            os.chmod(path, 0o660)
            os.chown(path, -1, group.gr_gid)
            self.assertIn(f"no permission to connect to {path}: it is for the user root and for "
                          f"members of the group {group.gr_name}",
                          self.as_nobody("ping", "-s", path).err)
            os.chown(path, -1, 54321)  # nobody's
            self.assertIn("members of the group 54321", self.as_nobody("ping", "-s", path).err)
            self.dir.chmod(0o700)
            try:
                done = self.as_nobody_from_elsewhere("ping", "-s", path)
            finally:
                self.dir.chmod(0o755)
            self.assertIn("this user cannot enter its directory", done)

    def as_nobody_from_elsewhere(self, *arguments):
        return subprocess.run([MLICTL, *arguments], cwd="/", user=65534, group=65534,
                              extra_groups=[], capture_output=True, text=True, timeout=60).stderr


    def test_hosts(self):
        self.says("host board: not an ssh:// URL; did you mean ssh://board?", "-H", "board", "ping")
        self.says("did you mean ssh://root@board:22?", "ping", "-H", "root@board:22")
        self.says("ssh://[user@]host[:port] is needed", "-H", "http://board", "ping")

    @needs_boards
    def test_a_daemon_is_no_board(self):
        self.says("--host ssh://board: qemu:BOARD or serial:PATH is needed; `mlictl submit` runs jobs on a "
                  "daemon", "-H", "ssh://board", "run", SOURCE / "examples/basics/copy.json")

    @unittest.skipIf(AGENT, "mlictl was built with boards")
    def test_a_build_without_boards_says_so(self):
        absent = "this mlictl was built without boards; build it with -Dboards=enabled"
        for arguments in (["run", "-H", "qemu:zynq", "job.json"], ["-H", "serial:/dev/tty", "run", "job.json"],
                          ["selftest", "--host=qemu:zynq"]):
            self.says(f"--host: {absent}", *arguments)
        job = SOURCE / "examples/basics/copy.json"
        for arguments in (["ping"], ["info"], ["submit", job], ["jobs"], ["validate", job], ["stats", "-s", "socket"]):
            self.says(f"host qemu:zynq: {absent}", *arguments, "-H", "qemu:zynq")
        for words in (["--help"], ["run", "--help"], ["selftest", "--help"], ["batch", "--help"],
                      *(["completion", shell] for shell in ("bash", "fish", "zsh"))):
            self.assertNotRegex(self.ctl(*words, code=0).out, "qemu|serial:")

    def test_numbers_of_jobs(self):
        self.says("tile0: a job number is required; mlictl jobs lists the numbers", "wait", "tile0")

    def test_options_of_mlid(self):
        for option, meant in (("--sokcet", "--socket"), ("--chanels=3", "--channels"),
                              ("--log-levle", "--log-level")):
            done = subprocess.run([MLID, option], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"did you mean {meant}?\n", done.stderr)
        done = subprocess.run([MLID, "--frobnicate"], capture_output=True, text=True, timeout=60)
        self.assertIn("--help lists", done.stderr)


class Units(Case):
    def test_uptime_has_units(self):
        out = self.ctl("info", "-s", self.daemon.socket, code=0).out
        self.assertRegex(out, r", up [\d.]+ (ms|s)\n")

    def test_numbers_have_units(self):
        self.write_npy("in.npy")
        self.submit(self.write("job.json", mov()), code=0)
        socket_option = ("-s", self.daemon.socket)
        self.assertRegex(self.ctl("status", "1", *socket_option, code=0).out,
                         r"written +24 B of 24 B\ntimes +[\d.]+ [num]?s queued, [\d.]+ [num]?s")
        self.assertRegex(self.ctl("jobs", *socket_option, code=0).out, r" 24 B .* [num]s .* [num]s")
        self.assertRegex(self.ctl("stats", *socket_option, code=0).out, r"moved +24 B; on average")


if __name__ == "__main__":
    main()
