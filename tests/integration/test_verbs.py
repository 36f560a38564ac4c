# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl mov and permute (one job on a command line), and layouts that are given as words."""
import itertools
import json
import os
import pathlib
import subprocess

from harness import MLICTL, Case, main, npy, ramp
from test_numpy import NumpyCase, needs_numpy, numpy

STAND_IN = "#!/bin/sh\nshift\nexec /bin/sh -c \"$*\"\n"  # for ssh: the rest of its command, here


class Streams(Case):
    """Tensors and job files on pipes."""

    def shell(self, command, code=0):
        done = subprocess.run(["/bin/bash", "-o", "pipefail", "-c", command.replace("mlictl", MLICTL)], cwd=self.dir,
                              capture_output=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_a_tensor_on_a_pipe(self):
        self.write_npy("in.npy")  # (2, 3, 4)
        self.ctl("mov", "in.npy", "wanted.npy", "--perm", "2,0,1", code=0)
        wanted = self.read("wanted.npy")
        self.assertEqual(self.shell("cat in.npy | mlictl mov - - --perm 2,0,1").stdout, wanted)
        self.assertEqual(self.shell("mlictl mov - - --perm 2,0,1 <in.npy").stdout, wanted)
        self.assertEqual(self.shell("mlictl permute in.npy - --perm 2,0,1 | tee out.npy").stdout, wanted)
        self.shell("cat in.npy | mlictl mov - - --perm 2,0,1 | mlictl diff - wanted.npy")
        self.assertIn(b"npy int8 (4, 2, 3)", self.shell("mlictl show - <wanted.npy").stdout)
        self.assertEqual(self.shell("cat in.npy | mlictl mov - - --perm 2,0,1 --expect wanted.npy").stdout, wanted)
        self.assertEqual(sorted(self.listing()), ["in.npy", "out.npy", "wanted.npy"])

    def test_large_tensors_on_a_pipe(self):
        data = ramp(9_000_000)
        self.write("in.npy", npy("|i1", (3000, 3000), data))
        got = self.shell("cat in.npy | mlictl mov - - --slice 1:").stdout
        self.assertEqual(got, npy("|i1", (2999, 3000), data[3000:]))
        self.shell("mlictl mov in.npy - | head -c 10", 2)

    def test_what_a_stream_is_not(self):
        self.write_npy("in.npy")
        for command, message in (
                ("mov - out.npy </dev/null", "src.file: standard input: 0 bytes are too few"),
                ("mov in.npy - --json", "--json cannot be combined with standard output as OUT"),
                ("mov in.npy - --update", "--update cannot be combined with standard output as OUT"),
                ("mov in.npy - -o job.json", "OUT -: a job file cannot name standard output"),
                ("make mov - out.npy", "IN -: a job file cannot name standard input"),
                ("mov . out.npy", ". is a directory; a tensor is in a regular file"),
                ("mov in.npy .", "dst.file: .: cannot be replaced: not a regular file")):
            with self.subTest(command):
                self.assertIn(message.encode(), self.shell("mlictl " + command, 2).stderr)
        os.mkfifo(self.path("fifo"))
        self.assertIn("fifo is a fifo; a tensor is in a regular file, or - for standard input",
                      self.ctl("mov", "fifo", "out.npy", code=2).err)
        self.assertEqual(sorted(self.listing()), ["fifo", "in.npy"])

    def test_a_descriptor_is_no_file_to_replace(self):
        """A new file in place of the log, to which standard output is redirected, would lose its earlier lines."""
        self.write_npy("in.npy")
        for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            done = self.shell(f"(echo first; mlictl mov -f in.npy {path}; echo last) >log", 0)
            self.assertIn(b"- is standard output", done.stderr)
            self.assertEqual(self.read("log"), b"first\nlast\n")

    def test_a_file_of_that_name(self):
        self.write_npy("-")
        self.ctl("mov", "./-", "out.npy", "--shape", "2,3,4", "--type", "fx8", "--offset", "128", code=0)
        self.write("job.json", {"op": "mov", "src": {"file": "-", "format": "npy"}, "dst": {"file": "copy.npy"}})
        self.ctl("run", "job.json", code=0)
        self.assertEqual(self.read("copy.npy"), self.read("-"))
        self.shell("mlictl mov - - <copy.npy >again.npy")

    def test_job_files_on_a_stream(self):
        """Names in them are relative to the working directory, not to /dev/fd or the directory of the fifo."""
        self.write_npy("in.npy")
        os.mkdir(self.path("sub"))
        os.mkfifo(self.path("sub/fifo"))
        job = json.dumps({"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"}})
        for command in ("mlictl run <(echo '%s')", "echo '%s' | mlictl run /dev/stdin",
                        "(echo '%s' >sub/fifo &) ; mlictl run sub/fifo", "echo '%s' >job.txt; mlictl run /dev/stdin <job.txt"):
            with self.subTest(command):
                self.shell(command % job)
                self.assertEqual(self.read("out.npy"), self.read("in.npy"))
                os.unlink(self.path("out.npy"))


class Verbs(Case):
    variables = {}

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")  # (2, 3, 4)

    def environment(self):
        return dict(super().environment(), **self.variables)

    def test_mov(self):
        result = self.ctl("mov", "in.npy", "out.npy", "--slice", "1:,::2", code=0)
        self.assertRegex(result.out, r"^in\.npy: mov \(2, 3, 4\) -> \(1, 2, 4\) fx8, 8 B in .*"
                                     r" -> out\.npy\n$")
        self.assertEqual(self.read("out.npy"), npy("|i1", (1, 2, 4), ramp(24)[12:16] + ramp(24)[20:]))
        self.assertEqual(sorted(self.listing()), ["in.npy", "out.npy"])

    def test_permute(self):
        self.ctl("permute", "in.npy", "out.npy", "--perm", "2,0,1", code=0)
        self.ctl("mov", "in.npy", "moved.npy", "--perm", "2,0,1", code=0)
        self.assertEqual(self.read("out.npy"), self.read("moved.npy"))
        self.assertIn("a permute requires --perm", self.ctl("permute", "in.npy", "x.npy", code=2).err)
        self.assertIn("unknown option --slice", self.ctl("permute", "in.npy", "x.npy", "--slice", ":",
                                                         code=2).err)

    def test_a_missing_input_is_named_once(self):
        for verb in (["mov"], ["permute", "--perm", "0,2,1"]):
            self.assertEqual(self.ctl(*verb, "no.npy", "out.npy", code=2).err,
                             "mlictl: src.file: no.npy: No such file or directory"
                             "; did you mean in.npy?\n")

    def test_the_same_as_make_with_run(self):
        words = ["in.npy", "out.npy", "--pad", "1,0,2:0", "--perm", "1,2,0", "--at", "0,1,0",
                 "--channels", "2"]
        self.ctl("make", "mov", *words, "--run", code=0)
        made = self.read("out.npy")
        self.ctl("mov", *words, "--force", code=0)
        self.assertEqual(self.read("out.npy"), made)

    def test_an_existing_file_is_kept(self):
        self.write("out.npy", b"precious")
        for verb in (["mov"], ["permute", "--perm", "0,2,1"]):
            before = self.listing()
            refused = self.ctl(*verb, "in.npy", "out.npy", code=2)
            self.assertIn("out.npy", refused.err)
            self.assertIn("--force", refused.err)
            self.assertEqual(self.listing(), before)
            refused = self.ctl(*verb, "in.npy", "out.npy", "-o", "job.json", code=2)
            self.assertEqual(self.listing(), before)
        self.ctl("mov", "-f", "in.npy", "out.npy", code=0)
        self.assertEqual(self.read("out.npy"), self.read("in.npy"))
        self.ctl("mov", "--update", "in.npy", "out.npy", "--slice", "1:", code=0)
        self.assertEqual(self.read("out.npy"), npy("|i1", (2, 3, 4), ramp(24)[12:] + ramp(24)[12:]))

    def test_a_job_file_when_asked(self):
        os.mkdir(self.path("jobs"))
        self.ctl("mov", "in.npy", "out.npy", "--perm", "0,2,1", "-o", "jobs/job.json", code=0)
        first = self.read("out.npy")
        self.assertEqual(json.loads(self.read("jobs/job.json"))["src"], {"file": "../in.npy"})
        os.unlink(self.path("out.npy"))
        self.ctl("run", "jobs/job.json", code=0)
        self.assertEqual(self.read("out.npy"), first)
        os.unlink(self.path("out.npy"))
        self.assertIn("jobs/job.json", self.ctl("mov", "in.npy", "out.npy", "-o", "jobs/job.json",
                                                code=2).err)
        self.assertFalse(self.exists("out.npy"))

    def test_names_in_other_directories(self):
        self.write_npy("a/in.npy")
        os.mkdir(self.path("b"))
        self.ctl("mov", "a/in.npy", "b/out.npy", code=0)
        self.assertEqual(self.read("b/out.npy"), self.read("a/in.npy"))

    def test_expectations_and_json(self):
        self.write_npy("golden.npy", data=bytes(24))
        result = self.ctl("mov", "--json", "in.npy", "out.npy", "--expect", "golden.npy", code=1)
        fact, = result.json
        self.assertEqual((fact["file"], fact["state"]), ("in.npy", "mismatch"))
        self.assertFalse(fact["expect"]["same"])
        self.assertEqual(self.ctl("mov", "-q", "in.npy", "two.npy", code=0).out, "")

    def test_a_daemon(self):
        daemon = self.daemon
        self.ctl("mov", "in.npy", "out.npy", "-s", daemon.socket, code=0)
        self.ctl("permute", "-s", daemon.socket, "in.npy", "turned.npy", "--perm", "2,1,0", code=0)
        self.assertEqual(len(self.ctl("jobs", "--json", "-s", daemon.socket, code=0).json), 2)
        self.assertEqual(self.read("out.npy"), self.read("in.npy"))
        for option in (["-e", "inline"], ["--limit-bytes", "9"]):
            self.assertIn("cannot be combined with --socket", self.ctl(
                "mov", "in.npy", "x.npy", "-s", daemon.socket, *option, code=2).err)
        self.ctl("mov", "in.npy", "x.npy", "-s", self.path("none"), code=3)
        # For these commands and for run, the variable MLID_SOCKET does not choose a daemon.
        self.variables = {"MLID_SOCKET": self.path("none")}
        self.ctl("mov", "in.npy", "x.npy", code=0)

    def test_a_board(self):
        ssh, board = pathlib.Path(self.path("ssh")), pathlib.Path(self.path("bin"))
        ssh.write_text(STAND_IN)
        ssh.chmod(0o755)
        board.mkdir()
        (board / "mlictl").symlink_to(MLICTL)
        self.variables = {"MLI_SSH": str(ssh), "PATH": f"{board}:{os.environ['PATH']}"}
        self.ctl("-H", "ssh://board", "-s", self.daemon.socket, "mov", "in.npy", "out.npy", "--perm",
                 "1,0,2", code=0)
        self.ctl("mov", "in.npy", "here.npy", "--perm", "1,0,2", code=0)
        self.assertEqual(self.read("out.npy"), self.read("here.npy"))

    def test_engine_and_limit(self):
        self.assertIn(" inline -> ", self.ctl("mov", "-e", "inline", "in.npy", "a.npy", code=0).out)
        self.assertIn("limits.job_bytes", self.ctl("mov", "--limit-bytes", 47, "in.npy", "b.npy",
                                                   code=1).err)
        self.ctl("mov", "--limit-bytes", 48, "in.npy", "b.npy", code=0)

    def test_output_to_standard_output(self):
        """mlictl refuses to run the job if the job is printed on standard output: its text would be mixed with the
        result."""
        before = self.listing()
        for words in (["mov"], ["permute", "--perm", "2,1,0"], ["make", "mov", "--run"]):
            result = self.ctl(*words, "in.npy", "out.npy", "-o", "-", code=2)
            self.assertIn("--output - cannot be combined with running", result.err)
            self.assertEqual((result.out, self.listing()), ("", before))
        self.assertIn('"op": "mov"', self.ctl("make", "mov", "in.npy", "out.npy", "-o", "-",
                                              code=0).out)

    def test_wrong_usage(self):
        for verb in ("mov", "permute"):
            for words in ((), ("in.npy",), ("in.npy", "out.npy", "x.npy")):
                self.assertIn(f"usage: mlictl {verb} [options] IN OUT",
                              self.ctl(verb, *words, code=2).err)
        self.assertIn("none.npy", self.ctl("mov", "none.npy", "out.npy", code=2).err)
        self.assertIn("same", self.ctl("mov", "-f", "in.npy", "in.npy", code=2).err)
        self.assertIn("the job reads or writes this file", self.ctl("mov", "in.npy", "out.npy", "-f", "-o",
                                                            "in.npy", code=2).err)
        self.assertEqual(sorted(self.listing()), ["in.npy"])


class Layouts(Case):
    def perm(self, text, code=0):
        return self.ctl("make", "mov", "none.npy", "out.npy", "--json", "--perm", text, code=code)

    def test_every_permutation(self):
        """NumPy's rule applies: dimension i of the result is dimension perm[i] of the source."""
        for rank in (1, 2, 3, 4):
            source = "NhWc"[:rank]
            for perm in itertools.permutations(range(rank)):
                result = "".join(source[d] for d in perm)
                self.assertEqual(self.perm(f"{source}:{result}").json[0]["cfg"]["perm_dim"], list(perm))

    def test_errors(self):
        for text, why in (
                ("NHWC", "two layouts with a colon are needed, as in NHWC:NCHW"),
                ("NHWC:", "a layout of 0 letters is given; 1 to 8 are possible"),
                (":NHWC", "a layout of 0 letters is given"),
                ("ABCDEFGHI:IABCDEFGH", "a layout of 9 letters is given; 1 to 8 are possible"),
                ("NHHC:NCHH", "NHHC has the letter H twice"), ("HWC:CCW", "CCW has the letter C twice"),
                ("NHWC:NCH", "NHWC has 4 letters, NCH has 3"),
                ("HWC:NCHW", "HWC has 3 letters, NCHW has 4"),
                ("NHWC:NCHX", "NCHX has the letter X, but NHWC does not"),
                ("HWC:chw", "chw has the letter c, but HWC does not"),
                ("H,W:W,H", "',' is not a letter"), ("HW1:1HW", "'1' is not a letter"),
                ("HW:WH:HW", "':' is not a letter"), ("H W:WH", "' ' is not a letter"),
                ("HW:W\033", "'?' is not a letter"), ("2,0,x", "two layouts with a colon are needed")):
            with self.subTest(text=text):
                err = self.perm(text, code=2).err
                self.assertIn(why, err)
                self.assertEqual(err.count("\n"), 1)

    def test_against_the_tensor(self):
        self.write_npy("in.npy")
        self.assertIn("cfg.perm_dim: 4 entries given", self.ctl("mov", "in.npy", "out.npy", "--perm",
                                                                "NHWC:NCHW", code=2).err)


@needs_numpy
class AgainstNumpy(NumpyCase):
    def test_nhwc_to_nchw(self):
        array = numpy.arange(2 * 3 * 4 * 5, dtype=numpy.int16).reshape(2, 3, 4, 5)
        numpy.save(self.path("in.npy"), array)
        for verb in ("mov", "permute"):
            self.ctl(verb, "-f", "in.npy", "out.npy", "--perm", "NHWC:NCHW", code=0)
            self.assertTrue((numpy.load(self.path("out.npy")) == array.transpose(0, 3, 1, 2)).all())


if __name__ == "__main__":
    main()
