#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up the test cases of meson test logs and says which were skipped, and why.

    count-tests.py [--failed-steps N] [--skipped-step "NAME: WHY"]... BUILD_TREE...

A tree is named once for each run of meson test in it; a run that left no log has failed.
A cmocka or unittest program counts as many cases as it says it ran; anything else counts as one.
Exit 0 where cases ran and none failed.
"""
import argparse
import json
import pathlib
import re
import sys


def cmocka(text):
    """Cases as cmocka lists them: one line per case, then totals."""
    if not re.search(r"^\[==========\] .*Running \d+ test", text, re.M):
        return None
    ok = len(re.findall(r"^\[       OK \] ", text, re.M))
    skipped = re.findall(r"^\[  SKIPPED \] (\w+)$", text, re.M)
    failed = len(set(re.findall(r"^\[  (?:FAILED  |ERROR   )?\] ?(\w+)", text, re.M)))
    failed = max(failed, len(re.findall(r"^\[  FAILED  \] [^\d]", text, re.M)) // 2)
    return ok, failed, [(name, "") for name in sorted(set(skipped))]


def unittest(text):
    """Cases as Python's unittest sums them up in verbose mode."""
    ran = re.findall(r"^Ran (\d+) tests? in ", text, re.M)
    if not ran:
        return None
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", text))
    skipped = re.findall(r"^(\w+) .*\.\.\. skipped '?\"?(.*?)'?\"?$", text, re.M)
    return int(ran[-1]) - bad - len(skipped), bad, skipped


def cases(test):
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    result = test["result"]
    if result in ("SKIP",):
        reason = text.strip().splitlines()[-1] if text.strip() else "no reason given"
        return 0, 0, [(test["name"], reason)]
    passed, failed, skipped = cmocka(text) or unittest(text) or (1, 0, [])
    if result not in ("OK", "EXPECTEDFAIL"):
        failed = max(failed, 1)
    elif failed:
        failed = 0  # the program said it passed; what looked like a failure was a test's own output
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failed-steps", type=int, default=0)
    parser.add_argument("--skipped-step", action="append", default=[])
    parser.add_argument("trees", nargs="*")
    options = parser.parse_args()

    passed, failed = 0, options.failed_steps
    skips = []
    logs = [log for tree in dict.fromkeys(options.trees)
            for log in sorted(pathlib.Path(tree, "meson-logs").glob("*.json"))]
    missing = len(options.trees) - len(logs)
    if missing > 0:
        print(f"failed: {missing} runs of meson test left no log")
        failed += missing
    for log in logs:
        for line in log.read_text().splitlines():
            test = json.loads(line)
            ok, bad, skipped = cases(test)
            passed += ok
            failed += bad
            run = f"{log.parent.parent.name}/{log.stem}"
            skips += [(run, test["name"], *skip) for skip in skipped]
            if bad:
                print(f"failed: {run}: {test['name']} ({test['result']})")
    for run, test, name, why in skips:
        print(f"skipped: {run}: {test}: {name}: {why or 'its log says why'}")
    for step in options.skipped_step:
        print(f"skipped: {step}")
    skipped_count = len(skips) + len(options.skipped_step)
    print(f"{passed} passed, {failed} failed, {skipped_count} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
