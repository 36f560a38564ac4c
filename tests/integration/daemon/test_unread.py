# SPDX-License-Identifier: BSD-3-Clause
"""Tests replies that the client does not read: their cost, and when the connection is closed."""
import os

from service import NOBODY, SANITIZED, Case, Memory, as_user, main, needs_root
from wire import SLOW, Closed, envelope

KIB, MIB = 1 << 10, 1 << 20
STUCK = ("--engine", "fault:threads,stick=1")  # the first transfer ends when it is cancelled
INDICES = 54972  # per-axis entries of the longest reply


class Unread(Case):
    def setUp(self):
        super().setUp()
        self.memory = Memory(size=2 * INDICES)
        self.addCleanup(self.memory.close)

    def submit(self, link, count, **more):
        """Sends jobs whose replies have almost 1 MiB until the service stops reading."""
        params = {"op": "mov",
                  "src": {"fd": 0, "type": "sa8", "shape": [1], "axis": 0, "scale": [-32768],
                          "zero_point": -32768, "scale_frac_bits": -128},
                  "cfg": {"dst_offset": [INDICES - 1]},
                  "dst": {"fd": 0, "offset": INDICES, "scale": -32768, "zero_point": -32768,
                          "scale_frac_bits": -128}, **more}
        rights = [self.memory.fd]
        ids = []
        link.sock.setblocking(True)
        for _ in range(count):
            id = next(link.ids)
            link.sock.sendmsg([envelope("job.submit", params, id, 1) + b"\n"],
                              [(1, 1, rights[0].to_bytes(4, "little"))])  # SOL_SOCKET, SCM_RIGHTS
            ids.append(id)
        link.sock.setblocking(False)
        return ids

    def grown(self, service, before):
        return service.memory() - before

    def printed(self, grown):
        print(f"\n  {grown // KIB} KiB grown")
        return grown


class Bytes(Unread):
    def test_six_connections(self):
        """30 KiB of requests have 96 MiB of replies. Clients that read their replies get all of them."""
        service = self.service(*STUCK, config={"channels": 1, "limits": {"reply_timeout_ms": 0}})
        watcher = self.connect(service)
        before = service.memory()
        links = [self.connect(service) for _ in range(6)]
        stuck = self.submit(watcher, 1)[0]
        watcher.ping()
        ids = [self.submit(link, 16) for link in links]
        watcher.ping()
        watcher.call("job.cancel", {"job": 1})
        watcher.error(stuck)
        most = 0
        for _ in range(50):
            watcher.ping()
            most = max(most, self.grown(service, before))
        self.assertLess(self.printed(most), (96 if SANITIZED else 40) * MIB)
        for id in ids[0]:
            self.assertEqual(len(links[0].result(id)["dst"]["scale"]), INDICES)
        links[0].ping()

    def test_waits_for_one_job(self):
        """The reply to a job.wait for a running job has the same size."""
        service = self.service(*STUCK, config={"channels": 1})
        link, other = self.connect(service), self.connect(service)
        before = service.memory()
        stuck = self.submit(other, 1)[0]
        other.ping()
        self.submit(link, 1, detach=True)
        link.ping()
        waits = [link.request("job.wait", {"job": 2}) for _ in range(32)]
        other.call("job.cancel", {"job": 1})
        other.error(stuck)
        other.ping()
        self.assertLess(self.printed(self.grown(service, before)), (64 if SANITIZED else 16) * MIB)
        for id in waits:
            self.assertEqual(link.result(id)["job"], 2)

    @needs_root
    def test_a_user(self):
        """The unread replies of all connections of a user are limited to the bytes of the user's quota, or to one
        reply for each connection."""
        quotas = {str(NOBODY): {"reply_bytes": 2 * MIB}}
        service = self.service(config={"socket_mode": "0666", "quotas": quotas})
        watcher = self.connect(service)
        before = service.memory()
        with as_user(NOBODY):
            links = [self.connect(service) for _ in range(8)]
        ids = [self.submit(link, 8) for link in links]
        for _ in range(50):
            watcher.ping()
        self.assertLess(self.printed(self.grown(service, before)), (64 if SANITIZED else 24) * MIB)
        for link, wanted in list(zip(links, ids))[:2]:
            for id in wanted:
                link.result(id)


class Time(Unread):
    def test_a_client_that_never_reads_is_closed(self):
        service = self.service(config={"limits": {"reply_timeout_ms": int(1500 * SLOW)}})
        link, reader = self.connect(service), self.connect(service)
        self.submit(link, 8)
        ids = self.submit(reader, 8)
        for id in ids:
            reader.result(id)
        self.eventually(lambda: reader.call("daemon.info")["clients"] == 1)
        self.assertIn("has not read its replies for limits.reply_timeout_ms", service.text())
        with self.assertRaises(Closed):
            while True:
                link.request("daemon.ping")

    def test_a_few_unread_replies_may_stay(self):
        """1000 unread replies are too few for the service to stop reading: it does not close this
        idle client."""
        service = self.service(config={"limits": {"reply_timeout_ms": 50}})
        link, other = self.connect(service), self.connect(service)
        for _ in range(1000):
            link.request("daemon.ping")
        for _ in range(5):
            self.assertFalse(other.wait(lambda: False, 0.05))
        link.ping()
        self.assertEqual(other.call("daemon.info")["clients"], 2)


class Descriptors(Case):
    def test_pipelined_alloc(self):
        """Sends many requests in one write. When the client reads, it gets a reply with a buffer
        for each request."""
        service = self.service(config={"limits": {"buffers_per_client": 1000}})
        link = self.connect(service)
        count = 600
        lines = b"".join(envelope("buffer.alloc", {"size": 4096}, f"{i}") + b"\n"
                         for i in range(count))
        link.send_raw(lines)
        for i in range(count):
            reply = link.reply(f"{i}")
            self.assertIsNone(reply.name, reply)
            self.assertEqual(len(reply.fds), 1)
            os.close(reply.fds[0])


if __name__ == "__main__":
    main()
