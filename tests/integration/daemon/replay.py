# SPDX-License-Identifier: BSD-3-Clause
"""Replays an example of PROTOCOL.md on a fresh mlid and returns the differences."""
import os
from dataclasses import dataclass

from examples import differences
from service import NOBODY, SANITIZED, Memory, as_user
from wire import PATIENCE, Closed

GIB = 1 << 30


def impossible(example):
    """Returns the reason why the example cannot be replayed on this machine, or None."""
    if "other user" in example.conditions and os.geteuid() != 0:
        return "no rights to become another user"
    if "1 GiB" in example.conditions and SANITIZED:
        return "a sanitizer needs more than 1 GiB of addresses"
    return None


def start(case, example):
    """Starts a fresh mlid for the example, with the test case's service()."""
    config = dict(example.config)
    if "other user" in example.conditions:
        config.setdefault("socket_mode", "0666")
    space = GIB if "1 GiB" in example.conditions else None
    return case.service(*example.options, config=config, address_space=space)


@dataclass
class Came:
    step: object
    message: object


class Replay:
    def __init__(self, example, service, patience=PATIENCE):
        self.example, self.service, self.patience = example, service, patience
        self.links = {}
        self.files = {}
        self.attached = []
        self.last = None  # the connection that was sent on last
        self.syncs = 0
        self.came = []
        self.found = []
        self.over = False

    def run(self):
        """Returns the differences; an empty list if the example is correct."""
        try:
            for step in self.example.steps:
                getattr(self, "do_" + step.kind)(step)
            self.finish()
        except (TimeoutError, Closed) as error:
            self.found.append(f"line {step.line}: {type(error).__name__}: {error}")
        finally:
            for link in self.links.values():
                link.close()
        return self.found + self.disorder()

    def link(self, number):
        if number not in self.links:
            greeted = next(s for s in self.example.steps if s.link == number and
                           s.kind in ("send", "expect"))
            greet = greeted.kind == "send"
            if "other user" in self.example.conditions:
                with as_user(NOBODY):
                    self.links[number] = self.service.connect(greet=greet)
            else:
                self.links[number] = self.service.connect(greet=greet)
            self.links[number].patience = self.patience
        return self.links[number]

    def synchronise(self):
        """Waits until the service has received all lines sent so far."""
        if self.last:
            self.syncs += 1
            self.last.result(self.last.request("daemon.ping", id=f"sync {self.syncs}"))

    def do_fds(self, step):
        for name, given in step.value:
            if given is not None:
                content = given if isinstance(given, bytes) else b""
                self.files[name] = Memory(content, None if content else given)
            self.attached.append(self.files[name].fd)

    def do_send(self, step):
        link = self.link(step.link)
        if link is not self.last:
            self.synchronise()
        self.last = link
        link.send(step.text.encode(), self.attached)
        self.attached = []

    def do_expect(self, step):
        link = self.link(step.link)
        if "id" not in step.value:
            message = link.note()
        elif step.value["id"] is None:
            link.need(lambda: link.nameless, "the reply without an id")
            message = link.nameless.popleft()
        else:
            message = link.reply(step.value["id"])
        self.came.append(Came(step, message))
        self.found += [f"line {step.line}: {one}" for one in differences(step.value, dict(message))]

    def do_file(self, step):
        name, content = step.value
        if self.files[name].content != content:
            self.found.append(f"line {step.line}: {name} holds {self.files[name].content.hex()}")

    def do_truncate(self, step):
        self.synchronise()
        self.files[step.value].truncate()

    def do_end(self, step):
        self.over = True
        if not self.links[1].ended():
            self.found.append(f"line {step.line}: the connection does not end")

    def finish(self):
        """Expects no further lines, and an open connection unless the example ends it."""
        if not self.over:
            self.synchronise()
        for number, link in self.links.items():
            rest = [*link.replies.values(), *link.nameless, *link.notes]
            self.found += [f"connection {number}: not shown: {message}" for message in rest]

    def disorder(self):
        """Checks the order of the lines about a job: its events come before its reply."""
        found = []
        latest = {}
        for came in self.came:
            job = (came.step.link, job_of(came.message))
            if job[1] and latest.get(job, 0) > came.message.serial:
                found.append(f"line {came.step.line}: came before what is shown before it")
            latest[job] = came.message.serial
        return found


def job_of(message):
    """Returns the job that a line of the service names, or None."""
    if message.get("method") == "event":
        return message["params"]["job"]["job"]
    return message.get("result", {}).get("job")
