# SPDX-License-Identifier: BSD-3-Clause
"""Sends lines that end the connection, and thousands of random lines.

The service continues and keeps no descriptors or memory of these lines.
"""
import itertools
import json
import os
import random
import time

from service import SANITIZED, SEED, SOAK, Case, Memory, copy, main
from wire import SLOW, Closed, envelope

PING = envelope("daemon.ping")
HUGE = 9007199254740991


class Closing(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service(config={"limits": {"line_timeout_ms": 400}})
        self.watcher = self.connect(self.mlid)
        self.source, self.target = Memory(b"012345"), Memory(b"\xee" * 6)
        self.fds = [self.source.fd, self.target.fd]

    def closes(self, data, names, fds=()):
        names = (names,) if isinstance(names, str) else names
        with self.subTest(data=data[:200], size=len(data)), self.connect(self.mlid) as link:
            try:
                link.send_raw(data, fds)
            except Closed:
                pass
            self.assertTrue(link.ended(), "the connection stays open")
            came = sorted([*link.nameless, *link.replies.values()], key=lambda one: one.serial)
            self.assertTrue(came, "closed without a word")
            self.assertIn(came[-1].name, names)
            self.watcher.ping()

    def test_lines_that_are_no_json(self):
        for line in (b"", b"{", b"}", b"{}}", b"{} x", b"nul", b"{'a':1}", b"\xef\xbb\xbf" + PING,
                     PING[:-1], PING + b",", PING + PING, b"\0" + PING, PING + b"\0", b"\xff" * 100,
                     b"\r", b" "):
            self.closes(line + b"\n", "PARSE_ERROR")

    def test_json_that_is_refused(self):
        for value in (b"1.0", b"1e0", b"-", b"01", b"+1", b"0x1", b"9007199254740992",
                      b"-9007199254740992", b"1" * 400, b"1e999", b"NaN", b'"\\u0000"', b'"\0"',
                      b'"\x01"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xc0\x80"',
                      b'"\xed\xa0\x80"', b'"\xf4\x90\x80\x80"', b'"\xff"', b'"\\x"', b"[1,]",
                      b'{"a":1,}', b"'a'", b"TRUE", b"/**/1", b'{"a"}', b'{1:1}'):
            self.closes(PING[:-1] + b',"params":{"x":%s}}\n' % value, "PARSE_ERROR")

    def test_limits_of_json(self):
        deep = b'{"x":' * 40 + b"1" + b"}" * 40
        many = b"[" + b",".join([b"1"] * 20000) + b"]"
        for value in (deep, b"[" * 60000, many):
            self.closes(PING[:-1] + b',"params":{"x":%s}}\n' % value, ("LIMIT",))

    def test_long(self):
        pad = PING[:-1] + b" " * (65537 - len(PING) - 1) + b"}\n"
        for line in (pad, b"x" * 200000, b" " * 65537):
            self.closes(line, "STREAM_ERROR")

    def test_half_a_line(self):
        """The service closes a connection some time after the first byte of a line if the line is still incomplete;
        idle connections stay open."""
        idle = self.connect(self.mlid)
        begin = time.monotonic()
        self.closes(PING, "STREAM_ERROR")
        self.assertGreater(time.monotonic() - begin, 0.35)
        self.closes(PING[:1], "STREAM_ERROR", self.fds)
        with self.connect(self.mlid) as link:
            begin = time.monotonic()
            while time.monotonic() < begin + 20 * SLOW and not link.eof:
                try:
                    link.send_raw(b" ")
                except Closed:
                    break
                link.ended(0.02)
            self.assertTrue(link.ended(1))
        idle.ping()

    def test_counts_of_descriptors(self):
        for count in ("-1", "17", "1.5", '"2"', "true", "[]", "{}", "null", "1e0"):
            self.closes(PING[:-1] + b',"fds":%s}\n' % count.encode(),
                        ("INVALID_REQUEST", "PARSE_ERROR"))
        self.closes(PING[:-1] + b',"fds":0,"fds":0}\n', ("INVALID_REQUEST",))
        for attached, printed in ((1, 2), (2, 1), (2, 0), (0, 1), (16, 15)):
            self.closes(envelope("daemon.ping", fds=printed) + b"\n", "STREAM_ERROR",
                        [self.source.fd] * attached)
        self.closes(PING + b"\n", "STREAM_ERROR", [self.source.fd] * 17)
        self.closes(PING + b"\n", "STREAM_ERROR", [self.source.fd] * 200)

    def test_too_many_waiting(self):
        with self.connect(self.mlid) as link:
            with self.assertRaises(Closed):
                for byte in b'{"jsonrpc":"2.0",                            ':
                    link.send_raw(bytes([byte]), [self.source.fd])
                    link.wait(lambda: link.nameless, 0.01)
                link.ping()
            link.ended()
            self.assertEqual(link.nameless[-1].name, "STREAM_ERROR")
        self.watcher.ping()

    def test_descriptors_of_two_lines(self):
        """Lines keep their own descriptors if they are sent together, in pieces, or interleaved with lines of other
        connections."""
        with self.connect(self.mlid) as link:
            one, two = (envelope("job.submit", copy(6), id, 2) + b"\n" for id in (1, 2))
            other = Memory(b"\xee" * 6)
            link.send_raw(one + two, [*self.fds, self.target.fd, other.fd])
            for id in (1, 2):
                link.result(id)
            self.assertEqual(other.content, b"012345")
            link.send_raw(one[:1], [self.source.fd])
            link.send_raw(one[1:40], [other.fd])
            link.send_raw(one[40:] + envelope("daemon.ping", id=3) + b"\n")
            link.result(1)
            link.result(3)


VALID = [
    ("daemon.ping", {}, 0), ("daemon.info", {}, 0), ("daemon.stats", {}, 0),
    ("daemon.drain", {"wait": False}, 0), ("daemon.resume", {}, 0), ("daemon.resume", {}, 0),
    ("job.submit", {"op": "mov", "name": "n", "channels": 2, "priority": 1, "timeout_ms": 1000,
                    "after": [], "detach": True,
                    "src": {"fd": 0, "type": "sa8", "shape": [2, 3], "axis": 1, "strides": [3, 1],
                            "scale": [1, 2, 3], "zero_point": -3, "scale_frac_bits": 10,
                            "offset": 0},
                    "dst": {"fd": 1, "shape": [3, 2], "strides": [2, 1], "offset": 0,
                            "scale": [1, 2, 3]},
                    "cfg": {"padding_pre": [0, 0], "padding_post": [0, 0], "offset": [0, 0],
                            "size": [2, 3], "sub_sample_step": [1, 1], "perm_dim": [1, 0],
                            "dst_offset": [0, 0], "dst_mem_stride": [2, 1]}}, 2),
    ("job.submit", {"op": "permute", "src": {"fd": 0, "type": "fx8", "shape": [2, 3]},
                    "cfg": {"perm_dim": [1, 0]}, "dst": {"fd": 1}}, 2),
    ("job.submit", copy(64, {"buffer": 1}, {"buffer": 1, "offset": 64}, after=["n"]), 0),
    ("job.prepare", copy(64, {"buffer": 1}, {"buffer": 1, "offset": 64}, name="p"), 0),
    ("job.prepare", copy(6), 2),
    ("job.start", {"prepared": 1, "src": {"buffer": 1, "offset": 128}, "dst": {"offset": 8},
                   "priority": -1, "timeout_ms": 100, "after": [], "detach": False}, 0),
    ("job.release", {"prepared": 2}, 0),
    ("job.wait", {"job": 1, "timeout_ms": 10}, 0),
    ("job.wait", {"jobs": [1, 2], "timeout_ms": 10}, 0),
    ("job.wait", {"all": True, "timeout_ms": 10}, 0), ("job.status", {"job": "n"}, 0),
    ("job.list", {"states": ["done", "failed"], "client": 2, "name": "n", "before": 9,
                  "limit": 3}, 0),
    ("job.cancel", {"job": 1}, 0),
    ("buffer.register", {"fd": 0, "size": 6, "access": "write"}, 1),
    ("buffer.alloc", {"size": 4096}, 0), ("buffer.release", {"buffer": 2}, 0),
    ("buffer.list", {}, 0),
    ("events.subscribe", {"events": ["queued", "progress", "done"], "scope": "all",
                          "interval_ms": 20}, 0),
]
NASTY = [None, True, False, 0, 1, -1, 2, 3, 16, 17, 64, 255, 256, 65535, 1 << 31, (1 << 32) - 1,
         1 << 32, HUGE, -HUGE, "", "n", "7", "a" * 200, "\u0001", "\U0001f600", [], [0],
         [1, 1, 1, 1, 1], [[[]]], {}, {"": 0}, {"fd": 0}, ["done"], "mov", "fx16", "fp32"]


class Mutations(Case):
    """Sends valid requests with random changes."""
    TREES = 400000 if SOAK else 12000
    BYTES = 400000 if SOAK else 8000

    def setUp(self):
        super().setUp()
        print(f"\n  MLI_TEST_SEED={SEED}", end=" ", flush=True)
        self.random = random.Random(SEED)
        self.mlid = self.service(config={"limits": {
            "buffer_bytes_per_client": 1 << 18, "line_timeout_ms": 500}}, exits=0)
        self.watcher = self.connect(self.mlid)
        self.memory = [Memory(bytes(range(128))), Memory(bytes(128))]
        self.link, self.opened = None, 0

    def fresh(self):
        """Returns a connection with a buffer that the requests can name."""
        if self.link:
            self.link.close()
        self.link = self.mlid.connect()
        # Requests with changed bytes may have any small id. All other requests use ids from 10**9
        # on.
        self.link.ids, self.link.strict_ids = itertools.count(10**9), False
        os.close(self.link.reply(self.link.request("buffer.alloc", {"size": 4096})).fds[0])
        self.opened += 1

    def nodes(self, value, found):
        """Returns every (container, key) inside the value."""
        for key in value if isinstance(value, dict) else range(len(value)):
            found.append((value, key))
            if isinstance(value[key], (dict, list)):
                self.nodes(value[key], found)
        return found

    def mutate(self, value):
        pick = self.random
        for _ in range(pick.choice((1, 1, 1, 2, 4))):
            nodes = self.nodes(value, [])
            if not nodes:
                return
            place, key = pick.choice(nodes)
            how = pick.randrange(5)
            if how == 0:
                del place[key]
            elif how == 1 and isinstance(place, dict):
                place[pick.choice((key.upper(), key + "s", "x", ""))] = place.pop(key)
            elif how == 2 and isinstance(place[key], int):
                place[key] += pick.choice((-1, 1, 1 << 16, -(1 << 32)))
            else:
                place[key] = json.loads(json.dumps(pick.choice(NASTY)))

    def after(self, line, fds):
        """Sends the line; then the service must answer a ping, or must have closed the connection
        with a reason."""
        try:
            self.link.send_raw(line, fds)
            self.link.ping()
        except Closed:
            self.link.ended()
            last = [*self.link.nameless, *self.link.replies.values()]
            self.assertTrue(any(message.name for message in last), f"closed without a word: {line}")
            self.fresh()
        except (TimeoutError, AssertionError):
            print(f"after {line}")
            raise
        for message in self.link.replies.values():
            for fd in message.fds:
                os.close(fd)
        self.link.replies.clear()
        self.link.nameless.clear()
        self.link.notes.clear()

    def start(self):
        self.watcher.call("daemon.stats")
        self.fresh()

    def flat(self, run, count):
        """Sends a part of the lines, and then all of them: after all lines the service may hold no more memory than
        after the part."""
        self.start()
        run(count // 4)
        before = self.settled()
        run(count)
        after = self.settled()
        grown = after[1] - before[1]
        print(f"{count} requests, {self.opened} connections, {grown // 1024} KiB grown")
        self.assertEqual(after[0], before[0], "descriptors")
        self.assertLess(grown, (64 if SANITIZED else 3) << 20)

    def settled(self):
        self.fresh()
        self.watcher.call("daemon.resume")
        self.eventually(lambda: self.watcher.call("daemon.info")["clients"] == 2)
        self.eventually(lambda: self.mlid.mapped() == 1, "tensors are still mapped")
        return self.mlid.fds_at_rest(), self.mlid.memory()

    def test_trees(self):
        def run(count):
            for number in range(count):
                method, params, fds = self.random.choice(VALID)
                whole = json.loads(json.dumps({"jsonrpc": "2.0", "id": f"m{number}",
                                               "method": method, "params": params, "fds": fds}))
                self.mutate(whole["params"] if whole["params"] and self.random.random() < 0.8 else
                            whole)
                self.after(json.dumps(whole).encode() + b"\n",
                           [memory.fd for memory in self.memory][:fds])
                if number % 100 == 0:
                    self.watcher.ping()
        self.flat(run, self.TREES)

    def damaged(self, line):
        pick = self.random
        line = bytearray(line)
        for _ in range(pick.choice((1, 1, 2, 5))):
            at = pick.randrange(len(line))
            how = pick.randrange(4)
            if how == 0:
                line[at] = pick.randrange(256)
            elif how == 1:
                del line[at:at + pick.randint(1, 5)]
            elif how == 2:
                line[at:at] = pick.choice((b'"', b"{", b"}", b"[", b",", b"\\", b"\0", b"0", b"-",
                                           b"e9", b"\n", b"\\u0000", b"\xff", line[:at]))
            else:
                line[at] ^= 1 << pick.randrange(8)
            if not line:
                line += b"x"
        return bytes(line)

    def test_bytes(self):
        def run(count):
            for number in range(count):
                method, params, fds = self.random.choice(VALID)
                line = self.damaged(envelope(method, params, f"m{number}", fds))
                self.after(line + b"\n", [memory.fd for memory in self.memory][:fds])
                if number % 100 == 0:
                    self.watcher.ping()
        self.flat(run, self.BYTES)


if __name__ == "__main__":
    main()
