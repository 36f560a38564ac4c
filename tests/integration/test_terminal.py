# SPDX-License-Identifier: BSD-3-Clause
"""Tests colours, redrawn lines and ^C on a terminal; elsewhere there are no colours and no redrawn lines."""
import os
import pty
import re
import subprocess

from harness import MLICTL, Case, main, mov, wait_for
from screen import Screen

ESCAPE = re.compile(r"\033\[[0-9;?]*[a-zA-Z]")
COLOUR = re.compile(r"\033\[[0-9;]*m")
GOOD, BAD, WARN, END = "\033[32m", "\033[31m", "\033[33m", "\033[0m"


class Terminal(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.write_npy("other.npy", data=bytes(24))
        self.write("job.json", mov())
        self.write("bad.json", mov(offset=[9]))

    def show(self, *arguments, **more):
        return Screen(self, *arguments, **more).end()

    def commands(self):
        """Returns command lines that print the word of a state in colour, and that word."""
        self.write("golden.json", mov(expect={"file": "in.npy"}))
        self.write("wrong.json", mov(expect={"file": "other.npy"}))
        return [(("validate", "job.json"), GOOD + "valid" + END),
                (("run", "golden.json"), GOOD + "as expected" + END),
                (("run", "wrong.json"), BAD + "mlictl:" + END),
                (("diff", "in.npy", "in.npy"), GOOD + "the same" + END),
                (("diff", "in.npy", "other.npy"), BAD + "23 of 24 elements differ" + END),
                (("run", "bad.json"), BAD + "mlictl:" + END),
                (("selftest", "--iterations", "2", "--threads", "1", "--seed", "7", "-e", "inline"), GOOD + "0 failures" + END)]


class Colours(Terminal):
    def test_state_words_have_colours(self):
        for command, word in self.commands():
            with self.subTest(command=command):
                self.assertIn(word, self.show(*command)[0])

    def test_jobs_of_a_daemon(self):
        socket = ("-s", self.daemon.socket)
        self.submit("job.json", code=0)
        self.submit("bad.json", code=2)
        out = self.show("jobs", *socket)[0]
        self.assertIn(GOOD + "done     " + END, out)
        self.assertIn("job 1: " + GOOD + "done" + END, self.show("status", "1", *socket)[0])
        self.assertIn("job 1: " + GOOD + "done" + END, self.show("wait", "1", *socket)[0])
        self.assertIn("job 1: " + GOOD + "done" + END, self.show("cancel", "1", *socket)[0])
        self.assertIn(BAD + "mlictl:" + END, self.show("status", "77", *socket)[0])

    def test_colours_are_the_only_difference(self):
        """The text is the same as on a pipe, except for times, rates and the widths of their columns."""
        number = re.compile(r" *[\d.]+ ([num]?s|[KMG]?i?B/s)\b|seed \d+")
        for command, _ in self.commands():
            with self.subTest(command=command):
                shown, code = self.show(*command)
                piped = self.ctl(*command, code=code)
                self.assertEqual(number.sub("#", COLOUR.sub("", shown)),
                                 number.sub("#", piped.out + piped.err))

    def test_colours_can_be_disabled(self):
        for refusal in ({"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}, {"TERM": ""},
                        {"TERM": None}):
            for command, _ in self.commands():
                with self.subTest(refusal=refusal, command=command):
                    self.assertNotIn("\033", self.show(*command, **refusal)[0])

    def test_an_empty_variable_disables_nothing(self):
        self.assertIn(GOOD, self.show("validate", "job.json", NO_COLOR="")[0])

    def test_pictures_of_explain(self):
        words = ("explain", "--no-memcpy", "job.json")
        self.assertIn("\033[38;5;", self.show(*words)[0])
        self.assertNotIn("\033[38;5;", self.show(*words, TERM="xterm", COLORTERM=None)[0]
                         if "COLORTERM" in os.environ else self.show(*words, TERM="xterm")[0])
        for refusal in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\033", self.show(*words, **refusal)[0])
            self.assertIn("\033[32m", self.show(*words, "--color", "always", **refusal)[0]
                          .replace("\033[38;5;", "\033[32m"))
        self.assertNotIn("\033", self.show(*words, "--color", "never")[0])

    def test_json_has_none(self):
        for command, _ in self.commands():
            with self.subTest(command=command):
                self.assertNotIn("\033", self.show(*command, "--json")[0])
        for line in (("--json", "frobnicate"), ("run", "--json", "--nothing"), ("--json",)):
            self.assertNotIn("\033", self.show(*line)[0])

    def test_each_stream_is_checked(self):
        """Errors on a terminal are red even if the results go to a pipe, and the other way round."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        environment = dict(self.environment(), TERM="xterm")
        environment.pop("NO_COLOR", None)

        def run(*arguments, **streams):
            return subprocess.run([MLICTL, *arguments], cwd=self.dir, env=environment, timeout=60,
                                  stdin=subprocess.DEVNULL, **streams)
        run("run", "bad.json", stdout=subprocess.PIPE, stderr=theirs)
        self.assertIn(BAD.encode(), os.read(ours, 4096))
        done = run("validate", "job.json", stdout=subprocess.PIPE, stderr=theirs)
        self.assertNotIn(b"\033", done.stdout)
        done = run("run", "bad.json", stdout=theirs, stderr=subprocess.PIPE)
        self.assertNotIn(b"\033", done.stderr)
        os.close(theirs)

    def test_contents_of_files_are_escaped(self):
        name = "a\033[31m\x07\u009b31m\u202e\u200b.json"
        self.write(name, mov("\033[2J.npy"))
        for command in ("run", "validate", "show", "submit"):
            out = self.show(command, name)[0]
            for ours in ("mlictl:", "valid"):
                out = out.replace(BAD + ours + END, "").replace(GOOD + ours + END, "")
            self.assertNotRegex(out, "[\033\x07\u009b\u202e\u200b]", command)


class Pipes(Terminal):
    def test_no_escape_sequences(self):
        socket = self.daemon.socket
        environment = dict(self.environment(), TERM="xterm")
        lines = [command for command, _ in self.commands()]
        lines += [(), ("--help",), ("run", "--help"), ("nonsense",), ("gen",), ("show", "in.npy")]
        lines += [(name, "-s", socket) for name in ("ping", "info", "stats", "jobs")]
        lines += [("top", "--once", "-s", socket), ("selftest", "--iterations", "3000", "-e", "threads")]
        for line in lines:
            done = subprocess.run([MLICTL, *line], cwd=self.dir, env=environment, timeout=60,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            self.assertNotIn(b"\033", done.stdout + done.stderr, line)


class Drawing(Terminal):
    def test_top_draws_over_itself_and_leaves_the_screen(self):
        screen = Screen(self, "top", "-i", "50ms", "-s", self.daemon.socket, columns=40, rows=10)
        self.assertTrue(wait_for(lambda: screen.read().count("\033[H") >= 2))
        screen.press(b"\x03")
        shown, code = screen.end()
        self.assertEqual(code, 0)
        self.assertTrue(shown.startswith("\033[?1049h"))
        self.assertTrue(shown.endswith("\033[?25h\033[?1049l"))
        for look in shown.split("\033[H")[1:-1]:
            lines = ESCAPE.sub("", look).replace("^C", "").split("\n")
            self.assertLessEqual(len(lines), 10)
            self.assertLessEqual(max(map(len, lines)), 40)

    def test_top_on_a_dumb_terminal(self):
        screen = Screen(self, "top", "-i", "50ms", "-s", self.daemon.socket, TERM="dumb")
        self.assertTrue(wait_for(lambda: screen.read().count("mlid at") >= 2))
        screen.press(b"\x03")
        shown, code = screen.end()
        self.assertEqual(code, 0)
        self.assertNotIn("\033", shown)

    def test_progress_of_a_selftest_stays_in_its_line(self):
        line = ("selftest", "--seconds", "1", "-e", "fault:threads,delay_us=10,reorder_pct=1")
        for columns in (20, 200):
            shown, code = self.show(*line, columns=columns)
            self.assertEqual(code, 0)
            drawn = re.findall("\r([^\r\n\033]+)\033\\[K", shown)
            self.assertTrue(drawn, shown)
            self.assertLess(max(map(len, drawn)), columns)
            self.assertIn("\r\033[K", shown)
        self.assertNotIn("\033", self.show(*line, TERM="dumb")[0])


class Interrupt(Terminal):
    def test_interrupt_cancels_a_job(self):
        screen = Screen(self, "run", "-e", "fault:threads,stick=1", "job.json")
        # The output of a running job has a temporary name or no name, so the test waits for the threads of the service
        # instead.
        tasks = f"/proc/{screen.process.pid}/task"
        self.assertTrue(wait_for(lambda: len(os.listdir(tasks)) > 4))
        screen.press(b"\x03")
        shown, code = screen.end()
        self.assertEqual(code, 4, shown)
        self.assertIn(BAD + "mlictl:" + END, shown)
        self.assertFalse(self.exists("out.npy"))

    def test_every_colour_is_reset(self):
        """A command never leaves the terminal in a colour."""
        for command, _ in self.commands():
            shown = self.show(*command)[0]
            self.assertEqual(len(re.findall(r"\033\[\d+m", shown.replace(END, ""))),
                             shown.count(END), command)


if __name__ == "__main__":
    main()
