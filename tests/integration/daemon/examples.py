# SPDX-License-Identifier: BSD-3-Clause
"""Reads the examples of PROTOCOL.md by the rules of its section "Examples"."""
import json
import re
import shlex
from dataclasses import dataclass, field

from wire import once

SENT = re.compile(r"(2?)([<>]) (.*)")
UNDER_WAY = ("waiting", "queued", "running")
STATES = UNDER_WAY + ("done", "failed", "cancelled")
VARYING = ("pid", "uid", "version", "build", "uptime_ms", "time_ns", "ns_queued", "ns_moving",
           "first_channel", "busy_ns")


class Malformed(Exception):
    """Raised for an example that breaks the rules."""


@dataclass
class Step:
    line: int  # in the document
    kind: str  # send, expect, fds, file, truncate or end
    link: int = 1  # the connection, 1 or 2
    text: str = ""  # what goes over the wire
    value: object = None  # expect: the object; fds, file, truncate: names and contents


@dataclass
class Example:
    line: int
    steps: list = field(default_factory=list)
    options: list = field(default_factory=list)
    config: dict = field(default_factory=dict)
    conditions: list = field(default_factory=list)  # "other user", "1 GiB"

    def texts(self, kind):
        return [step for step in self.steps if step.kind == kind]


def load(text, where):
    try:
        value = json.loads(text, object_pairs_hook=once)
    except ValueError as error:
        raise Malformed(f"line {where}: {error}: {text}") from None
    if not isinstance(value, dict):
        raise Malformed(f"line {where}: no object: {text}")
    return value


def blocks(text):
    """Returns the indented blocks, each as [(line number, line without the indent)]."""
    block = []
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.startswith("    ") and line.strip():
            block.append((number, line[4:]))
        elif block:
            yield block
            block = []


def logical(block):
    """Returns the logical lines: a line that is indented further than the line before continues it."""
    joined = []
    for number, line in block:
        if line.startswith(" ") and joined:
            joined[-1][1] += " " + line.strip()
        else:
            joined.append([number, line.rstrip()])
    return joined


def content(word, where):
    """Parses NAME=HEX, NAME=zeros:N or NAME; returns (name, bytes, size or None)."""
    name, equals, value = word.partition("=")
    if not re.fullmatch(r"\w+", name):
        raise Malformed(f"line {where}: no name of a descriptor: {word}")
    if not equals:
        return name, None
    if value.startswith("zeros:"):
        return name, int(value[6:])
    try:
        return name, bytes.fromhex(value)
    except ValueError:
        raise Malformed(f"line {where}: no bytes in hex: {word}") from None


def directive(example, number, text):
    verb, _, rest = text.partition(" ")
    if verb == "fds":
        value = [content(word, number) for word in rest.split()]
        example.steps.append(Step(number, "fds", value=value))
    elif verb == "file":
        name, _, digits = rest.partition(" ")
        value = content(f"{name}={digits}", number)
        example.steps.append(Step(number, "file", value=value))
    elif verb == "truncate":
        example.steps.append(Step(number, "truncate", value=rest))
    elif verb == "mlid":
        example.options += shlex.split(rest)
    elif verb == "config":
        example.config.update(load(rest, number))
    elif text == "end":
        example.steps.append(Step(number, "end"))
    elif text.startswith("as another user"):
        example.conditions.append("other user")
    elif text == "with 1 GiB of address space":
        example.conditions.append("1 GiB")
    else:
        raise Malformed(f"line {number}: {text!r} is not among the rules")


def parse_block(block):
    """Returns the Example, or None if the block is not an example."""
    if not any(SENT.match(line) for _, line in block):
        return None
    example = Example(block[0][0])
    for number, line in logical(block):
        sent = SENT.fullmatch(line)
        if sent:
            kind = "send" if sent[2] == ">" else "expect"
            value = load(sent[3], number) if kind == "expect" else None
            example.steps.append(Step(number, kind, int(sent[1] or 1), sent[3], value))
        elif line.startswith("# "):
            directive(example, number, line[2:])
        else:
            raise Malformed(f"line {number}: neither sent nor said: {line}")
    check(example)
    return example


def check(example):
    """Checks that an example has the parts that its replay needs."""
    if not example.texts("expect"):
        raise Malformed(f"line {example.line}: nothing is expected")
    known, asked = set(), set()
    for step, after in zip(example.steps, example.steps[1:] + [Step(0, "nothing")]):
        if step.kind == "fds":
            if after.kind != "send":
                raise Malformed(f"line {step.line}: descriptors, and nothing sent with them")
            for name, given in step.value:
                if given is None and name not in known:
                    raise Malformed(f"line {step.line}: there was no {name} before")
                known.add(name)
        elif step.kind in ("file", "truncate"):
            name = step.value[0] if step.kind == "file" else step.value
            if name not in known:
                raise Malformed(f"line {step.line}: there was no {name} before")
        elif step.kind == "send":
            asked.add((step.link, request_of(step).get("id")))
        elif step.kind == "expect" and step.value.get("id") is not None:
            asked_for = (step.link, step.value["id"])
            if asked_for not in asked:
                raise Malformed(f"line {step.line}: an answer to nothing")
            asked.remove(asked_for)
    unanswered = {id for _, id in asked if id is not None}
    if unanswered and not example.texts("end"):
        raise Malformed(f"line {example.line}: {unanswered} unanswered, and no end")


def request_of(step):
    """Returns a sent line as an object, or an empty object if the example sends an invalid request on purpose."""
    try:
        value = json.loads(step.text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def parse(text):
    found = (parse_block(block) for block in blocks(text))
    return [example for example in found if example]


def methods(text):
    """Returns the methods that the headings of the document name."""
    return [name.strip() for line in re.findall(r"^### (.+)$", text, re.M) for name in
            line.split(",") if "." in name]


def errors(text):
    """Returns the table of errors: {name: code}."""
    rows = re.findall(r"^\| (-32\d{3}) \| `(\w+)` \|", text, re.M)
    return {name: int(code) for code, name in rows}


def differences(expected, actual, at=""):
    """Returns the differences between the received and the documented line, as sentences."""
    if type(expected) is not type(actual):
        return [f"{at}: {expected!r} expected, {actual!r} came"]
    if isinstance(expected, dict):
        found = [f"{at}/{key}: did not come" for key in expected.keys() - actual.keys()]
        found += [f"{at}/{key}: not expected" for key in actual.keys() - expected.keys()]
        for key in expected.keys() & actual.keys():
            if not varies(key, expected, actual):
                found += differences(expected[key], actual[key], f"{at}/{key}")
        return found
    if isinstance(expected, list):
        found = [f"{at}: {len(expected)} expected, {len(actual)} came"] * (
            len(expected) != len(actual))
        for i, pair in enumerate(zip(expected, actual)):
            found += differences(*pair, f"{at}/{i}")
        return found
    return [] if expected == actual else [f"{at}: {expected!r} expected, {actual!r} came"]


def varies(key, expected, actual):
    """Returns whether only the type of the member's value is compared."""
    was, now = expected[key], actual[key]
    if key in VARYING:
        return type(was) is type(now)
    if key == "message" and was == "*":
        return isinstance(now, str) and now != ""
    return key == "state" and "job" in expected and was in UNDER_WAY and now in STATES
