# SPDX-License-Identifier: BSD-3-Clause
"""Tests the limits of one user: connections, unfinished jobs, and turns on the channels."""
from service import NOBODY, Case, Memory, as_user, copy, main, needs_root
from wire import Closed

CROWD, OTHER = NOBODY, 4711  # users
STUCK = ("--engine", "fault:threads,stick=1")  # the first transfer ends when it is cancelled


class Shares(Case):
    def connect_as(self, uid, service, **more):
        with as_user(uid):
            return self.connect(service, **more)


@needs_root
class Connections(Shares):
    def crowd(self, service, uid, most):
        """Opens idle connections of one user until the service refuses one."""
        links = []
        for _ in range(most):
            link = self.connect_as(uid, service, greet=False)
            link.need(lambda: link.notes or link.nameless, "a first line")
            if link.nameless:
                self.assertEqual(link.nameless[0].name, "LIMIT")
                return links
            links.append(link)
        self.fail(f"user {uid} holds {most} connections")

    def test_one_user_leaves_room_for_others(self):
        service = self.service(config={"socket_mode": "0666"})
        links = self.crowd(service, CROWD, 64)
        self.assertGreaterEqual(len(links), 32)
        self.connect_as(OTHER, service).ping()

    def test_later_users_get_their_shares(self):
        """Each user opens as many connections as possible: a user gets at most three times the number that remains
        free, and never the last free connection, which the next user gets."""
        service = self.service(config={"socket_mode": "0666"})
        held = [self.crowd(service, 7000 + i, 64) for i in range(4)]
        self.assertEqual([len(links) for links in held], [45, 11, 3, 1])

    def test_root_connects_when_all_are_taken(self):
        """Root can connect beyond its own quota, to inspect and to drain the service."""
        service = self.service(config={"socket_mode": "0666",
                                       "quotas": {"default": {"clients": 40}, "0": {"clients": 1}}})
        self.crowd(service, CROWD, 64)
        self.crowd(service, OTHER, 64)
        links = [self.connect(service) for _ in range(4)]
        users = {user["uid"]: user["clients"] for user in links[0].call("daemon.stats")["users"]}
        self.assertEqual(sum(users.values()), 64)
        self.assertEqual(users[CROWD] + users[OTHER], 60)
        self.assertEqual(links[-1].call("daemon.drain"), {"state": "drained"})
        with self.assertRaises(Closed):
            late = self.connect(service, greet=False)
            late.wait(lambda: False)


@needs_root
class Jobs(Shares):
    def test_one_user_cannot_fill_limits_jobs(self):
        """Four connections with 256 detached jobs each reach limits.jobs together."""
        service = self.service(*STUCK, config={"socket_mode": "0666", "channels": 1,
                                                "drain_ms": 50, "log_level": "error"}, exits=1)
        memory = Memory(size=64)
        job = copy([16], {"fd": 0}, {"fd": 0, "offset": 32}, detach=True)
        for _ in range(4):
            link = self.connect_as(CROWD, service)
            for _ in range(256):
                link.request("job.submit", job, [memory.fd])
        root = self.connect(service)

        def jobs():
            users = root.call("daemon.stats")["users"]
            return max(user["jobs"] for user in users if user["uid"] == CROWD)
        self.eventually(lambda: jobs() >= 512)
        other = self.connect_as(OTHER, service)
        for _ in range(100):
            self.assertEqual(other.call("job.submit", job, [memory.fd])["state"], "queued")
        self.assertLessEqual(jobs(), 768)
        memory.close()


@needs_root
class Turns(Shares):
    """Queues all jobs behind a job that is stuck on the only channel, cancels the stuck job, and records in which
    order the other jobs start."""
    SIZE = 4096

    def setUp(self):
        super().setUp()
        self.memory = Memory(size=2 * self.SIZE)

    def tearDown(self):
        self.memory.close()

    def start(self, **quotas):
        scheduling = {"quantum_bytes": self.SIZE, "ageing_ms": 0}
        self.mlid = self.service(*STUCK, config={
            "socket_mode": "0666", "channels": 1, "scheduling": scheduling, "quotas": quotas})
        self.root = self.connect(self.mlid)
        self.stuck = self.root.request("job.submit", self.job(), [self.memory.fd])
        self.root.call("events.subscribe", {"events": ["started"], "scope": "all"})

    def job(self, **more):
        return copy(self.SIZE, {"fd": 0}, {"fd": 0, "offset": self.SIZE}, **more)

    def queue(self, uid, connections, jobs, **more):
        for _ in range(connections):
            link = self.connect_as(uid, self.mlid)
            for _ in range(jobs):
                link.request("job.submit", self.job(**more), [self.memory.fd])
            link.ping()

    def starters(self, count):
        """Returns the users whose jobs start first, in order."""
        self.root.notes.clear()
        self.root.request("job.cancel", {"job": 1})
        self.root.need(lambda: len(self.root.notes) >= count, "the starts")
        return [note["params"]["job"]["uid"] for note in self.root.notes][:count]

    def test_a_flood_of_high_priority(self):
        self.start()
        self.queue(CROWD, 1, 200, priority=1)
        self.queue(OTHER, 1, 100)
        self.assertGreaterEqual(self.starters(150).count(OTHER), 70)

    def test_high_priority_that_is_allowed(self):
        self.start(default={"max_priority": 1})
        self.queue(OTHER, 1, 50)
        self.queue(CROWD, 1, 50, priority=1)
        self.assertEqual(self.starters(50).count(CROWD), 50)

    def test_high_priority_of_root(self):
        self.start()
        self.queue(OTHER, 1, 50)
        self.queue(0, 1, 50, priority=1)
        self.assertEqual(self.starters(50).count(0), 50)

    def test_own_jobs_of_high_priority(self):
        """A priority above the user's maximum still orders the user's own jobs."""
        self.start()
        link = self.connect_as(CROWD, self.mlid)
        slow = [link.request("job.submit", self.job(), [self.memory.fd]) for _ in range(20)]
        fast = link.request("job.submit", self.job(priority=1), [self.memory.fd])
        link.ping()
        self.starters(1)
        self.assertLess(link.reply(fast).serial, min(link.reply(id).serial for id in slow))

    def test_many_connections(self):
        self.start()
        self.queue(CROWD, 40, 5)
        self.queue(OTHER, 1, 100)
        self.assertGreaterEqual(self.starters(150).count(OTHER), 70)

    def test_weights(self):
        self.start(**{str(OTHER): {"weight": 3}})
        self.queue(CROWD, 1, 200)
        self.queue(OTHER, 4, 50)
        self.assertIn(self.starters(100).count(OTHER), range(70, 81))


@needs_root
class Wide(Shares):
    def test_a_wide_job_behind_a_transfer_of_its_own_user(self):
        """Other users get the free channels, whatever the sizes of their jobs."""
        size = 1 << 20
        service = self.service(*STUCK, config={"socket_mode": "0666", "channels": 4})
        memory = Memory(size=2 * size)
        crowd = self.connect_as(CROWD, service)
        other = self.connect_as(OTHER, service)
        stuck = crowd.request("job.submit", copy(4096, {"fd": 0}, {"fd": 0, "offset": size}),
                              [memory.fd])
        self.eventually(lambda: other.call("daemon.info")["jobs_running"] == 1)
        wide = crowd.request("job.submit", copy(4096, {"fd": 0}, {"fd": 0, "offset": size},
                                                channels=4), [memory.fd])
        self.eventually(lambda: other.call("daemon.info")["jobs_queued"] == 1)
        for _ in range(50):
            other.call("job.submit", copy(size, {"fd": 0}, {"fd": 0, "offset": size}), [memory.fd])
        crowd.request("job.cancel", {"job": 1})
        crowd.result(wide)
        memory.close()


if __name__ == "__main__":
    main()
