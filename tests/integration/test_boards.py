# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl explain --profile: the addresses, descriptors, costs and remarks of a move on a board."""
import itertools
import json
import os
import xml.etree.ElementTree as ElementTree

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
        both = self.board("vpx5-nsim", cfg={"size": [0, 31]}, src={"memory": "vccm"}, dst={"memory": "vccm"})
        self.assertEqual([(remark["rule"], remark["message"][:4]) for remark in both["remarks"]],
                         [("even-address", "dst:"), ("bank-conflict", "src:")])
        # A transpose writes rows of the output's last dimension, not single bytes.
        turned = self.board("vpx5-nsim", cfg={"perm_dim": [1, 0]}, dst={"memory": "vccm"})
        self.assertNotIn("even-address", [remark["rule"] for remark in turned["remarks"]])

    def test_operands_in_one_bank(self):
        """If the operands of a permute are one bank apart, the remark that both are in one bank disappears."""
        def rules(offset):
            self.write("buffers.json", json.dumps({
                "buffers": [{"name": "a", "bytes": 960, "memory": "vccm"},
                            {"name": "b", "bytes": 1024, "memory": "vccm"}],
                "jobs": [{"op": "mov", "name": "load", "src": {"file": "in.npy"}, "dst": {"buffer": "a"}},
                         {"op": "permute", "name": "kernel", "cfg": {"perm_dim": [0, 1, 2]}, "after": ["load"],
                          "src": {"buffer": "a", "type": "fx8", "shape": [12, 10, 8]},
                          "dst": {"buffer": "b", "offset": offset}}]}).encode())
            for command in ("validate", "run"):
                result = self.ctl(command, "--json", "--profile", "vpx5-nsim", "buffers.json", code=0)
                found = [remark["rule"] for remark in result.json[1].get("remarks", [])]
                self.assertNotIn("remarks", result.json[0])
                text = self.ctl(command, "--profile", "vpx5-nsim", "buffers.json", code=0).out
                self.assertEqual(text.count("    remark same-bank: 1 of 1 row of src and dst begins"), len(found))
            return found

        self.assertEqual(rules(0), ["same-bank"])
        self.assertEqual(rules(2), [])

    def test_text(self):
        shown = self.ctl("explain", "--no-picture", "--no-memcpy", "--profile", "vpx5-nsim",
                         self.job(dst={"memory": "vccm"}), code=0).out
        for part in ("on vpx5-nsim", "vccm  0x90000000", "in all", "528", "at least 1 are needed"):
            self.assertIn(part, shown)
        self.assertNotIn("vpx5", self.ctl("explain", "--no-memcpy", "job.json", code=0).out)

    def test_timeline(self):
        """Two jobs run at the same time on two channels, and a third job after the first."""
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
        """The trace shows the job on each of its channels, and the next job after all parts of the job."""
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

    def test_parallel_jobs_share_the_bus(self):
        """Two jobs on two channels together take at least the time of the data of both on the bus."""
        self.write("long.bin", bytes(1 << 17))
        jobs = [{"op": "mov", "name": name, "dst": {"file": f"{name}.npy"},
                 "src": {"file": "long.bin", "type": "sa8", "shape": [1 << 16], "offset": at}}
                for at, name in ((0, "first"), (1 << 16, "second"))]
        self.write("jobs.json", json.dumps(jobs).encode())
        for profile in ("zynqmp-zdma", "zynq7000-pl330", "hexagon-v68"):
            lines = self.ctl("explain", "--json", "--no-memcpy", "--profile", profile, "jobs.json",
                             code=0).out.splitlines()
            costs = [json.loads(line)["board"]["cost"] for line in lines[:-1]]
            total = json.loads(lines[-1])["timeline"]
            self.assertEqual([slot["channel"] for slot in total["slots"]], [0, 1])
            self.assertGreaterEqual(float(total["cycles"]), sum(float(cost["bus_cycles"]) for cost in costs))
            self.assertLess(total["ns"], total["sum_ns"])

    def test_a_permute_in_vector_memory_is_a_kernel(self):
        """The core gathers the elements, so there are no descriptors, and the bus transfers no rows of one byte."""
        self.write("in.bin", bytes(32 * 32 * 96))
        job = {"op": "permute", "src": {"file": "in.bin", "type": "sa8", "shape": [32, 32, 96], "memory": "vccm"},
               "cfg": {"perm_dim": [2, 0, 1]}, "dst": {"file": "out.npy", "memory": "vccm"}}
        arguments = ("explain", "--no-memcpy", "--profile", "vpx5-nsim", "job.json")
        self.write("job.json", json.dumps(job).encode())
        board = json.loads(self.ctl(*arguments, "--json", code=0).out.splitlines()[0])["board"]
        self.assertEqual((board["kernel"], board["descriptors"], board["vectors"], board["gathered"]),
                         (True, 0, 1536, 98304))
        self.assertEqual(board["cost"]["cycles"], str(20 + 2 * 1536 + 98304 // 8))
        self.assertIn("a kernel of the core", self.ctl(*arguments, "--no-picture", code=0).out)
        self.write("job.json", json.dumps(dict(job, op="mov")).encode())
        board = json.loads(self.ctl(*arguments, "--json", code=0).out.splitlines()[0])["board"]
        self.assertEqual((board["kernel"], board["descriptors"]), (False, 96))

    def test_jobs_that_do_not_fit_together(self):
        """Two jobs that run at the same time need more memory than there is."""
        self.write("big.bin", bytes(160 * 1024))
        jobs = [{"op": "mov", "name": name, "dst": {"file": f"{name}.npy", "memory": "ocm"},
                 "src": {"file": "big.bin", "type": "sa8", "shape": [160 * 1024]}} for name in "ab"]
        for after, fits in (([], False), (["a"], True)):
            jobs[1]["after"] = after
            self.write("jobs.json", json.dumps(jobs).encode())
            arguments = ("explain", "--no-memcpy", "--profile", "zynqmp-zdma", "jobs.json")
            total = json.loads(self.ctl(*arguments, "--json", code=0).out.splitlines()[-1])["timeline"]
            self.assertEqual(total["fits"], fits)
            self.assertEqual({memory["name"]: memory["fits"] for memory in total["memories"]},
                             {"ddr": True, "ocm": fits})
            text = self.ctl(*arguments, "--no-picture", code=0).out
            self.assertEqual("remark room: jobs that run at the same time need 320 KiB of ocm" in text, not fits)

    def test_sums_that_do_not_fit(self):
        profile = json.loads((SOURCE / "conf/profiles/vpx5-nsim.json").read_text())
        profile["costs"].update(row=10 ** 9, beat=10 ** 9)
        self.write("slow.json", json.dumps(profile).encode())
        self.write("long.bin", bytes(1 << 20))
        self.write("job.json", json.dumps({"op": "mov", "dst": {"file": "out.npy"},
                                           "src": {"file": "long.bin", "type": "sa8", "shape": [1 << 20]}}).encode())
        arguments = ("explain", "--no-memcpy", "--no-picture", "--profile", "./slow.json", "job.json")
        lines = self.ctl(*arguments, "--json", code=0).out.splitlines()
        self.assertTrue(json.loads(lines[0])["board"]["cost"]["saturated"])
        self.assertTrue(json.loads(lines[1])["timeline"]["saturated"])
        self.assertIn(": > 18446744073709 cycles", self.ctl(*arguments, code=0).out)

    def test_each_channel_has_its_descriptors(self):
        """The descriptors of different channels do not overlap, and each refers to the next descriptor of its own
        channel."""
        self.write("rows.bin", bytes(range(256)) * 64)
        self.write("job.json", json.dumps({"op": "mov", "dst": {"file": "out.npy"}, "channels": 4,
                                           "cfg": {"padding_post": [0, 0, 1]},
                                           "src": {"file": "rows.bin", "type": "sa8", "shape": [16, 8, 32]}})
                   .encode())
        for profile in ("zynqmp-zdma", "bcm2835", "hexagon-v68", "zynq7000-pl330"):
            lists = json.loads(self.ctl("explain", "--json", "--no-memcpy", "--descriptors", "1000", "--profile",
                                        profile, "job.json", code=0).out.splitlines()[0])["board"]["lists"]
            self.assertEqual(len(lists), 4)
            spans = [(int(entry["descriptor"]["address"], 16), len(entry["descriptor"]["bytes"]) // 2)
                     for entries in lists for entry in entries if entry["mover"] == "controller"]
            self.assertGreater(len(spans), 4)
            for (begin, size), (after, _) in zip(spans, spans[1:]):
                self.assertGreaterEqual(after, begin + size, profile)

    def test_a_source_at_address_0(self):
        """A copy from address 0 is no fill, in the text and in JSON."""
        self.write("a.bin", bytes(16))
        self.write("job.json", b'{"op": "mov", "src": {"file": "a.bin", "type": "sa8", "shape": [4, 4]}, '
                               b'"cfg": {"padding_post": [1, 0]}, "dst": {"file": "b.npy"}}')
        words = ("explain", "--no-memcpy", "--descriptors", "9", "--profile", "host", "job.json")
        text = self.ctl(*words, code=0).out
        self.assertRegex(text, "B from 0x0 to 0x")
        self.assertEqual(text.count("B of zeros to"), 1)
        entries = [e for part in json.loads(self.ctl(*words, "--json", code=0).out.splitlines()[0])["board"]["lists"]
                   for e in part]
        self.assertEqual([e.get("src") for e in entries], ["0x0", None])

    def test_the_bus_is_the_limit(self):
        """Four channels are limited by the bus: the sum omits parts of the table, and the table
        names the bus as the limit."""
        self.write("long.bin", bytes(1 << 17))
        self.write("job.json", json.dumps({"op": "mov", "dst": {"file": "out.npy"}, "channels": 4,
                                           "src": {"file": "long.bin", "type": "sa8", "shape": [4, 1 << 15]}})
                   .encode())
        arguments = ("explain", "--no-memcpy", "--profile", "zynqmp-zdma", "job.json")
        cost = json.loads(self.ctl(*arguments, "--json", code=0).out.splitlines()[0])["board"]["cost"]
        part = {key: float(value) for key, value in cost["parts"].items()}
        self.assertEqual(cost["limit"], "bus")
        self.assertAlmostEqual(float(cost["cycles"]),
                               part["start"] + max(part["read"], part["written"]) + part["finish"], places=3)
        self.assertIn("the bus is the limit", self.ctl(*arguments, "--no-picture", code=0).out)

    def tiles(self, count):
        """Writes jobs that load, permute and store tiles in the vector memory."""
        jobs = []
        for i in range(count):
            jobs.append({"op": "mov", "name": f"load{i}", "src": {"file": "in.npy"},
                         "dst": {"file": f"l{i}.npy", "memory": "vccm"},
                         "after": [f"permute{i - 2}"] if i > 1 else []})
            jobs.append({"op": "permute", "name": f"permute{i}", "cfg": {"perm_dim": [2, 0, 1]},
                         "src": {"file": f"l{i}.npy", "memory": "vccm"},
                         "dst": {"file": f"p{i}.npy", "memory": "vccm"}, "after": [f"load{i}"]})
            jobs.append({"op": "mov", "name": f"store{i}", "after": [f"permute{i}"],
                         "src": {"file": f"p{i}.npy", "memory": "vccm"}, "dst": {"file": f"s{i}.npy"}})
        self.write("tiles.json", json.dumps(jobs).encode())
        return "tiles.json"

    def test_totals_of_files(self):
        """For several files, explain prints the totals of each file, and of all files one after the other."""
        first, second = self.tiles(2), self.job()
        lines = self.ctl("explain", "--json", "--no-memcpy", "--profile", "vpx5-nsim", first, second,
                         code=0).out.splitlines()
        boards = [json.loads(line)["board"] for line in lines[:-1]]
        total = json.loads(lines[-1])["timeline"]
        files = total["files"]
        self.assertEqual([(file["file"], file["jobs"]) for file in files], [(first, 6), (second, 1)])
        self.assertEqual(total["bytes"], 960 * 7)
        self.assertEqual(files[1]["ns"], boards[6]["cost"]["ns"])
        self.assertEqual(total["ns"], files[0]["ns"] + files[1]["ns"])
        self.assertEqual(total["descriptors"], sum(board["descriptors"] for board in boards))
        self.assertEqual(total["memcpy_ns"], sum(board["cost"]["memcpy_ns"] for board in boards))
        self.assertEqual([memory["name"] for memory in total["memories"]], ["vccm", "ddr"])
        self.assertEqual(total["memories"][0]["bytes_max"], 1920)  # source and destination of a permute
        self.assertEqual([slot["job"] for slot in total["slots"]][:2], ["load0", "permute0"])
        text = self.ctl("explain", "--no-picture", "--no-memcpy", "--profile", "vpx5-nsim", first, second,
                        code=0).out
        for part in ("tiles.json     6", "in all", "vccm: at most 1.88 KiB of 256 KiB in use"):
            self.assertIn(part, text)

    def timeline(self, *options, code=0):
        return self.ctl("explain", "--json", "--no-memcpy", "--profile", "vpx5-nsim", *options,
                        self.tiles(3), code=code)

    def test_drawing(self):
        self.timeline("--timeline", "t.svg")
        drawing = (self.dir / "t.svg").read_text()
        ElementTree.fromstring(drawing)
        for word in (">tiles.json: 9 jobs on vpx5-nsim<", "model of vpx5-nsim", "channel 0", "vccm: at most",
                     ">load<", "store2"):
            self.assertIn(word, drawing)
        before = (self.dir / "in.npy").read_bytes()
        self.assertIn("drawing", self.timeline("--timeline", "in.npy", code=2).err)
        self.assertEqual((self.dir / "in.npy").read_bytes(), before)
        self.timeline("--timeline", "missing/t.svg", code=2)
        self.assertIn("--timeline requires --profile",
                      self.ctl("explain", "--timeline", "t.svg", "tiles.json", code=2).err)

    def test_moves_by_the_core_have_a_lane(self):
        """The core moves runs of 2 bytes, which the controller cannot move, while a channel moves the rest."""
        self.write_npy("bytes.npy", "|i1", (64, 3))
        self.write("core.json", {"defaults": {"op": "mov"}, "jobs": [
            {"name": "whole", "src": {"file": "bytes.npy"}, "dst": {"file": "a.npy"}},
            {"name": "pairs", "src": {"file": "bytes.npy"}, "dst": {"file": "b.npy"},
             "cfg": {"offset": [0, 1], "size": [64, 2]}}]})
        total = self.ctl("explain", "--json", "--no-memcpy", "--profile", "xdna-aie2", "--timeline", "t.svg", "core.json",
                         code=0).json[-1]["timeline"]
        whole, pairs = total["slots"]
        self.assertEqual((whole["channel"], whole["channels"]), (0, 1))
        self.assertEqual((pairs["core"], "channel" in pairs, pairs["start_ns"]), (True, False, 0))
        self.assertEqual(total["ns"], max(whole["end_ns"], pairs["end_ns"]))
        self.assertEqual(total["sum_ns"], whole["end_ns"] + pairs["end_ns"])
        self.assertEqual(len(total["busy_ns"]), 6)
        drawing = (self.dir / "t.svg").read_text()
        self.assertIn(">core</text>", drawing)
        self.assertIn(">core.json: 2 jobs on xdna-aie2</text>", drawing)

    def test_measured(self):
        """The drawing, the trace, the text and the JSON show a recorded run beside the predicted one."""
        def transfer(name, ts, dur, tid=0):
            return (f'{{"ph":"X","cat":"transfer","pid":1,"tid":{tid},"name":"{name}","ts":{ts},"dur":{dur},'
                    '"args":{"job":1,"bytes_done":960}}')

        recording = '[\n{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"mlid"}},\n' + \
            ",\n".join([transfer("load0", "1000.250", "2.125"), transfer("permute0", 1003, "4.5", 2),
                        transfer('a \\"1.5\\" job', "1001.5", 1, 1)])
        self.write("closed.json", (recording + "\n]\n").encode())
        self.write("open.json", (recording + ",\n").encode())
        for name in ("closed.json", "open.json"):
            result = self.timeline("--measured", name, "--timeline", "t.svg", "--trace", "t.json")
            total = json.loads(result.out.splitlines()[-1])["timeline"]
            self.assertEqual(total["measured"], {"file": name, "transfers": 3, "matched": 2,
                                                 "channels": 3, "ns": 7250})
            slots = {slot["job"]: slot for slot in total["slots"]}
            self.assertEqual(slots["load0"]["measured_ns"], 2125)
            self.assertEqual(slots["permute0"]["measured_ns"], 4500)
            self.assertNotIn("measured_ns", slots["store0"])
            drawing = (self.dir / "t.svg").read_text()
            for word in (">measured<", "other job", "channel 2"):
                self.assertIn(word, drawing)
            events = json.loads((self.dir / "t.json").read_text())
            names = {event["pid"]: event["args"]["name"] for event in events
                     if event["name"] == "process_name"}
            self.assertEqual((names[1], names[3]), ("model of vpx5-nsim", "measured"))
            measured = [event for event in events
                        if event.get("cat") == "transfer" and event["pid"] == 3]
            self.assertEqual([(event["name"], event["ts"], event["dur"]) for event in measured],
                             [("load0", 0, 2.125), ("permute0", 2.75, 4.5), ('a "1.5" job', 1.25, 1)])
        self.assertIn("measured: 3 transfers in 7.25 us, 2 of them of these jobs",
                      self.ctl("explain", "--no-picture", "--no-memcpy", "--profile", "vpx5-nsim",
                               "--measured", "open.json", "tiles.json", code=0).out)

    def test_bad_recordings(self):
        self.timeline("--trace", "model.json")
        for one, other in (("trace", "measured"), ("timeline", "measured"), ("svg", "timeline"),
                           ("trace", "timeline")):
            self.assertIn(f"--{one} and --{other} cannot be the same file",
                          self.timeline(f"--{one}", "model.json", f"--{other}", "./model.json", code=2).err)
        self.write("empty.json", b"[]")
        self.write("text.json", b"hello")
        self.write("odd.json", b'[{"ph":"X","cat":"transfer","pid":1,"tid":0,"name":"a","ts":"1.2.3","dur":1}]')
        self.write("many.json", b'[{"ph":"X","cat":"transfer","pid":1,"tid":99,"name":"a","ts":1,"dur":1}]')
        for name, words in (("model.json", "the trace of a model; record a trace with mlictl trace"),
                            ("empty.json", "the trace has no transfer"), ("text.json", "text.json:1:1"),
                            ("odd.json", "a time in microseconds is required"), ("many.json", "0 to 15"),
                            ("none.json", "No such file")):
            self.assertIn(words, self.timeline("--measured", name, code=2).err, name)

    def test_trace_replaces_traces_only(self):
        options = ("explain", "--no-memcpy", "--profile", "vpx5-nsim", "--trace")
        self.ctl(*options, "t.json", self.job(), code=0)
        self.ctl(*options, "t.json", "job.json", code=0)
        before = (self.dir / "in.npy").read_bytes()
        self.assertIn("is not a trace", self.ctl(*options, "in.npy", "job.json", code=2).err)
        self.assertEqual((self.dir / "in.npy").read_bytes(), before)
        self.assertIn("requires --profile", self.ctl("explain", "--trace", "t", "job.json", code=2).err)
        self.write("empty.json", b"")
        self.ctl(*options, "empty.json", "job.json", code=0)
        self.assertGreater(len(json.loads((self.dir / "empty.json").read_text())), 2)
        self.write("list.json", b"[]")
        self.assertIn("is not a trace", self.ctl(*options, "list.json", "job.json", code=2).err)
        self.assertEqual((self.dir / "list.json").read_bytes(), b"[]")
        os.mkfifo(self.dir / "fifo")
        self.assertIn("not a regular file",
                      self.ctl(*options, "fifo", "job.json", code=2).err)
        self.assertIn("- is standard output",
                      self.ctl(*options, "/dev/stdout", "job.json", code=2).err)

    def test_standard_output(self):
        """If the trace or the drawing goes to "-", nothing else is printed."""
        options = ("explain", "--no-memcpy", "--profile", "vpx5-nsim", self.job())
        events = json.loads(self.ctl(*options, "--trace", "-", code=0).out)
        self.assertEqual(events[0]["args"]["name"], "model of vpx5-nsim")
        drawing = self.ctl(*options, "--timeline", "-", "--trace", "t.json", code=0).out
        self.assertTrue(ElementTree.fromstring(drawing).tag.endswith("svg"))
        self.assertFalse((self.dir / "-").exists())
        for first, second in (("--trace -", "--timeline -"), ("--svg -", "--trace -"),
                              ("--trace -", "--json"), ("--timeline -", "--c")):
            error = self.ctl(*options, *first.split(), *second.split(), code=2).err
            self.assertIn("both write to standard output", error)
            self.assertIn(first, error)
            self.assertIn(second, error)

    def test_rules(self):
        """A permute outside of the vector memory is explained, but it is also refused."""
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
