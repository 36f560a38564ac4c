# SPDX-License-Identifier: BSD-3-Clause
"""Tests what users learn about each other, and what they can write to the log."""
import fcntl
import os

from service import NOBODY, Case, Memory, as_user, copy, main, needs_root
from wire import Fault

OTHER = NOBODY - 1
BAD = {"op": "mov", "src": {}, "dst": {}}


class Neighbours(Case):
    def setUp(self):
        super().setUp()
        self.mlid = self.service(config={"socket_mode": "0666"})

    def as_other(self, uid):
        self.connect(self.mlid)  # it listens
        with as_user(uid):
            return self.connect(self.mlid)

    @needs_root
    def test_stats(self):
        """Only root and mlid's own user see the rows of other users; all users see the totals."""
        root = self.connect(self.mlid)
        links = {uid: self.as_other(uid) for uid in (NOBODY, OTHER)}
        now = root.call("daemon.stats")["clients"]["now"]
        for uid, link in links.items():
            stats = link.call("daemon.stats")
            self.assertEqual([user["uid"] for user in stats["users"]], [uid])
            self.assertEqual([row["uid"] for row in stats["connections"]], [uid])
            self.assertEqual(stats["clients"]["now"], now)
        stats = root.call("daemon.stats")
        self.assertEqual({user["uid"] for user in stats["users"]}, {0, NOBODY, OTHER})
        self.assertEqual(len(stats["connections"]), now)

    def test_refusals_in_the_log(self):
        """Any number of refused requests causes only a few lines in the log, and one line with the number of omitted
        lines."""
        link = self.connect(self.mlid)
        for _ in range(500):
            link.fault("job.submit", BAD)
        self.assertLess(self.mlid.text().count("job refused"), 100)
        self.assertGreater(self.mlid.text().count("job refused"), 5)

    def test_connections_in_the_log(self):
        for _ in range(200):
            self.connect(self.mlid).close()
        self.eventually(lambda: self.mlid.text().count("client disconnected") >= 20)
        link = self.connect(self.mlid)
        link.call("daemon.ping")
        for event in ("client connected", "client disconnected"):
            self.assertLess(self.mlid.text().count(event), 100)

    def test_requests_in_the_log(self):
        """A line that is not a request is logged, and so is a request for an unknown method."""
        link = self.connect(self.mlid)
        for _ in range(100):
            link.fault("no.such.method")
        lines = [line for line in self.mlid.text().splitlines() if "request refused" in line]
        self.assertIn("error=\"METHOD_NOT_FOUND\"", lines[0])
        self.assertIn(f"uid={os.getuid()} ", lines[0])
        self.assertLess(len(lines), 100)

    @needs_root
    def test_refusals_of_others(self):
        """A flood of log lines from one user suppresses no line of another user."""
        flood, quiet = self.as_other(NOBODY), self.as_other(OTHER)
        for _ in range(500):
            flood.fault("job.submit", BAD)
        quiet.fault("job.submit", BAD)
        lines = [line for line in self.mlid.text().splitlines() if "job refused" in line]
        self.assertIn(f"uid={OTHER} ", lines[-1])


class Mappings(Case):
    def test_limit(self):
        """Requests beyond the limit are refused, and nothing is lost: released memory can be allocated again."""
        mlid = self.service(config={"limits": {"mappings": 8}})
        link, other = self.connect(mlid), self.connect(mlid)
        memory = [Memory(b"abcd") for _ in range(8)]
        # A user may have at most 5 of the 7 mappings; root and mlid's own user may also have the reserved mapping.
        for one in memory[:5]:
            link.call("buffer.register", {"fd": 0}, [one.fd])
        params, fds = copy(4), [memory[5].fd, memory[6].fd]
        fault = other.fault("job.submit", params, fds)
        self.assertFault(fault, "LIMIT", "/dst/fd")
        self.assertIn("limits.mappings", fault.message)
        self.eventually(lambda: mlid.mapped() == 5)  # the refused job's source is unmapped later
        link.call("buffer.alloc", {"size": 4096})
        self.assertFault(link.fault("buffer.alloc", {"size": 4096}), "LIMIT")
        self.assertFault(link.fault("buffer.register", {"fd": 0}, [memory[7].fd]), "LIMIT", "/fd")
        for number in (1, 2):
            link.call("buffer.release", {"buffer": number})
        self.eventually(lambda: mlid.mapped() == 4)
        for _ in range(20):
            other.call("job.submit", params, fds)

    @needs_root
    def test_shares(self):
        """Users who take as much memory as they can leave some for other users, and a reserve for root."""
        mlid = self.service(config={"socket_mode": "0666", "limits": {"mappings": 64}})
        self.connect(mlid)
        memory = [Memory(b"abcd") for _ in range(2)]
        taken = []
        for uid in range(NOBODY, NOBODY - 2, -1):
            with as_user(uid):
                link = self.connect(mlid)
            taken.append(0)
            with self.assertRaisesRegex(Fault, "limits.mappings"):
                while taken[-1] < 64:
                    link.call("buffer.register", {"fd": 0}, [memory[0].fd])
                    taken[-1] += 1
        self.assertGreater(taken[0], taken[1])
        for uid in (NOBODY - 2, 0):
            with as_user(uid):
                link = self.connect(mlid)
            link.call("job.submit", copy(4), [one.fd for one in memory])

    def test_sparse(self):
        mlid = self.service(config={"refuse_sparse": True})
        link = self.connect(mlid)
        source, sparse, whole = Memory(b"abcd"), Memory(size=8192), Memory(bytes(8192))
        fault = link.fault("job.submit", copy(4), [source.fd, sparse.fd])
        self.assertFault(fault, "BAD_DESCRIPTOR", "/dst/fd")
        self.assertIn("0 of 8192 B", fault.message)
        link.call("job.submit", copy(4), [source.fd, whole.fd])
        self.assertEqual(whole.part(0, 4), b"abcd")
        link.call("buffer.alloc", {"size": 1 << 20})

    def test_memory_only(self):
        """Files on a disk are refused; if /var/tmp is in memory, its files are accepted."""
        link = self.connect(self.service(config={"memory_only": True}))
        source, target = Memory(b"abcd"), Memory(size=4)
        disk = Memory(b"abcd", fd=os.open("/var/tmp", os.O_TMPFILE | os.O_RDWR))
        link.call("job.submit", copy(4), [source.fd, target.fd])
        try:
            fcntl.fcntl(disk.fd, fcntl.F_GET_SEALS)
            self.skipTest("/var/tmp is in memory")
        except OSError:
            pass
        self.assertFault(link.fault("job.submit", copy(4), [source.fd, disk.fd]),
                         "BAD_DESCRIPTOR", "/dst/fd")
        self.assertFault(link.fault("buffer.register", {"fd": 0}, [disk.fd]), "BAD_DESCRIPTOR",
                         "/fd")


if __name__ == "__main__":
    main()
