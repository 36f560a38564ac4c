# SPDX-License-Identifier: BSD-3-Clause
"""Compares the manual pages with the programs: commands, options, members, keys, methods."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import AGENT, MLICTL, MLID, SOURCE, Case, main

MAN = SOURCE / "man"
COMMON = {"--json", "--quiet", "--help"}  # of every command: mlictl(1) has them
# Options that the pages describe, but that this build may lack: the options of `run` and `selftest` that name a board.
ABSENT = set() if AGENT else {"-H", "--host"}


def listed(name):
    """Returns a list or dictionary of man/meson.build, whose syntax Python shares."""
    text = (MAN / "meson.build").read_text()
    return ast.literal_eval(re.search(rf"^{name} = (.*?^[\]}}])", text, re.M | re.S)[1])


PAGES, LINKS = listed("man_pages"), listed("man_links")


def source(page):
    return (MAN / (LINKS.get(page, page) + ".scd")).read_text()


def plain(text):
    """Returns the text of a page without the markup of scdoc."""
    return text.replace("*", "").replace("\\", "").replace("_", "")


def section(text, name):
    return re.search(rf"^# {name}\n(.*?)(?=^# |\Z)", text, re.M | re.S)[1]


def described(text):
    """Returns the options that a page describes: each begins a line."""
    found = set()
    for line in re.findall(r"^\*-.*", section(text, "OPTIONS"), re.M):
        found |= set(re.findall(r"\*(--[a-z][a-z-]*)", line))
        found |= set(re.findall(r"\*(-\w)\*", line))
    return found


def options_of_help(help_text):
    """Returns {"--name": "VALUE"}: the options of a help text, and the word that follows each."""
    found = {}
    for letter, name, value in re.findall(r"^  (?:(-\w), |    )(--[a-z-]+)(?: (\S+))?", help_text,
                                          re.M):
        found[name] = value
        if letter:
            found[letter] = value
    return found


class Pages(Case):
    def commands(self):
        usage = self.ctl("--help", code=0).out
        names = re.findall(r"^  ([a-z]+) ", usage.split("exit codes:")[0], re.M)
        self.assertGreater(len(names), 15)
        return names

    def test_every_command_has_a_page_and_every_page_a_command(self):
        pages = {page for page in [*PAGES, *LINKS] if page.endswith(".1")}
        self.assertEqual({f"mlictl-{name}.1" for name in self.commands()} | {"mlictl.1"}, pages,
                         "see man/meson.build")

    def test_every_page_exists(self):
        for page in PAGES:
            self.assertTrue((MAN / f"{page}.scd").is_file(), page)
        for link, page in LINKS.items():
            self.assertIn(page, PAGES)
            self.assertFalse((MAN / f"{link}.scd").exists(), link)

    def test_pages_begin_with_their_name(self):
        for page in PAGES:
            name, number = re.fullmatch(r"(.+)\.(\d)", page).groups()
            text = source(page)
            self.assertTrue(text.startswith(f'{name}({number}) "mli" "Moving tensors"\n'), page)
            self.assertIn(name, plain(section(text, "NAME")), page)
        for link, page in LINKS.items():
            self.assertIn(link[:-2], section(source(page), "NAME"))

    def test_the_first_page_lists_every_command(self):
        text = section(source("mlictl.1"), "COMMANDS")
        for name in self.commands():
            self.assertIn(f"*{name}*", text)
            self.assertIn(f"mlictl-{name}(1)", text)

    def test_help_and_page_have_the_same_options(self):
        of_page = {}
        for name in self.commands():
            options = options_of_help(self.ctl(name, "--help", code=0).out)
            self.assertLessEqual(COMMON, set(options), name)
            text = source(f"mlictl-{name}.1")
            missing = set(options) - COMMON - {"-q", "-h"} - described(text)
            self.assertEqual(missing, set(), f"mlictl-{name}(1) does not describe them")
            of_page.setdefault(LINKS.get(f"mlictl-{name}.1", f"mlictl-{name}.1"),
                               set()).update(options)
        for page, options in of_page.items():
            self.assertEqual(described(source(page)) - options - ABSENT, set(), f"{page}: no such option")

    def test_letters_have_the_same_names(self):
        for name in self.commands():
            out = self.ctl(name, "--help", code=0).out
            for letter, long in re.findall(r"^  (-\w), (--[a-z-]+)", out, re.M):
                if long not in COMMON:
                    self.assertIn(f"*{letter}*, *{long}*", source(f"mlictl-{name}.1"))

    def test_common_options_are_in_the_first_page(self):
        self.assertLessEqual({*COMMON, "-q", "-h", "-s", "--socket", "-H", "--host"},
                             described(source("mlictl.1")))

    def test_examples_of_pages_have_options_that_exist(self):
        for page in PAGES:
            for line in re.findall(r"^(?:\t|)(mlictl .*)$", section(source(page), "EXAMPLES"), re.M):
                words = re.split(r"[|><]", line.replace("++", ""))[0].split()
                name = next(word for word in words[1:] if not word.startswith("-"))
                known = {*options_of_help(self.ctl(name, "--help", code=0).out), *ABSENT}
                for word in words:
                    if word.startswith("-") and len(word) > 1:
                        self.assertIn(word, known, f"{page}: {line}")

    def test_exit_codes(self):
        out = self.ctl("--help", code=0).out
        codes = re.findall(r"^  (\d)  ", out, re.M)
        self.assertEqual(re.findall(r"^(?:\[\[|\| ) (\d)$",
                                    section(source("mlictl.1"), "EXIT STATUS"), re.M), codes)

    def test_pages_list_the_words_of_the_help(self):
        """Compares the lists of words that an option takes, for example "poll, callback, wait, sync or mixed"."""
        for name, option in (("gen", "--dtype"), ("gen", "--pattern"), ("selftest", "--mode"),
                             ("jobs", "--state")):
            script = self.ctl("completion", "bash", code=0).out
            case = re.search(rf"^    {name}\)\n(.*?)^        esac", script, re.M | re.S)[1]
            words = re.search(rf"{option}\)\n\s+\w+ \"(.*)\"", case)[1].split()
            for word in words:
                self.assertIn(f"_{word}_", source(f"mlictl-{name}.1"), f"{name} {option}")


class Formats(unittest.TestCase):
    def test_job_members(self):
        schema = json.loads((SOURCE / "proto/file/job.schema.json").read_text())
        text = source("mlictl-job.5")

        def members(node, where):
            """Yields (object of the schema, name) for each member; each object has a section in the page."""
            if isinstance(node, list):
                for item in node:
                    yield from members(item, where)
            elif isinstance(node, dict):
                for name, child in node.get("properties", {}).items():
                    yield where, name
                for key, child in node.items():
                    yield from members(child, where)
        sections = {"partial_job": "A JOB", "src": "SRC", "dst": "DST", "buffer": "BUFFERS", "cfg": "CFG",
                    "expect": "EXPECT"}
        checked = set()
        for definition, name in sections.items():
            part = section(text, name)
            for _, member in members(schema["$defs"][definition], name):
                checked.add(member)
                self.assertIn(f"*{member}*", part, f"{name} of mlictl-job(5)")
        self.assertGreater(len(checked), 25)
        for member in ("defaults", "buffers", "jobs"):
            self.assertIn(f"*{member}*", text)
        types = schema["$defs"]["type"]["enum"]
        self.assertTrue(all(f"_{word}_" in section(text, "SRC") for word in types))

    def test_every_documented_job_member_exists(self):
        schema = (SOURCE / "proto/file/job.schema.json").read_text()
        text = source("mlictl-job.5")
        for name in ("A JOB", "SRC", "DST", "BUFFERS", "CFG", "EXPECT"):
            for names in re.findall(r"^(?:\[\[|\| ) (\*.*)$", section(text, name), re.M):
                for member in re.findall(r"\*(\w+)\*", names):
                    self.assertIn(f'"{member}"', schema, member)

    def keys(self, node, prefix=""):
        for key, value in node.items():
            if isinstance(value, dict) and value:
                yield from self.keys(value, f"{prefix}{key}.")
            else:
                yield prefix + key, value

    def test_configuration(self):
        text = source("mlid.json.5")
        defaults = dict(self.keys(json.loads((SOURCE / "conf/mlid.json").read_text())))
        self.assertGreater(len(defaults), 25)
        rows = dict(re.findall(r"^\|  \*([\w.]+)\*\n:  (.*)$", text, re.M))
        for key, default in defaults.items():
            if default == {}:  # access, quotas: their members have no default
                self.assertIn(f"*{key}.", text)
            else:
                self.assertEqual(rows.get(key), json.dumps(default), key)
        known = set(defaults) | {"access.uids"}
        self.assertEqual({key for key in rows if key != "key"} - known, set())

    def test_configuration_is_what_the_daemon_reads(self):
        """conf/mlid.json must have every key: mlid lists the known keys when it finds an unknown one."""
        for key in ("socke", "limits.client", "scheduling.ageing", "watchdog.limit"):
            config = {}
            *groups, last = key.split(".")
            inner = config
            for group in groups:
                inner = inner.setdefault(group, {})
            inner[last] = 1
            path = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"mlid-{os.getpid()}.json"
            path.write_text(json.dumps(config))
            try:
                done = subprocess.run([MLID, "--config", path, "--check"], capture_output=True,
                                      text=True, timeout=60)
            finally:
                path.unlink()
            self.assertEqual(done.returncode, 2)
            meant = re.search(r'did you mean "(\w+)"', done.stderr)
            self.assertTrue(meant, done.stderr)
            self.assertIn(f"*{'.'.join([*groups, meant[1]])}*", source("mlid.json.5"))

    def test_options_of_mlid(self):
        out = subprocess.run([MLID, "--help"], capture_output=True, text=True, timeout=60).stdout
        options = set(re.findall(r"^  (--[a-z-]+)", out, re.M) + re.findall(r"^  --[a-z-]+, (-\w) ", out, re.M))
        self.assertGreater(len(options), 8)
        self.assertEqual(described(source("mlid.8")), options)


@unittest.skipUnless(shutil.which("scdoc"), "there is no scdoc")
class Formatted(unittest.TestCase):
    def format(self, page):
        done = subprocess.run(["scdoc"], input=source(page).encode(), capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""), page)
        return done.stdout

    def test_scdoc_gives_no_warnings(self):
        for page in PAGES:
            self.assertIn(b".TH", self.format(page))

    def test_no_marks_remain(self):
        if not shutil.which("man"):
            self.skipTest("there is no man")
        for page in PAGES:
            done = subprocess.run(["man", "-P", "cat", "--warnings", "-l", "-"], timeout=60,
                                  input=self.format(page), capture_output=True,
                                  env=dict(os.environ, MANWIDTH="100", LC_ALL="C.UTF-8"))
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), page)
            text = re.sub(".\b", "", done.stdout.decode())
            self.assertGreater(len(text.splitlines()), 20)
            self.assertNotRegex(text, r"\*[A-Za-z-]+\*", page)
            self.assertNotRegex(text, r"(?m)(^|[\s(])_[A-Za-z]", page)

    def test_mandoc(self):
        if not shutil.which("mandoc"):
            self.skipTest("there is no mandoc")
        for page in PAGES:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], timeout=60,
                                  input=self.format(page), capture_output=True)
            # scdoc writes empty paragraphs; the test ignores only the messages about them.
            found = [line for line in done.stdout.decode().splitlines()
                     if "skipping paragraph macro" not in line]
            self.assertEqual(found, [], page)


class References(unittest.TestCase):
    def test_referenced_pages_exist(self):
        ours = {f"{page[:-2]}({page[-1]})" for page in [*PAGES, *LINKS]}
        for page in PAGES:
            for name in re.findall(r"\b(ml[a-z.-]*(?<![.-])\(\d\))", source(page)):
                if name.startswith(("mlictl", "mlid")):
                    self.assertIn(name, ours, page)



class Installed(unittest.TestCase):
    def test_links_of_installed_documents(self):
        """The documents are installed in one folder; each link leads to one of them, or to a web page."""
        documents = [*sorted((SOURCE / "docs").glob("*.md")), *sorted((SOURCE / "docs").glob("*.svg")),
                     SOURCE / "proto/PROTOCOL.md"]
        listed = (SOURCE / "conf/meson.build").read_text()
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, SOURCE / "scripts/installed_docs.py", folder, *documents], check=True,
                           timeout=60)
            installed = {path.name for path in pathlib.Path(folder).iterdir()}
            for document in documents:
                self.assertIn(f"{document.relative_to(SOURCE)}'", listed)
            links = [(path.name, link) for path in sorted(pathlib.Path(folder).glob("*.md"))
                     for link in re.findall(r"\]\(([^)#\s]+)", path.read_text())]
        self.assertGreater(len(links), 30)
        for name, link in links:
            self.assertTrue(link in installed or link.startswith("https://") or (SOURCE / "conf" / link).exists(),
                            f"{name}: {link}")


if __name__ == "__main__":
    main()
