# SPDX-License-Identifier: BSD-3-Clause
"""Tests missing and vanishing daemons, timeouts and cancels: mlictl must never leave files or jobs behind."""
import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading
import time

from harness import MLICTL, PATIENCE, Case, at_rest, main, mov, npy, open_files, ramp, wait_for
from suspend import suspend


class NoDaemon(Case):
    def test_commands_without_a_daemon_say_how_to_start_one(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        path = self.path("none.sock")
        for command in (("submit", "job.json"), ("ping",), ("info",)):
            result = self.ctl(*command, "--socket", path, code=3)
            more = "; `mlictl run` needs no daemon" if command[0] == "submit" else ""
            self.assertEqual(result.err, f"mlictl: no daemon listens at {path}; start one with "
                                         f"`mlid --socket {path} &`{more}\n")
            self.assertEqual(self.ctl(*command, "--json", "-s", path, code=3).json[0]["exit"], 3)
        self.assertFalse(self.exists("out.npy"))

    def test_paths_that_are_no_listening_socket(self):
        self.write("file", b"")
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(self.path("dead.sock"))
        self.assertEqual(self.ctl("ping", "-s", self.path("file"), code=3).err,
                         f"mlictl: {self.path('file')} is not a socket; give the "
                         "socket of mlid\n")
        for name in ("dead.sock", "file/x.sock"):
            self.assertIn("no daemon listens", self.ctl("ping", "-s", self.path(name), code=3).err)

    def test_a_too_long_path(self):
        self.assertIn("108 bytes given; at most 107",
                      self.ctl("ping", "-s", "x" * 108, code=2).err)

    def test_wrong_jobs_are_reported_without_a_daemon(self):
        self.write("job.json", "{")
        self.ctl("submit", "-s", self.path("none.sock"), "job.json", code=2)


class OddPeer(Case):
    """The program that listens on the socket is not mlid."""

    def answer(self, reply):
        """Starts a server that answers one request with `reply`; returns the path of its socket."""
        path = self.path(f"peer{len(os.listdir(self.dir))}.sock")
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen()
        self.addCleanup(listening.close)

        def serve():
            connection, _ = listening.accept()
            connection.recv(65536)
            try:
                connection.sendall(reply)
            except OSError:
                pass
            connection.close()
        threading.Thread(target=serve, daemon=True).start()
        return path

    def test_invalid_replies_are_a_lost_connection(self):
        for reply in (b"", b"\n", b"hello\n", b"{}\n", b"x" * (2 << 20), b'{"jsonrpc":"2.0"',
                      b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
                      b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}\n'):
            result = self.ctl("info", "-s", self.answer(reply), code=3)
            self.assertRegex(result.err, r"^mlictl: the (connection to the daemon is lost|daemon's "
                                         r"answer cannot be read)")

    def test_a_result_of_another_shape_is_refused(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        result = {"dst": {"type": "fx8", "shape": [9], "strides": [1]},
                  "cost": {"bytes": 9, "channels": 1, "engine": "x", "ns_queued": 0,
                           "ns_moving": 0}}
        reply = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}) + "\n"
        done = self.ctl("submit", "-s", self.answer(reply.encode()), "job.json", code=1)
        self.assertIn("reports another shape", done.err)
        self.assertFalse(self.exists("out.npy"))


class Interrupted(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "|i1", (4,))
        self.write("out.npy", b"before")

    def submit_to_stopped(self, *options, job=None):
        """Starts a submit that waits for the answer of a stopped daemon."""
        self.write("job.json", job or mov())
        suspend(self.daemon.pid)
        process = self.start("submit", "--json", "-s", self.daemon.socket, *options, "job.json")
        self.assertTrue(wait_for(lambda: self.has_begun_output(process)))
        self.assertTrue(at_rest(process))
        return process

    def has_begun_output(self, process):
        return any(name.startswith(str(self.dir)) and name.endswith("(deleted)")
                   for name in open_files(process.pid))

    def assert_nothing_happened(self):
        self.assertEqual(self.read("out.npy"), b"before")
        self.assertEqual(sorted(os.listdir(self.dir)), ["in.npy", "job.json", "out.npy"])

    def test_the_daemon_dies(self):
        process = self.submit_to_stopped()
        self.daemon_may_die = True
        os.kill(self.daemon.pid, signal.SIGKILL)
        result = self.finish(process, code=3)
        self.assertIn("the connection to the daemon is lost", result.err)
        self.assertEqual(result.json[0]["state"], "lost")
        self.assert_nothing_happened()

    def test_a_lost_connection_and_a_cancel_are_never_expected(self):
        process = self.submit_to_stopped(job=mov(expect={"error": "CANCELLED"}))
        process.send_signal(signal.SIGINT)
        fact = self.finish(process, code=4).json[0]
        self.assertEqual((fact["state"], fact["expect"]["same"]), ("stopped", False))
        process = self.submit_to_stopped(job=mov(expect={"error": "STREAM_ERROR"}))
        self.daemon_may_die = True
        os.kill(self.daemon.pid, signal.SIGKILL)
        fact = self.finish(process, code=3).json[0]
        self.assertEqual((fact["state"], fact["expect"]["same"]), ("lost", False))
        self.assert_nothing_happened()

    def test_later_jobs_are_skipped_after_the_daemon_died(self):
        process = self.submit_to_stopped(job=[mov(), mov(dst="2.npy"), mov(dst="3.npy")])
        self.daemon_may_die = True
        os.kill(self.daemon.pid, signal.SIGKILL)
        result = self.finish(process, code=3)
        self.assertEqual([fact["state"] for fact in result.json], ["lost", "skipped", "skipped"])
        self.assertIn("2 jobs were not run", result.err)
        self.assert_nothing_happened()

    def test_cancelled(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.submit_to_stopped(job=[mov(), mov(dst="2.npy")])
            process.send_signal(number)
            result = self.finish(process, code=4)
            self.assertEqual([fact["state"] for fact in result.json], ["stopped", "skipped"])
            self.assertIn("mlictl: job.json: [0]: cancelled", result.err)
            self.assert_nothing_happened()
            os.kill(self.daemon.pid, signal.SIGCONT)

    def test_cancelled_among_many_jobs(self):
        self.write("job.json", [mov(dst=f"{i}.npy") for i in range(5000)])
        process = self.start("run", "--json", "job.json")
        self.assertTrue(wait_for(lambda: self.exists("9.npy")))
        process.send_signal(signal.SIGINT)
        result = self.finish(process, code=4)
        states = [fact["state"] for fact in result.json]
        done = states.count("done")
        self.assertEqual(len(states), 5000)
        self.assertEqual(set(states[done + 1:]), {"skipped"})
        self.assertEqual({fact["exit"] for fact in result.json[done:]}, {4})
        self.assertRegex(result.err, r"mlictl: \d+ jobs were not run\n$")
        self.assertEqual(len(os.listdir(self.dir)), done + 3)

    def test_the_daemon_does_not_answer_in_time(self):
        process = self.submit_to_stopped(job=[mov(timeout_ms=1), mov(dst="2.npy")])
        result = self.finish(process, code=4)
        self.assertIn("does not answer", result.err)
        self.assertEqual([fact["state"] for fact in result.json], ["stopped", "skipped"])
        self.assert_nothing_happened()
        os.kill(self.daemon.pid, signal.SIGCONT)

    def test_ping_times_out(self):
        suspend(self.daemon.pid)
        begin = time.monotonic()
        self.ctl("ping", "-s", self.daemon.socket, code=4)
        self.assertLess(time.monotonic() - begin, PATIENCE / 2)
        os.kill(self.daemon.pid, signal.SIGCONT)

    def test_shutting_down(self):
        process = self.submit_to_stopped()
        self.daemon_may_die = True
        self.daemon.process.terminate()
        os.kill(self.daemon.pid, signal.SIGCONT)
        self.assertEqual(self.daemon.process.wait(PATIENCE), 0)
        self.assertIn(self.finish(process).code, (0, 3))

    def test_timeout(self):
        with open(self.path("in.bin"), "wb") as file:
            file.truncate(64 << 20)
        src = {"file": "in.bin", "shape": [8192, 8192], "type": "fx8"}
        self.write("job.json", mov(src, "out.npy", perm_dim=[1, 0], timeout_ms=1))
        for command in (("run",), ("submit", "-s", self.daemon.socket)):
            result = self.ctl(*command, "--json", "job.json", code=4)
            self.assertEqual(result.json[0]["error"]["name"], "TIMED_OUT")
            self.assertEqual(self.read("out.npy"), b"before")

    def test_cancelled_while_waiting_for_standard_input(self):
        process = self.start("run", "-")
        self.assertTrue(wait_for(lambda: sum("pipe" in n for n in open_files(process.pid)) >= 5))
        self.assertTrue(at_rest(process))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 4)

    def test_cancelled_while_waiting_for_a_fifo(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("run", "fifo")
        self.assertTrue(wait_for(lambda: self.path("fifo") in open_files(process.pid)))
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), 4)

    def test_a_fifo_is_read_once_it_has_a_writer(self):
        os.mkfifo(self.path("fifo"))
        process = self.start("run", "fifo")
        with open(self.path("fifo"), "w") as writer:
            self.assertTrue(at_rest(process))
            writer.write(json.dumps(mov()))
        self.finish(process, code=0)

    def test_gen_cancelled(self):
        process = self.start("gen", "big.npy", "--shape", "256,1024,1024", "--dtype", "int8")
        self.assertTrue(wait_for(lambda: self.has_begun_output(process)))
        process.send_signal(signal.SIGINT)
        self.finish(process, code=4)
        self.assertFalse(self.exists("big.npy"))

    def test_ignored_signals_stay_ignored(self):
        ignore = lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = self.start("run", "-", preexec_fn=ignore)
        self.assertTrue(wait_for(lambda: sum("pipe" in n for n in open_files(process.pid)) >= 5))
        self.assertTrue(at_rest(process))
        process.send_signal(signal.SIGHUP)
        self.finish(process, json.dumps(mov()).encode(), code=0)

    def test_without_free_descriptors(self):
        self.write("job.json", mov())
        for count in (6, 7):
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
            result = self.ctl("submit", "-s", self.daemon.socket, "job.json", preexec_fn=limit,
                              code=1)
            self.assertIn("Too many open files", result.err)
        self.assert_nothing_happened()


class Closed(Case):
    """Starts mlictl without standard streams and descriptors."""

    def closing(self, *fds):
        def close():
            for fd in fds:
                os.close(fd)
        return close

    def test_standard_streams(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        result = self.ctl("run", "-", preexec_fn=self.closing(0), code=2)
        self.assertEqual(result.err, "mlictl: stdin: it is closed\n")
        self.ctl("run", "job.json", preexec_fn=self.closing(0), code=0)
        result = self.ctl("run", "job.json", preexec_fn=self.closing(1), code=1)
        self.assertIn("standard output: Bad file descriptor", result.err)
        for fds in ((0, 1), (0, 1, 2)):
            self.ctl("run", "job.json", preexec_fn=self.closing(*fds), code=1)

    def test_standard_input_twice(self):
        self.assertIn("standard input can be read only once", self.ctl("run", "-", "-", code=2).err)

    def test_few_descriptors(self):
        self.write_npy("in.npy")
        self.write("golden.bin", ramp(24))
        self.write("job.json", mov(dst={"file": "out.npy", "params": "p.json"},
                                   expect={"file": "golden.bin"}))
        codes = []
        for count in range(6, 34):
            limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
            result = self.start("run", "job.json", preexec_fn=limit)
            out, err = result.communicate(timeout=PATIENCE)
            codes.append(result.returncode)
            if result.returncode:
                self.assertRegex(err, rb"Too many open files|too few file descriptors")
        self.assertEqual(sorted(codes, reverse=True), codes)
        self.assertEqual(set(codes), {0, 1})


class Jammed(Case):
    """Standard output or standard error is a full pipe that nobody reads."""

    def jam(self, *arguments, errors=False):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        process = subprocess.Popen([MLICTL, *arguments], cwd=self.dir, env=self.environment(),
                                   stdout=writer,
                                   stderr=writer if errors else subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.close(writer)
        wait_for(lambda: any(f"pipe:[{os.fstat(reader).st_ino}]" in name
                             for name in open_files(process.pid)))
        self.assertTrue(at_rest(process, self.daemon.pid))
        self.assertIsNone(process.poll(), arguments)
        return process

    def commands(self):
        self.write_npy("in.npy")
        self.write("job.json", mov())
        self.submit("job.json", code=0)
        at = ("-s", self.daemon.socket)
        return (("jobs", *at), ("top", *at), ("submit", *at, "job.json"), ("run", "job.json"),
                ("stats", "--prometheus", *at), ("top", "--json", *at),
                ("gen", "--force", "--shape", "2", "--dtype", "int8", "x.npy"))

    def test_the_first_signal_cancels(self):
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for i, command in enumerate(self.commands()):
            process = self.jam(*command)
            process.send_signal(signals[i % 3])
            self.assertEqual(process.wait(PATIENCE), 4, command)

    def test_error_messages_into_a_full_pipe(self):
        process = self.jam("status", "abc", errors=True)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), 2)

    def test_the_second_signal_kills(self):
        process = self.jam("gen", "--force", "--shape", "2", "--dtype", "int8", "x.npy")
        process.send_signal(signal.SIGINT)
        time.sleep(0.4)  # a second signal within 200 ms counts as the same one
        process.send_signal(signal.SIGTERM)
        self.assertIn(process.wait(PATIENCE), (-signal.SIGTERM, 4))


def switches(process):
    """Returns how often the process has waited so far."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", status)[1])


class Turns(Case):
    """Updates one file several times."""

    def setUp(self):
        super().setUp()
        self.write_npy("both.npy", "|u1", (8, 4), data=bytes(32))
        for i in range(8):
            self.write_npy(f"in{i}.npy", "|u1", (1, 4), data=bytes([i + 1] * 4))
            self.write(f"{i}.json", [mov(f"in{i}.npy", {"file": "both.npy", "update": True},
                                         dst_offset=[i, 0])] * 5)

    def test_no_update_is_lost(self):
        for command in (("run",), ("submit", "-s", self.daemon.socket)):
            self.write_npy("both.npy", "|u1", (8, 4), data=bytes(32))
            for process in [self.start(*command, f"{i}.json") for i in range(8)]:
                self.finish(process, code=0)
            self.assertEqual(self.read("both.npy")[128:],
                             b"".join(bytes([i + 1] * 4) for i in range(8)))

    def test_cancelled_while_another_update_runs(self):
        with open(self.path("both.npy")) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.ctl("validate", "0.json", code=0)
            process = self.start("run", "0.json")
            self.assertTrue(wait_for(lambda: self.path("both.npy") in open_files(process.pid)))
            before = switches(process)
            self.assertTrue(wait_for(lambda: switches(process) > before + 1))  # tries the lock again
            process.send_signal(signal.SIGINT)
            self.assertIn("cancelled", self.finish(process, code=4).err)
        self.assertEqual(self.read("both.npy")[128:], bytes(32))
        self.ctl("run", "0.json", code=0)


class Concurrent(Case):
    def test_many_clients_write_their_own_outputs(self):
        self.write_npy("in.npy", "|u1", (16, 16))
        for i in range(12):
            self.write(f"{i}.json", mov(dst=f"{i}.npy", offset=[i, 0]))
        running = [self.start("submit", "-s", self.daemon.socket, f"{i}.json") for i in range(12)]
        for i, process in enumerate(running):
            self.finish(process, code=0)
            self.assertEqual(self.read(f"{i}.npy")[128:], ramp(256)[16 * i:])

    def test_an_output_is_replaced_atomically(self):
        contents = []
        for i in range(4):
            self.write_npy(f"in{i}.npy", "|u1", (1000,), data=bytes([i]) * 1000)
            self.write(f"{i}.json", mov(f"in{i}.npy", "out.npy"))
            contents.append(npy("|u1", (1000,), bytes([i]) * 1000))
        running = [self.start("run", *[f"{i}.json"] * 50) for i in range(4)]
        while any(process.poll() is None for process in running):
            if self.exists("out.npy"):
                self.assertIn(self.read("out.npy"), contents)
        for process in running:
            self.finish(process, code=0)


if __name__ == "__main__":
    main()
