# SPDX-License-Identifier: BSD-3-Clause
"""Gives the same files to the JSON Schemas and to the programs: both accept a file, or both refuse
it."""
import json
import os
import pathlib
import subprocess
import unittest

from harness import MLID, SOURCE, Case, main, npy, ramp

try:
    import jsonschema
except ImportError:
    jsonschema = None

JOB_SCHEMA = SOURCE / "proto/file/job.schema.json"
CONFIGURATION_SCHEMA = SOURCE / "conf/mlid.schema.json"


@unittest.skipUnless(jsonschema, "this python has no jsonschema")
class Schemas(Case):
    def validator(self, path):
        schema = json.loads(path.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    def test_examples_are_valid(self):
        validator = self.validator(JOB_SCHEMA)
        files = [path for path in sorted((SOURCE / "examples").glob("**/*.json"))
                 if path.parent.name != "negative"]
        self.assertGreater(len(files), 4)
        for path in files:
            self.assertEqual([e.message for e in validator.iter_errors(json.loads(path.read_text()))],
                             [], path)

    def test_job_files(self):
        validator = self.validator(JOB_SCHEMA)
        self.write("a.npy", npy("|i1", (2, 3), ramp(6)))
        job = {"op": "mov", "src": {"file": "a.npy"}, "dst": {"file": "b.npy"}}
        named = dict(job, **{"$schema": "../share/mli/job.schema.json"})
        partial = {"dst": {"file": "b.npy"}}
        defaults = {"op": "mov", "src": {"file": "a.npy"}}
        into = dict(job, dst={"buffer": "b"})

        def with_buffer(**more):
            return {"buffers": [dict({"name": "b", "bytes": 6}, **more)], "jobs": [into]}
        for good, value in (
                (True, job), (True, named), (True, [job]), (True, {"jobs": [job]}),
                (True, {"$schema": "x", "jobs": [job]}),
                (True, {"$schema": "x", "defaults": defaults, "jobs": [partial]}),
                (False, dict(job, **{"$schema": 1})), (False, dict(job, **{"$schema": ""})),
                (False, dict(job, **{"$shema": "x"})), (False, [named]), (False, {"jobs": [named]}),
                (False, {"defaults": {"$schema": "x"}, "jobs": [job]}),
                (False, dict(job, channel=1)), (False, [dict(job, channel=1)]),
                (False, {"jobs": [dict(job, channel=1)]}), (False, {"$schema": "x"}),
                (False, dict(job, src={"file": "a.npy", "$schema": "x"})),
                (True, dict(job, dst={"file": "b.npy", "shape": [2, 4], "frac_bits": 1})),
                (False, dict(job, dst={"file": "b.npy", "frac_bits": 1})), (False, dict(job, dst={"file": "b", "offset": 1})),
                (True, with_buffer()), (False, with_buffer(bytes=0)), (False, with_buffer(size=6)),
                (False, with_buffer(name="b b")), (False, with_buffer(address="0x10")), (False, into), (False, [into]),
                (False, with_buffer(memory="vccm", address="90")), (False, dict(job, stage=""))):
            self.write("job.json", json.dumps(value).encode())
            result = self.ctl("validate", "job.json")
            self.assertEqual(result.code == 0, good, f"{value}: {result}")
            self.assertEqual(validator.is_valid(value), good, value)

    def test_configurations(self):
        validator = self.validator(CONFIGURATION_SCHEMA)
        complete = json.loads((SOURCE / "conf/mlid.json").read_text())
        path = pathlib.Path(self.path("mlid.json"))
        for good, value in (
                (True, {}), (True, complete), (True, dict(complete, **{"$schema": "x"})),
                (True, {"access": {"uids": [0, 1000]}, "quotas": {"default": {}, "7": {"jobs": 1}}}),
                (True, {"socket_mode": "660"}), (True, {"limits": {"history": 0}}),
                (False, {"$schema": 1}), (False, {"limits": {"$schema": "x"}}),
                (False, {"channels": 17}), (False, {"chanels": 1}), (False, {"limits": {"clients": 0}}),
                (False, {"socket_mode": "1777"}), (False, {"socket_mode": "66"}),
                (False, {"log_level": "loud"}), (False, {"quotas": {"root": {}}}),
                (False, {"quotas": {"07": {}}}), (False, {"quotas": {"7": {"job": 1}}}), (False, [])):
            path.write_text(json.dumps(value))
            done = subprocess.run([MLID, "--config", path, "--check"], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode == 0, good, f"{value}: {done.stderr}")
            self.assertEqual(validator.is_valid(value), good, value)


class Files(unittest.TestCase):
    def test_ids_are_unique(self):
        ids = [json.loads(path.read_text())["$id"] for path in (JOB_SCHEMA, CONFIGURATION_SCHEMA)]
        self.assertEqual(len(set(ids)), 2)

    def test_schemas_are_installed(self):
        if "MLI_BUILD" not in os.environ:
            self.skipTest("no build tree is given (MLI_BUILD)")
        information = pathlib.Path(os.environ["MLI_BUILD"]) / "meson-info/intro-installed.json"
        installed = {os.path.realpath(source): target for source, target
                     in json.loads(information.read_text()).items()}
        for path in (JOB_SCHEMA, CONFIGURATION_SCHEMA):
            self.assertTrue(installed[str(path)].endswith(f"share/mli/{path.name}"))


if __name__ == "__main__":
    main()
