# SPDX-License-Identifier: BSD-3-Clause
"""scripts/soak-faults: runs the tests of faults and counts the faults for the table of docs/reliability.md."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import stage
import trees

TREE = "release"
TABLE = stage.ROOT / "docs" / "reliability.md"
TESTS = stage.ROOT / "tests" / "faults"


def names():
    return sorted(path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py"))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak-faults", description="Run all rounds of the tests of faults.")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="a name of tests/faults/test_TEST.py (default: all)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000, help="seed of the random choices")
    parser.add_argument("--sample", action="store_true", help="run a sample of the rounds")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--update", action="store_true", help="write the counts into docs/reliability.md")
    parser.add_argument("--build", type=pathlib.Path, help="use this build tree (default: build-test/release)")
    options = parser.parse_args()
    unknown = set(options.tests) - set(names())
    if unknown:
        parser.error(f"{' '.join(sorted(unknown))}: unknown; the tests are {' '.join(names())}")
    if options.update and (options.tests or options.sample):
        parser.error("--update needs all rounds of all tests")
    return options


def compiled(tree):
    """Compiles the tree. Returns whether that worked."""
    if tree == stage.TREES / TREE:
        stage.TREES.mkdir(exist_ok=True)
        return trees.build(stage.Stage("build"), TREE)
    return subprocess.run(["ninja", "-C", tree], stdout=subprocess.DEVNULL, check=False).returncode == 0


def run(tree, name, options, counts):
    """Runs one test program. Returns whether it passed, and its seconds."""
    environment = dict(os.environ, MLI_TEST_SEED=str(options.seed), MLI_FAULTS_COUNTS=str(counts))
    if not options.sample:
        environment["MLI_SOAK"] = "1"
    begin = time.monotonic()
    log = tree / "meson-logs" / f"faults-{name}.log"
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["meson", "test", "-C", tree, "--no-rebuild", "--timeout-multiplier", "0", "--verbose",
                               f"faults_{name}"], env=environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    seconds = time.monotonic() - begin
    if not options.json:
        print(f"{name}: {'passed' if done.returncode == 0 else f'FAILED: {log}'}, {seconds:.0f} s", flush=True)
    for line in re.findall(r"repeat with: [^']*", log.read_text(encoding="utf-8", errors="replace")):
        print(line, file=sys.stderr)
    return done.returncode == 0, seconds


def totals(counts):
    """Returns {fault: number} from the lines that the tests have written."""
    found = collections.Counter()
    if counts.exists():
        for line in counts.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            found[record["fault"]] += record["count"]
    return dict(sorted(found.items()))


def grouped(number):
    return f"{number:,}".replace(",", " ")


def update(found):
    """Writes the counts into the last column of the rows that begin with the names of the faults."""
    text = TABLE.read_text(encoding="utf-8")
    for fault, number in found.items():
        text, rows = re.subn(rf"(?m)^(\| {re.escape(fault)} \|.*\|) [^|]* \|$", rf"\1 {grouped(number)} |", text)
        if rows != 1:
            raise SystemExit(f"docs/reliability.md has {rows} rows for {fault!r}")
    TABLE.write_text(text, encoding="utf-8")


def main():
    options = arguments()
    tree = (options.build or stage.TREES / TREE).resolve()
    if not compiled(tree):
        return 1
    counts = tree / "meson-logs" / "faults.jsonl"
    counts.unlink(missing_ok=True)
    if not options.json:
        print(f"seed {options.seed}", flush=True)
    results = {name: run(tree, name, options, counts) for name in options.tests or names()}
    found = totals(counts)
    passed = all(good for good, _ in results.values())
    if options.json:
        print(json.dumps({"seed": options.seed, "passed": passed, "faults": found,
                          "tests": {name: {"passed": good, "seconds": round(seconds, 1)}
                                    for name, (good, seconds) in results.items()}}, indent=2))
    else:
        for fault, number in found.items():
            print(f"{grouped(number):>8}  {fault}")
    if options.update and passed:
        update(found)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
