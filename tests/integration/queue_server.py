# SPDX-License-Identifier: BSD-3-Clause
"""Starts Redis on a local socket, for tests of `mlictl batch --queue`."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

PATIENCE = 60
HAS_REDIS = os.environ.get("MLI_REDIS", "1") == "1"  # mlictl was built with hiredis


class Redis:
    """A server in a directory of its own; its URLs end with the name of a queue."""

    program = "redis-server"

    def __init__(self, directory, options=()):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.socket = self.directory / "socket"
        self.options = options
        self.process = None
        self.start()

    @classmethod
    def missing(cls):
        """Returns why the server cannot be started or used, or None."""
        if not shutil.which(cls.program):
            return f"no {cls.program} (Debian: {cls.program})"
        return None if HAS_REDIS else "mlictl was built without hiredis (Debian: libhiredis-dev)"

    def command(self):
        return [self.program, "--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "yes",
                "--appendfsync", "always", "--dir", self.directory, *self.options]

    def start(self):
        self.socket.unlink(missing_ok=True)
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.directory, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while not self.accepts():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError((self.directory / "log").read_text())
            time.sleep(0.01)

    def accepts(self):
        """Returns whether Redis answers, which it does only after it has read its data file."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                return not probe.recv(100).startswith(b"-LOADING")
            except OSError:
                return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def url(self, name):
        return f"redis+unix://{self.socket}:{name}"

    def ask(self, command):
        """Returns the reply to a command: a number, or text."""
        with socket.socket(socket.AF_UNIX) as peer, peer.makefile("rwb") as lines:
            peer.connect(str(self.socket))
            if "--requirepass" in self.options:
                lines.write(f"AUTH {self.options[-1]}\r\n".encode())
                lines.flush()
                lines.readline()
            lines.write(f"{command}\r\n".encode())
            lines.flush()
            first = lines.readline().decode().strip()
            return int(first[1:]) if first[0] == ":" else lines.read(int(first[1:])).decode()

    def leased(self, name):
        """Returns how many cases workers hold now. Asking the server directly is quicker than `batch status`."""
        return self.ask(f"ZCOUNT mlictl:{{{name}}}:leased ({time.time() * 1000:.0f} +inf")

    def done(self, name):
        return self.ask(f"HLEN mlictl:{{{name}}}:results")

    def asked_by(self):
        """Returns how many of the connected clients have sent a script."""
        return self.ask("CLIENT LIST").count("cmd=eval")
