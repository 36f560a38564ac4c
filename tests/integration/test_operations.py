#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlid as integrators use it: systemd's protocols, reload, access, metrics, trace, and shutdown."""
import array
import json
import os
import pathlib
import resource
import signal
import socket
import subprocess
import threading
import time
import unittest
import urllib.error
import urllib.request

import harness
from harness import MLID, PATIENCE, at_rest, needs_root, wait_for

NOBODY = 65534


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Service:
    """Runs an mlid with its own configuration and environment."""

    def __init__(self, case, config=None, *arguments, environment=None, **more):
        self.directory = case.root
        self.config = self.directory / "mlid.json"
        self.socket = str(self.directory / "sock")
        self.log_path = self.directory / "log"
        self.configure(config or {})
        self.command = [MLID, "--config", str(self.config), "--socket", self.socket, *arguments]
        self.environment = dict(os.environ, **(environment or {}))
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=self.environment, **more)
        case.addCleanup(lambda: self.process.poll() is None and self.process.kill())

    def configure(self, config):
        self.config.write_text(config if isinstance(config, str) else json.dumps(config))

    def log(self):
        return self.log_path.read_text()

    def logged(self, words):
        return wait_for(lambda: words in self.log() or self.process.poll() is not None) and \
            words in self.log()

    def reload(self, config, words="reloaded"):
        before = self.log().count(words)
        self.configure(config)
        self.process.send_signal(signal.SIGHUP)
        return wait_for(lambda: self.log().count(words) > before, 10)

    def status(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def stop(self):
        self.process.terminate()
        return self.process.wait(PATIENCE)


class OperationsCase(harness.Case):
    def start_service(self, config=None, *arguments, **more):
        service = Service(self, config, *arguments, **more)
        self.assertTrue(service.logged("listening"), service.log())
        return service

    def connect(self, path):
        sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(sock.close)
        sock.settimeout(PATIENCE)
        sock.connect(path)
        return sock

    def call(self, path, method="daemon.info"):
        """Skips a greeting. Returns the reply, or the line with which the service refused the connection."""
        sock = self.connect(path)
        try:
            sock.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode() + b"\n")
        except BrokenPipeError:
            pass
        with sock.makefile() as lines:
            for line in lines:
                reply = json.loads(line)
                if "id" in reply:
                    return reply
        return None

    def submit(self, sock, count=1, **params):
        """Submits jobs of 6 bytes and reads no replies."""
        for number in range(count):
            fds = [os.memfd_create("src"), os.memfd_create("dst")]
            for fd in fds:
                os.ftruncate(fd, 6)
            line = json.dumps({"jsonrpc": "2.0", "id": 10 + number, "method": "job.submit",
                               "fds": 2, "params": dict({
                                   "op": "mov", "src": {"fd": 0, "type": "fx8", "shape": [6]},
                                   "dst": {"fd": 1}}, **params)}).encode() + b"\n"
            sock.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
            for fd in fds:
                os.close(fd)

    def as_other(self, path):
        """Sends a request as another user (only root can become one); returns the reply."""
        self.root.chmod(self.root.stat().st_mode | 0o055)
        # The service may close a connection that it refuses before the client has sent anything.
        script = ("import contextlib,socket,sys\n"
                  "s = socket.socket(socket.AF_UNIX)\n"
                  "s.connect(sys.argv[1])\n"
                  "with contextlib.suppress(BrokenPipeError):\n"
                  "    s.sendall(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.ping\"}\\n')\n"
                  "print(s.makefile().readline())\n")
        result = subprocess.run(["/usr/bin/python3", "-c", script, path], user=NOBODY, group=NOBODY,
                                extra_groups=[], capture_output=True, timeout=PATIENCE, check=False)
        return result.stdout.decode()


class Systemd(OperationsCase):
    def manager(self, address):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(sock.close)
        sock.settimeout(PATIENCE)
        sock.bind("\0" + address[1:] if address[0] == "@" else address)
        return sock

    def talk(self, address):
        manager = self.manager(address)
        service = Service(self, {}, environment={"NOTIFY_SOCKET": address,
                                                 "WATCHDOG_USEC": "600000"})
        printed = manager.recv(4096).decode()
        self.assertRegex(printed, r"^READY=1\nSTATUS=4 channels of threads$")
        self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
        begin = time.monotonic()
        self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
        self.assertLess(time.monotonic() - begin, 0.6)

        def next_message():
            printed = b"WATCHDOG=1"
            while printed == b"WATCHDOG=1":
                printed = manager.recv(4096)
            return printed.decode()

        service.process.send_signal(signal.SIGHUP)
        self.assertRegex(next_message(), r"^RELOADING=1\nMONOTONIC_USEC=[0-9]+$")
        self.assertRegex(next_message(), r"^READY=1\n")
        service.process.terminate()
        self.assertRegex(next_message(), r"^STOPPING=1\n")
        self.assertEqual(service.process.wait(PATIENCE), 0, service.log())

    def test_path(self):
        self.talk(str(self.root / "notify"))

    def test_abstract(self):
        self.talk(f"@mlid-test-{os.getpid()}")

    def activate(self, sockets, names, code=None):
        """Starts mlid as a service manager does: passes descriptors from number 3 on, and LISTEN_PID."""
        def place():
            for number, sock in enumerate(sockets):
                os.dup2(sock.fileno(), 100 + number)
            for number in range(len(sockets)):
                os.dup2(100 + number, 3 + number)
                os.set_inheritable(3 + number, True)

        service = Service.__new__(Service)
        service.config = self.root / "mlid.json"
        service.config.write_text("{}")
        service.log_path = self.root / "log"
        shell = 'LISTEN_PID=$$ exec "$0" "$@"'
        with open(service.log_path, "ab") as log:
            service.process = subprocess.Popen(
                ["/bin/sh", "-c", shell, MLID, "--config", str(service.config), "--socket",
                 str(self.root / "not-this-one")],
                env=dict(os.environ, LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=names),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False,
                preexec_fn=place)
        self.addCleanup(lambda: service.process.poll() is None and service.process.kill())
        if code is None:
            self.assertTrue(service.logged("listening"), service.log())
        else:
            self.assertEqual(service.process.wait(PATIENCE), code, service.log())
        return service

    def test_activation(self):
        path = str(self.root / "sock")
        with socket.socket(socket.AF_UNIX) as listener, \
                socket.create_server(("127.0.0.1", 0)) as metrics:
            listener.bind(path)
            listener.listen(5)
            service = self.activate([metrics, listener], "metrics:mlid")
            self.assertEqual(self.call(path)["result"]["pid"], service.process.pid)
            url = f"http://127.0.0.1:{metrics.getsockname()[1]}/metrics"
            self.assertIn(b"mlid_clients", urllib.request.urlopen(url).read())
            self.assertFalse((self.root / "not-this-one").exists())
            self.assertEqual(service.stop(), 0)
            self.assertTrue(os.path.exists(path), "the socket is the manager's")
            # The next mlid serves the clients that have connected while no mlid was running.
            waiting = self.connect(path)
            waiting.sendall(b'{"jsonrpc":"2.0","id":7,"method":"daemon.ping"}\n')
            service = self.activate([listener], "mlid")
            with waiting.makefile() as lines:
                replies = (json.loads(line) for line in lines)
                self.assertEqual(next(r for r in replies if "id" in r)["id"], 7)
            self.assertEqual(service.stop(), 0)

    def test_activation_refused(self):
        with socket.create_server(("127.0.0.1", 0)) as inet:
            service = self.activate([inet], "mlid", code=2)
            self.assertIn("is not a unix socket", service.log())
            service = self.activate([inet], "other", code=2)
            self.assertIn("must be named", service.log())


class Unit(OperationsCase):
    """Tests the text of the systemd unit; systemd itself does not run."""

    def values(self, key):
        text = (harness.SOURCE / "conf/mlid.service.in").read_text()
        return [line.split("=", 1)[1] for line in text.splitlines() if line.startswith(key + "=")]

    def test_reload_fails_for_a_broken_file(self):
        """systemd runs the commands in order and stops at the first command that fails."""
        check, signal_command = self.values("ExecReload")
        self.assertEqual(signal_command, "/bin/kill -HUP $MAINPID")
        self.assertEqual(check.split()[0], "@mlid@")
        config = self.root / "mlid.json"
        for text, code in (('{"channels": 2}', 0), ('{"chanels": 2}', 2), ("{", 2)):
            config.write_text(text)
            ended = subprocess.run([MLID, *check.split()[1:], "--config", config],
                                   capture_output=True, timeout=PATIENCE)
            self.assertEqual(ended.returncode, code, ended.stderr)

    def test_memory(self):
        self.assertEqual(self.values("OOMPolicy"), ["stop"])
        self.assertEqual(len(self.values("MemoryMax")), 1)


class Process(OperationsCase):
    def test_rights(self):
        service = self.start_service()
        self.assertEqual(service.status()["NoNewPrivs"], "1")
        limits = pathlib.Path(f"/proc/{service.process.pid}/limits").read_text()
        self.assertRegex(limits, r"Max core file size +0 +0 ")
        self.assertEqual(service.status()["Umask"], "0077")
        self.assertEqual(service.stop(), 0)

    @needs_root
    def test_user(self):
        self.root.chmod(0o777)
        trace = self.root / "trace.json"
        service = self.start_service({"user": "nobody", "socket_group": "4711",
                                      "socket_mode": "0660", "trace": str(trace)})
        for key in ("Uid", "Gid"):
            self.assertEqual(service.status()[key].split(), [str(NOBODY)] * 4)
        self.assertNotIn("0", service.status()["Groups"].split())
        self.assertEqual(int(service.status()["CapEff"], 16), 0)
        for thread in os.listdir(f"/proc/{service.process.pid}/task"):
            text = pathlib.Path(f"/proc/{service.process.pid}/task/{thread}/status").read_text()
            self.assertRegex(text, r"Uid:\s+65534\s+65534\s+65534\s+65534")
        # Other processes of mlid's user cannot read mlid's memory.
        self.assertEqual(os.stat(f"/proc/{service.process.pid}/mem").st_uid, 0)
        found = os.stat(service.socket)
        self.assertEqual((found.st_uid, found.st_gid, found.st_mode & 0o777),
                         (NOBODY, 4711, 0o660))
        self.assertEqual(os.stat(trace).st_uid, NOBODY)
        self.assertTrue(self.call(service.socket, "daemon.ping")["result"]["pong"])
        self.assertEqual(service.stop(), 0)
        self.assertFalse(os.path.exists(service.socket))

    def test_bad_users(self):
        for config, words in (({"user": "nobody-at-all"}, "there is no such user"),
                              ({"socket_group": "nobody-at-all"}, "there is no such group")):
            service = Service(self, config)
            self.assertEqual(service.process.wait(PATIENCE), 2)
            self.assertIn(words, service.log())

    def test_idle(self):
        """With all features enabled, an idle mlid never wakes up."""
        service = self.start_service({"metrics": {"listen": f"unix:{self.root}/metrics"},
                                      "trace": str(self.root / "trace.json")})
        trace = self.root / "trace.json"
        self.assertTrue(wait_for(lambda: trace.exists() and trace.stat().st_size > 0))
        self.assertTrue(at_rest(service.process))

        def switches():
            return service.status()["voluntary_ctxt_switches"]
        before = switches()
        time.sleep(1.5)  # longer than any timer of the daemon
        self.assertEqual(switches(), before)
        self.assertEqual(service.stop(), 0)


class Reload(OperationsCase):
    def test_changes(self):
        service = self.start_service({"limits": {"clients": 1}}, "--log-level", "info")
        held = self.connect(service.socket)
        self.assertTrue(service.logged("client connected"))
        self.assertEqual(self.call(service.socket)["error"]["data"]["name"], "LIMIT")
        self.assertTrue(service.reload({"limits": {"clients": 3, "jobs_per_client": 7}}))
        info = self.call(service.socket)["result"]
        self.assertEqual((info["clients_max"], info["jobs_per_client_max"]), (3, 7))
        held.close()
        self.assertEqual(service.stop(), 0)

    def test_keys_that_cannot_change(self):
        service = self.start_service({"channels": 2, "profile": "host"})
        self.assertTrue(service.reload({"channels": 3, "socket_mode": "0666", "drain_ms": 5,
                                        "profile": "vpx5-nsim"}))
        for key in ("channels", "socket_mode", "profile"):
            self.assertIn(f'warning cannot change while the service runs key="{key}"', service.log())
        self.assertIn("info reloaded kept=3", service.log())
        self.assertEqual(self.call(service.socket)["result"]["profile"], "host")
        self.assertEqual(self.call(service.socket)["result"]["channels"], 2)
        self.assertEqual(service.stop(), 0)

    def test_invalid(self):
        service = self.start_service({"limits": {"clients": 5}})
        for text in ("{", '{"limits":{"clients":6,"x":1}}', '{"metrics":{"listen":"0.0.0.0:1"}}'):
            self.assertTrue(service.reload(text, "error not reloaded why="))
            self.assertEqual(self.call(service.socket)["result"]["clients_max"], 5)
        service.config.unlink()
        service.process.send_signal(signal.SIGHUP)
        self.assertTrue(service.logged("No such file"))
        os.mkfifo(service.config)
        service.process.send_signal(signal.SIGHUP)
        self.assertTrue(service.logged("a regular file is required"))
        self.assertTrue(self.call(service.socket, "daemon.ping")["result"]["pong"])
        self.assertEqual(service.stop(), 0)

    def test_log_format(self):
        service = self.start_service({})
        self.assertTrue(service.reload({"log_format": "json", "log_level": "debug"}, '"reloaded"'))
        self.call(service.socket)
        self.assertTrue(service.logged('"client connected"'))
        lines = [json.loads(line) for line in service.log().splitlines() if line[0] == "{"]
        came = next(line for line in lines if line["event"] == "client connected")
        self.assertEqual((came["priority"], came["pid"], came["uid"]),
                         (6, os.getpid(), os.geteuid()))
        self.assertEqual(service.stop(), 0)

    @needs_root
    def test_access(self):
        service = self.start_service({"socket_mode": "0666"})
        self.assertNotIn("FORBIDDEN", self.as_other(service.socket))
        config = {"socket_mode": "0666", "access": {"uids": []},
                  "metrics": {"listen": f"unix:{self.root}/metrics"}}
        self.assertTrue(service.reload(config))
        self.assertIn("FORBIDDEN", self.as_other(service.socket))
        self.assertIn("result", self.call(service.socket))
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(f"{self.root}/metrics")
            sock.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            with sock.makefile() as reply:
                self.assertIn("mlid_clients_turned_away_total 1\n", reply.read())
        config["access"]["uids"] = [NOBODY]
        self.assertTrue(service.reload(config))
        self.assertNotIn("FORBIDDEN", self.as_other(service.socket))
        self.assertEqual(service.stop(), 0)

    def test_metrics(self):
        ports = free_port(), free_port()
        service = self.start_service({"metrics": {"listen": f"127.0.0.1:{ports[0]}"}})

        def served(port):
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").status
            except (urllib.error.URLError, ConnectionResetError):
                return None  # nobody listens, or no longer
        self.assertEqual([served(port) for port in ports], [200, None])
        self.assertTrue(service.reload({"metrics": {"listen": f"127.0.0.1:{ports[1]}"}}))
        self.assertEqual([served(port) for port in ports], [None, 200])
        with socket.create_server(("127.0.0.1", ports[0])):
            self.assertTrue(service.reload({"metrics": {"listen": f"127.0.0.1:{ports[0]}"}}))
            self.assertIn("cannot listen metrics=", service.log())
            self.assertEqual(served(ports[1]), 200)
        self.assertTrue(service.reload({}))
        self.assertEqual([served(port) for port in ports], [None, None])
        self.assertEqual(service.stop(), 0)


class Metrics(OperationsCase):
    def test_http(self):
        port = free_port()
        service = self.start_service({"metrics": {"listen": f"127.0.0.1:{port}"}})
        url = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(url + "/metrics") as reply:
            text = reply.read().decode()
            self.assertIn("text/plain; version=0.0.4", reply.headers["Content-Type"])
        for line in text.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) mlid_\w+ .+|mlid_\w+(\{.*\})? [0-9.]+)$")
        for request, code in ((url + "/", 404),
                              (urllib.request.Request(url + "/metrics", data=b"x"), 405)):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            self.assertEqual(refused.exception.code, code)
            refused.exception.close()
        answers = []
        for _ in range(4):  # as many at a time as are served at a time
            threads = [threading.Thread(target=lambda: answers.append(
                urllib.request.urlopen(url + "/metrics").status)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(PATIENCE)
        self.assertEqual(answers, [200] * 32)
        self.assertEqual(service.stop(), 0)

    def test_documented(self):
        """docs/operations.md lists every metric with its type, and no other metrics."""
        service = self.start_service({"metrics": {"listen": f"unix:{self.root}/metrics"},
                                      "profile": "host"})
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(f"{self.root}/metrics")
            sock.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            with sock.makefile() as reply:
                printed = {tuple(line.split()[2:4]) for line in reply if line.startswith("# TYPE")}
        text = (harness.SOURCE / "docs/operations.md").read_text()
        rows = [line.split("|") for line in text.splitlines() if line.startswith("| `mlid_")]
        documented = {(row[1].split("`")[1].split("{")[0], row[2].strip()) for row in rows}
        self.assertEqual(printed, documented)
        self.assertEqual(service.stop(), 0)


class Trace(OperationsCase):
    def test_the_trace_is_json(self):
        path = self.root / "trace.json"
        service = self.start_service({}, "--trace", str(path))
        self.assertEqual(service.stop(), 0)
        self.assertIsInstance(json.loads(path.read_text()), list)
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_no_file(self):
        link = self.root / "link"
        link.symlink_to(self.root / "target")
        fifo = self.root / "fifo"
        os.mkfifo(fifo)
        for path in (link, fifo, "/dev/null", self.root):
            service = Service(self, {"trace": str(path)})
            self.assertEqual(service.process.wait(PATIENCE), 1, path)
            self.assertIn("error cannot write the trace", service.log())
            self.assertFalse(os.path.exists(service.socket))

    def test_a_full_disk(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        # In this case the log is not in a file.
        config = self.root / "c.json"
        config.write_text("{}")
        process = subprocess.Popen(
            [MLID, "--config", str(config), "--socket", str(self.root / "sock"), "--trace",
             str(self.root / "trace.json")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=small)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        lines = []
        while "the trace stops" not in "".join(lines):
            lines.append(process.stderr.readline().decode())
            self.assertNotEqual(lines[-1], "", lines)
        self.assertIn("result", self.call(str(self.root / "sock")))
        process.terminate()
        rest = process.communicate(timeout=PATIENCE)[1].decode()
        self.assertEqual(process.returncode, 0)
        self.assertNotIn("the trace stops", rest)


def answers(path):
    """Returns true if a process listens on the socket: the file of the socket exists already from bind(2) on."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


class End(OperationsCase):
    def test_directory(self):
        """--remove-directory removes the directory only if it is empty, even if jobs outlast drain_ms."""
        config = self.root / "mlid.json"
        config.write_text(json.dumps({"drain_ms": 100}))
        for name, engine, status, kept in (("empty", "threads", 0, False), ("file", "threads", 0, True),
                                           ("job", "fault:threads,stick=1", 1, False)):
            directory = self.root / name
            directory.mkdir()
            path = str(directory / "mlid.sock")
            process = subprocess.Popen([MLID, "--config", str(config), "--socket", path, "--engine", engine,
                                        "--remove-directory"], stderr=subprocess.DEVNULL)
            self.addCleanup(process.kill)
            self.assertTrue(wait_for(lambda path=path: answers(path)))
            if status:
                self.submit(self.connect(path))
                self.assertTrue(wait_for(lambda: self.call(path)["result"]["jobs_running"] == 1))
            if kept:
                (directory / "other").touch()
            process.terminate()
            self.assertEqual(process.wait(PATIENCE), status)
            self.assertEqual(directory.exists(), kept, name)

    def test_dropped_events_are_counted(self):
        service = self.start_service({"channels": 1, "drain_ms": 300, "watchdog": {"limit_ms": 0},
                                      "metrics": {"listen": f"unix:{self.root}/metrics"}},
                                     "--engine", "fault:threads,stick=1")
        first, second = self.connect(service.socket), self.connect(service.socket)
        self.submit(first, 4)
        self.assertTrue(wait_for(
            lambda: self.call(service.socket)["result"]["jobs_running"] == 1))
        self.submit(second, 2)
        self.assertTrue(wait_for(
            lambda: self.call(service.socket)["result"]["jobs_queued"] == 5))
        uid, pid = os.geteuid(), os.getpid()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(f"{self.root}/metrics")
            sock.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
            with sock.makefile() as reply:
                metrics = reply.read()
        for line in ("mlid_jobs_running 1", 'mlid_jobs_queued{priority="normal"} 5',
                     'mlid_channel_state{channel="0",state="busy"} 1',
                     f'mlid_user_jobs{{uid="{uid}"}} 6'):
            self.assertIn(line + "\n", metrics)
        service.process.terminate()
        self.assertEqual(service.process.wait(PATIENCE), 1)
        log = service.log()
        for client, jobs in ((1, 3), (2, 2), (1, 1)):
            self.assertIn(f"warning jobs dropped client={client} pid={pid} uid={uid} jobs={jobs}\n", log)
        self.assertIn("warning jobs outlast drain_ms jobs=1\n", log)


if __name__ == "__main__":
    harness.main()
