#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples of conf/fleet for test farms and for job queues, as far as one machine can run
them."""
import importlib.util
import os
import re
import subprocess
import sys

import slurm
from harness import SOURCE, main
from queue_server import Redis
from sshd import SshdCase
from test_batch_farms import SIGNAL
from test_fleet import Fleet, needs_yaml

try:
    import yaml
except ImportError:
    yaml = None

FLEET = SOURCE / "conf" / "fleet"


class FleetCase(Fleet):
    def load(self, name):
        return yaml.safe_load((FLEET / name).read_text())

    def queue(self):
        missing = Redis.missing()
        if missing:
            self.skipTest(missing)
        server = Redis(self.root / "redis")
        self.addCleanup(server.kill)
        return server.url("fleet")


@needs_yaml
class Lava(FleetCase):
    """The steps of a test definition become a shell script on the device, after its parameters."""

    def run_steps(self, **parameters):
        definition = self.load("lava-definition.yaml")
        self.assertTrue(definition["metadata"]["format"].startswith("Lava-Test Test Definition 1.0"))
        self.assertLessEqual({"name", "description"}, definition["metadata"].keys())
        values = dict(definition["params"], FILTER=str(FLEET / "lava.py"), **parameters)
        script = ["set -e", *(f"{key}='{value}'" for key, value in values.items()), *definition["run"]["steps"]]
        out = self.sh("sh", "-c", "\n".join(script)).stdout
        found = {}
        for kind, text in SIGNAL.findall(out):
            if kind == "TESTCASE":
                words = dict(word.split("=", 1) for word in text.split())
                found[words["TEST_CASE_ID"]] = words["RESULT"]
        return found

    def wanted(self):
        names = {name.rpartition("/")[2]: "fail" if verdict else "pass" for name, verdict in self.expected.items()}
        return names | {"mlictl-batch": "fail", "mlictl-batch-duration": "pass"}

    def test_cases(self):
        self.assertEqual(self.run_steps(), self.wanted())

    def test_queue(self):
        url = self.queue()
        self.sh("mlictl", "batch", "enqueue", "--queue", url, "cases")
        self.assertEqual(self.run_steps(CASES=".", QUEUE=url), self.wanted())

    def test_the_job_names_the_definition(self):
        job = self.load("lava-job.yaml")
        self.assertLessEqual({"job_name", "timeouts", "visibility", "actions"}, job.keys())
        self.assertEqual([list(action) for action in job["actions"]], [["deploy"], ["boot"], ["test"]])
        definition, = job["actions"][2]["test"]["definitions"]
        self.assertEqual(definition["path"], "lava-definition.yaml")
        self.assertEqual(definition["parameters"].keys(), self.load("lava-definition.yaml")["params"].keys())


@needs_yaml
class Twister(FleetCase):
    """Twister's console harness searches the lines of the console for its patterns, one after the other."""

    def passes(self, lines):
        config = self.load("twister.yaml")["tests"]["mlictl.batch"]
        self.assertEqual(config["harness"], "console")
        self.assertEqual((config["harness_config"]["type"], config["harness_config"]["ordered"]), ("multi_line", True))
        patterns = list(config["harness_config"]["regex"])
        for line in lines:
            if patterns and re.search(patterns[0], line):
                patterns.pop(0)
        return not patterns

    def test_console(self):
        self.assertFalse(self.passes(self.sh("mlictl", "batch", "cases", "-v", "--keep", "none", code=1).stdout
                                     .splitlines()))
        out = self.sh("mlictl", "batch", "cases/a c", "-v", "--keep", "none").stdout
        self.assertTrue(self.passes(out.splitlines()), out)


@needs_yaml
class Github(FleetCase):
    def test_every_job_and_the_report(self):
        flow = self.load("github.yml")
        jobs = flow["jobs"]
        self.assertIn(True, flow.keys())  # YAML 1.1 reads "on" as true
        for job in jobs.values():
            self.assertLessEqual({"runs-on", "steps"}, job.keys())
            self.assertTrue(all(("run" in step) != ("uses" in step) for step in job["steps"]))
        self.assertEqual(jobs["report"]["needs"], "cases")
        shards = jobs["cases"]["strategy"]["matrix"]["shard"]
        run, = (step["run"] for step in jobs["cases"]["steps"] if "run" in step)
        for shard in shards:
            text = re.sub(r"\$\{\{ matrix\.shard \}\}", str(shard), run)
            self.assertNotIn("${{", text)
            subprocess.run(["sh", "-c", text], cwd=self.dir, env=self.environment(), check=False, capture_output=True)
        self.check_states("state-*.jsonl", len(shards))
        merge, = (step["run"] for step in jobs["report"]["steps"] if "run" in step)
        self.sh("sh", "-c", merge, code=1)
        self.check_report("report.xml")


@needs_yaml
class Kubernetes(FleetCase):
    def test_a_queue(self):
        url = self.queue()
        jobs = {doc["metadata"]["labels"]["step"]: doc
                for doc in yaml.safe_load_all((FLEET / "kubernetes-queue.yaml").read_text()) if doc["kind"] == "Job"}
        self.assertEqual(list(jobs), ["enqueue", "run", "report"])
        codes = {}
        for step, job in jobs.items():
            container, = job["spec"]["template"]["spec"]["containers"]
            names = {entry["name"] for entry in container["env"]}
            self.assertEqual(names, {"QUEUE", "MLI_QUEUE_PASSWORD"})
            result = subprocess.run(container["command"], cwd=self.dir, env=dict(self.environment(), QUEUE=url),
                                    capture_output=True, text=True, check=False)
            codes[step] = result.returncode
        self.assertEqual(codes, {"enqueue": 0, "run": 0, "report": 1}, result.stdout + result.stderr)
        self.assertEqual(result.stdout.count("\nok "), 38)
        self.assertEqual(result.stdout.count("\nnot ok "), 2)


class Slurm(FleetCase):
    def test_workers_with_channels(self):
        why = slurm.missing()
        if why:
            self.skipTest(why)
        url = self.queue()
        root = self.root / "slurm"
        root.mkdir()
        cluster = slurm.Cluster(root, gres=FLEET / "slurm-gres.conf")
        cluster.environment.update(self.environment(), SLURM_CONF=str(cluster.conf))
        self.addCleanup(cluster.stop)
        why = cluster.start()
        if why:
            self.skipTest(f"Slurm: {why}")
        self.sh("mlictl", "batch", "enqueue", "--queue", url, "cases")
        _, worst, states = cluster.batch("--array=1-2", "--gres=channel:2", "--export=ALL,CHANNELS=2",
                                         FLEET / "slurm-queue.sh", url, self.dir, cwd=self.dir)
        printed = "".join(path.read_text() for path in self.dir.glob("slurm-*.out"))
        self.assertEqual((worst, states), (0, {"COMPLETED"}), printed)
        self.sh("mlictl", "batch", "collect", "--queue", url, "--junit", "report.xml", code=1)
        self.check_report("report.xml")
        refused = cluster.run("sbatch", "--gres=channel:9", FLEET / "slurm-queue.sh", url, self.dir, cwd=self.dir)
        self.assertNotEqual(refused.returncode, 0)


@needs_yaml
class Labgrid(SshdCase, FleetCase):
    """Runs the real labgrid, whose SSHDriver connects to this machine."""

    def setUp(self):
        if not importlib.util.find_spec("labgrid") or not importlib.util.find_spec("pytest"):
            self.skipTest("this python has no labgrid and pytest (Debian: python3-labgrid, python3-pytest)")
        super().setUp()

    def test_cases(self):
        environment = self.load("labgrid-env.yaml")
        main_target = environment["targets"]["main"]
        main_target["resources"]["NetworkService"].update(
            address="127.0.0.1", port=self.port,
            username=subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip())
        main_target["drivers"]["SSHDriver"]["keyfile"] = str(self.keys / "user")
        self.write("env.yaml", yaml.safe_dump(environment))
        self.write("labgrid_cases.py", (FLEET / "labgrid_cases.py").read_text()
                   .replace("/tmp/mlictl-cases", str(self.root / "remote")))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   "--lg-env", "env.yaml", "labgrid_cases.py"]
        result = self.sh(*command, code=1)
        out = result.stdout + result.stderr
        self.assertIn("40 cases: 38 passed, 2 failed", out)
        self.check_report("report.xml")
        for name in ("b c/t7", "b c/t23"):
            os.unlink(self.path(f"cases/{name}.json"))
        self.sh(*command)


if __name__ == "__main__":
    main()
