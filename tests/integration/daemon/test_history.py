# SPDX-License-Identifier: BSD-3-Clause
"""Tests the records of ended jobs: which records of which user are dropped, and which job a name means."""
from load import buffered
from service import Case, Memory, as_user, copy, main, needs_root
from wire import envelope

ALICE, BOB = 54321, 54322
STUCK = ("--engine", "fault:threads,stick=1")  # the first transfer ends when it is cancelled
HISTORY = 64


def flood(connection, count, window=256, **more):
    """Sends tiny starts, each after the reply to the previous start."""
    params, _memory = buffered(connection, 16, **more)
    number = connection.call("job.prepare", params)["prepared"]
    waiting = []
    for _ in range(count):
        waiting.append(connection.request("job.start", {"prepared": number}))
        if len(waiting) == window:
            connection.result(waiting.pop(0))
    for id in waiting:
        connection.result(id)


class Users(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service(config={"socket_mode": "0666", "limits": {"history": HISTORY}})

    def connect_as(self, uid):
        with as_user(uid):
            return self.connect(self.mlid)

    def detach(self, link):
        source, target = Memory(b"abcd"), Memory(size=4)
        return link.call("job.submit", copy(4, detach=True), [source.fd, target.fd])["job"]

    @needs_root
    def test_another_user_displaces_no_record(self):
        """The limit also applies if the user has disconnected and connects again."""
        with self.connect_as(ALICE) as alice:
            jobs = [self.detach(alice) for _ in range(HISTORY)]
            alice.call("job.wait", {"jobs": jobs})
        with self.connect_as(ALICE) as alice:
            kept = self.detach(alice)
        with self.connect_as(BOB) as bob:
            flood(bob, 20 * HISTORY)
        with self.connect_as(ALICE) as alice:
            self.assertEqual(alice.call("job.wait", {"job": kept})["job"], kept)
            for job in jobs[1:]:
                self.assertEqual(alice.call("job.status", {"job": job})["state"], "done")

    @needs_root
    def test_many_users_displace_no_record(self):
        """Uses more users than the 64 whose counters the service keeps, each with more jobs than the history holds."""
        with self.connect_as(ALICE) as alice:
            kept = self.detach(alice)
        for uid in range(60000, 60080):
            with self.connect_as(uid) as link:
                flood(link, 2 * HISTORY)
        with self.connect_as(ALICE) as alice:
            self.assertEqual(alice.call("job.wait", {"job": kept})["job"], kept)

    def test_own_jobs(self):
        """The record of a detached job that no client has waited for is kept longer than the records of jobs whose
        clients got a reply."""
        with self.connect(self.mlid) as link:
            kept, waited = self.detach(link), self.detach(link)
            link.call("job.wait", {"job": waited})
            flood(link, 4 * HISTORY)
            self.assertFault(link.fault("job.wait", {"job": waited}), "NOT_FOUND", "/job")
            self.assertEqual(link.call("job.wait", {"job": kept})["job"], kept)
            flood(link, 4 * HISTORY)
            self.assertFault(link.fault("job.wait", {"job": kept}), "NOT_FOUND", "/job")


class Refused(Case):
    """Refuses a job "load" after an earlier job "load": then the name must not refer to the
    earlier job."""

    WAYS = {
        "argument": (dict(cfg={"offset": [9]}), 2),
        "channels": (dict(channels=16), 2),
        "unknown": (dict(chanels=1), 2),
        "priority": (dict(priority=7), 2),
        "type": (dict(type="fx9"), 2),
        "spare": ({}, 3),
        "few": ({}, 1),
        "large": (dict(size=5), 2),
        "buffer": (dict(src={"buffer": 9}), 1),
        "after": (dict(after=["nobody"]), 2),
    }

    def setUp(self):
        super().setUp()
        self.mlid = self.service()
        self.link = self.connect(self.mlid)
        self.source, self.target = Memory(b"abcd"), Memory(size=4)

    def send(self, size=4, fds=2, **more):
        given = [self.source.fd, self.target.fd, self.source.fd][:fds]
        return self.link.request("job.submit", copy(size, **more), given)

    def load(self):
        return self.link.result(self.send(name="load"))["job"]

    def store(self, id):
        fault = self.link.error(id)
        self.assertFault(fault, "PREDECESSOR_FAILED", "/after/0")
        return fault

    def test_each_kind_of_refusal(self):
        for way, (more, fds) in self.WAYS.items():
            with self.subTest(way=way):
                self.load()
                fault = self.link.error(self.send(fds=fds, name="load", **more))
                self.assertRegex(self.store(self.send(after=["load"])).message,
                                 r"after\[0\]: job \d+ \(load\) was refused")
                printed = self.link.call("job.status", {"job": "load"})
                self.assertEqual((printed["state"], printed["error"]["data"]["name"]),
                                 ("failed", fault.name))

    def test_at_once(self):
        """All requests of a graph are sent in one write, without waiting for replies."""
        lines = [copy(4, name="load"), copy(4, name="load", channels=16),
                 copy(4, name="store", after=["load"]), copy(4, after=["store"]),
                 copy(4, name="load"), copy(4, after=["load"])]
        fds = [self.source.fd, self.target.fd]
        for id, params in enumerate(lines):
            self.link.send(envelope("job.submit", params, id, 2), fds)
        self.link.result(0)
        self.assertFault(self.link.error(1), "LIMIT", "/channels")
        self.store(2)
        self.store(3)
        self.link.result(4)
        self.link.result(5)

    def test_bad_envelopes(self):
        for more in ({"extra": 1}, {"jsonrpc": "1.0"}, {"id": True}):
            with self.subTest(more=more):
                self.load()
                line = envelope("job.submit", copy(4, name="load"), 99, 2)[:-1]
                for key, value in more.items():
                    line = line.replace(b'"%s":"2.0",' % key.encode(), b"")
                    line = line.replace(b'"%s":99,' % key.encode(), b"")
                    line += b',"%s":%s' % (key.encode(), str(value).lower().encode()
                                           if not isinstance(value, str)
                                           else b'"%s"' % value.encode())
                self.link.strict_ids = False
                self.link.send(line + b"}", [self.source.fd, self.target.fd])
                self.link.ping()
                self.store(self.send(after=["load"]))

    def test_two_names(self):
        self.load()
        self.link.result(self.send(name="other"))
        line = envelope("job.submit", copy(4, name="other"), 99, 2)
        self.link.send(line.replace(b'"name":', b'"name":"load","name":'),
                       [self.source.fd, self.target.fd])
        self.assertFault(self.link.error(99), "INVALID_PARAMS", "/name")
        self.store(self.send(after=["load"]))
        self.assertFault(self.link.error(self.send(after=["other"])), "NOT_FOUND", "/after/0")

    def test_starts(self):
        """A start of a prepared job has the prepared job's name."""
        params, memory = buffered(self.link, 4, name="load")
        number = self.link.call("job.prepare", params)["prepared"]
        for more in ({"priority": 9}, {"after": ["nobody"]}, {"src": {"buffer": 9}}, {"x": 1}):
            with self.subTest(more=more):
                self.link.call("job.start", {"prepared": number})
                self.link.fault("job.start", {"prepared": number, **more})
                self.store(self.link.request("job.start", {"prepared": number, "after": ["load"]}))
        self.link.call("job.start", {"prepared": number})
        self.link.fault("job.start", {"prepared": number}, [memory.fd])
        self.store(self.send(after=["load"]))

    def test_while_drained(self):
        self.load()
        self.link.call("daemon.drain")
        self.assertFault(self.link.error(self.send(name="load")), "SHUTTING_DOWN")
        self.link.call("daemon.resume")
        self.store(self.send(after=["load"]))

    def test_refused_jobs_for_others(self):
        """A refused job counts as failed: job.wait accepts it, and job.list lists it."""
        refused = self.link.error(self.send(name="load", channels=16))
        self.assertEqual(self.link.fault("job.wait", {"job": "load"}).message, refused.message)
        job, = self.link.call("job.list", {"states": ["failed"]})["jobs"]
        self.assertEqual((job["name"], job["bytes"], job["state"]), ("load", 0, "failed"))
        self.link.error(self.send(channels=16))  # without a name: of no interest to anybody
        self.assertEqual(len(self.link.call("job.list")["jobs"]), 1)
        self.assertEqual(self.load(), job["job"] + 1)

    def test_names_are_local_to_connections(self):
        with self.connect(self.mlid) as other:
            self.load()
            other.fault("job.submit", copy(4, name="load", channels=16),
                        [self.source.fd, self.target.fd])
        self.link.result(self.send(after=["load"]))

    def test_an_earlier_job_still_runs(self):
        """A job whose `after` names a refused job fails, even if the record of the refused job was dropped."""
        for history, name in ((HISTORY, "PREDECESSOR_FAILED"), (0, "NOT_FOUND")):
            with self.subTest(history=history):
                mlid = self.service(*STUCK, config={"limits": {"history": history}})
                self.link = self.connect(mlid)
                first = self.send(name="load")
                self.link.error(self.send(name="load", channels=16))
                self.assertFault(self.link.error(self.send(after=["load"])), name, "/after/0")
                self.link.call("job.cancel", {"job": 1})
                self.link.error(first)

    def test_a_forgotten_name_is_no_earlier_job(self):
        """The record of the latest job with a name is dropped while an earlier job with the same name still runs."""
        mlid = self.service(*STUCK, config={"limits": {"history": 8}})
        self.link = self.connect(mlid)
        first = self.send(name="load")
        self.link.error(self.send(name="load", channels=16))
        flood(self.link, 20)
        self.assertFault(self.link.error(self.send(after=["load"])), "NOT_FOUND", "/after/0")
        self.link.call("job.cancel", {"job": 1})
        self.link.error(first)


if __name__ == "__main__":
    main()
