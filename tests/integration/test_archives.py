# SPDX-License-Identifier: BSD-3-Clause
"""Tests tensors of .npz and .safetensors files as sources and golden files of jobs, and in show and
diff."""
import fcntl
import io
import json
import os
import random
import resource
import signal
import struct
import sys
import time
import unittest
import zipfile

from harness import MLICTL, Case, main, mov, needs_numpy, npy, numpy, open_files, ramp, scaled, wait_for

needs_npz = unittest.skipIf(os.environ.get("MLI_NPZ") == "0", "mlictl was built without zlib")

# For each dtype in .safetensors: the bytes of an element, and the dtype of the .npy file that a job writes.
SAFETENSORS = {"BOOL": (1, "|b1"), "U8": (1, "|u1"), "I8": (1, "|i1"), "F8_E4M3": (1, "|u1"),
               "F8_E5M2": (1, "|u1"), "U16": (2, "<u2"), "I16": (2, "<i2"), "F16": (2, "<f2"),
               "BF16": (2, "<u2"), "U32": (4, "<u4"), "I32": (4, "<i4"), "F32": (4, "<f4"),
               "F8_E8M0": (1, "|u1"), "F8_E4M3FNUZ": (1, "|u1"), "F8_E5M2FNUZ": (1, "|u1"),
               "U64": (8, "<u8"), "I64": (8, "<i8"), "F64": (8, "<f8"), "C64": (8, "<c8")}


def count(shape):
    product = 1
    for extent in shape:
        product *= extent
    return product


def safetensors(tensors, metadata=None, space=0):
    """Returns a .safetensors file with tensors {name: (dtype, shape, bytes)}."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode() + b" " * space
    return struct.pack("<Q", len(text)) + text + data


def archive(members, method=zipfile.ZIP_DEFLATED):
    """Returns a zip file with members [(name, bytes)]; names may repeat."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        for name, content in members:
            with zipped.open(name, "w") as member:
                member.write(content)
    return out.getvalue()


class ArchiveCase(Case):
    def change(self, name, before, after):
        """Runs two jobs: the first job reads tensor x of the file, the second job waits for a lock while the file
        changes."""
        self.write(name, before)
        self.write_npy("locked.npy")
        src = {"file": name, "tensor": "x"}
        self.write("job.json", [mov(src, "first.bin"),
                                mov("locked.npy", {"file": "locked2.npy", "update": True}),
                                mov(src, "second.bin")])
        self.write("locked2.npy", self.read("locked.npy"))
        with open(self.path("locked2.npy")) as locked:
            fcntl.flock(locked, fcntl.LOCK_EX)
            process = self.start("run", "job.json")
            self.assertTrue(wait_for(lambda: self.exists("first.bin")))
            self.write(name, after)
        self.finish(process, code=0)
        self.assertEqual(self.read("first.bin"), b"abcd")
        self.assertEqual(self.read("second.bin"), b"efgh")


class Safetensors(ArchiveCase):
    def test_every_dtype_moves_from_any_offset(self):
        tensors = {}
        for i, (word, (size, _)) in enumerate(SAFETENSORS.items()):
            tensors[f"gap{i}"] = ("U8", [i % 3 + 1], bytes(i % 3 + 1))  # odd offsets
            tensors[word] = (word, [2, 3, 2], bytes((i + k) % 251 for k in range(12 * size)))
        self.write("m.safetensors", safetensors(tensors, {"format": "pt"}))
        jobs = [mov({"file": "m.safetensors", "tensor": word}, f"{word}.npy", perm_dim=[2, 0, 1])
                for word in SAFETENSORS]
        self.write("job.json", jobs)
        self.ctl("validate", "job.json", code=0)
        for command in (self.ctl, self.submit):
            command(*(["run"] if command == self.ctl else []), "job.json", code=0)
            for word, (size, descr) in SAFETENSORS.items():
                source = tensors[word][2]
                elements = [source[i * size:(i + 1) * size] for i in range(12)]
                moved = b"".join(elements[a * 6 + b * 2 + c]
                                 for c in range(2) for a in range(2) for b in range(3))
                with self.subTest(word):
                    self.assertEqual(self.read(f"{word}.npy"), npy(descr, (2, 2, 3), moved))
                os.unlink(self.path(f"{word}.npy"))

    def test_a_header_of_many_megabytes(self):
        """The limit of the format is 100 MB; most of this header is one text."""
        self.write("m.safetensors", safetensors({"x": ("U8", [4], b"abcd")}, {"notes": "n" * 40_000_000}))
        self.move(mov("m.safetensors", "o.bin"))
        self.assertEqual(self.read("o.bin"), b"abcd")

    def test_the_file_itself_is_what_the_service_gets(self):
        """The daemon maps the file and copies nothing, so the file may be larger than the memory."""
        self.write("m.safetensors", safetensors({"x": ("U8", [4], b"abcd")}))
        with open(self.path("huge.safetensors"), "wb") as file:
            size = 1 << 40
            text = json.dumps({"zeros": {"dtype": "U8", "shape": [1 << 20, 1 << 20],
                                         "data_offsets": [0, size]},
                               "tail": {"dtype": "U8", "shape": [4],
                                        "data_offsets": [size, size + 4]}}).encode()
            file.write(struct.pack("<Q", len(text)) + text)
            try:
                file.seek(size, os.SEEK_CUR)
                file.write(b"tail")
            except OSError as error:
                self.skipTest(f"no sparse file of 1 TiB here: {error}")
            file.close()
            self.move(mov({"file": "huge.safetensors", "tensor": "tail"}, "o.bin"))
            self.assertEqual(self.read("o.bin"), b"tail")
            self.write("job.json", mov({"file": "huge.safetensors", "tensor": "zeros"}, "o.bin",
                                       size=[2, 3], offset=[7, 9]))
            self.submit("job.json", code=0)
            self.assertEqual(self.read("o.bin"), bytes(6))
            shown = self.ctl("show", "huge.safetensors", "-t", "tail", "--json", code=0).json[0]
            self.assertEqual(shown["corner"]["values"], list(b"tail"))

    def test_a_name_is_required_for_several_tensors(self):
        self.write("one.safetensors", safetensors({"x": ("I8", [3], b"abc")}))
        self.write("two.safetensors", safetensors({"conv1.weight": ("I8", [3], b"abc"),
                                                   "conv2.weight": ("I8", [3], b"abd")}))
        self.move(mov("one.safetensors"))
        self.assertEqual(self.read("out.npy"), npy("|i1", (3,), b"abc"))
        os.unlink(self.path("out.npy"))
        self.assert_refused(mov("two.safetensors"), "/src/tensor",
                            'src.tensor: two.safetensors: it holds 2 tensors; name one of them: '
                            '"conv1.weight", "conv2.weight"')
        self.assert_refused(mov({"file": "two.safetensors", "tensor": "conv1.wieght"}),
                            "/src/tensor", 'no tensor "conv1.wieght"; did you mean "conv1.weight"?')
        self.assert_refused(mov("one.safetensors", expect={"file": "two.safetensors",
                                                           "tensor": "fc"}),
                            "/expect/tensor", 'no tensor "fc"; there are "conv1.weight"')
        self.assert_refused(mov({"file": "one.safetensors", "format": "npy"}), "/src/file",
                            "not a .npy file")

    def test_golden_files(self):
        self.write("m.safetensors", safetensors({"in": ("I16", [2], b"abcd"),
                                                 "good": ("I16", [2], b"abcd"),
                                                 "bad": ("I16", [2], b"abce"),
                                                 "shape": ("I16", [1], b"ab")}))
        src = {"file": "m.safetensors", "tensor": "in"}
        for name, code in (("good", 0), ("bad", 1), ("shape", 1)):
            job = mov(src, "o.npy", expect={"file": "m.safetensors", "tensor": name})
            result = self.move(job, code=code)
            if name == "bad":
                self.assertRegex(result.err, r"1 of 2 elements differ, the first at \[1\]: got 25699, "
                                             r"expected 25955 in \S*m\.safetensors\[bad\]")
            printed = self.ctl("run", "--json", "job.json", code=code).json[0]
            self.assertEqual(printed["src"]["tensor"], "in")
            self.assertEqual(printed["expect"]["tensor"], name)
        self.move(mov(src, "o.bin", expect={"file": "m.safetensors", "tensor": "good"}))

    def test_unsupported_tensors_are_refused_only_when_named(self):
        tensors = {"f4": ("F4", [32], bytes(16)), "scalar": ("F32", [], bytes(4)),
                   "rank9": ("U8", [1] * 8 + [2], bytes(2)), "empty": ("F32", [0, 3], b""),
                   "future": ("Q7", [9], bytes(5)), "fine": ("U8", [2], b"ok")}
        self.write("m.safetensors", safetensors(tensors))
        why = {"f4": "dtype F4 is not supported", "scalar": "it has 0 dimensions",
               "rank9": "it has 9 dimensions", "empty": "shape[0] is 0",
               "future": "dtype Q7 is not supported"}
        self.move(mov({"file": "m.safetensors", "tensor": "fine"}, "o.bin"))
        listed = self.ctl("show", "m.safetensors", "--json", code=0).json[0]
        self.assertEqual((listed["format"], listed["bytes"]), ("safetensors", 29))
        self.assertEqual([t["name"] for t in listed["tensors"]], list(tensors))
        for printed in listed["tensors"]:
            word, shape, content = tensors[printed["name"]]
            self.assertEqual((printed["shape"], printed["bytes"]), (shape, len(content)))
            if printed["name"] == "fine":
                self.assertEqual((printed["dtype"], printed["type"]), ("uint8", "fx8"))
                self.assertNotIn("refused", printed)
            else:
                self.assertIn(why[printed["name"]], printed["refused"])
                self.assert_refused(mov({"file": "m.safetensors", "tensor": printed["name"]}),
                                    "/src/tensor", why[printed["name"]])

    def test_bad_files(self):
        good = safetensors({"x": ("U8", [4], b"abcd")})
        header = lambda text, data=b"": struct.pack("<Q", len(text)) + text + data
        entry = b'"%s":{"dtype":"U8","shape":[4],"data_offsets":[%d,%d]}'
        cases = {
            "empty": (b"", "0 bytes are too few for a .safetensors file"),
            "a npy": (npy("|u1", (4,), b"abcd"), "not a .safetensors file, or truncated"),
            "cut header": (good[:20], "not a .safetensors file, or truncated"),
            "cut data": (good[:-1], "its tensors end at byte"),
            "more data": (good + b"x", "its tensors end at byte"),
            "huge length": (b"\xff" * 8 + good[8:], "header of 18446744073709551615 bytes"),
            "no json": (header(b"{nonsense}"), "in its header: line 1, column 2"),
            "array": (header(b"[]"), "does not begin with '{'"),
            "overlap": (header(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"b", 2, 6) + b"}",
                               bytes(6)), 'the tensors "a" and "b" overlap'),
            "gap": (header(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"b", 6, 10) + b"}",
                           bytes(10)), '2 bytes before the tensor "b" belong to no tensor'),
            "twice": (header(b"{" + entry % (b"a", 0, 4) + b"," + entry % (b"a", 4, 8) + b"}",
                             bytes(8)), '"a" is given twice'),
            "size": (header(b"{" + entry % (b"a", 0, 5) + b"}", bytes(5)),
                     "shape and dtype need 32 bits, but data_offsets hold 5 bytes"),
            "deep": (header(b"{" + b'"a":{' * 40 + b"}" * 41), "nested more than 3 deep"),
        }
        for name, (content, words) in cases.items():
            with self.subTest(name):
                self.write("m.safetensors", content)
                self.assert_refused(mov({"file": "m.safetensors", "tensor": "x"}), "/src/file",
                                    words)
                self.assertIn(words, self.ctl("show", "m.safetensors", code=2).err)

    def test_names_are_escaped_on_a_terminal(self):
        self.write("m.safetensors", safetensors({"a\x1b[2J\nb": ("U8", [1], b"x"),
                                                 "ä": ("U8", [1], b"x")}))
        out = self.ctl("show", "m.safetensors", code=0).out
        self.assertIn("a?[2J?b", out)
        self.assertIn("ä", out)
        self.assertEqual(out.count("\n"), 3)
        self.move(mov({"file": "m.safetensors", "tensor": "a\x1b[2J\nb"}))

    def test_a_header_of_megabytes(self):
        tensors = {f"model.layers.{i}.self_attn.q_proj.weight": ("U8", [4], b"%04d" % (i % 9999))
                   for i in range(30000)}
        content = safetensors(tensors)
        self.assertGreater(len(content), 3 << 20)
        self.write("m.safetensors", content)
        jobs = [mov({"file": "m.safetensors", "tensor": f"model.layers.{i}.self_attn.q_proj.weight"},
                    f"{i}.bin") for i in range(0, 30000, 300)]
        before = time.monotonic()
        self.move(jobs)
        print(f"\n{len(jobs)} jobs on a header of {len(content) >> 20} MiB: "
              f"{time.monotonic() - before:.2f} s", file=sys.stderr)
        self.assertEqual(self.read("29700.bin"), b"%04d" % (29700 % 9999))
        err = self.ctl("show", "m.safetensors", "-t", "model.layers.17.self_attn.q_proj.wieght",
                       code=2).err
        self.assertIn('did you mean "model.layers.17.self_attn.q_proj.weight"?', err)

    def test_a_file_that_changes_between_jobs_is_read_again(self):
        self.change("m.safetensors", safetensors({"x": ("U8", [4], b"abcd")}),
                    safetensors({"y": ("U8", [4], b"0123"), "x": ("U8", [4], b"efgh")}))


@needs_npz
class Npz(ArchiveCase):
    def test_members_stored_and_deflated(self):
        content = npy("<i2", (2, 3), ramp(12))
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.write("a.npz", archive([("w.npy", content), ("dir/b.npy", content),
                                         ("note.txt", b"no tensor")], method))
            for name in ("w", "dir/b"):
                job = mov({"file": "a.npz", "tensor": name}, "o.npy",
                          expect={"file": "a.npz", "tensor": "w"})
                self.write("job.json", job)
                self.ctl("validate", "job.json", code=0)
                self.ctl("run", "job.json", code=0)
                self.submit("job.json", code=0)
                self.assertEqual(self.read("o.npy"), content)
            self.assertEqual([t["name"] for t in
                              self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"]],
                             ["w", "dir/b"])
            self.assert_refused(mov("a.npz", "x.npy"), "/src/tensor",
                                'it holds 2 tensors; name one of them: "w", "dir/b"')
            self.assert_refused(mov({"file": "a.npz", "tensor": "note.txt"}, "x.npy"),
                                "/src/tensor", 'no tensor "note.txt"')

    @needs_numpy
    def test_files_of_numpy(self):
        rng = random.Random(4711)
        for save in (numpy.savez, numpy.savez_compressed):
            arrays = {}
            for dtype in ("bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32",
                          "float32"):
                shape = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 5))]
                array = numpy.frombuffer(rng.randbytes(count(shape) * numpy.dtype(dtype).itemsize),
                                         "u1")
                array = (array & 1 if dtype == "bool" else array).view(dtype).reshape(shape)
                arrays[dtype] = numpy.asfortranarray(array) if rng.random() < 0.5 else array
            save(self.path("a.npz"), **arrays)
            jobs = [mov({"file": "a.npz", "tensor": name}, f"{name}.npy",
                        expect={"file": "a.npz", "tensor": name}) for name in arrays]
            self.move(jobs)
            for name, array in arrays.items():
                out = numpy.load(self.path(f"{name}.npy"))
                self.assertEqual((out.dtype, out.shape), (array.dtype, array.shape))
                self.assertEqual(out.tobytes(), array.tobytes())
            self.ctl("diff", "a.npz", "a.npz", code=0)

    @needs_numpy
    def test_unsupported_tensors_are_listed(self):
        numpy.savez(self.path("a.npz"), i=numpy.arange(5), s=numpy.float64(3), ok=numpy.int8([7]),
                    u=numpy.array(["ab"]), r=numpy.zeros((1,) * 8 + (2,), "f4"),
                    e=numpy.zeros((0, 2), "i2"), t=numpy.zeros(2, [("a", "<i2"), ("b", "<f8", 2)]))
        printed = {t["name"]: t for t in
                self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"]}
        self.assertEqual({n: (t["dtype"], t["shape"], t["bytes"]) for n, t in printed.items()},
                         {"i": ("int64", [5], 40), "s": ("float64", [], 8), "ok": ("int8", [1], 1),
                          "u": ("<U2", [1], 8), "r": ("float32", [1] * 8 + [2], 8),
                          "e": ("int16", [0, 2], 0), "t": ("structured", [2], 36)})
        self.assertEqual([n for n in printed if "refused" not in printed[n]], ["i", "ok"])
        for name in set(printed) - {"i", "ok"}:
            self.assert_refused(mov({"file": "a.npz", "tensor": name}), "/src/tensor",
                                f"a.npz[{name}]: npy ")

    def patched(self, content, find, replace, which=None):
        """Replaces one value in an archive; `which` selects one of several places with this value."""
        places = [i for i in range(len(content)) if content.startswith(find, i)]
        self.assertGreater(len(places), 0)
        for place in places if which is None else [places[which]]:
            content = content[:place] + replace + content[place + len(find):]
        return content

    def central(self, content):
        """Returns the position of the first entry in the archive's directory."""
        return content.index(b"PK\x01\x02")

    def with_field(self, content, offset, value):
        at = self.central(content) + offset
        return content[:at] + value + content[at + len(value):]

    def test_bad_archives(self):
        member = npy("|u1", (1000,), ramp(1000))
        stored = archive([("w.npy", member)], zipfile.ZIP_STORED)
        deflated = archive([("w.npy", member)])
        broken = bytearray(deflated)
        broken[60] ^= 0xff
        flipped = bytearray(stored)
        flipped[stored.index(member) + 500] ^= 1
        size = struct.pack("<I", len(member))
        cases = {
            "no zip": (b"x" * 100, "/src/file", "not a .npz file, or it is truncated"),
            "empty": (b"", "/src/file", "not a .npz file, or it is truncated"),
            "cut": (deflated[:-30], "/src/file", "not a .npz file, or it is truncated"),
            "twice": (archive([("w.npy", member), ("w.npy", member)]), "/src/file",
                      'two tensors are named "w"'),
            "bad crc": (bytes(flipped), "/src/tensor", "a.npz[w]: it cannot be unpacked: its CRC is wrong"),
            "broken deflate": (bytes(broken), "/src/tensor", "a.npz[w]: "),
            "encrypted": (self.with_field(self.patched(deflated, b"\x14\x00\x00\x00\x08\x00",
                                                       b"\x14\x00\x01\x00\x08\x00", 0),
                                          8, b"\x01\x00"), "/src/tensor", "it is encrypted"),
            "method": (self.with_field(deflated, 10, b"\x0c\x00"), "/src/tensor",
                       "compression method 12 is not supported"),
            "claims more": (self.with_field(deflated, 24, struct.pack("<I", len(member) + 1)),
                            "/src/tensor", "npy shape and dtype need 1000 bytes"),
            "claims less": (self.with_field(deflated, 24, struct.pack("<I", len(member) - 1)),
                            "/src/tensor", "npy shape and dtype need 1000 bytes"),
            "impossible": (self.with_field(deflated, 24, b"\xff\xff\xff\x7f"), "/src/tensor",
                           "B cannot unpack to 2147483647 B"),
            "no npy": (archive([("w.npy", b"hello world, no tensor")]), "/src/tensor",
                       "not a .npy file"),
            "empty member": (archive([("w.npy", b"")]), "/src/tensor", "0 bytes are too few"),
            "no tensor": (archive([("readme.txt", b"x")]), "/src/tensor", "it holds no tensor"),
            "nothing": (archive([]), "/src/tensor", "it holds no tensor"),
        }
        for name, (content, pointer, words) in cases.items():
            with self.subTest(name):
                self.write("a.npz", content)
                self.assert_refused(mov({"file": "a.npz", "tensor": "w"}), pointer, words)
        # If one member is bad, `show` still lists the good members.
        self.write("a.npz", archive([("bad.npy", b"no"), ("good.npy", member)]))
        printed = self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"]
        self.assertEqual([t["dtype"] for t in printed], [None, "uint8"])
        self.assertIn("too few", printed[0]["refused"])
        self.move(mov({"file": "a.npz", "tensor": "good"}))

    def ended(self, directory, count, at=None, tail=b"", before=b""):
        """Returns the bytes that follow the members of an archive: the directory and its end record."""
        return (directory + before + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), at,
                                                                  len(tail)) + tail)

    def ended_64(self, directory, members, place, **fields):
        """Returns the same as ended(), with records of zip64, whose fields can be replaced."""
        known = {"signature": b"PK\x06\x06", "disk": 0, "here": members, "count": members, "size": len(directory),
                 "at": place, "where": place + len(directory)}
        known.update(fields)
        record = known["signature"] + struct.pack("<QHHIIQQQQ", 44, 45, 45, known["disk"], 0, known["here"],
                                                  known["count"], known["size"], known["at"])
        locator = b"PK\x06\x07" + struct.pack("<IQI", 0, known["where"], 1)
        return self.ended(directory, 0xffff, 0xffffffff, before=record + locator)

    def entry_64(self, content, fields, extra=b""):
        """Returns the directory entry of the first member. The values `fields` (unpacked size,
        packed size, offset) are in a zip64 extra field; None leaves a value in its usual place."""
        at = self.central(content)
        entry = bytearray(content[at:content.index(b"PK\x05\x06")])
        for place, value in zip((24, 20, 42), fields):
            if value is not None:
                entry[place:place + 4] = b"\xff" * 4
        values = b"".join(struct.pack("<Q", value) for value in fields if value is not None)
        field = extra + struct.pack("<HH", 1, len(values)) + values
        entry[30:32] = struct.pack("<H", len(field))
        return bytes(entry) + field

    def test_directories(self):
        """Reads archives as other programs write them: with comments, extra fields, zip64, and bytes before or after.
        """
        member = npy("|u1", (1000,), ramp(1000))
        plain = archive([("w.npy", member)])
        at = self.central(plain)
        data, entry = plain[:at], plain[at:plain.index(b"PK\x05\x06")]
        sizes = struct.unpack("<II", entry[20:28])[::-1]
        commented = bytearray(entry + b"c" * 300)
        commented[32:34] = struct.pack("<H", 300)
        other = struct.pack("<HH", 0x5455, 5) + b"12345"
        padded = bytearray(entry + b"\0\0\0")  # as zipalign does
        padded[30:32] = struct.pack("<H", 3)
        overlong = bytearray(entry + struct.pack("<HH", 9, 100))
        overlong[30:32] = struct.pack("<H", 4)
        cases = {
            "comment": data + self.ended(entry, 1, at, b"a comment"),
            "longest comment": data + self.ended(entry, 1, at, b"PK\x05\x06" + bytes(0xffff - 4)),
            "bytes behind": plain + b"\n" * 100,
            "comment of the member": data + self.ended(bytes(commented), 1, at),
            "padding": data + self.ended(bytes(padded), 1, at),
            "an extra field beyond the end": data + self.ended(bytes(overlong), 1, at),
            "zip64 for all": data + self.ended_64(self.entry_64(plain, (*sizes, 0)), 1, at),
            "zip64 for one": data + self.ended(self.entry_64(plain, (None, sizes[1], None), other), 1, at),
            "zip64 for the end": data + self.ended_64(entry, 1, at),
        }
        for name, content in cases.items():
            with self.subTest(name):
                self.write("a.npz", content)
                self.move(mov({"file": "a.npz", "tensor": "w"}, "o.npy"))
                self.assertEqual(self.read("o.npy"), member)

    def test_bad_directories(self):
        member = npy("|u1", (1000,), ramp(1000))
        plain = archive([("w.npy", member)])
        at = self.central(plain)
        data, entry = plain[:at], plain[at:plain.index(b"PK\x05\x06")]
        end = lambda **fields: data + self.ended_64(entry, 1, at, **fields)
        changed = lambda offset, value: data + self.ended(entry[:offset] + value + entry[offset + len(value):], 1, at)
        cut = bytearray(plain)
        cut[-10:-6] = struct.pack("<I", len(entry) - 3)
        parts = bytearray(plain)
        parts[-18:-16] = b"\1\0"
        cases = {
            "outside": (data + self.ended(entry, 1, at + 1), "its directory is outside the file"),
            "before": (data + self.ended(entry, 1, 0xfffffffe), "its directory is outside the file"),
            "too many": (data + self.ended(entry, 2, at), "its directory is smaller than its members need"),
            "too few": (data + self.ended(entry * 2, 1, at), "its directory has more members than it says"),
            "cut": (bytes(cut), "its directory ends in member 1 of 1"),
            "no signature": (changed(0, b"PK\x01\x03"), "its directory has no member 1 of 1"),
            "long name": (changed(28, b"\xff\xff"), "its directory ends in member 1 of 1"),
            "long extra": (changed(30, b"\xff\xff"), "its directory ends in member 1 of 1"),
            "long comment": (changed(32, b"\xff\xff"), "its directory ends in member 1 of 1"),
            "parts": (bytes(parts), "it is a part of an archive in several parts"),
            "short zip64": (data + self.ended(self.entry_64(plain, (None, None, 0))[:-12] + b"\1\0\4\0" + bytes(8), 1, at),
                            "the zip64 field of member 1 of 1 is too short"),
            "zip64 parts": (end(disk=1), "it is a part of an archive in several parts"),
            "zip64 more parts": (end(here=2), "it is a part of an archive in several parts"),
            "zip64 outside": (end(where=1 << 63), "its zip64 record is outside the file"),
            "zip64 missing": (end(signature=b"PK\x06\x05"), "its zip64 record is missing"),
            "zip64 too small": (self.ended(b"", 0, 0, before=b"PK\x06\x07" + bytes(16)),
                                "its zip64 record is outside the file"),
            "zip64 directory": (end(at=1 << 63), "its directory is outside the file"),
            "zip64 size": (end(size=(1 << 64) - 1), "its directory is outside the file"),
            "zip64 count": (end(count=1 << 63, here=1 << 63), "its directory is smaller than its members need"),
        }
        for name, (content, words) in cases.items():
            with self.subTest(name):
                self.write("a.npz", content)
                self.assert_refused(mov({"file": "a.npz", "tensor": "w"}), "/src/file",
                                    "not a .npz file, or it is truncated: " + words)
        self.write("a.npz", archive([(f"{i}.npy", b"") for i in range(65537)]))
        self.assert_refused(mov({"file": "a.npz", "tensor": "w"}), "/src/file",
                            "65537 members; at most 65536 are supported")

    def test_bad_members(self):
        """Each directory is valid, but a member has another place or content than the directory states."""
        member = npy("|u1", (1000,), random.Random(1).randbytes(1000))
        plain, stored = archive([("w.npy", member)]), archive([("w.npy", member)], zipfile.ZIP_STORED)
        at = self.central(plain)
        data = plain[:at]
        packed, = struct.unpack("<I", plain[at + 20:at + 24])
        empty = b"\0\0\0\xff\xff" * 100  # blocks of deflate that unpack to nothing
        moved = bytearray(data)
        moved[26:28] = b"\xff\xff"
        cases = {
            "elsewhere": (self.with_field(plain, 42, b"\1\0\0\0"), "opened: its header is not where"),
            "outside": (self.with_field(plain, 42, b"\xff\xff\xff\x7f"), "opened: its header is outside"),
            "far outside": (data + self.ended(self.entry_64(plain, (None, None, (1 << 64) - 1)), 1, at),
                            "opened: its header is outside"),
            "long name": (bytes(moved) + plain[at:], "opened: it ends outside the archive"),
            "long data": (self.with_field(plain, 20, b"\xff\xff\xff\x7f"), "opened: it ends outside the archive"),
            "huge": (data + self.ended(self.entry_64(plain, (None, (1 << 64) - 1, None)), 1, at),
                     "opened: it ends outside the archive"),
            "short data": (self.with_field(plain, 20, struct.pack("<I", packed - 9)),
                           "unpacked: its packed bytes end too early"),
            "long stored": (self.with_field(stored, 24, struct.pack("<I", len(member) + 1)), "cannot unpack to 1129 B"),
            "invalid": (data[:35] + b"\xff" * packed + plain[at:], "unpacked: invalid block type"),
            "empty blocks": (data[:35] + (empty * 9)[:packed] + plain[at:], "unpacked: its packed bytes end too early"),
            "crc": (self.with_field(plain, 16, b"abcd"), "unpacked: its CRC is wrong"),
        }
        for name, (content, words) in cases.items():
            with self.subTest(name):
                self.write("a.npz", content)
                self.assert_refused(mov({"file": "a.npz", "tensor": "w"}), "/src/tensor", words)

    def test_names(self):
        """A name is ASCII or UTF-8 and ends at a NUL; control characters are escaped on a terminal."""
        member = npy("|u1", (4,), b"abcd")
        one = archive([("?????.npy", member)])
        for raw, name in (("w\u00fc..".encode(), "w\u00fc.."), (b"w\x1b[2J", "w\x1b[2J"),
                          ("\u2591\u00c7".encode(), "\u2591\u00c7")):
            with self.subTest(name):
                self.write("a.npz", one.replace(b"?????", raw))
                self.assertEqual(self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"][0]["name"], name)
                self.assertNotIn("\x1b", self.ctl("show", "a.npz", code=0).out)
                self.move(mov({"file": "a.npz", "tensor": name}, "o.npy"))
        self.write("a.npz", one.replace(b"?????.npy", b"w.npy\0npy"))
        self.assertEqual(self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"][0]["name"], "w")
        for raw in (b"w\x81\xe1..", b"\xff\xfe\xb0\x80\xe9", b"www\xc3\xc3"):
            with self.subTest(raw):
                self.write("a.npz", one.replace(b"?????", raw))
                self.assertIn("the name of member 1 of 1 is neither ASCII nor UTF-8: write the archive again",
                              self.ctl("show", "a.npz", code=2).err)

    def test_a_bad_member_is_refused_alike_however_often(self):
        """Only the first job that reads a member counts its header toward the limit of unpacked bytes."""
        shape = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }"
        header = shape.ljust(59999) + "\n"
        member = b"\x93NUMPY\x01\x00" + struct.pack("<H", 60000) + header.encode() + b"abc"
        self.write("a.npz", archive([("w.npy", member)]))
        self.write("job.json", mov({"file": "a.npz", "tensor": "w"}, "o.npy"))
        result = self.ctl("validate", *["job.json"] * 50, code=2)
        self.assertNotIn("times the file", result.err)

    def test_a_bomb_takes_no_more_than_it_declares(self):
        """Unpacking stops at the size that the directory states; a shorter member is an error."""
        member = npy("|u1", (1000,), bytes(1000))
        short = npy("|u1", (10000,), random.Random(1).randbytes(10000 - 5))
        for content, size, words in (
                (member + bytes(64 << 20), len(member), "it is longer than the archive says"),
                (short, len(short) + 5, "it is 5 B shorter than the archive says"),
                (npy("|u1", (100000,), bytes(1000)), 100128, "the archive's central directory is invalid: ")):
            packed = archive([("w.npy", content)])
            self.write("a.npz", self.with_field(packed, 24, struct.pack("<I", size)))
            self.assert_refused(mov({"file": "a.npz", "tensor": "w"}), "/src/tensor",
                                "a.npz[w]: " + words)

    def shared(self, one, count):
        """Returns an archive with `count` members that all share the bytes of one member."""
        at, end = self.central(one), one.index(b"PK\x05\x06")
        entries = b"".join(one[at:end].replace(b"00000", b"%05d" % i) for i in range(count))
        return one[:at] + self.ended(entries, count, at)

    def test_members_that_share_bytes(self):
        """Members that share bytes are refused: otherwise a small archive could cause any amount of work."""
        blank = archive([("t00000.npy", npy("|u1", (1 << 20,), bytes(1 << 20)))])
        stored = archive([("t00000.npy", npy("|u1", (1000,), bytes(1000)))], zipfile.ZIP_STORED)
        for one, count in ((blank, 20000), (stored, 20000), (stored, 2)):
            self.write("a.npz", self.shared(one, count))
            if count == 2:
                self.assertEqual(self.ctl("show", "a.npz", code=2).err.count("members overlap"), 1)
            begin = os.times().children_user
            self.assert_refused(mov({"file": "a.npz", "tensor": "t00000"}), "/src/file", "members overlap")
            self.assertLess(os.times().children_user - begin, 4)

    def test_long_headers_that_pack_well(self):
        """3000 members have headers of 60 000 blanks each: mlictl unpacks only some of them."""
        shape = "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }"
        header = shape.ljust(59999) + "\n"
        member = b"\x93NUMPY\x01\x00" + struct.pack("<H", 60000) + header.encode() + b"abcd"
        self.write("a.npz", archive([(f"t{i:05}.npy", member) for i in range(3000)]))
        tensors = self.ctl("show", "a.npz", "--json", code=0).json[0]["tensors"]
        self.assertEqual(len(tensors), 3000)
        self.assertNotIn("refused", tensors[0])
        self.assertIn("unpack to more than 16 times the file", tensors[-1]["refused"])

    def test_members_larger_than_memory_are_refused_before_unpacking(self):
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        extents = [1 << 16, memory >> 16]
        size = 128 + count(extents)
        content = archive([("w.npy", npy("|u1", extents, b"") + bytes(1000))])
        packed = size // 1000
        entry = self.entry_64(content, (size, packed, None))
        with open(self.path("a.npz"), "wb") as file:
            file.write(content[:self.central(content)])
            file.seek(packed, os.SEEK_CUR)
            file.write(self.ended(entry, 1, file.tell()))
        result = self.move(mov({"file": "a.npz", "tensor": "w"}), code=1)
        self.assertIn("more than half of this machine's memory", result.err)

    def test_descriptors_and_memory_are_released(self):
        content = {f"t{i}.npy": npy("|u1", (100,), bytes([i]) * 100) for i in range(100)}
        self.write("a.npz", archive(content.items()))
        jobs = [mov({"file": "a.npz", "tensor": f"t{i}"}, f"{i}.bin",
                    expect={"file": "a.npz", "tensor": f"t{i}"}) for i in range(100)]
        self.write("job.json", jobs)
        self.ctl("run", *["job.json"] * 3, code=0, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (128, 128)))
        self.submit(*["job.json"] * 3, code=0)
        for i in range(100):
            self.assertEqual(self.read(f"{i}.bin"), bytes([i]) * 100)

    def test_a_member_is_unpacked_once_for_many_jobs(self):
        """200 jobs read one tensor of 32 MiB: the CPU time of the process shows whether it is unpacked only once."""
        data = bytes(i * i >> 5 & 0xff for i in range(1 << 20)) * 32
        self.write("a.npz", archive([("w.npy", npy("|u1", (32, 1 << 20), data))]))
        once = self.cpu([mov({"file": "a.npz", "tensor": "w"}, "o.bin", size=[1, 1])])
        many = self.cpu([mov({"file": "a.npz", "tensor": "w"}, f"{i}.bin", size=[1, 1]) for i in range(200)])
        print(f"\none job {once * 1000:.1f} ms, 200 jobs {many * 1000:.1f} ms", file=sys.stderr)
        self.assertLess(many, once * 50)

    def cpu(self, jobs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.move(jobs)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_an_archive_that_changes_between_jobs_is_read_again(self):
        member = lambda content: archive([("x.npy", npy("|u1", (4,), content))], zipfile.ZIP_STORED)
        self.change("a.npz", member(b"abcd"), member(b"efgh"))

    def test_cancel_ends_a_long_extraction(self):
        size = 1 << 29
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") < 4 * size:
            self.skipTest("too little memory for a long extraction")
        path = self.path("a.npz")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
            with zipped.open("w.npy", "w", force_zip64=True) as member:
                member.write(npy("|u1", (size >> 20, 1 << 20), b""))
                block = bytes(1 << 20)
                for _ in range(size >> 20):
                    member.write(block)
        self.write("job.json", mov({"file": "a.npz", "tensor": "w"}, "o.bin"))
        before = self.listing().keys()
        process = self.start("run", "job.json")
        unpacking = lambda: any("memfd:mlictl-tensor" in name for name in open_files(process.pid))
        self.assertTrue(wait_for(lambda: unpacking() or process.poll() is not None))
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        result = self.finish(process, code=4)
        self.assertLess(time.monotonic() - sent, 5)
        self.assertIn("cancelled", result.err)
        self.assertEqual(self.listing().keys(), before)

    def test_random_damage(self):
        seed = int(os.environ.get("MLI_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
        rng = random.Random(seed)
        good = archive([(f"t{i}.npy", npy("<i2", (4, 5), ramp(40))) for i in range(3)]) + b""
        for turn in range(scaled(60)):
            bad = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                at = rng.randrange(len(bad))
                kind = rng.randrange(3)
                if kind == 0:
                    bad[at] = rng.randrange(256)
                elif kind == 1:
                    del bad[at:at + rng.randrange(1, 20)]
                else:
                    bad[at:at] = rng.randbytes(rng.randrange(1, 20))
            self.write("a.npz", bytes(bad))
            with self.subTest(seed=seed, turn=turn):
                result = self.ctl("show", "a.npz")
                self.assertIn(result.code, (0, 2), str(result))
                result = self.ctl("run", self.write("job.json", mov({"file": "a.npz",
                                                                     "tensor": "t1"})))
                self.assertIn(result.code, (0, 2), str(result))
                if result.code == 0:
                    self.assertEqual(len(self.read("out.npy")), 168)


class Remote(ArchiveCase):
    """Runs the proxy on this machine, without ssh."""

    def environment(self):
        script = self.root / "ssh"
        if not script.exists():
            script.write_text("#!/bin/sh\nshift\nexec /bin/sh -c \"$*\"\n")
            script.chmod(0o755)
        environment = super().environment()
        environment["MLI_SSH"] = str(script)
        environment["PATH"] = os.path.dirname(MLICTL) + ":" + environment["PATH"]
        environment["MLID_SOCKET"] = self._daemon.socket if self._daemon else ""
        return environment

    def remote(self, job, code=0):
        self.daemon
        return self.ctl("-H", "ssh://board", "submit", self.write("job.json", job), code=code)

    def test_a_tensor_of_more_than_may_travel(self):
        """The tensor is below the limit of 1 GiB for a request, but the whole file is not."""
        with open(self.path("m.safetensors"), "wb") as file:
            size = (1 << 30) + 5
            text = json.dumps({"much": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]},
                               "x": {"dtype": "I16", "shape": [2, 2],
                                     "data_offsets": [size, size + 8]}}).encode()
            file.write(struct.pack("<Q", len(text)) + text)
            file.seek(size, os.SEEK_CUR)
            file.write(b"abcdefgh")
        self.remote(mov({"file": "m.safetensors", "tensor": "x"}, perm_dim=[1, 0],
                        expect={"file": "m.safetensors", "tensor": "x"}), code=1)
        self.assertEqual(self.read("out.npy"), npy("<i2", (2, 2), b"abefcdgh"))

    @needs_npz
    def test_a_member(self):
        self.write("a.npz", archive([("x.npy", npy("<i2", (2,), b"abcd")), ("y.npy", b"")]))
        self.remote(mov({"file": "a.npz", "tensor": "x"}))
        self.assertEqual(self.read("out.npy"), npy("<i2", (2,), b"abcd"))


class Show(Case):
    def test_a_list(self):
        self.write("m.safetensors", safetensors({"conv.weight": ("F32", [2, 3], bytes(24)),
                                                 "b": ("BF16", [4], bytes(8)),
                                                 "step": ("I64", [], bytes(8))}))
        self.assertEqual(self.ctl("show", "m.safetensors", code=0).out,
                         "m.safetensors: safetensors, 3 tensors, 40 B\n"
                         "  conv.weight  float32   (2, 3)  24 B\n"
                         "  b            bfloat16  (4)     8 B\n"
                         "  step         int64     ()      8 B; no job can take it\n")
        self.assertEqual(self.ctl("show", "-q", "m.safetensors", code=0).out, "")

    def test_one(self):
        content = bytes(range(12))
        self.write("m.safetensors", safetensors({"x": ("U8", [1], b"x"),
                                                 "b": ("BF16", [2, 3], content)}))
        out = self.ctl("show", "m.safetensors", "--tensor", "b", code=0).out
        at = len(self.read("m.safetensors")) - 12
        self.assertEqual(out, "m.safetensors[b]: safetensors uint16 (2, 3)\n"
                              f"  C order, strides (3, 1) elements, 12 B from byte {at}, fx16 by "
                              "default\n   256   770  1284\n  1798  2312  2826\n")
        printed = self.ctl("show", "--json", "-t", "b", "m.safetensors", code=0).json[0]
        self.assertEqual({k: printed[k] for k in ("file", "format", "tensor", "dtype", "shape")},
                         {"file": "m.safetensors", "format": "safetensors", "tensor": "b",
                          "dtype": "uint16", "shape": [2, 3]})

    def test_wrong_use(self):
        self.write("m.safetensors", safetensors({"x": ("U8", [1], b"x"), "y": ("U8", [1], b"y")}))
        self.write_npy("a.npy")
        for arguments, words in (
                (("m.safetensors", "-t", "z"), '--tensor: m.safetensors: it holds no tensor "z"'),
                (("a.npy", "-t", "x"), "--tensor selects a tensor of an archive or a model; "
                                       "a.npy is a .npy file"),
                (("m.safetensors", "--shape", "3"), "--shape describes raw files"),
                (("a.npy", "--format", "zip"), "npy, raw, npz, safetensors, onnx, tflite or pb is needed"),
                (("none.safetensors",), "No such file"), (("none.npz", "-t", "x"), "No such file"),
                ((".", "--format", "npz"), "is a directory")):
            with self.subTest(arguments):
                self.assertIn(words, self.ctl("show", *arguments, code=2).err)
        for name in ("o.npz", "o.safetensors"):
            err = self.ctl("gen", "--shape", "2", "--dtype", "int8", name, code=2).err
            self.assertIn("cannot write .", err)
            self.assertFalse(self.exists(name))

    @unittest.skipUnless(os.environ.get("MLI_NPZ") == "0", "mlictl was built with zlib")
    def test_without_zlib(self):
        self.write("a.npz", archive([("w.npy", npy("|u1", (4,), b"abcd"))]))
        self.assert_refused(mov("a.npz"), "/src/file", "built without zlib", "unpack it")
        self.assertIn("built without zlib", self.ctl("show", "a.npz", code=2).err)


class Diff(Case):
    def write_pair(self, a, b):
        self.write("a.safetensors", safetensors(a))
        self.write("b.safetensors", safetensors(b))

    def test_two_archives(self):
        same = ("F32", [2], bytes(8))
        self.write_pair({"same": same, "gone": same, "dtype": ("U8", [4], bytes(4)),
                         "shape": ("U8", [4], bytes(4)), "values": ("I16", [2, 2], bytes(8)),
                         "wide": ("F4", [32], bytes(16)), "wide same": ("F4", [32], bytes(16)),
                         "empty": ("I64", [0], b""), "bits": ("BF16", [1], b"ab")},
                        {"new": same, "values": ("I16", [2, 2], bytes(6) + b"\1\0"),
                         "same": same, "dtype": ("I8", [4], bytes(4)),
                         "shape": ("U8", [2, 2], bytes(4)),
                         "wide": ("F4", [32], bytes(9) + b"\7\1" + bytes(5)),
                         "wide same": ("F4", [32], bytes(16)), "empty": ("I64", [0], b""),
                         "bits": ("U16", [1], b"ab")})
        result = self.ctl("diff", "a.safetensors", "b.safetensors", code=1)
        a, b = "a.safetensors", "b.safetensors"
        self.assertEqual(result.out.splitlines(), [
            f"bits: dtypes differ: bfloat16 in {a}, uint16 in {b}",
            f"dtype: dtypes differ: uint8 in {a}, int8 in {b}",
            "empty: the same", f"gone: only in {a}", f"new: only in {b}", "same: the same",
            f"shape: shapes differ: (4) in {a}, (2, 2) in {b}",
            f"values: 1 of 4 elements differ, the first at [1, 1]: 0 in {a}, 1 in {b}",
            f"wide: 2 of 16 bytes differ, the first at 9: 0x00 in {a}, 0x07 in {b}",
            "wide same: the same",
            f"3 tensors the same, 5 different, 1 only in {a}, 1 only in {b}"])
        printed = self.ctl("diff", "--json", a, b, code=1).json
        self.assertEqual(len(printed), 1)
        self.assertEqual((printed[0]["a"], printed[0]["b"], printed[0]["same"]), (a, b, False))
        found = {t["tensor"]: t for t in printed[0]["tensors"]}
        self.assertEqual({n for n in found if found[n]["same"]}, {"same", "empty", "wide same"})
        self.assertEqual(found["same"]["difference"], None)
        self.assertEqual(found["gone"]["difference"], {"kind": "missing", "in": "b"})
        self.assertEqual(found["new"]["difference"], {"kind": "missing", "in": "a"})
        self.assertEqual(found["wide"]["difference"],
                         {"kind": "bytes", "at": 9, "count": 2, "bytes": 16})
        self.assertEqual(found["values"]["difference"]["at"], [1, 1])
        self.assertEqual(found["shape"]["difference"],
                         {"kind": "shape", "a": {"dtype": "uint8", "shape": [4]},
                          "b": {"dtype": "uint8", "shape": [2, 2]}})
        self.assertEqual(self.ctl("diff", "-q", a, b, code=1).out, "")
        self.ctl("diff", a, a, code=0)
        self.assertTrue(self.ctl("diff", "--json", b, b, code=0).json[0]["same"])

    def test_one_tensor_of_both_or_against_a_file(self):
        self.write_pair({"x": ("U8", [4], b"abcd"), "y": ("U8", [4], b"abcd")},
                        {"x": ("U8", [4], b"abcd"), "y": ("U8", [4], b"abce")})
        a, b = "a.safetensors", "b.safetensors"
        self.ctl("diff", a, b, "-t", "x", code=0)
        self.assertIn("1 of 4 elements differ, the first at [3]: 100 in a.safetensors",
                      self.ctl("diff", a, b, "--tensor", "y", code=1).out)
        self.write("x.npy", npy("|u1", (4,), b"abcd"))
        self.ctl("diff", "x.npy", b, "-t", "x", code=0)
        self.ctl("diff", b, "x.npy", "-t", "y", code=1)
        self.assertIn("--tensor: b.safetensors: it holds 2 tensors",
                      self.ctl("diff", b, "x.npy", code=2).err)
        self.assertIn('no tensor "z"', self.ctl("diff", a, b, "-t", "z", code=2).err)
        self.assertIn("--tensor selects a tensor", self.ctl("diff", "x.npy", "x.npy", "-t", "x",
                                                        code=2).err)

    @needs_npz
    def test_formats_compare_with_each_other(self):
        self.write("a.npz", archive([("x.npy", npy("<u2", (2,), b"abcd")),
                                     ("y.npy", npy("|u1", (4,), b"abcd"))]))
        self.write("b.safetensors", safetensors({"x": ("BF16", [2], b"abcd"),
                                                 "y": ("U8", [4], b"abcd")}))
        self.ctl("diff", "a.npz", "b.safetensors", code=0)
        self.write("c.npz", archive([("x.npy", npy("<u2", (2,), b"abce")), ("y.npy", b"junk")]))
        self.assertIn("c.npz[y]: ", self.ctl("diff", "a.npz", "c.npz", code=2).err)


if __name__ == "__main__":
    main()
