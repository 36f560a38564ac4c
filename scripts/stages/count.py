# SPDX-License-Identifier: BSD-3-Clause
"""Adds up the test cases of meson's logs.

A cmocka or unittest program counts as the number of cases that it reports; any other program as one case.
"""
import json
import re


def cmocka(text):
    """Returns (passed, failed, skipped) of a text, or None if it is not the output of cmocka."""
    if not re.search(r"^\[==========\] .*Running \d+ test", text, re.M):
        return None
    ok = len(re.findall(r"^\[       OK \] ", text, re.M))
    skipped = re.findall(r"^\[  SKIPPED \] (\w+)$", text, re.M)
    failed = len(set(re.findall(r"^\[  (?:FAILED  |ERROR   )?\] ?(\w+)", text, re.M)))
    failed = max(failed, len(re.findall(r"^\[  FAILED  \] [^\d]", text, re.M)) // 2)
    return ok, failed, [(name, "") for name in sorted(set(skipped))]


def unittest(text):
    """Returns (passed, failed, skipped) of a text, or None if it is not the verbose output of
    unittest."""
    ran = re.findall(r"^Ran (\d+) tests? in ", text, re.M)
    if not ran:
        return None
    bad = sum(int(n) for n in re.findall(r"(?:failures|errors)=(\d+)", text))
    skipped = re.findall(r"^(\w+) .*\.\.\. skipped '?\"?(.*?)'?\"?$", text, re.M)
    return int(ran[-1]) - bad - len(skipped), bad, skipped


def cases(test):
    """Returns (passed, failed, skipped) of one test of a log; skipped is a list of (name, reason)."""
    text = test.get("stdout", "") + "\n" + test.get("stderr", "")
    result = test["result"]
    if result in ("SKIP",):
        reason = text.strip().splitlines()[-1] if text.strip() else "no reason given"
        return 0, 0, [(test["name"], reason)]
    passed, failed, skipped = cmocka(text) or unittest(text) or (1, 0, [])
    if result not in ("OK", "EXPECTEDFAIL"):
        failed = max(failed, 1)
    elif failed:
        failed = 0  # the program passed: what looks like a failure is a test's own output
    return passed, failed, skipped


def summarise(logs, steps, skipped_steps):
    """Prints which cases failed and which were skipped, with reasons, and the numbers in the last line.

    logs: files of meson test; a run that left no log counts as failed. steps: (name, passed) of each stage
    that is not a meson test; only the failed ones are counted. skipped_steps: "NAME: REASON" of each.
    Returns whether there were cases and none failed.
    """
    passed = failed = 0
    skips = []
    for name, ok in steps:
        if not ok:
            failed += 1
            print(f"failed: {name}")
    for log in logs:
        run = f"{log.parent.parent.name}/{log.stem}"
        if not log.is_file():
            failed += 1
            print(f"failed: {run}: meson test left no log")
            continue
        for line in log.read_text().splitlines():
            test = json.loads(line)
            ok, bad, skipped = cases(test)
            name = test["name"].split(" / ")[-1]  # without project and suites
            passed += ok
            failed += bad
            skips += [(run, name, *skip) for skip in skipped]
            if bad:
                print(f"failed: {run}: {name} ({test['result']})")
    for run, test, name, why in skips:
        print(f"skipped: {run}: {test}: {name}: {why or 'its log says why'}")
    for step in skipped_steps:
        print(f"skipped: {step}")
    print(f"{passed} passed, {failed} failed, {len(skips) + len(skipped_steps)} skipped", flush=True)
    return passed > 0 and failed == 0
