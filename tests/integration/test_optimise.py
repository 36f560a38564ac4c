# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl optimise: chains that must become one move, chains that must stay, and random job files."""
import json
import os
import random
import zipfile

from harness import PERCENT, Case, main, mov, needs_numpy, npy, ramp

SHAPE = [6, 8, 4]
ELEMENTS = 6 * 8 * 4


def buffers(*names, size=4096, **more):
    return [dict({"name": name, "bytes": size}, **more) for name in names]


def tensor(name, shape, **more):
    return dict({"buffer": name, "type": "fx16", "shape": shape}, **more)


def into(name, **more):
    return dict({"buffer": name}, **more)


def chain(*cfgs, source="in.npy", shape=None, **more):
    """Returns a job file in which each move reads, through a buffer, the result of the move before it."""
    shape, jobs = list(shape or SHAPE), []
    for i, cfg in enumerate(cfgs):
        src = source if i == 0 else tensor(f"b{i - 1}", shape)
        dst = "out.npy" if i + 1 == len(cfgs) else into(f"b{i}")
        jobs.append(mov(src, dst, **cfg, **more))
        shape = result_shape(shape, cfg)
    return {"buffers": buffers(*[f"b{i}" for i in range(len(cfgs) - 1)], size=65536), "jobs": jobs}


def result_shape(shape, cfg):
    rank = len(shape)
    padded = [n + a + b for n, a, b in zip(shape, cfg.get("padding_pre", [0] * rank),
                                           cfg.get("padding_post", [0] * rank))]
    offset = cfg.get("offset", [0] * rank)
    size = [s or p - o for s, p, o in zip(cfg.get("size", [0] * rank), padded, offset)]
    count = [-(-s // t) for s, t in zip(size, cfg.get("sub_sample_step", [1] * rank))]
    return [count[d] for d in cfg.get("perm_dim", range(rank))]


# Chains of moves that are equal to one move.
ONE = {
    "copies": [{}, {}, {}, {}],
    "slices of slices": [{"offset": [1, 2, 0]}, {"offset": [1, 1, 1], "size": [3, 4, 2]}, {"offset": [0, 0, 1]}],
    "pads": [{"padding_pre": [1, 0, 2]}, {"padding_pre": [2, 1, 0], "padding_post": [0, 0, 3]}],
    "permutations": [{"perm_dim": [2, 0, 1]}, {"perm_dim": [1, 0, 2]}, {"perm_dim": [2, 1, 0]}],
    "steps": [{"sub_sample_step": [1, 2, 1]}, {"offset": [0, 1, 0], "sub_sample_step": [2, 3, 1]}],
    "a crop of a border": [{"padding_pre": [3, 3, 0]}, {"offset": [2, 3, 0]}, {"offset": [1, 0, 1]}],
    "a border that is cropped and made again": [{"padding_pre": [0, 2, 0], "padding_post": [0, 2, 0]},
                                                {"offset": [0, 2, 0], "size": [6, 8, 4]}, {"padding_pre": [0, 1, 0]}],
    "a step over a border": [{"padding_pre": [1, 0, 0]}, {"sub_sample_step": [3, 1, 1]}],
    "a border around steps": [{"sub_sample_step": [1, 1, 4]}, {"padding_pre": [0, 0, 5], "padding_post": [0, 0, 7]}],
    "all": [{"padding_pre": [1, 1, 0], "padding_post": [1, 1, 0]}, {"perm_dim": [2, 0, 1]},
            {"offset": [1, 1, 0], "sub_sample_step": [2, 1, 1]}, {"offset": [0, 1, 2], "size": [1, 5, 6]}],
}

# Moves that cannot be removed, each with a word of the reason that mlictl gives.
KEPT = {
    "a crop, then a border": ([{"offset": [0, 1, 0]}, {"padding_pre": [0, 1, 0]}], "must write a zero"),
    "too much padding": ([{"padding_pre": [200, 0, 0]}, {"padding_post": [0, 0, 0], "padding_pre": [100, 0, 0]}],
                         "255"),
    "a step of elements behind the border": ([{"sub_sample_step": [1, 2, 1]}, {"padding_post": [0, 1, 0],
                                                                              "size": [0, 3, 0]},
                                              {"padding_post": [0, 2, 0]}], "must write a zero"),
}


class Base(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "<i2", SHAPE)
        self.write("in.bin", ramp(2 * ELEMENTS))

    def optimise(self, file, *options, code=0):
        """Returns the report and the new job file. Optimising the new file again must not change it."""
        if file is not None:
            self.write("job.json", file)
        report = self.ctl("optimise", "job.json", "-f", "-o", "new.json", "--json", *options, code=code).json[0]
        again = () if {"--drop", "--intermediate"} & set(options) else options  # refused: the names are gone
        again = self.ctl("optimise", "new.json", "-f", "-o", "newer.json", "--json", *again, code=0).json[0]
        self.assertEqual(again["before"], again["after"])
        self.assertEqual(again["before"], report["after"])
        self.assertEqual(self.read("new.json"), self.read("newer.json"))
        return report, json.loads(self.read("new.json"))

    def assert_equal_outputs(self, *names):
        """Runs both files and compares their outputs."""
        results = []
        for file in ("job.json", "new.json"):
            self.ctl("run", file, code=0)
            results.append([self.read(name) for name in names or ("out.npy",)])
            for name in names or ("out.npy",):
                os.unlink(self.path(name))
        self.assertEqual(*results)


class Chains(Base):
    def test_one_move(self):
        for name, cfgs in ONE.items():
            with self.subTest(name):
                report, new = self.optimise(chain(*cfgs))
                self.assertEqual((report["before"]["jobs"], report["after"]["jobs"]), (len(cfgs), 1))
                self.assertEqual(new["src"]["file"], "in.npy")
                self.assertEqual(report["after"]["intermediates"], 0)
                self.assertEqual(report["proof"]["outputs"], 1)
                self.assert_equal_outputs()

    def test_kept(self):
        for name, (cfgs, word) in KEPT.items():
            with self.subTest(name):
                report, _ = self.optimise(chain(*cfgs))
                self.assertGreater(report["after"]["jobs"], 1)
                self.assertIn(word, " ".join(kept["reason"] for kept in report["kept"]))
                self.assert_equal_outputs()

    def test_a_raw_source_takes_any_border(self):
        """A job gives the shape of its raw source. The fused job gives the cropped shape, so
        padding after the crop is outside of the source."""
        source = {"file": "in.bin", "type": "fx16", "shape": SHAPE}
        cfgs = [{"offset": [1, 1, 0], "size": [4, 6, 4]}, {"padding_pre": [2, 2, 0], "padding_post": [1, 0, 0]},
                {"perm_dim": [2, 1, 0]}]
        report, new = self.optimise(chain(*cfgs, source=source))
        self.assertEqual(report["after"]["jobs"], 1)
        self.assertEqual(new["src"]["shape"], [4, 6, 4])
        self.assert_equal_outputs()

    def test_a_reshape(self):
        jobs = [mov({"file": "in.bin", "type": "fx16", "shape": SHAPE}, into("a"), offset=[0, 0, 0]),
                mov(tensor("a", [48, 4]), into("b"), offset=[4, 0]), mov(tensor("b", [44, 2, 2]), perm_dim=[2, 0, 1])]
        report, _ = self.optimise({"buffers": buffers("a", "b"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 1)
        self.assert_equal_outputs()

    def test_a_reshape_of_npy(self):
        jobs = [mov("in.npy", into("a")), mov(tensor("a", [48, 4]), perm_dim=[1, 0])]
        file = {"buffers": buffers("a"), "jobs": jobs}
        report, _ = self.optimise(file)
        self.assertEqual(report["after"]["jobs"], 2)
        self.assertIn("--raw", report["kept"][0]["reason"])
        report, new = self.optimise(file, "--raw")
        self.assertEqual(report["after"]["jobs"], 1)
        self.assertEqual((new["src"]["format"], new["src"]["offset"]), ("raw", 128))
        self.assert_equal_outputs()

    def test_a_tensor_placed_in_a_larger_one(self):
        jobs = [mov("in.npy", into("a", shape=[8, 10, 4]), dst_offset=[1, 1, 0]),
                mov(tensor("a", [8, 10, 4]), offset=[0, 0, 0], size=[7, 10, 4])]
        report, new = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 1)
        self.assertEqual(new["cfg"]["padding_pre"], [1, 1, 0])
        self.assert_equal_outputs()

    def test_a_part_of_a_concatenation(self):
        jobs = [mov("in.npy", into("a", shape=[12, 8, 4])), mov("in.npy", into("a", shape=[12, 8, 4]), dst_offset=[6, 0, 0]),
                mov(tensor("a", [12, 8, 4]), offset=[7, 0, 0], perm_dim=[1, 2, 0])]
        report, _ = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 1)
        self.assert_equal_outputs()

    def test_nested_concatenations(self):
        """A concatenation that is copied into a larger one is split into its parts, and each part becomes one move."""
        whole = [12, 8, 4]
        jobs = [mov("in.npy", into("a", shape=whole), perm_dim=[0, 1, 2]),
                mov("in.npy", into("a", shape=whole), dst_offset=[6, 0, 0]),
                mov(tensor("a", whole), into("b", shape=[9, 13, 20]), dst_offset=[1, 1, 2], perm_dim=[1, 0, 2],
                    padding_pre=[0, 0, 1], padding_post=[0, 0, 2]),
                mov("in.npy", into("b", shape=[9, 13, 20]), dst_offset=[0, 0, 9], size=[6, 8, 4]),
                mov(tensor("b", [9, 13, 20]), perm_dim=[2, 1, 0])]
        for job, name in zip(jobs, "vwxyz"):
            job["name"] = name
        jobs[2]["after"], jobs[4]["after"] = ["v", "w"], ["x", "y"]
        report, new = self.optimise({"buffers": buffers("a", "b", size=8192), "jobs": jobs})
        self.assertEqual((report["before"]["jobs"], report["after"]["jobs"]), (5, 4))
        self.assertEqual(sorted(new["jobs"][-1]["after"]), ["x", "y"])
        self.assertEqual([job["job"] for job in report["removed"]], ["/jobs/0", "/jobs/1"])
        self.assert_equal_outputs()
        jobs.append(mov(tensor("a", whole), "other.npy"))
        report, _ = self.optimise({"buffers": buffers("a", "b", size=8192), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 6)

    def test_branches(self):
        jobs = [mov("in.npy", into("a"), perm_dim=[2, 1, 0]), mov(tensor("a", [4, 8, 6]), into("b"), offset=[1, 0, 0]),
                mov(tensor("b", [3, 8, 6]), "x.npy", sub_sample_step=[1, 2, 1]), mov(tensor("a", [4, 8, 6]), "y.npy")]
        report, _ = self.optimise({"buffers": buffers("a", "b"), "jobs": jobs})
        self.assertEqual((report["before"]["jobs"], report["after"]["jobs"]), (4, 2))
        self.assert_equal_outputs("x.npy", "y.npy")

    def test_nothing_changes_without_a_gain(self):
        """The third job needs the first job, so the second job stays as it is."""
        jobs = [mov("in.npy", into("a"), offset=[1, 0, 0]), mov(tensor("a", [5, 8, 4]), "x.npy"),
                mov(tensor("a", [5, 8, 4]), "y.npy", padding_pre=[1, 0, 0])]
        report, new = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual((report["after"]["jobs"], report["fused"]), (3, []))
        self.assertEqual(new["jobs"][1]["src"]["buffer"], "a")

    def test_an_overwritten_buffer(self):
        """Two tensors are in one buffer, one after the other: each is read before the next tensor is written."""
        jobs = [mov("in.npy", into("a"), offset=[1, 0, 0]), mov(tensor("a", [5, 8, 4]), "x.npy"),
                mov("in.npy", into("a"), offset=[2, 0, 0]), mov(tensor("a", [5, 8, 4]), "y.npy")]
        report, _ = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        # The second tensor is shorter than the first one. The last job also reads the end of the
        # first tensor, so no job is fused.
        self.assertEqual(report["after"]["jobs"], 4)
        self.assert_equal_outputs("x.npy", "y.npy")
        jobs[3]["src"]["shape"] = [4, 8, 4]
        report, _ = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 2)
        self.assert_equal_outputs("x.npy", "y.npy")

    def test_an_overwritten_source(self):
        jobs = [mov("in.npy", into("a"), padding_pre=[1, 0, 0]), mov(tensor("a", [7, 8, 4]), into("b"), perm_dim=[2, 1, 0]),
                mov("in.npy", into("a"), sub_sample_step=[2, 1, 1]), mov(tensor("a", [3, 8, 4]), "x.npy"),
                mov(tensor("b", [4, 8, 7]), "y.npy", sub_sample_step=[1, 2, 1])]
        report, _ = self.optimise({"buffers": buffers("a", "b"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 2)
        self.assert_equal_outputs("x.npy", "y.npy")

    def test_files(self):
        jobs = [mov("in.npy", "t.npy", perm_dim=[2, 1, 0]), mov("t.npy", sub_sample_step=[2, 1, 1])]
        report, _ = self.optimise(jobs)
        self.assertEqual(report["after"]["jobs"], 2)
        self.assertIn("--intermediate", report["kept"][0]["reason"])
        for option in (("--all-intermediates",), ("--intermediate", "t*.npy")):
            report, _ = self.optimise(jobs, *option)
            self.assertEqual(report["after"]["jobs"], 1)
            self.assert_equal_outputs()
        report, _ = self.optimise(jobs, "--intermediate", "out.npy")
        self.assertEqual(report["after"]["jobs"], 2)
        for option, name, near in (("--intermediate", "x*", ""), ("--intermediate", "ou.npy", "; did you mean out.npy?"),
                                   ("--drop", "ou.npy", "; did you mean out.npy?")):
            error = self.ctl("optimise", option, name, "job.json", "-o", "other.json", code=2).err
            self.assertTrue(error.endswith(f"{option} {name}: no job writes a buffer or file with this name{near}\n"), error)
            self.assertFalse(os.path.exists(self.path("other.json")))

    def test_an_updated_file_stays_whole(self):
        """A later job reads a part of the updated file, so the job that creates the file must stay."""
        jobs = [mov("in.npy", "t.npy"), mov("in.npy", {"file": "t.npy", "update": True}, size=[1, 0, 0], offset=[3, 0, 0],
                                            dst_offset=[2, 0, 0]),
                mov("t.npy", "x.npy", offset=[2, 0, 0], size=[1, 8, 4], perm_dim=[1, 0, 2]), mov("t.npy", "y.npy")]
        report, _ = self.optimise(jobs, "--all-intermediates")
        self.assertEqual(report["after"]["jobs"], 4)
        report, _ = self.optimise(jobs[:3], "--all-intermediates")
        self.assertEqual(report["after"]["jobs"], 1)

    def test_drop(self):
        jobs = [mov("in.npy", into("a")), mov("in.npy", "out.npy")]
        file = {"buffers": buffers("a"), "jobs": jobs}
        report, _ = self.optimise(file)
        self.assertIn("--drop", report["kept"][0]["reason"])
        report, _ = self.optimise(file, "--drop", "a")
        self.assertEqual(report["after"]["jobs"], 1)

    def test_jobs_with_a_purpose_stay(self):
        profile = ("vccm", {"memory": "vccm"})
        for name, first, second, more, word in (
                ("expect", {"expect": {"file": "golden.npy"}}, {}, {}, "expect"),
                ("params", {}, {}, {}, "parameters"),
                ("stage", {"stage": "vccm"}, {}, {}, "stage"),
                ("memory", {}, {}, profile[1], "memory"),
                ("frozen", {}, {"stage": "vccm"}, {}, "stage")):
            dst = {"file": "t.npy"} if name in ("expect", "params") else into("a")
            src = {"file": "t.npy"} if name in ("expect", "params") else tensor("a", SHAPE)
            if name == "params":
                dst["params"] = "t.json"
            with self.subTest(name):
                jobs = [dict(mov("in.npy", dst), **first), dict(mov(src), **second)]
                file = {"buffers": buffers("a", **more), "jobs": jobs} if "buffer" in dst else jobs
                report, _ = self.optimise(file, "--all-intermediates")
                self.assertEqual(report["after"]["jobs"], 2)
                self.assertIn(word, report["kept"][0]["reason"])

    def test_an_expected_result_stays(self):
        file = chain({"offset": [1, 0, 0]}, {"perm_dim": [2, 1, 0]})
        file["jobs"][1]["expect"] = {"file": "golden.npy"}
        report, new = self.optimise(file)
        self.assertEqual(report["after"]["jobs"], 1)
        self.assertEqual(new["expect"], {"file": "golden.npy"})

    def test_an_expected_error_stays(self):
        jobs = [mov("in.npy", "t.npy"), dict(mov("t.npy", "u.npy", offset=[9, 0, 0]), expect={"error": "REFUSED"})]
        report, _ = self.optimise(jobs, "--all-intermediates")
        self.assertEqual(report["after"]["jobs"], 2)

    def test_after(self):
        """If a job waited for a removed job, it now waits for that job's predecessors. If it overwrites a source that
        another job now reads, it waits for that reader."""
        jobs = [mov("in.npy", into("s"), name="fill"),
                mov(tensor("s", SHAPE), into("a"), name="one", after=["fill"], offset=[1, 0, 0]),
                mov(tensor("a", [5, 8, 4]), "x.npy", name="two", after=["one"], perm_dim=[2, 1, 0]),
                mov("in.npy", into("s"), after=["one"], name="refill", perm_dim=[2, 1, 0]),
                mov(tensor("s", SHAPE), "y.npy", name="last", after=["refill"]),
                mov("in.npy", into("m"), name="mark", after=["one"])]
        file = {"buffers": buffers("s", "a", "m"), "jobs": jobs}
        # Here the file s.npy replaces the buffer "s". It is an output, so the job "fill" that
        # writes it stays.
        file["jobs"][0]["dst"] = {"file": "s.npy"}
        file["jobs"][1]["src"] = {"file": "s.npy"}
        file["jobs"][3].update(dst={"file": "s.npy", "update": True}, cfg={"padding_post": [1, 0, 0], "offset": [1, 0, 0]})
        file["jobs"][4]["src"] = {"file": "s.npy"}
        report, new = self.optimise(file)
        after = {job["name"]: job.get("after", []) for job in new["jobs"]}
        self.assertEqual(after, {"fill": [], "two": ["fill"], "refill": ["fill", "two"], "last": ["refill"],
                                 "mark": ["fill"]})
        self.assertEqual(report["removed"], [{"job": "/jobs/1", "name": "one"}])

    def test_parameters_of_an_axis(self):
        """The parameters of the result stay the same, even if their axis is permuted, cropped and subsampled."""
        self.write_npy("in.npy", "|i1", SHAPE)
        quant = {"axis": 1, "scale": list(range(1, 8)), "scale_frac_bits": [3, 1, 4, 1, 5, 9, 2], "zero_point": 7}
        jobs = [mov("in.npy", into("a"), offset=[0, 1, 0], perm_dim=[2, 1, 0]),
                mov(tensor("a", [4, 7, 6], **quant, type="sa8"), {"file": "out.npy", "params": "out.json"},
                    offset=[0, 1, 0], sub_sample_step=[1, 2, 1], padding_pre=[1, 0, 0], perm_dim=[1, 0, 2])]
        file = {"buffers": buffers("a"), "jobs": jobs}
        report, new = self.optimise(file)
        self.assertEqual(report["after"]["jobs"], 1)
        self.assertEqual((new["src"]["axis"], len(new["src"]["scale"])), (1, 8))
        self.assertEqual(report["proof"]["outputs"], 2)
        self.assert_equal_outputs("out.npy", "out.json")
        # These jobs are not fused: the padding of the first job needs per-axis parameters, but a
        # border of a fused move has none.
        jobs[0] = mov("in.npy", into("a"), offset=[0, 2, 0], padding_pre=[0, 1, 0], perm_dim=[2, 1, 0])
        jobs[1]["cfg"]["offset"] = [0, 0, 0]
        jobs[0]["cfg"]["offset"] = [0, 0, 0]
        jobs[0]["cfg"]["size"] = [0, 7, 0]
        report, _ = self.optimise(file)
        self.assertEqual(report["after"]["jobs"], 2)
        self.assertIn("axis", report["kept"][0]["reason"])
        self.assert_equal_outputs("out.npy", "out.json")

    def test_parameters_of_a_tensor(self):
        quant = {"scale": 77, "scale_frac_bits": 3, "zero_point": -5}
        self.write_npy("in.npy", "|i1", SHAPE)
        jobs = [mov({"file": "in.npy", "type": "sa8", "scale": 5}, into("a")),
                mov(tensor("a", SHAPE, **quant, type="sa8"), {"file": "out.npy", "params": "out.json"}, perm_dim=[1, 2, 0])]
        report, new = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual((report["after"]["jobs"], new["src"]["scale"]), (1, 77))
        self.assert_equal_outputs("out.npy", "out.json")

    def test_dtypes(self):
        """The output has the dtype that the second job gives to the buffer."""
        jobs = [mov("in.npy", into("a")), mov(tensor("a", SHAPE, dtype="uint16"))]
        report, _ = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 2)
        self.assertIn("dtype", report["kept"][0]["reason"])
        jobs[0]["src"] = {"file": "in.bin", "type": "fx16", "shape": SHAPE}
        report, new = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertEqual((report["after"]["jobs"], new["src"]["dtype"]), (1, "uint16"))
        self.assert_equal_outputs()
        jobs[1]["src"]["type"], jobs[1]["src"]["shape"] = "fx8", SHAPE[:2] + [8]
        del jobs[1]["src"]["dtype"]
        report, _ = self.optimise({"buffers": buffers("a"), "jobs": jobs})
        self.assertIn("another size", report["kept"][0]["reason"])

    def test_archives(self):
        """For the proof, .npy files with data of their own replace tensors of archives."""
        header = json.dumps({"a": {"dtype": "I16", "shape": SHAPE, "data_offsets": [0, 384]},
                             "b": {"dtype": "BF16", "shape": SHAPE, "data_offsets": [384, 768]}}).encode()
        self.write("in.safetensors", len(header).to_bytes(8, "little") + header + bytes(768))
        with zipfile.ZipFile(self.path("in.npz"), "w") as archive:
            archive.writestr("only.npy", npy("<i2", SHAPE, bytes(384)))
        for src in ({"file": "in.safetensors", "tensor": "a"}, {"file": "in.safetensors", "tensor": "b"},
                    {"file": "in.npz"}):
            if src["file"].endswith(".npz") and os.environ.get("MLI_NPZ", "1") != "1":
                continue
            more = {"dtype": "uint16"} if src.get("tensor") == "b" else {}
            jobs = [mov(src, into("a"), offset=[1, 0, 0]), mov(tensor("a", [5, 8, 4], **more), perm_dim=[2, 1, 0])]
            report, new = self.optimise({"buffers": buffers("a"), "jobs": jobs})
            self.assertEqual((report["after"]["jobs"], new["src"]["file"]), (1, src["file"]))
            self.assertEqual(report["proof"]["runs"], 2)
            self.assert_equal_outputs()

    def test_the_output_may_be_elsewhere(self):
        self.write("sub/job.json", chain({}, {"offset": [1, 0, 0]}, source="../in.npy"))
        os.mkdir(self.path("other"))
        out = self.ctl("optimise", "sub/job.json", "-o", "other/new.json", code=0).out
        self.assertIn(" moves in.npy -> sub/out.npy\n", out)
        self.ctl("run", "other/new.json", code=0)
        self.assertTrue(self.exists("sub/out.npy"))
        text = self.ctl("optimise", "sub/job.json", "-o", "-", code=0).out
        self.assertEqual(json.loads(text)["src"]["file"], "in.npy")

    def test_predicted_times(self):
        file = chain({"perm_dim": [2, 1, 0]}, {"offset": [1, 0, 0]})
        report, _ = self.optimise(file, "--profile", "zynqmp-zdma")
        self.assertGreater(report["before"]["predicted_ns"], report["after"]["predicted_ns"])
        self.assertIn("predicted", self.ctl("optimise", "job.json", "--profile", "zynqmp-zdma", code=0).out)
        self.assertNotIn("predicted", self.ctl("optimise", "job.json", code=0).out)
        self.ctl("optimise", "job.json", "--profile", "none", code=2)

    def test_options(self):
        file = self.write("job.json", chain({}, {}))
        self.assertEqual(self.ctl("optimise", "--check", "-q", "job.json", code=1).out, "")
        self.ctl("optimise", "-q", "job.json", "-o", "new.json", code=0)
        self.ctl("optimise", "--check", "new.json", code=0)
        self.assertIn("exists", self.ctl("optimise", "job.json", "-o", "new.json", code=2).err)
        self.ctl("optimise", "-f", "job.json", "-o", "job.json", code=0)
        self.ctl("optimise", "job.json", "-f", code=2)
        self.ctl("optimise", "job.json", "--json", "-o", "-", code=2)
        self.assertIn("reads or writes", self.ctl("optimise", file, "-f", "-o", "in.npy", code=2).err)
        self.write("job.json", chain({}, {}))
        self.assertIn("--limit-bytes", self.ctl("optimise", "--limit-bytes", "1000", "job.json").err)

    def test_wrong_files(self):
        for file, word in ((chain({}, {}, source="none.npy"), "none.npy"), ("[", "the text ends"),
                           ([mov("in.npy", "t.npy", offset=[9, 0, 0]), mov("t.npy")], "offset")):
            self.write("job.json", file)
            result = self.ctl("optimise", "job.json", "-o", "new.json", code=2)
            self.assertIn(word, result.err)
            self.assertFalse(self.exists("new.json"))

    def test_long_chains(self):
        """Fuses long chains of jobs in linear time. A fused job has at most 255 elements of
        padding."""
        count = 2000
        report, _ = self.optimise(chain(*[{"perm_dim": [2, 1, 0]}] * 2 * 100))
        self.assertEqual(report["after"]["jobs"], 1)
        jobs = [mov("in.npy", into("a"))]
        for i in range(count):
            jobs.append(mov(tensor("ab"[i % 2], SHAPE), into("ba"[i % 2])))
        jobs.append(mov(tensor("ab"[count % 2], SHAPE)))
        report, _ = self.optimise({"buffers": buffers("a", "b"), "jobs": jobs})
        self.assertEqual(report["after"]["jobs"], 1)
        self.assert_equal_outputs()
        pads = [{"padding_pre": [100]}] * 10
        self.write_npy("line.npy", "<i2", [4])
        report, _ = self.optimise(chain(*pads, source="line.npy", shape=[4]))
        self.assertEqual(report["after"]["jobs"], 5)
        self.assert_equal_outputs()


@needs_numpy
class RandomFiles(Base):
    def test_random_files(self):
        import numpy

        from random_jobs import Program
        seed = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 32)))
        before = after = 0
        for case in range(1500 if os.environ.get("MLI_SOAK") else max(1, 60 * PERCENT // 100)):
            with self.subTest(seed=seed, case=case):
                for name in self.listing():
                    os.unlink(self.path(name))
                rng = random.Random(f"{seed}/{case}")
                program = Program(rng, self.dir)
                file = program.make(rng.randint(1, 5), rng.randint(1, 2))
                report, _ = self.optimise(file, "--all-intermediates", *(["--raw"] if rng.random() < 0.3 else []))
                self.assertLessEqual(report["after"]["jobs"], report["before"]["jobs"])
                before += report["before"]["jobs"]
                after += report["after"]["jobs"]
                self.ctl("run", "-q", "new.json", code=0)
                for name, expected in program.outputs:
                    found = numpy.load(self.path(name))
                    self.assertEqual((found.shape, found.tobytes()), (expected.shape, expected.tobytes()), name)
        self.assertLess(after, before, f"seed {seed}: no job was saved")


if __name__ == "__main__":
    main()
