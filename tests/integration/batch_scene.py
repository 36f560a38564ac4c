# SPDX-License-Identifier: BSD-3-Clause
"""Makes cases for the tests of `mlictl batch`, and reads its reports and state files."""
import json
import os

from harness import Case, mov, npy, ramp

SHAPE, PERM, MOVED_SHAPE = (2, 3, 4), [2, 0, 1], (4, 2, 3)
SOURCE = ramp(24)
MOVED = bytes(SOURCE[a * 12 + b * 4 + c] for c in range(4) for a in range(2) for b in range(3))


class BatchCase(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", SHAPE, data=SOURCE)
        self.write("good.npy", npy("|i1", MOVED_SHAPE, MOVED))
        self.write("bad.npy", npy("|i1", MOVED_SHAPE, MOVED[:5] + b"\x63" + MOVED[6:]))

    def job(self, golden="good.npy", up="", **more):
        """Returns a transpose job; `up` is the relative path from the job file to the tensors."""
        job = mov(up + "in.npy", "out.npy", perm_dim=PERM, **more)
        if golden:
            job["expect"] = {"file": up + golden}
        return job

    def add(self, name, golden="good.npy", **more):
        """Adds the case `name` to cases/."""
        up = "../" * (name.count("/") + 1)
        return self.write(f"cases/{name}.json", self.job(golden, up, **more))

    def batch(self, *arguments, code=None, **more):
        return self.ctl("batch", *arguments, code=code, **more)

    def events_by_case(self, *arguments, code=None, **more):
        """Returns the JSON objects of a run: begin, {case name: case}, end."""
        result = self.batch(*arguments, "--json", code=code, **more)
        events = result.json
        count = sum(e["event"] == "case" for e in events)
        self.assertEqual([e["event"] for e in events if e["event"] not in ("case", "not_run")], ["begin", "end"],
                         str(result))
        self.assertEqual((events[0]["event"], events[-1]["event"]), ("begin", "end"))
        names = [e["name"] for e in events[1:-1]]
        if "open" not in events[0] and not any("name_bytes" in e for e in events):
            self.assertEqual(names, sorted(names))
        cases = {e["name"]: e for e in events[1:-1] if e["event"] == "case"}
        self.assertEqual(len(cases), count, "a case is reported twice")
        self.assertEqual(events[-1]["not_run"], len(events) - count - 2)
        self.assertEqual(events[-1]["exit"], result.code)
        return events[0], cases, events[-1]

    def names(self, *arguments, code=0, **more):
        return self.batch("--list", *arguments, code=code, **more).out.splitlines()

    def counts(self, end):
        words = ("passed", "ran", "flaky", "failed", "error", "updated", "not_run")
        return {word: end[word] for word in words if end[word]}

    def records(self, path):
        """Returns the last record of each case of a state file, without times and file stamps,
        which differ from run to run."""
        last = {}
        with open(self.path(path), encoding="utf-8") as lines:
            for line in lines:
                event = json.loads(line)
                if event["event"] == "case":
                    last[event["name"]] = {k: v for k, v in event.items() if k != "ns"}
                    for file in event["basis"]["files"]:
                        file.pop("stamp", None)
        return last

    def environment(self):
        environment = super().environment()
        environment.pop("MLID_HOST", None)
        return environment


def at_root():
    return os.geteuid() == 0
