# SPDX-License-Identifier: BSD-3-Clause
"""Tests that one connection does not delay another: mlid handles long requests in slices, and the cost of
daemon.stats does not grow with the number of jobs."""
import json
import pathlib
import signal
import time

from load import buffered
from service import SLOW, Case, copy, main
from wire import envelope

KIB, MIB = 1 << 10, 1 << 20
ATTEMPTS = 50


class Turns(Case):
    def overtaken(self, link, other, method, params, count):
        """Returns whether, in one of several attempts, another connection's ping is answered between the first and the
        last reply to requests that were all sent in one write."""
        for attempt in range(ATTEMPTS):
            ids = [1000 * (attempt + 1) + i for i in range(count)]
            link.send_raw(b"".join(envelope(method, params, id, 0) + b"\n" for id in ids))
            while ids[-1] not in link.replies:
                other.ping()
                link.drained()
                if ids[0] in link.replies and ids[-1] not in link.replies:
                    return True
            for id in ids:
                link.reply(id)
        return False

    def test_many_requests_at_once(self):
        """The jobs of one write keep the loop's thread busy for 30 ms."""
        mlid = self.service("--engine", f"threads:tiny={MIB}",
                            config={"limits": {"jobs_per_client": 1024}})
        link, other = self.connect(mlid), self.connect(mlid)
        params, memory = buffered(link, MIB)
        number = link.call("job.prepare", params)["prepared"]
        self.assertTrue(self.overtaken(link, other, "job.start", {"prepared": number}, 300))
        del memory

    def fill(self, link, count):
        """Runs jobs that succeed, so that `count` records remain."""
        params, memory = buffered(link, 16)
        number = link.call("job.prepare", params)["prepared"]
        line = envelope("job.start", {"prepared": number}, 7, 0) + b"\n"
        link.strict_ids = False
        before = link.arrived
        sent = 0
        while sent < count:
            link.send_raw(line * min(500, count - sent))
            sent += min(500, count - sent)
            link.need(lambda: link.arrived >= before + sent, "replies")
        link.replies.clear()
        link.strict_ids = True
        del memory

    def test_a_list_without_a_match(self):
        """A listing scans 65536 jobs, and other clients are served meanwhile."""
        mlid = self.service(config={"limits": {"history": 65536}})
        link, other = self.connect(mlid), self.connect(mlid)
        self.fill(link, 65536)

        self.assertTrue(self.overtaken(link, other, "job.list", {"states": ["failed"]}, 20))
        link.strict_ids = False
        id = link.request("job.list", {"states": ["cancelled"]}, id=1)
        ping = link.request("daemon.ping", id=2)
        self.assertEqual(link.result(id), {"jobs": [], "more": False})
        link.result(ping)  # a request behind a list waits for it, and comes

    def test_pages(self):
        """All jobs are listed, in order, although jobs begin and end between the pages."""
        mlid = self.service(config={"limits": {"history": 65536}})
        link, other = self.connect(mlid), self.connect(mlid)
        self.fill(link, 5000)
        seen, before = [], {}
        while True:
            page = other.call("job.list", {"limit": 1000, "states": ["done"], **before})
            seen += [job["job"] for job in page["jobs"]]
            if not page["more"]:
                break
            before = {"before": seen[-1]}
            self.fill(link, 10)
        self.assertEqual(seen, list(range(5000, 0, -1)))

    def test_a_client_that_leaves_amid_a_list(self):
        mlid = self.service(config={"limits": {"history": 65536}})
        other = self.connect(mlid)
        self.fill(other, 20000)
        for _ in range(20):
            with self.connect(mlid) as link:
                for _ in range(20):
                    link.request("job.list", {"states": ["failed"]})
        other.ping()

    def queue(self, link, count):
        """Submits a job that gets stuck, and `count` jobs that wait for it."""
        params, memory = buffered(link, 64 * KIB)
        number = link.call("job.prepare", params)["prepared"]
        link.request("job.start", {"prepared": number, "detach": True}, id=1)
        job = link.result(1)["job"]
        line = envelope("job.start", {"prepared": number, "after": [job]}, 0, 0)
        for begin in range(0, count, 500):
            link.send_raw(b"".join(line.replace(b'"id":0', b'"id":%d' % (begin + i + 2)) + b"\n"
                                   for i in range(500)))
        link.ping()
        del memory
        return job

    def test_a_client_that_leaves_many_jobs(self):
        """When a client leaves, its jobs are dropped in slices: meanwhile other clients see that a part of the jobs is
        gone."""
        config = {"limits": {"jobs": 16384, "jobs_per_client": 16384}}
        for _ in range(20):
            mlid = self.service("--engine", "fault:threads,stick=1", config=config)
            other = self.connect(mlid)
            with self.connect(mlid) as link:
                job = self.queue(link, 10000)
                self.assertEqual(other.call("daemon.info")["jobs_queued"], 10000)
            seen = set()
            while 0 not in seen:
                seen.add(other.call("daemon.info")["jobs_queued"])
            # The client's buffers and prepared jobs are released after its jobs.
            self.eventually(lambda: other.call("daemon.info")["clients"] == 1)
            other.call("job.cancel", {"job": job})
            if len(seen - {0, 10000}) > 0:
                return
        self.fail("all jobs were dropped at once")

    def test_a_client_that_leaves_many_prepared_jobs(self):
        """Prepared jobs and buffers are released in slices: meanwhile other clients see that a part of them is gone.
        """
        config = {"limits": {"prepared_per_client": 16384, "buffers_per_client": 4096}}
        mlid = self.service(config=config)
        other = self.connect(mlid)
        for _ in range(20):
            with self.connect(mlid) as link:
                params, memory = buffered(link, 16)
                line = envelope("job.prepare", params, 7, 0) + b"\n"
                link.strict_ids = False
                for _ in range(20):
                    before = link.arrived
                    link.send_raw(line * 500)
                    link.need(lambda: link.arrived >= before + 500, "replies")
                self.assertEqual(other.call("daemon.stats")["prepared"], 10000)
            seen = set()
            while 0 not in seen:
                seen.add(other.call("daemon.stats")["prepared"])
            self.eventually(lambda: other.call("daemon.info")["clients"] == 1)
            self.assertEqual(other.call("daemon.stats")["buffers"], {"now": 0, "bytes": 0})
            del memory
            if len(seen - {0, 10000}) > 1:
                return
        self.fail("all prepared jobs were released at once")

    def test_a_shorter_history(self):
        """After a reload with a lower limit, the records beyond the limit are dropped, the oldest first."""
        config = {"limits": {"history": 65536}}
        mlid = self.service(config=config)
        link, other = self.connect(mlid), self.connect(mlid)
        self.fill(link, 20000)
        config["limits"]["history"] = 10
        pathlib.Path(mlid.socket).with_name("mlid.json").write_text(json.dumps(config))
        mlid.process.send_signal(signal.SIGHUP)

        def known(job):
            id = other.request("job.status", {"job": job})
            return "result" in other.reply(id)

        self.eventually(lambda: not known(19990))
        self.assertTrue(all(known(job) for job in range(19991, 20001)))
        self.assertEqual(len(other.call("job.list")["jobs"]), 10)

    def cost_of_stats(self, mlid, link):
        """Returns the processor time of the loop's thread for a batch of requests in ns, the least of several
        measurements."""
        schedstat = pathlib.Path(f"/proc/{mlid.pid}/task/{mlid.pid}/schedstat")

        def used():
            return int(schedstat.read_text().split()[0])
        best = float("inf")
        for _ in range(10):
            begin = used()
            for id in [link.request("daemon.stats") for _ in range(50)]:
                link.result(id)
            best = min(best, used() - begin)
        return best

    def test_statistics(self):
        """daemon.stats costs the same with 10000 waiting jobs as without jobs."""
        mlid = self.service("--engine", "fault:threads,stick=1", config={
            "limits": {"jobs": 16384, "jobs_per_client": 16384}})
        link, other = self.connect(mlid), self.connect(mlid)
        params, memory = buffered(link, 64 * KIB)
        number = link.call("job.prepare", params)["prepared"]
        link.request("job.start", {"prepared": number}, id=1)
        link.ping()
        few = self.cost_of_stats(mlid, other)
        line = envelope("job.start", {"prepared": number, "after": [1]}, 0, 0)
        for begin in range(0, 10000, 500):
            link.send_raw(b"".join(line.replace(b'"id":0', b'"id":%d' % (begin + i + 2)) + b"\n"
                                   for i in range(500)))
        link.ping()
        self.assertEqual(other.call("daemon.stats")["jobs"]["waiting"], 10000)
        many = self.cost_of_stats(mlid, other)
        print(f"\n  daemon.stats with 10000 jobs costs {many / few:.2f} times as much as with one")
        self.assertLess(many, few * 2)
        # The jobs that wait for the cancelled job fail. mlid handles them in slices, so that it
        # also serves others.
        link.request("job.cancel", {"job": 1})
        begin = time.monotonic()
        other.ping()
        self.assertLess(time.monotonic() - begin, 0.5 * SLOW)
        self.eventually(lambda: other.call("daemon.info")["jobs_queued"] == 0)
        del memory


if __name__ == "__main__":
    main()
