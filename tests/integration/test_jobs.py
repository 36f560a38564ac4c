# SPDX-License-Identifier: BSD-3-Clause
"""Tests successful jobs, several jobs in a row, exit codes, and the printed results."""
import json
import os
import re
import shutil
import subprocess

from harness import MLICTL, Case, main, mov, npy, ramp


class OneJob(Case):
    def test_text_and_json_have_the_same_facts(self):
        self.write_npy("in.npy", "<i2", (2, 3, 4))
        self.write("job.json", mov(perm_dim=[2, 0, 1], name="turn", channels=2))
        text = self.ctl("run", "job.json", code=0)
        fact = self.ctl("run", "--json", "job.json", code=0).json[0]
        self.assertEqual(text.err, "")
        self.assertRegex(text.out, r"^turn: mov \(2, 3, 4\) -> \(4, 2, 3\) fx16, 48 B in [\d.]+ "
                                   r"\w+, 2 channels, \w+ -> out\.npy\n$")
        cost = fact["result"].pop("cost")
        self.assertIn(cost["engine"], text.out)
        self.assertEqual((cost["bytes"], cost["channels"]), (48, 2))
        self.assertGreater(cost["ns_moving"], 0)
        self.assertEqual(fact, {
            "file": "job.json", "pointer": "", "name": "turn", "op": "mov", "state": "done",
            "exit": 0, "type": "fx16",
            "src": {"file": "in.npy", "dtype": "int16", "shape": [2, 3, 4], "bytes": 48},
            "dst": {"file": "out.npy", "dtype": "int16", "shape": [4, 2, 3], "bytes": 48},
            "result": {"job": 1, "dst": {"type": "fx16", "shape": [4, 2, 3], "strides": [6, 3, 1],
                               "frac_bits": 0}}})

    def test_validate_prints_the_result_and_writes_nothing(self):
        self.write_npy("in.npy")
        self.write("job.json", mov(padding_pre=[1, 0, 0], dst={"file": "out.npy"}))
        before = self.listing()
        text = self.ctl("validate", "job.json", code=0).out
        fact = self.ctl("validate", "--json", "job.json", code=0).json[0]
        self.assertEqual(text, "job.json: valid: mov (2, 3, 4) -> (3, 3, 4) fx8, 36 B -> out.npy\n")
        self.assertEqual((fact["state"], fact["dst"]["shape"], fact["type"]),
                         ("valid", [3, 3, 4], "fx8"))
        self.assertNotIn("result", fact)
        self.assertEqual(self.listing(), before)

    def test_quiet(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        for command in ("validate", "run"):
            result = self.ctl(command, "-q", "job.json", code=0)
            self.assertEqual(result.out + result.err, "")
        self.assertEqual(len(self.ctl("run", "-q", "--json", "job.json", code=0).json), 1)
        self.assertIn("No such file", self.ctl("run", "-q", self.write("j.json", mov("no.npy")),
                                               code=2).err)

    def test_paths_are_relative_to_the_job_file(self):
        self.write("deep/in.npy", npy("|u1", (4,), ramp(4)))
        self.write("deep/job.json", mov())
        self.ctl("run", "deep/job.json", code=0)
        self.assertTrue(self.exists("deep/out.npy"))

    def test_standard_input_is_relative_to_the_working_directory(self):
        self.write_npy("in.npy")
        result = self.ctl("run", "-", stdin=json.dumps(mov()), code=0)
        self.assertRegex(result.out, r"^stdin: mov ")
        self.assertTrue(self.exists("out.npy"))
        self.assertRegex(self.ctl("run", "-", stdin="{", code=2).err, r"^mlictl: stdin:1:")

    def test_a_job_file_may_be_a_pipe(self):
        self.write_npy("in.npy")
        reader, writer = os.pipe()
        os.write(writer, json.dumps(mov()).encode())
        os.close(writer)
        self.ctl("run", f"/dev/fd/{reader}", pass_fds=[reader], code=0)
        os.close(reader)
        self.assertTrue(self.exists("out.npy"))  # in the working directory, not in /dev/fd

    def test_absolute_paths(self):
        self.write_npy("in.npy")
        self.move(mov(self.path("in.npy"), self.path("out.npy")), name="elsewhere/job.json")
        self.assertTrue(self.exists("out.npy"))

    def test_raw_to_npy_and_back(self):
        self.write("in.bin", b"xx" + ramp(24))
        src = {"file": "in.bin", "shape": [2, 3, 4], "type": "sa8", "offset": 2}
        self.move(mov(src, "out.npy"))
        self.assertEqual(self.read("out.npy"), npy("|i1", (2, 3, 4), ramp(24)))
        self.move(mov("out.npy", "back.bin"))
        self.assertEqual(self.read("back.bin"), ramp(24))

    def test_raw_source_with_strides(self):
        self.write("in.bin", ramp(12))
        self.move(mov({"file": "in.bin", "shape": [2, 3], "type": "fx8", "strides": [6, 2]}))
        self.assertEqual(self.read("out.npy")[128:], bytes([0, 2, 4, 6, 8, 10]))

    def test_missing_raw_strides(self):
        """An outer stride of 0 means the inner stride times its extent, on both sides."""
        self.write("in.bin", ramp(12))
        src = {"file": "in.bin", "shape": [2, 3], "type": "fx8", "strides": [0, 2]}
        self.move(mov(src))
        self.assertEqual(self.read("out.npy")[128:], bytes([0, 2, 4, 6, 8, 10]))
        wanted = bytes([0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10])
        for dst in ({"dst_mem_stride": [0, 2]}, {"dst": {"file": "out.bin", "strides": [0, 2]}}):
            self.move(mov(src, **dict({"dst": "out.bin"}, **dst)))
            self.assertEqual(self.read("out.bin"), wanted)
        fact = self.ctl("explain", "--json", "--no-memcpy", "job.json").json[0]
        self.assertEqual((fact["src"]["strides"], fact["dst"]["strides"]), ([6, 2], [6, 2]))
        self.write("out.bin", bytes(16))
        self.move(mov(src, {"file": "out.bin", "update": True, "shape": [2, 4],
                            "strides": [0, 2]}))
        self.assertEqual(self.read("out.bin"), bytes([0, 0, 2, 0, 4, 0, 0, 0, 6, 0, 8, 0, 10, 0, 0, 0]))

    def test_raw_output_may_have_gaps(self):
        self.write_npy("in.npy", "|u1", (2, 3))
        self.move(mov(dst="out.bin", dst_mem_stride=[5, 1]))
        self.assertEqual(self.read("out.bin"), bytes([0, 1, 2, 0, 0, 3, 4, 5]))
        self.move(mov(dst={"file": "out2.bin", "strides": [4, 1]}))
        self.assertEqual(self.read("out2.bin"), bytes([0, 1, 2, 0, 3, 4, 5]))

    def test_format_overrides_the_file_name(self):
        self.write_npy("in.tensor", "|u1", (4,))
        self.move(mov({"file": "in.tensor", "format": "npy"},
                      {"file": "out.tensor", "format": "npy"}))
        self.assertEqual(self.read("out.tensor"), npy("|u1", (4,), ramp(4)))

    def test_the_dtype_is_kept(self):
        for dtype in ("|b1", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4"):
            self.write_npy("in.npy", dtype, (3, 2))
            self.move(mov(perm_dim=[1, 0]))
            self.assertIn(dtype.encode(), self.read("out.npy")[:128])

    def test_other_members_are_passed_on(self):
        self.write_npy("in.npy")
        self.move(mov(priority=1, timeout_ms=60000, channels=3))
        fact = self.ctl("run", "job.json", "--channels", "3", "--json", code=0).json[0]
        self.assertEqual(fact["result"]["cost"]["channels"], 3)
        self.assertNotEqual(self.ctl("run", "job.json", "-c2").code, 0)


class Update(Case):
    def test_concatenation(self):
        self.write_npy("both.npy", "|u1", (2, 5), data=bytes([9] * 10))
        self.write_npy("in.npy", "|u1", (2, 2))
        self.move(mov(dst={"file": "both.npy", "update": True}, dst_offset=[0, 3]))
        self.assertEqual(self.read("both.npy")[128:], bytes([9, 9, 9, 0, 1, 9, 9, 9, 2, 3]))

    def test_fortran_order_is_kept(self):
        self.write_npy("both.npy", "|u1", (2, 3), fortran=True, data=bytes([9] * 6))
        self.write_npy("in.npy", "|u1", (2, 2))
        self.move(mov(dst={"file": "both.npy", "update": True}))
        self.assertEqual(self.read("both.npy"),
                         npy("|u1", (2, 3), bytes([0, 2, 1, 3, 9, 9]), fortran=True))

    def test_raw(self):
        self.write("both.bin", bytes([7] * 12))
        self.write_npy("in.npy", "|u1", (2, 2))
        self.move(mov(dst={"file": "both.bin", "update": True, "shape": [2, 5], "offset": 1}))
        self.assertEqual(self.read("both.bin"), bytes([7, 0, 1, 7, 7, 7, 2, 3, 7, 7, 7, 7]))
        self.move(mov(dst={"file": "both.bin", "update": True}))
        self.assertEqual(self.read("both.bin"), bytes([0, 1, 2, 3, 7, 7, 2, 3, 7, 7, 7, 7]))

    def test_permissions_are_kept(self):
        os.chmod(self.write_npy("both.npy", "|u1", (4,)), 0o640)
        self.write_npy("in.npy", "|u1", (4,))
        self.move(mov(dst={"file": "both.npy", "update": True}))
        self.assertEqual(os.stat(self.path("both.npy")).st_mode & 0o777, 0o640)

    def test_refusals(self):
        self.write_npy("both.npy", "|u1", (2, 5))
        self.write_npy("in.npy", "|u1", (2, 2))
        dst = {"file": "both.npy", "update": True}
        self.assert_refused(mov(dst=dst, dst_offset=[0, 4]), "/cfg/dst_offset/1",
                            "the result ends at 6, but the tensor to update at 5")
        self.assert_refused(mov(dst=dst, dst_mem_stride=[6, 1]), "/cfg/dst_mem_stride/0",
                            "6 given; must be 5")
        self.assert_refused(mov(dst=dict(dst, file="no.npy")), "/dst/file", "No such file")
        self.write_npy("in.npy", "|i1", (2, 2))
        self.assert_refused(mov(dst=dst), "/dst/file", "holds uint8, but the source holds int8")
        self.write_npy("in.npy", "|u1", (2, 3, 4))
        self.write("both.bin", bytes(24))
        for shape in ([2, 3, 3], [2, 2, 4], [1, 3, 4]):
            self.assert_refused(mov(dst={"file": "both.bin", "update": True, "shape": shape}),
                                "/cfg/dst_offset/" + str([d for d in range(3)
                                                          if shape[d] < d + 2][0]),
                                "the result ends at", "the tensor to update at")
        self.write_npy("in.npy", "|u1", (4,))
        self.assert_refused(mov(dst=dst), "/dst/file", "has 2 dimensions, but the source has 1")
        self.write("both.bin", bytes(10))
        self.assert_refused(mov(dst={"file": "both.bin", "update": True, "offset": 7}),
                            "/dst/file", "10 B, but the result ends at 11")


class Quantisation(Case):
    params = {"type": "sa8", "axis": 0, "scale": [10, 20, 30], "zero_point": [1, 2, 3],
              "scale_frac_bits": [4, 5, 6]}

    def test_parameters_follow_the_axis_into_their_file(self):
        self.write_npy("in.npy", "|i1", (3, 2))
        self.move(mov(dict(self.params, file="in.npy"), {"file": "out.npy", "params": "p.json"},
                      perm_dim=[1, 0], offset=[1, 0]))
        self.assertEqual(json.loads(self.read("p.json")), {
            "type": "sa8", "axis": 1, "scale": [20, 30], "zero_point": [2, 3],
            "scale_frac_bits": [5, 6]})

    def test_parameters_are_printed_without_a_file(self):
        self.write_npy("in.npy", "|i1", (3, 2))
        job = mov(dict(self.params, file="in.npy"))
        out = self.move(job).out
        self.assertIn("axis 0, 3 entries, scale [10, 20, 30], scale_frac_bits [4, 5, 6], "
                      "zero_point [1, 2, 3]", out)
        dst = self.ctl("run", "--json", "job.json", code=0).json[0]["result"]["dst"]
        self.assertEqual((dst["axis"], dst["scale"]), (0, [10, 20, 30]))
        job["src"] = {"file": "in.npy", "type": "sa8", "scale": 77, "zero_point": -3}
        self.assertIn("scale 77, scale_frac_bits 0, zero_point -3", self.move(job).out)
        job["src"] = {"file": "in.npy", "type": "fx8", "frac_bits": 7}
        self.assertIn("frac_bits 7", self.move(job).out)

    def test_an_update_keeps_existing_parameters(self):
        self.write_npy("in.npy", "|i1", (3, 2))
        self.write_npy("both.npy", "|i1", (5, 2))
        dst = {"file": "both.npy", "update": True, "params": "p.json", "axis": 0,
               "scale": [1, 2, 3, 4, 5], "zero_point": 0}
        job = mov(dict(self.params, file="in.npy"), dst, dst_offset=[2, 0])
        self.move(job)
        self.assertEqual(json.loads(self.read("p.json"))["scale"], [1, 2, 10, 20, 30])
        job["dst"] = dict(dst, axis=1, scale=[1, 2])
        self.assert_refused(job, "/dst/axis", "1 given")
        job["dst"] = dict(dst, scale=[1, 2])
        self.assert_refused(job, "/dst/axis", "2 entries", "shape[0] is 5")

    def test_refusals(self):
        self.write_npy("in.npy", "|i1", (3, 2))
        src = dict(self.params, file="in.npy")
        self.assert_refused(mov(dict(src, axis=1)), "/src/axis", "3 entries", "shape[1] is 2")
        self.assert_refused(mov(dict(src, axis=2)), "/src/axis", "2 given")
        self.assert_refused(mov(dict(src, type="fx8")), "/src/axis", "only sa8 and sa32")
        self.assert_refused(mov(dict(src, type="sa32")), "/src/type", "4 B", "1 B")
        self.assert_refused(mov({"file": "in.npy", "type": "fx16"}), "/src/type", "fx16", "int8")
        self.assert_refused(mov({"file": "in.npy", "scale": 3}), "/src/scale", "only sa8 and sa32")
        self.assert_refused(mov(dict(src, axis=[0])), "/src/axis")
        self.assert_refused(mov(dict(src, scale=[1, 2])), "/src/zero_point")
        self.assert_refused(mov(dict(src, scale=[1, 2, 40000])), "/src/scale/2", "40000")

    def test_more_parameters_than_a_line_holds(self):
        self.write_npy("in.npy", "|i1", (20000, 1))
        src = {"file": "in.npy", "type": "sa8", "axis": 0, "scale": [12345] * 20000}
        self.assert_refused(mov(src), "/src", "one request cannot hold its parameters")


class Permute(Case):
    def test_permute_and_mov_agree(self):
        self.write_npy("in.npy", "<i2", (2, 3, 4))
        self.move(mov(op="permute", perm_dim=[1, 2, 0], dst="p.npy"))
        self.move(mov(perm_dim=[1, 2, 0], dst="m.npy"))
        self.ctl("diff", "p.npy", "m.npy", code=0)

    def test_a_permute_takes_no_other_members(self):
        self.write_npy("in.npy")
        self.assert_refused(mov(op="permute", offset=[0, 0, 1]), "/cfg/offset", "perm_dim only")


    def test_there_are_no_kernels_for_floats(self):
        self.write_npy("in.npy", "<f4", (2, 2))
        self.assert_refused(mov(op="permute"), "/src/type", "no permute kernel moves fp32")


class Expect(Case):
    def job(self, **more):
        self.write_npy("in.npy", "|u1", (2, 3))
        return mov(expect={"file": "golden.npy"}, **more)

    def test_match(self):
        self.write_npy("golden.npy", "|u1", (3, 2), fortran=True)
        self.assertIn(", as expected\n", self.move(self.job(perm_dim=[1, 0])).out)
        fact = self.ctl("run", "--json", "job.json", code=0).json[0]["expect"]
        self.assertEqual(fact, {"file": "golden.npy", "same": True, "difference": None})

    def test_mismatch_keeps_the_output(self):
        self.write_npy("golden.npy", "|u1", (2, 3), data=bytes([0, 1, 2, 3, 9, 9]))
        result = self.move(self.job(), code=1)
        self.assertIn("mlictl: " + self.path("job.json") + ": expect: 2 of 6 elements differ, "
                      "the first at [1, 1]: got 4, expected 9 in " + self.path("golden.npy"), result.err)
        self.assertEqual(self.read("out.npy")[128:], ramp(6))
        fact = self.ctl("run", "--json", "job.json", code=1).json[0]
        self.assertEqual((fact["state"], fact["exit"]), ("mismatch", 1))
        self.assertEqual(fact["expect"]["difference"]["at"], [1, 1])

    def test_other_shape_or_dtype(self):
        self.write_npy("golden.npy", "|u1", (6,))
        self.assertIn("shapes differ: got (2, 3), expected (6) in " + self.path("golden.npy"),
                      self.move(self.job(), code=1).err)
        self.write_npy("golden.npy", "|i1", (2, 3))
        self.assertIn("dtypes differ", self.move(self.job(), code=1).err)
        self.assertIn("dtypes differ", self.ctl("validate", "job.json", code=1).err)

    def test_raw_golden(self):
        job = self.job()
        job["expect"]["file"] = "golden.bin"
        self.write("golden.bin", ramp(6))
        self.move(job)
        self.write("golden.bin", ramp(7))
        for command in ("validate", "run"):
            result = self.ctl(command, "--json", "job.json", code=1)
            self.assertIn(": expect: sizes differ: got 6 B, expected 7 B in golden.bin", result.err)
            self.assertEqual(result.json[0]["state"], "mismatch")
        self.assertEqual(result.json[0]["expect"]["difference"],
                         {"kind": "size", "a": {"bytes": 6}, "b": {"bytes": 7}})

    def test_refusals(self):
        self.assert_refused(self.job(), "/expect/file", "golden.npy: No such file")
        job = self.job()
        job["expect"]["file"] = "./out.npy"
        self.write_npy("out.npy", "|u1", (2, 3))
        self.assert_refused(job, "/dst/file", "same file as expect.file")


class SeveralJobs(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|u1", (4,))

    def run_all(self, jobs, *options, code=0, command="run"):
        self.write("job.json", {"defaults": {"op": "mov"}, "jobs": jobs})
        return self.ctl(command, "--json", *options, "job.json", code=code)

    @staticmethod
    def job(name, src="in.npy", after=None):
        job = {"name": name, "src": {"file": src}, "dst": {"file": name + ".npy"}}
        return dict(job, after=after) if after else job

    def test_after_overrides_the_order_of_the_file(self):
        jobs = [self.job("c", "b.npy", ["b"]), self.job("b", "a.npy", ["a"]), self.job("a"),
                self.job("d", "c.npy", ["a", "c"])]
        for command in ("validate", "run"):
            names = [fact["name"] for fact in self.run_all(jobs, command=command).json]
            self.assertEqual(names, ["a", "b", "c", "d"])
        self.assertEqual(self.read("d.npy"), self.read("in.npy"))

    def test_a_failed_predecessor_fails_its_dependants_only(self):
        jobs = [self.job("a", "no.npy"), self.job("b", after=["a"]), self.job("c"),
                self.job("d", after=["c", "b"]), self.job("e", after=["d"])]
        result = self.run_all(jobs, code=2)
        self.assertEqual([fact["state"] for fact in result.json],
                         ["invalid", "skipped", "done", "skipped", "skipped"])
        self.assertIn('jobs[1].after[0]: not run, because "a" failed: src.file: no.npy',
                      result.err)
        self.assertIn('jobs[3].after[1]: not run, because "b" was not run after "a" failed\n', result.err)
        self.assertIn('jobs[4].after[0]: not run, because "d" was not run after "a" failed\n', result.err)
        self.assertEqual([self.exists(n + ".npy") for n in "abcde"], [False, False, True, False, False])

    def test_many_skipped_jobs_are_summed_up(self):
        jobs = [self.job("a", "no.npy")] + [self.job(f"j{n}", after=["a"]) for n in range(300)]
        self.write("jobs.json", {"defaults": {"op": "mov"}, "jobs": jobs})
        lines = self.ctl("run", "jobs.json", code=2).err.splitlines()
        self.assertEqual(len([line for line in lines if 'not run, because "a" failed' in line]), 10)
        self.assertEqual(lines[-1], "mlictl: 290 more jobs were not run, because earlier jobs failed (--json lists all)")
        self.assertEqual(len(self.run_all(jobs, code=2).json), 301)
        self.write("jobs.json", {"defaults": {"op": "mov"}, "jobs": jobs[:12]})
        self.assertIn("1 more job was not run", self.ctl("run", "jobs.json", code=2).err)

    def test_fail_fast(self):
        jobs = [self.job("a"), self.job("b", "no.npy"), self.job("c"), self.job("d")]
        result = self.run_all(jobs, "--fail-fast", code=2)
        self.assertEqual([fact["state"] for fact in result.json],
                         ["done", "invalid", "skipped", "skipped"])
        self.assertIn("2 jobs were not run", result.err)
        self.assertFalse(self.exists("c.npy"))

    def test_the_first_failure_is_the_exit_code(self):
        self.write_npy("golden.npy", "|u1", (4,), data=bytes(4))
        mismatch = dict(self.job("a"), expect={"file": "golden.npy"})
        self.run_all([mismatch, self.job("b", "no.npy")], code=1)
        self.run_all([self.job("b", "no.npy"), mismatch], code=2)
        self.run_all([self.job("c"), mismatch], code=1)

    def test_several_files(self):
        self.write("1.json", mov(dst="1.npy"))
        self.write("2.json", [mov("no.npy"), mov(dst="2.npy", name="two")])
        result = self.ctl("run", "1.json", "2.json", "--json", code=2)
        self.assertEqual([(fact["file"], fact["pointer"], fact["state"]) for fact in result.json],
                         [("1.json", "", "done"), ("2.json", "/0", "invalid"),
                          ("2.json", "/1", "done")])

    def test_a_wrong_file_stops_all_jobs_before_they_start(self):
        self.write("1.json", mov(dst="1.npy"))
        self.write("2.json", "nonsense")
        result = self.ctl("run", "1.json", "2.json", "3.json", code=2)
        self.assertFalse(self.exists("1.npy"))
        self.assertIn("mlictl: 2.json:1:1: ", result.err)
        self.assertIn("mlictl: 3.json: No such file", result.err)

    def test_names_in_text(self):
        self.write("job.json", [mov(dst="1.npy"), mov(dst="2.npy", name="second")])
        out = self.ctl("run", "job.json", code=0).out
        self.assertRegex(out, r"^job\.json#/0: mov .*\nsecond: mov ")

    def test_paths_in_text_are_relative_to_the_working_directory(self):
        self.write_npy("in.npy")
        self.write("jobs/deep/job.json", [mov("../../in.npy", "out.npy"), mov("out.npy", "../up.npy")])
        out = self.ctl("run", "jobs/deep/job.json", code=0).out
        self.assertRegex(out, r" -> jobs/deep/out.npy\n.* -> jobs/up.npy\n$")
        out = self.ctl("validate", "./jobs/deep/job.json", code=0).out
        self.assertRegex(out, r" -> jobs/deep/out.npy\n.* -> jobs/up.npy\n$")
        out = self.ctl("explain", "--no-picture", "jobs/deep/job.json", code=0).out
        self.assertIn(": mov in.npy -> jobs/deep/out.npy, ", out)
        self.assertIn(": mov jobs/deep/out.npy -> jobs/up.npy, ", out)
        out = self.ctl("run", "deep/job.json", cwd=self.dir / "jobs", code=0).out
        self.assertRegex(out, r" -> deep/out.npy\n.* -> up.npy\n$")

    def test_many_jobs(self):
        self.run_all([self.job(f"j{i}", after=[f"j{i + 1}"] if i < 299 else None)
                      for i in range(300)], "-q")
        self.assertTrue(self.exists("j0.npy"))

    def test_json_repeats_the_job(self):
        self.write_npy("both.npy", "|u1", (6,))
        self.write("job.json", mov(dst={"file": "both.npy", "update": True, "params": "p.json"}))
        for command in ("validate", "run"):
            fact = self.ctl(command, "--json", "job.json", code=0).json[0]
            self.assertEqual(fact["src"], {"file": "in.npy", "dtype": "uint8", "shape": [4],
                                           "bytes": 4})
            self.assertEqual(fact["dst"], {"file": "both.npy", "params": "p.json", "update": True,
                                           "dtype": "uint8", "shape": [6], "bytes": 6})

    def test_skipped_is_a_separate_state(self):
        self.write("job.json", [mov("no.npy", "a.npy", name="a"), mov(name="b", after=["a"])])
        error = self.ctl("run", "--json", "job.json", code=2).json[1]["error"]
        self.assertEqual((error["name"], error["pointer"]), ("SKIPPED", "/1/after/0"))
        self.assertNotIn("code", error)

    def test_validate_follows_links_to_future_outputs(self):
        os.symlink("real.npy", self.path("link.npy"))
        self.write("job.json", [mov(dst="link.npy"), mov("real.npy", "out.npy")])
        for command in ("validate", "run"):
            self.ctl(command, "job.json", code=0)
        self.assert_refused(mov(dst={"file": "x.npy", "params": "./x.npy"}), "/dst/params")

    def test_validate_lets_a_later_job_read_an_output_as_raw_bytes(self):
        self.write_npy("in.npy", "|i1", [4, 6])
        raw = {"file": "first.npy", "format": "raw", "type": "fx8", "shape": [24], "offset": 128}
        jobs = [mov("in.npy", "first.npy"), mov(raw, "second.npy")]
        for command in ("validate", "run"):
            self.ctl(command, self.write("job.json", jobs), code=0)
        self.assertEqual(self.read("second.npy"), npy("|i1", [24], ramp(24)))
        jobs[1]["src"]["shape"] = [25]
        self.write("job.json", jobs)
        for command in ("run", "validate"):
            self.assertNotEqual(self.ctl(command, "job.json").code, 0)

    def test_validate_knows_outputs_of_earlier_jobs(self):
        jobs = [self.job("a"), {"name": "b", "src": {"file": "in.npy"}, "cfg": {"offset": [2]},
                                "dst": {"file": "./a.npy", "update": True}},
                dict(self.job("c", self.path("a.npy")), cfg={"offset": [3]})]
        facts = self.run_all(jobs, command="validate").json
        self.assertEqual(facts[2]["dst"]["shape"], [1])
        self.run_all(jobs)
        self.run_all([jobs[2]], command="validate")
        os.remove(self.path("a.npy"))
        self.run_all([jobs[2]], command="validate", code=2)


class Synced(Case):
    def test_files_are_synced_before_the_rename(self):
        """strace shows the order of the calls: fsync of the file, rename, fsync of the directory."""
        if not shutil.which("strace"):
            self.skipTest("there is no strace")
        self.write_npy("in.npy")
        self.write_npy("big.npy")
        self.write("job.json", [mov("in.npy", {"file": "out.npy", "params": "p.json"}),
                                mov("in.npy", {"file": "big.npy", "update": True})])
        for options, syncs in (((), 0), (("--sync",), 6)):  # each output: its file and its directory
            log = self.path("log")
            run = subprocess.run(["strace", "-f", "-o", log, "-e", "trace=fsync,linkat,renameat",
                                  MLICTL, "run", "-q", *options, "job.json"], cwd=self.dir,
                                 env=self.environment(), capture_output=True, timeout=60,
                                 check=False)
            if run.returncode != 0 and b"ptrace" in run.stderr:
                self.skipTest("strace may not trace here")
            self.assertEqual(run.returncode, 0, run.stderr)
            got = re.findall(r" (fsync|linkat|renameat)\(.*= (?:0|-1 EEXIST)", self.read("log").decode())
            self.assertEqual(got.count("fsync"), syncs, got)
            if syncs:
                self.assertEqual((got[0], got[-1]), ("fsync", "fsync"))
        self.assertEqual(self.read("out.npy"), self.read("in.npy"))

    def test_not_with_detach(self):
        self.write("job.json", mov("in.npy", "out.npy"))
        result = self.submit("--sync", "--detach", "job.json", code=2)
        self.assertIn("--sync cannot be combined with --detach", result.err)


if __name__ == "__main__":
    main()
