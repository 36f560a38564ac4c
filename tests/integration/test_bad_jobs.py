# SPDX-License-Identifier: BSD-3-Clause
"""Tests wrong job files: validate, run and submit refuse each file with file, place and reason, and
write nothing."""
import json
import os

from harness import Case, main, mov

CFG_FIELDS = ("offset", "size", "sub_sample_step", "perm_dim", "padding_pre", "padding_post",
              "dst_offset", "dst_mem_stride")
# For each field, the first number above its range.
TOO_LARGE = {"offset": 2**32, "size": 2**32, "sub_sample_step": 2**32, "perm_dim": 4,
             "padding_pre": 256, "padding_post": 256, "dst_offset": 2**32,
             "dst_mem_stride": 2**31}


class Text(Case):
    """Tests files that are not valid JSON."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")
        self.good = json.dumps(mov())

    def test_missing_file(self):
        for command in ("validate", "run"):
            result = self.ctl(command, "none.json", code=2)
            self.assertEqual(result.err, "mlictl: none.json: No such file or directory\n")

    def test_a_directory_or_device(self):
        os.mkfifo(self.path("fifo"))
        self.assertIn("it is a directory", self.ctl("run", ".", code=2).err)
        self.assertRegex(self.ctl("run", "/dev/null", code=2).err, r"^mlictl: /dev/null")

    def test_empty_and_blank(self):
        for text in ("", " ", "\n\n", "\ufeff"):
            self.assert_refused(text, "")

    def test_truncated_anywhere(self):
        for length in range(1, len(self.good), 7):
            result = self.ctl("validate", self.write("job.json", self.good[:length]), code=2)
            self.assertRegex(result.err, r"job\.json:1:\d+: ")

    def test_trailing_garbage(self):
        for tail in ("x", "{}", ",", "\0", "]", "//"):
            self.assert_refused(self.good + tail, "", files=rf"job\.json:1:{len(self.good) + 1}: ")

    def test_line_and_column(self):
        self.assert_refused('{\n  "op": mov\n}', "/op", files=r"job\.json:2:9: ")

    def test_huge(self):
        self.write("job.json", "[" + " " * (64 << 20) + "]")
        result = self.ctl("validate", "job.json", code=2)
        self.assertIn("67108864 bytes", result.err)
        os.truncate(self.path("job.json"), 1 << 40)
        self.ctl("validate", "job.json", code=2)

    def test_deep(self):
        for text in ("[" * 100000, "[" * 100000 + "]" * 100000, '{"op":' * 100000):
            self.write("job.json", text)
            for command in (("validate",), ("run",), ("submit", "-s", self.daemon.socket)):
                result = self.ctl(*command, "job.json", code=2)
                self.assertRegex(result.err, r"^mlictl: job\.json:1:\d+: ")
                self.assertLess(len(result.err), 600)

    def test_many_values(self):
        self.write("job.json", "[" + "0," * (9 << 20) + "0]")
        result = self.ctl("validate", "job.json", "--json", code=2)
        self.assertIn("8388608", result.err)
        self.assertEqual(result.json[0]["exit"], 2)

    def test_not_utf8_and_escapes(self):
        for piece in (b'"\xff"', b'"\xc0\x80"', b'"\\ud800"', b'"\\u0000"', b'"a\tb"', b'"\\x"'):
            self.assert_refused(b'{"op": ' + piece + b"}", "/op")

    def test_not_json(self):
        for text in ("nonsense", "{'op': 1}", "[1,]", '{"a":1,}', "01", "+1", ".5", "NaN", "nul",
                     "/* c */ {}"):
            result = self.ctl("validate", self.write("job.json", text), code=2)
            self.assertRegex(result.err, r"^mlictl: .*job\.json:1:\d+: ")


class Members(Case):
    """Tests valid JSON that is not a valid job."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy")

    def test_neither_job_nor_jobs(self):
        for text in ("1", '"mov"', "null", "true", "[]", "{}", '{"jobs": []}', '{"jobs": {}}',
                     '{"jobs": [], "more": 1}', "[1]", '{"defaults": {}}'):
            result = self.ctl("validate", self.write("job.json", text), code=2)
            self.assertRegex(result.err, r"^mlictl: .*job\.json: ", text)

    def test_unknown(self):
        self.assert_refused(mov(prioriti=1), "/prioriti", 'did you mean "priority"?')
        self.assert_refused(mov({"file": "in.npy", "ofset": 1}), "/src/ofset")
        self.assert_refused(mov(dst={"file": "o.npy", "upd": True}), "/dst/upd")
        self.assert_refused(dict(mov(), cfg={"offsets": [0]}), "/cfg/offsets",
                            'did you mean "offset"?')
        self.assert_refused(mov(expect={"file": "x", "type": "fx8"}), "/expect/type")
        self.assert_refused(mov(Op="mov"), "/Op")

    def test_twice(self):
        self.assert_refused('{"op":"mov","op":"mov"}', "/op", "twice")
        self.assert_refused('{"op":"mov","src":{"file":"in.npy","file":"x"}}', "/src/file", "twice")
        self.assert_refused('[{"op":"mov","cfg":{"size":[1],"size":[1]}}]', "/0/cfg/size", "twice")

    def test_missing(self):
        for member, pointer in (("op", "/op"), ("src", "/src"), ("dst", "/dst")):
            job = mov()
            del job[member]
            self.assert_refused(job, pointer, "missing")
        self.assert_refused(mov({}), "/src/file", "missing")
        self.assert_refused(mov(dst={}), "/dst/file", "missing")
        self.assert_refused(mov(expect={}), "/expect", "required")
        self.assert_refused(mov("in.bin"), "/src/shape", "missing")
        self.assert_refused(mov({"file": "in.bin", "shape": [1]}), "/src/type", "missing")

    def test_wrong_types(self):
        for member, values in {
                "op": (1, None, [], {}), "src": (1, "in.npy", [], None), "dst": (1, "x", []),
                "cfg": (1, "x", []), "name": (1, [], {}), "channels": ("1", [], None, True),
                "priority": ("high", []), "timeout_ms": ("1s", {}), "after": ("a", 1, {}),
                "expect": ("x.npy", 1, [])}.items():
            for value in values:
                self.assert_refused(dict(mov(), **{member: value}), "/" + member)

    def test_wrong_types_deeper(self):
        for value in (1, None, [], {}, ""):
            self.assert_refused(mov({"file": value}), "/src/file")
        for value in (1, "yes", None):
            self.assert_refused(mov(dst={"file": "o.npy", "update": value}), "/dst/update")
        self.assert_refused(mov({"file": "in.npy", "type": "int8"}), "/src/type")
        self.assert_refused(mov({"file": "in.npy", "type": "sa16"}), "/src/type", "sa8, sa32")
        self.assert_refused(mov({"file": "in.npy", "format": "png"}), "/src/format")
        self.assert_refused(mov({"file": "in.npy", "shape": [2]}), "/src/shape", ".npy")

    def test_unknown_op(self):
        self.assert_refused(mov(op="move"), "/op", 'did you mean "mov"?')
        self.assert_refused(mov(op="conv2d"), "/op", "mov, permute")

    def test_values_out_of_range(self):
        for channels in (0, 17, -1):
            self.assert_refused(mov(channels=channels), "/channels")
        for priority in (-2, 2):
            self.assert_refused(mov(priority=priority), "/priority")
        self.assert_refused(mov(timeout_ms=-1), "/timeout_ms")
        self.assert_refused(mov(timeout_ms=2**53 - 1), "/timeout_ms")
        self.assert_refused(mov(name="a b"), "/name")
        self.assert_refused(mov(name="n" * 200), "/name")

    def test_after(self):
        self.assert_refused([mov(after=["x"])], "/0/after/0", "x")
        self.assert_refused([mov(name="a", after=["a"])], "/0/after/0")
        self.assert_refused([mov(name="a", after=["b"]), mov(name="b", after=["a"])],
                            "/1/after/0", "waits for itself")
        self.assert_refused([mov(name="a"), mov(name="a")], "/1/name")
        self.assert_refused([mov(name="a"), mov(after=["a", 1])], "/1/after/1")
        self.assert_refused([mov(name="a"), mov(after=["a"] * 65)], "/1/after", "65", "64")

    def test_defaults(self):
        jobs = [{"src": {"file": "in.npy"}, "dst": {"file": "out.npy"}}]
        self.assert_refused({"defaults": {"op": "mov", "channels": 99}, "jobs": jobs},
                            "/defaults/channels")
        self.assert_refused({"defaults": {"name": "x"}, "jobs": jobs}, "/defaults/name")
        self.assert_refused({"defaults": {"op": "mov", "cfg": {"size": [1, 2]}}, "jobs": jobs},
                            "/jobs/0/cfg/size", "2 entries given, but the source has 3")


class Cfg(Case):
    """Tests wrong types and values out of range in every field."""

    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (2, 3, 4))

    def text(self, field, number):
        neutral = [0, 1, 2] if field == "perm_dim" else [1, 1, 1]
        entries = f"[{neutral[0]}, {number}, {neutral[2]}]"
        return json.dumps(mov())[:-1] + f', "cfg": {{"{field}": {entries}}}}}'

    def test_fractions(self):
        for field in CFG_FIELDS:
            for number in ("1.5", "1e999", "1e2", "9007199254740992", "-1e0", "1.0"):
                self.assert_refused(self.text(field, number), f"/cfg/{field}/1",
                                    files=r"job\.json:1:\d+: ")

    def test_values_that_are_not_numbers(self):
        for field in CFG_FIELDS:
            for value in ('"1"', "null", "true", "[1]", "{}"):
                self.assert_refused(self.text(field, value), f"/cfg/{field}/1")

    def test_out_of_range(self):
        for field in CFG_FIELDS:
            for number in (-1, TOO_LARGE[field], 2**53 - 1):
                self.assert_refused(self.text(field, number), f"/cfg/{field}/1", f"cfg.{field}[1]",
                                    str(number))

    def test_wrong_numbers_of_entries(self):
        for field in CFG_FIELDS:
            for entries in ([0, 1, 2, 3, 4, 5, 6, 7, 7], [1] * 1000):
                self.assert_refused(mov(**{field: entries}), f"/cfg/{field}", "at most 8")
            for entries in ([1], [0, 1], [0, 1, 2, 3, 4]):
                self.assert_refused(mov(**{field: [max(e, 1) for e in entries]}), f"/cfg/{field}",
                                    "the source has 3 dimensions")

    def test_beyond_the_source(self):
        cases = (
            ("/cfg/offset/1", {"offset": [0, 3, 0]}, "cfg.offset[1]: 3 given"),
            ("/cfg/size/2", {"size": [2, 3, 5]}, "cfg.size[2]"),
            ("/cfg/size/0", {"offset": [1, 0, 0], "size": [2, 0, 0]}, "cfg.size[0]"),
            ("/cfg/size/1", {"size": [0, 2**32 - 1, 0], "offset": [0, 2, 0]}, "cfg.size[1]"),
            ("/cfg/offset/0", {"offset": [2**32 - 1, 0, 0]}, "cfg.offset[0]"),
        )
        for pointer, fields, sentence in cases:
            self.assert_refused(mov(**fields), pointer, sentence)
        fact = self.ctl("validate", "--json", "job.json", code=2).json[0]
        self.assertEqual(fact["error"]["status"], "MLI_STATUS_BAD_FUNC_CFG")

    def test_step_zero(self):
        self.assert_refused(self.text("sub_sample_step", 0), "/cfg/sub_sample_step/1")

    def test_invalid_permutations(self):
        for perm in ([0, 0, 1], [2, 2, 2], [1, 2, 3]):
            result = self.ctl("validate", "--json", self.write("job.json", mov(perm_dim=perm)),
                              code=2)
            self.assertRegex(result.json[0]["error"]["pointer"], r"^/cfg/perm_dim")
            self.assert_refused(mov(perm_dim=perm), result.json[0]["error"]["pointer"],
                                "cfg.perm_dim")

    def test_overlapping_destination(self):
        self.assert_refused(mov(dst="out.bin", dst_mem_stride=[1, 1, 1]), "/cfg/dst_mem_stride",
                            "overlap")

    def test_gaps_in_a_new_npy(self):
        self.assert_refused(mov(dst_mem_stride=[16, 4, 1]), "/cfg/dst_mem_stride/0",
                            "16 given; must be 12", "write a raw file")
        self.assert_refused(mov(dst={"file": "o.npy", "strides": [12, 4, 1]}), "/dst/strides")

    def test_results_beyond_the_limits(self):
        self.assert_refused(mov(dst_offset=[2**32 - 2, 0, 0]), "/cfg/dst_offset/0")
        self.assert_refused(mov(dst="o.bin", dst_mem_stride=[2**31 - 1, 2**31 - 1, 1]), "/dst")


if __name__ == "__main__":
    main()
