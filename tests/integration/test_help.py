# SPDX-License-Identifier: BSD-3-Clause
"""Tests the help of every command, and runs its examples."""
import pathlib
import re
import shutil
import signal
import subprocess

from harness import AGENT, MLICTL, MLID, PATIENCE, Case, main, make_board, mov, ramp, transpose_model
from screen import Screen

# The first words that the help of an option may have. Add a verb here when an option needs a new
# verb.
VERBS = set("""Add Begin Check Choose Claim Colour Color Compare Connect Count Do Draw Emulate Exit Explain Fill
    Give Keep Let Limit List Measure Move Omit Permute Predict Prefer Print Read Record Remove Repeat Replace
    Report Require Rerun Resume Retry Run Save Seed Select Set Show Split Start Stop Store Sync Test Treat Use
    Wait Write""".split())

STAND_IN = "#!/bin/sh\nshift\nexec /bin/sh -c \"$*\"\n"  # for ssh: the rest of its command, here


class Commands(Case):
    def commands(self):
        out = self.ctl("--help", code=0).out.split("exit codes:")[0]
        names = re.findall(r"^  ([a-z]+) ", out, re.M)
        self.assertGreater(len(names), 15)
        return names


class Help(Commands):
    def test_three_forms_of_the_request(self):
        for name in self.commands():
            out = self.ctl(name, "--help", code=0).out
            self.assertEqual(self.ctl(name, "-h", code=0).out, out)
            self.assertEqual(self.ctl("help", name, code=0).out, out)
        self.assertEqual(self.ctl("help", code=0).out, self.ctl("--help", code=0).out)

    def test_every_section_exists(self):
        for name in self.commands():
            with self.subTest(command=name):
                out = self.ctl("help", name, code=0).out
                self.assertRegex(out, rf"^mlictl {name}: \S.*\n\nusage: mlictl {name} \[options\]")
                self.assertRegex(out, r"usage: .*\n\n[A-Z`].{20}", "it has no paragraph")
                self.assertIn("\noptions:\n", out)
                self.assertTrue("\nexamples:\n" in out, "struct command has a member for examples")

    def test_lines_fit_into_the_terminal(self):
        for columns in (70, 80, 200):
            for name in ["help", *self.commands()]:
                with self.subTest(command=name, columns=columns):
                    plain = self.ctl("help", name, code=0).out
                    shown, code = Screen(self, "help", name, columns=columns).end()
                    self.assertEqual((code, shown.split()), (0, plain.split()))
                    if columns > 100:
                        self.assertEqual(shown, plain)
                    text = shown.split("\nexamples:\n")[0]  # command lines of examples stay whole
                    self.assertLessEqual(max(map(len, text.splitlines())), columns)

    def options(self, name):
        """Returns the options of a command: (name, name of the value or empty, help in one line)."""
        part = self.ctl("help", name, code=0).out.split("\noptions:\n")[1].split("\n\n")[0]
        found = re.findall(r"^  (?:-\w, |    )--([a-z-]+)((?: \S+)?) *\n?(  \S.*(?:\n {29}\S.*)*)",
                           part, re.M)
        return [(option, value.strip(), " ".join(text.split())) for option, value, text in found]

    def test_help_of_options_has_one_form(self):
        """The help of an option begins with a verb, ends with a full stop, and has the default of
        an option that takes a value."""
        for name in self.commands():
            options = self.options(name)
            self.assertGreaterEqual(len(options), 3, name)
            for option, value, text in options:
                with self.subTest(command=name, option=option):
                    self.assertIn(text.split()[0], VERBS, text)
                    self.assertTrue(text.endswith("."), text)
                    self.assertNotIn("  ", text)
                    if value:
                        self.assertRegex(text, r"\((default: \S.*|required)\)\.$")
                    else:
                        self.assertNotIn("default", text)

    def test_it_fits_a_terminal(self):
        for line in [["--help"], *(["help", name] for name in self.commands())]:
            for text in self.ctl(*line, code=0).out.splitlines():
                self.assertLessEqual(len(text), 100, f"{line}: {text}")

    def test_help_for_unknown_commands(self):
        self.assertIn("did you mean submit?", self.ctl("help", "sumbit", code=2).err)
        self.assertIn("run has no form submit;", self.ctl("help", "run", "submit", code=2).err)
        self.assertIn("usage: mlictl help", self.ctl("help", "run", "submit", "x", code=2).err)

    def test_help_of_a_form(self):
        out = self.ctl("help", "batch", "merge", code=0).out
        self.assertTrue(out.startswith("usage: mlictl batch merge [options] STATE...\n"), out)
        self.assertIn("--junit", out)
        self.assertNotIn("--queue", out)
        for form in ("merge", "enqueue", "status", "collect"):
            shown = self.ctl("help", "batch", form, code=0).out
            self.assertEqual(self.ctl("batch", form, "--help", code=0).out, shown)
            self.assertRegex(shown, rf"^usage: mlictl batch {form} .*\n(.*\n)+options:\n(.*\n)+ *-h, --help ")
        self.assertIn("batch has no form merg;", self.ctl("help", "batch", "merg", code=2).err)

    def daemon(self, option, code):
        done = subprocess.run([MLID, option], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code)
        return done

    def test_versions_agree(self):
        version = self.ctl("--version", code=0).out.split()
        shown = self.daemon("--version", 0).stdout
        self.assertEqual((version[0], *shown.split()), ("mlictl", "mlid", version[1]))
        self.assertEqual(self.ctl("-V", code=0).out.split(), version)
        self.assertEqual(self.daemon("-V", 0).stdout, shown)

    def test_short_options_of_the_daemon(self):
        self.assertEqual(self.daemon("-h", 0).stdout, self.daemon("--help", 0).stdout)
        self.assertIn("mlid: --help lists all options", self.daemon("-x", 2).stderr)


class Numbers(Commands):
    def test_sizes_have_units(self):
        self.write_npy("in.npy")  # 24 bytes
        for size in ("1KiB", "1K", "1024", "1024B", "1MiB", "1G", "8191TiB"):
            self.ctl("mov", "--force", "--limit-bytes", size, "in.npy", "out.npy", code=0)
        for size in ("", "KiB", "1kib", "1 KiB", "1Ki", "0", "0K", "-1", "1.5K", "8192TiB", "8192T",
                     "18446744073709551616", "99999999999999999999K"):
            err = self.ctl("mov", "--force", "--limit-bytes", size, "in.npy", "out.npy", code=2).err
            self.assertIn(f"--limit-bytes {size}: a size from 1 to 9007199254740991 B is needed, for "
                          "example 65536 or 256KiB", err)
        self.ctl("tile", "--shape", "64x64", "--budget", "2KiB", code=0)
        self.ctl("selftest", "--engine", "inline", "--iterations", 1, "--max-bytes", "1KiB", code=0)
        self.write("raw.bin", ramp(1030))
        shown = self.ctl("show", "raw.bin", "--shape", 2, "--dtype", "int8", "--offset", "1KiB", code=0)
        self.assertEqual(shown.out, self.ctl("show", "raw.bin", "--shape", 2, "--dtype", "int8",
                                             "--offset", 1024, code=0).out)

    def test_times_have_units(self):
        for seconds in ("1", "1s"):
            self.ctl("selftest", "--engine", "inline", "--seconds", seconds, "--timeout", "2m", code=0)
        for option, wrong, message in (
                ("--seconds", "500ms", "a time from 1 to 2592000 s is needed, for example 5s or 2m"),
                ("--seconds", "721h", "a time from 1 to 2592000 s is needed"),
                ("--timeout", "5x", "ms is needed, for example 500ms or 5s"),
                ("--timeout", "0s", "ms is needed, for example 500ms or 5s")):
            err = self.ctl("selftest", "--engine", "inline", option, wrong, code=2).err
            self.assertIn(f"{option} {wrong}: a time from 1 to ", err)
            self.assertIn(message, err)


class Examples(Commands):
    """Runs each example in a shell, in a directory with the files that it names, and expects success."""

    def environment(self):
        environment = super().environment()
        environment["PATH"] = f"{self.root}:{pathlib.Path(MLICTL).parent}:{environment['PATH']}"
        environment["MLI_SSH"] = str(self.root / "ssh")
        environment["MLI_FIRMWARE"] = str(self.root / "firmware")
        environment["MLID_SOCKET"] = self._daemon.socket if self._daemon else ""
        return environment

    def examples(self, name):
        part = self.ctl("help", name, code=0).out.split("\nexamples:\n")[1]
        return re.findall(r"^  (\S.*)$", part, re.M)

    def prepare(self):
        """Makes a directory with the files of the examples, and a daemon that has run two jobs."""
        for path in self.dir.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.write_npy("in.npy")
        self.write_npy("same.npy")
        self.write("dump.bin", ramp(16))
        header = b'{"conv1.weight":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]}}'
        self.write("model.safetensors", len(header).to_bytes(8, "little") + header + ramp(4))
        self.write("net.onnx", transpose_model())
        self.write("job.json", mov(perm_dim=[2, 0, 1]))
        self.write("jobs.json", [mov(dst="a.npy"), mov(dst="b.npy", offset=[1])])
        self.write("cases/a.json", mov("../in.npy"))
        if AGENT:
            make_board(self.root / "firmware", "sifive_u")
        ssh = self.root / "ssh"
        ssh.write_text(STAND_IN)
        ssh.chmod(0o755)

    def run_line(self, line):
        process = subprocess.Popen(
            ["bash", "-ec", line if "|" in line or "&&" in line or "<(" in line else "exec " + line],
            cwd=self.dir, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        if line.startswith("mlictl top") and "--once" not in line:
            first = process.stdout.readline()
            self.assertIn(b"mlid at", first)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, f"{line}\n{err.decode()}")
        self.assertEqual(err.decode(), "", line)

    def test_examples_work(self):
        if not shutil.which("bash"):
            self.skipTest("there is no bash")
        for name in self.commands():
            self.prepare()
            self.ctl("resume", "-s", self.daemon.socket, code=0)
            self.submit("--detach", self.write("jobs.json", [mov(dst="a.npy"), mov(dst="b.npy")]),
                        code=0)
            self.ctl("wait", "--all", "-s", self.daemon.socket, code=0)
            for line in self.examples(name):
                with self.subTest(command=name, line=line):
                    self.run_line(line)

    def test_examples_belong_to_their_command(self):
        for name in self.commands():
            for line in self.examples(name):
                self.assertIn(f"mlictl {name}", line)


if __name__ == "__main__":
    main()
