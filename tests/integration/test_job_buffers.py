# SPDX-License-Identifier: BSD-3-Clause
"""Tests buffers in job files: jobs that pass bytes to one another without a file."""
import json
import os

from harness import Case, main, mov, npy, ramp, wait_for
from test_remote import Remote

STRICT = ("--profile", "vpx5-nsim")
SHAPE = [12, 10, 8]
BYTES = 12 * 10 * 8


def tensor(buffer, shape, **more):
    return dict({"buffer": buffer, "type": "sa8", "shape": shape}, **more)


def tiles(address="0x90000000"):
    """Returns a job file that moves in.npy to out.npy in four tiles of 6 x 5 x 8 elements, through two buffers."""
    jobs = []
    for i in range(4):
        name, at = f"in{i % 2}", [6 * (i // 2), 5 * (i % 2), 0]
        after = {"after": [f"store{i - 2}"]} if i > 1 else {}
        jobs.append(mov({"file": "in.npy", "type": "sa8"}, {"buffer": name, "offset": 16}, offset=at,
                        size=[6, 5, 8], name=f"load{i}", **after))
        jobs.append(mov(tensor(name, [6, 5, 8], offset=16), {"buffer": "out", "shape": SHAPE},
                        dst_offset=at, name=f"store{i}", after=[f"load{i}"]))
    jobs.append(mov(tensor("out", SHAPE), name="save", after=[f"store{i}" for i in range(4)]))
    return {"buffers": [{"name": "in0", "bytes": 256, "memory": "vccm", "address": address},
                        {"name": "in1", "bytes": 256, "memory": "vccm"}, {"name": "out", "bytes": BYTES}],
            "jobs": jobs}


def plain(file):
    """Returns the job file without the members that name a board's memories."""
    buffers = [{"name": b["name"], "bytes": b["bytes"]} for b in file["buffers"]]
    return dict(file, buffers=buffers)


def copy(buffers=(), src=None, dst=None, **more):
    """Returns a job file with a job from in.npy to a buffer, or from a buffer to out.npy."""
    return {"buffers": list(buffers), "jobs": [mov(src or "in.npy", dst or "out.npy", **more)]}


class JobBuffers(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", SHAPE)

    def board_daemon(self, *options):
        run = self.root / "run"
        run.mkdir(exist_ok=True)
        self._daemon = self.start_daemon(run, *STRICT, *options)
        return self._daemon.socket

    def test_tiles_on_all_ways(self):
        socket = self.board_daemon()
        self.write("job.json", tiles())
        self.write("plain.json", plain(tiles()))
        for words in (("run", *STRICT, "job.json"), ("submit", "--socket", socket, "job.json"),
                      ("run", "plain.json"), ("batch", *STRICT, "job.json")):
            result = self.ctl(*words, "--json", code=0)
            if words[0] == "batch":
                self.assertFalse(self.exists("out.npy"))
                continue
            self.assertEqual(self.read("out.npy"), npy("|i1", SHAPE, ramp(BYTES)))
            os.unlink(self.path("out.npy"))
            store = result.json[1]
            self.assertEqual((store["src"]["buffer"], store["dst"]["buffer"]), ("in0", "out"))
        self.assertTrue(wait_for(self.daemon.idle))

    def test_buffers_begin_with_zeros_in_each_file(self):
        job = copy([{"name": "b", "bytes": 24}])
        job["jobs"] = [mov(tensor("b", [4, 6]), "zeros.npy", name="first"),
                       mov(tensor("b", [4]), {"buffer": "b", "offset": 8}, padding_pre=[0], name="inside"),
                       mov("small.npy", {"buffer": "b", "offset": 3}, name="second", after=["first"]),
                       mov(tensor("b", [4, 6]), after=["second"])]
        self.write_npy("small.npy", "|i1", [7])
        self.write("job.json", job)
        self.write("again.json", job)
        self.ctl("run", "job.json", "again.json", code=0)
        self.assertEqual(self.read("zeros.npy"), npy("|i1", [4, 6], bytes(24)))
        self.assertEqual(self.read("out.npy"), npy("|i1", [4, 6], bytes(3) + ramp(7) + bytes(14)))

    def test_strides_and_padding(self):
        """A buffer holds a tensor with gaps; the bytes in the gaps stay zero."""
        self.write_npy("small.npy", "<i2", [2, 3])
        job = copy([{"name": "b", "bytes": 40}])
        job["jobs"] = [mov("small.npy", {"buffer": "b", "offset": 4, "strides": [5, 1]}, padding_pre=[1, 0]),
                       mov({"buffer": "b", "type": "fx16", "shape": [2, 3], "offset": 14, "strides": [5, 1]})]
        self.move(job)
        self.assertEqual(self.read("out.npy"), npy("<i2", [2, 3], ramp(12)))

    def assert_refused_at(self, job, pointer, *words, name="INVALID_PARAMS", options=(), commands=None):
        self.write("job.json", job)
        for command in commands or (("validate", *options), ("explain", "--no-memcpy", *options), ("run", *options)):
            result = self.ctl(*command, "--json", "job.json")
            self.assertIn(result.code, (1, 2), f"{command}: {result}")
            errors = [line["error"] for line in result.json if "error" in line]
            self.assertEqual((errors[0]["name"], errors[0]["pointer"]), (name, pointer), f"{command}: {result}")
            for word in words:
                self.assertIn(word, errors[0]["message"], str(command))
        self.assertFalse(self.exists("out.npy"))

    def test_names(self):
        file = tiles()
        file["jobs"][3]["src"]["buffer"] = "in"
        self.assert_refused_at(file, "/jobs/3/src/buffer", 'no buffer of this file is named "in"')
        file["jobs"][3]["src"]["buffer"] = "In1"
        self.assert_refused_at(file, "/jobs/3/src/buffer", 'did you mean "in1"?')
        self.assert_refused_at(mov("in.npy", {"buffer": "b"}), "/dst/buffer", 'the file has no "buffers"')

    def test_bounds(self):
        b = [{"name": "b", "bytes": 100}]
        self.assert_refused_at(copy(b, tensor("b", [10, 10], offset=1)), "/jobs/0/src/buffer",
                               "b has 100 B, but 100 B from offset 1 on are needed")
        self.assert_refused_at(copy(b, tensor("b", [10, 10], strides=[11, 1])), "/jobs/0/src/buffer", "109 B")
        self.assert_refused_at(copy(b, None, {"buffer": "b"}), "/jobs/0/dst/buffer",
                               "b has 100 B, but the result ends at 960")
        self.assert_refused_at(copy(b, None, {"buffer": "b", "shape": [5, 5, 5]}), "/jobs/0/dst/buffer",
                               "b has 100 B, but 125 B from offset 0 on are needed")
        self.assert_refused_at(copy(b, None, {"buffer": "b", "shape": [5, 5, 4]}), "/jobs/0/cfg/dst_offset/0",
                               "the result ends at 12")
        self.assert_refused_at(copy(b, None, {"buffer": "b", "shape": [5, 5]}, size=[1, 1, 1]),
                               "/jobs/0/dst/shape", "2 entries given")

    def test_expectations(self):
        b = [{"name": "b", "bytes": 100}]
        self.assert_refused_at(copy(b, None, {"buffer": "b"}, expect={"file": "in.npy"}),
                               "/jobs/0/expect/file", "not saved")
        job = copy(b, None, {"buffer": "b"}, expect={"error": "INVALID_PARAMS", "pointer": "/dst/buffer"})
        self.write("job.json", job)
        self.ctl("run", "job.json", code=0)
        self.ctl("batch", "job.json", code=0)

    def test_memories(self):
        first = {"name": "a", "bytes": 65536, "memory": "vccm", "address": "0x90010000"}

        def refuse(second, pointer, *words, name="INVALID_PARAMS"):
            file = copy([first, dict({"name": "b"}, **second)], None, {"buffer": "b"})
            self.assert_refused_at(file, pointer, *words, name=name, options=STRICT)
        refuse({"bytes": 4, "memory": "vcm"}, "/buffers/1/memory", 'did you mean "vccm"?')
        refuse({"bytes": 4, "memory": "vccm", "address": 0x9001fffc}, "/buffers/1/address", "0x9001fffc",
               "0x90010000 to 0x9001ffff", name="NO_ROOM")
        refuse({"bytes": 8, "memory": "vccm", "address": 0x9003fffc}, "/buffers/1/address",
               "vccm has 0x90000000 to 0x9003ffff")
        refuse({"bytes": 131073, "memory": "vccm"}, "/buffers/1/memory", "131073 B wanted", "196608 of 262144 B free",
               name="NO_ROOM")
        self.assert_refused_at(copy([first], None, {"buffer": "a"}), "/buffers/0/memory", "--profile",
                               commands=(("validate",), ("run",)))
        # A buffer without an address is not placed at the address that a later buffer names.
        file = tiles("0x90000000")
        file["buffers"] = [file["buffers"][i] for i in (1, 0, 2)]
        self.write("job.json", file)
        self.ctl("run", *STRICT, "job.json", code=0)

    def test_rules(self):
        """Operands of a permute may be buffers in the vector memory."""
        file = tiles()
        file["jobs"] = [mov("in.npy", {"buffer": "out"}, name="load"),
                        dict(mov(tensor("out", SHAPE), {"buffer": "in0"}, perm_dim=[2, 0, 1], after=["load"]), op="permute")]
        file["buffers"][0]["bytes"] = BYTES
        self.assert_refused_at(file, "/jobs/1/src/buffer", "(rule vector-memory)", name="REFUSED",
                               commands=(("validate", *STRICT), ("run", *STRICT)))
        file["buffers"][2]["memory"] = "vccm"
        self.write("job.json", file)
        self.ctl("validate", *STRICT, "job.json", code=0)
        self.ctl("run", *STRICT, "job.json", code=0)

    def test_explain(self):
        self.write("job.json", tiles("0x90000100"))
        lines = self.ctl("explain", "--json", "--no-memcpy", *STRICT, "job.json", code=0).json
        self.assertEqual(lines[0]["dst"]["buffer"], "in0")
        self.assertEqual(lines[0]["board"]["dst"]["address"], "0x90000110")
        self.assertEqual(lines[2]["board"]["dst"]["address"], "0x90000010")
        self.assertEqual(lines[1]["board"]["src"]["address"], "0x90000110")
        text = self.ctl("explain", "--no-memcpy", "--no-picture", "job.json", "--job", "store1", code=0).out
        self.assertIn("store1: mov buffer in1 into buffer out", text)
        self.assertIn("buffer in1 into buffer out", self.ctl("explain", "--c", "job.json", code=0).out)

    def test_detached_jobs_keep_the_memory(self):
        self.write("job.json", plain(tiles()))
        self.submit("--detach", "job.json", code=0)
        self.assertTrue(wait_for(lambda: self.read("out.npy") == npy("|i1", SHAPE, ramp(BYTES))))
        self.assertTrue(wait_for(self.daemon.idle))

    def test_limits_of_a_daemon(self):
        self.write("mlid.json", {"limits": {"buffers_per_client": 2}})
        socket = self.board_daemon("--config", self.path("mlid.json"))
        self.assert_refused_at(tiles(), "/buffers", "3 buffers given", name="LIMIT",
                               commands=(("validate", "--socket", socket),))
        self.assert_refused_at(tiles(), "/buffers/2", "limits.buffers_per_client", name="LIMIT",
                               commands=(("submit", "--socket", socket),))
        # The file that was refused before has changed nothing.
        self.assertTrue(wait_for(self.daemon.idle))

    def test_races_are_warnings(self):
        file = plain(tiles())
        del file["jobs"][4]["after"]  # load2 into in0, which store0 reads
        self.write("job.json", file)
        for command in ("validate", "explain"):
            result = self.ctl(command, "--json", "job.json", code=0)
            warnings = [line["warning"] for line in result.json if "warning" in line]
            self.assertEqual([(w["name"], w["jobs"], w["buffer"]) for w in warnings],
                             [("RACE", [f"/jobs/{a}", f"/jobs/{b}"], "in0") for a, b in ((0, 4), (0, 5), (1, 4))])
            self.assertIn('job.json: warning: race: the jobs "store0" and "load2" both use bytes of buffer in0 within '
                          "[16, 256), and one writes them", result.err)
        self.write("job.json", plain(tiles()))
        self.assertEqual(self.ctl("validate", "-q", "job.json", code=0).err, "")

    def params_warnings(self, *jobs):
        """Returns the warnings of validate about parameters, for jobs with one buffer."""
        named = [dict(job, name=f"j{i}", op="mov", **({"after": [f"j{i - 1}"]} if i else {})) for i, job in enumerate(jobs)]
        for i, job in enumerate(named):
            if "file" in job["dst"]:
                job["dst"] = {**job["dst"], "file": f"o{i}.npy"}
        self.write("job.json", {"buffers": [{"name": "b", "bytes": 100}], "jobs": named})
        result = self.ctl("validate", "--json", "job.json", code=0)
        found = [line["warning"] for line in result.json if "warning" in line]
        for warning in found:
            self.assertEqual((warning["name"], warning["buffer"]), ("PARAMS", "b"))
            self.assertIn(f"job.json: warning: {warning['message']}\n", result.err)
        return [(*warning["jobs"], warning["message"].split("differ in ")[1]) for warning in found]

    def test_parameters_of_a_buffer(self):
        self.write_npy("in.npy")  # (2, 3, 4)
        axis = {"axis": 2, "scale": [1, 2, 3, 4]}

        def into(**more):
            cfg = more.pop("cfg", {})
            offset = more.pop("at", 0)
            return {"src": {"file": "in.npy", "type": "sa8", **more}, "cfg": cfg, "dst": {"buffer": "b", "offset": offset}}

        def out(shape, **more):
            return {"src": {"buffer": "b", "type": "sa8", "shape": shape, **more}, "dst": {"file": "o.npy"}}

        moved = {"perm_dim": [2, 0, 1]}
        self.assertEqual(self.params_warnings(into(scale=7), out([24], scale=7), out([2, 3, 4], scale=7)), [])
        self.assertEqual(self.params_warnings(into(), out([24])), [])
        self.assertEqual(self.params_warnings(into(scale=7), out([24], scale=8)),
                         [("/jobs/0", "/jobs/1", 'scale: 7 in "j0", 8 in "j1"')])
        self.assertEqual(self.params_warnings(into(scale=7), out([24])),
                         [("/jobs/0", "/jobs/1", 'scale: 7 in "j0", 1 in "j1"')])
        self.assertEqual(self.params_warnings(into(cfg=moved, **axis), out([4, 2, 3], axis=0, scale=[1, 2, 3, 4])), [])
        self.assertEqual(self.params_warnings(into(cfg=moved, **axis), out([4, 2, 3], axis=0, scale=[2, 1, 3, 4])),
                         [("/jobs/0", "/jobs/1", 'scale[0] and 1 more: 1 in "j0", 2 in "j1"')])
        self.assertEqual(self.params_warnings(into(cfg=moved, **axis), out([4, 2, 3])),
                         [("/jobs/0", "/jobs/1", 'axis: 0 in "j0", none in "j1"')])
        self.assertEqual(self.params_warnings(into(cfg=moved, **axis), out([24])), [])  # another view: not comparable

    def test_parameters_of_the_window_of_a_move(self):
        """Padding has neutral parameters; a window and a step take those of their indices."""
        self.write_npy("in.npy")
        cfg = {"padding_pre": [0, 0, 1], "padding_post": [0, 0, 2], "offset": [0, 0, 0], "sub_sample_step": [1, 1, 2]}
        load = {"src": {"file": "in.npy", "type": "sa8", "axis": 2, "scale": [5, 6, 7, 8]}, "cfg": cfg,
                "dst": {"buffer": "b"}}
        for scale, expected in (([1, 6, 8, 1], []), ([1, 6, 7, 1], ['scale[2]: 8 in "j0", 7 in "j1"'])):
            read = {"src": {"buffer": "b", "type": "sa8", "shape": [2, 3, 4], "axis": 2, "scale": scale},
                    "dst": {"file": "o.npy", "params": "p.json"}}
            self.assertEqual([text for _, _, text in self.params_warnings(load, read)], expected)
        # The service computes the same parameters.
        self.move(mov("in.npy", {"file": "o.npy", "params": "p.json"}, **cfg)
                  | {"src": {"file": "in.npy", "type": "sa8", "axis": 2, "scale": [5, 6, 7, 8]}})
        self.assertEqual(json.loads(self.read("p.json"))["scale"], [1, 6, 8, 1])

    def test_the_last_writer_of_a_buffer_counts(self):
        self.write_npy("in.npy")

        def into(scale, at=0):
            return {"src": {"file": "in.npy", "type": "sa8", "scale": scale}, "dst": {"buffer": "b", "offset": at}}

        def out(scale, count=24, at=0):
            return {"src": {"buffer": "b", "type": "sa8", "shape": [count], "offset": at, "scale": scale},
                    "dst": {"file": "o.npy"}}

        self.assertEqual(self.params_warnings(into(1), into(2), out(2)), [])
        self.assertEqual(self.params_warnings(into(1), into(1, 24), out(1, 48), into(2), into(2, 24), out(2, 48)), [])
        self.assertEqual(self.params_warnings(into(1), into(2, 24), out(1, 24), out(2, 24, 24)), [])
        self.assertEqual(self.params_warnings(into(1), into(2, 24), out(1, 48)),
                         [("/jobs/1", "/jobs/2", 'scale: 2 in "j1", 1 in "j2"')])

    def test_moves_inside_one_buffer(self):
        file = copy([{"name": "b", "bytes": 100}], tensor("b", [10]), {"buffer": "b", "offset": 9})
        self.assert_refused_at(file, "/jobs/0/dst", "of the same", name="REFUSED")
        file["jobs"][0]["dst"]["offset"] = 10
        self.move(file)

    def test_a_failed_case_is_kept_with_the_bytes_of_its_buffers(self):
        file = tiles()
        file["jobs"][-1]["expect"] = {"digest": "sha256:" + 64 * "0"}
        self.write("cases/a.json", file)
        os.rename(self.path("in.npy"), self.path("cases/in.npy"))
        self.ctl("batch", "cases", "--keep", "kept", *STRICT, code=1)
        self.assertEqual(self.read("kept/a/source.raw"), ramp(BYTES))
        result = self.ctl("run", "kept/a/job.json", code=1)
        self.assertIn("digest", result.err)
        self.assertEqual(self.read("kept/a/out.npy"), npy("|i1", SHAPE, ramp(BYTES)))
        # When a failed job with a buffer as destination is kept, the buffer becomes a file with
        # the same bytes, which the kept job updates.
        file["jobs"][-1].pop("expect")
        file["jobs"][5]["src"]["type"] = "fx16"
        self.write("cases/a.json", file)
        self.ctl("batch", "cases", "--keep", "kept", *STRICT, code=1)
        kept = json.loads(self.read("kept/a/job.json"))
        self.assertEqual((kept["src"]["file"], kept["src"]["memory"]), ("source.raw", "vccm"))
        self.assertEqual((kept["dst"]["file"], kept["dst"]["update"]), ("out.raw", True))
        self.assertEqual(self.ctl("run", "kept/a/job.json", *STRICT).code, 2)

    def test_resume_covers_buffers(self):
        file = plain(tiles())
        self.write("job.json", file)
        options = ("--resume", "state.json", "--json", "job.json")
        self.ctl("batch", *options, code=0)
        self.assertEqual(self.ctl("batch", *options, code=0).json[0]["resumed"], 1)
        file["buffers"][2]["bytes"] += 1
        self.write("job.json", file)
        self.assertEqual(self.ctl("batch", *options, code=0).json[0]["resumed"], 0)


class RemoteBuffers(Remote):
    def test_refused_over_ssh(self):
        self.write_npy("in.npy", "|i1", SHAPE)
        self.write("job.json", plain(tiles()))
        for command in ("submit", "validate"):
            result = self.remote(command, "--json", "job.json", code=2)
            self.assertEqual(result.json[0]["error"]["pointer"], "/buffers")
            self.assertIn("over ssh", result.json[0]["error"]["message"])


del Remote
if __name__ == "__main__":
    main()
