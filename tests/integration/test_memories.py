# SPDX-License-Identifier: BSD-3-Clause
"""Tests --profile: jobs in the memories of a board, with mlid and without it."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from harness import MLID, SOURCE, Case, main, mov, npy, ramp

STRICT = ("--profile", "vpx5-nsim")
SHAPE = (3, 4, 5)


def permute(src="vccm", dst="vccm", **more):
    """Returns a job that transposes in.npy to out.npy. If a memory is None, the job does not name
    a memory."""
    job = mov({"file": "in.npy"}, {"file": "out.npy"}, perm_dim=[2, 0, 1], **more)
    job["op"] = "permute"
    for side, memory in (("src", src), ("dst", dst)):
        if memory:
            job[side]["memory"] = memory
    return job


class Memories(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", SHAPE)
        run = self.root / "run"
        run.mkdir()
        self._daemon = self.start_daemon(run, *STRICT)

    def assert_fault(self, job, name, pointer, *words):
        """Expects the same error of all commands, and no output."""
        self.write("job.json", job)
        for command in ("run", "submit", "validate"):
            options = ("--socket", self.daemon.socket) if command == "submit" else STRICT
            result = self.ctl(command, *options, "--json", "job.json")
            self.assertEqual(result.code, 2, f"{command}: {result}")
            error = result.json[0]["error"]
            self.assertEqual((error["name"], error["pointer"]), (name, pointer), error)
            for word in words:
                self.assertIn(word, error["message"])
        self.assertFalse(self.exists("out.npy"))

    def test_permute(self):
        self.write("job.json", permute())
        wanted = bytes(ramp(60)[i * 20 + j * 5 + k] for k in range(5) for i in range(3) for j in range(4))
        for command in (("run", *STRICT), ("submit", "--socket", self.daemon.socket)):
            self.ctl(*command, "job.json", code=0)
            self.assertEqual(self.read("out.npy"), npy("|i1", (5, 3, 4), wanted))
            os.unlink(self.path("out.npy"))
        self.ctl("validate", *STRICT, "job.json", code=0)

    def test_rules(self):
        self.assert_fault(permute(src=None), "REFUSED", "/src/memory", 'give "memory": "vccm"',
                          "(rule vector-memory)")
        self.assert_fault(permute(dst=None), "REFUSED", "/dst/memory", "(rule vector-memory)")
        self.assert_fault(permute(dst="ddr"), "REFUSED", "/dst/memory", '"ddr" given', "(rule vector-memory)")
        self.write("in.raw", bytes(64))
        raw = {"file": "in.raw", "format": "raw", "offset": 3, "type": "fx16", "shape": [4]}
        self.assert_fault(mov(raw), "REFUSED", "/src/offset", "(rule element-alignment)")

    def test_staged_jobs_have_times_memories_and_remarks(self):
        """A staged job counts as the three steps of which it consists, in explain and in batch."""
        self.write_npy("in.npy", "|i1", (8, 64))
        self.write("staged.json", dict(permute(src=None, dst=None), stage="vccm", cfg={"perm_dim": [0, 1]}))
        total = self.ctl("explain", "--json", "--no-memcpy", *STRICT, "staged.json", code=0).json[-1]["timeline"]
        self.assertEqual([(memory["name"], memory["bytes_max"]) for memory in total["memories"]],
                         [("vccm", 1024), ("ddr", 1024)])
        case = self.ctl("batch", *STRICT, "--keep", "none", "--json", "staged.json", code=0).json[1]
        self.assertEqual(case["predicted_ns"], total["ns"])
        for command in ("validate", "run"):
            result = self.ctl(command, "--json", *STRICT, "staged.json", code=0).json[0]
            self.assertEqual([remark["rule"] for remark in result["remarks"]], ["same-bank"], command)

    def test_a_schedule_that_breaks_a_rule_fails_with_its_name(self):
        """Breaks each rule in the second job of a file, for each command that knows a board."""
        self.write("in.raw", bytes(64))
        self.write_npy("large.npy", "|i1", (512, 513))
        board = json.loads((SOURCE / "conf/profiles/vpx5-nsim.json").read_text())
        board["memories"][1]["reached_by"] = ["core"]
        self.write("board.json", board)
        raw = {"file": "in.raw", "format": "raw", "offset": 3, "type": "fx16", "shape": [4]}
        broken = {"vector-memory": permute(dst="ddr"),
                  "reach": mov({"file": "in.npy", "memory": "dccm"}),
                  "capacity": mov({"file": "large.npy", "memory": "vccm"}),
                  "element-alignment": mov(raw)}
        head = (SOURCE / "target/profile/profile_rules.h").read_text()
        table = head[head.index("define PROFILE_RULE_TABLE"):head.index("enum profile_rule")]
        self.assertEqual(sorted(broken), sorted(re.findall(r'"([a-z-]+)"', table)))
        run = self.root / "run2"
        run.mkdir()
        daemon = self.start_daemon(run, "--profile", self.path("board.json"))
        good = dict(permute(), name="good")
        good["dst"]["file"] = "good.npy"
        for rule, job in broken.items():
            self.write("schedule.json", [good, dict(job, name="bad", after=["good"])])
            for command in (("run",), ("validate",), ("explain", "--no-memcpy", "--no-picture"),
                            ("batch", "--keep", "none"), ("submit", "--socket", daemon.socket)):
                profile = () if command[0] == "submit" else ("--profile", "board.json")
                result = self.ctl(*command, *profile, "schedule.json")
                self.assertEqual(result.code, 1 if command[0] == "batch" else 2, f"{rule} {command}: {result}")
                self.assertIn(f"(rule {rule})", result.out + result.err)

    def test_memories_that_are_too_small(self):
        self.write_npy("in.npy", "|i1", (512, 513))
        self.assert_fault(mov({"file": "in.npy", "memory": "vccm"}), "REFUSED", "/src/memory",
                          "262656 B", "262144 B in all", "(rule capacity)")
        # Each tensor fits alone, but not both together.
        self.write_npy("in.npy", "|i1", (400, 400))
        self.assert_fault(mov({"file": "in.npy", "memory": "vccm"}, {"file": "out.npy", "memory": "vccm"}),
                          "REFUSED", "/dst/memory", "src has 160000 B and dst 160000 B, memory vccm has 262144 B",
                          "(rule capacity)")

    def test_submit_with_a_profile(self):
        """submit --profile requires that the daemon has this profile, and checks the rules before it sends a job."""
        self.write("job.json", permute())
        socket = ("--socket", self.daemon.socket)
        self.ctl("submit", *socket, *STRICT, "job.json", code=0)
        os.unlink(self.path("out.npy"))
        error = self.ctl("submit", *socket, "--profile", "hexagon-v68", "--json", "job.json", code=2).json[0]["error"]
        self.assertIn('"hexagon-v68" given, but the daemon at', error["message"])
        self.assertIn('has the profile "vpx5-nsim"', error["message"])
        self.assertIn("known profiles: ", self.ctl("submit", *socket, "--profile", "vpx", "job.json", code=2).err)
        before = self.ctl("jobs", *socket, "--json", code=0).json
        self.write("job.json", permute(src="ddr"))
        for more in ((), ("--detach",)):
            error = self.ctl("submit", *socket, *STRICT, *more, "--json", "job.json", code=2).json[0]["error"]
            self.assertEqual((error["name"], error["pointer"]), ("REFUSED", "/src/memory"))
        after = self.ctl("jobs", *socket, "--json", code=0).json
        self.assertEqual(before, after)
        plain = self.root / "plain"
        plain.mkdir()
        daemon = self.start_daemon(plain)
        error = self.ctl("submit", "--socket", daemon.socket, *STRICT, "job.json", code=2).err
        self.assertIn("has no target profile", error)
        daemon.stop()

    def test_submit_with_another_version_of_the_profile(self):
        board = json.loads((SOURCE / "conf/profiles/vpx5-nsim.json").read_text())
        self.write("same.json", board)
        board["memories"][0]["size"] = "0x20000"
        self.write("other.json", board)
        self.write("job.json", permute())
        submit = ("submit", "--socket", self.daemon.socket)
        self.ctl(*submit, "--profile", "./same.json", "job.json", code=0)
        error = self.ctl(*submit, "--profile", "./other.json", "job.json", code=2).err
        self.assertIn('has another version of "vpx5-nsim" (digest ', error)

    def test_channels_of_the_board(self):
        """If the configuration has no `channels`, the service has the number of channels of the board."""
        for name, more, channels in (("vpx", (), 1), ("two", ("--channels", "2"), 2)):
            run = self.root / name
            run.mkdir()
            daemon = self.start_daemon(run, *STRICT, *more)
            info = self.ctl("info", "--socket", daemon.socket, "--json", code=0).json[0]["daemon"]
            self.assertEqual(info["channels"], channels)
            daemon.stop()

    def test_unknown_memories(self):
        self.assert_fault(permute("vcm"), "INVALID_PARAMS", "/src/memory", 'did you mean "vccm"?')
        self.assert_fault(permute(dst="sram"), "INVALID_PARAMS", "/dst/memory", "vccm, dccm, ddr")
        self.write("job.json", permute())
        for command in ("run", "validate"):
            error = self.ctl(command, "--json", "job.json", code=2).json[0]["error"]
            self.assertEqual((error["name"], error["pointer"]), ("INVALID_PARAMS", "/src/memory"))
            self.assertIn("--profile", error["message"])

    def test_jobs_without_memories(self):
        """A move that names no memory writes the same bytes with and without a profile."""
        job = mov({"file": "in.npy", "type": "sa8", "axis": 2, "scale": [1, 2, 3, 4, 5], "zero_point": 6,
                   "scale_frac_bits": 7}, perm_dim=[2, 0, 1])
        self.write("job.json", job)
        self.ctl("run", "job.json", code=0)
        plain = self.read("out.npy")
        for command in (("run", *STRICT), ("run", "--profile", "host"), ("submit", "--socket", self.daemon.socket)):
            os.unlink(self.path("out.npy"))
            self.ctl(*command, "job.json", code=0)
            self.assertEqual(self.read("out.npy"), plain)

    def test_cases_of_a_batch_share_the_board(self):
        """Cases that fit only one at a time run one after another."""
        self.write_npy("in.npy", "|i1", (260000,))
        for i in range(12):
            self.write(f"cases/{i}.json", mov({"file": "../in.npy", "memory": "vccm"}, f"{i}.npy"))
        result = self.ctl("batch", *STRICT, "cases", code=0)
        self.assertIn("12 cases: 12 ran, compare nothing", result.out)

    def test_batch(self):
        self.write("good.json", permute())
        self.write("bad.json", dict(permute(src=None), dst={"file": "bad.npy", "memory": "vccm"}))
        wanted = dict(permute(src=None), dst={"file": "wanted.npy", "memory": "vccm"},
                      expect={"error": "REFUSED"})
        self.write("wanted.json", wanted)
        result = self.ctl("batch", *STRICT, "--keep", "none", "good.json", "wanted.json")
        self.assertEqual(result.code, 0, result)
        result = self.ctl("batch", *STRICT, "--keep", "none", "bad.json")
        self.assertIn("rule vector-memory", result.out + result.err)
        result = self.ctl("batch", *STRICT, "--socket", self.daemon.socket, "good.json", code=2)
        self.assertIn("--profile", result.err)

    def test_batch_predicts_times(self):
        """All reports give the time that explain predicts for a case; refused cases have no time."""
        self.write("good.json", permute())
        self.write("bad.json", dict(permute(src=None), dst={"file": "bad.npy", "memory": "vccm"}))
        explained = self.ctl("explain", "--json", "--no-memcpy", *STRICT, "good.json", code=0)
        wanted = explained.json[-1]["timeline"]["ns"]
        command = ("batch", *STRICT, "--keep", "none", "--resume", "state")
        events = self.ctl(*command, "--json", "--junit", "junit.xml", "good.json", "bad.json", code=1).json
        cases = {event["name"]: event for event in events if event["event"] == "case"}
        self.assertEqual(cases["good"]["predicted_ns"], wanted)
        self.assertGreater(cases["good"]["transfers_ns"], 0)
        self.assertNotIn("predicted_ns", cases["bad"])
        end = events[-1]
        self.assertEqual((end["predicted"], end["predicted_ns"]), (1, wanted))
        self.assertEqual(end["transfers_ns"], cases["good"]["transfers_ns"])
        self.assertIn(f'<property name="predicted_ns" value="{wanted}"/>', (self.dir / "junit.xml").read_text())
        if shutil.which("xmllint"):
            schema = pathlib.Path(__file__).with_name("junit.xsd")
            subprocess.run(["xmllint", "--noout", "--schema", schema, self.dir / "junit.xml"],
                           stderr=subprocess.DEVNULL, check=True)
        again = self.ctl(*command, "--json", "good.json", "bad.json", code=1).json
        self.assertEqual(again[-1]["predicted_ns"], wanted)
        self.assertIn("predicted for the board", self.ctl(*command, "good.json", code=0).out)
        self.assertIn(f"# predicted_ns {wanted}", self.ctl(*command, "--tap", "-", "good.json", code=0).out)
        plain = self.ctl("batch", "--keep", "none", "--json", "plain.json")
        self.assertNotIn("predicted", plain.out)

    def test_resume_sees_a_changed_profile(self):
        board = json.loads((SOURCE / "conf/profiles/vpx5-nsim.json").read_text())
        self.write("board.json", board)
        self.write("good.json", permute())
        command = ("batch", "--profile", "board.json", "--keep", "none", "--resume", "state", "good.json")
        self.ctl(*command, code=0)
        self.assertIn("1 reused", self.ctl(*command, "--verbose", code=0).out)
        board["memories"][0].update(size="0x40")
        self.write("board.json", board)
        result = self.ctl(*command, code=1)
        self.assertIn("rule capacity", result.out + result.err)

    def test_every_built_in_board(self):
        """In each memory of each board, a move works if the DMA controller can access the memory."""
        moved = 0
        for path in sorted((SOURCE / "conf/profiles").glob("*.json")):
            for memory in json.loads(path.read_text())["memories"]:
                name = memory["name"]
                self.write("job.json", mov({"file": "in.npy", "memory": name}, {"file": "out.npy", "memory": name}))
                result = self.ctl("run", "--profile", path.stem, "job.json")
                reached = "dma" in memory.get("reached_by", ["core", "dma"])
                self.assertEqual(result.code, 0 if reached else 2, f"{path.stem} {name}: {result}")
                self.assertEqual("(rule reach)" in result.err, not reached, result)
                moved += reached
        self.assertGreater(moved, 3)

    def test_profiles_that_cannot_be_loaded(self):
        self.write("job.json", permute())
        self.write("board.json", '{"name": 3}')
        for name, words in (("vpx", "known profiles: "), ("./none.json", "No such file"),
                            ("board.json", "board.json: name: "), ("", "empty"), ("x" * 300, "")):
            for command in ("run", "validate", "batch"):
                result = self.ctl(command, "--profile", name, "job.json")
                self.assertEqual(result.code, 2, f"{command} {name}: {result}")
                self.assertIn(words, result.err)
            if name:
                result = subprocess.run([MLID, "--check", "--profile", name], cwd=self.dir, check=False,
                                        capture_output=True, text=True)
                self.assertEqual(result.returncode, 2, result)
                self.assertIn(words, result.stderr)

    def test_stats(self):
        shown = self.ctl("stats", "--socket", self.daemon.socket, code=0).out
        self.assertIn("board     vccm: 0 B of 256 KiB used by 0 ranges, largest free range 256 KiB\n", shown)
        shown = self.ctl("stats", "--prometheus", "--socket", self.daemon.socket, code=0).out
        self.assertIn('mlid_board_memory_bytes{memory="vccm"} 262144\n', shown)
        self.assertIn('mlid_board_memory_used_bytes{memory="vccm"} 0\n', shown)
        shown = self.ctl("stats", "--json", "--socket", self.daemon.socket, code=0).json[0]
        self.assertEqual([memory["name"] for memory in shown["memories"]], ["vccm", "dccm", "ddr"])

    def test_info(self):
        self.assertIn("profile   vpx5-nsim", self.ctl("info", "--socket", self.daemon.socket, code=0).out)
        info = self.ctl("info", "--socket", self.daemon.socket, "--json", code=0).json[0]
        self.assertEqual(info["daemon"]["profile"], "vpx5-nsim")
        self.assertRegex(info["daemon"]["profile_digest"], "^[0-9a-f]{16}$")
        self.assertIn('profile="vpx5-nsim"', self.daemon.text())


if __name__ == "__main__":
    main()
