# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl selftest: engines without faults pass, every kind of fault is found, and failures can be repeated."""
import json
import signal
import time

from harness import Case, cpu_ticks, main, wait_for

FEW = ("--iterations", "40")
COUNTERS = ("submitted", "completed", "failed", "cancelled", "bytes", "rows", "busy_ns",
            "queue_high_water")


class Selftest(Case):
    def selftest(self, *arguments, code=None):
        return self.ctl("selftest", *arguments, code=code)

    def one(self, engine, *arguments, code):
        """Returns the object of one engine."""
        result = self.selftest("--engine", engine, "--json", *arguments, code=code)
        self.assertEqual(len(result.json), 1, str(result))
        return result.json[0]

    def caught(self, engine, *arguments, kind):
        """Returns the JSON object of an engine that must fail. Expects that the first failed case
        has this kind of failure."""
        fact = self.one(engine, *arguments, code=1)
        self.assertGreater(fact["failures"], 0)
        self.assertEqual(fact["first_failures"][0]["kind"], kind, fact)
        return fact

    def engines(self):
        """Returns the names of all engines that selftest can test on this machine."""
        facts = self.selftest("--iterations", "1", "--json", code=0).json
        return sorted({f["engine"] for f in facts if "skipped" not in f
                       and not f["engine"].startswith("fault") and ":" not in f["engine"]})


class Sound(Selftest):
    def test_every_engine_passes(self):
        facts = self.selftest(*FEW, "--seed", "1", "--json", code=0).json
        skipped = [fact["engine"] for fact in facts if "skipped" in fact]
        self.assertEqual(len(skipped), len(set(skipped)), "an engine is skipped twice")
        facts = [fact for fact in facts if "skipped" not in fact]
        names = [fact["engine"] for fact in facts]
        for engine in ("threads", "threads:tiny=0", "inline", "mock", "mock:tiny=0"):
            self.assertIn(engine, names)
        for engine in ("threads", "inline", "mock"):
            self.assertTrue(any(n.startswith(f"fault:{engine},") for n in names), names)
        for fact in facts:
            self.assertEqual((fact["cases"], fact["failures"], fact["seed"]), (40, 0, 1), fact)
            self.assertEqual(fact["first_failures"], [])
            self.assertEqual(fact["bytes"], facts[0]["bytes"], "not the same cases")
            for channel in fact["channels"]:
                self.assertEqual(tuple(channel), COUNTERS)
                self.assertEqual(channel["submitted"], channel["completed"])
        self.assertEqual(self.listing(), {})

    def test_text(self):
        out = self.selftest("--iterations", "9", "--seed", "7", code=0).out
        self.assertRegex(out, r"^seed 7\n")
        self.assertRegex(out, r"\ninline: 9 cases, [\d.]+ \w+ at [\d.]+ \w+/s, 0 failures\n")
        self.assertNotIn("submitted", out)
        out = self.selftest("--iterations", "1", "--engine", "inline", code=0).out
        self.assertRegex(out, r"\n +channel +submitted +completed +failed +cancelled +written")
        self.assertRegex(out, r"\n +3 +\d+ +\d+ +0 +0 +\d")
        self.assertRegex(out, r"^seed \d+\ninline: 1 case, ")
        self.assertEqual(self.selftest("--iterations", "9", "--quiet", code=0).out, "")

    def test_modes(self):
        for mode in ("poll", "callback", "wait", "sync", "mixed"):
            for engine in ("threads:tiny=0", "mock"):
                fact = self.one(engine, *FEW, "--mode", mode, "--channels", "2", code=0)
                moved = sum(channel["submitted"] for channel in fact["channels"])
                self.assertEqual((fact["cases"], len(fact["channels"])), (40, 2))
                self.assertTrue(moved >= 40 or mode in ("sync", "mixed"), fact)

    def test_many_transfers_and_single_ones(self):
        for channels, threads in (("1", "6"), ("16", "1"), ("3", "16")):
            fact = self.one("threads:tiny=0", *FEW, "--channels", channels, "--threads", threads,
                            code=0)
            self.assertEqual((fact["cases"], len(fact["channels"])), (40, int(channels)))

    def test_small_and_large(self):
        small = self.one("inline", *FEW, "--seed", "3", "--max-bytes", "64", code=0)
        self.assertLess(small["bytes"], 40 * 3 * 64 + 1)
        self.one("inline", "-n2", "--seed", "3", "--max-bytes", "268435456", code=0)

    def test_seconds(self):
        begin = time.monotonic()
        fact = self.one("threads", "--seconds", "1", code=0)
        self.assertGreater(time.monotonic() - begin, 0.9)
        self.assertGreater(fact["cases"], 0)

    def test_seeds_differ_by_default(self):
        seeds = {self.one("inline", "--only", "0", code=0)["seed"] for _ in range(3)}
        self.assertGreater(len(seeds), 1)


class Caught(Selftest):
    def test_corruption_in_each_kind_of_engine(self):
        for engine in self.engines():
            fact = self.caught(f"fault:{engine},corrupt_pct=20", *FEW, "--seed", "2",
                               "--mode", "poll", kind="mismatch")
            mismatch = fact["first_failures"][0]["mismatch"]
            flipped = mismatch["expected"] ^ mismatch["found"]
            self.assertEqual(bin(flipped).count("1"), 1, mismatch)
            self.assertEqual((mismatch["tensor"], fact["stuck"]), ("dst", 0))
        self.caught("fault:threads,corrupt_pct=5", "--iterations", "200", "--seed", "2", kind="mismatch")

    def test_errors(self):
        for engine in self.engines():
            fact = self.caught(f"fault:{engine},fail_pct=20", *FEW, "--seed", "2", kind="error")
            self.assertIn("MLI_STATUS_DMA_ERROR", fact["first_failures"][0]["message"])
            self.assertGreater(sum(channel["failed"] for channel in fact["channels"]), 0)

    def test_stuck_transfers(self):
        modes = ("poll", "callback", "wait")
        for i, engine in enumerate(self.engines()):
            fact = self.caught(f"fault:{engine},stick=3", *FEW, "--timeout", "700ms", "--mode",
                               modes[i % len(modes)], kind="stuck")
            self.assertIn("700 ms", fact["first_failures"][0]["message"])
            self.assertEqual((fact["cases"], fact["failures"], fact["stuck"]), (40, 1, 1))
            self.assertGreater(sum(c["cancelled"] for c in fact["channels"]), 0)

    def test_many_stuck_transfers_end_a_round(self):
        begin = time.monotonic()
        fact = self.caught("fault:threads,stick_pct=100", "--timeout", "150ms", "--mode", "wait",
                           kind="stuck")
        self.assertLess(fact["cases"], 20)
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_stuck_synchronous_move(self):
        fact = self.caught("fault:mock,stick=1,tiny=0", "--timeout", "300ms", "--mode", "sync",
                           "--seed", "4", "--threads", "1", kind="stuck")
        self.assertIn("does not end", fact["first_failures"][0]["message"])

    def test_fail_fast(self):
        fact = self.caught("fault:inline,corrupt_pct=100", "--fail-fast", "--threads", "1",
                           "--mode", "wait", kind="mismatch")
        self.assertEqual((fact["cases"], fact["failures"]), (1, 1))

    def test_the_message_of_a_failure(self):
        result = self.selftest("--engine", "fault:inline,corrupt=1", "--seed", "5", "--only", "0",
                               "--mode", "poll", code=1)
        self.assertRegex(result.err, r"case 0 of seed 5: byte \d+ of the destination, element "
                                     r"\[[\d, ]+\], byte \d of \d: 0x.. expected, 0x.. found")
        again = ("mlictl selftest --seed 5 --only 0 --engine fault:inline,corrupt=1 --mode poll")
        self.assertIn(f"reproduce: {again}\n", result.err)
        self.assertEqual(self.selftest(*again.split()[2:], code=1).err, result.err)
        self.assertIn("as a job, if the fault occurs again: "
                      "mlictl run --engine fault:inline,corrupt=1 selftest-5-0/job.json\n",
                      result.err)

    def test_only_repeats_a_case(self):
        fact = self.caught("fault:inline,corrupt=5", "--seed", "5", "--only", "0", "--iterations", "9",
                           "--threads", "1", "--channels", "1", "--mode", "poll", kind="mismatch")
        self.assertEqual((fact["cases"], fact["failures"]), (9, 1))


class Reproduced(Selftest):
    def reproduce(self, index, *arguments):
        """Makes case number `index` fail, and returns the job file that selftest writes for it."""
        engine = "fault:inline,corrupt=1"
        fact = self.caught(engine, "--seed", "6", "--only", str(index), "--channels", "1",
                           "--mode", "wait", *arguments, kind="mismatch")
        return fact["job"]

    def test_reproduced_jobs_fail_only_on_faulty_engines(self):
        for index in range(6):
            job = self.reproduce(index)
            self.assertEqual(job, f"selftest-6-{index}/job.json")
            self.ctl("validate", job, code=0)
            for engine in ("inline", "threads:tiny=0", "mock:tiny=0"):
                self.ctl("run", "--engine", engine, job, code=0)
            # The first work item restores the destination; the second work item is the case itself.
            result = self.ctl("run", "-e", "fault:inline,corrupt=2", "--json", job, code=1)
            self.assertEqual([fact["state"] for fact in result.json],
                             ["done", "mismatch", "skipped"])
            self.ctl("run", "-e", "fault:inline,fail=2", job, code=1)
            self.ctl("run", job, code=0)

    def test_gaps_and_guards_are_compared(self):
        for index in range(6):
            job = self.reproduce(index)
            directory = job.rpartition("/")[0]
            expected = bytearray(self.read(directory + "/expect.raw"))
            kept = [i for i, byte in enumerate(expected) if 0x40 < byte < 0x80]
            if not kept:
                continue
            expected[kept[-1]] ^= 1
            self.write(directory + "/expect.raw", bytes(expected))
            facts = self.ctl("run", "--json", job, code=1).json
            self.assertEqual([fact["state"] for fact in facts], ["done", "mismatch", "skipped"])

    def test_keep(self):
        self.assertEqual(self.reproduce(0, "--keep", "here"), "here/job.json")
        self.assertEqual(sorted(self.listing()), ["here", "here/before.raw", "here/expect.raw",
                                                  "here/job.json", "here/src.raw"])
        jobs = json.loads(self.read("here/job.json"))
        self.assertEqual([job["name"] for job in jobs], ["restore", "case-0", "check"])
        self.reproduce(1, "--keep", "here")
        self.ctl("run", "here/job.json", code=0)
        for engine in ("nonesuch", "threads:colour=1", "fault", "x" * 128, ""):
            result = self.ctl("run", "--engine", engine, "here/job.json", code=2)
            self.assertRegex(result.err, r"^mlictl: (--)?engine: ")
        self.write("file", "")
        result = self.selftest("-e", "fault:inline,corrupt=1", "--seed", "6", "--only", "0",
                               "--mode", "wait", "--keep", "file", code=1)
        self.assertIn("file", result.err)


class Usage(Selftest):
    def test_bad_options(self):
        for options in (("--engine", "nonesuch"), ("--engine", "threads:colour=1"),
                        ("--engine", "fault"), ("--engine", ""), ("--channels", "0"),
                        ("--channels", "17"), ("--threads", "0"), ("--threads", "65"),
                        ("--iterations", "0"), ("--seconds", "0"), ("--mode", "hope"),
                        ("--timeout", "0"), ("--max-bytes", "63"), ("--seed", "-1"),
                        ("--only", "x"), ("--iterations", "3", "--seconds", "3"), ("argument",)):
            result = self.selftest(*options, code=2)
            self.assertEqual(result.out, "", options)
            self.assertRegex(result.err, r"^mlictl: ")
        fact = self.selftest("--engine", "nonesuch", "--json", code=2).json[0]
        self.assertEqual(fact["exit"], 2)
        self.assertIn("no engine is called nonesuch", fact["error"]["message"])

    def interrupt(self, *arguments):
        process = self.start("selftest", *arguments)
        self.assertRegex(process.stdout.readline(), rb"^seed \d+\n$")
        self.assertTrue(wait_for(lambda: cpu_ticks(process) > 5))  # it moves tensors
        process.send_signal(signal.SIGINT)
        return self.finish(process, code=4)

    def test_interrupted(self):
        result = self.interrupt("--seconds", "600", "--engine", "threads")
        self.assertIn("cancelled", result.err)
        self.assertRegex(result.out, r"^threads: \d+ cases, .* 0 failures\n")
        self.assertEqual(self.listing(), {})

    def test_interrupted_while_stuck(self):
        self.interrupt("--engine", "fault:threads,stick_pct=100", "--timeout", "1m", "--mode",
                       "poll")
        self.assertEqual(self.listing(), {})


if __name__ == "__main__":
    main()
