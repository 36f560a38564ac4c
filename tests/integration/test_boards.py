# SPDX-License-Identifier: BSD-3-Clause
"""mlictl explain --profile: places, descriptors, costs and remarks of a move on a board."""
import itertools
import json

from harness import SOURCE, Case, main, npy, ramp

PROFILES = sorted(path.stem for path in (SOURCE / "conf/profiles").glob("*.json"))


class Boards(Case):
    def setUp(self):
        super().setUp()
        self.write("in.npy", npy("|i1", (12, 10, 8), ramp(960)))

    def job(self, **more):
        job = {"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": "out.npy"}}
        for key, value in more.items():
            job[key] = dict(job[key], **value) if key in ("src", "dst") else value
        self.write("job.json", json.dumps(job).encode())
        return "job.json"

    def board(self, profile, *options, **more):
        result = self.ctl("explain", "--json", "--no-memcpy", "--profile", profile, *options,
                          self.job(**more), code=0)
        return json.loads(result.out.splitlines()[0])["board"]

    @staticmethod
    def bytes_of(entry):
        bytes_ = entry["run"]
        for loop in entry["loops"]:
            bytes_ *= loop["count"]
        return bytes_

    def test_lists_move_every_byte_on_every_board(self):
        moves = [{}, {"cfg": {"perm_dim": [2, 0, 1]}},
                 {"cfg": {"padding_pre": [1, 1, 0], "padding_post": [1, 1, 0]}},
                 {"cfg": {"offset": [1, 2, 1], "size": [9, 7, 5], "sub_sample_step": [1, 2, 1]}}]
        for profile, move in itertools.product(PROFILES, moves):
            board = self.board(profile, "--descriptors", "100000", **move)
            entries = [entry for part in board["lists"] for entry in part]
            written = board["cost"]["written"]["bytes"]
            place = board["dst"]
            base = int(place["address"], 16)
            touched = bytearray(place["bytes"])
            for entry in entries:
                at = [0]
                for loop in entry["loops"]:
                    at = [a + i * loop["dst_step"] for a in at for i in range(loop["count"])]
                for a in at:
                    for i in range(entry["run"]):
                        touched[int(entry["dst"], 16) + a + i - base] += 1
            self.assertEqual(sum(touched), written, f"{profile} {move}")
            self.assertLessEqual(max(touched), 1, f"{profile} {move}")
            movers = [entry["mover"] for entry in entries]
            self.assertEqual(movers.count("controller"), board["descriptors"])
            self.assertEqual(movers.count("core"), board["core_pieces"])
            self.assertLessEqual(board["least"], board["descriptors"])

    def test_costs_add_up(self):
        for profile in PROFILES:
            cost = self.board(profile)["cost"]
            part = {key: float(value) for key, value in cost["parts"].items()}
            total = sum(part.values()) - min(part["read"], part["written"])
            self.assertAlmostEqual(float(cost["cycles"]), total, places=3, msg=profile)
            self.assertIn(cost["dominant"], part)

    def test_by_hand_on_vpx5(self):
        """960 contiguous bytes from DDR to VCCM: 60 beats of 16 B, 4 bursts of 256 B."""
        board = self.board("vpx5-nsim", dst={"memory": "vccm"})
        self.assertEqual(board["src"], {"memory": "ddr", "address": "0x10000000", "bytes": 960})
        self.assertEqual(board["dst"], {"memory": "vccm", "address": "0x90000000", "bytes": 960})
        self.assertEqual((board["descriptors"], board["least"]), (1, 1))
        self.assertEqual(board["cost"]["parts"],
                         {"start": "200", "descriptors": "32", "rows": "4", "conflicts": "0",
                          "read": "192", "written": "92", "core": "0", "finish": "100"})
        self.assertEqual(board["cost"]["cycles"], "528")
        self.assertEqual(board["cost"]["ns"], 528)
        self.assertEqual(board["cost"]["memcpy_cycles"], "140")
        self.assertEqual(board["remarks"], [])

    def test_remarks(self):
        odd = self.board("vpx5-nsim", cfg={"size": [0, 0, 5]}, dst={"memory": "vccm"})
        self.assertEqual([remark["rule"] for remark in odd["remarks"]], ["even-address"])
        self.write("in.npy", npy("|i1", (8, 64), ramp(512)))
        banks = self.board("vpx5-nsim", cfg={"size": [0, 32]}, src={"memory": "vccm"})
        self.assertEqual([remark["rule"] for remark in banks["remarks"]], ["bank-conflict"])
        self.assertEqual(banks["cost"]["read"]["conflicts"], 7)

    def test_text(self):
        shown = self.ctl("explain", "--no-picture", "--no-memcpy", "--profile", "vpx5-nsim",
                         self.job(dst={"memory": "vccm"}), code=0).out
        for part in ("on vpx5-nsim", "vccm  0x90000000", "in all", "528", "at least 1 are needed"):
            self.assertIn(part, shown)
        self.assertNotIn("vpx5", self.ctl("explain", "--no-memcpy", "job.json", code=0).out)

    def test_timeline(self):
        """Two jobs at the same time on two channels, and one after the first."""
        jobs = [{"op": "mov", "name": name, "src": {"file": "in.npy"}, "dst": {"file": f"{name}.npy"}}
                for name in "abc"]
        jobs[2]["after"] = ["a"]
        self.write("jobs.json", json.dumps(jobs).encode())
        lines = self.ctl("explain", "--json", "--no-memcpy", "--profile", "zynq7000-pl330", "--trace",
                         "trace.json", "jobs.json", code=0).out.splitlines()
        costs = [json.loads(line)["board"]["cost"]["ns"] for line in lines[:-1]]
        total = json.loads(lines[-1])["timeline"]
        self.assertEqual((total["jobs"], len(costs)), (3, 3))
        self.assertAlmostEqual(total["sum_ns"], sum(costs), delta=3)
        self.assertAlmostEqual(total["ns"], costs[0] + costs[2], delta=3)
        self.assertAlmostEqual(total["busy_ns"][1], costs[1], delta=3)
        events = json.loads((self.dir / "trace.json").read_text())
        transfers = {event["name"]: event for event in events if event.get("cat") == "transfer"}
        self.assertEqual(sorted(transfers), ["a", "b", "c"])
        self.assertEqual(transfers["b"]["ts"], 0)
        self.assertAlmostEqual(transfers["c"]["ts"], transfers["a"]["dur"], delta=0.002)
        self.assertIn("3 jobs on zynq7000-pl330",
                      self.ctl("explain", "--no-memcpy", "--no-picture", "--profile", "zynq7000-pl330",
                               "jobs.json", code=0).out)

    def test_one_job_on_two_channels(self):
        """The trace has the job on each of its channels, and the next job after both."""
        jobs = [{"op": "mov", "name": "wide", "channels": 2, "src": {"file": "in.npy"},
                 "dst": {"file": "wide.npy"}},
                {"op": "mov", "name": "next", "src": {"file": "in.npy"}, "dst": {"file": "next.npy"}}]
        self.write("jobs.json", json.dumps(jobs).encode())
        profile = json.loads((SOURCE / "conf/profiles/zynq7000-pl330.json").read_text())
        profile["dma"]["channels"] = 2
        self.write("two.json", json.dumps(profile).encode())
        lines = self.ctl("explain", "--json", "--no-memcpy", "--profile", "./two.json", "--trace",
                         "trace.json", "jobs.json", code=0).out.splitlines()
        wide = json.loads(lines[0])["board"]
        self.assertEqual(wide["channels"], 2)
        busy = json.loads(lines[-1])["timeline"]["busy_ns"]
        self.assertEqual(len(busy), 2)
        self.assertAlmostEqual(busy[1], wide["cost"]["ns"], delta=2)
        events = json.loads((self.dir / "trace.json").read_text())
        parts = [event for event in events
                 if event.get("cat") == "transfer" and event["name"] == "wide"]
        self.assertEqual(len(parts), 2)
        self.assertEqual(len({event["tid"] for event in parts}), 2)
        self.assertEqual({(event["ts"], event["dur"]) for event in parts},
                         {(0, parts[0]["dur"])})
        after = next(event for event in events
                     if event.get("cat") == "transfer" and event["name"] == "next")
        self.assertAlmostEqual(after["ts"], parts[0]["dur"], delta=0.002)

    def test_trace_replaces_traces_only(self):
        options = ("explain", "--no-memcpy", "--profile", "vpx5-nsim", "--trace")
        self.ctl(*options, "t.json", self.job(), code=0)
        self.ctl(*options, "t.json", "job.json", code=0)
        before = (self.dir / "in.npy").read_bytes()
        self.assertIn("is not a trace", self.ctl(*options, "in.npy", "job.json", code=2).err)
        self.assertEqual((self.dir / "in.npy").read_bytes(), before)
        self.assertIn("requires --profile", self.ctl("explain", "--trace", "t", "job.json", code=2).err)

    def test_rules(self):
        """A permute outside the vector memory is explained, and then refused."""
        move = {"op": "permute", "cfg": {"perm_dim": [2, 0, 1]}}
        lines = self.ctl("explain", "--json", "--profile", "vpx5-nsim", self.job(**move),
                         code=2).out.splitlines()
        self.assertEqual(json.loads(lines[0])["board"]["profile"], "vpx5-nsim")
        error = json.loads(lines[1])["error"]
        self.assertEqual(error["pointer"], "/src/memory")
        self.assertIn("(rule vector-memory)", error["message"])
        vccm = {"memory": "vccm"}
        self.board("vpx5-nsim", src=vccm, dst=vccm, **move)

    def test_bad_input(self):
        def refused(pointer, *words, profile="vpx5-nsim", **more):
            result = self.ctl("explain", "--json", "--profile", profile, self.job(**more), code=2)
            error = json.loads(result.out.splitlines()[0])["error"]
            self.assertEqual(error.get("pointer"), pointer)
            for word in words:
                self.assertIn(word, error["message"])

        refused("/dst/memory", "vccn", "did you mean", dst={"memory": "vccn"})
        refused("/src/memory", 'profile "vpx5-nsim" has no memory "sram"', src={"memory": "sram"})
        self.write("in.npy", npy("|i1", (3, 100000), ramp(300000)))
        refused("/dst/memory", "300000 B", "262144 B", "capacity", dst={"memory": "vccm"})
        self.write("in.npy", npy("|i1", (2, 100000), ramp(200000)))
        refused("/dst/memory", "src has 200000 B and dst 200000 B", "capacity", dst={"memory": "vccm"},
                src={"memory": "vccm"})
        self.assertIn("known profiles", self.ctl("explain", "--profile", "vpx", "job.json",
                                                 code=2).err)


if __name__ == "__main__":
    main()
