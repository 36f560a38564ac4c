# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl profile, which lists, shows and checks profiles; the JSON Schema and the program agree on each file."""
import copy
import json
import os
import random
import unittest

from harness import SOURCE, Case, main

try:
    import jsonschema
except ImportError:
    jsonschema = None

FOLDER = SOURCE / "conf/profiles"
SCHEMA = SOURCE / "conf/profile.schema.json"
REMOVED = object()


def changed(document, path, value):
    """Returns a copy of the document with another value at the path, or without the member at the path."""
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


# (path, value, pointer of the error, part of the message). The schema refuses all of them except those marked PROGRAM,
# which only the program refuses.
BAD = [
    (("name",), "VPX", "/name", "lowercase letters"),
    (("name",), REMOVED, "/name", "missing"),
    (("clock_hz",), 0, "/clock_hz", "1"),
    (("clock_hz",), REMOVED, "/clock_hz", "missing"),
    (("clock",), 7, "/clock", "clock_hz"),
    (("guard_bit_option",), 3, "/guard_bit_option", "2"),
    (("vector_bits",), -1, "/vector_bits", "-1"),
    (("strict",), "yes", "/strict", "true or false"),
    (("memories",), [], "/memories", "0 memories"),
    (("memories",), REMOVED, "/memories", "missing"),
    (("memories", 0, "base"), "90000000", "/memories/0/base", "0x"),
    (("memories", 0, "base"), "0x", "/memories/0/base", "0x"),
    (("memories", 0, "size"), "0x10000000000000", "/memories/0/size", "at most"),
    (("memories", 0, "banks"), 0, "/memories/0/banks", "1"),
    (("memories", 0, "reached_by"), [], "/memories/0/reached_by", "at least one of core"),
    (("memories", 0, "reached_by"), ["gpu"], "/memories/0/reached_by/0", "gpu"),
    (("memories", 0, "latency"), "1.2345678", "/memories/0/latency", "6 after a point"),
    (("memories", 0, "latency"), -1, "/memories/0/latency", "-1"),
    (("memories", 0, "speed"), 1, "/memories/0/speed", "unknown"),
    (("dma",), REMOVED, "/dma", "missing"),
    (("dma", "channels"), 17, "/dma/channels", "16"),
    (("dma", "loops"), 5, "/dma/loops", "4"),
    (("dma", "controller"), "8237", "/dma/controller", "8237"),
    (("dma", "alignment"), 0, "/dma/alignment", "1"),
    (("costs", "rows"), 1, "/costs/rows", "row"),
    (("costs", "row"), "4 cycles", "/costs/row", "cycles are required"),
    (("costs", "row"), 0.5, "/costs/row", 'as a string, such as "0.5"'),
    (("memories", 0, "latency"), 1.5, "/memories/0/latency", 'as a string, such as "0.5"'),
    (("sources",), REMOVED, "/sources", "missing"),
    (("sources", "/costs"), "", "/sources/~1costs", ""),
]
PROGRAM = [
    (("memories", 0, "size"), 0, "/memories/0/size", "at least 1 B"),
    (("memories", 0, "alignment"), 3, "/memories/0/alignment", "power of two"),
    (("memories", 0, "bank_bytes"), 3, "/memories/0/bank_bytes", "power of two"),
    (("memories", 0, "bank_bytes"), REMOVED, "/memories/0/bank_bytes", "missing; a memory with 32 banks"),
    (("memories", 0, "banks"), 1, "/memories/0/bank_bytes", "one bank"),
    (("memories", 0, "size"), 100, "/memories/0/banks", "do not divide"),
    (("memories", 1, "base"), "0x9003fffc", "/memories/1/base", "overlap \"vccm\""),
    (("memories", 1, "base"), "0x80000001", "/memories/1/base", "multiple"),
    (("memories", 1, "name"), "vccm", "/memories/1/name", "memories[0]"),
    (("memories", 0, "vector"), False, "/strict", "no memory"),
    (("dma", "burst_bytes"), 24, "/dma/burst_bytes", "16"),
    (("dma", "bus_bytes"), 12, "/dma/bus_bytes", "power of two"),
    (("dma", "granularity"), 6, "/dma/granularity", "power of two"),
    (("dma", "count_max"), 1, "/dma/count_max", "one iteration"),
    (("dma",), {"controller": "pl330", "loops": 3}, "/dma/loops", "pl330 has at most 1 loop"),
    (("dma",), {"controller": "zdma", "loops": 1}, "/dma/loops", "zdma has 0 loops"),
    (("sources", "/costs"), REMOVED, "/costs/start", "does not say"),
    (("sources", "/dma/speed"), "a manual", "/sources/~1dma~1speed", "not the JSON pointer"),
    (("sources", "/memories/3"), "a manual", "/sources/~1memories~13", "not the JSON pointer"),
    (("sources", "/memories/x"), "a manual", "/sources/~1memories~1x", "not the JSON pointer"),
]


class Profiles(Case):
    def check(self, document):
        text = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.write("board.json", text)
        return self.ctl("profile", "check", "board.json", "--json")

    def assert_refused(self, path, value, pointer, message):
        document = changed(json.loads((FOLDER / "vpx5-nsim.json").read_text()), path, value)
        result = self.check(document)
        self.assertEqual(result.code, 2, f"{path} {value}: {result}")
        error = json.loads(result.out)["error"]
        self.assertEqual(error["pointer"], pointer, f"{path} {value}: {error}")
        self.assertIn(message, error["message"])
        return document

    def test_bad_profiles(self):
        for case in BAD + PROGRAM:
            self.assert_refused(*case)

    @unittest.skipUnless(jsonschema, "this python has no jsonschema")
    def test_schema(self):
        schema = json.loads(SCHEMA.read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        good = json.loads((FOLDER / "vpx5-nsim.json").read_text())
        for path in sorted(FOLDER.glob("*.json")):
            self.assertEqual([error.message for error in
                              validator.iter_errors(json.loads(path.read_text()))], [], path)
        for path, value, _, _ in BAD:
            self.assertFalse(validator.is_valid(changed(good, path, value)), f"{path} {value}")
        for path, value, _, _ in PROGRAM:
            self.assertTrue(validator.is_valid(changed(good, path, value)), f"{path} {value}")

    def test_random_texts_are_refused_or_read(self):
        seed = int(os.environ.get("MLI_TEST_SEED", random.randrange(1 << 32)))
        rng = random.Random(seed)
        text = (FOLDER / "vpx5-nsim.json").read_bytes()
        for _ in range(60):
            broken = bytearray(text)
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(broken))
                broken[at:at + rng.randrange(3)] = rng.choice([b"", b"0", b"{", b'"', b"-1", b"\xff"])
            result = self.check(bytes(broken))
            self.assertIn(result.code, (0, 2), f"seed {seed}: {result}")
            self.assertEqual(result.code == 0, json.loads(result.out).get("valid", False))

    def test_list(self):
        names = {path.stem for path in FOLDER.glob("*.json")}
        listed = self.ctl("profile", "list", "--json", code=0).out.splitlines()
        self.assertEqual({json.loads(line)["name"] for line in listed}, names)
        shown = self.ctl("profile", "list", code=0).out
        for name in names:
            self.assertIn(name, shown)

    def test_show(self):
        for path in sorted(FOLDER.glob("*.json")):
            document = json.loads(path.read_text())
            self.assertEqual(self.ctl("profile", "show", "--file", path.stem, code=0).out,
                             path.read_text())
            shown = json.loads(self.ctl("profile", "show", "--json", path.stem, code=0).out)
            self.assertEqual(shown["sources"], document["sources"])
            self.assertEqual(len(shown["memories"]), len(document["memories"]))
            self.assertEqual(self.check(shown).code, 0)
            text = self.ctl("profile", "show", path.stem, code=0).out
            for memory in document["memories"]:
                self.assertIn(f"memory {memory['name']}:", text)
            for source in document["sources"].values():
                self.assertIn(source, text)

    def test_files(self):
        self.assertIn("known profiles: ", self.ctl("profile", "show", "board", code=2).err)
        self.assertIn('did you mean "vpx5-nsim"', self.ctl("profile", "show", "vpx5", code=2).err)
        self.assertIn("valid, 1 memory, ", self.ctl("profile", "check", "host", code=0).out)
        good = json.loads((FOLDER / "vpx5-nsim.json").read_text())
        self.write("board.json", json.dumps(changed(good, ("sources", "/memories/7"), "a manual")).encode())
        self.assertEqual(self.ctl("profile", "check", "board.json", code=2).err,
                         'mlictl: board.json: sources./memories/7: "/memories/7" is not the JSON pointer of a '
                         'figure in this file\n')
        self.assertIn("No such file", self.ctl("profile", "check", "./none", code=2).err)
        self.assertIn("regular file", self.ctl("profile", "check", "/dev/zero", code=2).err)
        self.write("board.json", b'{"name": "x",\n  name: "y"}')
        self.assertIn("board.json:2:", self.ctl("profile", "check", "board.json", code=2).err)

    def test_files_beyond_the_limits(self):
        """A file that is too large or nested too deep is invalid, not a failure of the program."""
        for content, words in ((b" " * 1000000, ": the file has 1000000 bytes; at most 524288 are accepted"),
                               (b'{"a":' * 50 + b"1" + b"}" * 50, "nested more than 8 deep")):
            self.write("board.json", content)
            for verb in ("check", "show"):
                self.assertIn(words, self.ctl("profile", verb, "board.json", code=2).err)

    def test_usage(self):
        for arguments in ((), ("list", "x"), ("show",), ("check",), ("remove", "x"), ("list", "--file")):
            self.assertIn("usage", self.ctl("profile", *arguments, code=2).err)
        self.assertIn('did you mean "list"?', self.ctl("profile", "lst", code=2).err)
        self.assertIn("not a built-in", self.ctl("profile", "show", "--file", "./x", code=2).err)


if __name__ == "__main__":
    main()
