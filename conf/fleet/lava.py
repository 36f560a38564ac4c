#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the results of mlictl batch as signals for LAVA, which reads them from the console of the device.

    mlictl batch cases --json | lava.py [--flaky fail]

The directory of a case is its test set. In names, "/" becomes ".", and bytes other than letters, digits, "_", "-" and
"." become "_". The exit code is that of mlictl batch."""
import json
import re
import sys


def plain(text):
    """Returns a text without control characters, and without "<", which could begin a signal."""
    return re.sub(r"[\0-\x1f\x7f-\x9f]", "?", text).replace("<", "&lt;")


def sentence(case):
    """Returns file, position or place of the fault (unless the message begins with the place) and message of a case."""
    text, place = case.get("message", case.get("reason", "")), ""
    for token in case.get("pointer", "").split("/")[1:]:
        index = re.fullmatch("[0-9]+", token)
        place += f"[{token}]" if index else ("." if place else "") + token.replace("~1", "/").replace("~0", "~")
    starts = (match.start() for match in re.finditer(r"(^|(?<=\.))[^.]", place))
    named = next((i for i in starts if re.match(re.escape(place[i:]) + r"([:.\[ ]|$)", text)), None)
    place = place[:named] if named is not None else place and place + ": "
    position = f":{case['line']}:{case['column']}" if "line" in case else ""
    return plain(case["file"] + position + (": " if place or text else "") + place + text)


def word(name):
    return re.sub(rb"[^A-Za-z0-9_.-]", b"_", name.replace(b"/", b".")).decode()


def measured(unit, millionths):
    return f" UNITS={unit} MEASUREMENT={millionths // 10**6}.{millionths % 10**6:06}"


def put_case(name, result, measurement=""):
    print(f"<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={word(name)} RESULT={result}{measurement}>", flush=True)


def enter(old, new):
    """Leaves the test set `old` and enters the test set `new`, unless they are the same. Returns `new`."""
    if old and new != old:
        print("<LAVA_SIGNAL_TESTSET STOP>")
    if new and new != old:
        print(f"<LAVA_SIGNAL_TESTSET START {word(new)}>")
    return new


def main():
    good = ("passed", "ran") if sys.argv[1:] == ["--flaky", "fail"] else ("passed", "ran", "flaky")
    current, code = b"", 1
    for event in map(json.loads, sys.stdin.buffer):
        kind, code = event.get("event"), event.get("exit", code)
        whole = bytes.fromhex(event["name_bytes"]) if "name_bytes" in event else event.get("name", "").encode()
        directory, _, name = whole.rpartition(b"/")
        if kind == "problem":
            print(plain(event["message"]), flush=True)
        elif kind == "not_run":  # with a message: not a case, but a shard, a queue or standard input
            current = enter(current, b"" if "message" in event else directory)
            put_case(*((whole, "fail") if "message" in event else (name, "skip")))
        elif kind == "case":
            current = enter(current, directory)
            if event["status"] != "passed":
                why = "no expectation" if event["status"] == "ran" else sentence(event)
                print(f"{event['status']} {plain(event['name'])}: {why}")
            put_case(name, "pass" if event["status"] in good else "fail", measured("ms", event["ns"]))
            if "predicted_ns" in event:
                put_case(name + b".predicted", "pass", f" UNITS=ns MEASUREMENT={event['predicted_ns']}")
        elif kind == "end":
            current, ended = enter(current, b""), sum(event.get(w, 0) for w in "passed ran flaky failed error updated".split())
            put_case(b"mlictl-batch", "fail" if code else "pass", f" UNITS=cases MEASUREMENT={ended}")
            put_case(b"mlictl-batch-duration", "pass", measured("s", event["ns"] // 1000))
    return code


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main())
