#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how well a queue shares cases between workers of different speed, of which some are killed.

    MLICTL=build/cli/mlictl bench/queue/fleet.py [--cases N] [--workers N] [--slower N] [--kill N] [--delay-ms MS]
                                                 [--seed N]

One worker is `slower` times slower than the others, `kill` of the others are killed with -9 at a third, at half, ...
of the ideal time. The ideal makespan is the time in which the work would be done if no time were lost: the T for which
the integral from 0 to T of the speeds of all living workers is the number of cases. The speed of a worker is the
reciprocal of the mean duration of its cases, as it reports them. The measured makespan is the time from the start of
the first worker to the end of the last one.

Exits with 1 if a case is lost or counted twice, or if a ratio exceeds --most (default: 1.15).
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "integration"))
from queue_server import Redis  # pylint: disable=wrong-import-position

LEASE_S = 2


def make_cases(directory, count, bad):
    """Writes cases with golden files; those in `bad` fail."""
    cases = directory / "cases"
    cases.mkdir(parents=True)
    header = b"{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3, 4), }"
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    start = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header
    (directory / "in.npy").write_bytes(start + bytes(range(24)))
    (directory / "bad.npy").write_bytes(start + bytes(24))
    for i in range(count):
        golden = "bad" if i in bad else "in"
        (cases / f"c{i:05}.json").write_text(json.dumps(
            {"op": "mov", "src": {"file": "../in.npy"}, "dst": {"file": "out.npy"},
             "expect": {"file": f"../{golden}.npy"}}))


class Worker:
    """A process that pulls cases; the fault engine delays each case, on average by `delay_ms`."""

    def __init__(self, mlictl, directory, url, number, delay_ms, seed):
        self.delay_ms = delay_ms
        self.output = directory / f"worker-{number}.jsonl"
        engine = f"fault:inline,tiny=0,seed={seed + number},delay_us={int(2000 * delay_ms)}"
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([mlictl, "batch", "--queue", url, "-j1", "--json", "--keep", "none", "-e",
                                             engine], cwd=directory, stdin=subprocess.DEVNULL, stdout=output)
        self.killed = None

    def kill(self, begin):
        """Waits until the process has ended a case or has exited, and kills it."""
        while not self.results() and self.process.poll() is None:
            time.sleep(0.005)
        self.process.kill()
        self.killed = time.monotonic() - begin

    def results(self):
        """Returns the worker's case events, without the line that a kill may have cut."""
        events = []
        for line in self.output.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                events.append(json.loads(line))
        return [event for event in events if event["event"] == "case"]

    def speed(self):
        """Returns the speed of the worker in cases per second."""
        results = self.results()
        return len(results) / (sum(event["ns"] for event in results) / 1e9) if results else 0


def ideal(workers, count):
    """Returns the time T by which the living workers can have done `count` cases."""
    ends = sorted(worker.killed for worker in workers if worker.killed is not None)
    done, begin = 0.0, 0.0
    for end in [*ends, float("inf")]:
        speed = sum(w.speed() for w in workers if w.killed is None or w.killed > begin)
        if done + speed * (end - begin) >= count:
            return begin + (count - done) / speed
        done += speed * (end - begin)
        begin = end
    raise AssertionError("no worker is left")


def run(mlictl, server, directory, options):
    """Runs one fleet. Returns the figures, and a list of what is wrong."""
    directory = pathlib.Path(directory)
    bad = set(random.Random(options.seed).sample(range(options.cases), options.cases // 100))
    make_cases(directory, options.cases, bad)
    url = server.url("fleet")
    queue = ["--queue", url]
    subprocess.run([mlictl, "batch", "enqueue", *queue, "--lease", f"{LEASE_S}s", "cases"], cwd=directory, check=True,
                   stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    workers = [Worker(mlictl, directory, url, number,
                      options.delay_ms * (options.slower if number == 0 else 1), options.seed)
               for number in range(options.workers)]
    expected = options.cases * options.delay_ms / 1000 / (options.workers - 1 + 1 / options.slower)
    for i in range(options.kill):
        time.sleep(max(0, begin + expected * (i + 2) / (2 * options.kill + 2) - time.monotonic()))
        workers[-1 - i].kill(begin)
    for worker in workers:
        worker.process.wait()
    measured = time.monotonic() - begin
    collected = subprocess.run([mlictl, "batch", "collect", *queue, "--json"], cwd=directory, check=False,
                               stdout=subprocess.PIPE)
    return judge(options, workers, measured, bad, [json.loads(line) for line in collected.stdout.splitlines()])


def judge(options, workers, measured, bad, events):
    wrong = []
    cases = [event for event in events if event["event"] == "case"]
    names = collections.Counter(event["name"] for event in cases)
    if len(names) != options.cases or any(count != 1 for count in names.values()):
        wrong.append(f"{len(names)} of {options.cases} cases are counted, {max(names.values(), default=0)} times at most")
    failed = {event["name"] for event in cases if event["status"] == "failed"}
    if failed != {f"c{i:05}" for i in bad}:
        wrong.append("other cases failed than should")
    if any(w.process.returncode not in (0, 1) for w in workers if w.killed is None):
        wrong.append("a worker failed")
    wanted = ideal(workers, options.cases)
    return {"cases": options.cases, "counted": len(cases), "failed": len(failed), "ideal_s": round(wanted, 2),
            "measured_s": round(measured, 2), "ratio": round(measured / wanted, 3),
            "ran": [len(w.results()) for w in workers]}, wrong


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--slower", type=int, default=10)
    parser.add_argument("--kill", type=int, default=2)
    parser.add_argument("--delay-ms", type=float, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 20))
    parser.add_argument("--most", type=float, default=1.15)
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    mlictl = shutil.which(os.environ.get("MLICTL", "mlictl"))
    if not mlictl:
        sys.exit("fleet: mlictl was not found: set MLICTL to the program of a build, as build/cli/mlictl")
    mlictl = str(pathlib.Path(mlictl).resolve())
    if Redis.missing():
        sys.exit(f"fleet: {Redis.missing()}")
    with tempfile.TemporaryDirectory(prefix="mlictl-fleet-") as directory:
        server = Redis(f"{directory}/server")
        try:
            figures, wrong = run(mlictl, server, f"{directory}/work", options)
        finally:
            server.kill()
    if figures["ratio"] > options.most:
        wrong.append(f"the ratio exceeds {options.most}")
    print(json.dumps(figures), f"seed {options.seed}", *wrong, sep=", ", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
