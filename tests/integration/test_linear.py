# SPDX-License-Identifier: BSD-3-Clause
"""Tests that no input takes more than linear time: gives each input in two sizes, the second eight times as large as
the first, and compares the processor time, not the time on the clock. Linear time grows 8 times, quadratic time 64
times; the limit between them is LIMIT. Times below FLOOR are too close to the time that a program needs to start.
"""
import io
import itertools
import json
import os
import struct
import subprocess
import unittest
import zipfile

import states
from harness import MLICTL, Case, main, npy

SMALL = 1000
TIMES = 8
LIMIT = 24
FLOOR = 0.05  # seconds
ATTEMPTS = 3
INSTRUMENTED = "MLI_TEST_SLOW" in os.environ


def job(number, **more):
    return {"op": "mov", "src": {"file": "in.npy"}, "dst": {"file": f"out{number}.npy"}, **more}


def state_text(names):
    return states.text_of(states.Batch([states.case(name) for name in names]).state())


class Linear(Case):
    def setUp(self):
        super().setUp()
        self.write("in.npy", npy("<i2", (2, 3, 4), bytes(48)))

    def processor_time(self, words, code):
        with subprocess.Popen([MLICTL, *words], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as process:
            message = process.stderr.read()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, code, message.decode(errors="replace")[-500:])
        return used.ru_utime + used.ru_stime

    def assert_linear(self, prepare, words, code=0, small=SMALL):
        """prepare(size) writes the input of `mlictl WORDS`. On a busy machine, other programs use the same caches and
        cores, so a ratio above the limit is measured again.
        """
        small = small // 4 if INSTRUMENTED else small
        for _ in range(ATTEMPTS):
            prepare(small)
            first = self.processor_time(words, code)
            prepare(TIMES * small)
            second = self.processor_time(words, code)
            if second < LIMIT * max(first, FLOOR):
                return
        self.fail(f"{TIMES} times the size takes {second:.2f} s, and the size itself {first:.2f} s")

    def jobs(self, make, words, code=0, **more):
        def prepare(size):
            members = more["members"](size) if "members" in more else {}
            self.write("jobs.json", json.dumps({"jobs": [make(i, size) for i in range(size)], **members}).encode())
        self.assert_linear(prepare, [*words, "jobs.json"], code)

    def test_jobs(self):
        self.jobs(lambda i, n: job(i), ["validate"])
        self.jobs(lambda i, n: job(i), ["explain", "--json", "--no-memcpy"])
        self.jobs(lambda i, n: job(i, dst={"file": "out.npy", "shape": [2 * n, 3, 4]}, cfg={"dst_offset": [2 * i, 0, 0]}),
                  ["validate"])
        self.jobs(lambda i, n: job(i, slice=":,::2,1:"), ["validate"])
        self.jobs(lambda i, n: job(i, name=f"n{i}", after=[f"n{i + 1}"] if i + 1 < n else []), ["validate"])
        self.jobs(lambda i, n: {"op": "mov", "src": {"file": f"out{i - 1}.npy" if i else "in.npy"},
                                "dst": {"file": f"out{i}.npy"}}, ["validate"])

    def test_c_functions(self):
        self.jobs(lambda i, n: job(i, name=f"n{i}"), ["explain", "--c", "--no-memcpy"])

    def test_a_board(self):
        self.jobs(lambda i, n: job(i), ["explain", "--no-memcpy", "--no-picture", "--profile", "vpx5-nsim",
                                        "--timeline", "t.svg", "--trace", "t.json"])

    def test_buffers(self):
        self.jobs(lambda i, n: {"op": "mov", "src": {"file": "in.npy"}, "dst": {"buffer": f"b{i % 50}"}}, ["validate"],
                  members=lambda n: {"buffers": [{"name": f"b{i}", "bytes": 48} for i in range(50)]})
        self.jobs(lambda i, n: {"op": "mov", "src": {"file": "in.npy"}, "dst": {"buffer": "b", "offset": 48 * i}},
                  ["validate"], members=lambda n: {"buffers": [{"name": "b", "bytes": 48 * n}]})

    def test_json(self):
        for text in (lambda n: "{" + ",".join(f'"k{i}":{i}' for i in range(n)) + "}",
                     lambda n: "{" + ",".join('"k":0' for i in range(n)) + "}",
                     lambda n: "[" * n, lambda n: "[" + "0," * n + "0]", lambda n: '{"op":"' + "\\u00e9" * n + '"}',
                     lambda n: " " * n + "{}", lambda n: '[{"a":' * n):
            self.assert_linear(lambda n, t=text: self.write("jobs.json", t(20 * n).encode()),
                               ["validate", "jobs.json"], 2)

    def test_manifests(self):
        self.assert_linear(lambda n: self.write("m.txt", "".join(f"c{i}.json # x\n" for i in range(4 * n)).encode()),
                           ["batch", "m.txt", "--list"])
        self.assert_linear(lambda n: self.write("m.txt", b"c.json\n" + b" #\n" * 40 * n), ["batch", "m.txt", "--list"])

    def test_state_files(self):
        backwards = lambda n: self.write("s.jsonl", state_text(f"c{n - i:06d}" for i in range(n)).encode())
        self.assert_linear(backwards, ["batch", "merge", "s.jsonl", "--junit", "r.xml"])
        self.assert_linear(backwards, ["batch", "merge", "s.jsonl", "--json"])
        one = states.Batch([states.case("c")]).state()
        self.assert_linear(lambda n: self.write("s.jsonl", states.text_of(one * n).encode()),
                           ["batch", "merge", "s.jsonl"])

    def test_resume(self):
        def prepare(size):
            names = [f"c{i:06d}" for i in range(size)]
            self.write("s.jsonl", state_text(names).encode())
            self.write("m.txt", "".join(f"{name}.json\n" for name in names).encode())
        self.assert_linear(prepare, ["batch", "m.txt", "--resume", "s.jsonl", "--list"])

    def safetensors(self, text, data):
        header = text.encode()
        self.write("t.safetensors", struct.pack("<Q", len(header)) + header + bytes(data))

    def test_safetensors(self):
        def entries(size):
            self.safetensors(json.dumps({f"t{i}": {"dtype": "I8", "shape": [1], "data_offsets": [size - 1 - i, size - i]}
                                         for i in range(size)}), size)

        def same(size):
            entry = '"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}'
            self.safetensors("{" + ",".join([entry] * size) + "}", size)

        self.assert_linear(entries, ["show", "t.safetensors"])
        self.assert_linear(entries, ["diff", "t.safetensors", "t.safetensors"])
        self.assert_linear(same, ["show", "t.safetensors"], 2)

    def test_models(self):
        """Nodes in one chain, whose names differ only in their last bytes, and one attribute that all nodes have."""
        def member(number, value):
            return bytes([number << 3 | 2]) + varint(len(value)) + value

        def varint(value):
            return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])

        def chain(size, op=b"Identity"):
            name = lambda i: b"a tensor of a long chain of nodes %07d" % i
            nodes = b"".join(member(1, member(1, name(i)) + member(2, name(i + 1)) + member(4, op)) for i in range(size))
            shape = member(2, member(1, bytes([8, 2])))
            value = member(1, name(0)) + member(2, member(1, bytes([8, 3]) + shape))
            self.write("t.onnx", member(7, nodes + member(11, value)))

        def constants(size):
            tensor = lambda i: bytes([8, 1, 16, 3]) + member(8, b"%07d" % i) + member(9, b"x")
            self.write("t.onnx", member(7, b"".join(member(5, tensor(i)) for i in range(size))))

        self.assert_linear(chain, ["import", "t.onnx", "--dry-run", "-q"])
        self.assert_linear(lambda size: chain(size, b"Relu"), ["import", "t.onnx", "--dry-run", "-q"])
        self.assert_linear(constants, ["show", "t.onnx"])

    @unittest.skipUnless(os.environ.get("MLI_NPZ", "1") == "1", "mlictl was built without zlib")
    def test_npz(self):
        member = npy("<i2", (4,), bytes(8))

        def prepare(size, names=lambda: (f"t{i}" for i in itertools.count())):
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
                for name in itertools.islice(names(), size):
                    archive.writestr(f"{name}.npy", member)
            self.write("a.npz", content.getvalue())

        def jobs(size):
            prepare(size)
            self.write("jobs.json", json.dumps([{"op": "mov", "src": {"file": "a.npz", "tensor": f"t{i}"},
                                                 "dst": {"file": f"out{i}.npy"}} for i in range(size)]).encode())
        self.assert_linear(prepare, ["show", "a.npz"])
        self.assert_linear(prepare, ["diff", "a.npz", "a.npz"])
        self.assert_linear(jobs, ["validate", "jobs.json"])
        # Names with equal hashes, for the hash function h = 33 * h + next character.
        same = lambda: map("".join, itertools.product(("aa", "b@"), repeat=17))
        self.assert_linear(lambda size: prepare(size, same), ["show", "a.npz", "-t", "aa" * 17], small=8 * SMALL)


if __name__ == "__main__":
    main()
