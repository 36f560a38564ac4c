# SPDX-License-Identifier: BSD-3-Clause
"""Tests files that several jobs of a job file write: outputs that one job would replace, and tensors made of parts."""
import json
import os
import subprocess

from harness import MLICTL, Case, main, mov, npy, wait_for
from test_remote import Remote


def part(src, at, dst="both.npy", shape=(2, 5), **more):
    """Returns a job that writes a part of a tensor with this shape."""
    dst = dst if isinstance(dst, dict) else {"file": dst}
    return mov(src, dict(dst, shape=list(shape)), dst_offset=at, **more)


def left_and_right(**more):
    return [part("left.npy", [0, 0], name="left", **more), part("right.npy", [0, 3], name="right", **more)]


LEFT, RIGHT = bytes([1, 2, 3, 4, 5, 6]), bytes([7, 8, 9, 10])
BOTH = npy("|i1", (2, 5), bytes([1, 2, 3, 7, 8, 4, 5, 6, 9, 10]))


class Scene(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("left.npy", "|i1", (2, 3), data=LEFT)
        self.write_npy("right.npy", "|i1", (2, 2), data=RIGHT)


class Replaced(Scene):
    def test_a_concatenation_that_would_keep_only_its_last_part(self):
        jobs = [mov("left.npy", name="left"), mov("right.npy", dst_offset=[0, 3], name="right")]
        self.assert_refused(
            jobs, "/1/dst/file", 'the job "right" would replace out.npy, which the job "left" writes; give each job a '
            "file of its own, or give both the same dst.shape: the first makes the tensor, the other writes a part")
        self.write("job.json", jobs)
        before = self.listing()
        for words in (("optimise",), ("batch",), ("explain", "--c"), ("explain", "--job", "left"),
                      ("validate", "--profile", "vpx5-nsim")):
            result = self.ctl(*words, "job.json")
            self.assertIn(result.code, (1, 2), result)
            self.assertIn('the job "right" would replace out.npy, which the job "left" writes', result.err + result.out)
        self.assertEqual(self.listing(), before)

    def test_names_of_jobs_and_the_order_of_running(self):
        self.assert_refused([mov("left.npy"), mov("right.npy", "b.npy"), mov("right.npy")], "/2/dst/file",
                            "the job /2 would replace out.npy, which the job /0 writes")
        self.assert_refused({"jobs": [mov("left.npy", name="a", after=["b"]), mov("right.npy", name="b")]},
                            "/jobs/0/dst/file", 'the job "a" would replace out.npy, which the job "b" writes')

    def test_the_first_conflict_is_reported(self):
        names = [f"{n}.npy" for n in range(20)]
        jobs = [mov("left.npy", name) for name in names + names[::-1]]
        self.assert_refused(jobs, "/20/dst/file", "the job /20 would replace 19.npy, which the job /19 writes")

    def test_all_paths_of_a_file(self):
        os.makedirs(self.path("sub/deep"))
        os.symlink("sub", self.path("linked"))
        os.symlink("deep/../out.npy", self.path("sub/link.npy"))
        for there in (False, True):
            if there:
                self.write_npy("sub/out.npy", "|i1", (1,))
            for name in ("./sub/out.npy", "sub/deep/../out.npy", "linked/out.npy", "sub//out.npy", "sub/link.npy",
                         "linked/link.npy", self.path("sub/out.npy")):
                for first, second in (("sub/out.npy", name), (name, "sub/out.npy")):
                    self.write("job.json", [mov("left.npy", first, name="left"), mov("right.npy", second, name="right")])
                    result = self.ctl("validate", "job.json", code=2)
                    self.assertIn('which the job "left" writes', result.err, name)

    def test_paths_in_messages_are_relative_to_the_working_directory(self):
        self.write("sub/job.json", [mov("../left.npy"), mov("../right.npy")])
        self.assertIn(" would replace sub/out.npy, which ", self.ctl("run", "sub/job.json", code=2).err)
        self.write("sub/job.json", [part("../left.npy", [0, 0]), part("../right.npy", [0, 0])])
        self.assertIn(" use bytes of sub/both.npy within ", self.ctl("validate", "sub/job.json", code=0).err)
        self.write("sub/job.json", [part("../left.npy", [0, 0]), part("../right.npy", [0, 0], shape=[9, 9])])
        self.assertIn(" makes sub/both.npy with ", self.ctl("validate", "sub/job.json", code=2).err)

    def test_hard_links_are_different_outputs(self):
        """A new output replaces its name only, so that the two files of a hard link become different files."""
        self.write_npy("a.npy", "|i1", (1,))
        os.link(self.path("a.npy"), self.path("b.npy"))
        self.move([mov("left.npy", "a.npy"), mov("right.npy", "b.npy")])
        self.assertEqual(self.read("a.npy"), self.read("left.npy"))
        self.assertEqual(self.read("b.npy"), self.read("right.npy"))

    def test_updates(self):
        self.write_npy("out.npy", "|i1", (2, 5), data=bytes(10))
        into = {"file": "out.npy", "update": True}
        self.assert_refused([mov("left.npy", into), mov("right.npy")], "/1/dst/file", "the job /1 would replace out.npy")
        self.move([mov("left.npy", into), mov("right.npy", into, dst_offset=[0, 3])])
        self.assertEqual(self.read("out.npy"), BOTH)
        self.move([mov("left.npy"), mov("right.npy", into)])
        self.assertEqual(self.read("out.npy"), npy("|i1", (2, 3), bytes([7, 8, 3, 9, 10, 6])))

    def test_a_job_that_must_fail_writes_nothing(self):
        wrong = mov("left.npy", offset=[2, 0], expect={"error": "REFUSED"})
        for jobs in ([wrong, mov("right.npy")], [mov("right.npy"), wrong], [wrong, wrong]):
            self.move(jobs)

    def test_files_of_parameters(self):
        def job(src, dst, params, **more):
            return mov({"file": src, "type": "sa8", "scale": 3}, {"file": dst, "params": params}, **more)
        self.assert_refused([job("left.npy", "a.npy", "p.json", name="left"), job("right.npy", "b.npy", "./p.json")],
                            "/1/dst/params", 'the job /1 would replace p.json, which the job "left" writes')
        self.assert_refused([job("left.npy", "a.npy", "p.json"), mov("right.npy", "p.json")], "/1/dst/file")
        self.assert_refused([mov("right.npy", "p.json"), job("left.npy", "a.npy", "p.json")], "/1/dst/params")
        parts = left_and_right()
        for one in parts:
            one["src"] = dict(one["src"], type="sa8", scale=3)
            one["dst"]["params"] = "p.json"
        self.move(parts)
        self.assertEqual((self.read("both.npy"), json.loads(self.read("p.json"))["scale"]), (BOTH, 3))

    def test_other_job_files_may_replace_an_output(self):
        for name in ("left", "right"):
            self.write(name + ".json", mov(name + ".npy"))
        self.ctl("run", "left.json", "right.json", code=0)
        self.assertEqual(self.read("out.npy"), self.read("right.npy"))


class Made(Scene):
    def run_all_ways(self, jobs, wanted, name="both.npy"):
        self.write("job.json", jobs)
        for words in (("validate",), ("explain", "--no-memcpy"), ("batch",)):
            self.ctl(*words, "job.json", code=0)
            self.assertFalse(self.exists(name), words)
        for words in (("run",), ("submit", "--socket", self.daemon.socket)):
            self.ctl(*words, "job.json", code=0)
            self.assertEqual(self.read(name), wanted)
            os.unlink(self.path(name))

    def test_a_concatenation(self):
        self.run_all_ways({"jobs": left_and_right()}, BOTH)

    def test_one_job_with_zeros_elsewhere(self):
        self.run_all_ways(part("right.npy", [1, 1], shape=[4, 5]),
                          npy("|i1", (4, 5), bytes(6) + b"\7\10" + bytes(3) + b"\11\12" + bytes(7)))

    def test_elements_of_8_bytes(self):
        def wide(data):
            return b"".join(bytes([n] * 8) for n in data)
        self.write_npy("left.npy", "<i8", (2, 3), data=wide(LEFT))
        self.write_npy("right.npy", "<i8", (2, 2), data=wide(RIGHT))
        self.run_all_ways(left_and_right(), npy("<i8", (2, 5), wide(BOTH[128:])))

    def test_raw_files(self):
        dst = {"file": "both.bin", "offset": 3, "strides": [7, 1]}
        wanted = bytes(3) + bytes([1, 2, 3, 7, 8, 0, 0, 4, 5, 6, 9, 10])
        self.run_all_ways(left_and_right(dst=dst), wanted, "both.bin")

    def test_the_first_job_in_the_order_of_running_makes_the_tensor(self):
        left, right = left_and_right()
        for jobs in ([left, right], [right, left], [dict(right, after=["left"]), left]):
            self.write_npy("both.npy", "|i1", (9,))
            facts = self.ctl("run", "--json", self.write("job.json", jobs), code=0).json
            self.assertEqual(self.read("both.npy"), BOTH)
            self.assertEqual(["update" in fact["dst"] for fact in facts], [False, True])
        self.assertEqual([fact["name"] for fact in facts], ["left", "right"])

    def test_a_later_job_may_update_the_tensor(self):
        left, right = left_and_right()
        right["dst"] = {"file": "./both.npy", "update": True}
        self.run_all_ways([left, right], BOTH)

    def test_paths(self):
        os.symlink("both.npy", self.path("link.npy"))
        left, right = left_and_right()
        right["dst"]["file"] = "link.npy"
        self.run_all_ways([left, right], BOTH)
        # A hard link is a name of its own: each job makes a tensor.
        self.write_npy("both.npy", "|i1", (1,))
        os.link(self.path("both.npy"), self.path("hard.npy"))
        right["dst"]["file"] = "hard.npy"
        self.move([left, right])
        self.assertEqual(self.read("both.npy"), npy("|i1", (2, 5), bytes([1, 2, 3, 0, 0, 4, 5, 6, 0, 0])))
        self.assertEqual(self.read("hard.npy"), npy("|i1", (2, 5), bytes([0, 0, 0, 7, 8, 0, 0, 0, 9, 10])))

    def test_jobs_that_disagree(self):
        left, right = left_and_right()
        right["dst"]["shape"] = [2, 6]
        self.assert_refused([left, right], "/1/dst/shape", 'the job "left" makes both.npy with the shape (2, 5); all jobs')
        right["dst"]["shape"] = [2, 5, 1]
        self.assert_refused([left, right], "/1/dst/shape", "with the shape (2, 5)")
        del right["dst"]["shape"]
        self.assert_refused([left, right], "/1/dst/file", "give both the same dst.shape")
        self.assert_refused([right, left], "/1/dst/file", "give both the same dst.shape")
        for more in ({"offset": 4}, {"strides": [6, 1]}, {"format": "npy"}):
            left, right = left_and_right(dst="both.bin")
            right["dst"].update(more)
            self.assert_refused([left, right], "/1/dst/shape", 'the job "left" makes both.bin', "format, offset and strides")

    def test_shapes_that_do_not_fit(self):
        self.assert_refused(part("left.npy", [0, 3]), "/cfg/dst_offset/1", "the result ends at 6, but dst.shape at 5")
        left, right = left_and_right()
        right["cfg"]["dst_offset"] = [1, 0]
        self.write("job.json", [left, right])
        for command in ("validate", "explain", "run"):
            result = self.ctl(command, "job.json", code=2)
            self.assertIn("[1].cfg.dst_offset[0]: the result ends at 3, but dst.shape at 2", result.err)
        self.assert_refused(part("left.npy", [0, 0], shape=[2, 5, 1]), "/dst/shape", "3 entries given")
        self.assert_refused(part("left.npy", [0, 0], dst_mem_stride=[6, 1]), "/cfg/dst_mem_stride/0", "must be 5")
        big = [2**32 - 1] * 2
        self.assert_refused(part("left.npy", [0, 0], shape=big), "/dst/shape", "exceeds 2147483647")
        self.assert_refused(part("left.npy", [0, 0], shape=[2**32 - 1, 2**31 - 1], dst={
            "file": "both.bin", "offset": 2**53 - 1, "strides": [2**31 - 1, 2**31 - 1]}), "/dst/shape", "2^63 bytes")

    def test_the_dtype_is_that_of_the_first_part(self):
        self.write_npy("right.npy", "|u1", (2, 2))
        self.write("job.json", left_and_right())
        for command in ("validate", "run"):
            self.assertIn("holds int8, but the source holds uint8", self.ctl(command, "job.json", code=2).err)
        for dtypes in (("<i2", "|i1"), ("|i1", "<i2")):
            self.write_npy("left.npy", dtypes[0], (2, 3))
            self.write_npy("right.npy", dtypes[1], (2, 2))
            self.write("job.json", left_and_right(dst="both.bin"))
            for command in ("validate", "run"):
                result = self.ctl(command, "job.json")
                self.assertEqual((result.code, "both.bin" in result.err), (2, True), result)

    def test_a_full_disk(self):
        """The storage of the whole tensor is reserved before the first part moves."""
        self.write_npy("both.npy", "|i1", (1,))
        before = self.listing()
        self.write("job.json", left_and_right(shape=[2**16, 2**14]))
        done = subprocess.run(["sh", "-c", 'ulimit -f 2000; trap "" XFSZ; exec "$0" run job.json', MLICTL], cwd=self.dir,
                              capture_output=True, text=True, env=self.environment())
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("dst.file: both.npy: 1.00 GiB needed: ", done.stderr)
        self.assertIn('[1].dst: not run, because the job "left", which makes the tensor, did not succeed', done.stderr)
        os.unlink(self.path("job.json"))
        self.assertEqual(self.listing(), before)

    def test_parts_wait_for_the_job_that_makes_the_tensor(self):
        """An old file with the same name is never updated with new parts."""
        self.write("both.npy", BOTH)
        left, right = left_and_right()
        last = part("left.npy", [0, 0], name="last", after=["right"])
        other = mov("right.npy", {"file": "both.npy", "update": True})
        left["src"]["file"] = "no.npy"
        jobs = [left, right, last, other]
        for command in ("validate", "run"):
            result = self.ctl(command, "--json", self.write("job.json", jobs), code=2)
            self.assertEqual([fact["state"] for fact in result.json], ["invalid", "skipped", "skipped", "skipped"])
            self.assertEqual([fact["error"]["pointer"] for fact in result.json],
                             ["/0/src/file", "/1/dst", "/2/after/0", "/3/dst"])
            self.assertIn('after[0]: not run, because "right" was not run after "left" failed', result.err)
        del left["name"]
        self.assertIn("the job /0, which makes the tensor", self.ctl("run", self.write("job.json", jobs), code=2).err)
        self.assertEqual(self.read("both.npy"), BOTH)

    def test_detached_jobs(self):
        self.write("job.json", left_and_right())
        self.write("first.json", mov("left.npy", "first.npy"))
        self.write("both.npy", b"old")
        before = self.listing()
        for files in (("job.json",), ("first.json", "job.json")):
            result = self.submit("--detach", "--json", *files, code=2)
            self.assertEqual(result.json[0]["error"]["pointer"], "/1/dst/shape")
            self.assertIn("not allowed with --detach: the job that makes the tensor must end first", result.err)
            self.assertTrue(wait_for(self.daemon.idle))
            self.assertEqual((self.listing(), self.read("both.npy")), (before, b"old"))

    def test_parameters(self):
        dst = {"file": "both.npy", "params": "p.json", "axis": 1, "scale": [1, 2, 3, 4, 5]}
        jobs = left_and_right(dst=dst)
        jobs[0]["src"] = {"file": "left.npy", "type": "sa8", "axis": 1, "scale": [1, 2, 3]}
        jobs[1]["src"] = {"file": "right.npy", "type": "sa8", "axis": 1, "scale": [4, 5]}
        self.run_all_ways(jobs, BOTH)
        self.assertEqual(json.loads(self.read("p.json"))["scale"], [1, 2, 3, 4, 5])
        self.assertEqual(self.ctl("validate", "-q", "job.json", code=0).err, "")
        jobs[1]["dst"]["scale"] = [1, 2]
        self.write("job.json", jobs)
        self.assertIn("2 entries", self.ctl("validate", "job.json", code=2).err)

    def test_parameters_that_differ(self):
        """The last part gives the parameters of the tensor: validate and explain warn if it loses those of a part."""
        def warnings(sources, **dst):
            jobs = left_and_right(dst=dict(dst, file="both.npy", params="p.json"))
            for job, more in zip(jobs, sources):
                job["src"] = {"file": job["name"] + ".npy", "type": "sa8", **more}
            self.write("job.json", jobs)
            texts = []
            for command in (("validate",), ("explain", "--no-memcpy")):
                result = self.ctl(*command, "--json", "job.json", code=0)
                found = [line["warning"] for line in result.json if "warning" in line]
                for warning in found:
                    self.assertEqual((warning["name"], warning["jobs"], warning["file"]), ("PARAMS", ["/0", "/1"], "both.npy"))
                    self.assertIn(f"job.json: warning: {warning['message']}\n", result.err)
                texts.append([warning["message"].split("differ in ")[1].split(";")[0] for warning in found])
            self.assertEqual(texts[0], texts[1])
            return texts[0]
        self.assertEqual(warnings([{"scale": 3}, {"scale": 3}]), [])
        self.assertEqual(warnings([{"scale": 3}, {"scale": 4}]), ['scale: 3 in "left", 4 in "right"'])
        self.assertEqual(warnings([{"scale": 3}, {}]), ['scale: 3 in "left", 1 in "right"'])
        axes = [{"axis": 1, "scale": [2, 3, 4]}, {"axis": 1, "scale": [7, 8]}]
        self.assertEqual(warnings(axes), ['scale[0] and 2 more: 2 in "left", 1 in "right"'])
        self.assertEqual(warnings(axes, axis=1, scale=[2, 3, 4, 1, 1]), [])
        self.assertEqual(warnings(axes, axis=1, scale=[2, 9, 4, 7, 8]), ['scale[1]: 3 in "left", 9 in "right"'])
        self.assertEqual(warnings([axes[0], {"scale": 4}])[0][:4], "axis")

    def test_staged_parts(self):
        jobs = [dict(job, stage="vccm") for job in left_and_right()]
        self.write("job.json", jobs)
        for command in ("validate", "run"):
            self.ctl(command, "--profile", "vpx5-nsim", "job.json", code=0)
        self.assertEqual(self.read("both.npy"), BOTH)

    def test_expected_errors(self):
        left, right = left_and_right()
        wrong = part("left.npy", [1, 0], name="wrong", expect={"error": "INVALID_PARAMS", "pointer": "/cfg/dst_offset/0"})
        self.run_all_ways([left, wrong, right], BOTH)
        self.run_all_ways([wrong, left, right], BOTH)
        # The file must have the shape that the job states.
        wrong = part("left.npy", [0, 0], shape=[2, 6], expect={"error": "INVALID_PARAMS", "pointer": "/dst/shape"})
        self.run_all_ways([left, wrong, right], BOTH)


class Races(Scene):
    def warnings(self, jobs):
        self.write("job.json", jobs)
        found = []
        for words in (("validate",), ("explain", "--no-memcpy"), ("explain", "--no-memcpy", "--job", "0")):
            result = self.ctl(*words, "--json", "job.json", code=0)
            found.append([(w["name"], w["jobs"], w["file"]) for w in
                          (line["warning"] for line in result.json if "warning" in line)])
        self.assertEqual(found, [found[0]] * len(found))
        self.err = result.err
        return found[0]

    def test_parts_that_overlap(self):
        left, right = left_and_right()
        self.assertEqual(self.warnings([left, right]), [])
        right["cfg"]["dst_offset"] = [0, 2]
        self.assertEqual(self.warnings([left, right]), [("RACE", ["/0", "/1"], "both.npy")])
        self.assertIn('race: the jobs "left" and "right" both use bytes of both.npy within [130, 136), and both write them; '
                      'order the jobs with "after"', self.err)
        self.assertEqual(self.warnings([left, dict(right, after=["left"])]), [])

    def test_readers(self):
        left, right = left_and_right()
        read = mov("./both.npy", name="read", offset=[0, 3])
        self.assertEqual(self.warnings([left, right, read]), [("RACE", ["/1", "/2"], "both.npy")])
        self.assertEqual(self.warnings([left, right, dict(read, after=["right"])]), [])
        # If one job writes the file, a detached reader waits for this job.
        self.assertEqual(self.warnings([left, read]), [])

    def test_run_is_silent(self):
        left, right = left_and_right()
        right["cfg"]["dst_offset"] = [0, 2]
        self.assertEqual(self.ctl("run", self.write("job.json", [left, right]), code=0).err, "")


class Batch(Scene):
    def test_keep_and_update_golden(self):
        for name in ("left", "right"):
            os.makedirs(self.path("cases"), exist_ok=True)
            os.rename(self.path(name + ".npy"), self.path(f"cases/{name}.npy"))
        left, right = left_and_right()
        right["expect"] = {"file": "golden.npy"}
        self.write("cases/a.json", [left, right])
        self.ctl("batch", "cases", "--update-golden", code=1)
        self.assertEqual(self.read("cases/golden.npy"), BOTH)
        self.ctl("batch", "cases", code=0)
        wrong = BOTH[:-1] + b"\0"
        self.write("cases/golden.npy", wrong)
        self.ctl("batch", "cases", "--keep", "kept", code=1)
        kept = json.loads(self.read("kept/a/job.json"))
        self.assertEqual((kept["dst"], self.read("kept/a/given.npy")), ({"file": "out.npy", "update": True}, BOTH))
        self.assertIn("1 of 10 elements differ", self.ctl("run", "kept/a/job.json", code=1).err)
        self.assertEqual(self.read("kept/a/out.npy"), BOTH)
        # The job that makes the tensor is kept with its shape.
        self.write("cases/a.json", dict(right, expect={"file": "golden.npy"}))
        self.ctl("batch", "cases", "--keep", "kept", code=1)
        kept = json.loads(self.read("kept/a/job.json"))
        self.assertEqual(kept["dst"], {"file": "out.npy", "shape": [2, 5]})
        self.ctl("run", "kept/a/job.json", code=1)
        self.assertEqual(self.read("kept/a/out.npy"), self.read("kept/a/given.npy"))
        self.assertFalse(self.exists("cases/both.npy"))

    def test_many_cases_on_threads_and_shards(self):
        """Each case has its own outputs in memory, even if all cases write the same file."""
        golden = {"digest": "sha256:" + subprocess.run(["sha256sum", self.write("wanted.npy", BOTH)], text=True, check=True,
                                                       capture_output=True).stdout.split()[0]}
        left, right = left_and_right()
        for number in range(40):
            self.write(f"{number}.json", [left, dict(right, expect=golden)])
        total = 0
        for shard in ("1/2", "2/2"):
            lines = self.ctl("batch", "-j", "4", "--shard", shard, "--json", ".", code=0).json
            total += sum(line.get("status") == "passed" for line in lines if line["event"] == "case")
        self.assertEqual(total, 40)
        self.assertFalse(self.exists("both.npy"))

    def test_a_case_with_replaced_outputs_is_an_error(self):
        self.write("job.json", [mov("left.npy"), mov("right.npy")])
        case = [line for line in self.ctl("batch", "--json", "job.json", code=1).json if line["event"] == "case"][0]
        self.assertEqual((case["status"], case["pointer"]), ("error", "/1/dst/file"))

    def test_a_huge_tensor_needs_no_memory(self):
        self.write("job.json", left_and_right(shape=[2**20, 2**20]))
        self.ctl("batch", "job.json", code=0)

    def test_resume(self):
        """The file of the output in the directory is not an input of the case."""
        self.write("job.json", left_and_right())
        options = ("--resume", "state.json", "--json", "job.json")
        self.ctl("batch", *options, code=0)
        self.write("both.npy", b"other")
        self.assertEqual(self.ctl("batch", *options, code=0).json[0]["resumed"], 1)


class Optimise(Scene):
    def test_parts_read_the_sources_of_removed_jobs(self):
        jobs = [mov("left.npy", {"buffer": "b"})] + left_and_right()
        jobs[1]["src"] = {"buffer": "b", "type": "fx8", "shape": [2, 3]}
        jobs.append(mov("both.npy", perm_dim=[1, 0], name="turn"))
        self.write("job.json", {"buffers": [{"name": "b", "bytes": 6}], "jobs": jobs})
        report = self.ctl("optimise", "job.json", "-o", "new.json", "--json", code=0).json[0]
        self.assertEqual((report["before"]["jobs"], report["after"]["jobs"], report["proof"]["outputs"]), (4, 3, 2))
        new = json.loads(self.read("new.json"))
        self.assertEqual([job["dst"] for job in new], [{"file": "both.npy", "shape": [2, 5]},
                                                       {"file": "both.npy", "update": True}, {"file": "out.npy"}])
        self.ctl("run", "new.json", code=0)
        self.assertEqual(self.read("both.npy"), BOTH)
        self.assertEqual(self.read("out.npy"), npy("|i1", (5, 2), bytes([1, 4, 2, 5, 3, 6, 7, 9, 8, 10])))


class RemoteParts(Remote):
    def test_over_ssh(self):
        self.write_npy("left.npy", "|i1", (2, 3), data=LEFT)
        self.write_npy("right.npy", "|i1", (2, 2), data=RIGHT)
        self.write("job.json", left_and_right())
        self.remote("submit", "job.json", code=0)
        self.assertEqual(self.read("both.npy"), BOTH)


del Remote
if __name__ == "__main__":
    main()
