#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs integration tests while mlictl and mlid get short counts and interrupted calls at random.

    shaken.py                     a sample of the tests
    shaken.py --all               all tests
    shaken.py --seed 7 test_batch.py daemon/test_protocol.py

POSIX allows everything that the library returns at any time, so every test must pass as usual. Exit status: 0 passed,
1 failed, 77 not possible with this build.
"""
import argparse
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import time

INTEGRATION = pathlib.Path(__file__).resolve().parents[1] / "integration"
PRELOAD = os.environ.get("MLI_TORTURE_PRELOAD", "")
SLOW = float(os.environ.get("MLI_TEST_SLOW", "1"))
PROGRAMS = "mlictl:mlid:mli_agent"
SAMPLE = 5
TIMEOUT = 300 * SLOW
# Tests that cannot run with short counts and interrupted calls, each with the reason.
LEFT_OUT = {
    "test_linked.py": "compiles programs",
    "test_tiling.py": "needs an example program",
    "test_tuning.py": "a build option",
    "daemon/test_fairness.py": "measures time",
    "daemon/test_stalled_fs.py": "the library asks each descriptor for its type, and the test wants no such question",
}


def all_tests():
    names = [path.relative_to(INTEGRATION).as_posix()
             for path in [*INTEGRATION.glob("test_*.py"), *INTEGRATION.glob("daemon/test_*.py")]]
    return sorted(set(names) - LEFT_OUT.keys())


def run(name, seed):
    """Runs a test. Returns (name, exit code, seconds, output)."""
    environment = dict(os.environ, LD_PRELOAD=PRELOAD, TORTURE_SHAKE=str(seed), TORTURE_PROGRAMS=PROGRAMS,
                       MLI_TEST_SLOW=str(2 * SLOW))
    environment["ASAN_OPTIONS"] = "verify_asan_link_order=0:" + environment.get("ASAN_OPTIONS", "")
    begin = time.monotonic()
    try:
        done = subprocess.run([sys.executable, "-B", INTEGRATION / name], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TIMEOUT, check=False)
        code, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as error:
        code, output = 1, f"hangs\n{(error.stdout or b'')[-3000:]}"
    return name, code, time.monotonic() - begin, output


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", metavar="TEST", help="Run these tests (default: a sample).")
    parser.add_argument("--all", action="store_true", help="Run all tests.")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("MLI_TEST_SEED", "0")),
                        help="Use this seed (default: $MLI_TEST_SEED, else 0).")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="Run this many tests at a time.")
    options = parser.parse_args()
    if not PRELOAD:
        print("skipped: this build has no library that shakes calls")
        return 77
    tests = options.tests or all_tests()
    if not options.tests and not options.all and os.environ.get("MLI_SOAK") != "1":
        tests = random.Random(options.seed).sample(tests, SAMPLE)
    print(f"seed {options.seed}, {len(tests)} tests", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, code, seconds, output in pool.map(lambda name: run(name, options.seed), tests):
            verdict = {0: "passed", 77: "skipped"}.get(code, "FAILED")
            print(f"{verdict:8} {seconds:5.1f} s  {name}", flush=True)
            if verdict == "FAILED":
                failed += 1
                print(output[-6000:])
                print(f"    scripts/torture --shake {options.seed} {name}", flush=True)
    print(f"in all: {len(tests)} tests, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
