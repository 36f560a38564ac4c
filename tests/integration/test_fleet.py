# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/fleet.md: each shard, and the merged report."""
import collections
import glob
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ElementTree

import slurm
from harness import MLICTL, SOURCE, Case, main, mov
from states import shard_of

try:
    import yaml
except ImportError:
    yaml = None

FLEET = SOURCE / "conf" / "fleet"
COUNT = 40
needs_yaml = unittest.skipUnless(yaml, "this python has no yaml (Debian: python3-yaml)")


class Docs(unittest.TestCase):
    def test_the_document_names_every_file(self):
        text = (SOURCE / "docs" / "fleet.md").read_text()
        self.assertEqual(set(re.findall(r"\]\(\.\./conf/fleet/([^)]+)\)", text)), {p.name for p in FLEET.iterdir()})

    def test_scripts_are_valid_shell(self):
        for path in FLEET.glob("*.sh"):
            self.assertTrue(os.access(path, os.X_OK), path)
            subprocess.run(["sh", "-n", path], check=True)


class Fleet(Case):
    """Makes cases, two of which fail."""

    def setUp(self):
        super().setUp()
        self.write_npy("cases/in.npy")
        self.write_npy("cases/golden.npy", data=bytes(24))
        for i in range(COUNT):
            job = mov("../in.npy", "out.npy", name=f"n{i}")
            job["expect"] = {"file": "../golden.npy" if i in (7, 23) else "../in.npy"}
            self.write(f"cases/{'ab'[i % 2]} c/t{i}.json", job)
        names = [f"{'ab'[i % 2]} c/t{i}" for i in range(COUNT)]
        failed = ("b c/t7", "b c/t23")
        self.expected = {name: "failure" if name in failed else None for name in names}

    def environment(self):
        path = f"{pathlib.Path(MLICTL).resolve().parent}:{os.environ['PATH']}"
        return dict(super().environment(), PATH=path)

    def sh(self, *words, code=0, **variables):
        result = subprocess.run([str(w) for w in words], cwd=self.dir, capture_output=True,
                                text=True, env=dict(self.environment(), **variables), check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def check_report(self, path):
        found = {}
        for element in ElementTree.parse(self.path(path)).iter("testcase"):
            name = f"{element.get('classname')}/{element.get('name')}"
            found[name] = next((child.tag for child in element if child.tag != "system-out"), None)
        self.assertEqual(found, self.expected)

    def check_states(self, pattern, count):
        """Expects that each case is in exactly one state file, that of its shard."""
        files = glob.glob(self.path(pattern))
        self.assertEqual(len(files), count)
        seen = collections.Counter()
        for path in files:
            index = int(re.search(r"(\d+)\.jsonl$", path)[1])
            for name in re.findall(r'"event":"case","name":"([^"]+)"',
                                   pathlib.Path(path).read_text()):
                seen[name] += 1
                self.assertIn(index, (shard_of(name, count), shard_of(name, count) - 1))
        self.assertEqual(seen, collections.Counter(self.expected.keys()))


class Parallel(Fleet):
    def setUp(self):
        super().setUp()
        version = subprocess.run(["parallel", "--version"], capture_output=True, text=True,
                                 check=False).stdout if shutil.which("parallel") else ""
        if not version.startswith("GNU parallel"):
            self.skipTest("no GNU parallel (Debian: parallel)")

    def test_shards(self):
        self.sh(FLEET / "parallel.sh", "cases", "the states", 5, "--jobs", 2, code=1)
        self.check_states("the states/*.jsonl", 5)
        self.check_report("the states/report.xml")

    def test_resume(self):
        self.sh(FLEET / "parallel.sh", "cases", "states", 3, code=1)
        text = self.read("states/2.jsonl").decode().splitlines(keepends=True)
        left = [line for line in text if '"event":"end"' not in line][:-3]
        self.write("states/2.jsonl", "".join(left))
        whole = self.read("states/1.jsonl")
        self.sh(FLEET / "parallel.sh", "cases", "states", 3, code=1)
        self.check_report("states/report.xml")
        again = self.read("states/2.jsonl").decode()[len("".join(left)):]
        self.assertEqual(again.count('"event":"case"'), 3)
        self.assertEqual(self.read("states/1.jsonl").count(b'"event":"case"'),
                         whole.count(b'"event":"case"'))


@needs_yaml
class Kubernetes(Fleet):
    def jobs(self):
        return list(yaml.safe_load_all((FLEET / "kubernetes.yaml").read_text()))

    def container(self, job):
        self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
        pod = job["spec"]["template"]["spec"]
        self.assertIn(pod["restartPolicy"], ("Never", "OnFailure"))
        container, = pod["containers"]
        self.assertEqual([m["name"] for m in container["volumeMounts"]],
                         [v["name"] for v in pod["volumes"]])
        return container, {e["name"]: e["value"] for e in container["env"]}

    def test_every_index_and_the_report(self):
        run, report = self.jobs()
        container, variables = self.container(run)
        count = run["spec"]["completions"]
        self.assertEqual(run["spec"]["completionMode"], "Indexed")
        self.assertEqual(variables["SHARDS"], str(count))
        here = {"CASES": "cases", "STATES": "the states"}
        self.assertLessEqual(here.keys(), variables.keys())
        for index in range(count):
            self.sh(*container["command"],
                    **dict(variables, **here, JOB_COMPLETION_INDEX=str(index)))
        self.check_states("the states/*.jsonl", count)
        container, variables = self.container(report)
        self.sh(*container["command"], **dict(variables, STATES="the states"), code=1)
        self.check_report("the states/report.xml")

    def test_an_index_that_cannot_run_is_retried(self):
        container, variables = self.container(self.jobs()[0])
        self.sh(*container["command"], code=2, JOB_COMPLETION_INDEX="0",
                **dict(variables, CASES="none", STATES="states"))
        self.sh(*container["command"], code=2, JOB_COMPLETION_INDEX="8",
                **dict(variables, CASES="cases", STATES="states"))


@needs_yaml
class Gitlab(Fleet):
    def run_job(self, job, code, **variables):
        script = "set -e\n" + "\n".join(job["script"])
        self.sh("sh", "-c", script, code=code, **variables)
        return job["artifacts"]

    def test_every_job_and_the_report(self):
        ci = yaml.safe_load((FLEET / "gitlab-ci.yml").read_text())
        count = ci["cases"]["parallel"]
        failing = {shard_of(name, count) for name, verdict in self.expected.items() if verdict}
        for index in range(1, count + 1):
            artifacts = self.run_job(ci["cases"], 1 if index in failing else 0,
                                     CI_NODE_INDEX=str(index), CI_NODE_TOTAL=str(count))
        self.assertIn(ci["cases"]["stage"], ci["stages"])
        self.check_states(artifacts["paths"][0], count)
        self.assertEqual(len(glob.glob(self.path(artifacts["paths"][1]))), len(failing))
        artifacts = self.run_job(ci["report"], 1)
        self.check_report(artifacts["reports"]["junit"])


class Slurm(Fleet):
    def setUp(self):
        why = slurm.missing()
        if why:
            self.skipTest(why)
        super().setUp()
        cluster = self.root / "slurm"
        cluster.mkdir()
        self.cluster = slurm.Cluster(cluster)
        self.cluster.environment.update(self.environment(), SLURM_CONF=str(self.cluster.conf))
        self.addCleanup(self.cluster.stop)
        why = self.cluster.start()
        if why:
            self.skipTest(f"Slurm: {why}")

    def sbatch(self, *arguments, code=0):
        number, worst, states = self.cluster.batch(*arguments, cwd=self.dir)
        printed = "".join(p.read_text() for p in self.dir.glob("slurm-*.out"))
        self.assertEqual(worst, code, f"{states}\n{printed}")
        return number

    def test_an_array_and_its_report(self):
        array = ("--array=0-70:10", FLEET / "slurm.sh", "cases", "the states")
        number = self.sbatch(*array, code=1)
        self.assertEqual({int(p.stem) for p in (self.dir / "the states").glob("*.jsonl")},
                         set(range(0, 80, 10)))
        for index in range(8):
            text = self.read(f"the states/{index * 10}.jsonl").decode()
            self.assertIn(f'"shard":"{index + 1}/8"', text)
        self.sbatch(f"--dependency=afterany:{number}", FLEET / "slurm-report.sh", "the states",
                    code=1)
        self.check_report("the states/report.xml")
        # Runs the array job again after a task was killed.
        lines = self.read("the states/30.jsonl").decode().splitlines(keepends=True)
        left = "".join(lines[:-2])
        self.write("the states/30.jsonl", left)
        self.sbatch(*array, code=1)
        again = self.read("the states/30.jsonl").decode()[len(left):]
        self.assertEqual(again.count('"event":"case"'), 1)
        self.sbatch(FLEET / "slurm-report.sh", "the states", code=1)
        self.check_report("the states/report.xml")

    def test_a_list_is_refused(self):
        self.sbatch("--array=1,5,6", FLEET / "slurm.sh", "cases", "states", code=2)
        printed = [p.read_text() for p in self.dir.glob("slurm-*.out")]
        self.assertEqual(len(printed), 3)
        for text in printed:
            self.assertIn("are not SLURM_ARRAY_TASK_COUNT=3: submit a range, as in --array=1-3",
                          text)


if __name__ == "__main__":
    main()
