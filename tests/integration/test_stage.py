# SPDX-License-Identifier: BSD-3-Clause
"""Tests jobs that are staged through the vector memory of a board: their results are those of the same jobs without
"stage"."""
import copy
import os
import random

from harness import PERCENT, Case, main, mov, npy, ramp
from test_remote import Remote

STRICT = ("--profile", "vpx5-nsim")
SHAPE = (6, 7, 8)
JOBS = max(12, 60 * PERCENT // 100)


def permute(src="in.npy", dst="out.npy", **more):
    return dict(mov(src, dst, perm_dim=[2, 0, 1], **more), op="permute", stage="vccm")


class Stage(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", SHAPE)

    def draw(self, rng, number):
        """Returns a random job that writes outN, as a new file or as an update of a raw file."""
        rank = rng.randrange(1, 5)
        shape = [rng.randrange(1, 6) for _ in range(rank)]
        kind, dtype = rng.choice((("fx8", "|i1"), ("sa8", "|i1"), ("fx16", "<i2"), ("sa32", "<i4"), ("fp16", "<f2")))
        self.write_npy(f"in{number}.npy", dtype, shape)
        src = {"file": f"in{number}.npy", "type": kind}
        perm = rng.sample(range(rank), rank)
        if kind.startswith("sa") and rng.random() < 0.7:
            axis = rng.randrange(rank)
            src.update(axis=axis, scale=[rng.randrange(1, 99) for _ in range(shape[axis])])
        elif kind.startswith("fx"):
            src["frac_bits"] = rng.randrange(8)
        dst = {"file": f"out{number}.npy", "params": f"params{number}.json"}
        if kind != "fp16" and rng.random() < 0.4:
            return dict(mov(src, dst, perm_dim=perm), op="permute")
        pre, post = ([rng.randrange(3) for _ in range(rank)] for _ in range(2))
        padded = [pre[d] + shape[d] + post[d] for d in range(rank)]
        offset = [rng.randrange(extent) for extent in padded]
        cfg = {"padding_pre": pre, "padding_post": post, "perm_dim": perm}
        if rng.random() < 0.3:
            job = mov(src, dst, slice=",".join(f"{o}:" for o in offset), **cfg)
        else:
            job = mov(src, dst, offset=offset, sub_sample_step=[rng.randrange(1, 4) for _ in range(rank)], **cfg)
        if rng.random() < 0.4:
            job["cfg"]["dst_offset"] = [rng.randrange(3) for _ in range(rank)]
        if rng.random() < 0.3:
            dst.update(file=f"out{number}.raw", format="raw")
        return job

    def test_source_and_destination_overlap(self):
        """The operands of a staged permute may overlap in one buffer: every command accepts the job, and the result is
        right."""
        self.write_npy("square.npy", "|i1", (8, 8))
        whole = {"buffer": "b", "type": "fx8", "shape": [8, 8]}
        jobs = [dict(mov("square.npy", {"buffer": "b"}), name="load")]
        for offset in (0, 32):
            work = {"name": f"permute{offset}", "after": [jobs[-1]["name"]], "op": "permute", "stage": "vccm",
                    "src": whole, "cfg": {"perm_dim": [1, 0]}, "dst": {"buffer": "b", "offset": offset}}
            save = dict(mov(dict(whole, offset=offset), f"out{offset}.npy"), name=f"save{offset}", after=[work["name"]])
            jobs += [work, save]
        self.write("overlap.json", {"buffers": [{"name": "b", "bytes": 128}], "jobs": jobs})
        for command in (("validate",), ("explain", "--no-picture"), ("run",), ("batch",)):
            self.ctl(*command, "overlap.json", *STRICT, code=0)
        data = ramp(64)
        turned = bytes(data[8 * (i % 8) + i // 8] for i in range(64))
        self.assertEqual(self.read("out0.npy")[-64:], turned)
        self.assertEqual(self.read("out32.npy")[-64:], data)
        del jobs[1]["stage"], jobs[3]["stage"]
        self.write("overlap.json", {"buffers": [{"name": "b", "bytes": 128}], "jobs": jobs})
        for command in ("validate", "explain", "run"):
            self.ctl(command, "overlap.json", code=2)

    def test_random_jobs_are_bit_exact(self):
        seed = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        jobs = [self.draw(rng, number) for number in range(JOBS)]
        self.write("plain.json", jobs)
        self.ctl("run", "plain.json", code=0)
        names = [name for job in jobs for name in (job["dst"]["file"], job["dst"]["params"])]
        wanted = {name: self.read(name) for name in names}
        for name in names:
            os.unlink(self.path(name))
        staged = copy.deepcopy(jobs)
        for job in staged:
            job["stage"] = "vccm"
        self.write("staged.json", staged)
        for command in ("validate", "run"):
            self.ctl(command, *STRICT, "staged.json", code=0)
        for name in names:
            self.assertEqual(self.read(name), wanted[name], f"seed {seed}: {name}")

    def test_all_ways(self):
        run = self.root / "run"
        run.mkdir()
        self._daemon = self.start_daemon(run, *STRICT)
        data = ramp(336)
        wanted = npy("|i1", (8, 6, 7), bytes(data[56 * i + 8 * j + k] for k in range(8) for i in range(6) for j in range(7)))
        self.write("golden.npy", wanted)
        socket = ("--socket", self.daemon.socket)
        for name, job in (("job.json", permute(expect={"file": "golden.npy"})),
                          ("list.json", {"defaults": {"stage": "vccm"}, "jobs": [
                              dict(mov(), name="copy"), dict(permute("out.npy", "twice.npy"), after=["copy"])]})):
            self.write(name, job)
            for words in (("run", *STRICT), ("submit", *socket), ("submit", *socket, *STRICT), ("batch", *STRICT)):
                self.ctl(*words, name, code=0)
        self.assertEqual(self.read("twice.npy"), wanted)
        # Without a stage, a permute of external memory breaks a rule.
        self.write("job.json", {k: v for k, v in permute().items() if k != "stage"})
        self.assertIn("rule vector-memory", self.ctl("run", *STRICT, "job.json", code=2).err)

    def test_updates(self):
        """The last step updates a file at an offset; after the job, the file is no longer locked for the next job."""
        self.write_npy("out.npy", "|i1", (9, 7, 9), data=bytes(567))
        job = dict(permute(dst={"file": "out.npy", "update": True}), op="mov")
        job["cfg"]["dst_offset"] = [1, 1, 2]
        self.write("job.json", [job, job])
        self.ctl("run", *STRICT, "job.json", code=0)
        staged = self.read("out.npy")
        del job["stage"]
        self.write_npy("out.npy", "|i1", (9, 7, 9), data=bytes(567))
        self.move(job)
        self.assertEqual(staged, self.read("out.npy"))

    def test_buffers_of_the_file(self):
        """A staged job may read and write buffers; the ranges of the stage do not overlap them."""
        file = {"buffers": [{"name": "b", "bytes": 336, "memory": "ddr"}, {"name": "c", "bytes": 261472, "memory": "vccm"}],
                "jobs": [mov("in.npy", {"buffer": "b"}, name="load"),
                         dict(permute({"buffer": "b", "type": "fx8", "shape": list(SHAPE)}), after=["load"])]}
        self.write("job.json", file)
        self.ctl("run", *STRICT, "job.json", code=0)
        file["buffers"][1]["bytes"] += 1
        self.write("job.json", file)
        for command in ("validate", "explain", "run"):
            error = self.ctl(command, *STRICT, "--json", "job.json", code=1).json[-1]["error"]
            self.assertEqual((error["name"], error["pointer"]), ("NO_ROOM", "/jobs/1/stage"), command)
            self.assertIn("336 B wanted", error["message"])

    def assert_refused_at_stage(self, job, *words, options=STRICT, name="INVALID_PARAMS", commands=("validate", "run")):
        self.write("job.json", job)
        for command in commands:
            error = self.ctl(command, *options, "--json", "job.json", code=2).json[0]["error"]
            self.assertEqual((error["name"], error["pointer"]), (name, "/stage"), command)
            for word in words:
                self.assertIn(word, error["message"], command)

    def test_refusals(self):
        self.assert_refused_at_stage(dict(permute(), stage="vcm"), 'did you mean "vccm"?')
        self.assert_refused_at_stage(dict(permute(), stage=""), "must not be empty")
        self.assert_refused_at_stage(permute(), "--profile", options=())
        self.assert_refused_at_stage(dict(permute(), stage="ddr"), "(rule vector-memory)", name="REFUSED")
        large = {"file": "large.bin", "type": "sa8", "shape": [512, 16, 17]}
        self.write("large.bin", bytes(512 * 16 * 17))
        self.assert_refused_at_stage(permute(large), "two buffers of 139264 B are needed, but memory vccm has 262144 B",
                                     "(rule capacity)", name="REFUSED")
        self.write("job.json", permute())
        error = self.submit("--detach", "--json", "job.json", code=2).json[0]["error"]
        self.assertEqual(error["pointer"], "/stage")
        # A job with an error gets the same message with and without a stage.
        self.write("job.json", dict(permute(expect={"error": "MLI_STATUS_BAD_FUNC_CFG"}),
                                    cfg={"perm_dim": [2, 0, 2]}))
        self.assertIn("cfg.perm_dim", self.ctl("run", *STRICT, "job.json", code=0).out)
        self.write("job.json", permute({"file": "in.npy", "type": "sa32"}))
        error = self.ctl("run", *STRICT, "--json", "job.json", code=2).json[0]["error"]
        self.assertEqual(error["pointer"], "/src/type")

    def test_explain(self):
        self.write("job.json", [permute(name="turn")])
        lines = self.ctl("explain", "--json", "--no-memcpy", *STRICT, "job.json", code=0).json
        self.assertEqual([line.get("name") for line in lines], ["turn", "turn.load", "turn.permute", "turn.store", None])
        self.assertEqual(lines[0]["stage"], "vccm")
        places = [(line["board"]["src"]["memory"], line["board"]["dst"]["memory"]) for line in lines[1:4]]
        self.assertEqual(places, [("ddr", "vccm"), ("vccm", "vccm"), ("vccm", "ddr")])
        sum_ns = sum(line["board"]["cost"]["ns"] for line in lines[1:4])
        self.assertLessEqual(abs(lines[4]["timeline"]["ns"] - sum_ns), 3)
        text = self.ctl("explain", *STRICT, "job.json", code=0).out
        self.assertIn("staged through vccm", text)
        code = self.ctl("explain", "--c", "job.json", code=0).out
        for name in ("move0_turn_load(", "move1_turn_permute(", "move2_turn_store("):
            self.assertIn(f"mli_status {name}const void *src, void *dst)", code)

    def test_a_failed_case_is_kept(self):
        self.write("cases/a.json", permute("../in.npy", expect={"digest": "sha256:" + 64 * "0"}))
        self.ctl("batch", "cases", "--keep", "kept", *STRICT, code=1)
        self.assertEqual(sorted(os.listdir(self.path("kept/a"))), ["given.npy", "job.json", "source.npy"])
        self.assertIn("digest", self.ctl("run", *STRICT, "kept/a/job.json", code=1).err)


class RemoteStage(Remote):
    def test_refused_over_ssh(self):
        self.write_npy("in.npy", "|i1", SHAPE)
        self.write("job.json", permute())
        error = self.remote("submit", "--json", "job.json", code=2).json[0]["error"]
        self.assertEqual(error["pointer"], "/stage")
        self.assertIn("over ssh", error["message"])


del Remote
if __name__ == "__main__":
    main()
