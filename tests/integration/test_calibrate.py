# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl calibrate: it measures an engine and writes a valid profile, with which explain predicts times."""
import json
import re
import signal

from harness import PATIENCE, PERCENT, SOURCE, Case, await_handler, main, npy, ramp

try:
    import jsonschema
except ImportError:
    jsonschema = None

QUICK = ("--seconds", "1", "--seed", "7")


class Calibrate(Case):
    def calibrate(self, *arguments, code=0):
        return self.ctl("calibrate", *QUICK, *arguments, code=code)

    def job(self, **more):
        self.write("in.npy", npy("|i1", (12, 10, 8), ramp(960)))
        job = {"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"}, **more}
        self.write("job.json", json.dumps(job).encode())
        return "job.json"

    def board(self, *options):
        out = self.ctl("explain", "--json", "--no-memcpy", *options, self.job(), code=0).out
        return json.loads(out.splitlines()[0])["board"]

    def test_processor(self):
        fact = self.calibrate("--json", "-o", "host.json", "--check", "50").json[-1]
        self.assertEqual((fact["engine"], fact["seed"], fact["output"]), ("inline", 7, "host.json"))
        self.assertGreaterEqual(fact["moves"], 250)
        checked = fact["check"]["moves"]  # others are left out on a busy machine
        self.assertTrue(0 < checked <= 50, fact)
        self.assertLess(float(fact["check"]["median_error"]), 1)
        self.assertEqual(sum(kind["moves"] for kind in fact["kinds"].values()), checked)
        self.assertEqual(sum(one["moves"] for one in fact["classes"].values()), checked)
        self.ctl("profile", "check", "host.json", code=0)
        profile = json.loads((self.dir / "host.json").read_text())
        self.assertIn("measured on inline, ", profile["sources"]["/costs/measured"])
        self.assertIn(f"; {checked} other moves: median error ", profile["sources"]["/costs/measured"])
        self.assertEqual(set(profile["costs"]), {"measured"})
        if jsonschema:
            schema = json.loads((SOURCE / "conf/profile.schema.json").read_text())
            jsonschema.Draft202012Validator(schema).validate(profile)
        cost = self.board("--profile", "host.json")["cost"]
        self.assertEqual(cost["class"], "row")
        self.assertTrue(10 < cost["ns"] < 1e6, cost)
        self.assertLess(abs(sum(float(part) for part in cost["parts"].values())
                            - float(cost["cycles"])), 0.001)
        text = self.ctl("explain", "--profile", "host.json", self.job(cfg={"perm_dim": [2, 0, 1]}),
                        code=0).out
        self.assertIn("the move is of class transpose-1, by measured costs", text)
        self.assertIn("long-rows  ", self.ctl("profile", "show", "host.json", code=0).out)

        self.calibrate("-o", "again.json", "--check", "0", "--profile", "host.json")
        self.ctl("profile", "check", "again.json", code=0)
        sources = json.loads((self.dir / "again.json").read_text())["sources"]
        self.assertNotIn("/costs", sources)

    def test_controller(self):
        # A check that runs to its time limit takes as long as the measurement: minutes with sanitizers.
        result = self.calibrate("-e", "mock", "-o", "mock.json", "--check", "1000000" if PERCENT == 100 else "50")
        self.assertRegex(result.out, r"^seed 7\nmock: \d+ moves in ")
        # The check ends at its time limit, long before its million moves.
        self.assertLess(int(re.search(r"\n  all +(\d+) ", result.out)[1]), 1000000)
        self.assertRegex(result.out, r"\n +figure +cycles +standard error\n +start +\d")
        profile = json.loads((self.dir / "mock.json").read_text())
        self.assertNotIn("measured", profile["costs"])
        self.assertRegex(profile["sources"]["/costs/row"], r"^measured on mock, .* standard error ")
        self.assertTrue(profile["sources"]["/costs"].startswith("assumed"))
        self.ctl("profile", "check", "mock.json", code=0)
        self.assertGreater(self.board("--profile", "mock.json")["cost"]["ns"], 0)


    def test_interrupt(self):
        self.write("kept.json", b"old")
        run = self.start("calibrate", "--seconds", "60", "-o", "kept.json")
        await_handler(run, signal.SIGINT)
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(PATIENCE), 4)
        self.assertEqual((self.dir / "kept.json").read_bytes(), b"old")
        self.assertEqual(set(self.listing()), {"kept.json"})

    def test_wrong_usage(self):
        for arguments, message in (
                (("-e", "inlin"), "did you mean inline?"),
                (("--profile", "hosts"), 'profile "hosts" is not known'),
                (("--seconds", "0"), "--seconds"),
                (("--check", "-1"), "--check"),
                (("-o", "none/x.json"), "none"),
                (("extra",), "usage: mlictl calibrate"),
                (("--kernels", "--engine", "inline"), "--engine cannot be combined with --kernels")):
            result = self.ctl("calibrate", *arguments)
            self.assertEqual(result.code, 2 if "none/" not in arguments[-1] else result.code, result)
            self.assertNotEqual(result.code, 0)
            self.assertIn(message, result.err)
        self.assertEqual(self.listing(), {})

    def test_small_memories(self):
        document = json.loads((SOURCE / "conf/profiles/host.json").read_text())
        document["memories"][0]["size"] = 8192
        self.write("small.json", json.dumps(document).encode())
        self.assertIn("at least 16384 B are required",
                      self.calibrate("--profile", "small.json", code=2).err)


if __name__ == "__main__":
    main()
