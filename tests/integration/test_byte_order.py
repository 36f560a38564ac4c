#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Big-endian .npy files: mlictl reads them everywhere, and writes little-endian files only.

The same tests run on big-endian hosts, where the expected bytes are the same. MLI_FAR_MLICTL and MLI_FAR_MLID are
programs of a machine with the other byte order, at the far end of a tunnel (scripts/cross s390x).
"""
import hashlib
import io
import os
import struct
import unittest
import zipfile

import harness
from harness import Case, main, mov, npy

FAR_MLICTL, FAR_MLID = os.environ.get("MLI_FAR_MLICTL"), os.environ.get("MLI_FAR_MLID")

# For each dtype: its code in the module struct, and values that differ if their bytes are swapped.
VALUES = {"i2": ("h", [1, -2, 300, -4000, 5, 6]), "u2": ("H", [1, 2, 300, 65000, 5, 6]),
          "f2": ("e", [0.5, -1.0, 2.0, 1e-3, 5.0, 6.0]),
          "i4": ("i", [1, -2, 300, -70000, 5, 6]), "u4": ("I", [1, 2, 300, 1 << 31, 5, 6]),
          "f4": ("f", [0.5, -1.0, 2.0, 1e-3, 5.0, 6.0]),
          "i8": ("q", [1, -2, 300, -70000, 5 << 40, 6]), "u8": ("Q", [1, 2, 300, 1 << 63, 5, 6]),
          "f8": ("d", [0.5, -1.0, 2.0, 1e-300, 5.0, 6.0])}


def pack(order, dtype, values):
    return struct.pack(f"{order}{len(values)}{VALUES[dtype][0]}", *values)


def tensor(order, dtype, shape=(2, 3), **more):
    return npy(order + dtype, shape, pack(order, dtype, VALUES[dtype][1]), **more)


class BigEndian(Case):
    def test_values_are_read(self):
        for dtype, (_, values) in VALUES.items():
            self.write("big.npy", tensor(">", dtype))
            self.write("little.npy", tensor("<", dtype))
            self.ctl("diff", "big.npy", "little.npy", code=0)
            big, little = (self.ctl("show", name, "--json", code=0).json[0]
                           for name in ("big.npy", "little.npy"))
            self.assertEqual((big.pop("byte_order"), little.pop("byte_order")), ("big", "little"))
            self.assertEqual(dict(big, file=""), dict(little, file=""))
            if dtype[0] != "f":
                self.assertEqual(list(map(int, sum(big["corner"]["values"], []))), values)
            self.assertIn(" (big-endian) (2, 3)", self.ctl("show", "big.npy", code=0).out)
            self.assertIn(" (big-endian) (2, 3)",
                          self.ctl("show", "--limit", "0", "big.npy", code=0).out)

    def test_differences_have_values(self):
        self.write("a.npy", npy(">i2", (3,), pack(">", "i2", [1, 256, 3])))
        self.write("b.npy", npy("<i2", (3,), pack("<", "i2", [1, 1, 3])))
        fact = self.ctl("diff", "--json", "a.npy", "b.npy", code=1).json[0]["difference"]
        self.assertEqual((fact["at"], fact["a"]["value"], fact["b"]["value"]), ([1], 256, 1))

    def test_both_parts_of_a_complex_number(self):
        for dtype, code in (("c8", "f"), ("c16", "d")):
            self.write("in.npy", npy(">" + dtype, (2,), struct.pack(f">4{code}", 1, -2, 3, -4)))
            self.assertIn("1-2j  3-4j", self.ctl("show", "in.npy", code=0).out)
            self.write("job.json", mov())
            self.ctl("run", "job.json", code=0)
            self.assertEqual(self.read("out.npy"),
                             npy("<" + dtype, (2,), struct.pack(f"<4{code}", 1, -2, 3, -4)))

    def test_outputs_are_little_endian(self):
        for dtype, (_, values) in VALUES.items():
            for fortran in (False, True):
                self.write("in.npy", tensor(">", dtype, fortran=fortran))
                self.write("job.json", mov(padding_post=[0, 1]))
                rows = [values[0::2], values[1::2]] if fortran else [values[:3], values[3:]]
                wanted = npy("<" + dtype, (2, 4), pack("<", dtype, rows[0] + [0] + rows[1] + [0]))
                self.ctl("run", "job.json", code=0)
                self.assertEqual(self.read("out.npy"), wanted)
                before = self.read("in.npy")
                self.submit("job.json", code=0)
                self.assertEqual(self.read("out.npy"), wanted)
                self.assertEqual(self.read("in.npy"), before)

    def test_detached_jobs(self):
        self.write("in.npy", tensor(">", "i4"))
        self.write("job.json", mov(perm_dim=[1, 0]))
        result = self.submit("--detach", "--json", "job.json", code=0)
        self.ctl("wait", "-s", self.daemon.socket, str(result.json[0]["job"]), code=0)
        values = VALUES["i4"][1]
        self.assertEqual(self.read("out.npy")[128:],
                         pack("<", "i4", [v for pair in zip(values[:3], values[3:]) for v in pair]))

    def test_updates_convert_the_file(self):
        for order in "<>":
            self.write("in.npy", npy(order + "i2", (1, 3), pack(order, "i2", [7, 8, 9])))
            self.write("out.npy", tensor(">", "i2"))
            self.write("job.json", mov(dst={"file": "out.npy", "update": True}, dst_offset=[1, 0]))
            self.ctl("run", "job.json", code=0)
            self.assertEqual(self.read("out.npy"),
                             npy("<i2", (2, 3), pack("<", "i2", [1, -2, 300, 7, 8, 9])))

    def test_chains_of_updates(self):
        self.write("in.npy", npy(">u2", (1, 3), pack(">", "u2", [7, 8, 9])))
        self.write("out.npy", tensor(">", "u2"))
        self.write("job.json", [mov(dst={"file": "out.npy", "update": True}, dst_offset=[row, 0])
                                for row in (1, 0)])
        self.ctl("batch", "job.json", code=0)
        self.ctl("run", "job.json", code=0)
        self.assertEqual(self.read("out.npy"), npy("<u2", (2, 3), pack("<", "u2", [7, 8, 9] * 2)))

    def test_golden_files(self):
        self.write("in.npy", tensor("<", "f4"))
        self.write("golden.npy", tensor(">", "f4"))
        job = dict(mov(), expect={"file": "golden.npy"})
        self.write("job.json", job)
        self.ctl("run", "job.json", code=0)
        self.ctl("batch", "job.json", code=0)
        self.write("in.npy", tensor(">", "f4"))
        self.ctl("batch", "job.json", code=0)
        self.write("golden.npy", npy(">f4", (2, 3), pack(">", "f4", [0.5] * 6)))
        result = self.ctl("run", "job.json", code=1)
        self.assertIn("got -1, expected 0.5", result.out + result.err)
        digest = hashlib.sha256(tensor("<", "f4")).hexdigest()
        self.write("job.json", dict(mov(), expect={"digest": "sha256:" + digest}))
        self.ctl("run", "job.json", code=0)

    def test_broken_files(self):
        self.write("in.npy", tensor(">", "i2")[:-1])
        self.assertIn("12 bytes after the header", self.ctl("show", "in.npy", code=2).err)
        self.write("in.npy", npy(">f16", (1,), bytes(16)))
        self.assertIn("'>f16' is not supported", self.ctl("show", "in.npy", code=2).err)

    def test_large_files(self):
        count = 300000
        values = [(i * 7919) & 0xffff for i in range(count)]
        self.write("big.npy", npy(">u2", (count,), struct.pack(f">{count}H", *values)))
        self.write("little.npy", npy("<u2", (count,), struct.pack(f"<{count}H", *values)))
        self.ctl("diff", "big.npy", "little.npy", code=0)

    @unittest.skipUnless(os.environ.get("MLI_NPZ") == "1", "mlictl is built without zlib")
    def test_archives(self):
        for name, order in (("big.npz", ">"), ("little.npz", "<")):
            buffer = io.BytesIO()
            with zipfile.ZipFile(buffer, "w") as archive:
                for dtype in VALUES:
                    archive.writestr(dtype + ".npy", tensor(order, dtype))
            self.write(name, buffer.getvalue())
        self.ctl("diff", "big.npz", "little.npz", code=0)
        self.write("job.json", [mov(src={"file": "big.npz", "tensor": dtype}, dst=f"{dtype}{i}.npy")
                                for dtype in VALUES for i in range(2)])
        self.ctl("run", "job.json", code=0)
        for dtype in VALUES:
            for i in range(2):
                self.assertEqual(self.read(f"{dtype}{i}.npy"), tensor("<", dtype))


class Everywhere(Case):
    """Files that mlictl makes are the same on hosts of both byte orders."""

    def test_generated_files(self):
        digest = hashlib.sha256()
        for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "float32",
                      "bool"):
            for pattern in ("index", "ramp", "zeros", "ones", "checker", "random"):
                self.ctl("gen", "x.npy", "-f", "--shape", "3,4,5", "--dtype", dtype, "-p", pattern,
                         "--seed", "5", code=0)
                digest.update(self.read("x.npy"))
        self.assertEqual(digest.hexdigest(), GENERATED)


@unittest.skipUnless(FAR_MLICTL and FAR_MLID, "no MLI_FAR_MLICTL and MLI_FAR_MLID")
class Tunnel(Case):
    """Files and parameters are the same whether the daemon runs here or behind ssh on the other machine."""

    def setUp(self):
        super().setUp()
        here, harness.MLID = harness.MLID, FAR_MLID
        self.addCleanup(setattr, harness, "MLID", here)
        far = self.root / "far"
        far.mkdir()
        (far / "mlictl").symlink_to(FAR_MLICTL)
        self.ssh = self.root / "ssh"
        self.ssh.write_text(f"#!/bin/sh\nshift\nPATH={far}:$PATH\nexport PATH\nexec /bin/sh -c \"$*\"\n")
        self.ssh.chmod(0o755)

    def environment(self):
        return dict(super().environment(), MLI_SSH=str(self.ssh),
                    MLID_SOCKET=self._daemon.socket if self._daemon else "")

    def agree(self, jobs):
        """Runs the jobs on this machine and through the tunnel, and compares all files."""
        before = self.listing()
        self.write("job.json", jobs)
        self.ctl("run", "job.json", code=0)
        here = self.listing()
        for name in set(here) - set(before) - {"job.json"}:
            (self.dir / name).unlink()
        for name, content in before.items():
            self.write(name, content)
        self.daemon
        self.ctl("-H", "ssh://far", "submit", "job.json", code=0)
        self.assertEqual(self.listing(), here)

    def test_moves(self):
        jobs = []
        for order in "<>":
            for dtype in VALUES:
                name = f"{dtype}-{'le' if order == '<' else 'be'}"
                self.write(f"{name}.npy", tensor(order, dtype))
                jobs += [mov(src=f"{name}.npy", dst=f"{name}-turned.npy", perm_dim=[1, 0]),
                         mov(src=f"{name}.npy", dst=f"{name}-wider.npy", padding_pre=[1, 2]),
                         mov(src=f"{name}.npy", dst={"file": f"{name}.raw"}, sub_sample_step=[1, 2])]
        self.agree(jobs)

    def test_updates(self):
        self.write("in.npy", npy(">i4", (1, 3), pack(">", "i4", [7, 8, 9])))
        for order in "<>":
            self.write("out.npy", tensor(order, "i4"))
            self.agree([mov(dst={"file": "out.npy", "update": True}, dst_offset=[1, 0])])

    def test_parameters(self):
        self.write("in.npy", npy("|i1", (2, 3), bytes(range(6))))
        source = {"file": "in.npy", "type": "sa8", "axis": 1, "scale": [1, 256, -2], "zero_point": [3, 513, -1],
                  "scale_frac_bits": [1, 2, 3]}
        self.agree([mov(src=source, dst={"file": "out.npy", "params": "out.json"}, padding_pre=[0, 1])])

    def test_generated_files(self):
        self.ctl("gen", "x.npy", "--shape", "7,5", "--dtype", "float32", "-p", "random", "--seed", "3", code=0)
        self.agree([mov(src="x.npy", perm_dim=[1, 0])])


# Files from a little-endian host.
GENERATED = "a59edb15868e7423a9a79e90836884002018e6c0accd115983e2452505be334f"

if __name__ == "__main__":
    main()
