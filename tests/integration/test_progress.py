# SPDX-License-Identifier: BSD-3-Clause
"""Tests the progress line of run, submit, gen and repeated cases: on a terminal only."""
import os
import re
import signal
import subprocess
import time

from harness import Case, Daemon, main, mov, wait_for
from screen import Screen, picture
from suspend import suspend

# With this seed, the engine delays the first transfer by 1.4 s. On any machine, events come during this delay.
SLOW = "fault:threads,delay_us=5000000,tiny=0"
DRAWN = re.compile("\r([^\r\n\033]+)\033\\[K")


class Progress(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.write("job.json", mov())

    def check(self, shown, label):
        """Expects that a line was drawn and later overwritten, and that only the command's own line remains."""
        drawn = DRAWN.findall(shown)
        self.assertTrue(drawn, shown)
        for line in drawn:
            self.assertRegex(line, rf"^{label}: [\d.]+ [KM]?i?B of [\d.]+ [KM]?i?B, \d+ %"
                                   r"(, [\d.]+ [KMG]?i?B/s, (\d+:)?\d+:\d\d left)?$")
        lines = picture(shown)
        self.assertEqual((len(lines), lines[-1]), (2, ""), shown)
        self.assertTrue(lines[0].startswith(f"{label}: ") and " left" not in lines[0], lines)

    def test_run(self):
        shown, code = Screen(self, "run", "-e", SLOW, "job.json").end()
        self.assertEqual(code, 0)
        self.check(shown, "job.json")

    def test_submit(self):
        run = self.root / "slow"
        run.mkdir()
        daemon = Daemon(run, "--engine", SLOW)
        self.addCleanup(daemon.log.close)
        self.addCleanup(daemon.stop)
        self.write("named.json", mov(name="tile"))
        shown, code = Screen(self, "submit", "-s", daemon.socket, "named.json").end()
        self.assertEqual(code, 0)
        self.check(shown, "tile")

    def test_a_daemon_that_does_not_answer(self):
        """If the daemon does not answer, the timeout of the job ends the wait, as it does without
        a terminal."""
        self.write("timed.json", mov(timeout_ms=100))
        socket = self.daemon.socket
        suspend(self.daemon.pid)
        shown, code = Screen(self, "submit", "-s", socket, "timed.json").end()
        self.daemon.process.send_signal(signal.SIGCONT)
        self.assertIn(code, (3, 4), shown)

    def test_names_are_escaped_on_a_terminal(self):
        os.rename(self.path("job.json"), self.path("a\033[2Jb.json"))
        shown, _ = Screen(self, "run", "-e", SLOW, "a\033[2Jb.json").end()
        self.assertNotIn("\033[2J", shown)
        self.assertTrue(DRAWN.search(shown))

    def test_a_narrow_terminal(self):
        """On a narrow terminal the line cuts the name and not the numbers. Some terminals report only their columns.
        """
        name = "a_long_name_" * 4 + ".json"
        os.rename(self.path("job.json"), self.path(name))
        for rows, columns in ((24, 40), (0, 30)):
            shown, code = Screen(self, "run", "-e", SLOW, name, rows=rows, columns=columns).end()
            self.assertEqual(code, 0)
            drawn = DRAWN.findall(shown)
            self.assertTrue(drawn, shown)
            for line in drawn:
                self.assertLess(len(line), columns)
                self.assertRegex(line, r"^a_l\w*\.\.\.: [\d.]+ [KM]?i?B of [\d.]+ [KM]?i?B, \d+ %")

    def test_gen(self):
        """The test stops the process of gen for longer than the delay before the first progress line."""
        screen = Screen(self, "gen", "big.npy", "--shape", "150,1000,1000", "--dtype", "int8")

        def written():
            with open(f"/proc/{screen.process.pid}/io") as io:
                return int(re.search(r"wchar: (\d+)", io.read())[1])
        wait_for(lambda: written() > 1 << 20)
        suspend(screen.process.pid)
        self.assertIsNone(screen.process.poll())
        time.sleep(0.7)
        screen.process.send_signal(signal.SIGCONT)
        shown, code = screen.end()
        self.assertEqual(code, 0)
        self.check(shown, "big.npy")

    def test_interrupted(self):
        screen = Screen(self, "run", "-e", "fault:threads,delay_us=90000000,tiny=0", "job.json")
        self.assertTrue(wait_for(lambda: DRAWN.search(screen.read())))
        screen.press(b"\x03")
        shown, code = screen.end()
        self.assertEqual(code, 4)
        self.assertFalse([line for line in picture(shown) if " left" in line or " of 24 B" in line])

    def test_no_progress_without_a_terminal(self):
        screens = [(Screen(self, "run", *options, "-e", SLOW, "job.json", **more), options, more)
                   for options, more in ((["-q"], {}), (["--json"], {}), ([], {"TERM": "dumb"}),
                                         ([], {"streams": {"stderr": subprocess.DEVNULL}}),
                                         ([], {"streams": {"stdout": subprocess.PIPE}}))]
        for screen, options, more in screens:
            shown, code = screen.end()
            if screen.process.stdout:
                shown += screen.process.stdout.read().decode()
                screen.process.stdout.close()
            self.assertEqual(code, 0)
            self.assertNotIn("\033[K", shown, (options, more))
        result = self.ctl("run", "-e", SLOW, "job.json", code=0)
        self.assertNotIn("\033", result.out + result.err)

    def test_with_standard_output_in_a_file(self):
        with open(self.path("out.txt"), "w+b") as out:
            shown, _ = Screen(self, "run", "-e", SLOW, "job.json", streams={"stdout": out}).end()
        self.assertTrue(DRAWN.search(shown))
        self.assertEqual(picture(shown), [""])
        self.assertNotIn(b"\033", self.read("out.txt"))

    def test_batch_counts_repeats(self):
        self.write_npy("cases/in.npy")
        self.write("cases/only.json", mov())
        shown, code = Screen(self, "batch", "cases", "--repeat", 4, "-e",
                             "fault:threads,delay_us=400000,tiny=0").end()
        self.assertEqual(code, 0)
        drawn = DRAWN.findall(shown)
        numbers = [int(re.search(r"repeat (\d) of 4", line)[1]) for line in drawn if "repeat" in line]
        self.assertEqual(numbers, sorted(numbers))
        self.assertGreaterEqual(len(set(numbers)), 2, drawn)
        self.assertNotIn("repeat", picture(shown)[0])
        shown, _ = Screen(self, "batch", "cases", "-e", "fault:threads,delay_us=400000,tiny=0").end()
        self.assertNotIn("repeat", shown)


if __name__ == "__main__":
    main()
