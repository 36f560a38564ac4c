# SPDX-License-Identifier: BSD-3-Clause
"""A bad serial line between mlictl and the agent: it drops, doubles, changes and delays bytes, adds garbage and
goes quiet. Bytes keep their order, as on a wire."""
import random
import selectors
import socket
import threading
import time


class Line(threading.Thread):
    """Forwards bytes between a client at `path` and the agent at `agent`. faults: the fraction of bytes with each
    fault, for example {"drop": 0.001, "double": ..., "flip": ..., "garbage": ...}; a garbage fault adds up to 20
    random bytes. quiet: (after, seconds): after this number of bytes, the line drops all bytes for this time. `lost`
    counts the faults."""

    def __init__(self, path, agent, seed=1, quiet=None, delay=0, **faults):
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.agent, self.faults, self.quiet, self.delay = agent, faults, quiet, delay
        self.lost = self.passed = 0
        self.end_of_quiet = None
        self.after = None  # called after `quiet[0]` bytes
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.closing = False
        self.start()

    def close(self):
        if self.closing:
            return
        self.closing = True
        self.listener.shutdown(socket.SHUT_RDWR)  # ends accept()
        self.listener.close()
        self.join(10)

    def spoil(self, data):
        out = bytearray()
        for byte in data:
            fault = next((name for name, share in self.faults.items() if self.random.random() < share), None)
            self.lost += fault is not None
            if fault == "drop":
                continue
            out.append(byte ^ 1 << self.random.randrange(8) if fault == "flip" else byte)
            if fault == "double":
                out.append(byte)
            if fault == "garbage":
                out += self.random.randbytes(self.random.randrange(1, 20))
        return bytes(out)

    def is_quiet(self, count):
        """Returns whether the line drops all bytes now."""
        before = self.passed
        self.passed += count
        if not self.quiet:
            return False
        if before < self.quiet[0] <= self.passed:
            self.end_of_quiet = time.monotonic() + self.quiet[1]
            if self.after:
                self.after()
        return self.end_of_quiet is not None and time.monotonic() < self.end_of_quiet

    def forward(self, source, target):
        data = source.recv(4096)
        if not data:
            return False
        if self.is_quiet(len(data)):
            self.lost += len(data)
            return True
        if self.delay:
            time.sleep(self.random.random() * self.delay)
        target.sendall(self.spoil(data))
        return True

    def serve(self, client):
        with client, socket.socket(socket.AF_UNIX) as agent, selectors.DefaultSelector() as selector:
            agent.connect(str(self.agent))
            selector.register(client, selectors.EVENT_READ, agent)
            selector.register(agent, selectors.EVENT_READ, client)
            while not self.closing:
                for key, _ in selector.select(0.1):
                    try:
                        if not self.forward(key.fileobj, key.data):
                            return
                    except OSError:
                        return

    def run(self):
        while not self.closing:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.serve(client)
