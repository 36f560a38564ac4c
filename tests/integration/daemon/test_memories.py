# SPDX-License-Identifier: BSD-3-Clause
"""Tests the memories of a board over the socket: several clients and users, and random sequences."""
import json
import os
import random
import re

from service import NOBODY, SEED, SOURCE, Case, Memory, as_user, copy, main, needs_root
from wire import Fault

VCCM, SIZE = 0x90000000, 262144
STRICT = ("--profile", "vpx5-nsim")
STUCK = STRICT + ("--engine", "fault:threads,stick=1,tiny=0")  # the first transfer ends when it is cancelled


class Memories(Case):
    def alloc(self, link, size, memory="vccm"):
        """Allocates a buffer; returns its number and its address."""
        message = link.reply(link.request("buffer.alloc", {"size": size, "memory": memory}))
        for fd in message.fds:
            os.close(fd)
        if "error" in message:
            raise Fault(message["error"])
        self.assertEqual(message["result"]["memory"], memory)
        return message["result"]["buffer"], message["result"]["address"]

    def no_room(self, link, size, memory="vccm"):
        with self.assertRaises(Fault) as caught:
            self.alloc(link, size, memory)
        self.assertFault(caught.exception, "NO_ROOM", "/memory")
        self.assertEqual(caught.exception.code, -32013)
        return caught.exception.message

    def move(self, size, **more):
        job = copy(size, **more)
        job["src"]["memory"] = job["dst"]["memory"] = "vccm"
        return job


class Placed(Memories):
    def test_a_client_that_dies_leaves_no_range(self):
        service = self.service(*STUCK)
        held = [Memory(b"abcd"), Memory(size=4)]
        dies, lives = self.connect(service), self.connect(service)
        dies.request("job.submit", self.move(4), [m.fd for m in held])
        dies.request("job.submit", self.move(4, name="queued"), [m.fd for m in held])
        self.alloc(dies, 1000)
        dies.ping()
        text = self.no_room(lives, SIZE)
        self.assertIn("has 261128 of 262144 B free", text)
        self.assertIn(f"buffer 1 of client {dies.hello['params']['client']} (uid {os.geteuid()}) holds "
                      "1000 B", text)
        dies.close()

        def is_free():
            try:
                number, address = self.alloc(lives, SIZE)
            except Fault:
                return False
            lives.call("buffer.release", {"buffer": number})
            return address == VCCM
        self.eventually(is_free)

    def test_jobs_of_a_queue_hold_their_ranges(self):
        service = self.service(*STUCK)
        link = self.connect(service)
        src, dst = Memory(size=60000), Memory(size=60000)
        first = link.request("job.submit", self.move(60000), [src.fd, dst.fd])
        second = link.request("job.submit", self.move(60000, after=[1]), [src.fd, dst.fd])
        third = link.request("job.submit", self.move(60000, name="third"), [src.fd, dst.fd])
        fault = link.error(third)
        self.assertFault(fault, "NO_ROOM", "/src/memory")
        self.assertRegex(fault.message, r"^src\.memory: 60000 B wanted, but vccm has 22144 of 262144 B "
                         r"free, the largest piece 22144 B; job 1 of client 1 ")
        link.call("job.cancel", {"job": 1})
        self.assertFault(link.error(first), "CANCELLED")
        self.assertFault(link.error(second), "PREDECESSOR_FAILED")
        self.assertEqual(self.alloc(link, SIZE)[1], VCCM)

    def test_random_buffers_never_overlap(self):
        rng = random.Random(SEED)
        link = self.connect(self.service(*STRICT, config={"limits": {"buffers_per_client": 256}}))
        held = {}
        for _ in range(600):
            if held and rng.random() < 0.45:
                number = rng.choice(sorted(held))
                link.call("buffer.release", {"buffer": number})
                del held[number]
                continue
            size = rng.choice([1, 3, 1000, 4096, 20000, 65536])
            try:
                number, address = self.alloc(link, size)
            except Fault as fault:
                self.assertEqual(fault.name, "NO_ROOM", f"seed {SEED}")
                free, largest = map(int, re.search(r"has (\d+) of .* piece (\d+) B", fault.message).groups())
                self.assertEqual(free, SIZE - sum(size for _, size in held.values()), f"seed {SEED}")
                self.assertLess(largest, size, f"seed {SEED}")
                continue
            self.assertEqual(address % 4, 0)
            self.assertTrue(VCCM <= address <= VCCM + SIZE - size, f"seed {SEED}")
            for other, bytes in held.values():
                self.assertTrue(address + size <= other or other + bytes <= address, f"seed {SEED}")
            held[number] = (address, size)
        listed = {b["buffer"]: (b["address"], b["size"]) for b in link.call("buffer.list")["buffers"]}
        self.assertEqual(listed, held, f"seed {SEED}")

    def test_statistics(self):
        link = self.connect(self.service(*STRICT))
        self.alloc(link, 65536)
        number, _ = self.alloc(link, 4096)
        self.alloc(link, 100, "dccm")
        link.call("buffer.release", {"buffer": 1})
        memories = link.call("daemon.stats")["memories"]
        self.assertEqual(memories[:2], [
            {"name": "vccm", "base": VCCM, "size": SIZE, "used": 4096, "largest": SIZE - 65536 - 4096, "ranges": 1},
            {"name": "dccm", "base": 0x80000000, "size": SIZE, "used": 100, "largest": SIZE - 100, "ranges": 1}])
        self.assertEqual(number, 2)
        self.assertNotIn("memories", self.connect(self.service()).call("daemon.stats"))

    def test_a_memory_that_dma_does_not_reach(self):
        board = json.loads((SOURCE / "conf/profiles/vpx5-nsim.json").read_text())
        board["memories"][1]["reached_by"] = ["core"]
        path = self.root / "board.json"
        path.write_text(json.dumps(board))
        link = self.connect(self.service("--profile", str(path)))
        job = self.move(4)
        job["dst"]["memory"] = "dccm"
        src, dst = Memory(b"abcd"), Memory(size=4)
        fault = link.fault("job.submit", job, [src.fd, dst.fd])
        self.assertFault(fault, "REFUSED", "/dst/memory")
        self.assertEqual(fault.status, "MLI_STATUS_MEM_BANK_MISMATCH")
        self.assertRegex(fault.message, r"\(rule reach\)$")
        number, _ = self.alloc(link, 4, "dccm")
        fault = link.fault("job.submit", copy(4, {"fd": 0}, {"buffer": number}), [src.fd])
        self.assertFault(fault, "REFUSED", "/dst/buffer")


@needs_root
class Users(Memories):
    def test_other_users_are_amounts(self):
        service = self.service(*STRICT, config={"socket_mode": "0666"})
        with as_user(NOBODY):
            nobody = self.connect(service)
        with as_user(4711):
            other = self.connect(service)
        self.alloc(nobody, 1000)
        self.alloc(other, 2000)
        self.alloc(other, 3000)
        text = self.no_room(nobody, SIZE)
        self.assertIn("; other users hold 5000 B; buffer 1 of client 1 (uid 65534) holds 1000 B", text)
        self.assertNotIn("4711", text)
        self.assertNotIn("client 2", text)
        text = self.no_room(self.connect(service), SIZE)
        self.assertIn("buffer 2 of client 2 (uid 4711) holds 3000 B", text)
        self.assertNotIn("other users", text)

    def test_quota(self):
        service = self.service(*STRICT, config={
            "socket_mode": "0666", "quotas": {"default": {"memory_percent": 25}, "4711": {"memory_percent": 75}}})
        with as_user(NOBODY):
            nobody, again = self.connect(service), self.connect(service)
        with as_user(4711):
            other = self.connect(service)
        self.alloc(nobody, SIZE // 4)
        fault = again.fault("buffer.alloc", {"size": 1, "memory": "vccm"})
        self.assertFault(fault, "LIMIT", "/memory")
        self.assertIn("quotas.memory_percent: ", fault.message)
        self.alloc(other, SIZE // 4 * 3)


if __name__ == "__main__":
    main()
