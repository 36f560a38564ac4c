#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the commands that manage a daemon and its jobs."""
import json
import os
import pty
import select
import signal
import socket
import subprocess
import threading
import time

from harness import MLICTL, Case, at_rest, main, mov, npy, wait_for


class Service(Case):
    methods = ("job.wait", "job.list", "daemon.stats")

    def setUp(self):
        super().setUp()
        for method in self.methods:
            if not self.daemon.serves(method):
                self.skipTest(f"this mlid does not serve {method}")

    def ask(self, command, *arguments, **more):
        return self.ctl(command, "--socket", self.daemon.socket, *arguments, **more)

    def facts(self, command, *arguments, code=0):
        return self.ask(command, "--json", *arguments, code=code).json

    def other_daemon(self, *arguments):
        directory = self.root / "other"
        directory.mkdir()
        daemon = self.start_daemon(directory, *arguments)
        if self._daemon:
            self._daemon.stop()
        self._daemon = daemon


class Detached(Service):
    def test_a_chain(self):
        self.write_npy("in.npy", "|i1", (2, 3))
        self.write("job.json", [mov(name="load", dst="a.npy"),
                                mov("a.npy", "b.npy", perm_dim=[1, 0], after=["load"])])
        facts = self.facts("submit", "--detach", "job.json")
        self.assertEqual([(fact["state"], fact["job"]) for fact in facts],
                         [("submitted", 1), ("submitted", 2)])
        ended = self.facts("wait", "2", "1")
        self.assertEqual([(fact["job"], fact["exit"]) for fact in ended], [(2, 0), (1, 0)])
        self.assertEqual(ended[0]["result"]["dst"]["shape"], [3, 2])
        self.assertEqual(self.read("b.npy"), npy("|i1", (3, 2), bytes([0, 3, 1, 4, 2, 5])))
        again = self.ask("wait", "1", code=0)
        self.assertRegex(again.out, r"^job 1: done, 6 B in ")

    def test_a_source_that_another_job_writes(self):
        """The second job waits for the first job without "after", even if the jobs are in two files."""
        shape, content = (64, 256, 256), bytes(range(256)) * (64 * 256)
        self.write("in.npy", npy("|i1", shape, content))
        for jobs in ({"job.json": [mov(dst="a.npy", perm_dim=[2, 1, 0]), mov("a.npy", "b.npy")]},
                     {"one.json": [mov(dst="a.npy", perm_dim=[2, 1, 0])], "two.json": [mov("a.npy", "b.npy")]}):
            for name, job in jobs.items():
                self.write(name, job)
            for _ in range(3):
                self.facts("submit", "--detach", *jobs)
                self.facts("wait", "--all")
                self.assertEqual(self.read("b.npy"), self.read("a.npy"))
                for name in ("a.npy", "b.npy"):
                    os.unlink(self.path(name))

    def test_races_are_reported(self):
        self.write_npy("in.npy", "|i1", (4,))
        self.write("job.json", {"buffers": [{"name": "b", "bytes": 4}],
                                "jobs": [mov(dst={"buffer": "b"}),
                                         mov({"buffer": "b", "type": "fx8", "shape": [4]}, "out.npy")]})
        result = self.ask("submit", "--detach", "--json", "job.json", code=0)
        self.assertIn("warning: race: ", result.err)
        self.assertEqual(result.json[-1]["warning"]["name"], "RACE")
        self.facts("wait", "--all")

    def test_jobs_that_cannot_be_detached(self):
        self.write_npy("in.npy", "|i1", (4,))
        self.write_npy("there.npy", "|i1", (4,))
        before = self.listing()
        for job, pointer in ((mov(dst={"file": "there.npy", "update": True}), "/dst/update"),
                             (mov(expect={"file": "there.npy"}), "/expect"),
                             (mov(dst={"file": "out.npy", "params": "p.json"}), "/dst/params")):
            self.write("job.json", job)
            fact = self.facts("submit", "-d", "job.json", code=2)[0]
            self.assertEqual(fact["error"]["pointer"], pointer)
            os.unlink(self.path("job.json"))
            self.assertEqual(self.listing(), before)

    def test_a_refused_job_leaves_no_record(self):
        self.write_npy("in.npy", "|i1", (4,))
        self.write("job.json", [mov(channels=16, name="a"), mov(dst="b.npy", after=["a"])])
        facts = self.facts("submit", "-d", "job.json", code=1)
        self.assertEqual([fact["state"] for fact in facts], ["failed", "skipped"])
        self.assertFalse(self.exists("out.npy"))
        self.assertFalse(self.exists("b.npy"))


class Jobs(Service):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4,))

    def stuck(self):
        """Starts a daemon whose first job never ends, and submits a second job, which waits for the first one."""
        self.other_daemon("--engine", "fault:threads,tiny=0,stick=1")
        self.write("job.json", [mov(name="stuck"), mov(dst="2.npy", after=["stuck"], name="next")])
        self.facts("submit", "-d", "job.json")
        self.assertTrue(wait_for(lambda: self.facts("status", "1")[0]["state"] == "running"))

    def test_a_job_that_hangs(self):
        self.stuck()
        states = {fact["job"]: (fact["state"], fact["name"]) for fact in self.facts("jobs")}
        self.assertEqual(states, {1: ("running", "stuck"), 2: ("waiting", "next")})
        self.assertEqual([f["job"] for f in self.facts("jobs", "--state", "waiting,queued")], [2])
        self.assertEqual([f["job"] for f in self.facts("jobs", "--name", "stuck")], [1])
        self.assertEqual([f["job"] for f in self.facts("jobs", "--limit", "1")], [2])
        self.assertIn("older jobs", self.ask("jobs", "-n", "1", code=0).out)
        self.assertRegex(self.ask("status", "2", code=0).out, r"^job 2 \(next\): waiting, detached")
        fact = self.facts("wait", "1", "--timeout", "50ms", code=4)[0]
        self.assertEqual(fact["error"]["name"], "TIMED_OUT")
        self.assertEqual([fact["error"]["message"] for fact in
                          self.facts("wait", "--all", "--timeout", "50ms", code=4)],
                         ["it has not ended within 50 ms (--timeout)"] * 2)
        waiting = self.start("wait", "--socket", self.daemon.socket, "--all", "--json")
        self.assertTrue(wait_for(lambda: not self.daemon.idle()))
        self.assertTrue(at_rest(waiting, self.daemon.pid))
        fact = self.facts("cancel", "1")[0]
        self.assertEqual(fact["job"], 1)
        self.assertIn(fact["state"], ("running", "cancelled"))
        ended = self.finish(waiting, code=4).json
        self.assertEqual([fact["error"]["name"] for fact in ended],
                         ["CANCELLED", "PREDECESSOR_FAILED"])
        self.assertEqual({f["job"]: f["state"] for f in self.facts("jobs")},
                         {1: "cancelled", 2: "failed"})
        self.assertEqual(self.facts("cancel", "1")[0]["state"], "cancelled")
        self.assertEqual(self.facts("wait", "--all"), [])

    def test_all_pages(self):
        self.write("job.json", [mov(dst=f"{i}.npy") for i in range(1020)])
        self.facts("submit", "job.json")
        facts = self.facts("jobs", "--all")
        self.assertEqual([fact["job"] for fact in facts], list(range(1020, 0, -1)))
        self.assertEqual(len(self.facts("jobs")), 100)
        self.assertEqual(len(self.facts("jobs", "--all", "--limit", "3")), 3)
        out = self.ask("jobs", "-n", "3", code=0).out
        self.assertFalse(any(line.endswith(" ") for line in out.splitlines()), out)

    def test_unknown_jobs(self):
        for command in ("status", "wait", "cancel"):
            result = self.ask(command, "--json", "77", code=2)
            self.assertEqual(result.json[0]["error"]["name"], "NOT_FOUND", command)
            self.ask(command, "no-name", code=2)
            self.ask(command, code=2)
        for number in ("abc", "0", "-1x", "99999999999999999999"):
            for command in ("status", "wait", "cancel"):
                result = self.ctl(command, "-s", self.path("none"), "--", number, code=2)
                self.assertEqual(result.err, f"mlictl: {number}: a job number is required; "
                                             "mlictl jobs lists the numbers\n")
        self.assertEqual(self.ask("status", "77", code=2).err,
                         "mlictl: job 77 is unknown or forgotten; mlictl jobs lists the known jobs\n")
        self.assertEqual(self.ask("wait", "--all", code=0).out, "no job is under way\n")
        self.assertEqual(self.ask("wait", "--all", "-q", code=0).out, "")
        self.ask("wait", "--all", "1", code=2)
        self.ask("jobs", "--state", "gone", code=2)
        self.ask("jobs", "extra", code=2)

    def test_cancelled_while_waiting(self):
        self.stuck()
        process = self.start("wait", "--socket", self.daemon.socket, "1")
        self.assertTrue(at_rest(process, self.daemon.pid))
        process.send_signal(signal.SIGINT)
        self.finish(process, code=4)
        self.ask("cancel", "1", "2", code=0)


class Numbers(Service):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4, 5))
        self.write("job.json", [mov(), mov(dst="2.npy")])
        self.facts("submit", "job.json")

    def test_stats(self):
        fact = self.facts("stats")[0]
        self.assertEqual((fact["jobs"]["done"], fact["bytes_moved"], fact["state"]),
                         (2, 40, "serving"))
        self.assertIn("2 submitted, 2 done", self.ask("stats", code=0).out)
        self.assertIn(" 1 client, 0 jobs", self.ask("stats", code=0).out)
        self.ask("stats", "--prometheus", "--json", code=2)
        lines = self.ask("stats", "--prometheus", code=0).out.splitlines()
        self.assertTrue(all(line.startswith(("# HELP mlid_", "# TYPE mlid_", "mlid_"))
                            for line in lines))

    def test_top_once(self):
        fact = self.facts("top", "--once")[0]
        self.assertEqual(fact["stats"]["jobs"]["done"], 2)
        self.assertEqual(len(fact["rates"]["channels"]), 4)
        out = self.ask("top", "--once", code=0).out
        self.assertIn("channel 3", out)
        self.assertNotIn("\033", out)

    def test_top_repeats(self):
        process = self.start("top", "--socket", self.daemon.socket, "--json", "-i", "50ms")
        first, second = (json.loads(process.stdout.readline()) for _ in range(2))
        self.assertGreater(second["rates"]["interval_ns"], 40e6)
        self.assertEqual(second["rates"]["jobs_per_second"], 0)
        self.assertEqual(first["stats"]["jobs"]["done"], 2)
        process.send_signal(signal.SIGINT)
        self.finish(process, code=0)

    def test_top_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = self.start_on(theirs)
        os.close(theirs)
        seen = b""

        def read():
            nonlocal seen
            if select.select([ours], [], [], 0.05)[0]:
                seen += os.read(ours, 65536)
            return seen
        self.assertTrue(wait_for(lambda: read().count(b"\033[H") >= 2))
        process.send_signal(signal.SIGINT)
        self.assertTrue(wait_for(lambda: read().endswith(b"\033[?25h\033[?1049l")))
        self.assertEqual(process.wait(60), 0)
        self.assertTrue(seen.startswith(b"\033[?1049h\033[?25l"))
        os.close(ours)

    def start_on(self, terminal):
        return subprocess.Popen([MLICTL, "top", "-s", self.daemon.socket, "-i", "50ms"],
                                stdin=terminal, stdout=terminal, stderr=subprocess.DEVNULL,
                                env=dict(self.environment(), TERM="xterm"))


class Drained(Service):
    def test_drain_and_resume(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        self.assertEqual(self.facts("drain")[0]["state"], "drained")
        result = self.ask("submit", "job.json", code=3)
        self.assertIn("takes no new jobs", result.err)
        self.assertIn("is serving", self.ask("resume", code=0).out)
        self.ask("submit", "job.json", code=0)

    def test_with_a_job(self):
        self.other_daemon("--engine", "fault:threads,tiny=0,stick=1")
        self.write_npy("in.npy")
        self.write("job.json", mov())
        self.facts("submit", "-d", "job.json")
        self.assertEqual(self.facts("drain", "--no-wait")[0]["state"], "draining")
        process = self.start("drain", "--socket", self.daemon.socket)
        self.assertTrue(at_rest(process, self.daemon.pid))
        self.assertIsNone(process.poll())
        self.ask("cancel", "1", code=0)
        self.assertIn("drained", self.finish(process, code=0).out)


def event(kind, time_ns, number):
    state = {"queued": "queued", "started": "running", "done": "done"}[kind]
    job = {"job": number, "name": f"n{number}", "state": state, "client": 1, "uid": 0,
           "priority": 0, "channels": 1, "first_channel": 0, "bytes": 6, "bytes_done": 6,
           "detached": False, "ns_queued": 1000, "ns_moving": 2000}
    return {"jsonrpc": "2.0", "method": "event",
            "params": {"event": kind, "time_ns": time_ns, "dropped": 0, "job": job}}


class TraceOfAScript(Case):
    """A fake daemon sends these events, and then disconnects or keeps the connection."""

    def serve(self, lines, stay=True):
        path = self.path("peer.sock")
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen()
        self.addCleanup(listening.close)

        def talk():
            try:
                connection, _ = listening.accept()
            except OSError:  # the test is over
                return
            self.addCleanup(connection.close)
            request = json.loads(connection.makefile("rb").readline())
            self.request = request
            reply = {"jsonrpc": "2.0", "id": request["id"],
                     "result": {"events": request["params"].get("events", [])}}
            for line in [reply] + lines:
                connection.sendall(json.dumps(line).encode() + b"\n")
            if not stay:
                connection.shutdown(socket.SHUT_RDWR)
        self.talk = threading.Thread(target=talk, daemon=True)
        self.talk.start()
        return path

    def test_a_timeline(self):
        lines = [event(kind, 5000 + 1000 * number + at, number) for number in (1, 2, 3)
                 for at, kind in enumerate(("queued", "started", "done"))]
        result = self.ctl("trace", "--json", "-s", self.serve(lines), "-o", "t.json", "--seconds", "1",
                          code=0)
        self.assertEqual((result.json[0]["events"], result.json[0]["dropped"]), (9, 0))
        self.assertEqual(self.request["params"]["scope"], "user")
        self.assertEqual(result.json[0]["entries"], len(json.loads(self.read("t.json"))))
        text = json.dumps(json.loads(self.read("t.json")))
        for name in ("n1", "n2", "n3"):
            self.assertIn(name, text)

    def test_lost(self):
        path = self.serve([event("queued", 1, 1)], stay=False)
        self.ctl("trace", "-s", path, "-o", "t.json", "--seconds", "60", code=3)
        self.assertFalse(self.exists("t.json"))

    def test_cut_short(self):
        path = self.serve([event("queued", 1, 1)])
        for options, code, there in ((("--seconds", "60"), 4, False), ((), 0, True)):
            process = self.start("trace", "-s", path, "-o", "t.json", *options)
            self.talk.join()
            self.assertTrue(at_rest(process))
            process.send_signal(signal.SIGINT)
            self.finish(process, code=code)
            self.assertEqual(self.exists("t.json"), there)
            os.unlink(path)
            path = self.serve([event("queued", 1, 1)])


class Trace(Service):
    methods = ("events.subscribe",)

    def test_a_timeline(self):
        self.write_npy("in.npy", "|i1", (4, 5))
        self.write("job.json", [mov(name=f"n{i}", dst=f"{i}.npy") for i in range(5)])
        process = self.start("trace", "--socket", self.daemon.socket, "-o", "t.json", "--json")
        self.assertTrue(wait_for(lambda: not self.daemon.idle()))
        self.assertTrue(at_rest(process, self.daemon.pid))
        self.facts("submit", "job.json")
        self.assertTrue(at_rest(process, self.daemon.pid))  # it has read the events
        self.assertFalse(self.exists("t.json"))
        process.send_signal(signal.SIGINT)
        result = self.finish(process, code=0)
        self.assertEqual(result.json[0]["events"], 15)
        trace = json.loads(self.read("t.json"))
        text = json.dumps(trace)
        for i in range(5):
            self.assertIn(f"n{i}", text)

    def test_the_duration_ends_the_trace(self):
        self.ask("trace", "-o", "t.json", "--seconds", "1", code=0)
        json.loads(self.read("t.json"))

    def test_only_force_replaces_a_file(self):
        self.write("t.json", "precious")
        result = self.ask("trace", "-o", "t.json", "--seconds", "1", code=2)
        self.assertIn("t.json exists; --force replaces it", result.err)
        self.assertEqual(self.read("t.json"), b"precious")
        self.ask("trace", "-o", "t.json", "--seconds", "1", "--force", code=0)
        json.loads(self.read("t.json"))

    def test_standard_output(self):
        json.loads(self.ask("trace", "-o", "-", "--seconds", "1", code=0).out)
        self.assertFalse(self.exists("-"))
        self.ask("trace", "-o", "-", "--json", code=2)

    def test_the_file_is_written_atomically(self):
        process = self.start("trace", "--socket", self.daemon.socket, "-o", "t.json", "--seconds", "60")
        self.assertTrue(at_rest(process, self.daemon.pid))
        process.send_signal(signal.SIGINT)
        self.finish(process, code=4)
        self.assertFalse(self.exists("t.json"))
        self.ask("trace", code=2)


class Help(Case):
    def test_every_command(self):
        text = self.ctl("--help", code=0).out
        for command in ("jobs", "status", "wait", "cancel", "stats", "top", "trace", "drain",
                        "resume", "proxy"):
            self.assertIn(f"\n  {command} ", text)
            self.assertIn(f"usage: mlictl {command} [options]", self.ctl(command, "--help",
                                                                         code=0).out)


if __name__ == "__main__":
    main()
