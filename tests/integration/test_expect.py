# SPDX-License-Identifier: BSD-3-Clause
"""Tests the member `expect` of a job: run, submit and validate agree on the verdict."""
import hashlib
import io
import json

from harness import Case, main, mov, needs_numpy, npy, numpy, ramp

BEYOND = {"error": "MLI_STATUS_BAD_FUNC_CFG", "pointer": "/cfg/offset/0"}  # of REFUSED
REFUSED = dict(offset=[9, 0, 0])


def digest(content):
    return {"digest": "sha256:" + hashlib.sha256(content).hexdigest()}


class ExpectCase(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.same = npy("|i1", (2, 3, 4), ramp(24))

    def commands(self):
        return ["run"], ["submit", "-s", self.daemon.socket]

    def each(self, job, code, commands=None):
        """Runs each command. Yields the JSON object that it prints for the job, and the finished
        process."""
        self.write("job.json", job)
        for command in commands or self.commands():
            with self.subTest(command=command[0]):
                result = self.ctl(*command, "--json", "job.json", code=code)
                yield result.json[0], result

    def line(self, command, *options):
        return self.ctl(*command, *options, "job.json").out


class Digests(ExpectCase):
    def test_same(self):
        wanted = digest(self.same)
        for fact, result in self.each(mov(expect=wanted), 0):
            self.assertEqual((fact["state"], result.err), ("done", ""))
            self.assertEqual(fact["expect"], dict(wanted, same=True, difference=None))
            self.assertEqual(self.read("out.npy"), self.same)
        self.assertIn(", as expected\n", self.line(["run"]))
        self.move(mov(expect={"digest": "sha256:" + wanted["digest"][7:].upper()}))

    def test_a_different_digest(self):
        wanted = digest(b"something else")
        for fact, result in self.each(mov(expect=wanted), 1):
            self.assertEqual((fact["state"], fact["exit"]), ("mismatch", 1))
            self.assertNotIn("error", fact)
            self.assertEqual(fact["expect"], dict(wanted, same=False, difference={
                "kind": "digest", "a": digest(self.same), "b": wanted}))
            self.assertEqual(result.err, "mlictl: job.json: expect: digests differ: "
                             f"got {digest(self.same)['digest']}, expected {wanted['digest']}; "
                             "the result is out.npy\n")
            self.assertEqual(self.read("out.npy"), self.same)  # to be looked at

    def test_a_mismatch_prints_no_success(self):
        self.write("cases/job.json", [mov("../in.npy", "a.npy", expect=digest(self.same)),
                                      mov("../in.npy", "../b.npy", expect=digest(b"something else"))])
        for command in self.commands():
            result = self.ctl(*command, "cases/job.json", code=1)
            self.assertRegex(result.out, r"^cases/job.json#/0: mov [^\n]* -> cases/a.npy, as expected\n$")
            self.assertRegex(result.err, r"^mlictl: cases/job.json: \[1\].expect: digests differ: .*; "
                                         r"the result is b.npy\n$")

    def test_of_a_raw_output(self):
        for _ in self.each(mov(dst="out.bin", expect=digest(ramp(24))), 0):
            pass

    def test_of_an_updated_file(self):
        """The digest of an updated file covers the whole file, also the bytes that the job did not
        change. The file may be in Fortran order."""
        for fortran in (False, True):
            before = bytes(100 + i for i in range(24))
            self.write_npy("out.npy", fortran=fortran, data=before)
            after = bytes(1) + before[1:]
            job = mov(dst={"file": "out.npy", "update": True}, size=[1, 1, 1])
            wanted = digest(npy("|i1", (2, 3, 4), after, fortran))
            for _ in self.each(dict(job, expect=wanted), 0):
                pass

    def test_of_the_target_of_a_link(self):
        (self.dir / "link.npy").symlink_to("real.npy")
        for _ in self.each(mov(dst="link.npy", expect=digest(self.same)), 0):
            self.assertEqual(self.read("real.npy"), self.same)

    def test_validate_cannot_compare_outputs(self):
        for fact, _ in self.each(mov(expect=digest(b"")), 0, [["validate"]]):
            self.assertEqual(fact["state"], "valid")
            self.assertNotIn("expect", fact)

    def test_a_chain_stops_at_a_mismatch(self):
        jobs = [mov(dst="1.npy", name="a", expect=digest(b"")),
                mov("1.npy", "2.npy", after=["a"])]
        self.write("job.json", jobs)
        result = self.ctl("run", "--json", "job.json", code=1)
        self.assertEqual([fact["state"] for fact in result.json], ["mismatch", "skipped"])
        self.assertIn("digests differ", result.json[1]["error"]["message"])


class RawGoldens(ExpectCase):
    """A comparison covers all bytes of a raw output, even the bytes between elements."""

    def setUp(self):
        super().setUp()
        self.write("in.bin", b"aa\0\0aa")
        self.job = mov({"file": "in.bin", "type": "fx8", "shape": [2, 2], "strides": [4, 1]},
                       {"file": "out.bin", "strides": [4, 1]}, expect={"file": "golden.bin"})

    def assert_differs(self, job, golden, at, count, values):
        self.write("golden.bin", golden)
        for fact, result in self.each(job, 1):
            size = len(golden)
            self.assertEqual(fact["expect"]["difference"],
                             {"kind": "bytes", "at": at, "count": count, "bytes": size})
            self.assertEqual(result.err, "mlictl: job.json: expect: the elements are the same, "
                             f"but {count} of {size} bytes differ, the first at byte {at}: got "
                             f"{values[0]}, expected {values[1]} in golden.bin; the result is out.bin\n")

    def test_gaps_are_compared(self):
        self.assert_differs(self.job, b"aaXYaa", 2, 2, ("0x00", "0x58"))
        self.assert_differs(self.job, b"aa\0Yaa", 3, 1, ("0x00", "0x59"))
        self.write("golden.bin", b"aa\0\0aa")
        for fact, _ in self.each(self.job, 0):
            self.assertTrue(fact["expect"]["same"])

    def test_elements_come_first(self):
        self.write("golden.bin", b"aaXYab")
        for fact, _ in self.each(self.job, 1):
            difference = fact["expect"]["difference"]
            self.assertEqual((difference["kind"], difference["at"]), ("values", [1, 1]))

    def test_an_update_is_compared_whole(self):
        before = b"12345678"
        for shape in ({}, {"shape": [2, 2]}):
            job = dict(self.job, dst={"file": "out.bin", "update": True, "offset": 1,
                                      "strides": [4, 1], **shape})
            if shape:
                job["dst"]["strides"] = [3, 1]
            after = b"1aa4aa78" if shape else b"1aa45aa8"
            for golden, at in ((b"0" + after[1:], 0), (after[:-1] + b"9", 7)):
                self.write("out.bin", before)
                self.assert_differs(job, golden, at, 1,
                                    (f"0x{after[at]:02x}", f"0x{golden[at]:02x}"))
            self.write("golden.bin", after)
            for _ in self.each(job, 0):
                self.assertEqual(self.read("out.bin"), after)

    def test_a_npy_golden_has_no_gaps(self):
        self.write_npy("golden.npy", shape=(2, 2), data=b"aaaa")
        for _ in self.each(dict(self.job, expect={"file": "golden.npy"}), 0):
            pass

    def test_a_written_golden_is_as_expected(self):
        """run and batch accept the file that --update-golden writes. batch refuses a file with
        other bytes in the gaps."""
        for golden in ("golden.bin", "golden.npy"):
            job = dict(self.job, expect={"file": golden})
            self.write("job.json", job)
            self.ctl("batch", "--keep", "none", "--update-golden", "job.json", code=1)
            self.ctl("batch", "--keep", "none", "job.json", code=0)
            for _ in self.each(job, 0):
                self.assertEqual(self.read("out.bin"), b"aa\0\0aa")
        self.assertEqual(self.read("golden.bin"), b"aa\0\0aa")
        self.write("golden.bin", b"aaXYaa")
        self.write("job.json", self.job)
        result = self.ctl("batch", "--keep", "none", "job.json", code=1)
        self.assertIn("the elements are the same, but 2 of 6 bytes differ", result.out + result.err)
        self.ctl("batch", "--keep", "none", "--update-golden", "job.json", code=1)
        self.assertEqual(self.read("golden.bin.new"), b"aa\0\0aa")


class Parameters(ExpectCase):
    """`expect.params`: the quantisation parameters of the result are compared, as a file or in the job."""

    SRC = {"file": "in.npy", "type": "sa8", "axis": 2, "scale": [10, 20, 30, 40],
           "scale_frac_bits": [1, 2, 3, 4], "zero_point": [0, 0, 0, 5]}
    MOVED = {"type": "sa8", "axis": 0, "scale": [10, 20, 30, 40], "zero_point": [0, 0, 0, 5],
             "scale_frac_bits": [1, 2, 3, 4]}

    def setUp(self):
        super().setUp()
        self.move(self.job(None, dst={"file": "golden.npy", "params": "written.json"}))
        self.assertEqual(json.loads(self.read("written.json")), self.MOVED)

    def job(self, params, src=None, dst="out.npy", **expect):
        job = mov(src or self.SRC, dst, perm_dim=[2, 0, 1])
        if params is not None:
            job["expect"] = dict(expect or {"file": "golden.npy"}, params=params)
        return job

    def both(self, params, code):
        """Yields the facts and results for parameters in the job file, and in a file."""
        self.write("wanted.json", params)
        yield from self.each(self.job(params), code)
        yield from self.each(self.job("wanted.json"), code)

    def test_the_same(self):
        equal = {"axis": 0, "scale": [10, 20, 30, 40], "zero_point": [0, 0, 0, 5], "scale_frac_bits": [1, 2, 3, 4]}
        for params in (self.MOVED, equal):
            for fact, result in self.both(params, 0):
                self.assertEqual((fact["state"], result.err), ("done", ""))
                self.assertTrue(fact["expect"]["same"])
                self.assertNotIn("remark", fact)
        for _ in self.each(self.job(self.MOVED, **digest(self.read("golden.npy"))), 0):
            pass

    def test_every_difference(self):
        for change, param, count, got, wanted in (
                (dict(scale=[20, 10, 30, 40]), "scale[0]", 2, 10, 20),
                (dict(zero_point=[0, 0, 0, 4]), "zero_point[3]", 1, 5, 4),
                (dict(scale_frac_bits=[1, 2, 3, -4]), "scale_frac_bits[3]", 1, 4, -4),
                (dict(scale_frac_bits=0), "scale_frac_bits[0]", 4, 1, 0),
                (dict(axis=2), "axis", 1, 0, 2),
                (dict(type="sa32"), "type", 1, "sa8", "sa32")):
            for fact, result in self.both(dict(self.MOVED, **change), 1):
                self.assertEqual(fact["state"], "mismatch")
                self.assertEqual(fact["expect"]["difference"], {
                    "kind": "params", "param": param, "count": count, "a": {"value": got}, "b": {"value": wanted}})
                more = f" and {count - 1} more" if count > 1 else ""
                self.assertIn(f"mlictl: job.json: expect: the quantisation parameters differ in {param}{more}: "
                              f"got {got}, expected {wanted}", result.err)

    def test_a_lost_axis(self):
        for params, got, wanted in (({"scale": 10}, 0, "none"), ({}, 0, "none")):
            for fact, _ in self.both(params, 1):
                self.assertEqual(fact["expect"]["difference"]["param"], "axis")
                self.assertEqual(fact["expect"]["difference"]["b"]["value"], wanted)
        job = self.job(self.MOVED, src={"file": "in.npy", "type": "sa8", "scale": 10})
        for fact, _ in self.each(job, 1):
            self.assertEqual(fact["expect"]["difference"]["a"]["value"], "none")

    def test_fx(self):
        source = {"file": "in.npy", "type": "fx8", "frac_bits": 7}
        for _ in self.each(self.job({"frac_bits": 7}, src=source), 0):
            pass
        for params in ({"frac_bits": 6}, {}):
            for fact, _ in self.each(self.job(params, src=source), 1):
                self.assertEqual(fact["expect"]["difference"]["param"], "frac_bits")
        for _ in self.each(self.job({}, src={"file": "in.npy", "type": "fx8"}), 0):
            pass

    def test_elements_come_first(self):
        self.write_npy("golden.npy", shape=(4, 2, 3), data=bytes(24))
        for fact, _ in self.each(self.job({}), 1):
            self.assertEqual(fact["expect"]["difference"]["kind"], "values")

    def test_a_remark_without_params(self):
        job = mov(self.SRC, "out.npy", perm_dim=[2, 0, 1], expect={"file": "golden.npy"})
        remark = "the quantisation parameters of the result are not compared: expect has no params"
        for fact, _ in self.each(job, 0):
            self.assertEqual(fact["remark"], remark)
        self.assertIn(f"\n    remark: {remark}\n", self.line(["run"]))
        self.write("job.json", mov("in.npy", "out.npy", perm_dim=[2, 0, 1], expect={"file": "golden.npy"}))
        self.assertNotIn("remark", self.line(["run"]))

    def test_files_that_cannot_be_read(self):
        self.write("bad.json", b"{")
        self.write("long.json", {"shape": [1]})
        for name, text in (("none.json", "No such file"), ("bad.json", "bad.json:1:2: "),
                           ("long.json", "long.json: shape: unknown member"), (".", "not a regular file")):
            for fact, result in self.each(self.job(name), 2):
                self.assertEqual(fact["error"]["pointer"], "/expect/params")
                self.assertIn(text, result.err)
            self.ctl("validate", "job.json", code=2)

    def test_a_file_that_an_earlier_job_writes(self):
        first = self.job(None, dst={"file": "first.npy", "params": "first.json"})
        self.write("job.json", [first, self.job("first.json", dst="second.npy")])
        for command in (["run"], ["batch"], ["validate"]):
            self.ctl(*command, "job.json", code=0)
        self.write("job.json", self.job("same.json", dst={"file": "out.npy", "params": "same.json"}))
        self.write("same.json", self.MOVED)
        self.assertIn("dst.params: same.json is the same file as expect.params", self.ctl("run", "job.json", code=2).err)

    def test_of_a_staged_job(self):
        job = dict(self.job(self.MOVED), op="permute", stage="vccm")
        self.write("job.json", job)
        self.ctl("run", "--profile", "vpx5-nsim", "job.json", code=0)
        job["expect"]["params"] = dict(self.MOVED, scale=[10, 20, 30, 41])
        self.write("job.json", job)
        self.assertIn("scale[3]: got 40, expected 41", self.ctl("run", "--profile", "vpx5-nsim", "job.json", code=1).err)


class DifferentParameters(Case):
    """`mlictl diff` of parameters: two files of them, or those of two tensors."""

    FIRST = {"type": "sa8", "axis": 1, "scale": [1, 2, 3], "zero_point": [0, 0, 0], "scale_frac_bits": [0, 0, 0]}

    def setUp(self):
        super().setUp()
        self.write_npy("t.npy")
        self.write("a.json", self.FIRST)
        self.write("b.json", dict(self.FIRST, scale=[1, 3, 2]))
        self.write("same.json", {"scale_frac_bits": 0, "zero_point": 0, "scale": [1, 2, 3], "axis": 1})

    def diff(self, *words, code):
        return self.ctl("diff", *words, code=code)

    def test_files(self):
        self.assertEqual(self.diff("a.json", "same.json", code=0).out, "the same\n")
        text = "the quantisation parameters differ in scale[1] and 1 more: 2 in a.json, 3 in b.json\n"
        self.assertEqual(self.diff("a.json", "b.json", code=1).out, text)
        self.assertEqual(self.diff("--json", "a.json", "b.json", code=1).json, [{
            "a": "a.json", "b": "b.json", "same": False, "difference": {
                "kind": "params", "param": "scale[1]", "count": 2, "a": {"value": 2}, "b": {"value": 3}}}])
        self.write("few.json", {"axis": 1, "scale": [1, 2]})
        self.assertIn("differ in number of entries: 3 in a.json, 2 in few.json", self.diff("a.json", "few.json", code=1).out)

    def test_of_tensors(self):
        same, other = ("--params", "a.json", "--params", "same.json"), ("--params", "a.json", "--params", "b.json")
        self.assertEqual(self.diff(*same, "t.npy", "t.npy", code=0).out, "the same\n")
        self.assertEqual(self.diff("t.npy", "t.npy", *other, code=1).out,
                         "the quantisation parameters differ in scale[1] and 1 more: 2 in a.json, 3 in b.json\n")
        self.write_npy("u.npy", data=bytes(24))
        self.assertIn("elements differ", self.diff("t.npy", "u.npy", *other, code=1).out)

    def test_refused(self):
        self.assertIn("--params is given once for A and once for B",
                      self.diff("t.npy", "t.npy", "--params", "a.json", code=2).err)
        self.assertIn("--params is given once for A and once for B",
                      self.diff("t.npy", "t.npy", *["--params", "a.json"] * 3, code=2).err)
        self.write("bad.json", "{")
        for name, text in (("none.json", "none.json: No such file"), ("bad.json", "bad.json:1:2: ")):
            self.assertIn(text, self.diff("a.json", name, code=2).err)
            self.assertIn(text, self.diff("t.npy", "t.npy", "--params", name, "--params", "a.json", code=2).err)


class ExpectedErrors(ExpectCase):
    def assert_as_expected(self, job, name, commands=None):
        before = self.listing().keys() | {"job.json"}
        for fact, result in self.each(job, 0, commands):
            self.assertEqual((fact["state"], fact["exit"], result.err), ("done", 0, ""))
            self.assertEqual(fact["expect"], dict(job["expect"], same=True))
            self.assertIn(name, (fact["error"]["name"], fact["error"].get("status")))
            self.assertEqual(self.listing().keys(), before)
            self.assertNotIn("result", fact)

    def test_of_libmli(self):
        for expect in (BEYOND, {"error": BEYOND["error"]}, {"error": "REFUSED"},
                       {"error": "REFUSED", "pointer": BEYOND["pointer"]}):
            self.assert_as_expected(mov(expect=expect, **REFUSED), BEYOND["error"])
        self.assertEqual(self.line(["run"]), "job.json: refused as expected: "
                         "MLI_STATUS_BAD_FUNC_CFG: cfg.offset[0]: 9 given; must be below 2\n")
        self.assertEqual(self.line(["run"], "-q"), "")

    def test_of_files(self):
        self.assert_as_expected(mov("none.npy", expect={
            "error": "BAD_DESCRIPTOR", "pointer": "/src/file"}), "BAD_DESCRIPTOR")
        self.write("dir/x", b"")
        self.assert_as_expected(mov(dst="dir", expect={
            "error": "INVALID_PARAMS", "pointer": "/dst/file"}), "INVALID_PARAMS")

    def test_of_ranks(self):
        wrong = {"error": "INVALID_PARAMS", "pointer": "/cfg/size"}
        self.assert_as_expected(mov(size=[1], expect=wrong), "INVALID_PARAMS")
        raw = {"file": "in.npy", "format": "raw", "shape": [2, 3], "type": "fx8"}
        self.assert_as_expected(mov(raw, size=[1], expect=wrong), "INVALID_PARAMS")
        self.assert_as_expected(mov(op="permute", size=[1, 1, 1], perm_dim=[0, 1, 2],
                                    expect=wrong), "INVALID_PARAMS")

    def test_of_the_service(self):
        slow = ["run", "-e", "fault:threads,tiny=0,stick=1"]
        self.assert_as_expected(mov(timeout_ms=50, expect={"error": "TIMED_OUT"}), "TIMED_OUT",
                                [slow])
        self.assert_as_expected(mov(expect={"error": "DMA_ERROR"}), "DMA_ERROR",
                                [["run", "-e", "fault:threads,tiny=0,fail=1"]])

    def test_a_missing_refusal_writes_nothing(self):
        expect = {"error": "MLI_STATUS_BAD_FUNC_CFG"}
        self.write("there.npy", b"before")
        for dst in ("out.npy", "there.npy"):
            job = mov({"file": "in.npy", "scale": 3, "type": "sa8"},
                      {"file": dst, "params": "p.json"}, expect=expect)
            for fact, result in self.each(job, 1):
                self.assertEqual((fact["state"], fact["exit"]), ("failed", 1))
                self.assertEqual(fact["expect"], dict(expect, same=False))
                self.assertEqual((fact["error"]["name"], fact["error"]["pointer"]),
                                 ("NOT_REFUSED", "/expect/error"))
                self.assertNotIn("code", fact["error"])
                self.assertEqual(result.err, "mlictl: job.json: expect.error: "
                                 "MLI_STATUS_BAD_FUNC_CFG expected, but the job "
                                 "succeeded\n")
                self.assertFalse(self.exists("out.npy") or self.exists("p.json"))
                self.assertEqual(self.read("there.npy"), b"before")

    def test_an_update_stays_as_it_was(self):
        self.write_npy("out.npy", data=bytes(24))
        job = mov(dst={"file": "out.npy", "update": True}, expect={"error": "REFUSED"})
        for fact, _ in self.each(job, 1):
            self.assertEqual(fact["error"]["name"], "NOT_REFUSED")
            self.assertEqual(self.read("out.npy"), npy("|i1", (2, 3, 4), bytes(24)))

    def assert_other(self, expect, pointer, *words):
        for commands in (None, [["validate"]]):
            for fact, result in self.each([mov(expect=expect, **REFUSED)], 1, commands):
                self.assertEqual((fact["state"], fact["exit"]), ("failed", 1))
                self.assertEqual(fact["expect"], dict(expect, same=False))
                self.assertEqual((fact["error"]["status"], fact["error"]["pointer"]),
                                 (BEYOND["error"], "/0" + pointer))
                for word in words + ("cfg.offset[0]: 9 given",):
                    self.assertIn(word, result.err)

    def test_a_different_refusal(self):
        self.assert_other({"error": "MLI_STATUS_NOT_ENGH_MEM"}, "/expect/error",
                          "MLI_STATUS_NOT_ENGH_MEM expected, got MLI_STATUS_BAD_FUNC_CFG: "
                          "cfg.offset[0]: ")
        self.assert_other({"error": "INVALID_PARAMS"}, "/expect/error")

    def test_a_refusal_at_another_place(self):
        for pointer in ("/cfg/offset/1", "/cfg/offset", "/cfg", "/0/cfg/offset/0"):
            self.assert_other(dict(BEYOND, pointer=pointer), "/expect/pointer",
                              f"MLI_STATUS_BAD_FUNC_CFG at {pointer} expected, "
                              "got MLI_STATUS_BAD_FUNC_CFG at /cfg/offset/0: ")

    def test_dependants_of_an_expected_refusal_run(self):
        self.write("job.json", [mov(dst="1.npy", name="a", expect=BEYOND, **REFUSED),
                                mov(dst="2.npy", after=["a"]), mov("1.npy", "3.npy", after=["a"])])
        result = self.ctl("run", "--json", "job.json", code=2)
        self.assertEqual([fact["state"] for fact in result.json], ["done", "done", "invalid"])

    def test_dependants_of_a_missing_refusal_are_skipped(self):
        self.write("job.json", [mov(dst="1.npy", name="a", expect=BEYOND),
                                mov(dst="2.npy", after=["a"])])
        result = self.ctl("run", "--json", "job.json", code=1)
        self.assertEqual([fact["state"] for fact in result.json], ["failed", "skipped"])
        self.assertIn("but the job succeeded", result.json[1]["error"]["message"])

    def test_not_with_detach(self):
        self.write("job.json", mov(expect={"error": "INVALID_PARAMS"}))
        fact = self.submit("--detach", "--json", "job.json", code=2).json[0]
        self.assertEqual(fact["error"]["pointer"], "/expect")


class Validated(ExpectCase):
    """validate judges as run does if it can compute the result, and gives no verdict otherwise."""

    def check(self, job, code):
        return list(self.each(job, code, [["validate"]]))[0]

    def test_as_expected(self):
        fact, result = self.check(mov(expect=BEYOND, **REFUSED), 0)
        self.assertEqual((fact["state"], fact["expect"], result.err),
                         ("valid", dict(BEYOND, same=True), ""))
        self.assertTrue(self.line(["validate"]).startswith("job.json: refused as expected: "))

    def test_refusals_that_validate_cannot_see(self):
        fact, _ = self.check(mov(expect={"error": "TIMED_OUT"}), 0)
        self.assertEqual(fact["state"], "valid")
        self.assertNotIn("expect", fact)
        self.assertTrue(self.line(["validate"]).endswith("-> out.npy, expects TIMED_OUT\n"))

    def test_outputs_of_refused_jobs_cannot_be_read(self):
        jobs = [mov(dst="1.npy", name="a", expect={"error": "TIMED_OUT"}), mov("1.npy", "2.npy")]
        self.write("job.json", jobs)
        result = self.ctl("validate", "--json", "job.json", code=2)
        self.assertEqual([fact["state"] for fact in result.json], ["valid", "invalid"])

    def test_a_golden_file_of_another_shape(self):
        self.write_npy("golden.npy", shape=(4, 3, 2))
        fact, _ = self.check(mov(expect={"file": "golden.npy"}), 1)
        self.assertEqual((fact["state"], fact["expect"]["same"],
                          fact["expect"]["difference"]["kind"]), ("mismatch", False, "shape"))


@needs_numpy
class AsNumpySaves(Case):
    """A new .npy file has the bytes that numpy.save writes, so that its digest is known without
    mlictl."""

    def check(self, array):
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        wanted = buffer.getvalue()
        self.write("in.npy", wanted)
        self.move(mov(expect=digest(wanted)))
        self.assertEqual(self.read("out.npy"), wanted)

    def test_every_dtype_and_rank(self):
        for dtype in ("bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32",
                      "float32"):
            for shape in ((7,), (2, 5), (3, 1, 4), (1, 2, 3, 4)):
                with self.subTest(dtype=dtype, shape=shape):
                    self.check(numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype))

    def test_large_extents(self):
        for shape in ((1 << 24,), (123456, 1), (1, 1000000), (1, 1, 1, 9999999), (10**7, 1, 1, 1),
                      (99, 999, 10, 10), (1, 10, 100, 1000)):
            with self.subTest(shape=shape):
                self.check(numpy.zeros(shape, "uint8"))

    def test_the_largest_extents(self):
        """The tensor is too large for a file, but not for a header: test_npy.c has the header that NumPy writes for
        it."""
        extent = (1 << 32) - 1
        for shape in ((extent,), (1, extent), (extent, 1, 1), (extent,) * 4):
            buffer = io.BytesIO()
            numpy.lib.format.write_array_header_1_0(
                buffer, {"descr": "<f4", "fortran_order": False, "shape": shape})
            self.assertEqual(buffer.getvalue(), npy("<f4", shape, b""))

    def test_from_fortran_order(self):
        array = numpy.arange(60, dtype="int16").reshape(3, 4, 5)
        buffer, fortran = io.BytesIO(), io.BytesIO()
        numpy.save(buffer, array)
        numpy.save(fortran, numpy.asfortranarray(array))
        self.write("in.npy", fortran.getvalue())
        self.move(mov(expect=digest(buffer.getvalue())))

    def test_files_of_gen(self):
        for shape in ((3,), (3, 4, 5, 6)):
            buffer = io.BytesIO()
            numpy.save(buffer, numpy.ones(shape, "int32"))
            self.ctl("gen", "gen.npy", "-p", "ones", "--dtype", "int32", "-f", "--shape",
                     ",".join(map(str, shape)), code=0)
            self.assertEqual(self.read("gen.npy"), buffer.getvalue())


if __name__ == "__main__":
    main()
