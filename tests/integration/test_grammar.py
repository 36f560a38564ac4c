# SPDX-License-Identifier: BSD-3-Clause
"""Tests the grammar that all commands share: options, old spellings, times, and when existing files are replaced."""
import re

from harness import AGENT, SOURCE, Case, main, mov, transpose_model

MANUALS = SOURCE / "man"
COMMON = {"json", "quiet", "help"}  # of every command: mlictl(1) describes them


def manual(command):
    """Returns {name: (letter, value)} of the options in a manual page, whose lines begin with an option."""
    page = MANUALS / f"mlictl-{command}.1.scd"
    if not page.exists():
        links = (MANUALS / "meson.build").read_text()
        page = MANUALS / (re.search(rf"'mlictl-{command}\.1': '(\S+)'", links)[1] + ".scd")
    section = re.search(r"^# OPTIONS\n(.*?)(?=^# |\Z)", page.read_text(), re.M | re.S)[1]
    found = {}
    for line in re.findall(r"^\*-.*", section, re.M):
        for letter, name, value in re.findall(r"(?:\*-(\w)\*, )?\*--([a-z-]+)\*((?: [_*][^ ,]+)?)", line):
            found[name] = letter, re.sub(r"[ _*\\]", "", value)
    return found


class Grammar(Case):
    helps = {}  # of the commands, because a help text takes a process

    def commands(self):
        out = self.ctl("--help", code=0).out.split("exit codes:")[0]
        return re.findall(r"^  ([a-z]+) ", out, re.M)

    def options(self, command):
        """Returns {name: (letter, value)} of the options in a help text."""
        if command not in self.helps:
            text = self.ctl(command, "--help", code=0).out.split("\noptions:\n")[1]
            found = re.findall(r"^  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?", text, re.M)
            self.assertGreaterEqual(len(found), 3, command)
            self.helps[command] = {name: (letter, value) for letter, name, value in found}
        return self.helps[command]


class Letters(Grammar):
    def test_a_letter_is_one_option_and_an_option_has_one_letter(self):
        names, letters = {}, {}
        for command in self.commands():
            for name, (letter, _) in self.options(command).items():
                letters.setdefault(name, {}).setdefault(letter, []).append(command)
                if letter:
                    names.setdefault(letter, {}).setdefault(name, []).append(command)
        self.assertGreater(len(names), 15)
        self.assertEqual({letter: found for letter, found in names.items() if len(found) > 1}, {})
        self.assertEqual({name: found for name, found in letters.items() if len(found) > 1}, {})
        for command in ("mov", "permute", "make", "tile", "run", "selftest", "explain", "batch"):
            self.assertIn(command, letters["channels"]["c"])

    def test_letters_work(self):
        self.write_npy("in.npy")
        plan = ("in.npy", "out.npy", "--perm", "2,0,1")
        self.assertIn('"channels": 3', self.ctl("make", "mov", "-c", 3, *plan, code=0).out)
        self.assertIn('"channels": 3', self.ctl("make", "permute", "-c3", *plan, code=0).out)
        for command in ("mov", "permute"):
            self.assertIn("2 channels", self.ctl(command, "-f", "-c2", *plan, code=0).out)
        self.assertIn("--channels requires --profile", self.ctl("tile", "-c2", "in.npy", code=2).err)
        self.write("cases/a.json", mov("../in.npy"))
        self.assertEqual(self.ctl("batch", "-l", "cases", code=0).out, self.ctl("batch", "--list", "cases", code=0).out)

    def test_manual_pages_have_the_options_of_the_help(self):
        """The same letters and the same values."""
        first = re.search(r"^# OPTIONS\n(.*?)^# ", (MANUALS / "mlictl.1.scd").read_text(), re.M | re.S)[1]
        for option in ("*--json*", "*-q*, *--quiet*", "*-h*, *--help*"):
            self.assertIn(f"\n{option}\n", first)
        for command in self.commands():
            described = manual(command)
            for name, about in self.options(command).items():
                if name not in COMMON:
                    with self.subTest(command=command, option=name):
                        self.assertEqual(described.get(name), about)

    def test_completions_have_the_options_of_the_help(self):
        bash, zsh, fish = (self.ctl("completion", shell, code=0).out for shell in ("bash", "zsh", "fish"))
        for command in self.commands():
            options = self.options(command)
            function = re.search(rf"^_mlictl_{command}\(\)\n(.*?)^}}", zsh, re.M | re.S)[1]
            case = re.search(rf"^    {command}\)\n(.*?)^    (?! )", bash, re.M | re.S)[1]
            lines = re.findall(rf"^complete -c mlictl -n '__mlictl_is \"{command}\"'(?: -s (\w))? -l (\S+)", fish, re.M)
            self.assertEqual({name: letter for letter, name in lines},
                             {name: letter for name, (letter, _) in options.items()}, command)
            for name, (letter, value) in options.items():
                with self.subTest(command=command, option=name):
                    long = f"--{name}=" if value else f"--{name}"
                    short = f"-{letter}+" if value else f"-{letter}"
                    self.assertIn(f"{{{short},{long}}}'[" if letter else f"'{long}[", function)
                    if value:
                        self.assertRegex(case, rf"(?m)^ *{f'-{letter} [|] ' if letter else ''}--{name}\)$")


class OldSpellings(Grammar):
    def compare(self, old, new, remark, code=0, same=True):
        """Runs two command lines: the remark is all that differs."""
        now, before = self.ctl(*new, code=code), self.ctl(*old, code=code)
        self.assertEqual(before.err, f"mlictl: remark: {remark}\n" + now.err)
        self.assertNotIn("remark", now.err)
        if same:
            self.assertEqual(before.out, now.out)

    def renamed(self, command, old, new, *rest, **more):
        """Compares two spellings of an option; the text after "=" or after the letter is its value."""
        shown = re.match(r"--[a-z]+|-\w", old)[0]
        self.compare((command, old, *rest), (command, new, *rest),
                     f"{shown} is now {new.split('=')[0]}; the next version refuses the old spelling", **more)

    def test_names_and_letters_of_the_previous_version(self):
        self.write_npy("in.npy")
        self.write_npy("other.npy", data=bytes(24))
        self.renamed("diff", "--first=1", "--limit=1", "in.npy", "other.npy", code=1)
        self.renamed("show", "--corner=1", "--limit=1", "in.npy")
        self.renamed("show", "--corner", "--limit", 1, "in.npy")
        self.write("net.onnx", transpose_model())
        self.renamed("import", "-n", "--dry-run", "net.onnx")
        few = ("--seed", 1, "-e", "inline", "-q")
        self.renamed("selftest", "-n2", "--iterations=2", *few)
        self.renamed("selftest", "-j", "--threads", 1, "--iterations=2", *few)
        self.renamed("selftest", "-t", "--seconds", 1, *few)
        self.renamed("calibrate", "-t1", "--seconds=1", "--check", 1, "-q")
        self.renamed("calibrate", "-n1", "--check=1", "--seconds", 1, "-q")
        at = ("-s", self.daemon.socket)
        self.renamed("trace", "-t1", "--seconds=1", "-o", "-", *at, same=False)
        self.renamed("wait", "-t", "--timeout", "1s", "--all", *at)

    def test_other_commands_have_no_old_spellings(self):
        for words in (("optimise", "-n", "a.json"), ("trace", "-n1"), ("show", "--first", 1, "a"), ("tile", "--n", 1),
                      ("diff", "--corner", 1, "a", "b"), ("batch", "-n"), ("wait", "--t", 1), ("import", "-n1", "a.onnx"),
                      ("import", "--n", "a.onnx"), ("top", "-t", 1)):
            err = self.ctl(*words, code=2).err
            self.assertIn("unknown option", err)
            self.assertNotIn("--help lists the options\nmlictl", err)

    def test_times_without_a_unit(self):
        self.write_npy("in.npy")
        self.write("cases/a.json", mov("../in.npy"))
        at = ("-s", self.daemon.socket)
        for words, option, time, unit in (
                (("selftest", "--iterations", 1, "--seed", 1, "-e", "inline", "-q"), "--timeout", 5000, "ms"),
                (("batch", "-q", "--keep", "none", "cases"), "--timeout", 60000, "ms"),
                (("wait", "--all", *at), "--timeout", 50, "ms"),
                (("top", "--once", "-q", *at), "--interval", 200, "ms"),
                (("batch", "status", "--queue", "redis://127.0.0.1:1/a"), "--reconnect", 0, "s"),
                (("batch", "status", "--queue", "redis://127.0.0.1:1/a"), "--reconnect", 1, "s")):
            with self.subTest(words=words):
                plain = self.ctl(*words, option, time)
                same = self.ctl(*words, option, f"{time}{unit}")
                remark = (f"mlictl: remark: {option} {time} is read as {time}{unit}; the next version requires the "
                          "unit\n" if time else "")
                self.assertEqual((plain.code, plain.err), (same.code, remark + same.err))
                self.assertNotIn("remark", same.err)

    def test_what_needs_no_unit(self):
        self.write_npy("in.npy")
        seconds = self.ctl("selftest", "--seconds", 1, "-e", "inline", "--max-bytes", 4096, "-q", code=0)
        size = self.ctl("mov", "in.npy", "out.npy", "--limit-bytes", 4096, code=0)
        self.assertEqual((seconds.err, size.err), ("", ""))

    def test_times_of_boards(self):
        if not AGENT:
            self.skipTest("mlictl was built without boards")
        for time, remark in (("100ms", ""), ("1s", ""),
                             ("100", "mlictl: remark: timeout=100 is read as 100ms; the next version requires the unit\n")):
            err = self.ctl("ping", "-H", f"serial:/dev/null,timeout={time}", code=2).err
            self.assertEqual(err, f"{remark}mlictl: serial:/dev/null (115200 baud): neither a serial device nor a "
                                  "socket\n")
        for time in ("2m", "0", "1h", "5x", "", "1 s"):
            self.assertIn(",timeout=TIME", self.ctl("ping", "-H", f"serial:/dev/null,timeout={time}", code=2).err)


class ExistingFiles(Grammar):
    """The rule of mlictl(1), EXISTING FILES."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.write("job.json", mov(perm_dim=[2, 0, 1]))
        self.write("w.raw", bytes(8 * 8 * 4))
        self.write("chain.json", [mov(dst="a.npy"), mov("a.npy", "b.npy")])
        self.write("net.onnx", transpose_model())

    def test_only_force_replaces(self):
        layer = ("tile", "--shape", "8x8x4", "--window", "3x3", "--budget", "1KiB")
        for words, path in (
                (("gen", "g.npy", "--shape", "2,2", "--dtype", "int8"), "g.npy"),
                (("mov", "in.npy", "m.npy"), "m.npy"),
                (("mov", "in.npy", "n.npy", "-o", "mov.json"), "mov.json"),
                (("permute", "in.npy", "p.npy", "--perm", "2,0,1"), "p.npy"),
                (("make", "mov", "in.npy", "x.npy", "-o", "made.json"), "made.json"),
                (("make", "mov", "in.npy", "x.npy", "--run"), "x.npy"),
                (("optimise", "chain.json", "-o", "fewer.json"), "fewer.json"),
                ((*layer, "--type", "sa8", "w.raw", "-o", "tiles.json"), "tiles.json"),
                (("trace", "--seconds", 1, "-o", "t.json", "-s", self.daemon.socket), "t.json")):
            with self.subTest(words=words):
                self.ctl(*words, code=0)
                for other in ("n.npy",):  # the second run has one existing file
                    if self.exists(other):
                        (self.dir / other).unlink()
                self.write(path, "mine")
                before = self.listing()
                self.assertIn(f"{path} exists; --force replaces it", self.ctl(*words, code=2).err)
                self.assertEqual(self.listing(), before)
                self.ctl(*words, "--force", code=0)
                self.assertNotEqual(self.read(path), b"mine")

    def test_a_directory(self):
        words = ("import", "net.onnx", "-o", "cases", "--dim", "batch=1")
        self.ctl(*words, code=0)
        before = self.listing()
        self.ctl(*words, code=2)
        self.assertEqual(self.listing(), before)
        self.ctl(*words, "-f", code=0)
        self.assertEqual(self.listing(), before)

    def test_drawings_and_reports_are_renewed(self):
        explain, plan = ("explain", "-q", "job.json"), ("--profile", "vpx5-nsim")
        layer = ("tile", "-q", "--shape", "8x8x4", "--window", "3x3", "--type", "sa8", "w.raw", *plan)
        for words, path in (((*explain, "--svg", "a.svg"), "a.svg"), ((*explain, *plan, "--timeline", "b.svg"), "b.svg"),
                            ((*explain, *plan, "--trace", "c.json"), "c.json"), ((*layer, "--svg", "d.svg"), "d.svg"),
                            ((*layer, "--timeline", "e.svg"), "e.svg"), ((*layer, "--trace", "f.json"), "f.json"),
                            (("batch", "-q", "job.json", "--junit", "r.xml"), "r.xml"),
                            (("batch", "-q", "job.json", "--html", "h"), "h/index.html")):
            with self.subTest(words=words):
                for before in (None, b""):
                    if before is not None:
                        self.write(path, before)
                    self.ctl(*words, code=0)
                    self.assertGreater(len(self.read(path)), 50)
                    self.ctl(*words, code=0)
                self.write(path, "mine")
                self.assertRegex(self.ctl(*words, code=2).err, "only an empty file or .* is replaced")
                self.assertEqual(self.read(path), b"mine")

    def test_outputs_of_job_files_are_replaced(self):
        for command in (("run",), ("submit", "-s", self.daemon.socket)):
            self.write("out.npy", "mine")
            self.ctl(*command, "job.json", code=0)
            self.assertNotEqual(self.read("out.npy"), b"mine")

    def test_calibrate_of_this_version(self):
        words = ("calibrate", "-q", "--seconds", 1, "--check", 1, "-o", "m.json")
        self.assertEqual(self.ctl(*words, code=0).err, "")
        self.assertEqual(self.ctl(*words, "-f", code=0).err, "")
        self.write("m.json", "mine")
        self.assertEqual(self.ctl(*words, code=0).err, "mlictl: remark: m.json exists; the next version replaces it only "
                                                       "with --force\n")
        self.assertNotEqual(self.read("m.json"), b"mine")


if __name__ == "__main__":
    main()
