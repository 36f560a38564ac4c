# SPDX-License-Identifier: BSD-3-Clause
"""Tests the life of jobs and clients: cancelled, late, detached and drained jobs, and clients that leave."""
import resource
import socket
import time

from service import NOBODY, Case, Memory, as_user, copy, main, needs_root
from wire import Fault, envelope

STUCK = ("--engine", "fault:threads,stick=1")  # the first transfer ends when it is cancelled
OLD = b"\xee" * 6
NEW = b"012345"


class Stuck(Case):
    """The first job gets stuck on the only channel; later jobs wait."""

    def setUp(self):
        super().setUp()
        self.mlid = self.service(*STUCK, config={"channels": 1})
        self.link, self.other = self.connect(self.mlid), self.connect(self.mlid)
        self.source = Memory(NEW)
        self.targets = []

    def submit(self, **more):
        """Submits a job and appends its target to self.targets. Returns the id of the reply."""
        self.targets.append(Memory(OLD))
        return self.link.request("job.submit", copy(6, **more),
                                 [self.source.fd, self.targets[-1].fd])

    def cancel(self, link, job):
        """Cancels a job; returns the state that the reply reports."""
        answer = link.call("job.cancel", {"job": job})
        self.assertEqual(answer.keys(), {"job", "state"})
        return answer["state"]

    def idle(self):
        stats = self.other.call("daemon.stats")
        jobs = stats["jobs"]
        return (jobs["running"], jobs["waiting"], jobs["queued"]) == (0, 0, [0, 0, 0]) and all(
            channel["state"] == "idle" for channel in stats["channels"])


class Cancel(Stuck):
    def test_queued(self):
        running, queued = self.submit(), self.submit()
        self.link.ping()
        self.assertEqual(self.cancel(self.other, 2), "cancelled")
        self.assertFault(self.link.error(queued), "CANCELLED")
        self.assertEqual(self.targets[1].content, OLD)
        self.assertEqual(self.other.call("job.status", {"job": 1})["state"], "running")
        self.other.call("job.cancel", {"job": 1})
        self.assertFault(self.link.error(running), "CANCELLED")
        self.eventually(self.idle)

    def test_waiting(self):
        self.submit(name="first")
        waiting = self.submit(after=["first"])
        last = self.submit(after=[2])
        self.link.ping()
        self.assertEqual(self.other.call("job.status", {"job": 2})["state"], "waiting")
        self.assertEqual(self.other.call("job.cancel", {"job": 2})["state"], "cancelled")
        self.assertFault(self.link.error(waiting), "CANCELLED")
        self.assertFault(self.link.error(last), "PREDECESSOR_FAILED", "/after/0")
        self.assertEqual([target.content for target in self.targets[1:]], [OLD, OLD])

    def test_running_by_name(self):
        """A name means the latest job with this name on the same connection."""
        first, second = self.submit(name="twin"), self.submit(name="twin")
        self.link.ping()
        self.assertFault(self.other.fault("job.cancel", {"job": "twin"}), "NOT_FOUND", "/job")
        self.assertEqual(self.link.call("job.cancel", {"job": "twin"}),
                         {"job": 2, "state": "cancelled"})
        self.assertFault(self.link.error(second), "CANCELLED")
        self.assertNotIn(first, self.link.drained().replies)
        self.assertIn(self.link.call("job.cancel", {"job": 1})["state"], ("running", "cancelled"))
        self.assertFault(self.link.error(first), "CANCELLED")
        self.eventually(self.idle)

    def test_ended(self):
        running, queued = self.submit(), self.submit()
        self.other.ping()
        self.link.ping()
        self.other.call("job.cancel", {"job": 1})
        self.link.error(running)
        self.link.result(queued)
        self.assertEqual(self.targets[1].content, NEW)
        self.assertEqual(self.other.call("job.cancel", {"job": 2}), {"job": 2, "state": "done"})
        self.assertEqual(self.cancel(self.other, 1), "cancelled")
        status = self.other.call("job.status", {"job": 1})
        self.assertEqual(status["state"], "cancelled")
        self.assertFault(Fault(status["error"]), "CANCELLED")

    def test_no_such_job(self):
        for job in (1, 10**12, "nobody", "a" * 128):
            self.assertFault(self.other.fault("job.cancel", {"job": job}), "NOT_FOUND", "/job")

    @needs_root
    def test_another_user(self):
        """A client of another user cannot see our jobs and may not drain the service."""
        mlid = self.service(*STUCK, config={"socket_mode": "0666"})
        ours = self.connect(mlid)
        target = Memory(OLD)
        id = ours.request("job.submit", copy(6), [self.source.fd, target.fd])
        ours.ping()
        with as_user(NOBODY):
            theirs = self.connect(mlid)
        for method in ("job.cancel", "job.status", "job.wait"):
            self.assertFault(theirs.fault(method, {"job": 1}), "NOT_FOUND", "/job")
        self.assertEqual(theirs.call("job.list")["jobs"], [])
        for method in ("daemon.drain", "daemon.resume"):
            self.assertFault(theirs.fault(method), "FORBIDDEN")
        self.assertFault(theirs.fault("events.subscribe", {"scope": "all"}), "FORBIDDEN")
        self.assertEqual(len(ours.call("job.list")["jobs"]), 1)
        ours.call("job.cancel", {"job": 1})
        ours.error(id)


class Deadline(Stuck):
    def late(self, begin, id, least, words):
        """Expects that the job ends by its deadline, more than `least` seconds after `begin`, a
        time before the job was submitted."""
        fault = self.link.error(id)
        self.assertFault(fault, "TIMED_OUT", "/timeout_ms")
        self.assertIn(words, fault.message)
        self.assertGreater(time.monotonic() - begin, least)

    def test_running(self):
        self.late(time.monotonic(), self.submit(timeout_ms=60), 0.04, "60 ms")
        self.eventually(self.idle)
        self.link.result(self.submit())

    def test_queued_and_waiting(self):
        self.submit(name="first")
        begin = time.monotonic()
        queued, waiting = self.submit(timeout_ms=60), self.submit(timeout_ms=30, after=["first"])
        self.late(begin, waiting, 0.02, "30 ms")
        self.late(begin, queued, 0.04, "60 ms")
        self.assertEqual([target.content for target in self.targets[1:]], [OLD, OLD])
        self.assertEqual(self.link.call("job.status", {"job": 2})["error"]["data"]["name"],
                         "TIMED_OUT")

    def test_in_time(self):
        """A deadline that is not reached has no effect, neither before the job ends nor later."""
        self.submit(timeout_ms=20)
        ids = [self.submit(timeout_ms=30000) for _ in range(20)]
        for id in ids:
            self.link.result(id)
        self.assertEqual({target.content for target in self.targets[1:]}, {NEW})

    def test_wait(self):
        """If job.wait times out, the job continues unchanged, even after many such calls."""
        running = self.submit()
        for params in ({"job": 1}, {"jobs": [1]}, {"all": True}):
            fault = self.link.fault("job.wait", {**params, "timeout_ms": 20})
            self.assertFault(fault, "TIMED_OUT", "/timeout_ms")
        waits = [self.link.request("job.wait", {"job": 1}) for _ in range(64)]
        self.assertFault(self.link.fault("job.wait", {"job": 1}), "LIMIT")
        self.link.call("job.cancel", {"job": 1})
        for id in (running, *waits):
            self.assertFault(self.link.error(id), "CANCELLED")
        self.assertFault(self.link.fault("job.wait", {"job": 1}), "CANCELLED")


class Drain(Stuck):
    def test_drain_and_resume(self):
        """Jobs that were admitted finish, even those that wait for others; new jobs are refused."""
        running = self.submit(name="first", timeout_ms=60000)
        queued, waiting = self.submit(name="second"), self.submit(after=["second"])
        self.link.ping()
        drain = self.other.request("daemon.drain")
        self.other.ping()
        self.assertEqual(self.other.call("daemon.drain", {"wait": False}), {"state": "draining"})
        self.assertEqual(self.other.call("daemon.info")["state"], "draining")
        self.assertFault(self.link.error(self.submit()), "SHUTTING_DOWN")
        self.assertEqual(self.targets[3].content, OLD)
        self.assertNotIn(drain, self.other.drained().replies)
        self.link.call("job.cancel", {"job": 1})
        self.assertFault(self.link.error(running), "CANCELLED")
        for id in (queued, waiting):
            self.link.result(id)
        self.assertEqual(self.other.result(drain), {"state": "drained"})
        self.assertEqual(self.link.call("daemon.info")["state"], "drained")
        self.assertEqual(self.link.call("daemon.resume"), {"state": "serving"})
        self.assertEqual(self.link.call("daemon.resume"), {"state": "serving"})
        self.link.result(self.submit())

    def test_prepared_and_buffers(self):
        """Each start of a prepared job counts toward the limit of jobs; buffers do not."""
        memory = Memory(NEW + OLD)
        self.link.call("buffer.register", {"fd": 0}, [memory.fd])
        self.link.call("job.prepare", copy(6, {"buffer": 1}, {"buffer": 1, "offset": 6}))
        self.other.call("daemon.drain")
        self.assertFault(self.link.fault("job.start", {"prepared": 1}), "SHUTTING_DOWN")
        self.link.call("buffer.alloc", {"size": 10})
        self.assertEqual(memory.content, NEW + OLD)
        self.other.call("daemon.resume")
        # The first transfer gets stuck.
        late = self.link.fault("job.start", {"prepared": 1, "timeout_ms": 20})
        self.assertFault(late, "TIMED_OUT")
        self.link.call("job.start", {"prepared": 1})
        self.assertEqual(memory.content, NEW + NEW)


class Detached(Stuck):
    def test_outlives_its_connection(self):
        first = self.submit(detach=True, name="first")
        second = self.submit(detach=True, after=["first"])
        third = self.submit(detach=True)
        self.assertEqual([self.link.result(id)["job"] for id in (first, second, third)], [1, 2, 3])
        waits = [self.other.request("job.wait", {"job": job}) for job in (1, 2, 3)]
        self.other.ping()
        self.link.close()
        self.eventually(lambda: self.other.call("daemon.info")["clients"] == 1)
        self.assertEqual(self.other.call("job.status", {"job": 3})["detached"], True)
        self.assertEqual(self.targets[2].content, OLD)
        self.other.call("job.cancel", {"job": 1})
        self.assertFault(self.other.error(waits[0]), "CANCELLED")
        self.assertFault(self.other.error(waits[1]), "PREDECESSOR_FAILED")
        self.assertEqual(self.other.result(waits[2])["dst"]["shape"], [6])
        self.assertEqual([target.content for target in self.targets[1:]], [OLD, NEW])
        several = self.other.fault("job.wait", {"jobs": [3, 2, 1]})
        self.assertFault(several, "PREDECESSOR_FAILED")
        self.assertEqual(several.data["job"], 2)

    def test_a_refused_job(self):
        """A job that the service refuses gets its reply at once and leaves no job."""
        fault = self.link.error(self.submit(detach=True, cfg={"offset": [6]}))
        self.assertFault(fault, "REFUSED", "/cfg/offset/0")

    def test_graph_and_wait_for_all(self):
        """Sends four named jobs that depend on each other as a diamond; the replies come in the order of the
        dependencies."""
        self.link.error(self.submit(timeout_ms=10))
        names = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}
        ids = [self.submit(name=name, after=after) for name, after in names.items()]
        answer = self.link.call("job.wait", {"all": True})
        self.assertLessEqual({one["state"] for one in answer["jobs"]}, {"done"})
        serial = [self.link.reply(id).serial for id in ids]
        self.assertTrue(serial[0] < serial[1] < serial[3] and serial[0] < serial[2] < serial[3])
        self.assertEqual(self.link.call("job.wait", {"jobs": ["d", "a"]}),
                         {"jobs": [{"job": 5, "state": "done"}, {"job": 2, "state": "done"}]})
        self.assertEqual(self.link.call("job.wait", {"all": True}), {"jobs": []})


class History(Case):
    def test_list(self):
        """Lists jobs in pages, the latest job first; the oldest records are dropped."""
        link = self.connect(self.service(config={"limits": {"history": 10}}))
        memory = Memory(size=12)
        link.call("buffer.register", {"fd": 0}, [memory.fd])
        params = copy(6, {"buffer": 1}, {"buffer": 1, "offset": 6})
        for number in range(1, 16):
            job = link.call("job.submit", {**params, "name": f"n{number % 2}"})["job"]
            self.assertEqual(job, number)
        for job in (5, 1):
            self.assertFault(link.fault("job.status", {"job": job}), "NOT_FOUND", "/job")
        page = link.call("job.list", {"limit": 4})
        self.assertEqual(([job["job"] for job in page["jobs"]], page["more"]),
                         ([15, 14, 13, 12], True))
        page = link.call("job.list", {"limit": 6, "before": 12})
        self.assertEqual(([job["job"] for job in page["jobs"]], page["more"]),
                         ([11, 10, 9, 8, 7, 6], False))
        named = link.call("job.list", {"name": "n0", "states": ["done"]})["jobs"]
        self.assertEqual([job["job"] for job in named], [14, 12, 10, 8, 6])
        self.assertEqual(link.call("job.list", {"states": ["failed"]})["jobs"], [])
        self.assertEqual(link.call("job.list", {"client": 77})["jobs"], [])
        self.assertEqual(link.call("job.status", {"job": "n1"})["job"], 15)


class Clients(Case):
    ALIKE = 7

    def visit(self, mlid, number):
        """Returns a connected client of a random kind, well-behaved or not."""
        kind = number % self.ALIKE
        link = mlid.connect(greet=kind != 0)
        if kind == 1:
            link.request("daemon.ping")
        elif kind == 2:
            link.send_raw(b'{"jsonrpc":"2.0","id":1,"met')
        elif kind == 3:
            link.request("job.submit", copy(6), [self.source.fd, self.target.fd])
        elif kind == 4:
            link.send_raw(b'{"jsonrpc":"2.0","id":1,"fds":2,', [self.source.fd, self.target.fd])
        elif kind == 5:
            link.request("buffer.register", {"fd": 0}, [self.target.fd])
            link.request("job.prepare", copy(3, {"buffer": 1}, {"buffer": 1, "offset": 3}))
            link.request("job.start", {"prepared": 1})
        elif kind == 6:
            link.result(link.request("job.submit", copy(6), [self.source.fd, self.target.fd]))
            link.sock.shutdown(socket.SHUT_WR)
        return link

    def test_a_thousand(self):
        self.source, self.target = Memory(NEW), Memory(OLD)
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
        wave = min(250, hard // 4)
        mlid = self.service(config={"limits": {"clients": wave + 10},
                                    "quotas": {"default": {"clients": wave + 10}}})
        watcher = self.connect(mlid)
        for link in [self.visit(mlid, number) for number in range(2 * self.ALIKE)]:
            link.close()
        self.eventually(lambda: watcher.call("daemon.info")["clients"] == 1)
        before = mlid.fds()
        served = 0
        while served < 1000:
            links = [self.visit(mlid, served + number) for number in range(wave)]
            served += wave
            watcher.ping()
            for link in links:
                link.close()
        self.eventually(lambda: watcher.call("daemon.info")["clients"] == 1)
        self.eventually(lambda: mlid.fds() == before, f"{mlid.fds()} descriptors, {before} before")
        self.eventually(lambda: mlid.mapped() == 0, "tensors are still mapped")
        stats = watcher.call("daemon.stats")
        self.assertEqual((stats["buffers"], stats["prepared"]), ({"now": 0, "bytes": 0}, 0))
        self.assertEqual(stats["clients"]["accepted"], 1 + 2 * self.ALIKE + served)

    def test_one_too_many(self):
        mlid = self.service(config={"limits": {"clients": 4}})  # one for others
        links = [self.connect(mlid) for _ in range(3)]
        for _ in range(20):
            one_more = self.connect(mlid, greet=False)
            self.assertFault(one_more.nameless_error(), "LIMIT")
            self.assertTrue(one_more.ended())
        self.assertEqual(links[0].call("daemon.stats")["clients"],
                         {"now": 3, "accepted": 3, "turned_away": 20})
        links.pop().close()
        self.eventually(lambda: links[0].call("daemon.info")["clients"] == 2)
        self.connect(mlid).ping()

    def test_numbers(self):
        mlid = self.service()
        numbers = [self.connect(mlid).hello["params"]["client"] for _ in range(3)]
        self.assertEqual(numbers, [1, 2, 3])

    def test_half_closed(self):
        """All complete lines are answered, an incomplete last line is dropped, and then the service closes the
        connection."""
        mlid = self.service("--engine", "fault:threads,delay_us=50000")
        link = self.connect(mlid)
        source, targets = Memory(NEW), [Memory(OLD) for _ in range(20)]
        ids = [link.request("job.submit", copy(6), [source.fd, target.fd]) for target in targets]
        link.send_raw(envelope("daemon.ping", id="never"))
        link.sock.shutdown(socket.SHUT_WR)
        for id in ids:
            link.result(id)
        self.assertTrue(link.ended())
        self.assertEqual(link.replies, {})
        self.assertEqual({target.content for target in targets}, {NEW})

    def test_left_while_jobs_run(self):
        """If the client closes the connection, no reply is sent, and the service releases the channel and the memory.
        """
        mlid = self.service(*STUCK, config={"channels": 1})
        link, other = self.connect(mlid), self.connect(mlid)
        before = mlid.fds()
        source, target = Memory(NEW), Memory(OLD)
        for _ in range(30):
            link.request("job.submit", copy(6), [source.fd, target.fd])
        link.ping()
        link.close()
        self.eventually(lambda: mlid.fds() == before - 1 and mlid.mapped() == 0)
        other.call("job.submit", copy(6), [source.fd, target.fd])
        self.assertEqual(target.content, NEW)
        jobs = other.call("daemon.stats")["jobs"]
        self.assertEqual((jobs["submitted"], jobs["done"], jobs["running"]), (31, 1, 0))


class Events(Case):
    def test_scopes(self):
        mlid = self.service()
        link, user, quiet = (self.connect(mlid) for _ in range(3))
        user.call("events.subscribe", {"events": ["done"], "scope": "user"})
        quiet.call("events.subscribe", {"events": ["done"]})
        link.call("events.subscribe", {})
        source, target = Memory(NEW), Memory(OLD)
        link.call("job.submit", copy(6, name="seen"), [source.fd, target.fd])
        self.assertEqual([note["params"]["event"] for note in link.notes],
                         ["queued", "started", "done"])
        note = user.note()["params"]
        self.assertEqual((note["event"], note["job"]["name"], note["dropped"]), ("done", "seen", 0))
        self.assertEqual(link.call("events.subscribe", {"events": []}), {"events": []})
        link.notes.clear()
        link.call("job.submit", copy(6), [source.fd, target.fd])
        self.assertFalse(link.notes)
        quiet.ping()
        self.assertFalse(quiet.notes)


if __name__ == "__main__":
    main()
