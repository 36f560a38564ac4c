#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lets clients of mlid die at random bytes of random requests: descriptors, mappings and memory stay as they were.

For the service a client that closes its socket is a client that died. faults_kill kills processes.
"""
import array
import json
import random
import socket

import soak
from service import SANITIZED, Case, Memory, copy, main
from wire import Fault, envelope

GROWTH = (64 if SANITIZED else 2) << 20
SIZE = 4096


class Deaths(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service("--engine", "fault:threads,delay_us=200,fail_pct=2", "--log-level", "warning")
        self.watcher = self.connect(self.mlid)
        self.files = [Memory(size=SIZE) for _ in range(4)]

    def lines(self, pick):
        """Returns requests of one client, each with the number of its descriptors."""
        job = copy(SIZE, name="j", priority=pick.choice((-1, 0, 1)), channels=pick.choice((1, 1, 2)))
        in_buffer = copy(SIZE // 2, {"buffer": 1}, {"buffer": 1, "offset": SIZE // 2})
        return [(method, params, fds) for method, params, fds in (
            ("buffer.register", {"fd": 0}, 1),
            ("buffer.alloc", {"size": 65536}, 0),
            ("job.submit", job, 2),
            ("job.submit", dict(job, detach=True, name="k"), 2),
            ("job.submit", dict(copy(SIZE), after=["j"]), 2),
            ("job.submit", in_buffer, 0),
            ("job.prepare", in_buffer, 0),
            ("job.start", {"prepared": 1}, 0),
            ("job.wait", {"job": "j"}, 0),
            ("job.cancel", {"job": "j"}, 0),
            ("events.subscribe", {"events": ["started", "done"]}, 0),
            ("daemon.stats", None, 0),
            ("nonsense", None, 1),
            ("job.submit", {"op": "mov"}, 2),
        ) if pick.random() < 0.6]

    def die(self, pick):
        """Sends requests up to a random byte, with the descriptors that belong to these bytes; then reads the replies
        or not, and closes the connection."""
        requests = [(envelope(*request[:2], id=i, fds=request[2]) + b"\n", request[2])
                    for i, request in enumerate(self.lines(pick))]
        left = pick.randrange(sum(len(line) for line, _ in requests) + 1)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.mlid.socket)
            link.settimeout(60)
            for line, fds in requests:
                part = line[:left]
                left -= len(part)
                rights = array.array("i", [pick.choice(self.files).fd for _ in range(fds)])
                if not part:
                    break
                try:
                    link.sendmsg([part], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if fds else [])
                except (BrokenPipeError, ConnectionResetError):
                    break
            ending = pick.randrange(4)
            if ending == 1:
                link.recv(pick.randrange(1, 65536))
            elif ending == 2:
                link.shutdown(pick.choice((socket.SHUT_RD, socket.SHUT_WR)))
            elif ending == 3 and pick.random() < 0.2:
                link.settimeout(0.002)
                try:
                    while link.recv(65536):
                        pass
                except (TimeoutError, ConnectionResetError):
                    pass

    def rest(self):
        """Waits until the service holds nothing of the dead clients; returns the number of its descriptors, and its
        memory."""
        def idle():
            stats = self.watcher.call("daemon.stats")
            return (stats["jobs"]["running"], sum(stats["jobs"]["queued"]), stats["buffers"]["now"],
                    stats["prepared"], stats["clients"]["now"]) == (0, 0, 0, 0, 1)
        self.eventually(idle, json.dumps(self.watcher.call("daemon.stats")))
        self.eventually(lambda: self.mlid.mapped() == 0, "tensors are still mapped")
        return self.mlid.fds_at_rest(), self.mlid.memory()

    def submit(self, params, fds):
        """Submits a job again until it succeeds, because the engine makes a part of all transfers
        fail."""
        for _ in range(100):
            try:
                return self.watcher.call("job.submit", params, fds)
            except Fault as fault:
                self.assertEqual(fault.name, "DMA_ERROR")
        return self.fail("the service fails all jobs")

    def test_deaths(self):
        rounds = soak.rounds(1000, 10000)
        # The first deaths fill the service's history and caches, which then stay.
        for number in range(300):
            self.die(random.Random(number))
        before = self.rest()
        for number in rounds:
            with self.subTest(again=soak.again(self, number)):
                self.die(soak.pick_of(self, number))
        after = self.rest()
        self.assertEqual(after[0], before[0], "descriptors")
        self.assertLess(after[1] - before[1], GROWTH, "bytes of memory")
        soak.count("death of a client", len(rounds), more_descriptors=after[0] - before[0],
                   more_bytes=after[1] - before[1])
        target = Memory(size=SIZE)
        self.files[0].put(0, bytes(range(256)) * 16)
        self.submit(copy(SIZE), [self.files[0].fd, target.fd])
        self.assertEqual(target.content, self.files[0].content)


if __name__ == "__main__":
    main()
