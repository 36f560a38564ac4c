# SPDX-License-Identifier: BSD-3-Clause
"""Tests the progress line of a batch: it appears on a terminal, and nowhere else."""
import os
import re
import subprocess

from harness import Case, main, mov, wait_for
from screen import Screen, picture

COUNT = 80
# Each case takes about 25 ms; the progress line needs a second to know the rate.
SLOW = ("-j", "1", "--keep", "none", "-e", "fault:threads,delay_us=50000,tiny=0")
DRAWN = re.compile("\r([^\r\n\033]+)\033\\[K")


class Progress(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("cases/in.npy")
        self.write_npy("cases/golden.npy", data=bytes(24))
        for i in range(COUNT):
            self.write(f"cases/t{i:02}.json", mov(expect={"file": "in.npy"}))
        self.write("cases/t01.json", mov(expect={"file": "golden.npy"}))

    def batch(self, *options, **more):
        return Screen(self, "batch", "cases", *SLOW, *options, **more)

    def left(self, shown, ended=COUNT, passed_shown=False):
        """Expects that only the lines of the cases and the summary remain visible. The only failure is repeated if
        other lines are below it."""
        lines = picture(shown)
        self.assertEqual(lines[-1], "")
        cases, summary = lines[:-2], lines[-2]
        failed = [line for line in cases if line.startswith("FAILED cases/t01.json: expect: ")]
        self.assertTrue(failed, shown)
        wanted = failed[:1]
        if passed_shown:
            self.assertEqual(len(failed), 2)
            wanted = [cases[0], failed[0], *cases[2:ended], "", "failures, sorted by name:", failed[0]]
            self.assertEqual(sum(line.startswith("passed cases/t") for line in cases), ended - 1)
        self.assertEqual(cases, wanted)
        self.assertTrue(summary.startswith(f"{ended} cases: {ended - 1} passed, 1 failed; "), summary)

    def test_failures_are_repeated_at_the_end(self):
        for i in range(0, 60, 2):
            self.write(f"cases/t{i:02}.json", mov(expect={"file": "golden.npy"}))
        slow = [mov(dst=f"out{i}.npy", expect={"file": "in.npy"}) for i in range(3)]
        self.write("cases/t00.json", [*slow, mov(expect={"file": "golden.npy"})])
        shown, _ = Screen(self, "batch", "cases", "-j", "4", *SLOW[2:], columns=300).end()
        lines = picture(shown)
        blank = lines.index("")
        self.assertEqual(lines[blank + 1], "the first 20 of 31 failures, sorted by name:")
        names = [re.match("FAILED cases/(t..)", line)[1] for line in lines[:blank]]
        self.assertEqual((len(names), len(set(names))), (31, 31))
        self.assertNotEqual(names[0], "t00")  # it took longer than others
        self.assertEqual([re.match("FAILED cases/(t..)", line)[1] for line in lines[blank + 2:-3]], sorted(names)[:20])
        self.assertEqual(sorted(lines[:blank])[:20], lines[blank + 2:-3])
        self.assertEqual(lines[-3], "11 more: see the lines above, or write a report with --html DIR or --junit FILE")
        shown, _ = self.batch("--junit", "r.xml").end()
        self.assertIn("\n11 more: see r.xml\n", shown)

    def test_failures_are_not_repeated_elsewhere(self):
        self.write("cases/t05.json", mov(expect={"file": "golden.npy"}))
        for options in ((), ("-v",)):
            out = self.ctl("batch", "cases", *SLOW, *options, code=1).out
            self.assertEqual(len(re.findall("FAILED cases/t0[15].json", out)), 2)
        shown, _ = self.batch("--resume", "s.jsonl").end()
        self.assertEqual(len(re.findall("FAILED\033\\[0m cases/t0[15].json", shown)), 4)
        shown, _ = Screen(self, "batch", "merge", "s.jsonl").end()
        self.assertEqual(len(re.findall("FAILED\033\\[0m cases/t0[15].json", shown)), 2)

    def test_the_line_is_below_the_cases(self):
        shown, code = self.batch("-v", columns=200).end()
        self.assertEqual(code, 1)
        self.left(shown, passed_shown=True)
        drawn = DRAWN.findall(shown)
        done = [int(line.split("/")[0]) for line in drawn]
        self.assertEqual(done, sorted(done))
        self.assertGreater(len(set(done)), COUNT // 2)
        for line in drawn:
            self.assertRegex(line, rf"^\d+/{COUNT} +\d+ %(, 1 failed)?(, [\d.]+ cases/s"
                                   r"(, \d+:\d\d left)?)?$")
            ended = int(line.split("/")[0])
            self.assertEqual(int(re.search(r"(\d+) %", line)[1]), ended * 100 // COUNT)
            self.assertEqual("1 failed" in line, ended > 1)
        # The line shows no remaining time until it can estimate one; a time that it shows is about right.
        self.assertNotIn("left", drawn[0])
        foretold = [line for line in drawn if "left" in line]
        self.assertTrue(foretold)
        for line in foretold:
            self.assertLess(int(re.search(r"(\d+):\d\d left", line)[1]), 10)

    def test_the_line_is_always_the_last(self):
        shown, _ = self.batch("-v").end()
        for end in (m.end() for m in DRAWN.finditer(shown)):
            lines = picture(shown[:end])
            self.assertRegex(lines[-1], rf"^\d+/{COUNT} ")
            self.assertFalse([line for line in lines[:-1] if re.search(rf"\d+/{COUNT}", line)])

    def test_narrow_and_resized_windows(self):
        screen = self.batch(columns=100)
        self.assertTrue(wait_for(lambda: " left\033[K" in screen.read()))
        screen.resize(24, 30)
        before = len(screen.read())
        shown, _ = screen.end()
        self.assertLessEqual(max(map(len, DRAWN.findall(shown[:before]))), 99)
        self.assertGreater(max(map(len, DRAWN.findall(shown[:before]))), 30)
        # One more line of the old width may have been written before the terminal was resized.
        self.assertLess(max(map(len, DRAWN.findall(shown[before:])[2:])), 30)
        self.left(shown)

    def test_interrupted(self):
        screen = self.batch()
        self.assertTrue(wait_for(lambda: re.search(rf"\b[2-6]\d/{COUNT}", screen.read())))
        screen.press(b"\x03")
        shown, code = screen.end()
        self.assertEqual(code, 4)
        lines = picture(shown)
        self.assertEqual(lines[-1], "")
        self.assertRegex(lines[-2], r"^\d+ cases: \d+ passed, 1 failed; \d+ not run; ")
        self.assertTrue(lines[-3].startswith("FAILED cases/t01.json: "))
        self.assertFalse([line for line in lines if re.search(rf"\d+/{COUNT} ", line)], lines)

    def test_without_colours(self):
        shown, _ = self.batch(NO_COLOR="1").end()
        self.assertTrue(DRAWN.findall(shown))
        self.assertNotRegex(shown, "\033\\[[0-9;]*m")
        self.left(shown)
        self.assertIn("\033[31mFAILED\033[0m cases/t01.json: ", self.batch().end()[0])

    def test_a_dumb_terminal_gets_lines(self):
        for term in ("dumb", "", None):
            shown, _ = self.batch(TERM=term).end()
            self.assertNotIn("\033", shown)
            self.left(shown)
        self.left(self.batch("-v", TERM="dumb").end()[0], passed_shown=True)

    def test_quiet(self):
        shown, _ = self.batch("-q").end()
        lines = picture(shown)
        self.assertEqual([line[:16] for line in lines], ["FAILED cases/t01", lines[1][:16], ""])
        self.assertTrue(lines[1].startswith(f"{COUNT} cases: "))
        self.assertFalse(DRAWN.findall(shown))

    def test_no_progress_in_pipes_and_files(self):
        for options in (("--json",), ("--tap",), ("--junit", "-")):
            self.assertNotIn("\033", self.batch(*options).end()[0])
        environment = dict(self.environment(), TERM="xterm")
        result = self.ctl("batch", "cases", *SLOW, code=1)
        self.assertRegex(result.out, rf"^FAILED cases/t01.json: .*\n{COUNT} cases: .*\n$")
        self.assertEqual(result.err, "")
        screen = self.batch(streams={"stdout": subprocess.PIPE}, **environment)
        out = screen.process.stdout.read()
        screen.process.stdout.close()
        self.assertEqual(screen.end()[0], "")
        self.assertNotIn(b"\033", out)

    def test_progress_on_standard_error_with_results_in_a_file(self):
        for options in (("--json",), ("--tap",), ()):
            with open(self.path("out"), "wb") as out:
                shown, _ = self.batch(*options, streams={"stdout": out}).end()
            self.assertTrue(DRAWN.findall(shown))
            self.assertEqual(picture(shown), [""])
            self.assertNotIn(b"\033", self.read("out"))
            os.unlink(self.path("out"))

    def test_short_batches_show_no_progress(self):
        self.write("one.json", mov("cases/in.npy", expect={"file": "cases/in.npy"}))
        shown, code = Screen(self, "batch", "one.json").end()
        self.assertEqual(code, 0)
        self.assertRegex("\n".join(picture(shown)), r"^1 case: 1 passed; .*\n$")
        shown, code = Screen(self, "batch", "-v", "one.json").end()
        self.assertRegex("\n".join(picture(shown)), r"^passed one.json, .*\n1 case: 1 passed; .*\n$")


if __name__ == "__main__":
    main()
