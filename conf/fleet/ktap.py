#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the results of mlictl batch as KTAP version 1, the format of the Linux kernel, at the end of the run.

    mlictl batch cases --json | ktap.py [--flaky fail]

The directories of the cases are tests, and the cases their subtests. In a name, "#" is written as \\x23. The exit code
is that of mlictl batch.
"""
import json
import re
import sys


def plain(text):
    """Returns a text without control characters."""
    return re.sub(r"[\0-\x1f\x7f-\x9f]", "?", text)


def sentence(case):
    """Returns file, position or place of the fault (unless the message begins with the place) and message of a case."""
    text, place = case.get("message", case.get("reason", "")), ""
    for token in case.get("pointer", "").split("/")[1:]:
        index = re.fullmatch("[0-9]+", token)
        place += f"[{token}]" if index else ("." if place else "") + token.replace("~1", "/").replace("~0", "~")
    starts = [match.start() for match in re.finditer(r"(^|(?<=\.))[^.]", place)]
    named = next((i for i in starts if re.match(re.escape(place[i:]) + r"([:.\[ ]|$)", text)), None)
    place = place[:named] if named is not None else place and place + ": "
    position = f":{case['line']}:{case['column']}" if "line" in case else ""
    return plain(case["file"] + position + (": " if place or text else "") + place + text)


def diagnostics(case):
    """Returns the lines before the result of a case."""
    lines = ["no expectation"] if case["status"] == "ran" else []
    if case["status"] not in ("passed", "ran"):
        lines = [f"{case['status']}: {sentence(case)}", f"attempts {case['attempts']}"]
        lines += [f"rerun: {plain(case['again'])}"] if "again" in case else []
    lines.append(f"duration_ns {case['ns']}")
    if "predicted_ns" in case:
        lines.append(f"predicted_ns {case['predicted_ns']} transfers_ns {case['transfers_ns']}")
    return [f"  # {line}" for line in lines]


def test_of(event, good):
    """Returns an event's directory, name, lines before the result, whether the result is good, and directive."""
    suite, _, name = event["name"].rpartition("/")
    if event["event"] == "case":
        word = "TIMEOUT" if event.get("reason") == "timeout" else "ERROR"
        directive = f" # {word} {event['reason']}" if event["status"] == "error" else ""
        return suite or "(root)", name, diagnostics(event), event["status"] in good, directive
    if "message" in event:  # a shard, a queue or a line of standard input
        return event["name"], "run", [f"  # {plain(event['message'])}"], False, " # ERROR not run"
    return suite or "(root)", name, [], False, " # SKIP not run"


def main():
    good = ("passed", "ran") if sys.argv[1:] == ["--flaky", "fail"] else ("passed", "ran", "flaky")
    events = [json.loads(line) for line in sys.stdin.buffer]
    tests = sorted((test_of(e, good) for e in events if e.get("event") in ("case", "not_run")), key=lambda test: test[:2])
    suites = sorted({test[0] for test in tests})
    print(f"KTAP version 1\n1..{len(suites)}" + ("" if suites else " # SKIP no cases"))
    for event in events:
        if event.get("event") == "problem":
            print("# " + plain(event["message"]))
    for number, suite in enumerate(suites, 1):
        mine, shown = [test for test in tests if test[0] == suite], plain(suite).replace("#", r"\x23")
        print(f"  KTAP version 1\n  # Subtest: {shown}\n  1..{len(mine)}")
        for i, (_, name, lines, passed, directive) in enumerate(mine, 1):
            name = plain(name).replace("#", r"\x23")
            print(*lines, f"  {'ok' if passed else 'not ok'} {i} {name}{directive}", sep="\n")
        print("ok" if all(test[3] for test in mine) else "not ok", number, shown)
    return events[-1].get("exit", 1) if events else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main())
