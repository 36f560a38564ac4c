# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the service answers every wrong request as PROTOCOL.md says, and continues."""
import fcntl
import os
import socket

from service import Case, Memory, copy, main, wait_for
from wire import envelope

HUGE = 9007199254740991
WRONG = ("INVALID_REQUEST", "INVALID_PARAMS")


def request(members, method="daemon.ping"):
    return b'{"jsonrpc":"2.0","id":1,"method":"%s",%s}' % (method.encode(), members)


class Long(Case):
    """Sends all requests on one connection, while a second connection watches."""

    def setUp(self):
        super().setUp()
        self.mlid = self.service(config={"limits": {"buffer_bytes_per_client": 1 << 20}})
        self.watcher, self.link = self.connect(self.mlid), self.connect(self.mlid)
        self.source, self.target = Memory(b"012345"), Memory(b"\xee" * 6)
        self.fds = [self.source.fd, self.target.fd]

    def alive(self):
        self.link.ping()
        self.watcher.ping()

    def refused(self, method, params, names, pointer=None, fds=()):
        if fds is True:
            fds = self.fds
        names = (names,) if isinstance(names, str) else names
        with self.subTest(method=method, params=str(params)[:300]):
            fault = self.link.fault(method, params, fds)
            self.assertIn(fault.name, names, fault)
            if pointer is not None:
                self.assertEqual(fault.pointer, pointer, fault)
            self.assertTrue(fault.message)
            self.alive()

    def job(self, names, pointer, **members):
        """Returns a copy of 6 bytes with members replaced (`src__type=1`) or removed (`...`)."""
        params = copy(6)
        for path, value in members.items():
            *way, last = path.split("__")
            place = params
            for step in way:
                place = place.setdefault(step, {})
            if value is ...:
                del place[last]
            else:
                place[last] = value
        self.refused("job.submit", params, names, pointer, True)
        self.assertEqual(self.target.content, b"\xee" * 6)


class Open(Long):
    def test_envelope(self):
        for line, names, pointer in (
                (b"[]", "INVALID_REQUEST", None),
                (b"[%s]" % envelope("daemon.ping"), "INVALID_REQUEST", None),
                (b'"daemon.ping"', "INVALID_REQUEST", None),
                (b"7", "INVALID_REQUEST", None),
                (b"{}", "INVALID_REQUEST", None),
                (b'{"jsonrpc":"2.0","method":"daemon.ping"}', "INVALID_REQUEST", "/id"),
                (b'{"jsonrpc":"2.0","id":null,"method":"daemon.ping"}', "INVALID_REQUEST", "/id"),
                (b'{"jsonrpc":"2.0","id":true,"method":"daemon.ping"}', "INVALID_REQUEST", "/id"),
                (b'{"jsonrpc":"2.0","id":"%s","method":"daemon.ping"}' % (b"i" * 129),
                 ("INVALID_REQUEST", "LIMIT"), "/id")):
            with self.subTest(line=line):
                self.link.send(line)
                fault = self.link.nameless_error()
                self.assertIn(fault.name, names)
                if pointer:
                    self.assertEqual(fault.pointer, pointer)
                self.alive()

    def test_envelope_with_an_id(self):
        for line, name, pointer in (
                (b'{"jsonrpc":"1.0","id":"x","method":"daemon.ping"}', "INVALID_REQUEST",
                 "/jsonrpc"),
                (b'{"id":"x","method":"daemon.ping"}', "INVALID_REQUEST", "/jsonrpc"),
                (b'{"jsonrpc":"2.0","id":"x"}', "INVALID_REQUEST", "/method"),
                (b'{"jsonrpc":"2.0","id":"x","method":7}', "INVALID_REQUEST", "/method"),
                (b'{"jsonrpc":"2.0","id":"x","method":""}', "METHOD_NOT_FOUND", "/method"),
                (b'{"jsonrpc":"2.0","id":"x","method":"Daemon.ping"}', "METHOD_NOT_FOUND",
                 "/method"),
                (b'{"jsonrpc":"2.0","id":"x","method":"daemon.ping","params":1}', "INVALID_REQUEST",
                 "/params"),
                (b'{"jsonrpc":"2.0","id":"x","method":"daemon.ping","more":1}', "INVALID_REQUEST",
                 "/more"),
                (b'{"jsonrpc":"2.0","id":"x","method":"daemon.ping","inline":[]}',
                 "INVALID_REQUEST", None)):
            with self.subTest(line=line):
                self.link.send(line)
                fault = self.link.error("x")
                self.assertEqual(fault.name, name, fault)
                if pointer:
                    self.assertEqual(fault.pointer, pointer)
                self.alive()

    def test_values_at_the_limits(self):
        """The largest allowed values are accepted."""
        line = b'{"jsonrpc":"2.0","id":"%s","method":"daemon.ping"' % (b"i" * 128)
        self.link.send(line + b" " * (65536 - len(line) - 2) + b"}")
        self.link.result("i" * 128)
        for id in (HUGE, -HUGE, 0, "", "\u00e4\U0001f600\"\\\n"):
            self.link.result(self.link.request("daemon.ping", id=id))
        self.link.send(envelope("daemon.ping", id="cr") + b"\r")
        self.link.result("cr")
        self.link.send(b' \t{ "jsonrpc" : "2.0" , "id" : "\\u0063" , "fds" : 0 , '
                       b'"method" : "daemon\\u002eping" , "params" : { } } ')
        self.link.result("c")
        self.alive()

    def test_unknown_members(self):
        for method in ("daemon.ping", "daemon.info", "daemon.stats", "daemon.resume",
                       "buffer.list"):
            self.refused(method, {"x": 1}, "INVALID_PARAMS", "/x")
        for method, least in (("daemon.drain", {}), ("job.wait", {"job": 1}), ("job.list", {}),
                              ("job.status", {"job": 1}), ("job.cancel", {"job": 1}),
                              ("job.start", {"prepared": 1}), ("job.release", {"prepared": 1}),
                              ("buffer.alloc", {"size": 1}), ("buffer.release", {"buffer": 1}),
                              ("events.subscribe", {})):
            self.refused(method, {**least, "x/y~": 1}, "INVALID_PARAMS", "/x~1y~0")
        self.job("INVALID_PARAMS", "/x", x=1)
        self.job("INVALID_PARAMS", "/src/fds", src__fds=0)
        self.job("INVALID_PARAMS", "/dst/type", dst__type="fx8")
        self.job("INVALID_PARAMS", "/cfg/Size", cfg__Size=[1])

    def test_twice(self):
        for members, method, pointer in (
                (b'"params":{},"params":{}', "daemon.ping", "/params"),
                (b'"params":{"job":1,"job":1}', "job.status", "/job"),
                (b'"params":{"job":1,"\\u006aob":1}', "job.status", "/job"),
                (b'"params":{"size":1,"size":1}', "buffer.alloc", "/size")):
            with self.subTest(members=members):
                self.link.send(request(members, method))
                fault = self.link.error(1)
                self.assertIn(fault.name, WRONG)
                self.assertEqual(fault.pointer, pointer)
                self.alive()

    def test_job_types(self):
        for path in ("op", "src", "src__fd", "src__type", "src__shape", "dst", "dst__fd", "cfg",
                     "name", "channels", "priority", "timeout_ms", "after", "detach",
                     "src__offset"):
            for value in (None, [[]], {"a": {}}, "\u00e9", -2):
                self.job("INVALID_PARAMS", None, **{path: value})
        for path in ("op", "src", "src__type", "src__shape", "dst"):
            self.job("INVALID_PARAMS", "/" + path.replace("__", "/"), **{path: ...})

    def test_job_numbers(self):
        for path, values in {
                "priority": (-2, 2, HUGE), "timeout_ms": (-1, 86400001), "channels": (0, 17, -1),
                "src__fd": (-1, 2, 16, HUGE), "dst__fd": (2,), "src__offset": (-1,),
                "src__shape": ([], [0], [-1], [4294967296], [1] * 5, [HUGE]),
                "src__strides": ([], [1, 1], [-1], [2147483648]),
                "src__frac_bits": (-129, 128), "src__scale": (1,), "src__axis": (0,),
                "cfg__padding_pre": ([256], [-1], [0, 0]), "cfg__sub_sample_step": ([0],),
                "cfg__offset": ([4294967296], [-1]), "cfg__perm_dim": ([1, 0],),
                "cfg__dst_mem_stride": ([2147483648],),
                "after": ([0], [-1], ["7"], [""], [1] * 65, [[1]]),
                "name": ("", "7", "a b", "n" * 129)}.items():
            for value in values:
                names = WRONG + ("BAD_DESCRIPTOR", "REFUSED", "LIMIT", "NOT_FOUND")
                self.job(names, None, **{path: value})
        self.job("NOT_FOUND", "/after/0", after=[4711])
        self.job("LIMIT", "/channels", channels=16)

    def test_overflow(self):
        """Sums and products beyond 64 bits are refused before memory is mapped."""
        big = ("BAD_DESCRIPTOR", "INVALID_PARAMS", "REFUSED", "LIMIT")
        for members in (
                {"src__offset": HUGE}, {"dst__offset": HUGE}, {"src__offset": HUGE - 5},
                {"src__offset": 1}, {"dst__offset": 1}, {"src__shape": [7]},
                {"src__shape": [4294967295] * 4}, {"src__shape": [4294967295, 4294967295]},
                {"src__shape": [65536] * 4},
                {"src__shape": [2, 3], "src__strides": [2147483647] * 2},
                {"src__shape": [4294967295] * 4, "src__strides": [2147483647] * 4},
                {"src__shape": [4294967295] * 4, "src__type": "fp32", "src__offset": HUGE},
                {"cfg__dst_offset": [4294967295]}, {"cfg__dst_mem_stride": [2147483647]},
                {"cfg__offset": [6]}, {"cfg__offset": [5], "cfg__size": [4294967295]},
                {"cfg__size": [7]}, {"cfg__padding_pre": [1]},
                {"cfg__padding_pre": [255], "cfg__padding_post": [255]},
                {"dst__shape": [5]}, {"dst__shape": [4294967295], "dst__strides": [2147483647]},
                {"src__shape": [2, 3], "cfg__dst_offset": [4294967295, 4294967295],
                 "cfg__dst_mem_stride": [2147483647, 2147483647]},
                {"src__shape": [2, 3], "cfg__perm_dim": [0, 0]},
                {"src__shape": [2, 3], "cfg__dst_mem_stride": [1, 1]}):
            self.job(big, None, **members)

    def test_missing_descriptors(self):
        params = copy(6)
        self.refused("job.submit", params, WRONG + ("BAD_DESCRIPTOR",))
        self.refused("job.submit", copy(6, 0, 0), ("REFUSED",), None, [self.target.fd])
        self.refused("job.submit", params, WRONG + ("BAD_DESCRIPTOR",), None, self.fds * 2)
        self.refused("daemon.ping", None, WRONG + ("BAD_DESCRIPTOR",), None, self.fds)
        self.refused("buffer.register", {"fd": 0}, WRONG + ("BAD_DESCRIPTOR",))
        self.refused("buffer.register", {"fd": 0}, WRONG + ("BAD_DESCRIPTOR",), None, self.fds)
        self.refused("job.submit", copy(6, {"fd": 0, "buffer": 1}), "INVALID_PARAMS", None, True)
        self.refused("job.submit", copy(6, {}), "INVALID_PARAMS", None, True)

    def test_wrong_descriptors(self):
        pair = socket.socketpair()
        pipe = os.pipe()
        named = self.root / "file"
        named.write_bytes(b"012345")
        os.mkfifo(self.root / "fifo")
        wrong = [os.open(self.root, os.O_RDONLY), os.open("/dev/null", os.O_RDWR),
                 os.open("/dev/zero", os.O_RDWR), os.open(named, os.O_PATH),
                 os.open(self.root / "fifo", os.O_RDWR), *pipe, pair[0].fileno(),
                 os.open(self.mlid.socket, os.O_PATH), os.eventfd(0)]
        short = Memory(b"01234")
        for fd in (*wrong, os.open(named, os.O_WRONLY), short.fd):
            self.refused("job.submit", copy(6), "BAD_DESCRIPTOR", "/src/fd", [fd, self.target.fd])
        sealed = Memory(b"\xee" * 6)
        fcntl.fcntl(sealed.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        for fd in (*wrong, os.open(named, os.O_RDONLY), os.open(named, os.O_WRONLY), short.fd,
                   sealed.fd):
            self.refused("job.submit", copy(6), "BAD_DESCRIPTOR", "/dst/fd", [self.source.fd, fd])
        for fd in (*wrong, os.open(named, os.O_WRONLY)):
            self.refused("buffer.register", {"fd": 0}, "BAD_DESCRIPTOR", "/fd", [fd])
        self.refused("buffer.register", {"fd": 0, "access": "write"}, "BAD_DESCRIPTOR", None,
                     [os.open(named, os.O_RDONLY)])
        self.assertEqual(self.target.content, b"\xee" * 6)


class Buffers(Long):
    def test_numbers_of_other_connections(self):
        """The numbers of jobs and buffers belong to one connection: another connection cannot use them."""
        theirs = self.watcher.call("buffer.register", {"fd": 0}, [self.source.fd])["buffer"]
        self.watcher.call("job.prepare", copy(3, {"buffer": theirs},
                                              {"buffer": theirs, "offset": 3}))
        for number in (theirs, 2, 4294967295):
            self.refused("job.submit", copy(6, {"buffer": number}, 0), "NOT_FOUND", "/src/buffer",
                         [self.target.fd])
            self.refused("job.submit", copy(6, 0, {"buffer": number}), "NOT_FOUND", "/dst/buffer",
                         [self.source.fd])
            self.refused("buffer.release", {"buffer": number}, "NOT_FOUND", "/buffer")
            for method in ("job.start", "job.release"):
                self.refused(method, {"prepared": number}, "NOT_FOUND", "/prepared")
        self.refused("buffer.release", {"buffer": 0}, ("NOT_FOUND", "INVALID_PARAMS"))
        self.assertEqual(self.link.call("buffer.list"), {"buffers": []})

    def test_sizes(self):
        for params in ({"size": 0}, {"size": -1}, {"size": HUGE}, {"size": (1 << 20) + 1}, {},
                       {"size": "1"}):
            self.refused("buffer.alloc", params, ("INVALID_PARAMS", "LIMIT"))
        for size in (0, 7, HUGE, -1):
            self.refused("buffer.register", {"fd": 0, "size": size},
                         ("INVALID_PARAMS", "BAD_DESCRIPTOR", "LIMIT"), None, [self.source.fd])
        self.refused("buffer.register", {"fd": 1}, ("INVALID_PARAMS", "BAD_DESCRIPTOR"), "/fd",
                     [self.source.fd])
        self.refused("buffer.register", {"fd": 0, "access": "all"}, "INVALID_PARAMS", "/access",
                     [self.source.fd])
        empty = Memory()
        self.refused("buffer.register", {"fd": 0}, ("INVALID_PARAMS", "BAD_DESCRIPTOR"), None,
                     [empty.fd])

    def test_the_largest_number_of_descriptors(self):
        numbers = [self.link.call("buffer.alloc", {"size": 4096})["buffer"] for _ in range(64)]
        self.refused("buffer.alloc", {"size": 4096}, "LIMIT")
        self.refused("buffer.register", {"fd": 0}, "LIMIT", None, [self.source.fd])
        for number in numbers:
            self.link.call("buffer.release", {"buffer": number})
        self.link.call("buffer.alloc", {"size": 1 << 20})
        self.refused("buffer.alloc", {"size": 1}, "LIMIT")

    def test_read_only(self):
        self.link.call("buffer.register", {"fd": 0, "access": "read", "size": 3}, [self.source.fd])
        self.refused("job.submit", copy(3, 0, {"buffer": 1}), ("BAD_DESCRIPTOR",), None,
                     [self.target.fd])
        self.refused("job.submit", copy(4, {"buffer": 1}, 0), "BAD_DESCRIPTOR", None,
                     [self.target.fd])
        self.link.call("job.submit", copy(3, {"buffer": 1}, 0), [self.target.fd])
        self.assertEqual(self.target.content, b"012\xee\xee\xee")

    def test_prepared(self):
        """Refuses offsets past the end of a file, ranges across the end, and overlapping tensors."""
        memory = Memory(bytes(range(12)))
        self.link.call("buffer.register", {"fd": 0}, [memory.fd])
        part = copy(4, {"buffer": 1}, {"buffer": 1, "offset": 8})
        for more in ({"after": [1]}, {"detach": True}, {"timeout_ms": 1}):
            self.refused("job.prepare", {**part, **more}, "INVALID_PARAMS", "/" + next(iter(more)))
        self.refused("job.prepare", copy(4, {"buffer": 1}, {"buffer": 1, "offset": 9}),
                     "BAD_DESCRIPTOR")
        self.refused("job.prepare", copy(4, {"buffer": 1}, {"buffer": 1, "offset": 3}), "REFUSED")
        self.link.call("job.prepare", part)
        for side in ("src", "dst"):
            for offset in (9, 12, 13, 1 << 32, HUGE):
                self.refused("job.start", {"prepared": 1, side: {"offset": offset}},
                             "BAD_DESCRIPTOR", f"/{side}/offset")
            self.refused("job.start", {"prepared": 1, side: {"offset": -1}}, "INVALID_PARAMS")
            self.refused("job.start", {"prepared": 1, side: {"buffer": 2}}, "NOT_FOUND",
                         f"/{side}/buffer")
            self.refused("job.start", {"prepared": 1, side: {"fd": 0}}, "INVALID_PARAMS")
        self.refused("job.start", {"prepared": 1, "src": {"offset": 5}}, "REFUSED")
        self.refused("job.start", {"prepared": 1, "dst": {"offset": 0}}, "REFUSED")
        self.assertEqual(memory.content, bytes(range(12)))
        self.link.call("buffer.release", {"buffer": 1})
        self.link.call("job.start", {"prepared": 1})
        self.assertEqual(memory.content, bytes([*range(8), *range(4)]))
        self.refused("job.prepare", part, "NOT_FOUND", "/src/buffer")
        self.link.call("job.release", {"prepared": 1})
        self.assertTrue(wait_for(lambda: self.mlid.mapped() == 0))

    def test_prepared_descriptors_stay(self):
        self.link.call("job.prepare", copy(6), self.fds)
        self.refused("job.start", {"prepared": 1, "src": {"offset": 0}}, ("INVALID_PARAMS",
                                                                          "BAD_DESCRIPTOR"))
        self.link.call("job.start", {"prepared": 1})
        self.assertEqual(self.target.content, b"012345")
        self.link.call("job.release", {"prepared": 1})


class Release(Case):
    def test_in_use(self):
        """If a buffer and a prepared job are released while a job uses them, they stay until that job ends."""
        mlid = self.service("--engine", "fault:threads,stick=1")
        link, other = self.connect(mlid), self.connect(mlid)
        memory = Memory(b"012345")
        link.call("buffer.register", {"fd": 0}, [memory.fd])
        link.call("job.prepare", copy(3, {"buffer": 1}, {"buffer": 1, "offset": 3}))
        id = link.request("job.start", {"prepared": 1})
        buffers = link.call("buffer.list")["buffers"]
        self.assertEqual((buffers[0]["jobs"], buffers[0]["prepared"]), (1, 1))
        link.call("buffer.release", {"buffer": 1})
        link.call("job.release", {"prepared": 1})
        self.assertEqual(mlid.mapped(), 1)
        self.assertEqual(link.call("buffer.list"), {"buffers": []})
        other.call("job.cancel", {"job": 1})
        self.assertFault(link.error(id), "CANCELLED")
        self.eventually(lambda: mlid.mapped() == 0)


if __name__ == "__main__":
    main()
