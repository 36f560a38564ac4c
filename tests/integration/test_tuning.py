# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl calibrate --kernels, which writes a tuning file. mlictl and mlid use the file, and ignore the file of
another machine."""
import copy
import json
import signal
import subprocess
import time
import unittest

from harness import MLID, SOURCE, Case, await_handler, main, mov, npy, ramp

try:
    import jsonschema
except ImportError:
    jsonschema = None

NEVER = (1 << 53) - 1

# (name, value, part of the message): the schema and the program refuse all of these values.
BAD = [
    ("stage_rows", 65, "multiple of 16"),
    ("stage_rows", 8, "16"),
    ("stage_width", 1024, "512"),
    ("stage_bytes", 0, "4096"),
    ("burst_bytes", 1 << 40, "65536"),
    ("stream_rows_min", -1, "0"),
    ("avx512_store_ahead", "512", "whole number"),
    ("panel", 64, "panel_rows"),
]


class Tuning(Case):
    measured = None  # the file, which one test writes for all
    variables = {"MLI_TUNING": ""}

    def environment(self):
        environment = {**super().environment(), "XDG_CONFIG_HOME": self.path("config"), **self.variables}
        return {name: value for name, value in environment.items() if value is not None}

    def setUp(self):
        super().setUp()
        self.write("in.npy", npy("|i1", (4, 6, 3), ramp(72)))
        self.write("job.json", mov(cfg={"perm_dim": [2, 0, 1]}))
        if not Tuning.measured:
            result = self.ctl("calibrate", "--kernels", "--seconds", "1", "--json", "-o", "t.json", code=0)
            Tuning.measured = result.json[0]
            self.assertEqual(json.loads(self.read("t.json")), Tuning.measured)
        self.file = Tuning.measured
        self.write("t.json", self.file)

    def changed(self, **values):
        """Returns the tuning file with other values."""
        file = copy.deepcopy(self.file)
        for name, value in values.items():
            file["values"].setdefault(name, {})["value"] = value
        return file

    def test_the_file(self):
        """The report has the default of each value, and the gain of each value that differs from its default; mlictl
        can read the file."""
        self.assertEqual(self.file["format"], 1)
        self.assertGreater(len(self.file["values"]), 20)
        for name, entry in self.file["values"].items():
            self.assertEqual(set(entry), {"value", "default", "gain_permille"}, name)
            self.assertEqual(entry["gain_permille"] > 0, entry["value"] != entry["default"], name)
        self.ctl("run", "job.json", "--tuning", "t.json", code=0)

    @unittest.skipUnless(jsonschema, "this python has no jsonschema")
    def test_schema(self):
        schema = json.loads((SOURCE / "conf/tuning.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        self.assertEqual([e.message for e in validator.iter_errors(self.file)], [])
        self.assertEqual(set(schema["properties"]["values"]["properties"]), set(self.file["values"]))
        for name, value, _ in BAD:
            self.assertFalse(validator.is_valid(self.changed(**{name: value})), name)
        for name in self.file["values"]:
            limits = schema["properties"]["values"]["properties"][name]["properties"]["value"]
            for limit in (limits["minimum"], limits["maximum"]):
                file = self.changed(stage_rows=16, stage_width=64)
                file["values"][name]["value"] = limit
                self.write("limit.json", file)
                result = self.ctl("run", "job.json", "--tuning", "limit.json")
                self.assertEqual(result.code, 0, f"{name} {limit}: {result}")

    def test_bad_values(self):
        for name, value, words in BAD:
            self.write("bad.json", self.changed(**{name: value}))
            result = self.ctl("run", "job.json", "--tuning", "bad.json", "--json", code=2)
            error = result.json[0]["error"]
            self.assertTrue(error["pointer"].startswith(f"/values/{name}"), error)
            self.assertIn(words, error["message"])
            self.assertIn("bad.json", error["message"])
            check = subprocess.run([MLID, "--check", "--tuning", self.path("bad.json")], text=True,
                                   capture_output=True)
            self.assertEqual(check.returncode, 2, check)
            self.assertIn(words, check.stderr)
        self.ctl("run", "job.json", "--tuning", "absent.json", code=2)

    def test_files_beyond_the_limits(self):
        """A file that is too large or nested too deep is invalid, for mlictl and mlid."""
        for content, words in ((" " * 100000, "the file has 100000 bytes; at most 65536 are accepted"),
                               ('{"a":' * 9 + "1" + "}" * 9, "nested more than 4 deep")):
            path = self.write("bad.json", content)
            self.assertIn(words, self.ctl("run", "job.json", "--tuning", "bad.json", code=2).err)
            check = subprocess.run([MLID, "--check", "--tuning", path], text=True, capture_output=True)
            self.assertEqual(check.returncode, 2, check)
            self.assertIn(words, check.stderr)

    def test_the_result_is_the_same(self):
        """Moves write the same bytes with the extreme values of the tuning."""
        self.ctl("run", "job.json", code=0)
        expected = self.read("out.npy")
        thresholds = {name: 0 for name in self.file["values"] if name.startswith("stream_")}
        for values in (dict(thresholds, stage_width=64, stage_rows=16, stage_bytes=4096),
                       dict.fromkeys(thresholds, NEVER)):
            self.write("extreme.json", self.changed(**values))
            self.ctl("run", "job.json", "--tuning", "extreme.json", code=0)
            self.assertEqual(self.read("out.npy"), expected)

    def test_explain_shows_the_effect(self):
        self.write("s.json", self.changed(**{n: 0 for n in self.file["values"] if n.startswith("stream_")}))
        self.write("large.npy", npy("|i1", (300, 100, 3), bytes(90000)))
        self.write("large.json", mov("large.npy", cfg={"size": [0, 99, 0]}))
        plain = self.ctl("explain", "large.json", "--no-picture", "--no-memcpy", code=0).out
        streamed = self.ctl("explain", "large.json", "--no-picture", "--no-memcpy", "--tuning", "s.json", code=0).out
        self.assertNotIn("streamed", plain)
        if "avx" in plain:
            self.assertIn("streamed", streamed)

    def test_another_machine(self):
        """mlictl prints a warning of one line, and runs the job."""
        file = self.changed()
        file["machine"]["l2"] += 1
        self.write("other.json", file)
        result = self.ctl("run", "job.json", "--tuning", "other.json", code=0)
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertIn("other.json is ignored", result.err)
        check = subprocess.run([MLID, "--check", "--tuning", self.path("other.json")], text=True,
                               capture_output=True)
        self.assertEqual(check.returncode, 0)
        self.assertIn("is ignored", check.stderr)

    def test_where_the_file_comes_from(self):
        """mlictl reads the file of --tuning, else of MLI_TUNING, else in the configuration directory; if MLI_TUNING is
        empty, it reads no file."""
        file = self.changed()
        file["machine"]["cpu"] = "another one"
        for name in ("a.json", "b.json", "config/mli/tuning.json"):
            self.write(name, file)

        def ignored(*arguments, variable=None):
            self.variables = {"MLI_TUNING": variable}
            return self.ctl("run", "job.json", *arguments, code=0).err.split(" is ignored")[0]

        self.assertEqual(ignored(variable=""), "")
        self.assertIn("mli/tuning.json", ignored())
        self.assertIn("a.json", ignored(variable=self.path("a.json")))
        self.assertIn("b.json", ignored("--tuning", "b.json", variable=self.path("a.json")))
        self.write("config/mli/tuning.json", "{")
        self.assertIn("the tuning", ignored())

    def test_variables_that_are_no_numbers(self):
        """mlictl and mlid report such a variable once and ignore it: they use the same kernels as
        without the variable."""
        self.write("wide.npy", npy("|i1", (64, 64), ramp(4096)))
        self.write("wide.json", mov(src="wide.npy", cfg={"perm_dim": [1, 0]}))

        def explained():
            result = self.ctl("explain", "wide.json", "--json", code=0)
            return {name: value for name, value in result.json[0].items() if name != "memcpy_ns"}, result.err

        plain = explained()
        self.assertEqual(plain[1], "")
        for value in ("avx2", "0x", "-1", "1 ", " 1", "3,4", "4294967296", "1\x1b[31m"):
            self.variables = {"MLI_TUNING": "", "MLI_CPU_MASK": value}
            result, text = explained()
            self.assertEqual(result, plain[0], value)
            self.assertEqual(text.count("MLI_CPU_MASK is ignored"), 1, text)
            self.assertEqual(text.count("\n"), 1, text)
            self.assertNotIn("\x1b", text)
        for value in ("0", "0x1", "3", ""):
            self.variables = {"MLI_TUNING": "", "MLI_CPU_MASK": value, "MLI_STREAM_MIN": ""}
            self.assertEqual(self.ctl("run", "wide.json", code=0).err, "")
        self.variables = {"MLI_TUNING": "", "MLI_CPU_MASK": "all", "MLI_STREAM_MIN": "3k"}
        result = self.ctl("run", "wide.json", code=0)
        self.assertEqual([line.split()[1] for line in result.err.splitlines()], ["MLI_CPU_MASK", "MLI_STREAM_MIN"])
        check = subprocess.run([MLID, "--check"], text=True, capture_output=True, env=self.environment())
        self.assertEqual(check.returncode, 0)
        self.assertEqual([line.split()[1] for line in check.stderr.splitlines()], ["MLI_CPU_MASK", "MLI_STREAM_MIN"])

    def test_daemon(self):
        config = self.write("mlid.json", {"tuning": self.path("t.json")})
        daemon = self.start_daemon(self.root, "--config", config)
        self.assertIn("tuning in use", daemon.text())
        self.ctl("mov", "in.npy", "o.npy", "-s", daemon.socket, "--tuning", "t.json", code=2)
        self.ctl("mov", "in.npy", "o.npy", "-s", daemon.socket, code=0)

    def test_interrupted(self):
        """If calibrate is interrupted, no new file remains, and an existing file is unchanged."""
        before = self.read("t.json")
        for name in ("t.json", "new.json"):
            process = self.start("calibrate", "--kernels", "--seconds", "60", "-o", name)
            await_handler(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            self.finish(process, code=4)
        self.assertEqual(self.read("t.json"), before)
        self.assertFalse(self.exists("new.json"))

    def test_output_that_cannot_be_written(self):
        started = time.monotonic()
        result = self.ctl("calibrate", "--kernels", "-o", "absent/t.json")
        self.assertNotEqual(result.code, 0)
        self.assertIn("absent/t.json", result.err)
        self.assertLess(time.monotonic() - started, 20, "it measured first")


if __name__ == "__main__":
    main()
