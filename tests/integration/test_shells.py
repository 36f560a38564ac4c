# SPDX-License-Identifier: BSD-3-Clause
"""Tests `mlictl completion zsh` and `fish` in the real shells; test_completion.py tests bash."""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import unittest

from completions import Completions
from harness import Case, main, wait_for


class Shell(Completions):
    """Tests for both shells; the derived classes define complete()."""

    def setUp(self):
        super().setUp()
        self.script = self.root / f"mlictl.{self.shell}"
        self.script.write_text(self.ctl("completion", self.shell, code=0).out)
        for name in ("a.json", "a.npy", "deep/c.json"):
            self.write(name, b"")

    def test_commands(self):
        self.assertEqual(self.complete("mlictl "), self.commands() | {"help"})
        self.assertEqual(self.complete("mlictl sub"), {"submit"})
        self.assertEqual(self.complete("mlictl help sub"), {"submit"})
        self.assertEqual(self.complete("mlictl nonsense --f"), set())

    def test_options_before_the_command(self):
        self.assertEqual(self.complete("mlictl --"), {"--json", "--quiet", "--socket", "--host",
                                                      "--help", "--version"})
        for before in ("--json", "-q", "-s /tmp/x.sock", "--socket=/tmp/x.sock", "--host=ssh://board",
                       "-H ssh://me@board:22", "--json -q -s x"):
            self.assertEqual(self.complete(f"mlictl {before} canc"), {"cancel"}, before)
            self.assertEqual(self.complete(f"mlictl {before} submit --det"), {"--detach"}, before)

    def test_words(self):
        patterns = {"index", "ramp", "zeros", "ones", "checker", "random"}
        for line in ("mlictl gen --pattern ", "mlictl gen -p ", "mlictl gen x.npy --seed 2 --pattern "):
            self.assertEqual(self.complete(line), patterns, line)
        self.assertEqual(self.complete("mlictl gen --dtype u"), {"uint8", "uint16", "uint32", "uint64"})
        self.assertEqual(self.complete("mlictl completion "), {"bash", "zsh", "fish"})
        engines = self.complete("mlictl run --engine ")
        self.assertLessEqual({"threads", "inline", "fault"}, engines)
        self.assertEqual(self.complete("mlictl selftest -e "), engines)

    def test_the_first_argument(self):
        self.assertEqual(self.complete("mlictl make "), {"mov", "permute"})
        self.assertEqual(self.complete("mlictl batch me"), {"merge"})
        self.assertEqual(self.complete("mlictl batch merge me"), set())

    def test_files(self):
        self.assertEqual(self.complete("mlictl show a"), {"a.json", "a.npy"})
        self.assertEqual(self.complete("mlictl make mov a"), {"a.json", "a.npy"})
        self.assertEqual(self.complete("mlictl ping --socket a"), {"a.json", "a.npy"})
        self.assertEqual({name.rstrip("/") for name in self.complete("mlictl selftest --keep ")},
                         {"deep"})
        self.assertEqual(self.complete("mlictl run --fail-fast a"), {"a.json"})
        self.assertEqual({name.rstrip("/") for name in self.complete("mlictl run ")}, {"a.json", "deep"})

    def test_the_installed_file_equals_the_printed_one(self):
        if "MLI_BUILD" not in os.environ:
            self.skipTest("no build tree is given (MLI_BUILD)")
        built = pathlib.Path(os.environ["MLI_BUILD"]) / "conf" / self.installed
        self.assertEqual(built.read_text(), self.script.read_text())


@unittest.skipUnless(shutil.which("fish"), "there is no fish")
class Fish(Shell, Case):
    shell, installed = "fish", "mlictl.fish"

    def complete_all(self, lines):
        call = "source $argv[1]; for line in $argv[2..-1]; complete -C $line; echo ==; end"
        done = subprocess.run(["fish", "-N", "-c", call, self.script, *lines], cwd=self.dir, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), lines)
        found = [{text.split("\t")[0] for text in part.splitlines()} for part in done.stdout.split("==\n")[:-1]]
        return [{word for word in words if line.endswith("-") or not re.fullmatch("-.", word)}
                for line, words in zip(lines, found, strict=True)]

    def test_words_with_commas(self):
        self.assertEqual(self.complete("mlictl jobs --state done,f"), {"done,failed"})
        self.assertEqual(self.complete("mlictl jobs --state=done,f"), {"--state=done,failed"})

    def test_descriptions_are_those_of_the_help(self):
        call = f"source '{self.script}'; complete -C 'mlictl canc'"
        done = subprocess.run(["fish", "-N", "-c", call], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "cancel\tcancel jobs\n")


# The key ^X completes each line of the file $LINES_FILE, as the tab key does, and writes the matches to $HITS.
SETUP = r"""autoload -Uz compinit; compinit -u -D
setopt no_beep no_list_beep no_auto_menu; unset zle_bracketed_paste
zstyle ':completion:*' insert-tab false
compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>$HITS; builtin compadd "$@" }
complete-lines() { local line; for line in ${(f)"$(<$LINES_FILE)"}; do BUFFER=$line; CURSOR=$#BUFFER; zle complete-word; print '==' >>$HITS; done; BUFFER=; print -n mark >$TTY }
zle -N complete-lines; bindkey '^X' complete-lines"""


@unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
class Zsh(Shell, Case):
    shell, installed = "zsh", "_mlictl"

    def setUp(self):
        super().setUp()
        self.hits, self.lines = self.root / "hits", self.root / "lines"
        self.marks = 0
        self.seen = b""
        self.process, self.ours = pty.fork()
        if self.process == 0:
            os.chdir(self.dir)
            os.execvpe("zsh", ["zsh", "-f", "-i"],
                       dict(os.environ, TERM="dumb", PS1="> ", HITS=str(self.hits), LINES_FILE=str(self.lines)))
        self.addCleanup(lambda: (os.close(self.ours), os.waitpid(self.process, 0)))
        # The line editor writes directly to the terminal, so the redirected output has only the
        # text that the script prints.
        self.printed = self.root / "printed"
        for line in [*SETUP.splitlines(), f"source '{self.script}'", f"exec >>'{self.printed}' 2>&1"]:
            self.enter(line)

    def enter(self, line):
        """Runs a line and returns at the next prompt: until then, the terminal driver edits lines itself."""
        self.marks += 1
        os.write(self.ours, f"{line}\nprint -r -- mark$(({self.marks}))end >$TTY\n".encode())
        self.wait_for_text(f"mark{self.marks}end".encode(), b"> ")

    def wait_for_text(self, mark, then=b""):
        """Reads the terminal until it shows the mark and the text behind it."""
        def look():
            if select.select([self.ours], [], [], 0.02)[0]:
                self.seen += os.read(self.ours, 65536)
            return mark in self.seen and then in self.seen[self.seen.find(mark):]
        found = wait_for(look)
        shown, self.seen = self.seen.decode(errors="replace"), b""
        self.assertTrue(found, shown)

    def complete_all(self, lines):
        """Returns the matches that zsh adds when tab is pressed behind each line."""
        self.hits.write_text("")
        self.lines.write_text("\n".join(lines))
        os.write(self.ours, b"\x18")
        self.wait_for_text(b"mark")
        self.assertEqual(self.printed.read_text(), "", lines)
        parts = self.hits.read_text().split("==\n")[:-1]
        return [{word for word in part.split("\n") if word and not re.fullmatch("-.", word)} for part in parts]

    def test_words_with_commas(self):
        self.assertEqual(self.complete("mlictl jobs --state done,f"), {"failed"})
        self.assertEqual(self.complete("mlictl jobs --state=done,running,c"), {"cancelled"})

    def test_found_in_fpath(self):
        """In a file of $fpath, the script is the body of the function."""
        directory = self.root / "functions"
        directory.mkdir()
        shutil.copy(self.script, directory / "_mlictl")
        self.enter(f"unfunction -m '_mlictl*'; fpath+=('{directory}'); compinit -u -D")
        self.assertEqual(self.complete("mlictl canc"), {"cancel"})
        self.assertEqual(self.complete("mlictl submit --det"), {"--detach"})


if __name__ == "__main__":
    main()
