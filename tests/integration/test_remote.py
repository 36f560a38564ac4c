#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl -H: a daemon at the other end of a stream.

A stand-in for ssh runs the remote command locally in a shell, as sshd does; a real sshd is tested if installed.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading

from harness import MLICTL, Case, at_rest, main, mov, open_files, ramp, wait_for
from sshd import SshdCase, free_port
from suspend import suspend

STAND_IN = """#!/bin/sh
# [-p port] [user@]host command...
echo "$@" >>"$STAND_IN_LOG"
[ "$1" = -p ] && shift 2
shift
{before}
exec /bin/sh -c "$*"
"""


class Remote(Case):
    def setUp(self):
        super().setUp()
        self.stand_in()
        self.log = self.root / "ssh.log"

    def stand_in(self, before=""):
        path = self.root / "ssh"
        path.write_text(STAND_IN.replace("{before}", before))
        path.chmod(0o755)

    def environment(self):
        environment = super().environment()
        environment["MLI_SSH"] = str(self.root / "ssh")
        environment["STAND_IN_LOG"] = str(self.root / "ssh.log")
        environment["PATH"] = str(pathlib.Path(MLICTL).parent) + ":" + environment["PATH"]
        environment["MLID_SOCKET"] = self.daemon.socket if self._daemon else ""
        return environment

    def remote(self, command, *arguments, **more):
        self.daemon
        return self.ctl("-H", "ssh://board", command, *arguments, **more)

    def proxies(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if b"proxy" in words and str(self.root).encode() in environment:
                found.append(int(pid))
        return found

    def assert_nothing_left(self):
        self.assertTrue(wait_for(lambda: not self.proxies()))
        self.assertTrue(wait_for(self.daemon.idle))


class Jobs(Remote):
    def test_remote_and_local_results_agree(self):
        self.write_npy("in.npy", "<i2", (8, 9, 3))
        job = [mov(dst="a.npy", perm_dim=[2, 0, 1]),
               mov(dst="b.npy", padding_pre=[1, 1, 0], padding_post=[1, 1, 0]),
               mov(dst={"file": "c.raw"}, dst_mem_stride=[300, 30, 3], offset=[0, 2, 0])]
        self.write("job.json", job)
        self.ctl("run", "job.json", code=0)
        expected = self.listing()
        for name in ("a.npy", "b.npy", "c.raw"):
            (self.dir / name).unlink()
        result = self.remote("submit", "--json", "job.json", code=0)
        self.assertEqual(self.listing(), expected)
        self.assertEqual([fact["state"] for fact in result.json], ["done"] * 3)
        self.assert_nothing_left()

    def test_the_command(self):
        self.daemon
        self.ctl("-H", "ssh://me@board:2022", "ping", code=0)
        self.ctl("ping", "--host", "ssh://[::1]", "-s", self.daemon.socket, code=0)
        self.ctl("-H", "ssh://board:22/", "ping", code=0)
        self.assertEqual(self.log.read_text().splitlines(),
                         ["-p 2022 me@board mlictl proxy",
                          f"::1 mlictl proxy --socket '{self.daemon.socket}'",
                          "-p 22 board mlictl proxy"])

    def test_the_environment(self):
        self.daemon
        process = subprocess.run([MLICTL, "ping"], capture_output=True, timeout=60,
                                 env=dict(self.environment(), MLID_HOST="ssh://board"))
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn(b"ssh://board", process.stdout)

    def test_updates_send_the_existing_file(self):
        self.write_npy("in.npy", "|i1", (2, 3), data=bytes(range(6)))
        self.write_npy("out.npy", "|i1", (4, 3), data=b"\x50" * 12)
        self.write("job.json", mov(dst={"file": "out.npy", "update": True}, dst_offset=[1, 0]))
        self.remote("submit", "job.json", code=0)
        self.assertEqual(self.read("out.npy")[-12:], b"\x50" * 3 + bytes(range(6)) + b"\x50" * 3)

    def test_many_jobs(self):
        self.write_npy("in.npy", "|i1", (4, 5))
        self.write("job.json", [mov(dst=f"{i}.npy", perm_dim=[1, 0]) for i in range(300)])
        self.remote("submit", "job.json", code=0)
        self.assertEqual(len({self.read(f"{i}.npy") for i in range(300)}), 1)
        self.assert_nothing_left()

    def test_a_large_job(self):
        size = 64 << 20
        data = os.urandom(1 << 20) * 64
        self.write_npy("in.npy", "|u1", (size // 1024, 1024), data=data)
        self.write("job.json", mov(offset=[1, 0]))
        self.remote("submit", "job.json", code=0)
        self.assertEqual(self.read("out.npy")[-(size - 1024):], data[1024:])
        self.assert_nothing_left()

    def test_a_too_large_job(self):
        with open(self.path("in.raw"), "wb") as file:
            file.truncate(1 << 30)
        self.write("job.json", mov(src={"file": "in.raw", "type": "fx8", "shape": [1 << 29]}))
        result = self.remote("submit", "job.json", code=2)
        self.assertIn("more than the 1073741824 B", result.err)
        self.assertFalse(self.exists("out.npy"))

    def test_a_refused_job(self):
        self.write_npy("in.npy", "|i1", (4,))
        self.write("job.json", mov(channels=16))
        result = self.remote("submit", "--json", "job.json", code=1)
        self.assertEqual(result.json[0]["error"]["name"], "LIMIT")
        self.assertFalse(self.exists("out.npy"))
        self.assert_nothing_left()


class Lost(Remote):
    def held(self, *jobs):
        """Starts a submit whose job never ends; returns the submit and the proxy that serves it."""
        self._daemon = self.start_daemon(self.root, "--engine", "fault:threads,tiny=0,stick=1")
        self.write_npy("in.npy", "|i1", (4,))
        self.write("job.json", list(jobs) or [mov(), mov(dst="2.npy")])
        process = self.start("-H", "ssh://board", "submit", "--json", "job.json")
        self.assertTrue(wait_for(lambda: any("memfd" in name for pid in self.proxies()
                                             for name in self.open_files(pid))))
        return process

    @staticmethod
    def open_files(pid):
        try:
            return open_files(pid)
        except OSError:
            return []

    def assert_lost(self, process, code=3):
        result = self.finish(process, code=code)
        self.assertFalse(self.exists("out.npy"))
        self.assert_nothing_left()
        return result

    def test_killed_proxy(self):
        process = self.held()
        for pid in self.proxies():
            os.kill(pid, signal.SIGKILL)
        result = self.assert_lost(process)
        self.assertIn("lost", result.err)
        self.assertEqual([fact["state"] for fact in result.json], ["lost", "skipped"])

    def test_killed_ssh(self):
        # If ssh is killed, the remote command sees the end of its input; so it does with the test's script in place of
        # ssh.
        self.stand_in('exec 3<&0; /bin/sh -c "$*" <&3 3<&- & wait; exit 255')
        process = self.held()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if str(self.root / "ssh").encode() in words and int(pid) != process.pid:
                os.kill(int(pid), signal.SIGKILL)
        for pid in self.proxies():  # what sshd does when the connection breaks
            os.kill(pid, signal.SIGHUP)
        self.assert_lost(process)

    def test_cancelled(self):
        process = self.held()
        process.send_signal(signal.SIGINT)
        self.assert_lost(process, code=4)

    def test_killed(self):
        process = self.held()
        process.kill()
        process.communicate()
        self.assert_nothing_left()

    def test_without_mlictl_on_the_host(self):
        self.stand_in("exec mlictl-is-not-there")
        result = self.remote("ping", code=3)
        self.assertIn("mlictl is not installed there", result.err)
        self.assertIn("not found", result.err)  # the shell's own words

    def test_ssh_fails(self):
        self.stand_in("echo 'Connection refused by board' >&2; exit 255")
        result = self.remote("info", code=3)
        self.assertIn("Connection refused by board", result.err)
        self.assertIn("ssh cannot connect", result.err)

    def test_the_command_ends(self):
        for words, why in (("exit 1", "ended with 1 before a daemon answered"),
                           ("exit 0", "ended with 0 before a daemon answered")):
            self.stand_in(words)
            result = self.remote("ping", code=3)
            self.assertIn(f"ssh://board: {self.root / 'ssh'} {why}", result.err)

    def test_no_ssh(self):
        (self.root / "ssh").unlink()
        result = self.remote("info", "--json", code=3)
        self.assertEqual(result.json[0]["exit"], 3)
        self.assertIn("cannot be started", result.err)

    def test_without_a_daemon_on_the_host(self):
        result = self.ctl("-H", "ssh://board", "info", "-s", self.path("none"), code=3)
        self.assertIn("no daemon listens at " + self.path("none"), result.err)

    def test_bad_hosts(self):
        for url in ("ssh://-oProxyCommand=x", "ssh://-l@board", "board", "http://board", "ssh://",
                    "ssh://a b", "ssh://board;x", "ssh://board:0", "ssh://board:99999",
                    "ssh://board:22x", "ssh://@board", "ssh://board/path", "ssh://$(x)"):
            result = self.ctl("-H", url, "ping", code=2)
            self.assertRegex(result.err, r"ssh://(\[user@\]host\[:port\] is needed|board\?$)", url)
        for url, why in (("ssh://h/path", "a path is not allowed"), ("ssh://::1", "brackets"),
                         ("ssh://a b", "only letters"), ("ssh://-oX", "begin with a dash"),
                         ("ssh://h:0", "from 1 to 65535"), ("ssh://h:99999", "from 1 to 65535"),
                         ("ssh://:22", "names no host")):
            self.assertIn(why, self.ctl("-H", url, "ping", code=2).err, url)
        self.assertFalse(self.log.exists())
        self.assertIn("cannot be combined", self.ctl("-H", "ssh://b", "gen", "--shape", "1", "--dtype",
                                            "int8", "x.npy", code=2).err)


class Proxy(Remote):
    """Sends single bytes and lines to the proxy."""

    def proxy(self):
        self.daemon
        return self.start("proxy")

    def converse(self, sent, keep=True):
        process = self.proxy()
        process.stdin.write(sent)
        process.stdin.flush()
        if not keep:
            return self.finish(process)
        self.assertTrue(at_rest(process, self.daemon.pid))
        out, err = process.communicate(timeout=60)
        return process.returncode, [line for line in out.split(b"\n") if b'"method":"hello"' not in line], err

    @staticmethod
    def request(number, method, params=None, **more):
        request = {"jsonrpc": "2.0", "id": number, "method": method, **more}
        if params is not None:
            request["params"] = params
        return json.dumps(request).encode() + b"\n"

    def submit(self, number, inline, **more):
        return self.request(number, "job.submit",
                            {"op": "mov", "src": {"fd": 0, "type": "fx8", "shape": [6]},
                             "dst": {"fd": 1}, **more}, fds=2, inline=inline)

    def test_bytes(self):
        line = self.submit("a", [{"bytes": 6}, {"size": 7, "back": True}])
        code, lines, _ = self.converse(line + b"ab\ncde" +
                                       self.request(2, "daemon.ping"))
        text = b"\n".join(lines)
        self.assertIn(b'"inline":[0,7]}\nab\ncde\0', text)
        self.assertIn(b'"pong":true', text)
        self.assertEqual(code, 0)

    def test_other_spellings(self):
        line = (b' { "inl\\u0069ne" : [{"bytes":1}] , "fds":1,"id":1,"jsonrpc":"2.0",'
                b'"method":"daemon.ping" }\r\nx')
        other = (b'{"params":{ "inline" :"}\\",{[" },"id":2,"jsonrpc":"2.0","method":"daemon.ping",'
                 b'"inline":[],"fds":0}\n')
        code, lines, _ = self.converse(line + other + self.request(3, "daemon.ping"))
        replies = {json.loads(line)["id"]: json.loads(line) for line in lines if line}
        self.assertEqual(replies[1]["error"]["data"]["pointer"], "/inline")
        self.assertEqual(replies[2]["error"]["data"]["pointer"], "/inline")
        self.assertEqual(replies[2]["error"]["code"], -32602)  # of the params
        self.assertTrue(replies[3]["result"]["pong"])
        self.assertEqual(code, 0)

    def test_refused_requests(self):
        for method, more, payload in (("job.prepare", {"fds": 1, "inline": [{"bytes": 3}]}, b"x\ny"),
                                      ("buffer.register", {"fds": 1, "inline": [{"size": 9}]}, b""),
                                      ("buffer.alloc", {}, b"")):
            code, lines, _ = self.converse(self.request(1, method, {}, **more) + payload +
                                           self.request(2, "daemon.ping"))
            replies = {json.loads(line)["id"]: json.loads(line) for line in lines if line}
            self.assertEqual(replies[1]["error"]["data"]["name"], "INVALID_REQUEST", method)
            self.assertTrue(replies[2]["result"]["pong"], method)
            self.assertEqual(code, 0)
        self.assert_nothing_left()

    def test_bytes_of_a_detached_job(self):
        line = self.submit(1, [{"bytes": 6}, {"size": 6, "back": True}], detach=True) + b"abcdef"
        other = self.submit(2, [{"bytes": 6}, {"size": 6}], detach=True) + b"abcdef"
        code, lines, _ = self.converse(line + other)
        replies = {json.loads(line)["id"]: json.loads(line) for line in lines if line}
        self.assertEqual(replies[1]["error"]["data"]["name"], "INVALID_REQUEST")
        self.assertEqual(replies[1]["error"]["data"]["pointer"], "/inline")
        self.assertIn("job", replies[2]["result"])
        self.assertEqual(code, 0)
        self.assert_nothing_left()

    def test_the_greeting_comes_first(self):
        process = self.proxy_of_a_stopped_daemon()
        process.stdin.write(self.request(1, "daemon.ping", fds=1))
        process.stdin.flush()
        self.assertTrue(at_rest(process))
        os.kill(self.daemon.pid, signal.SIGCONT)
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        self.assertEqual(lines[0].get("method"), "hello")
        self.assertEqual(lines[1]["error"]["data"]["name"], "INVALID_REQUEST")
        self.finish(process, code=1)

    def proxy_of_a_stopped_daemon(self):
        suspend(self.daemon.pid)
        return self.proxy()

    def test_requests_that_cannot_be_forwarded(self):
        for line in (self.request(1, "daemon.ping", fds=1),
                     self.request(1, "daemon.ping", inline=[{}]),
                     self.request(1, "daemon.ping", fds=1, inline=[{}, {}]),
                     self.request(1, "daemon.ping", fds=1, inline=[{"bytes": 3, "size": 2}]),
                     self.request(1, "daemon.ping", fds=1, inline=[{"bytes": (1 << 30) + 1}]),
                     self.request(1, "daemon.ping", fds=2, inline=[{"size": 1 << 30}] * 2),
                     self.request(1, "daemon.ping", fds=17, inline=[{}] * 17),
                     self.request(1, "daemon.ping", fds=-1, inline=[]),
                     b'{"jsonrpc":"2.0","id":1,"method":"daemon.ping","fds":1,"fds":0}\n',
                     b"x" * 70000):
            process = self.proxy()
            out, err = process.communicate(line, timeout=60)
            text = [part for part in out.split(b"\n") if part and b'"method":"hello"' not in part]
            if text:  # the end of the input may be seen first
                self.assertIn("error", json.loads(text[0]), line[:200])
            self.assertIn(process.returncode, (0, 1), err)
            process = self.proxy()
            process.stdin.write(line)
            process.stdin.flush()
            self.assertTrue(wait_for(lambda: process.poll() is not None), line[:200])
            process.communicate()
        self.assert_nothing_left()

    def test_requests_beyond_the_memory_limit(self):
        """Large requests wait for each other; requests that come after large ones are not lost."""
        sent = b"".join(self.submit(i, [{"bytes": 6}, {"size": 700 << 20, "back": True}],
                                    channels=16) + b"abcdef" for i in range(1, 6))
        code, lines, _ = self.converse(sent + self.request(9, "daemon.ping"))
        replies = {json.loads(line)["id"]: json.loads(line) for line in lines if line}
        self.assertEqual(code, 0)
        self.assertEqual({replies[i]["error"]["data"]["name"] for i in range(1, 6)}, {"LIMIT"})
        self.assertTrue(replies[9]["result"]["pong"])
        self.assert_nothing_left()

    def test_more_requests_than_fit(self):
        """Requests that the daemon has not read yet wait in the proxy, and are answered later."""
        process = self.proxy()
        suspend(self.daemon.pid)
        count = 20000
        lines = b"".join(self.request(i, "daemon.ping") for i in range(count))

        def feed():
            process.stdin.write(lines)
            process.stdin.flush()
        feeder = threading.Thread(target=feed)
        feeder.start()
        self.assertTrue(at_rest(process))
        os.kill(self.daemon.pid, signal.SIGCONT)
        seen = set()
        while len(seen) < count:
            reply = json.loads(process.stdout.readline())
            if "id" in reply:
                seen.add(reply["id"])
        feeder.join()
        process.stdin.close()
        process.stdin = None
        self.finish(process, code=0)

    def test_not_json(self):
        code, lines, _ = self.converse(b"hello\n")
        self.assertEqual(json.loads(lines[0])["error"]["data"]["name"], "PARSE_ERROR")
        self.assertEqual(code, 3)

    def test_the_end_of_either_side(self):
        process = self.proxy()
        self.assertTrue(wait_for(lambda: not self.daemon.idle()))
        process.stdin.close()
        process.stdin = None
        self.finish(process, code=0)
        process = self.proxy()
        self.assertTrue(wait_for(lambda: not self.daemon.idle()))
        self.assertEqual(self.daemon.stop(), 0)
        self.assertTrue(wait_for(lambda: process.poll() is not None))
        self.assertEqual(process.returncode, 3)
        self.daemon_may_die = True

    def test_a_client_that_does_not_read(self):
        """If the daemon does not read, bytes wait in the client's pipe, not in the proxy's memory."""
        process = self.proxy()
        line = self.submit(1, [{"bytes": 6}, {"size": 32 << 20, "back": True}]) + b"abcdef"
        for _ in range(8):
            process.stdin.write(line)
        process.stdin.flush()
        self.assertTrue(at_rest(process, self.daemon.pid))
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        anonymous = int(status.split("RssAnon:")[1].split()[0])
        if "Sanitizer" not in os.environ.get("ASAN_OPTIONS", "") and anonymous > 0:
            self.assertLess(anonymous, 200 * 1024)
        process.kill()
        process.communicate()
        self.assert_nothing_left()


class Sshd(SshdCase):
    def test_jobs(self):
        size = 8 << 20
        self.write_npy("in.npy", "|u1", (size // 512, 512))
        self.write("job.json", [mov(dst="a.npy", perm_dim=[1, 0])] +
                   [mov(dst=f"{i}.npy", size=[1, 8]) for i in range(20)])
        url = f"ssh://127.0.0.1:{self.port}"
        result = self.ctl("-H", url, "ping", "-s", self.daemon.socket)
        self.assertEqual(result.code, 0, str(result) + (self.keys / "log").read_text())
        self.ctl("-H", url, "submit", "-s", self.daemon.socket, "job.json", code=0)
        data, out = ramp(size), self.read("a.npy")[-size:]
        columns = size // 512
        self.assertEqual(out[:columns], data[::512])
        self.assertEqual(out[-columns:], data[511::512])
        self.assertTrue(wait_for(self.daemon.idle))
        result = self.ctl("-H", url, "ping", "-s", self.path("none"), code=3)
        self.assertIn("no daemon listens", result.err)

    def test_without_a_listener(self):
        result = self.ctl("-H", f"ssh://127.0.0.1:{free_port()}", "ping", code=3)
        self.assertIn("ssh cannot connect", result.err)


if __name__ == "__main__":
    main()
