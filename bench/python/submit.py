#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares jobs from Python with the same jobs from C, over libmli_client, on one service.

Each job transposes 64x64 bytes, which the service moves in about 1 us: what is measured is the way to
the service and back, in wall-clock time for each job.

    submit    client.submit() of arrays in buffers, one job at a time
    private   client.submit() of a NumPy array with a new result; in C two memfds, sent with each job
    start     plan.start().result(), one job at a time
    starts    plan.start() 100 times, then the 100 results

Python and C take turns in many short rounds. The times are the fastest tenth of the rounds of each,
which other load of the machine disturbs least. The limit of their ratio is 1.3.

    PYTHONPATH=build/python bench/python/submit.py --program build/bench/bench-submit
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import mli

LIMIT = 1.3
DEPTH = 100


class Scenes:
    def __init__(self, client):
        self.client = client
        self.src = client.buffer((64, 64), np.int8).array()
        self.out = client.buffer((64, 64), np.int8).array()
        self.mine = np.arange(4096).astype(np.int8).reshape(64, 64)
        self.plan = client.plan(self.src, perm=(1, 0), out=self.out)

    def submit(self, count):
        submit, src, out = self.client.submit, self.src, self.out
        for _ in range(count):
            submit(src, perm=(1, 0), out=out)

    def private(self, count):
        for _ in range(count):
            self.client.submit(self.mine, perm=(1, 0))

    def start(self, count):
        start = self.plan.start
        for _ in range(count):
            start().result()

    def starts(self, count):
        start = self.plan.start
        for _ in range(count // DEPTH):
            for ticket in [start() for _ in range(DEPTH)]:
                ticket.result()


def time_of(function, count):
    """Returns nanoseconds for each job."""
    begin = time.perf_counter_ns()
    function(count)
    return (time.perf_counter_ns() - begin) / count


class Peer:
    """The C program."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def time_of(self, scene, count):
        self.process.stdin.write(f"{scene} {count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="The C program, bench-submit.")
    parser.add_argument("--rounds", type=int, default=200, help="Rounds (default: 200).")
    parser.add_argument("--jobs", type=int, default=100, help="Jobs of a round (default: 100).")
    options = parser.parse_args()
    failed = False
    with mli.serve(engine="threads", channels=2) as client:
        # Separate processors: otherwise the times depend on where the scheduler puts them.
        if os.cpu_count() > 1:
            os.sched_setaffinity(client.server.pid, {1})
            os.sched_setaffinity(0, {0})
        scenes, peer = Scenes(client), Peer(options.program, client.path)
        print(f"{'':10}{'C, us':>10}{'Python, us':>12}{'ratio':>8}")
        for scene in ("submit", "private", "start", "starts"):
            mine = getattr(scenes, scene)
            mine(DEPTH)
            peer.time_of(scene, DEPTH)
            rounds = [(peer.time_of(scene, options.jobs), time_of(mine, options.jobs))
                      for _ in range(options.rounds)]
            c, python = (statistics.quantiles(times, n=10)[0] / 1000 for times in zip(*rounds))
            ratio = python / c
            failed = failed or ratio > LIMIT
            print(f"{scene:10}{c:10.2f}{python:12.2f}{ratio:8.2f}"
                  + ("" if ratio <= LIMIT else f"  above {LIMIT}"))
        peer.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
