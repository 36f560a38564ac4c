# SPDX-License-Identifier: BSD-3-Clause
"""Tests job files as tests of pytest."""
import json
import os
import re
import xml.etree.ElementTree

import numpy as np

import suite
from mli import _batch_options
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
        self.assertRegex(output, r"cases/broken.json: unreadable: .* \(at cases/broken.json:1:\d+\)")

    def test_options(self):
        self.passes("--mli-jobs", "--mli-batch=--engine threads:tiny=0 -c 2")
        self.passes("--mli-jobs", "--mli-batch=--engine=inline --retries 1 --limit-bytes 100000")

    def test_refused_options(self):
        self.write_case("second", self.JOB)
        for options, words in (
                ("--shard 1/2", "--shard cannot be used here: give each process of pytest its own job files"),
                ("--list", "--list cannot be used here: use --collect-only of pytest"),
                ("--filter=!good", "--filter cannot be used here: select tests by -k of pytest"),
                ("--junit x.xml", "--junit cannot be used here: use --junitxml of pytest"),
                ("-c2 -j2", "--jobs cannot be used here"),
                ("--shards 1/2", "unknown option --shards; did you mean --shard?"),
                ("-x", "unknown option -x"),
                ("--engine", "--engine needs a value"),
                ("--update-golden=1", "--update-golden takes no value"),
                ("-c 1 --channels=2", "--channels is given twice"),
                ("-c 1 cases", "'cases' is no option: job files are arguments of pytest"),
                ("-c '", "No closing quotation"),
                ("-c 1 --mli", "unknown option --mli")):
            with self.subTest(options), self.assertRaisesRegex(ValueError, "^" + re.escape(words)):
                _batch_options.parse(options)
        status, output = self.pytest("--mli-jobs", "--mli-batch=--list")
        self.assertEqual(status, 4, output)
        self.assertTrue(output.startswith("ERROR: --mli-batch: --list cannot be used here"), output)
        (self.folder / "pytest.ini").write_text("[pytest]\nmli_jobs = true\nmli_batch = --none\n")
        self.assertIn("unknown option --none", self.pytest()[1])

    def test_all_options_are_known(self):
        """Each option of mlictl batch is passed on or refused, including its short form and its value."""
        _, text = suite.run([os.environ["MLICTL"], "batch", "--help"])
        found = re.findall(r"^ +(?:-(\w), )? *--([\w-]+)( [A-Z]\w*)?", text.partition("options:")[2], re.M)
        options = {name: (letter, bool(value)) for letter, name, value in found}
        self.assertGreater(len(options), 20)
        self.assertEqual(options.keys(), _batch_options._OPTIONS.keys())
        for name, option in _batch_options._OPTIONS.items():
            self.assertEqual(option.letter, options[name][0], name)
            self.assertTrue(option.refused or option.has_value == options[name][1], name)

    def differ(self):
        """Changes the golden file."""
        np.save(self.cases / "gold.npy", np.load(self.cases / "gold.npy") + 1)

    def test_update_golden(self):
        self.differ()
        advice = "mlictl batch --keep none --update-golden cases/good.json"
        self.assertIn(f"beside the golden file, as *.new: {advice}\n", self.fails("--mli-jobs"))
        self.assertFalse((self.cases / "gold.npy.new").exists())
        output = self.fails("--mli-jobs", "--mli-batch=--update-golden")
        self.assertIn("written to cases/gold.npy.new; rename that file to accept the result", output)
        self.assertNotIn("as *.new", output)
        (self.cases / "gold.npy.new").rename(self.cases / "gold.npy")
        self.passes("--mli-jobs")
        self.write_case("good", {**self.JOB, "expect": {"digest": "sha256:" + "0" * 64}})
        self.assertNotIn("as *.new", self.fails("--mli-jobs"))

    def test_no_expect(self):
        job = {name: value for name, value in self.JOB.items() if name != "expect"}
        other = {**job, "dst": {"file": "other.npy"}}
        self.write_case("list", [other, self.JOB])
        self.write_case("defaults", {"defaults": {"expect": self.JOB["expect"]}, "jobs": [job]})
        self.assertNotIn("warning", self.passes("--mli-jobs"))
        for text in (job, [job, other], {"defaults": {"op": "mov"}, "jobs": [job]}):
            self.write_case("good", text)
            output = self.passes("--mli-jobs")
            self.assertIn("3 passed, 1 warning", output)
            self.assertIn("cases/good.json:0: NoExpectWarning: no job has `expect`", output)
        output = self.fails("--mli-jobs", "-W", "error::mli.pytest_plugin.NoExpectWarning")
        self.assertIn("\ncases/good.json: no job has `expect`, so the test compares nothing\n", output)
        self.assertNotIn("Traceback", output)
        output = self.fails("--mli-jobs", "--mli-batch=--require-expect")
        self.assertIn('cases/good.json: no expect: no job has "expect", which --require-expect requires', output)

    def test_quantisation_parameters(self):
        source = {"file": "a.npy", "type": "sa8", "axis": 0, "scale": [1, 2, 3]}
        params = {"type": "sa8", "axis": 1, "scale": [1, 2, 3]}
        job = {**self.JOB, "src": source, "expect": {"file": "gold.npy", "params": params}}
        self.write_case("good", job)
        self.assertNotIn("warning", self.passes("--mli-jobs"))
        job["expect"] = {"file": "gold.npy"}
        self.write_case("good", job)
        self.assertIn("cases/good.json:0: NoParamsWarning: the quantisation parameters of the result are not compared",
                      self.passes("--mli-jobs"))
        output = self.fails("--mli-jobs", "-W", "error::mli.pytest_plugin.NoParamsWarning")
        self.assertNotIn("Traceback", output)
        job["expect"]["params"] = "wanted.json"
        self.write_case("good", job)
        (self.cases / "wanted.json").write_text('{"scale": 1}')
        self.assertIn("mismatch: the quantisation parameters differ in axis: got 1, expected none in cases/wanted.json",
                      self.fails("--mli-jobs"))

    COUNTED = """
    import pytest

    @pytest.fixture(autouse=True, scope="session")
    def count(mli_service):
        yield
        with mli_service.connect() as client:
            print("\\njobs done:", client.stats()["jobs"]["done"])
    """

    def test_service(self):
        self.write_case("second", self.JOB)
        self.write_test(self.COUNTED, "conftest.py")
        self.write_test("""
        def test_it(mli_service):
            with mli_service.connect() as client:
                client.submit(image)
        """)
        self.assertIn("\njobs done: 3\n", self.passes("-s", "--mli-jobs", "--mli-service"))
        self.assertIn("\njobs done: 1\n", self.passes("-s", "--mli-jobs"))
        self.assertIn("\njobs done: 3\n", self.passes("-s", "--mli-jobs", "-o", "mli_service=1"))
        self.differ()
        output = self.fails("cases", "--mli-jobs", "--mli-service")
        self.assertIn("To repeat: mlictl batch --keep none cases/second.json\n", output)
        status, output = self.pytest("--mli-jobs", "--mli-service", "--mli-batch=-c 2")
        self.assertEqual(status, 4, output)
        self.assertIn("--mli-batch: --channels cannot be combined with --mli-service", output)

    def test_service_of_a_conftest(self):
        """The fixture's value may be a server, a client, or a path."""
        for value in ("client.server", "client", "client.path"):
            self.write_test(f"""
            import pytest

            @pytest.fixture(scope="session")
            def mli_service():
                with mli.serve("fault:threads,fail_pct=100") as client:
                    yield {value}
            """, "conftest.py")
            self.assertIn("cases/good.json: channel: DMA channel 0 failed", self.fails("--mli-jobs", "--mli-service"))
        self.write_test("""
        import pytest

        @pytest.fixture
        def mli_service():
            return "/nonexistent/socket"

        @pytest.fixture(autouse=True, scope="module")
        def module(request):
            yield

        @pytest.fixture(autouse=True)
        def count(request):
            print("before", request.node.name)
        """, "conftest.py")
        output = self.fails("--mli-jobs", "--mli-service")
        self.assertIn("no daemon listens at /nonexistent/socket", output)
        self.assertIn("before good", output)

    @suite.needs_module("xdist", "python3-pytest-xdist")
    def test_processes(self):
        """With pytest-xdist, each process has a service of its own, and all processes may update golden files."""
        for n in range(4):
            self.write_case(f"case{n}", self.JOB)
        self.write_test("""
        import pytest

        @pytest.mark.parametrize("n", range(8))
        def test_it(mli_golden, mli_service, n):
            with mli_service.connect() as client:
                mli_golden(client.submit(image + n), f"{n}.npy")
        """)
        options = ("-p", "xdist", "-n", "2", "--mli-jobs", "--mli-service")
        output = self.passes(*options, "--mli-update")
        self.assertIn("13 passed", output)
        self.assertEqual(output.count("\ngolden/"), 8, output)
        self.assertIn("13 passed", self.passes(*options))

    def test_without_program(self):
        output = self.fails("--mli-jobs", env={"MLICTL": "/none"})
        self.assertIn("cases/good.json: mlictl: '/none' given; $MLICTL must name a program", output)


if __name__ == "__main__":
    suite.main()
