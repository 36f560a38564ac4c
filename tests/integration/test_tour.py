# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command of the tour in docs/mlictl.md, and scripts/demo, and compares the output."""
import os
import pathlib
import re
import subprocess

from harness import MLICTL, MLID, SOURCE, Case, main

TOUR = SOURCE / "docs/mlictl.md"
SOCKET = "/tmp/tour.sock"  # of the text; the test's daemon has one of its own
# Parts of an output that differ between runs: times, rates, and the widths of columns.
MASKS = ((r"\b[\d.]+ [num]?s\b", "TIME"), (r"\b[\d.]+ (?:[KMG]?i?B|cases)/s", "RATE"),
         (r'"(ns_\w+)":\d+', r'"\1":0'), (r" +", " "))


def steps(text):
    """Returns (command, output) for each block that begins with a prompt."""
    for block in re.findall(r"(?:^    .*\n)+", text, re.M):
        lines = [line[4:] for line in block.splitlines()]
        if not lines[0].startswith("$ "):
            continue
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def masked(text):
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text.strip()


class Tour(Case):
    def environment(self):
        path = f"{pathlib.Path(MLICTL).parent}:{pathlib.Path(MLID).parent}:{os.environ['PATH']}"
        return dict(super().environment(), PATH=path)

    def shell(self, command):
        command = command.replace(SOCKET, self._daemon.socket if self._daemon else SOCKET)
        done = subprocess.run(["/bin/sh", "-c", f"(exit {self.last}); {command}"], cwd=self.dir,
                              env=self.variables, stdin=subprocess.DEVNULL, text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.last = done.returncode
        return done.stdout.replace(self._daemon.socket, SOCKET) if self._daemon else done.stdout

    def walk(self, command, output):
        """Runs one step; returns its output."""
        if command.startswith("cat "):
            self.write(command.split()[1], output + "\n")
        elif command == f"mlid --socket {SOCKET} &":
            self.assertEqual(self.daemon.process.poll(), None)
            return ""
        elif command == f"export MLID_SOCKET={SOCKET}":
            self.variables["MLID_SOCKET"] = self.daemon.socket
            return ""
        return self.shell(command)

    def test_every_step(self):
        self.last, self.variables = 0, self.environment()
        count = 0
        for command, output in steps(TOUR.read_text()):
            printed = self.walk(command, output)
            self.assertEqual(masked(printed), masked(output), f"$ {command}\n{printed}")
            count += 1
        self.assertGreater(count, 15)

    def test_the_demo_prints_the_lines_of_the_readme(self):
        """README.md shows some of the lines of scripts/demo, in the same order."""
        text = (SOURCE / "README.md").read_text().split("\n    $ scripts/demo\n")[1].split("\n\n")[0]
        shown = [masked(line) for line in re.findall(r"^    (.*)$", text, re.M)]
        done = subprocess.run([SOURCE / "scripts/demo"], env=dict(self.environment(), MLICTL=MLICTL, MLID=MLID), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=100)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertGreater(len(shown), 10)
        printed = iter([masked(line) for line in done.stdout.splitlines()])
        for line in shown:
            self.assertIn(line, printed)

    def test_links(self):
        """All links of all documents lead to existing files and headings."""
        documents = [*SOURCE.glob("*.md"), *(SOURCE / "docs").glob("*.md"),
                     SOURCE / "proto/PROTOCOL.md", SOURCE / "examples/README.md",
                     SOURCE / "tests/README.md"]
        for document in documents:
            prose = re.sub(r"(?m)^    .*$", "", document.read_text())
            for target, anchor in re.findall(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)", prose):
                found = (document.parent / target) if target else document
                where = f"{document.name}: {target}{anchor}"
                with self.subTest(where=where):
                    self.assertTrue(found.exists())
                if anchor and found.exists():
                    headings = re.findall(r"(?m)^#+ (.*)$", found.read_text())
                    known = {re.sub(r"[^a-z0-9 _-]", "", h.lower()).replace(" ", "-")
                             for h in headings}
                    with self.subTest(where=where):
                        self.assertIn(anchor[1:], known)


if __name__ == "__main__":
    main()
