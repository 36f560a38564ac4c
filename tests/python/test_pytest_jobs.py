# SPDX-License-Identifier: BSD-3-Clause
"""Job files as tests of pytest."""
import json
import xml.etree.ElementTree

import numpy as np

import suite
from pytest_scene import Scene


@suite.needs_service
class JobFiles(Scene):
    JOB = {"op": "mov", "src": {"file": "a.npy"}, "cfg": {"perm_dim": [1, 0]},
           "dst": {"file": "out.npy"}, "expect": {"file": "gold.npy"}}

    def setUp(self):
        super().setUp()
        self.cases = self.folder / "cases"
        self.cases.mkdir()
        array = np.arange(12, dtype=np.int8).reshape(3, 4)
        np.save(self.cases / "a.npy", array)
        np.save(self.cases / "gold.npy", array.T)
        self.write_case("good", self.JOB)

    def write_case(self, name, value):
        text = value if isinstance(value, str) else json.dumps(value)
        (self.cases / f"{name}.json").write_text(text)

    def test_switched_on(self):
        status, output = self.pytest("cases")
        self.assertEqual(status, 5, output)  # no tests
        self.assertIn("cases/good.json .", self.passes("cases", "--mli-jobs"))
        self.assertIn("1 passed", self.passes("cases", "-o", "mli_jobs=true"))
        (self.folder / "pytest.ini").write_text("[pytest]\nmli_jobs = true\n")
        self.assertIn("1 passed", self.passes())
        self.assertIn("1 deselected", self.pytest("-m", "not mli_job")[1])
        self.assertEqual(sorted(path.name for path in self.cases.iterdir()),
                         ["a.npy", "gold.npy", "good.json"])

    def test_mismatch(self):
        gold = np.load(self.cases / "gold.npy")
        gold[1, 1] = 77
        np.save(self.cases / "gold.npy", gold)
        output = self.fails("--mli-jobs", "--junitxml=report.xml")
        self.assertIn("cases/good.json: mismatch: 1 of 12 elements differ, the first at [1, 1]: "
                      "got 5, expected 77", output)
        self.assertIn("To repeat: mlictl batch --keep none cases/good.json", output)
        report = xml.etree.ElementTree.parse(self.folder / "report.xml")
        failure = report.find(".//testcase[@name='good']/failure")
        self.assertIn("got 5, expected 77", failure.text)

    def test_other_json(self):
        for name, value in (("other", {"src": "x"}), ("list", [1, {}]), ("broken", '{"src": 1, }'),
                            ("jobs", {"jobs": ["a"]}), ("number", 3)):
            self.write_case(name, value)
        (self.cases / "latin.json").write_bytes(b'{"op": "\xff", "src": 1}')
        self.assertIn("1 passed", self.passes("--mli-jobs"))
        output = self.fails("cases/other.json", "--mli-jobs")  # named by the user
        self.assertIn("cases/other.json: unreadable: ", output)

    def test_wrong_jobs(self):
        self.write_case("member", {**self.JOB, "opp": 1})
        self.write_case("broken", '{"op": "mov", "src": {}, "dst": {},')
        self.write_case("list", [self.JOB, {**self.JOB, "cfg": {"offset": [9]}}])
        self.write_case("defaults", {"defaults": self.JOB, "jobs": [{"src": {"file": "none.npy"}}]})
        output = self.fails("--mli-jobs")
        self.assertIn("4 failed, 1 passed", output)
        self.assertIn("cases/member.json: unreadable: opp: unknown member", output)
        self.assertIn("cases/broken.json: unreadable: line 1", output)

    def test_options(self):
        self.passes("--mli-jobs", "--mli-batch=--engine threads:tiny=0 -c 2")
        (self.folder / "pytest.ini").write_text("[pytest]\nmli_jobs = true\nmli_batch = --none\n")
        self.assertIn("unknown option --none", self.fails())

    def test_without_program(self):
        output = self.fails("--mli-jobs", env={"MLICTL": "/none"})
        self.assertIn("cases/good.json: mlictl: '/none' given; $MLICTL must name a program", output)


if __name__ == "__main__":
    suite.main()
