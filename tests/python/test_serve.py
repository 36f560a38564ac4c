# SPDX-License-Identifier: BSD-3-Clause
"""Tests mli.serve(): the child process, its directory, and its end."""
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

import mli


def is_gone(pid, seconds=30):
    """Returns whether a process ends in time. A zombie counts as ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


def run(program, *arguments, **options):
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True,
                          text=True, timeout=60, **options)


class Serve(unittest.TestCase):
    def test_with(self):
        with mli.serve(engine="threads", channels=3) as client:
            server = client.server
            self.assertEqual(client.info()["channels"], 3)
            self.assertEqual(client.info()["pid"], server.pid)
            mode = os.stat(os.path.dirname(server.path)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o700)
            with server.connect() as other:
                self.assertEqual(other.submit(np.arange(3)).tolist(), [0, 1, 2])
            self.assertTrue(server.running)
        self.assertFalse(os.path.exists(os.path.dirname(server.path)))
        self.assertTrue(is_gone(server.pid, 0.1))
        self.assertFalse(server.running)
        server.close()

    def test_closed_server(self):
        server = mli.serve()
        server.close()
        with self.assertRaisesRegex(mli.ServiceError, "the server is closed"):
            server.connect()
        with self.assertRaisesRegex(mli.ServiceError, "the server is closed"), server:
            pass

    def test_wrong_types(self):
        for arguments in ({"engine": 3}, {"log_level": 5}, {"log_level": None}):
            with self.subTest(arguments), self.assertRaisesRegex(TypeError, "a string is required"):
                mli.serve(**arguments)

    def test_bad_specifications(self):
        for arguments, word in (({"engine": "nonsense"}, "nonsense"),
                                ({"engine": "threads:tiny=x"}, "engine"),
                                ({"channels": 99}, "99"), ({"profile": "/nonexistent"}, "profile"),
                                ({"config": {"limits": {"jobbs": 1}}}, "jobbs"),
                                ({"log_level": "loud"}, "loud")):
            with self.subTest(arguments), self.assertRaises(mli.ServiceError) as caught:
                mli.serve(**arguments)
            self.assertEqual(caught.exception.name, "NO_SERVICE")
            self.assertIn(word, str(caught.exception))

    def test_no_program(self):
        with mock.patch.dict(os.environ, MLID="/nonexistent"), self.assertRaises(mli.Error):
            mli.serve()

    def test_nothing_is_left(self):
        descriptors = len(os.listdir("/proc/self/fd"))
        threads = threading.active_count()
        with tempfile.TemporaryDirectory() as place, mock.patch.dict(os.environ, TMPDIR=place):
            os.environ.pop("XDG_RUNTIME_DIR", None)
            tempfile.tempdir = None
            for _ in range(3):
                with mli.serve() as client:
                    client.ping()
                with self.assertRaises(mli.ServiceError):
                    mli.serve(engine="nonsense")
            self.assertEqual(os.listdir(place), [])
        tempfile.tempdir = None
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)
        self.assertLessEqual(threading.active_count(), threads)

    def test_configuration_and_log(self):
        server = mli.serve(config={"limits": {"buffers_per_client": 0}}, log_level="debug")
        with server as client:
            with self.assertRaises(mli.ServiceError) as caught:
                client.buffer(10)
            self.assertEqual(caught.exception.name, "LIMIT")
            a = np.arange(100, dtype=np.int16).reshape(10, 10)
            for _ in range(3):  # without buffers, the client sends memory as descriptors
                self.assertTrue((client.submit(a, perm=(1, 0)) == a.T).all())
            self.assertIn("client connected", server.log())

    def test_log_after_the_end(self):
        server = mli.serve(log_level="info")
        server.close()
        with tempfile.TemporaryFile():  # takes the number of a closed descriptor
            self.assertIn("listening", server.log())
        self.assertFalse(server.running)
        with self.assertRaises(mli.ServiceError):
            server.connect()

    def test_client_in_words(self):
        with mli.serve() as client:
            path = client.path
            self.assertEqual(repr(client), f"<mli.Client {path}: connected, no reply yet>")
            client.ping()
            self.assertEqual(repr(client), f"<mli.Client {path}: connected>")
            other = client.server.connect()
            other.close()
            other.close()
            self.assertEqual((other.path, repr(other)), (path, f"<mli.Client {path}: closed>"))

    def test_configuration_that_cannot_be_honoured(self):
        descriptors = len(os.listdir("/proc/self/fd"))
        for config, arguments in (({"socket": "/tmp/x"}, {}), ({"log_level": "debug"}, {}),
                                  ({"engine": "inline"}, {"engine": "threads"}),
                                  ({"channels": 2}, {"channels": 3})):
            with self.subTest(config), self.assertRaises(mli.Error) as caught:
                mli.serve(config=config, **arguments)
            self.assertEqual(caught.exception.field, f"config['{list(config)[0]}']")
        for config in ("x", {"limits": object()}):
            with self.subTest(config), self.assertRaises(TypeError):
                mli.serve(config=config)
        with self.assertRaises(ValueError):
            mli.serve(config={"channels": float("nan")})
        self.assertEqual(len(os.listdir("/proc/self/fd")), descriptors)
        with mli.serve(config={"engine": "inline", "channels": 2}) as client:
            self.assertEqual((client.info()["engine"], client.info()["channels"]), ("inline", 2))

    def test_the_thread_that_served_ends(self):
        servers = []
        thread = threading.Thread(target=lambda: servers.append(mli.serve()))
        thread.start()
        thread.join()
        time.sleep(0.2)  # the service must not end with this thread
        with servers[0] as client:
            client.ping()

    def test_it_ends_with_the_program(self):
        for end in ("sys.exit(0)", "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(1)",
                    "raise SystemExit(3)", "os.abort()"):
            with self.subTest(end):
                done = run("import os, signal, sys, resource, mli, numpy\n"
                           "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
                           "server = mli.serve(engine='fault:threads,stick=1')\n"
                           "client = server.connect()\n"
                           "ticket = client.start(numpy.zeros(1000))\n"
                           "client._connection.flush()\n"
                           f"print(server.pid, server.path, flush=True)\n{end}")
                pid, path = done.stdout.split()
                self.assertTrue(is_gone(int(pid)), done.stderr)
                self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_exit_with_jobs_on_their_way(self):
        done = run("import mli, numpy\n"
                   "client = mli.serve(engine='fault:threads,stick=1').connect()\n"
                   "tickets = [client.start(numpy.zeros(1000)) for _ in range(10)]\n"
                   "plan = client.plan(client.buffer(10).array())\n"
                   "plan.start()\n"
                   "tickets[0].add_done_callback(print)\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_interrupt_at_the_terminal(self):
        with mli.serve() as client:
            self.assertNotEqual(os.getpgid(client.server.pid), os.getpgid(0))

    def test_the_service_dies(self):
        with mli.serve() as client:
            client.ping()
            os.kill(client.server.pid, signal.SIGKILL)
            with self.assertRaises(mli.ServiceError) as caught:
                while True:
                    client.ping()
            self.assertEqual(caught.exception.name, "LOST")
            self.assertTrue(is_gone(client.server.pid))


class Remote(unittest.TestCase):
    """A command that replaces ssh and runs mlictl proxy on this machine."""

    def setUp(self):
        self.server = mli.serve()
        self.addCleanup(self.server.close)
        mlictl = os.environ.get("MLICTL")
        if not mlictl:
            self.skipTest("MLICTL is not set")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        script = os.path.join(folder.name, "ssh")
        with open(script, "w") as out:
            out.write(f'#!/bin/sh\nshift\n[ "$1" = mlictl ] || exit 9\nshift\n'
                      f'eval exec "{mlictl}" "$@"\n')
        os.chmod(script, 0o700)
        environment = mock.patch.dict(os.environ, MLI_SSH=script)
        environment.start()
        self.addCleanup(environment.stop)

    def test_moves(self):
        a = np.arange(60, dtype=np.int16).reshape(3, 4, 5)
        with mli.Client(self.server.path, host="ssh://board") as client:
            for _ in range(3):
                self.assertTrue((client.submit(a, perm=(2, 0, 1)) == a.transpose(2, 0, 1)).all())
            out = np.full((5, 5), 7, np.int16)
            client.submit(a[0], out=out, at=(1, 0))
            self.assertTrue((out[1:] == a[0][:, :5]).all() if a[0].shape[0] == 4 else True)
            self.assertTrue((out[0] == 7).all() and (out[1:4] == a[0][:3]).all())
            for call in (lambda: client.buffer(10), lambda: client.plan(a)):
                with self.assertRaises(mli.ServiceError):
                    call()
            self.assertEqual(client.info()["state"], "serving")

    def test_spawn(self):
        command = [os.environ["MLICTL"], "proxy", "--socket", self.server.path]
        with mli.Client.spawn(command) as client:
            client.ping()
        with self.assertRaises(mli.ServiceError):
            mli.Client.spawn(["/nonexistent"]).ping()
        with mli.Client.spawn(["sh", "-c", "exit 3"]) as client:
            self.assertEqual(repr(client), "<mli.Client sh: connected, no reply yet>")
            with self.assertRaises(mli.ServiceError) as caught:
                client.ping()
            self.assertEqual(caught.exception.name, "LOST")

    def test_hosts(self):
        for host in ("board", "ssh://", "ssh://-oProxy", "ssh://a b", "ssh://u@-x", "ssh://a:0",
                     "ssh://a:99999", "ssh://a/path", "http://a"):
            with self.subTest(host), self.assertRaises(mli.Error):
                mli.Client(host=host)


if __name__ == "__main__":
    unittest.main(verbosity=2)
