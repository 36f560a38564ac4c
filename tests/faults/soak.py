# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of the tests of faults: seeds, the number of rounds, and counts for docs/reliability.md.

    MLI_TEST_SEED=7     the random choices of seed 7, which every test prints
    MLI_FAULTS_ONLY=12  only round 12 of each test, as a failure prints it
    MLI_FAULTS_ROUNDS=9 nine rounds of each test
    MLI_SOAK=1          all rounds instead of a sample
    MLI_FAULTS_COUNTS   a file to which counts are appended, one JSON object on each line (scripts/soak-faults)
"""
import json
import os
import pathlib
import random
import shlex
import sys
import time

INTEGRATION = pathlib.Path(__file__).resolve().parents[1] / "integration"
sys.path[:0] = [str(INTEGRATION), str(INTEGRATION / "daemon")]

from harness import PERCENT  # noqa: E402

SOAK = os.environ.get("MLI_SOAK") == "1"
SEED = int(os.environ.get("MLI_TEST_SEED", time.time_ns() % 1000000))
ONLY = os.environ.get("MLI_FAULTS_ONLY")
ROUNDS = os.environ.get("MLI_FAULTS_ROUNDS")
INSTRUMENTED = os.environ.get("MLI_TEST_SLOW", "1") != "1"


def rounds(sample, soak):
    """Returns the numbers of the rounds to run: `sample` rounds (fewer in instrumented programs), or `soak` rounds in
    a soak run."""
    if ONLY is not None:
        return [int(ONLY)]
    if ROUNDS is not None:
        return range(int(ROUNDS))
    count = soak if SOAK else max(1, sample * PERCENT // 100)
    return range(count)


def pick_of(test, number):
    """Returns the source of random choices for a round of a test."""
    return random.Random(f"{SEED} {test.id()} {number}")


def again(test, number):
    """Returns the shell command that repeats a round, for the message of a failure.

    It sets all variables that meson and the user have set: the programs, the preloaded libraries, MLI_SOAK.
    """
    settings = {key: value for key, value in sorted(os.environ.items())
                if key in ("MLICTL", "MLID") or key.startswith("MLI_")}
    for key in ("MLI_FAULTS_COUNTS", "MLI_FAULTS_ROUNDS"):
        settings.pop(key, None)
    settings |= {"MLI_TEST_SEED": SEED, "MLI_FAULTS_ONLY": number}
    words = [*(f"{key}={shlex.quote(str(value))}" for key, value in settings.items()),
             "/usr/bin/python3", shlex.quote(os.path.abspath(sys.argv[0])), test.id().removeprefix("__main__.")]
    return f"repeat with: {' '.join(words)}"


def count(fault, number=1, **more):
    """Adds to the count of a fault in the table of docs/reliability.md. `more` has further figures, which are only
    printed."""
    path = os.environ.get("MLI_FAULTS_COUNTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            print(json.dumps({"fault": fault, "count": number, **more}), file=file)
    if number:
        figures = "".join(f", {name} {value}" for name, value in more.items())
        print(f"\n  seed {SEED}: {fault}: {number}{figures}", end=" ", flush=True)
