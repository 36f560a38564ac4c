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
# Lines of unittest: a skipped test, and a failed round.
SKIPPED = re.compile(r"\.\.\. skipped (['\"])(.*)\1$", re.MULTILINE)
AGAIN = re.compile(r"again=(['\"])(repeat with: .*?)\1[,)]")


def names():
    return sorted(path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py"))


def positive(text):
    """Returns the number that an argument has; argparse reports a ValueError."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/soak-faults", description="Run all rounds of the tests of faults.")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="a name of tests/faults/test_TEST.py (default: all)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1000000, help="seed of the random choices")
    parser.add_argument("--sample", action="store_true", help="run a sample of the rounds")
    parser.add_argument("--rounds", type=positive, metavar="N", help="run N rounds of each test")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--update", action="store_true", help="write the counts into docs/reliability.md")
    parser.add_argument("--build", type=pathlib.Path, help="use this build tree (default: build-test/release)")
    options = parser.parse_args()
    unknown = set(options.tests) - set(names())
    if unknown:
        parser.error(f"{' '.join(sorted(unknown))}: unknown; the tests are {' '.join(names())}")
    if options.sample and options.rounds:
        parser.error("--sample and --rounds exclude each other")
    if options.update and (options.tests or options.sample or options.rounds):
        parser.error("--update needs all rounds of all tests")
    return options


def compiled(tree):
    """Compiles the tree. Returns whether it compiled."""
    if tree == stage.TREES / TREE:
        stage.TREES.mkdir(exist_ok=True)
        return trees.build(stage.Stage("build"), TREE)
    return subprocess.run(["ninja", "-C", tree], stdout=subprocess.DEVNULL, check=False).returncode == 0


def run(tree, name, options, counts):
    """Runs one test program. Returns whether it passed, its seconds, and the reasons of its skipped tests."""
    environment = dict(os.environ, MLI_TEST_SEED=str(options.seed), MLI_FAULTS_COUNTS=str(counts))
    if not options.sample:
        environment["MLI_SOAK"] = "1"
    if options.rounds:
        environment["MLI_FAULTS_ROUNDS"] = str(options.rounds)
    begin = time.monotonic()
    log = tree / "meson-logs" / f"faults-{name}.log"
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run(["meson", "test", "-C", tree, "--no-rebuild", "--timeout-multiplier", "0", "--verbose",
                               f"faults_{name}"], env=environment, stdout=out, stderr=subprocess.STDOUT, check=False)
    seconds, text = time.monotonic() - begin, log.read_text(encoding="utf-8", errors="replace")
    skipped = [reason for _, reason in SKIPPED.findall(text)]
    if not options.json:
        print(f"{name}: {'passed' if done.returncode == 0 else f'FAILED: {log}'}, {seconds:.0f} s", flush=True)
        for reason in skipped:
            print(f"    skipped: {reason}", flush=True)
    for _, line in AGAIN.findall(text):
        print(line, file=sys.stderr)
    return done.returncode == 0, seconds, skipped


def records_of(counts):
    """Returns the objects that the tests have written: {"fault": name, "count": number, more figures}."""
    return [json.loads(line) for line in counts.read_text(encoding="utf-8").splitlines()] if counts.exists() else []


def totals(records):
    """Returns {fault: number}."""
    found = collections.Counter()
    for record in records:
        found[record["fault"]] += record["count"]
    return dict(sorted(found.items()))


def figures(records):
    """Returns {fault: the last record of its test, without the name and the count of the
    fault}."""
    return {record["fault"]: more for record in records
            if (more := {key: value for key, value in record.items() if key not in ("fault", "count")})}


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
    records = records_of(counts)
    found, more = totals(records), figures(records)
    passed = all(good for good, _, _ in results.values())
    skipped = any(reasons for _, _, reasons in results.values())
    if options.json:
        print(json.dumps({"seed": options.seed, "passed": passed, "faults": found, "figures": more,
                          "tests": {name: {"passed": good, "seconds": round(seconds, 1), "skipped": reasons}
                                    for name, (good, seconds, reasons) in results.items()}}, indent=2))
    else:
        for fault, number in found.items():
            print(f"{grouped(number):>8}  {fault}",
                  *(f"{name.replace('_', ' ')}: {grouped(value)}" for name, value in more.get(fault, {}).items()), sep="; ")
    if options.update and (skipped or not passed):
        print("docs/reliability.md keeps its counts: a test failed or was skipped", file=sys.stderr)
        return 1
    if options.update:
        update(found)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
