#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests queues on a real Redis server: enqueue, workers that die, status, collect."""
import importlib.util
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree

from batch_scene import BatchCase
from harness import MLICTL, SOURCE, main, npy, wait_for
from queue_server import HAS_REDIS, Redis

# With this seed, the first case of a worker takes the whole delay, and other cases take a random part of it.
SLOW = "fault:inline,tiny=0,seed=3,delay_us="
_spec = importlib.util.spec_from_file_location("fleet", SOURCE / "bench/queue/fleet.py")
fleet = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fleet)


class QueueCase(BatchCase):
    def setUp(self):
        super().setUp()
        missing = Redis.missing()
        if missing:
            self.skipTest(missing)
        self.server = Redis(self.root / "server")
        self.addCleanup(self.server.kill)
        self.url = self.server.url("night")

    def enqueue(self, *arguments, code=0, lease=2, **more):
        return self.batch("enqueue", "--queue", self.url, "--lease", f"{lease}s", *(arguments or ("cases",)),
                          code=code, **more)

    def enqueued(self, *arguments):
        result, = self.enqueue(*(arguments or ("cases",)), "--json").json
        return tuple(result[key] for key in ("added", "replaced", "known"))

    def work(self, *arguments, code=0, **more):
        return self.batch("--queue", self.url, "-q", *arguments, code=code, **more)

    def start_worker(self, *arguments, delay=0, **more):
        engine = ("-e", f"{SLOW}{delay}") if delay else ()
        return self.start("batch", "--queue", self.url, "-j1", *engine, *arguments, **more)

    def await_lease(self, count=1):
        self.assertTrue(wait_for(lambda: self.server.leased("night") == count), self.status())

    def status(self):
        result, = self.batch("status", "--queue", self.url, "--json", code=0).json
        return result

    def counts_of(self):
        status = self.status()
        return tuple(status[key] for key in ("cases", "waiting", "leased", "done", "failed"))

    def collected(self, *arguments, code=0):
        """Returns the statuses of the collected cases by name."""
        _, cases, _ = self.events_by_case("collect", "--queue", self.url, *arguments, code=code)
        return {name: case["status"] for name, case in cases.items()}

    def add_many(self, count, bad=()):
        for i in range(count):
            self.add(f"c{i:03}", "bad.npy" if i in bad else "good.npy")
        return {f"c{i:03}": "failed" if i in bad else "passed" for i in range(count)}


class OnRedis(QueueCase):
    def test_a_batch(self):
        wanted = self.add_many(30, bad=(3, 20))
        self.assertEqual(self.enqueued(), (30, 0, 0))
        self.assertEqual(self.counts_of(), (30, 30, 0, 0, 0))
        self.work("-j4", code=1)
        self.assertEqual(self.counts_of(), (30, 0, 0, 30, 2))
        self.assertEqual(self.collected(code=1), wanted)
        self.assertEqual(self.collected("--remove", code=1), wanted)
        self.assertEqual(self.counts_of(), (0, 0, 0, 0, 0))
        self.assertIn("the queue has no cases", self.batch("collect", "--queue", self.url, code=2).err)

    def test_reports(self):
        self.add_many(5, bad=(2,))
        self.enqueue()
        self.work(code=1)
        tap = self.batch("collect", "--queue", self.url, "--tap", "--junit", "r.xml", code=1).out.splitlines()
        self.assertEqual(tap[:4], ["TAP version 13", "1..5", "ok 1 - c000", "ok 2 - c001"])
        self.assertEqual(len(ElementTree.fromstring(self.read("r.xml")).findall(".//testcase/failure")), 1)
        text = self.batch("collect", "--queue", self.url, code=1).out
        self.assertIn("FAILED cases/c002.json: expect: 1 of 24 elements differ", text)
        self.assertIn("5 cases: 4 passed, 1 failed", text)

    def test_enqueue_is_idempotent(self):
        self.add_many(5)
        self.assertEqual(self.enqueued(), (5, 0, 0))
        self.assertEqual(self.enqueued(), (0, 0, 5))
        self.add("more")
        self.assertEqual(self.enqueued(), (1, 0, 5))
        self.work()
        self.assertEqual(self.enqueued(), (0, 0, 6))
        self.assertEqual(self.counts_of(), (6, 0, 0, 6, 0))

    def test_a_changed_case_runs_again(self):
        self.add_many(4, bad=(1,))
        self.enqueue()
        self.work(code=1)
        self.add("c001")
        self.assertEqual(self.enqueued(), (0, 1, 3))
        self.assertEqual(self.counts_of(), (4, 1, 0, 3, 0))
        self.work()
        self.assertEqual(set(self.collected().values()), {"passed"})
        self.write("good.npy", self.read("good.npy") + b"")
        self.assertEqual(self.enqueued(), (0, 0, 4))
        self.write("good.npy", npy("|i1", (4, 2, 3), bytes(24)))
        self.assertEqual(self.enqueued(), (0, 4, 0))

    def test_a_killed_worker_gives_its_case_back(self):
        wanted = self.add_many(6)
        self.enqueue()
        worker = self.start_worker(delay=3000000)
        self.await_lease()
        worker.kill()
        worker.communicate()
        self.work("-j2")
        self.assertEqual(self.collected(), wanted)

    def test_an_interrupted_worker_gives_its_case_back_at_once(self):
        self.add_many(3)
        self.enqueue(lease=600)
        worker = self.start_worker(delay=2000000)
        self.await_lease()
        worker.send_signal(signal.SIGINT)
        self.finish(worker, code=4)
        self.assertEqual(self.status()["leased"], 0)
        self.work()

    def test_the_lease_is_renewed(self):
        self.add("a")
        self.enqueue()
        worker = self.start_worker(delay=3500000)
        self.await_lease()
        other = self.start_worker("-v")
        out = self.finish(worker, code=0)
        self.assertIn("1 case: 1 passed", out.out)
        self.assertIn("0 cases", self.finish(other, code=0).out)

    def test_a_lease_that_ran_out(self):
        """If two workers send a result of a case, the first result counts, whether or not the sender still owns the
        lease."""
        self.add("a")
        self.enqueue()
        worker = self.start_worker(delay=2500000)  # still runs when it is stopped, on a slow machine, too
        self.await_lease()
        worker.send_signal(signal.SIGSTOP)
        try:
            self.work()
        finally:
            worker.send_signal(signal.SIGCONT)
        self.finish(worker, code=0)
        self.assertEqual(self.collected(), {"a": "passed"})
        self.assertEqual(self.counts_of(), (1, 0, 0, 1, 0))

    def test_a_case_that_ends_its_workers(self):
        self.add("a")
        self.add("b")
        self.enqueue()
        for _ in range(5):
            worker = self.start_worker(delay=5000000)
            self.await_lease()
            name = self.status()["leases"][0]["name"]
            worker.kill()
            worker.communicate()
            self.await_lease(0)
        self.work(code=1)
        result = self.events_by_case("collect", "--queue", self.url, code=1)[1]
        self.assertEqual({n: c["status"] for n, c in result.items()},
                         {"a": "passed", "b": "passed"} | {name: "error"})
        self.assertEqual(result[name]["reason"], "lost")

    def test_other_files_are_refused(self):
        wanted = self.add_many(12)
        self.enqueue()
        self.write("other/good.npy", self.read("bad.npy"))
        self.write("other/in.npy", self.read("in.npy"))
        for name in wanted:
            self.write(f"other/cases/{name}.json", self.read(f"cases/{name}.json"))
        bad = self.work("--root", "other", "-j1", code=2)
        self.assertIn("third refusal in a row", bad.err)
        self.assertIn("differ from those that were enqueued", bad.err)
        self.assertEqual(self.counts_of()[3], 0)
        self.work()
        self.assertEqual(self.collected(), wanted)

    def test_a_case_that_all_refuse(self):
        self.add_many(3)
        self.enqueue()
        good = self.read("cases/c001.json")
        self.add("c001", "bad.npy")
        for worker in range(3):
            result = self.batch("--queue", self.url, "-j1", code=1 if worker == 2 else 2)
            self.assertIn("the case waits for another worker", result.out)
            self.assertEqual("third refusal in a row" in result.err, worker < 2)
        result = self.events_by_case("collect", "--queue", self.url, code=1)[1]
        self.assertEqual({n: c["status"] for n, c in result.items()},
                         {"c000": "passed", "c001": "error", "c002": "passed"})
        self.assertEqual(result["c001"]["reason"], "inputs")
        self.assertIn("3 workers refused the case", result["c001"]["message"])
        # After enqueue, a case that no worker could run waits for a worker again, even if its files are the same.
        self.write("cases/c001.json", good)
        self.assertEqual(self.enqueued(), (0, 1, 2))
        self.assertEqual(self.counts_of(), (3, 1, 0, 2, 0))
        self.work()
        self.assertEqual(set(self.collected().values()), {"passed"})

    def test_a_worker_with_another_root_refuses_a_case_once(self):
        self.add("a")
        self.enqueue()
        (self.dir / "elsewhere").mkdir()
        for _ in range(2):
            bad = self.batch("--queue", self.url, "--root", "elsewhere", "-j1", code=2)
            self.assertEqual((bad.out + bad.err).count("the job file cannot be read here"), 3)
        self.work()
        self.assertEqual(self.collected(), {"a": "passed"})

    def test_failed_cases_run_again(self):
        wanted = self.add_many(4, bad=(1, 2))
        self.enqueue()
        self.work(code=1)
        self.assertEqual(self.enqueued(), (0, 0, 4))
        self.assertEqual(self.enqueued("cases", "--again"), (0, 2, 2))
        self.assertEqual(self.counts_of(), (4, 2, 0, 2, 0))
        self.work(code=1)
        self.assertEqual(self.collected(code=1), wanted)
        self.assertEqual(self.counts_of(), (4, 0, 0, 4, 2))

    def test_cases_of_other_directories_with_equal_names(self):
        """Two versions of a model have cases with the same names: the cases of the second version must not replace
        those of the first."""
        self.add_many(3)
        self.enqueue()
        self.write("good.npy", self.read("good.npy"))
        for name in ("c001", "new"):
            self.write(f"other/{name}.json", self.read("cases/c001.json"))
        refused = self.enqueue("other", code=2).err
        self.assertIn("the queue has a case c001 already, with the job file cases/c001.json", refused)
        self.assertEqual(self.counts_of(), (3, 3, 0, 0, 0))

    def test_the_queue_stays_without_its_report(self):
        self.add_many(3)
        self.enqueue()
        self.work()
        collect = [MLICTL, "batch", "collect", "--queue", self.url, "--remove"]
        with open("/dev/full", "wb") as full:
            self.assertEqual(subprocess.run(collect, stdout=full, stderr=subprocess.DEVNULL, check=False).returncode, 1)
        pipe = self.start("batch", "collect", "--queue", self.url, "--remove", "--json")
        pipe.stdout.close()
        err = pipe.stderr.read()
        self.assertEqual(pipe.wait(), 1)
        self.assertIn("the queue is not removed", err if isinstance(err, str) else err.decode())
        self.assertEqual(self.counts_of(), (3, 0, 0, 3, 0))
        self.collected("--remove")
        self.assertEqual(self.counts_of(), (0, 0, 0, 0, 0))

    def test_root(self):
        self.add("a")
        self.enqueue(self.path("cases"), "--root", self.path(""))
        (self.dir / "elsewhere").mkdir()
        self.work("--root", "..", cwd=self.dir / "elsewhere")
        (self.root / "outside").mkdir()
        self.assertIn("is not below", self.enqueue("--root", self.root / "outside", "cases", code=2).err)
        self.assertIn("is not below", self.enqueue("--root", "missing", "cases", code=2).err)

    def test_root_and_path_in_other_forms(self):
        """The root and the path may be relative or absolute, or lead through a link."""
        self.add("a")
        (self.dir / "elsewhere").mkdir()
        (self.dir / "link").symlink_to(self.dir)
        self.enqueue("--root", self.path(""), "cases")
        for words, cwd in ((("cases",), "."), ((self.path("cases"),), "."), (("--root", ".", "./cases"), "."),
                           (("--root", "../", "../cases"), "elsewhere"), (("--root", "link", "cases"), "."),
                           (("--root", self.path("link"), "link/cases"), ".")):
            self.assertIn("0 added, 0 replaced, 1 known", self.enqueue(*words, cwd=self.dir / cwd).out, words)

    def test_collect_names_the_rest(self):
        self.add_many(3)
        self.enqueue()
        worker = self.start_worker(delay=4000000)
        self.await_lease()
        result = self.batch("collect", "--queue", self.url, "--timeout", "100ms", "--junit", "r.xml", code=4)
        self.assertEqual(result.err.count("waiting for a worker"), 2)
        self.assertEqual(result.err.count(": leased"), 1)
        self.assertIn("3 not run", result.out)
        report = ElementTree.fromstring(self.read("r.xml"))
        self.assertEqual(len(report.findall(".//skipped")), 3)
        self.assertEqual([e.get("message") for e in report.iter("error")], ["3 of 3 cases have no result"])
        worker.kill()

    def test_an_interrupted_collect_reports(self):
        self.add_many(2)
        self.enqueue()
        collector = self.start("batch", "collect", "--queue", self.url, "--junit", "r.xml")
        self.assertTrue(wait_for(lambda: self.server.asked_by() == 1))
        collector.send_signal(signal.SIGTERM)
        self.assertIn("2 not run", self.finish(collector, code=4).out)
        self.assertEqual(len(ElementTree.fromstring(self.read("r.xml")).findall(".//error")), 1)

    def test_collect_waits(self):
        wanted = self.add_many(4)
        self.enqueue()
        collector = self.start("batch", "collect", "--queue", self.url, "--json")
        self.work("-j2")
        events = self.finish(collector, code=0).json
        self.assertEqual({e["name"] for e in events if e["event"] == "case"}, set(wanted))

    def test_follow(self):
        worker = self.start_worker("--follow", "--tap")
        for name in "ab":
            self.add(name)
            self.enqueue()
            self.assertTrue(wait_for(lambda: self.server.done("night") == ord(name) - ord("a") + 1))
        worker.send_signal(signal.SIGTERM)
        out = self.finish(worker, code=4).out
        self.assertIn("ok 1 - a\nok 2 - b\n", out)

    def test_the_server_restarts(self):
        wanted = self.add_many(12)
        self.enqueue()
        worker = self.start_worker(delay=100000)
        self.assertTrue(wait_for(lambda: self.server.done("night") >= 2))
        self.server.kill()
        time.sleep(0.3)
        self.server.start()
        self.finish(worker, code=0)
        self.work()
        self.assertEqual(self.collected(), wanted)

    def test_the_server_stays_away(self):
        self.add_many(3)
        self.enqueue()
        worker = self.start_worker("--reconnect", "1s", "--json", delay=3000000)
        self.await_lease()
        self.server.kill()
        result = self.finish(worker, code=3)
        self.assertIn(f"{self.url} could not be reached for 1 s: ", result.err)
        self.assertEqual([e for e in result.json if e["event"] == "case"], [])
        for words in (("status",), ("collect",), ("enqueue", "cases"), ()):
            result = self.batch(*words, "--queue", self.url, "--reconnect", "0", code=3)
            self.assertIn("could not be reached for 0 s", result.err)

    def test_names_of_any_bytes(self):
        names = ["a b", "c\nd", "e'f\"", "g{h}", "ü"]
        for name in names:
            self.add(name)
        os.rename(self.path("cases/ü.json"), os.fsencode(self.path("cases")) + b"/\xff.json")
        self.enqueue()
        self.work()
        _, cases, _ = self.events_by_case("collect", "--queue", self.url, code=0)
        self.assertEqual(len(cases), 5)
        self.assertTrue(set(names[:4]) <= set(cases))

    def test_several_workers_count_once(self):
        wanted = self.add_many(60)
        self.enqueue()
        workers = [self.start_worker(delay=2000) for _ in range(4)]
        ran = 0
        for worker in workers:
            ran += int(self.finish(worker, code=0).out.split(" case")[0])
        self.assertEqual(ran, 60)
        self.assertEqual(self.collected(), wanted)

    def test_keep(self):
        self.add_many(3, bad=(1,))
        self.enqueue()
        self.work("--keep", "failed", code=1)
        self.assertTrue(self.exists("failed/c001/job.json"))
        case = self.events_by_case("collect", "--queue", self.url, code=1)[1]["c001"]
        self.assertEqual(case["again"], "mlictl run failed/c001/job.json")

    def test_a_fleet(self):
        """Runs a small part of bench/queue/fleet.py: slow and killed workers, and exact counts."""
        options = fleet.parse(["--cases", "150", "--delay-ms", "10"])
        figures, wrong = fleet.run(MLICTL, self.server, self.root / "fleet", options)
        print(f"\nseed {options.seed}: {figures}")
        self.assertEqual(wrong, [])

    def test_status_names_the_worker(self):
        self.add("a")
        self.enqueue()
        worker = self.start_worker(delay=2000000)
        self.await_lease()
        lease, = self.status()["leases"]
        self.assertEqual(lease["worker"], f"{socket.gethostname()}:{worker.pid}")
        self.assertIn(f"leased by {lease['worker']}", self.batch("status", "--queue", self.url, code=0).out)
        worker.kill()

    def test_the_keys_of_another_program(self):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.server.socket))
            client.sendall(b"SET mlictl:{night}:cases 1\r\n")
            client.recv(100)
        self.assertIn("WRONGTYPE", self.batch("status", "--queue", self.url, code=2).err)

    def test_passwords(self):
        self.server.kill()
        self.server = Redis(self.root / "secret", ("--requirepass", "top/secret"))
        self.addCleanup(self.server.kill)
        self.add("a")
        base = f"redis+unix://{{}}{self.server.socket}:night"
        self.url = base.format("")
        result = self.enqueue(code=2)
        self.assertIn("NOAUTH", result.err)
        for user in (":wrong", "nobody:top%2fsecret"):
            self.url = base.format(f"{user}@")
            result = self.enqueue(code=2)
            self.assertIn("WRONGPASS", result.err)
            for word in ("wrong", "nobody", "secret"):
                self.assertNotIn(word, result.err.replace(str(self.server.socket), "").replace("WRONGPASS", ""))
        self.url = base.format(":top%2fsecret@")
        self.enqueue()
        worker = self.start_worker(delay=2000000)
        self.await_lease()
        line = pathlib.Path(f"/proc/{worker.pid}/cmdline").read_bytes()
        self.assertNotIn(b"secret@", line)
        self.assertIn(b"***@", line)
        worker.kill()
        worker.communicate()
        self.url = base.format("")
        self.write("password", "top/secret\n")
        self.work("--password-file", "password")
        environment = dict(self.environment(), MLI_QUEUE_PASSWORD="top/secret")
        self.environment = lambda: environment
        self.assertEqual(self.collected(), {"a": "passed"})


class Usage(BatchCase):
    def test_urls(self):
        for url, words in (("http://x/y", "must begin with redis://"), ("redis://", "the host is missing"),
                           ("redis://h", "must end with the NAME"), ("redis://h/3", "must end with the NAME"),
                           ("redis://h:0/a", "port"), ("redis://h:99999/a", "port"), ("redis://h/x/a", "database"),
                           ("beanstalk://h/a", "run a Redis server, and give redis://HOST/NAME"),
                           ("beanstalk+unix:///s:a", "run a Redis server"),
                           ("redis://user@h/a", "USER:PASSWORD"), ("redis://:%zz@h/a", "USER:PASSWORD"),
                           ("redis://[::1/a", "]"), ("rediss://h/a", "TLS is not supported"),
                           ("redis+unix://rel:a", "absolute path"), ("redis://h/-a", "NAME")):
            result = self.batch("status", "--queue", url, code=2)
            self.assertIn(words, result.err, url)

    def test_options(self):
        self.add("a")
        for words, text in ((("status",), "requires --queue"), (("enqueue", "cases"), "requires --queue"),
                            (("--follow", "cases"), "--follow requires --queue"),
                            (("cases", "--queue", "redis://h/a"), "batch enqueue --queue"),
                            (("--queue", "redis://h/a", "--resume", "s"), "--resume cannot be combined"),
                            (("collect", "--queue", "redis://h/a", "-j2"), "--jobs cannot be combined")):
            self.assertIn(text, self.batch(*words, code=2).err, words)

    def test_enqueue(self):
        for words, text in (((), "requires a PATH"), (("none",), "No such file"), (("cases", "--lease", "1"), "--lease")):
            err = self.batch("enqueue", "--queue", "redis://h/a", *words, code=2).err
            self.assertIn(text if HAS_REDIS else "built without hiredis", err, words)

    def hostile(self, answer):
        """Runs status against a server that sends these bytes on each connection."""
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            server.settimeout(20)

            def serve():
                try:
                    while True:
                        client, _ = server.accept()
                        with client:
                            client.settimeout(5)
                            client.recv(100)
                            client.sendall(answer)
                except OSError:
                    pass
            thread = threading.Thread(target=serve, daemon=True)
            thread.start()
            port = server.getsockname()[1]
            return self.batch("status", "--queue", f"redis://127.0.0.1:{port}/a", "--reconnect", "0")

    def test_hostile_servers(self):
        if not HAS_REDIS:
            return
        for answer in (b"", b"\r\n", b"HTTP/1.1 400\r\n", b"x" * 5000, b"*-1\r\n", b"*8\r\n" + b":1\r\n" * 8, b":1\r\n", b"*99999999999\r\n", b"$-5\r\n", b"?\r\n",
                       b"*8\r\n" + b"$1\r\nx\r\n" * 8, b"-LOADING\r\n", b"*8\r\n" + b":-1\r\n" * 8):
            with self.subTest(answer=answer[:40]):
                self.assertIn(self.hostile(answer).code, (1, 2, 3))


if __name__ == "__main__":
    main()
