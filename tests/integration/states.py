# SPDX-License-Identifier: BSD-3-Clause
"""Writes state files of `mlictl batch` from their description in mlictl-batch(1), without mlictl."""
import json
import random
import shlex

GOOD = ("passed", "ran", "flaky")
WORDS = ("mismatch", "refused", "not refused", "channel", "unreadable", "timeout", "storage",
         "service")


def digest(name):
    h = 0xcbf29ce484222325
    for byte in name if isinstance(name, bytes) else name.encode():
        h = (h ^ byte) * 0x100000001b3 % 2**64
    h = (h ^ h >> 33) * 0xff51afd7ed558ccd % 2**64
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53 % 2**64
    return h ^ h >> 33


def shard_of(name, count):
    return digest(name) % count + 1


def case(name, status="passed", **more):
    """Returns the line of a case; `name` is text, or bytes that are not valid UTF-8."""
    line = {"event": "case", "name": name, "file": f"cases/{name}.json", "status": status,
            "attempts": 1, "ns": 1000000, "bytes": 24}
    if isinstance(name, bytes):
        line.update(name=name.decode(errors="replace"), file="cases/bytes.json",
                    name_bytes=name.hex())
    if status not in ("passed", "ran"):
        line.update(reason="mismatch", message="2 of 24 elements differ", pointer="/expect")
    line.update(more, fingerprint=f"{digest(name):016x}", basis=basis(name))
    return line


def basis(name):
    """Returns the members of a result that form its fingerprint; leaves the times of some files unknown."""
    files = [{"role": "src", "file": "../in.npy", "content": f"{digest(name) ^ 1:016x}"},
             {"role": "expect", "file": "../golden.npy", "content": f"{digest(name) ^ 2:016x}",
              "stamp": f"{digest(name) ^ 3:016x}"},
             {"role": "dst", "file": "big.npy", "content": "missing"}]
    return {"program": "0123456789abcdef", "service": "123456789abcdef0",
            "options": "23456789abcdef01", "files": files[:digest(name) % 4]}


def raw_name(line):
    return bytes.fromhex(line["name_bytes"]) if "name_bytes" in line else line["name"].encode()


class Batch:
    """Makes random ended cases, and the state files of their shards."""

    def __init__(self, cases):
        self.cases = cases
        self.set = sum(digest(raw_name(c)) for c in cases) % 2**64

    def begin(self, index=0, count=0, resumed=0):
        """Returns the object "begin" of a run, to which state() adds "format"."""
        shard = f"{index}/{count}" if count else None
        return {"event": "begin", "cases": len(self.of(index, count)), "total": len(self.cases),
                "shard": shard, "resumed": resumed, "set": f"{self.set:016x}"}

    def of(self, index, count):
        return [c for c in self.cases if not count or shard_of(raw_name(c), count) == index]

    def end(self, index=0, count=0, ns=2000000000):
        words = ("passed", "ran", "flaky", "failed", "error", "updated")
        counts = {w: sum(c["status"] == w for c in self.of(index, count)) for w in words}
        bad = any(counts[w] for w in words[3:])
        return {"event": "end", **counts, "not_run": 0, "ns": ns, "exit": int(bad)}

    def state(self, index=0, count=0):
        return [dict(self.begin(index, count), format=4), *self.of(index, count), self.end(index, count)]


def text_of(lines):
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


ODD = ["#", "\\", '"', "'", "<", ">", "&", "]]>", "\n", "\r", "\t", "\x01", "\x1b[2J", "\x7f",
       "\x85", "\x9b", "\u2028", "\ufeff", "\ufffd", "\ufffe", "\uffff", "\U0001f600", "é", " ",
       "- ", "ok ", "not ok", "# SKIP", "# TODO", "1..9", "Bail out!", "...", "---", ": ", "%s",
       "{", "[", "$(x)", "`", "\u202e"]


def hostile(rng, length=12):
    parts = (rng.choice(ODD) if rng.random() < 0.5 else chr(rng.randrange(0x61, 0x7b))
             for _ in range(rng.randrange(1, length)))
    return "".join(parts)


def random_case(rng, number):
    """Returns a random case. Its name ends with a number, so that names are unique."""
    name = "/".join(hostile(rng) for _ in range(rng.randrange(1, 4))) + f"{number}"
    if rng.random() < 0.05:
        name = name.encode() + bytes([rng.randrange(0x80, 0x100)]) + b"\xff"
    status = rng.choice(("passed", "passed", "ran", "flaky", "failed", "error", "updated"))
    more = {"attempts": rng.randrange(1, 2**32), "ns": rng.randrange(2**40),
            "bytes": rng.randrange(2**53)}
    if status not in ("passed", "ran"):
        more.update(reason=rng.choice(WORDS), message=hostile(rng, 40), pointer="/" + hostile(rng))
        if rng.random() < 0.5:
            more["kept"] = "failed/" + hostile(rng)
            more["again"] = "mlictl run " + shlex.quote(more["kept"])
        if rng.random() < 0.5:
            more["difference"] = {"kind": hostile(rng), "at": [rng.randrange(9)], "a": {}}
    return case(name, status, **more)


def random_batch(seed, count):
    rng = random.Random(seed)
    return Batch([random_case(rng, i) for i in range(count)])
