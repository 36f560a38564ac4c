# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges files with NumPy and compares moves with NumPy's operations."""
import io
import itertools
import json
import random
import unittest

from harness import DATA, Case, main, mov, needs_numpy, npy, numpy

DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "float16", "int32", "uint32", "float32")


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
            shape = [rng.randrange(1, 7) for _ in range(rng.randrange(1, 5))]
            dtype = rng.choice(DTYPES[1:])
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
            self.ctl("gen", "x.npy", "--shape", "3,4,5", "--dtype", dtype, "-p", "random", "-f",
                     code=0)
            array = numpy.load(self.path("x.npy"))
            self.assertEqual((array.dtype, array.shape), (numpy.dtype(dtype), (3, 4, 5)))
            values = self.ctl("show", "x.npy", "--json", code=0).json[0]["corner"]["values"]
            self.assert_same(numpy.array(values).astype(dtype), array)
            self.save("y.npy", numpy.asfortranarray(array))
            self.ctl("diff", "x.npy", "y.npy", code=0)
            index = (1, 2, 3)
            array = array.copy()
            array.view(f"u{array.itemsize}")[index] ^= 1
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
