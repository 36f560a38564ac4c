# SPDX-License-Identifier: BSD-3-Clause
"""Tests every command and every option, and that the output of --json has the same facts as the text."""
import os
import struct
import subprocess

from harness import MLICTL, Case, main, mov, ramp


class Help(Case):
    def test_help_lists_commands_and_exit_codes(self):
        out = self.ctl("--help", code=0).out
        for word in ("submit", "run", "validate", "gen", "show", "diff", "ping", "info"):
            self.assertRegex(out, rf"(?m)^  {word} ")
        for number in range(5):
            self.assertRegex(out, rf"(?m)^  {number}  ")
        self.assertEqual(self.ctl("-h", code=0).out, out)
        self.assertEqual(self.ctl("help", code=0).out, out)

    def test_version(self):
        self.assertRegex(self.ctl("--version", code=0).out, r"^mlictl \d+\.\d+\.\d+\n$")

    def test_every_command_has_help(self):
        for command in ("submit", "run", "validate", "gen", "show", "diff", "ping", "info"):
            out = self.ctl(command, "--help", code=0).out
            self.assertIn(f"usage: mlictl {command}", out)
            for option in ("--json", "--quiet", "--help"):
                self.assertIn(option, out)
            self.assertEqual(self.ctl(command, "-h", code=0).out, out)

    def test_similar_commands_are_suggested(self):
        self.assertIn("did you mean submit?", self.ctl("sumbit", code=2).err)
        self.assertIn("did you mean --json?", self.ctl("show", "--jsno", "x", code=2).err)
        self.assertIn("did you mean int16?",
                      self.ctl("gen", "x.npy", "--shape", "2", "--dtype", "in16", code=2).err)

    def test_misuse(self):
        self.ctl(code=2)
        for line in ("frobnicate", "run", "submit", "validate", "show", "show a b", "diff a",
                     "gen", "gen x.npy", "ping x", "info x", "run --nothing j", "run -x j",
                     "run --json=1 j", "run --channels", "run --channels 0 j",
                     "run --channels 17 j", "run --channels two j", "gen --shape 2 --dtype int8",
                     "run --channels 2 --channels 2 j", "show --limit -1 x", "run -qx j"):
            result = self.ctl(*line.split(), code=2)
            self.assertRegex(result.err, r"^mlictl: \S", line)
            self.assertEqual(result.out, "")

    def test_options_before_the_command(self):
        path = self.path("none")
        result = self.ctl("-s", path, "--json", "ping", code=3)
        self.assertEqual(result.json[0]["exit"], 3)
        self.assertIn(path, self.ctl(f"--socket={path}", "-q", "ping", code=3).err)
        self.assertIn("are allowed before", self.ctl("--all", "jobs", code=2).err)
        self.assertIn("given twice", self.ctl("-s", "a", "ping", "-s", "b", code=2).err)
        self.assertIn("needs a value", self.ctl("--socket", code=2).err)
        self.assertIn("a command is needed", self.ctl("--json", code=2).err)
        self.ctl("--json", "show", "none.npy", code=2)

    def test_full_output_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([MLICTL, "--help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class Gen(Case):
    def gen(self, *arguments, code=0):
        return self.ctl("gen", "x.npy", *arguments, code=code)

    def data(self, format):
        return list(struct.unpack("<" + format, self.read("x.npy")[128:]))

    def test_small_indices_are_decimal(self):
        out = self.gen("--shape", "2,3,2", "--dtype", "int16").out
        self.assertEqual(self.data("12h"), [0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121])
        self.assertIn("100*i0 + 10*i1 + i2", out)

    def test_large_indices_are_flat(self):
        out = self.gen("--shape", "2,3,50", "--dtype", "int8").out
        self.assertEqual(self.data("300B"), [i % 256 for i in range(300)])
        self.assertIn("150*i0 + 50*i1 + i2, wrapping", out)

    def test_every_dtype(self):
        formats = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i",
                   "uint32": "I", "float16": "e", "float32": "f"}
        for dtype, letter in formats.items():
            self.gen("--shape", "5", "--dtype", dtype, "--force")
            self.assertEqual(self.data("5" + letter), [0, 1, 2, 3, 4], dtype)
        self.gen("--shape", "5", "--dtype", "bool", "--force")
        self.assertEqual(self.data("5B"), [0, 1, 0, 1, 0])

    def test_patterns(self):
        for pattern, values in (("zeros", [0] * 6), ("ones", [1] * 6), ("ramp", list(range(6))),
                                ("checker", [0, 1, 0, 1, 0, 1])):
            self.gen("--shape", "2,3", "--dtype", "uint8", "--pattern", pattern, "--force")
            self.assertEqual(self.data("6B"), values, pattern)

    def test_random_depends_on_the_seed_only(self):
        made = []
        for seed in ("1", "1", "2"):
            self.gen("--shape", "64", "--dtype", "int32", "-p", "random", "--seed", seed, "-f")
            made.append(self.data("64i"))
        self.assertEqual(made[0], made[1])
        self.assertNotEqual(made[0], made[2])
        self.assertEqual(len(set(made[0])), 64)
        self.gen("--shape", "64", "--dtype", "float16", "-p", "random", "-f")
        self.assertTrue(all(-1 <= value <= 1 for value in self.data("64e")))

    def test_fortran_is_the_same_tensor_in_another_order(self):
        for pattern in ("index", "random"):
            self.ctl("gen", "c.npy", "--shape", "3,4,5", "--dtype", "int16", "-p", pattern, "-f",
                     code=0)
            self.ctl("gen", "f.npy", "--shape", "3,4,5", "--dtype", "int16", "-p", pattern, "-f",
                     "--fortran", code=0)
            self.assertNotEqual(self.read("c.npy"), self.read("f.npy"))
            self.ctl("diff", "c.npy", "f.npy", code=0)

    def test_raw(self):
        self.ctl("gen", "x.bin", "--shape", "2,3", "--dtype", "uint8", code=0)
        self.assertEqual(self.read("x.bin"), bytes([0, 1, 2, 10, 11, 12]))
        self.ctl("gen", "y.npy", "--format", "raw", "--shape", "2", "--dtype", "int8", code=0)
        self.assertEqual(self.read("y.npy"), bytes([0, 1]))

    def test_files_are_replaced_only_with_force(self):
        self.gen("--shape", "2", "--dtype", "int8")
        before = self.read("x.npy")
        result = self.gen("--shape", "3", "--dtype", "int8", code=2)
        self.assertIn("x.npy exists; --force replaces it", result.err)
        self.assertEqual(self.read("x.npy"), before)
        self.gen("--shape", "3", "--dtype", "int8", "--force")
        self.assertNotEqual(self.read("x.npy"), before)

    def test_bad_arguments(self):
        for shape in ("", "0", "4,", ",4", "4,,4", "1,2,3,4,5,6,7,8,9", "-1", "1.5", "4294967296", "4 4",
                      "99999999999999999999"):
            result = self.gen("--shape", shape, "--dtype", "int8", code=2)
            self.assertIn("--shape", result.err)
        self.assertIn("2^59", self.gen("--shape", "4294967295,4294967295", "--dtype", "int8",
                                       code=2).err)
        self.gen("--shape", "2", "--dtype", "int128", code=2)
        self.gen("--shape", "2", "--dtype", "int8", "--pattern", "stripes", code=2)
        self.gen("--shape", "2", "--dtype", "int8", "--seed", "-1", code=2)
        self.gen("--shape", "2", "--dtype", "int8", "--format", "png", code=2)
        self.assertEqual(self.listing(), {})

    def test_json_has_the_facts(self):
        text = self.gen("--shape", "2,3", "--dtype", "int16").out
        fact = self.gen("--shape", "2,3", "--dtype", "int16", "--json", "--force").json[0]
        self.assertEqual(fact, {"file": "x.npy", "dtype": "int16", "shape": [2, 3], "bytes": 12,
                                "order": "C", "pattern": "index", "element": "10*i0 + i1"})
        for word in ("x.npy", "int16", "(2, 3)", "12 B", "index", "10*i0 + i1"):
            self.assertIn(word, text)
        self.assertEqual(self.gen("--shape", "2", "--dtype", "int8", "-f", "--quiet").out, "")


class Show(Case):
    def test_text_and_json_have_the_same_facts(self):
        self.write_npy("x.npy", "<i2", (3, 4), fortran=True, data=struct.pack("<12h", *range(12)))
        text = self.ctl("show", "x.npy", "--limit", "2", code=0).out
        fact = self.ctl("show", "x.npy", "-n", "2", "--json", code=0).json[0]
        self.assertEqual(fact, {
            "file": "x.npy", "format": "npy", "dtype": "int16", "byte_order": "little",
            "shape": [3, 4], "order": "F", "strides": [1, 3], "data_offset": 128, "bytes": 24, "type": "fx16",
            "corner": {"shape": [2, 2], "values": [[0, 3], [1, 4]]}})
        for word in ("npy int16 (3, 4)", "Fortran order", "strides (1, 3)", "24 B from byte 128",
                     "fx16", "\n  0  3  ...\n  1  4  ...\n  ...\n"):
            self.assertIn(word, text)

    def test_planes_are_labelled(self):
        self.write_npy("x.npy", "|u1", (2, 2, 2, 2))
        out = self.ctl("show", "x.npy", code=0).out
        for label, rows in (("[0, 0, :, :]", "   0   1\n   2   3"),
                            ("[1, 0, :, :]", "   8   9\n  10  11")):
            self.assertIn(label + "\n" + rows.replace("   ", "   "), out)
        self.assertEqual(out.count(":, :]"), 4)

    def test_cut_dimensions_are_marked(self):
        self.write_npy("x.npy", "|u1", (9, 3, 3))
        out = self.ctl("show", "x.npy", "--limit", "2", code=0).out
        self.assertIn("dimension 0 continues to index 8", out)
        self.assertEqual(out.count("[0, :, :]"), 1)

    def test_values_of_every_dtype(self):
        cases = (("|i1", "b", [-128, 127], [-128, 127]), ("|u1", "B", [0, 255], [0, 255]),
                 ("<u2", "H", [0, 65535], [0, 65535]), ("<i4", "i", [-2**31, 5], [-2**31, 5]),
                 ("<u4", "I", [0, 2**32 - 1], [0, 2**32 - 1]), ("|b1", "B", [0, 1], [0, 1]),
                 ("<f2", "e", [0.1, -0.0], ["0.1", "-0"]),
                 ("<f4", "f", [0.1, float("inf")], ["0.1", "inf"]))
        for dtype, letter, values, shown in cases:
            self.write_npy("x.npy", dtype, (2,), data=struct.pack("<2" + letter, *values))
            fact = self.ctl("show", "x.npy", "--json", code=0).json[0]
            self.assertEqual(fact["corner"]["values"], shown, dtype)

    def test_every_half_precision_number_is_printed_exactly(self):
        bits = [b for b in range(65536) if b & 0x7c00 != 0x7c00]  # neither infinite nor NaN
        self.write_npy("x.npy", "<f2", (31, 32, 64), data=struct.pack("<63488H", *bits))
        planes = self.ctl("show", "x.npy", "-n", "64", "--json", code=0).json[0]["corner"]["values"]
        values = [float(text) for plane in planes for row in plane for text in row]
        self.assertEqual(list(struct.unpack("<63488H", struct.pack("<63488e", *values))), bits)
        self.assertLess(max(len(text) for plane in planes for row in plane for text in row), 12)

    def test_raw(self):
        self.write("x.bin", b"??" + bytes([1, 0, 2, 0, 3, 0, 4, 0]))
        options = ("--shape", "2,2", "--dtype", "int16", "--offset", "2")
        fact = self.ctl("show", "x.bin", *options, "--json", code=0).json[0]
        self.assertEqual(fact["corner"]["values"], [[1, 2], [3, 4]])
        self.assertEqual((fact["format"], fact["data_offset"]), ("raw", 2))
        self.assertIn("8 B from offset 2 on, but 24 B are needed",
                      self.ctl("show", "x.bin", "--shape", "3,4", *options[2:], code=2).err)
        self.assertIn("--shape and --dtype", self.ctl("show", "x.bin", code=2).err)

    def test_options_that_do_not_fit(self):
        self.write_npy("x.npy")
        self.assertIn(".npy file", self.ctl("show", "x.npy", "--shape", "2", code=2).err)
        self.ctl("show", "x.npy", "--limit", "65", code=2)
        self.ctl("show", "x.npy", "--format", "raw", "--shape", "4", "--dtype", "uint8", code=0)
        out = self.ctl("show", "x.npy", "--limit", "0", code=0).out
        self.assertEqual(out.count("\n"), 2)
        self.assertNotIn("corner", self.ctl("show", "x.npy", "-n0", "--json", code=0).json[0])

    def test_not_a_tensor(self):
        self.write("x.npy", b"hello")
        self.assertRegex(self.ctl("show", "x.npy", code=2).err, r"^mlictl: x\.npy: ")
        self.assertIn("No such file", self.ctl("show", "y.npy", code=2).err)
        self.assertEqual(self.ctl("show", "y.npy", "--json", code=2).json[0]["file"], "y.npy")
        self.assertIn("a directory", self.ctl("show", ".", code=2).err)
        fact = self.ctl("show", "x.npy", "--json", code=2).json[0]
        self.assertEqual(fact["exit"], 2)


class Diff(Case):
    def test_same(self):
        self.write_npy("a.npy")
        self.write_npy("b.npy")
        self.assertEqual(self.ctl("diff", "a.npy", "b.npy", code=0).out, "the same\n")
        fact = self.ctl("diff", "a.npy", "b.npy", "--json", code=0).json[0]
        self.assertEqual(fact, {"a": "a.npy", "b": "b.npy", "same": True, "difference": None})
        self.assertEqual(self.ctl("diff", "a.npy", "a.npy", "-q", code=0).out, "")

    def test_first_coordinate_count_and_values(self):
        other = bytearray(ramp(24))
        other[1 * 12 + 0 * 4 + 2] = 99
        other[23] = 98
        self.write_npy("a.npy")
        self.write_npy("b.npy", data=bytes(other))
        out = self.ctl("diff", "a.npy", "b.npy", code=1).out
        self.assertEqual(out.splitlines(), [
            "2 of 24 elements differ, the first at [1, 0, 2]: 14 in a.npy, 99 in b.npy",
            "  8.33 % of the elements, in [1, 0:3, 2:4]; the largest difference is 85 at [1, 0, 2]",
            "  1 of 2 planes differ: [1, :, :] 2",
            "  [1, 0, 2]: 14 in a.npy, 99 in b.npy",
            "  [1, 2, 3]: 23 in a.npy, 98 in b.npy"])
        out = self.ctl("diff", "a.npy", "b.npy", "-n", "1", code=1).out
        self.assertEqual(out.splitlines()[3:], ["  [1, 0, 2]: 14 in a.npy, 99 in b.npy",
                                                "  ... 1 more"])
        fact = self.ctl("diff", "a.npy", "b.npy", "--json", code=1).json[0]["difference"]
        self.assertEqual((fact["at"], fact["count"], fact["elements"]), ([1, 0, 2], 2, 24))
        self.assertEqual((fact["a"]["value"], fact["b"]["value"]), (14, 99))
        self.assertEqual((fact["region"], fact["largest"]),
                         ([[1, 2], [0, 3], [2, 4]], {"at": [1, 0, 2], "difference": 85}))
        self.assertEqual(fact["planes"], {"differ": 1, "all": 2,
                                          "runs": [{"at": [1], "planes": 1, "each": 2}]})
        self.assertEqual(fact["first"], [{"at": [1, 0, 2], "a": 14, "b": 99},
                                         {"at": [1, 2, 3], "a": 23, "b": 98}])
        self.assertNotIn("diagnosis", fact)
        self.assertIn("from 0 to 50", self.ctl("diff", "a.npy", "b.npy", "-n", "51", code=2).err)

    def test_a_transposed_tensor(self):
        self.write_npy("b.npy", "|u1", (5, 5), data=bytes(range(25)))
        self.write_npy("a.npy", "|u1", (5, 5), fortran=True, data=bytes(range(25)))
        sentence = "every value of A is B[j, i] where B[i, j] was wanted: wrong perm_dim?"
        self.assertIn(f"\n  {sentence}\n", self.ctl("diff", "a.npy", "b.npy", code=1).out)
        fact = self.ctl("diff", "a.npy", "b.npy", "--json", code=1).json[0]["difference"]
        self.assertEqual(fact["diagnosis"], {"kind": "permuted", "explained": 20, "text": sentence})

    def test_dtype_and_shape_come_first(self):
        self.write_npy("a.npy", "|i1", (2, 3, 4))
        self.write_npy("b.npy", "|u1", (2, 3, 4))
        self.write_npy("c.npy", "|i1", (2, 4, 3))
        self.assertIn("dtypes differ: int8 in a.npy, uint8 in b.npy",
                      self.ctl("diff", "a.npy", "b.npy", code=1).out)
        self.assertIn("shapes differ: (2, 3, 4) in a.npy, (2, 4, 3) in c.npy",
                      self.ctl("diff", "a.npy", "c.npy", code=1).out)
        fact = self.ctl("diff", "a.npy", "c.npy", "--json", code=1).json[0]["difference"]
        self.assertEqual((fact["kind"], fact["b"]["shape"]), ("shape", [2, 4, 3]))

    def test_order_is_ignored_and_bits_are_compared(self):
        self.write_npy("a.npy", "|u1", (2, 2), data=bytes([1, 2, 3, 4]))
        self.write_npy("b.npy", "|u1", (2, 2), fortran=True, data=bytes([1, 3, 2, 4]))
        self.ctl("diff", "a.npy", "b.npy", code=0)
        self.write_npy("c.npy", "<f4", (1,), data=struct.pack("<f", 0.0))
        self.write_npy("d.npy", "<f4", (1,), data=struct.pack("<f", -0.0))
        self.assertIn("0 in c.npy, -0 in d.npy", self.ctl("diff", "c.npy", "d.npy", code=1).out)

    def test_raw_and_missing(self):
        self.write("a.bin", b"\x01\x02\x03\x04")
        self.write("b.bin", b"\x01\x02\x03\x05")
        options = ("--shape", "2", "--dtype", "uint16")
        self.assertIn("[1]: 1027 in a.bin, 1283 in b.bin",
                      self.ctl("diff", "a.bin", "b.bin", *options, code=1).out)
        self.assertIn("c.bin: No such file",
                      self.ctl("diff", "a.bin", "c.bin", *options, code=2).err)


class Daemon(Case):
    def test_ping_text_and_json(self):
        socket = self.daemon.socket
        self.assertRegex(self.ctl("ping", "-s", socket, code=0).out,
                         rf"^mlid at {socket} answers in [\d.]+ \ws\n$")
        fact = self.ctl("ping", "--json", f"--socket={socket}", code=0).json[0]
        self.assertEqual(fact["socket"], socket)
        self.assertGreater(fact["ns"], 0)
        self.assertEqual(self.ctl("ping", "--quiet", "-s", socket, code=0).out, "")

    def test_info_text_and_json(self):
        self.write_npy("in.npy")
        self.submit(self.write("job.json", mov()), code=0)
        text = self.ctl("info", "-s", self.daemon.socket, code=0).out
        fact = self.ctl("info", "-s", self.daemon.socket, "--json", code=0).json[0]["daemon"]
        self.assertEqual((fact["jobs_done"], fact["bytes_moved"], fact["pid"]),
                         (1, 24, self.daemon.pid))
        for word in (f"mlid {fact['version']}", f"pid {fact['pid']}", fact["engine"],
                     f"{fact['channels']} (from {fact['channel_offset']})", "1 done", "0 failed",
                     "24 B", ", serving,", "0 quarantined", f"of {fact['clients_max']}"):
            self.assertIn(word, text)

    def test_default_paths_of_the_socket(self):
        environment = dict(self.environment(), MLID_SOCKET=self.daemon.socket)
        done = subprocess.run([MLICTL, "ping", "--json"], env=environment, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(self.root / "mlid.sock"), self.ctl("ping", code=3).err)
        environment["XDG_RUNTIME_DIR"] = os.path.dirname(self.daemon.socket)
        environment["MLID_SOCKET"] = ""
        done = subprocess.run([MLICTL, "ping", "--json"], env=environment, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    main()
