# SPDX-License-Identifier: BSD-3-Clause
"""Tests `mlictl completion bash` in a real bash."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import unittest

from completions import Completions
from harness import MLICTL, Case, main, wait_for

# Splits a line into words as readline does: at blanks; "=" and ":" are words of their own.
WORD = re.compile(r"[=:]+|[^\s=:]+")


@unittest.skipUnless(shutil.which("bash"), "there is no bash")
class Completion(Completions, Case):
    def setUp(self):
        super().setUp()
        self.script = self.root / "completion"
        self.script.write_text(self.ctl("completion", "bash", code=0).out)

    def complete_all(self, lines):
        call = 'source "$0"; while (($#)); do COMP_CWORD=$1; COMP_WORDS=("${@:2:$1+1}"); shift $(($1 + 2)); ' \
               '_mlictl; (( ${#COMPREPLY[@]} )) && printf "%s\\n" "${COMPREPLY[@]}"; echo ==; done'
        arguments = []
        for line in lines:
            words = WORD.findall(line)
            if line.endswith((" ", "\t")) or not words:
                words.append("")
            arguments += [str(len(words) - 1), *words]
        done = subprocess.run(["bash", "--norc", "-c", call, self.script, *arguments],
                              cwd=self.dir, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), lines)
        return [set(part.split("\n")) - {""} for part in done.stdout.split("==\n")[:-1]]

    def test_commands(self):
        self.assertEqual(self.complete("mlictl "), self.commands() | {"help"})
        self.assertEqual(self.complete("mlictl sub"), {"submit"})
        self.assertEqual(self.complete("mlictl help "), self.commands() | {"help"})
        self.assertEqual(self.complete("mlictl nonsense "), set())

    def test_options_before_the_command(self):
        self.assertLessEqual({"--json", "--socket", "--host", "--version"},
                             self.complete("mlictl --"))
        for before in ("--json", "-q", "-s /tmp/x.sock", "--socket=/tmp/x.sock",
                       "-H ssh://me@board:22", "--host=ssh://board", "--json -q -s x"):
            self.assertEqual(self.complete(f"mlictl {before} canc"), {"cancel"}, before)
            self.assertIn("--detach", self.complete(f"mlictl {before} submit --d"), before)

    def test_values_of_options(self):
        patterns = {"index", "ramp", "zeros", "ones", "checker", "random"}
        for line in ("mlictl gen --pattern ", "mlictl gen -p ", "mlictl gen --pattern=",
                     "mlictl gen x.npy --shape 2,3 --pattern "):
            self.assertEqual(self.complete(line), patterns, line)
        self.assertEqual(self.complete("mlictl gen --pattern=r"), {"ramp", "random"})
        self.assertEqual(self.complete("mlictl gen --dtype u"), {"uint8", "uint16", "uint32", "uint64"})
        self.assertEqual(self.complete("mlictl selftest --mode c"), {"callback"})
        self.assertEqual(self.complete("mlictl completion "), {"bash", "zsh", "fish"})
        self.assertEqual(self.complete("mlictl gen --seed "), set())

    def test_words_with_commas(self):
        states = {"waiting", "queued", "running", "done", "failed", "cancelled"}
        self.assertEqual(self.complete("mlictl jobs --state "), states)
        self.assertEqual(self.complete("mlictl jobs --state done,f"), {"done,failed"})
        self.assertEqual(self.complete("mlictl jobs --state=done,running,c"),
                         {"done,running,cancelled"})

    def test_offered_words_are_accepted(self):
        """The command accepts every offered word, and completion offers every word of the command."""
        for word in self.complete("mlictl gen --dtype "):
            self.ctl("gen", f"{word}.npy", "--shape", "2", "--dtype", word, code=0)
        for word in self.complete("mlictl gen --pattern "):
            self.ctl("gen", f"{word}.npy", "--shape", "2", "--dtype", "int8", "-p", word, code=0)
        for word in self.complete("mlictl selftest --mode "):
            self.ctl("selftest", "--iterations", "1", "-e", "inline", "--mode", word, code=0)
        for word in self.complete("mlictl jobs --state "):
            self.ctl("jobs", "--state", word, "-s", self.path("none"), code=3)

    def test_engines_are_those_of_the_build(self):
        engines = self.complete("mlictl run --engine ")
        self.assertLessEqual({"threads", "inline", "fault"}, engines)
        self.assertEqual(self.complete("mlictl selftest -e "), engines)
        self.assertEqual(self.complete("mlictl run --engine threads:ti"), set())
        for name in engines - {"fault", "vfio"}:
            self.ctl("selftest", "--iterations", "1", "--engine", name, code=0)
        if "vfio" in engines:
            self.assertIn("--engine vfio: the option device is required",
                          self.ctl("selftest", "--iterations", "1", "--engine", "vfio", code=2).err)

    def test_files(self):
        for name in ("a.json", "b.json", "a.npy", "deep/c.json", "with space.json"):
            self.write(name, b"")
        self.assertEqual(self.complete("mlictl run "),
                         {"a.json", "b.json", "deep", "with space.json"})
        self.assertEqual(self.complete("mlictl run --fail-fast a"), {"a.json"})
        self.assertEqual(self.complete("mlictl submit deep/"), {"deep/c.json"})
        self.assertEqual(self.complete("mlictl show a"), {"a.json", "a.npy"})
        self.assertEqual(self.complete("mlictl diff a.npy b"), {"b.json"})
        self.assertEqual(self.complete("mlictl ping --socket a"), {"a.json", "a.npy"})
        self.assertEqual(self.complete("mlictl selftest --keep "), {"deep"})
        self.assertEqual(self.complete("mlictl ping "), set())

    def test_the_first_argument(self):
        for name in ("a.json", "1.jsonl", "manifest"):
            self.write(name, b"")
        self.assertEqual(self.complete("mlictl make "), {"mov", "permute"})
        self.assertEqual(self.complete("mlictl make mov a"), {"a.json"})
        self.assertEqual(self.complete("mlictl batch m"), {"merge", "manifest"})
        self.assertEqual(self.complete("mlictl batch merge m"), {"manifest"})
        self.assertEqual(self.complete("mlictl batch merge 1"), {"1.jsonl"})

    def test_only_arguments_follow_two_dashes(self):
        self.write("--odd.json", b"")
        self.assertEqual(self.complete("mlictl run -- --o"), {"--odd.json"})
        self.assertEqual(self.complete("mlictl run -- --engine "), {"--odd.json"})

    def test_no_variables_remain_set(self):
        names = "for n in current option command ended i; do [[ -v $n ]] && echo $n; done; :"
        done = subprocess.run(["bash", "--norc", "-c", 'source "$0"; COMP_WORDS=(mlictl run --engine '
                               f'x); COMP_CWORD=3; _mlictl; {names}', self.script],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_shellcheck(self):
        if not shutil.which("shellcheck"):
            self.skipTest("there is no shellcheck")
        done = subprocess.run(["shellcheck", self.script], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_tab_key(self):
        """Tests the whole way: readline, `complete`, the function, and the resulting line."""
        rc = self.root / "rc"
        rc.write_text(f'PS1="> "; PATH="{pathlib.Path(MLICTL).parent}:$PATH"\n'
                      'bind "set bell-style none"; bind "set enable-bracketed-paste off"\n'
                      f'source "{self.script}"\n')
        self.write("only.json", b"")
        process, ours = pty.fork()
        if process == 0:
            os.chdir(self.dir)
            os.execvpe("bash", ["bash", "--noprofile", "--rcfile", str(rc), "-i"],
                       dict(os.environ, TERM="dumb", HISTFILE=""))
        self.addCleanup(lambda: (os.close(ours), os.waitpid(process, 0)))
        seen = b""

        def shows(what):
            nonlocal seen

            def look():
                nonlocal seen
                if select.select([ours], [], [], 0.02)[0]:
                    seen += os.read(ours, 65536)
                return what in seen
            found = wait_for(look)
            self.assertTrue(found, seen.decode(errors="replace"))
            seen = b""
        shows(b"> ")
        for typed, shown in ((b"mlictl valid\t", b"mlictl validate "), (b"--fa\t", b"--fail-fast "),
                             (b"on\t", b"only.json ")):
            os.write(ours, typed)
            shows(shown)
        os.write(ours, b"\x15mlictl jobs --state=wai\t")
        shows(b"--state=waiting")
        os.write(ours, b"\x15exit\n")


class Command(Case):
    def test_unknown_shells(self):
        self.assertIn("bash, zsh or fish is needed", self.ctl("completion", "tcsh", code=2).err)
        self.assertIn("usage: mlictl completion", self.ctl("completion", code=2).err)

    def test_the_installed_file_equals_the_printed_one(self):
        built = pathlib.Path(os.environ.get("MLI_BUILD", "")) / "conf/mlictl"
        if "MLI_BUILD" not in os.environ:
            self.skipTest("no build tree is given (MLI_BUILD)")
        self.assertEqual(built.read_text(), self.ctl("completion", "bash", code=0).out)


if __name__ == "__main__":
    main()
