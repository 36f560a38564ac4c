# SPDX-License-Identifier: BSD-3-Clause
"""A FUSE file system that leaves chosen requests unanswered until its user frees them.

The server is a separate process, which speaks the protocol of /dev/fuse (linux/fuse.h) and opens no file of its
file system: the kernel aborts the file system when the process ends, whatever waits for an answer then.
"""
import contextlib
import ctypes
import os
import pathlib
import select
import stat
import struct
import subprocess
import sys

FILE_SIZE = 1 << 20

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, STATFS = 1, 2, 3, 4, 14, 15, 16, 17
RELEASE, FSYNC, FLUSH, INIT, INTERRUPT, BATCH_FORGET = 18, 20, 25, 26, 36, 42
NAMES = {"read": READ, "write": WRITE, "fsync": FSYNC, "flush": FLUSH, "release": RELEASE, "getattr": GETATTR,
         "statfs": STATFS}
UNANSWERED = (FORGET, BATCH_FORGET, INTERRUPT)  # the protocol wants no reply

IN_HEADER = struct.Struct("<IIQQIIIHH")  # length, opcode, unique, node, uid, gid, pid, -, -
OUT_HEADER = struct.Struct("<IiQ")
INIT_OUT = struct.Struct("<IIIIHHIIHHI28x")
ATTRIBUTES = struct.Struct("<6Q10I")
ROOT = 1
BUFFER = (1 << 17) + (1 << 13)
ENOSYS = 38
KEEP_CACHE = 2  # else open(2) waits for pages that are being written
CLONE_NEWNS, CLONE_NEWUSER, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x10000000, 0x4000, 1 << 18, 2


class Unavailable(Exception):
    """This machine does not let the test mount a file system."""


# The server's process

def content(offset, size):
    """Returns the size of each file, in bytes."""
    return bytes(at % 251 for at in range(offset, min(offset + size, FILE_SIZE)))


def attributes(node):
    mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o666
    return ATTRIBUTES.pack(node, FILE_SIZE, FILE_SIZE // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Server:
    def __init__(self, fuse, friend):
        self.fuse, self.friend = fuse, friend  # a thread whose requests are always answered
        self.stalled, self.waiting = set(), []

    def reply(self, unique, body=b"", error=0):
        with contextlib.suppress(FileNotFoundError):  # the request was interrupted
            os.write(self.fuse, OUT_HEADER.pack(OUT_HEADER.size + len(body), -error, unique) + body)

    def answer(self, opcode, unique, node, body):
        if opcode == INIT:
            self.reply(unique, INIT_OUT.pack(7, 31, 1 << 17, 0, 1024, 1024, 1 << 17, 1, 0, 0, 0))
        elif opcode == LOOKUP:  # every number is the name of a file
            node = int(body.rstrip(b"\0")) + ROOT + 1
            self.reply(unique, struct.pack("<4Q2I", node, 0, 3600, 3600, 0, 0) + attributes(node))
        elif opcode in (GETATTR, SETATTR):
            self.reply(unique, struct.pack("<Q2I", 3600, 0, 0) + attributes(node))
        elif opcode == OPEN:
            self.reply(unique, struct.pack("<Q2I", node, KEEP_CACHE, 0))
        elif opcode == READ:
            self.reply(unique, content(*struct.unpack_from("<8xQI", body)))
        elif opcode == WRITE:
            self.reply(unique, struct.pack("<2I", struct.unpack_from("<16xI", body)[0], 0))
        elif opcode == STATFS:
            self.reply(unique, struct.pack("<5Q4I24x", 0, 0, 0, 0, 0, 4096, 255, 4096, 0))
        elif opcode in (FLUSH, RELEASE, FSYNC):
            self.reply(unique)
        elif opcode not in UNANSWERED:
            self.reply(unique, error=ENOSYS)

    def request(self):
        data = os.read(self.fuse, BUFFER)
        _, opcode, unique, node, _, _, pid, _, _ = IN_HEADER.unpack_from(data)
        request = (opcode, unique, node, data[IN_HEADER.size:])
        if opcode in self.stalled and pid != self.friend:
            self.waiting.append(request)
        else:
            self.answer(*request)

    def command(self, line):
        """Carries out "stall NAME...", "free" or "waiting"; replies with the number of waiting requests."""
        verb, *names = line.split()
        if verb == "stall":
            self.stalled = {NAMES[name] for name in names}
        elif verb == "free":
            self.stalled = set()
            for request in self.waiting:
                self.answer(*request)
            self.waiting = []
        print(len(self.waiting), flush=True)

    def run(self):
        poll = select.poll()
        poll.register(self.fuse, select.POLLIN)
        poll.register(0, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self.fuse:
                    self.request()
                else:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    self.command(line)


# The test's process

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        error = ctypes.get_errno()
        raise Unavailable(f"{name}(2): {os.strerror(error)}")


def private_mounts():
    """Gives this process a mount namespace of its own. Returns false if this required a new user
    namespace, because the process is not root."""
    uid, gid = os.geteuid(), os.getegid()
    try:
        call("unshare", CLONE_NEWNS)
        real = True
    except Unavailable:
        call("unshare", CLONE_NEWUSER | CLONE_NEWNS)
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            pathlib.Path("/proc/self", name).write_text(text, encoding="ascii")
        real = False
    call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    return real


class StalledFs:
    """A mounted file system. Requests of the calling thread are never stalled."""

    def __init__(self, directory):
        self.directory = str(directory)
        try:
            fuse = os.open("/dev/fuse", os.O_RDWR)
        except OSError as error:
            raise Unavailable(f"/dev/fuse: {error.strerror}") from None
        try:
            options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0,allow_other"
            call("mount", b"stalled", self.directory.encode(), b"fuse", 0, options.encode())
            self.server = subprocess.Popen(
                [sys.executable, __file__, str(fuse), str(os.getpid())], pass_fds=[fuse],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        finally:
            os.close(fuse)

    def command(self, line):
        self.server.stdin.write(line + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def stall(self, *names):
        self.command("stall " + " ".join(names))

    def free(self):
        self.command("free")

    def waiting(self):
        """Returns the number of requests that wait for an answer."""
        return self.command("waiting")

    def open(self, number, flags=os.O_RDWR):
        return os.open(f"{self.directory}/{number}", flags | os.O_CLOEXEC)

    def close(self):
        """Ends the server: the kernel fails all waiting requests."""
        self.server.stdin.close()
        self.server.wait()
        self.server.stdout.close()
        libc.umount2(self.directory.encode(), MNT_DETACH)


if __name__ == "__main__":
    Server(int(sys.argv[1]), int(sys.argv[2])).run()
