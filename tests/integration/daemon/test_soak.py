# SPDX-License-Identifier: BSD-3-Clause
"""Runs many jobs of every kind over connections that come and go. The oracle checks every result, and at the end the
service may hold nothing of the jobs. MLI_SOAK=1 MLI_TEST_SEED=7 runs a million jobs that can be repeated.
"""
import collections
import random
import select
import time

from oracle import Jobs, move
from service import SANITIZED, SEED, SOAK, Case, Memory, main

COUNT = 1000000 if SOAK else 20000
CLIENTS = 6
KILL_EVERY = 200  # jobs
GROWTH = (128 if SANITIZED else 4) << 20
SLOT = 1 << 14
SLOTS = 16


class Slots:
    """A buffer that is cut into slots, one slot for each running job."""

    def __init__(self, link):
        self.memory = Memory(size=SLOT * SLOTS)
        self.number = link.call("buffer.register", {"fd": 0}, [self.memory.fd])["buffer"]
        self.free = list(range(SLOTS))

    def place(self, params, data):
        """Puts the two tensors of a job into a slot; returns the initial bytes of the slot."""
        slot = self.free.pop()
        content = bytearray(data[0].ljust(SLOT // 2, b"\x55") + data[1].ljust(SLOT // 2, b"\xaa"))
        for side, base in (("src", 0), ("dst", SLOT // 2)):
            params[side]["buffer"] = self.number
            params[side]["offset"] = params[side].get("offset", 0) + base
        self.rewrite(slot, content)
        return slot, content

    def rewrite(self, slot, content):
        self.memory.put(slot * SLOT, content)


class Job:
    """A job that was sent and not answered yet, with its expected reply and destination."""

    def __init__(self, params, expected):
        self.params, self.expected = params, expected
        self.check = self.done = None


class Client:
    def __init__(self, case, mlid, pick):
        self.case, self.mlid, self.random = case, mlid, pick
        self.jobs = Jobs(pick.random())
        self.depth = pick.randint(1, 40)
        self.open()

    def open(self):
        self.link = self.mlid.connect()
        self.buffer = Slots(self.link)
        self.under_way = {}
        self.names = 0

    def kill(self):
        self.link.close()
        self.open()

    def more(self):
        """Sends jobs until `depth` of them are unfinished; returns how many it has sent."""
        sent = 0
        while len(self.under_way) < self.depth:
            kind = self.random.random()
            if kind < 0.15 and self.buffer.free:
                self.prepared()
            elif kind < 0.45 and self.buffer.free:
                self.in_buffer()
            elif kind < 0.55:
                self.chain()
            else:
                self.in_files()
            sent += 1
            if self.names and self.random.random() < 0.02:
                self.send("job.cancel", {"job": f"j{self.names}"}, None)
        return sent

    def send(self, method, params, job, fds=()):
        self.under_way[self.link.request(method, params, fds)] = job

    def options(self, params):
        """Returns members that change how a job runs, but not its result."""
        pick = self.random
        self.names += 1
        params["name"] = f"j{self.names}"
        params["priority"] = pick.choice((-1, 0, 0, 1))
        params["channels"] = pick.choice((1, 1, 1, 2, 4))
        if pick.random() < 0.02:
            params["timeout_ms"] = 1

    def new(self):
        params, needs = self.jobs.job()
        self.options(params)
        data = [self.random.randbytes(need) for need in needs]
        return params, needs, data

    def in_files(self):
        params, _, (source, old) = self.new()
        wanted = bytearray(old)
        job = Job(params, move(params, source, wanted))
        files = [Memory(source), Memory(old)]
        params["src"]["fd"], params["dst"]["fd"] = 0, 1
        job.check = lambda good: self.same(files[1].content, wanted if good else old, params)
        self.send("job.submit", params, job, [file.fd for file in files])
        return params, job, files[1], wanted

    def chain(self):
        """Sends a second job that copies the result of the first."""
        params, job, target, wanted = self.in_files()
        if not job.expected or not wanted:
            return
        copied = Memory(size=len(wanted))
        second = {"op": "mov", "src": {"fd": 0, "type": "fx8", "shape": [len(wanted)]},
                  "dst": {"fd": 1}, "after": [params["name"]]}
        follower = Job(second, move(second, bytes(wanted), bytearray(len(wanted))))
        follower.check = lambda good: self.same(
            copied.content, wanted if good else bytes(len(wanted)), second)
        self.send("job.submit", second, follower, [target.fd, copied.fd])

    def in_buffer(self):
        params, needs, data = self.new()
        if max(needs) > SLOT // 2:
            return
        slot, content = self.buffer.place(params, data)
        wanted = bytearray(content)
        job = Job(params, move(params, bytes(content), wanted))
        self.shift(params, slot)
        job.check = lambda good: self.same(self.buffer.memory.part(slot * SLOT, SLOT),
                                           wanted if good else content, params)
        job.done = lambda: self.buffer.free.append(slot)
        if self.random.random() < 0.3:
            self.detached(params, job)
        else:
            self.send("job.submit", params, job)

    def shift(self, params, slot):
        for side in ("src", "dst"):
            params[side]["offset"] += slot * SLOT

    def detached(self, params, job):
        """Sends a detached job and waits for that job by its number."""
        id = self.link.request("job.submit", {**params, "detach": True})
        answer = self.link.reply(id)
        if answer.name:
            self.ended(job, answer)
            return
        self.send("job.wait", {"job": answer["result"]["job"]}, job)

    def prepared(self):
        """Prepares a job, starts it a few times on other data in the same place, and releases it."""
        params, needs, data = self.new()
        params.pop("timeout_ms", None)
        if max(needs) > SLOT // 2:
            return
        slot, content = self.buffer.place(params, data)
        wanted = bytearray(content)
        expected = move(params, bytes(content), wanted)
        self.shift(params, slot)
        answer = self.link.reply(self.link.request("job.prepare", params))
        if not expected:
            self.case.assertEqual(answer.name, "REFUSED", params)
            self.buffer.free.append(slot)
            return
        result = answer["result"]
        self.case.assertEqual((result["dst"], result["bytes"]), expected, params)
        job = Job(params, (None, expected[1]))
        left = self.random.randint(1, 3)

        def check(good):
            held = self.buffer.memory.part(slot * SLOT, SLOT)
            self.same(held, wanted if good else content, params)

        def done():
            nonlocal left
            left -= 1
            if left and not self.link.eof:
                self.buffer.rewrite(slot, content)
                self.send("job.start", {"prepared": result["prepared"]}, job)
            else:
                self.send("job.release", {"prepared": result["prepared"]}, None)
                self.buffer.free.append(slot)
        job.check, job.done = check, done
        self.send("job.start", {"prepared": result["prepared"]}, job)

    def same(self, held, wanted, params):
        if held != bytes(wanted):
            at = next(i for i, (a, b) in enumerate(zip(held, wanted)) if a != b)
            self.case.fail(f"byte {at} is {held[at]:#x}, not {wanted[at]:#x}: {params}")

    def take(self):
        """Checks all replies that have arrived."""
        self.link.drained()
        replies, self.link.replies = self.link.replies, {}
        for id, message in replies.items():
            job = self.under_way.pop(id)
            if job:
                self.ended(job, message)
            elif message.name:
                self.case.assertEqual(message.name, "NOT_FOUND", message)

    def ended(self, job, message):
        self.case.fates[message.name] += 1
        if message.name is None:
            self.case.assertTrue(job.expected, f"{job.params} was done: {message}")
            dst, size = job.expected
            self.case.assertEqual(message["result"].get("dst"), dst, job.params)
            self.case.assertEqual(message["result"]["cost"]["bytes"], size, job.params)
            job.check(True)
        elif message.name == "REFUSED":
            self.case.assertIsNone(job.expected, f"{job.params}: {message}")
            job.check(False)
        else:
            self.case.assertIn(message.name, ("CANCELLED", "TIMED_OUT", "PREDECESSOR_FAILED"),
                               f"{job.params}: {message}")
        # The transfer of a job that timed out may still write for a moment, so its slot is not used again.
        if job.done and message.name != "TIMED_OUT":
            job.done()


class Soak(Case):
    def run_jobs(self, count):
        """Sends `count` jobs and kills a client now and then."""
        sent, kills = 0, 0
        while sent < count:
            ready = select.select([client.link.sock for client in self.clients], [], [], 1)[0]
            for client in self.clients:
                if client.link.sock in ready or not client.under_way:
                    client.take()
                    sent += client.more()
            if sent > (kills + 1) * KILL_EVERY:
                self.random.choice(self.clients).kill()
                kills += 1
        return kills

    def rest(self):
        """Waits for the end of all jobs; returns the objects that the service still holds."""
        for client in self.clients:
            while client.under_way:
                client.link.need(lambda client=client: client.link.replies, "an answer")
                client.take()
        self.eventually(lambda: self.watcher.call("daemon.info")["jobs_running"] == 0)
        self.watcher.ping()
        self.eventually(lambda: self.mlid.mapped() == CLIENTS, "tensors are still mapped")
        return self.mlid.fds_at_rest(), self.mlid.memory()

    def test_soak(self):
        print(f"\n  MLI_TEST_SEED={SEED}", end=" ", flush=True)
        self.random = random.Random(SEED)
        self.fates = collections.Counter()
        # Transfers are late and out of order, so that some jobs can be cancelled or time out.
        self.mlid = self.service("--engine", "fault:threads,delay_us=400,reorder_pct=20")
        self.watcher = self.connect(self.mlid)
        self.clients = [Client(self, self.mlid, random.Random(self.random.random()))
                        for _ in range(CLIENTS)]
        begin = time.monotonic()
        kills = self.run_jobs(COUNT // 4)
        before = self.rest()
        kills += self.run_jobs(COUNT - COUNT // 4)
        after = self.rest()
        seconds = time.monotonic() - begin
        grown = after[1] - before[1]
        print(f"{COUNT} jobs in {seconds:.1f} s, {kills} clients killed, {dict(self.fates)}; "
              f"{before[1] >> 10} KiB then, {grown >> 10} KiB grown")
        self.assertEqual(after[0], before[0], "descriptors")
        self.assertLess(grown, GROWTH)
        jobs = self.watcher.call("daemon.stats")["jobs"]
        self.assertEqual(jobs["submitted"], jobs["done"] + jobs["failed"] + jobs["cancelled"])
        self.assertGreater(self.fates[None], COUNT // 2)
        for client in self.clients:
            client.link.close()
        self.eventually(lambda: self.mlid.mapped() == 0, "tensors are still mapped")


if __name__ == "__main__":
    main()
