# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges files with NumPy and compares moves with NumPy's operations."""
import io
import itertools
import json
import random
import unittest

from harness import DATA, Case, main, mov, needs_numpy, npy, numpy

NARROW = ("bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32", "float32")
DTYPES = NARROW + ("int64", "uint64", "float64", "complex64", "complex128")


def expected(source, job):
    """Returns the result of the move, computed with NumPy from the definition of a move."""
    cfg, rank = job.get("cfg", {}), source.ndim
    get = lambda name, neutral: cfg.get(name) or neutral
    pads = list(zip(get("padding_pre", [0] * rank), get("padding_post", [0] * rank)))
    padded = numpy.pad(source, pads)
    offset = get("offset", [0] * rank)
    size = [s or extent - o for s, extent, o in zip(get("size", [0] * rank), padded.shape, offset)]
    step = get("sub_sample_step", [1] * rank)
    window = tuple(slice(o, o + n, k) for o, n, k in zip(offset, size, step))
    moved = padded[window].transpose(get("perm_dim", list(range(rank))))
    dst_offset = get("dst_offset", [0] * rank)
    out = numpy.zeros([n + o for n, o in zip(moved.shape, dst_offset)], source.dtype)
    out[tuple(slice(o, None) for o in dst_offset)] = moved
    return out


def random_job(rng, shape):
    rank = len(shape)
    cfg = {"padding_pre": [rng.randrange(3) for _ in shape],
           "padding_post": [rng.randrange(3) for _ in shape]}
    padded = [n + a + b for n, a, b in zip(shape, cfg["padding_pre"], cfg["padding_post"])]
    cfg["offset"] = [rng.randrange(n) for n in padded]
    cfg["size"] = [rng.randrange(n - o + 1) for n, o in zip(padded, cfg["offset"])]
    cfg["sub_sample_step"] = [rng.randrange(1, 4) for _ in shape]
    cfg["perm_dim"] = rng.sample(range(rank), rank)
    cfg["dst_offset"] = [rng.randrange(3) for _ in shape]
    for name in rng.sample(sorted(cfg), rng.randrange(len(cfg))):
        if name != "offset" or "size" not in cfg:
            del cfg[name]
    if "padding_pre" not in cfg or "padding_post" not in cfg:
        cfg.pop("offset", None)
        cfg.pop("size", None)
    return mov(**cfg)


def axes_left(shape, cfg, parts):
    """Returns the dimensions of a move after folding; `parts`: elements of 8 or 16 bytes are one more dimension."""
    rank = len(shape)
    order = cfg.get("perm_dim") or list(range(rank))
    place = {d: i for i, d in enumerate(order)}
    entry = lambda name, d, neutral: (cfg.get(name) or [neutral] * rank)[d]

    def whole(d):
        return d == rank or (entry("padding_pre", d, 0) == entry("padding_post", d, 0) == entry("offset", d, 0) == 0 and
                             entry("size", d, 0) in (0, shape[d]) and entry("sub_sample_step", d, 1) == 1 and
                             entry("dst_offset", place[d], 0) == 0)

    def one(d):
        start, size, step = entry("offset", d, 0), entry("size", d, 0), entry("sub_sample_step", d, 1)
        return (-(-(size or shape[d] - start) // step) == 1 and entry("dst_offset", place[d], 0) == 0 and
                entry("padding_pre", d, 0) == entry("padding_post", d, 0) == 0)

    axes = [d for d in range(rank) if not one(d)]
    order = [d for d in order if d in axes]
    if parts:
        axes.append(rank)
        order.append(rank)
    joined = [order.index(b) == order.index(a) + 1 and whole(b) and entry("sub_sample_step", a, 1) == 1 and
              (shape[a] == 1 or set(shape[a + 1:b]) <= {1}) for a, b in zip(axes, axes[1:])]
    return len(axes) - sum(joined)


def random_wide_job(rng):
    """Returns a shape of 5 to 8 dimensions and a job that moves blocks of its dimensions, and changes a few."""
    while True:
        shape = [rng.choice((1, 2, 2, 2, 3)) for _ in range(rng.randrange(5, 9))]
        if numpy.prod(shape) <= 60:  # a border of 255 elements is the limit of a move
            break
    rank = len(shape)
    cuts = [0] + sorted(rng.sample(range(1, rank), rng.randrange(5))) + [rank]
    blocks = [list(range(a, b)) for a, b in zip(cuts, cuts[1:])]
    rng.shuffle(blocks)
    cfg = {"perm_dim": sum(blocks, [])}
    for name, neutral, value in (("padding_pre", 0, 1), ("padding_post", 0, 1), ("sub_sample_step", 1, 2),
                                 ("dst_offset", 0, 2)):
        if rng.random() < 0.4:
            cfg[name] = [neutral] * rank
            cfg[name][rng.randrange(rank)] = value
    if rng.random() < 0.3:
        at = rng.randrange(rank)
        cfg["offset"] = [0] * rank
        cfg["offset"][at] = rng.randrange(shape[at])
    return shape, mov(**cfg)


class NumpyCase(Case):
    def save(self, name, array):
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        self.write(name, buffer.getvalue())

    def assert_same(self, out, wanted):
        self.assertEqual((out.dtype, out.shape), (wanted.dtype, wanted.shape))
        self.assertEqual(out.tobytes(), numpy.ascontiguousarray(wanted).tobytes())


@needs_numpy
class Numpy(NumpyCase):
    def test_every_dtype_and_order(self):
        rng = numpy.random.default_rng(1)
        for dtype, order in itertools.product(DTYPES, "CF"):
            data = rng.integers(0, 256, (5, 6, 7, numpy.dtype(dtype).itemsize), numpy.uint8)
            if dtype == "bool":
                data &= 1
            array = numpy.asarray(data.view(dtype)[..., 0], order=order)
            self.save("in.npy", array)
            self.move(mov(perm_dim=[1, 2, 0]))
            self.assert_same(numpy.load(self.path("out.npy")), array.transpose(1, 2, 0))

    def test_every_spelling_of_a_dtype(self):
        """The spellings that NumPy reads, and the 8-bit floats of ml_dtypes, which NumPy saves but does not read."""
        data = numpy.arange(24, dtype=numpy.uint8)
        for descr in ("i2", "=i2", "|i2", "=u1", "b1", "V1", "|V1", "V2", "<V2", ">V2", "|V4", "<f1", "|f1"):
            dtype = numpy.dtype("V1" if descr[1:] == "f1" else descr)
            array = (data & 1 if dtype == "bool" else data).view(dtype).reshape(2, -1)
            shape = array.shape
            self.write("in.npy", npy(descr, shape, array.tobytes()))
            self.assertEqual(self.ctl("show", "in.npy", "--json", code=0).json[0]["dtype"], dtype.name)
            self.move(mov(perm_dim=[1, 0]))
            self.assert_same(numpy.load(self.path("out.npy")), array.T)
            self.save("numpy.npy", array.T)
            self.ctl("diff", "out.npy", "numpy.npy", code=0)

    def test_wide_elements_in_four_dimensions(self):
        """Elements of 8 and 16 bytes need a fifth dimension for their parts, unless two dimensions can be one."""
        array = (numpy.arange(360) * (1 - 2j)).reshape(3, 4, 5, 6)
        for args, wanted in ((["--slice", "1:,...,::2,:"], array[1:, :, ::2]),
                             (["--perm", "2,0,1,3"], array.transpose(2, 0, 1, 3)),
                             (["--perm", "3,0,1,2"], array.transpose(3, 0, 1, 2)),
                             (["--pad", "2,0,1,0"], numpy.pad(array, [(2, 2), (0, 0), (1, 1), (0, 0)])),
                             (["--pad", "0,0,0,200"], numpy.pad(array, [(0, 0)] * 3 + [(200, 200)]))):
            for dtype in ("complex128", "complex64", "float64", "int64"):
                with numpy.testing.suppress_warnings() as warnings:
                    warnings.filter(numpy.ComplexWarning)
                    self.save("in.npy", array.astype(dtype))
                    self.ctl("mov", "-f", "in.npy", "out.npy", *args, code=0)
                    self.assert_same(numpy.load(self.path("out.npy")), wanted.astype(dtype))
        self.save("in.npy", array)
        for args, limit in ((["--perm", "3,2,1,0"], "4 dimensions"), (["--slice", "1:,1:,1:,::2"], "4 dimensions"),
                            (["--pad", "1,1,1,200"], "the range of a job")):
            self.assertIn("src: elements of 16 bytes (complex128) move as 4 parts of 4 bytes, but as parts this move "
                          f"exceeds {limit}", self.ctl("mov", "in.npy", "no.npy", *args, code=2).err)
        self.assertNotIn("no.npy", self.listing())

    def test_updates_and_strides_of_wide_elements(self):
        array = numpy.arange(24, dtype="int64").reshape(2, 3, 4) * -(1 << 40)
        whole = numpy.full((4, 3, 9), 7, "int64")
        for order in "CF":
            self.save("in.npy", numpy.asarray(array, order=order))
            self.save("whole.npy", numpy.asarray(whole, order=order))
            self.ctl("mov", "--update", "in.npy", "whole.npy", "--perm", "2,1,0", "--at", "0,0,5", code=0)
            wanted = whole.copy()
            wanted[:, :, 5:7] = array.transpose(2, 1, 0)
            self.assert_same(numpy.load(self.path("whole.npy")), wanted)
        self.write("a.bin", b"head" + array.tobytes())
        src = {"file": "a.bin", "dtype": "int64", "shape": [3, 2], "strides": [4, 2], "offset": 4}
        self.move(mov(src, {"file": "b.bin", "strides": [1, 5]}))
        got = numpy.frombuffer(self.read("b.bin"), "int64")
        self.assertEqual(got.tolist()[:3] + got.tolist()[5:], array[0, :, 0].tolist() + array[0, :, 2].tolist())
        buffers = {"buffers": [{"name": "b", "bytes": 96}], "jobs": [
            mov("in.npy", {"buffer": "b"}, offset=[1, 0, 0]), dict(mov(
                {"buffer": "b", "dtype": "int64", "shape": [3, 4]}), name="second")]}
        self.write("job.json", buffers)
        self.ctl("run", "job.json", code=0)
        self.assert_same(numpy.load(self.path("out.npy")), array[1])

    def test_wide_elements_have_no_type(self):
        self.save("in.npy", numpy.arange(6.0))
        for word in ("fp64", "float64", "int64"):
            wanted = "no element type has 8 or 16 bytes; such elements move without a type, as parts of 4 bytes"
            self.assertEqual(self.ctl("mov", "in.npy", "out.npy", "--type", word, code=2).err,
                             f"mlictl: --type {word}: {wanted}\n")
            self.assert_refused(mov({"file": "in.npy", "type": word}), "/src/type", f'"{word}" given: {wanted}')
        self.assert_refused(mov({"file": "in.npy", "type": "fx16"}), "/src/type", "(float64) have 8 B")
        self.assert_refused(mov({"file": "in.npy", "type": "sa32", "scale": 3, "zero_point": 0, "scale_frac_bits": 0}),
                            "/src", "elements of 8 bytes (float64) cannot have quantisation parameters")
        self.assertIn("elements of float64: each moves as 2 parts of 4 bytes",
                      self.explain(mov()))

    def explain(self, job):
        self.write("job.json", job)
        return self.ctl("explain", "job.json", code=0).out

    def test_a_move_of_wide_elements_that_fails_its_case(self):
        array = numpy.arange(24, dtype="uint64").reshape(2, 3, 4) << 40
        self.save("in.npy", array)
        array[1, 2, 3] += 1
        self.save("golden.npy", array)
        self.write("job.json", dict(mov(), expect={"file": "golden.npy"}))
        printed = self.ctl("run", "job.json", code=1)
        self.assertIn("1 of 24 elements differ, the first at [1, 2, 3]: got 25288767438848, expected 25288767438849",
                      printed.out + printed.err)
        self.save("a.npy", array.astype("float64"))
        self.save("b.npy", numpy.nextafter(array.astype("float64"), 1e300))
        self.assertIn("(1 ulp", self.ctl("diff", "a.npy", "b.npy", code=1).out)

    def test_nans_that_differ_in_their_bits(self):
        for dtype, word, quiet in (("float16", "uint16", 0x7e00), ("float32", "uint32", 0x7fc00000),
                                   ("float64", "uint64", 0x7ff8000000000000), ("complex64", "uint64", 0x7fc00000)):
            array = numpy.zeros((2, 3), word)
            for name, bits in (("in.npy", quiet + 1), ("golden.npy", quiet)):
                array[1, 1] = bits
                self.save(name, array.view(dtype))
            text, digits = "nan+0j" if dtype == "complex64" else "nan", 2 * array.itemsize
            wrong, right = (f"{text} (0x{bits:0{digits}x})" for bits in (quiet + 1, quiet))
            self.write("job.json", dict(mov(), expect={"file": "golden.npy"}))
            for words in (["run"], ["batch"]):
                printed = self.ctl(*words, "job.json", code=1)
                self.assertIn(f"the first at [1, 1]: got {wrong}, expected {right} in golden.npy", printed.out + printed.err)
            printed = self.ctl("diff", "in.npy", "golden.npy", code=1).out
            self.assertIn(f"  [1, 1]: {wrong} in in.npy, {right} in golden.npy", printed)
            self.save("golden.npy", numpy.zeros((2, 3), dtype))
            self.assertNotIn("0x", self.ctl("diff", "in.npy", "golden.npy", code=1).out)

    def test_jobs_of_wide_elements_are_not_fused(self):
        self.save("in.npy", numpy.arange(24.0).reshape(2, 3, 4))
        self.write("job.json", [mov("in.npy", "mid.npy", perm_dim=[1, 0, 2]), mov("mid.npy", perm_dim=[2, 1, 0])])
        printed = self.ctl("optimise", "--all-intermediates", "job.json", code=0)
        self.assertIn("its elements have 8 or 16 bytes", printed.out + printed.err)

    def test_random_moves_of_5_to_8_dimensions(self):
        rng = random.Random(8)
        jobs, wanted, refused = [], [], []
        for i in range(300):
            shape, job = random_wide_job(rng)
            array = numpy.arange(numpy.prod(shape)).astype(rng.choice(DTYPES[1:])).reshape(shape)
            self.save(f"in{i}.npy", array)
            job["src"]["file"], job["dst"]["file"] = f"in{i}.npy", f"out{i}.npy"
            if axes_left(shape, job["cfg"], array.itemsize > 4) > 4:
                refused.append(job)
            else:
                jobs.append(job)
                wanted.append(expected(array, job))
        self.assertGreater(min(len(refused), len(jobs)), 20)
        self.write("job.json", refused)
        for result in self.ctl("validate", "--json", "job.json", code=2).json:
            self.assertIn("error", result)
            self.assertRegex(result["error"]["message"], r"^src: dimensions \d[\d, +]*(the parts of an element)? do not fold")
        self.write("job.json", jobs)
        self.ctl("validate", "job.json", code=0)
        self.ctl("explain", "--no-memcpy", "job.json", code=0)
        self.submit("job.json", code=0)
        for job, value in zip(jobs, wanted):
            with self.subTest(job=json.dumps(job)):
                self.assert_same(numpy.load(self.path(job["dst"]["file"])), value)

    def test_options_for_5_to_8_dimensions(self):
        array = numpy.arange(720, dtype="int16").reshape(2, 3, 1, 4, 5, 6)
        self.save("in.npy", array)
        for args, wanted in (([], array),
                             (["--perm", "3,4,5,0,1,2"], array.transpose(3, 4, 5, 0, 1, 2)),
                             (["--perm", "abcdef:dbacef"], array.transpose(3, 1, 0, 2, 4, 5)),
                             (["--perm", "0,1,2,3,-1,-2"], array.transpose(0, 1, 2, 3, 5, 4)),
                             (["--slice", "1:,...,::2,:,1:-1"], array[1:, ..., ::2, :, 1:-1]),
                             (["--slice", "1:,2:,:,::2,1::9,1:-1", "--perm", "5,0,4,1,2,3"],
                              array[1:, 2:, :, ::2, 1::9, 1:-1].transpose(5, 0, 4, 1, 2, 3)),
                             (["--pad", "0,0,0,1:2,0,0"], numpy.pad(array, [(0, 0)] * 3 + [(1, 2)] + [(0, 0)] * 2))):
            self.ctl("mov", "-f", "in.npy", "out.npy", *args, code=0)
            self.assert_same(numpy.load(self.path("out.npy")), wanted)
        self.ctl("permute", "-f", "in.npy", "out.npy", "--perm", "3,4,5,0,1,2", code=0)
        self.assert_same(numpy.load(self.path("out.npy")), array.transpose(3, 4, 5, 0, 1, 2))
        self.ctl("mov", "-f", "in.npy", "out.npy", "--at", "0,0,0,2,0,0", code=0)
        self.assert_same(numpy.load(self.path("out.npy"))[:, :, :, 2:], array)
        self.save("fortran.npy", numpy.asfortranarray(array))
        self.ctl("mov", "-f", "fortran.npy", "out.npy", "--perm", "4,5,3,2,1,0", code=0)
        self.assert_same(numpy.load(self.path("out.npy")), array.transpose(4, 5, 3, 2, 1, 0))
        self.assertIn("neither padded, sliced nor subsampled; the source is in Fortran order, a new result in C order: save it "
                      "in C order, or use several moves\n", self.ctl("mov", "fortran.npy", "no.npy", code=2).err)
        self.ctl("mov", "-f", "fortran.npy", "mid.npy", "--perm", "1,0,2,3,4,5", code=0)
        self.ctl("mov", "-f", "mid.npy", "out.npy", "--perm", "1,0,2,3,4,5", code=0)
        self.assert_same(numpy.load(self.path("out.npy")), array)
        self.save("fortran.npy", numpy.asfortranarray(array[0, :, 0].astype("int64")))
        self.assertIn("exceeds 4 dimensions; move fewer dimensions at a time; the source is in Fortran order",
                      self.ctl("mov", "fortran.npy", "no.npy", code=2).err)
        self.assertIn("src: dimensions 0, 1, 3, 4, 5 do not fold into 4",
                      self.ctl("mov", "in.npy", "no.npy", "--perm", "5,4,3,2,1,0", code=2).err)
        self.assertIn("src: dimensions 0, 1+3, 4, 5, the parts of an element do not fold into 4", self.wide_refusal(array))
        self.assertIn("--perm 0,1,2,3,4,5,6,7,8: requires 1 to 8 numbers",
                      self.ctl("mov", "in.npy", "no.npy", "--perm", "0,1,2,3,4,5,6,7,8", code=2).err)
        self.assertIn("cfg.perm_dim: 5 entries given, but the source has 6 dimensions",
                      self.ctl("mov", "in.npy", "no.npy", "--perm", "0,1,2,4,3", code=2).err)
        self.assertNotIn("no.npy", self.listing())

    def wide_refusal(self, array):
        self.save("wide.npy", array.astype("float64"))
        return self.ctl("mov", "wide.npy", "no.npy", "--slice", ":,:,:,:,::2,::2", "--perm", "1,2,3,0,4,5", code=2).err

    def test_updates_strides_and_buffers_of_5_dimensions(self):
        array = numpy.arange(240, dtype="float32").reshape(2, 3, 2, 4, 5)
        whole = numpy.full((2, 3, 6, 4, 5), 7, "float32")
        self.save("in.npy", array)
        self.save("whole.npy", whole)
        self.ctl("mov", "--update", "in.npy", "whole.npy", "--at", "0,0,3,0,0", code=0)
        whole[:, :, 3:5] = array
        self.assert_same(numpy.load(self.path("whole.npy")), whole)
        self.assertIn("cfg.dst_offset[2]: the result ends at 7",
                      self.ctl("mov", "--update", "in.npy", "whole.npy", "--at", "0,0,5,0,0", code=2).err)
        self.write("a.bin", b"head" + array.tobytes())
        src = {"file": "a.bin", "type": "fp32", "shape": [2, 3, 2, 4, 3], "strides": [120, 40, 20, 5, 1], "offset": 4}
        self.move(mov(src, {"file": "b.bin", "strides": [0, 0, 0, 6, 2]}))
        got = numpy.frombuffer(self.read("b.bin") + bytes(4), "float32").reshape(2, 3, 2, 4, 3, 2)
        self.assertTrue((got == numpy.stack([array[..., :3], 0 * array[..., :3]], -1)).all())
        self.write("job.json", {"buffers": [{"name": "b", "bytes": 960}], "jobs": [
            mov("in.npy", {"buffer": "b"}, perm_dim=[2, 3, 4, 0, 1]),
            dict(mov({"buffer": "b", "type": "fp32", "shape": [2, 4, 5, 2, 3]}), name="second")]})
        self.ctl("run", "job.json", code=0)
        self.assert_same(numpy.load(self.path("out.npy")), array.transpose(2, 3, 4, 0, 1))

    def test_members_of_5_dimensions_that_are_wrong(self):
        self.save("in.npy", numpy.zeros((2, 3, 2, 4, 5), "int8"))
        self.assert_refused(mov(perm_dim=[0, 1, 2, 4, 4]), "/cfg/perm_dim/4", "each dimension from 0 to 4 is needed once")
        self.assert_refused(mov(perm_dim=[0, 1, 2, 3, 5]), "/cfg/perm_dim/4", "5 given")
        self.assert_refused(mov(offset=[0, 0, 0, 0, 5]), "/cfg/offset/4", "cfg.offset[4]: 5 given; must be below 5")
        self.assert_refused(mov(dst_offset=[0, 0, 0, 0, 2**32 - 1]), "/cfg/dst_offset/4", "beyond 2^32")
        self.assert_refused(mov(perm_dim=[0, 1, 2, 3, 8]), "/cfg/perm_dim/4", "8")
        self.assert_refused(mov({"file": "in.npy", "type": "sa8", "axis": 1, "scale": [1, 2, 3]}), "/src",
                            "5 dimensions cannot have parameters along an axis")
        self.assert_refused(mov(perm_dim=list(range(9))), "/cfg/perm_dim", "9")
        self.save("rank9.npy", numpy.zeros((1,) * 9, "int8"))
        self.assertIn("the shape has more than 8 dimensions", self.ctl("mov", "rank9.npy", "out.npy", code=2).err)

    def test_explanation_of_5_dimensions(self):
        self.save("in.npy", numpy.zeros((2, 3, 2, 4, 5), "int8"))
        self.write("job.json", mov(perm_dim=[2, 0, 1, 3, 4]))
        self.assertIn("shape (2, 3, 2, 4, 5) -> (2, 2, 3, 4, 5): dimensions that stay together are folded",
                      self.ctl("explain", "job.json", code=0).out)
        fact = self.ctl("explain", "--json", "job.json", code=0).json[0]
        self.assertEqual(fact["folded"], {"src": [2, 3, 2, 4, 5], "dst": [2, 2, 3, 4, 5]})
        self.assertEqual(numpy.prod(fact["src"]["shape"]), 240)
        self.write("job.json", mov(offset=[1, 0, 0, 0, 0], sub_sample_step=[1, 1, 1, 2, 1]))
        fact = self.ctl("explain", "--json", "job.json", code=0).json[0]
        self.assertEqual([part["src"] for part in fact["plan"]["descriptors"]], [0])
        self.assertEqual((fact["src"]["offset"], fact["src"]["bytes"]), (128 + 120, 120))

    def test_a_case_of_5_dimensions_that_fails(self):
        array = numpy.arange(240, dtype="uint8").reshape(2, 3, 2, 4, 5)
        self.save("in.npy", array)
        array[1, 2, 1, 3, 4] += 1
        self.save("golden.npy", array)
        self.write("job.json", dict(mov(), expect={"file": "golden.npy"}))
        printed = self.ctl("run", "job.json", code=1)
        self.assertIn("1 of 240 elements differ, the first at [1, 2, 1, 3, 4]: got 239, expected 240",
                      printed.out + printed.err)
        self.ctl("batch", "job.json", "--html", "page", "--keep", "kept", code=1)

    def test_every_version_of_the_header(self):
        array = numpy.arange(24, dtype="<i2").reshape(4, 6)
        for version in ((1, 0), (2, 0), (3, 0)):
            buffer = io.BytesIO()
            numpy.lib.format.write_array(buffer, array, version)
            self.write("in.npy", buffer.getvalue())
            self.move(mov())
            self.assert_same(numpy.load(self.path("out.npy")), array)

    def test_random_moves(self):
        rng = random.Random(7)
        jobs, wanted = [], []
        for i in range(300):
            dtype = rng.choice(DTYPES[1:])
            # The parts of an element of 8 or 16 bytes take one of the four dimensions.
            most = 4 if numpy.dtype(dtype).itemsize <= 4 else 3
            shape = [rng.randrange(1, 7) for _ in range(rng.randrange(1, most + 1))]
            array = numpy.arange(numpy.prod(shape)).astype(dtype).reshape(shape)
            if rng.random() < 0.3:
                array = numpy.asfortranarray(array)
            self.save(f"in{i}.npy", array)
            job = random_job(rng, shape)
            job["src"]["file"], job["dst"]["file"] = f"in{i}.npy", f"out{i}.npy"
            jobs.append(job)
            wanted.append(expected(array, job))
        self.write("job.json", jobs)
        self.ctl("validate", "job.json", code=0)
        self.submit("job.json", code=0)
        for i, value in enumerate(wanted):
            with self.subTest(job=json.dumps(jobs[i])):
                self.assert_same(numpy.load(self.path(f"out{i}.npy")), value)

    def test_gen_show_and_diff_agree_with_numpy(self):
        for dtype in DTYPES:
            self.ctl("gen", "x.npy", "--shape", "2,1,3,1,1,2,4,5", "--dtype", dtype, "-p", "random", "-f", code=0)
            array = numpy.load(self.path("x.npy"))
            self.assertEqual((array.dtype, array.shape), (numpy.dtype(dtype), (2, 1, 3, 1, 1, 2, 4, 5)))
            values = self.ctl("show", "x.npy", "--json", code=0).json[0]["corner"]["values"]
            self.assert_same(numpy.array(values).astype(dtype), array)
            self.save("y.npy", numpy.asfortranarray(array))
            self.ctl("diff", "x.npy", "y.npy", code=0)
            index = (1, 0, 2, 0, 0, 1, 2, 3)
            array = array.copy()
            array.view("u1").reshape(array.shape + (-1,))[index + (0,)] ^= 1
            self.save("y.npy", array)
            fact = self.ctl("diff", "x.npy", "y.npy", "--json", code=1).json[0]["difference"]
            self.assertEqual((fact["at"], fact["count"]), (list(index), 1))


@needs_numpy
@unittest.skipUnless(DATA.is_dir(), f"no test data in {DATA}")
class RealTensors(NumpyCase):
    """Moves tensors of a trained network, if MLI_TEST_DATA names them."""

    def test_weights_from_hwcn_to_nhwc(self):
        for name in ("conv1", "conv2", "conv3"):
            path = DATA / f"{name}_weights_hwcn.npy"
            params = json.loads((DATA / f"{name}_weights_hwcn.json").read_text())
            for op in ("mov", "permute"):
                self.move(mov(dict(params, file=str(path)), {"file": "out.npy", "params": "p.json"},
                              op=op, perm_dim=[3, 0, 1, 2]))
                self.assert_same(numpy.load(self.path("out.npy")),
                                 numpy.load(path).transpose(3, 0, 1, 2))
                self.assertEqual(json.loads(self.read("p.json")), dict(params, axis=0))

    def test_a_slice_of_the_output_channels(self):
        path = DATA / "conv1_weights_hwcn.npy"
        params = json.loads((DATA / "conv1_weights_hwcn.json").read_text())
        self.move(mov(dict(params, file=str(path)), {"file": "out.npy", "params": "p.json"},
                      offset=[0, 0, 0, 8], size=[5, 5, 3, 16], sub_sample_step=[1, 1, 1, 2]))
        self.assert_same(numpy.load(self.path("out.npy")), numpy.load(path)[..., 8:24:2])
        got = json.loads(self.read("p.json"))
        self.assertEqual(got["scale"], params["scale"][8:24:2])
        self.assertEqual(got["scale_frac_bits"], params["scale_frac_bits"][8:24:2])

    def test_images(self):
        one, all_of_them = DATA / "image0_hwc_s8.npy", DATA / "images_nhwc_u8.npy"
        self.move(mov(str(one), perm_dim=[2, 0, 1]))
        self.assert_same(numpy.load(self.path("out.npy")), numpy.load(one).transpose(2, 0, 1))
        self.move(mov(str(all_of_them), perm_dim=[0, 3, 1, 2], padding_pre=[0, 2, 2, 0],
                      padding_post=[0, 2, 2, 0], channels=4))
        padded = numpy.pad(numpy.load(all_of_them), ((0, 0), (2, 2), (2, 2), (0, 0)))
        self.assert_same(numpy.load(self.path("out.npy")), padded.transpose(0, 3, 1, 2))


if __name__ == "__main__":
    main()
