# SPDX-License-Identifier: BSD-3-Clause
"""Compares the member `slice` of a job with the same text as an index of a NumPy array; tests that other texts are
refused."""
import io
import os
import random

from harness import Case, main, mov, needs_numpy, numpy, scaled

SEED = int(os.environ.get("MLI_TEST_SEED", 0)) or random.SystemRandom().randrange(1, 1 << 32)


def random_entry(rng, extent):
    def number():
        if rng.random() < 0.05:
            return rng.choice((-1, 1)) * rng.choice((255, 1 << 31, 1 << 32, (1 << 63) - 1))
        return rng.randrange(-extent - 2, extent + 3)
    start = str(number()) if rng.random() < 0.6 else ""
    stop = str(number()) if rng.random() < 0.6 else ""
    step = ""
    if rng.random() < 0.5:
        step = ":" + (rng.choice(("1", "2", "3", "7", str(extent), str(1 << 40)))
                      if rng.random() < 0.9 else "")
    text = f"{start}:{stop}{step}"
    return text.replace(":", rng.choice((" :", ": ", " : "))) if rng.random() < 0.1 else text


def random_slice(rng, padded):
    """Returns a random index: one entry for each dimension or fewer, with or without an ellipsis."""
    entries = [random_entry(rng, extent) for extent in padded]
    if rng.random() < 0.5:
        missing = rng.randrange(len(padded) + 1)
        at = rng.randrange(len(padded) - missing + 1)
        if rng.random() < 0.3:
            del entries[len(padded) - missing:]
            entries = entries or [":"]
        else:
            entries[at:at + missing] = ["..."]
    return rng.choice((",", ", ")).join(entries) + ("," if rng.random() < 0.05 else "")


def numpy_slice(text):
    """Returns the slice as Python reads it when it is the index of an array."""
    return eval(f"_[{text}]", {"_": type("", (), {"__getitem__": lambda _, index: index})()})


class Example:
    """Makes a random array and a job that moves a slice of it; `wanted` is NumPy's result."""

    def __init__(self, rng):
        shape = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 5))]
        self.array = numpy.arange(numpy.prod(shape), dtype=rng.choice(
            ("int8", "uint16", "float32"))).reshape(shape)
        pads = [(rng.randrange(4), rng.randrange(4)) if rng.random() < 0.4 else (0, 0)
                for _ in shape]
        self.cfg = {}
        if any(map(any, pads)):
            self.cfg["padding_pre"], self.cfg["padding_post"] = map(list, zip(*pads))
        perm = rng.sample(range(len(shape)), len(shape))
        if rng.random() < 0.5:
            self.cfg["perm_dim"] = perm
        else:
            perm = list(range(len(shape)))
        padded = numpy.pad(self.array, pads)
        self.slice = random_slice(rng, padded.shape)
        self.wanted = padded[numpy_slice(self.slice)].transpose(perm)

    def job(self, name):
        return mov(f"in{name}.npy", f"out{name}.npy", slice=self.slice, **self.cfg)


def saved(array):
    buffer = io.BytesIO()
    numpy.save(buffer, numpy.ascontiguousarray(array))
    return buffer.getvalue()


@needs_numpy
class AgainstNumpy(Case):
    def setUp(self):
        super().setUp()
        print("MLI_TEST_SEED =", SEED)
        self.rng = random.Random(SEED)

    def test_random_slices(self):
        """The output has the bytes of numpy.save; empty slices are refused."""
        examples = [Example(self.rng) for _ in range(scaled(2400))]
        full = [e for e in examples if e.wanted.size]
        empty = [e for e in examples if not e.wanted.size]
        self.assertGreater(len(full), scaled(1000))
        self.assertGreater(len(empty), scaled(100))
        refused = {"error": "INVALID_PARAMS", "pointer": "/slice"}
        jobs = []
        for i, e in enumerate(full + empty):
            self.write(f"in{i}.npy", saved(e.array))
            jobs.append(dict(e.job(i), **({} if e.wanted.size else {"expect": refused})))
        self.write("job.json", jobs)
        for command in ("validate", "run"):
            results = self.ctl(command, "--json", "job.json").json
            for e, result in zip(full + empty, results):
                self.assertEqual(result["exit"], 0, (e.slice, e.cfg, e.array.shape, result))
        for i, e in enumerate(full):
            self.assertEqual(self.read(f"out{i}.npy"), saved(e.wanted),
                             (e.slice, e.cfg, e.array.shape))
        for i in range(len(full), len(full + empty)):
            self.assertFalse(self.exists(f"out{i}.npy"))

    def test_random_lines(self):
        """`mlictl make --slice` gives the same slices."""
        for _ in range(scaled(60)):
            e = Example(self.rng)
            self.write("in.npy", saved(e.array))
            options = ["--slice", e.slice, "-q"]
            if "padding_pre" in e.cfg:
                options += ["--pad", ",".join(f"{a}:{b}" for a, b in zip(
                    e.cfg["padding_pre"], e.cfg["padding_post"]))]
            if "perm_dim" in e.cfg:
                options += ["--perm=" + ",".join(map(str, e.cfg["perm_dim"]))]
            words = ["make", "mov", "in.npy", "out.npy", *options, "--run"]
            with self.subTest(words=words, shape=e.array.shape):
                self.ctl(*words, code=0 if e.wanted.size else 2)
                if e.wanted.size:
                    self.assertEqual(self.read("out.npy"), saved(e.wanted))
                else:
                    self.assertFalse(self.exists("out.npy"))
                for path in self.dir.glob("out.npy"):
                    path.unlink()


class Refused(Case):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", shape=(4, 9))

    def test_errors_in_the_text(self):
        for text, words in (("3", "write 3:4"), ("::-1", "step -1"), ("1:2]", "character 4"),
                            ("...,...", "twice"), (":" + 8 * ",:", "more than 8"), ("", "empty"),
                            (":" + "9" * 20, "64 bits"), (" " * 513, "512")):
            self.assert_refused(mov(slice=text), "/slice", "slice: ", words)
        self.assert_refused(mov(slice=1), "/slice", "a string is required")

    def test_errors_for_the_tensor(self):
        for text, words in ((":,:,:", "the source has 2 dimensions"),
                            (":,9:", "nothing is selected of dimension 1"),
                            ("3:1", "nothing is selected of dimension 0")):
            self.assert_refused(mov(slice=text), "/slice", "slice: ", words)
        self.assert_refused(mov(slice="10:", padding_pre=[1, 0], padding_post=[5, 0]), "/slice",
                            "10: given, of 10 (padded) elements")
        self.assert_refused(mov(slice=":", padding_pre=[1]), "/cfg/padding_pre")

    def test_slice_excludes_the_members_it_replaces(self):
        for field in ("offset", "size", "sub_sample_step"):
            self.assert_refused(mov(slice=":", **{field: [1, 1]}), "/slice", "cfg." + field)
        self.assert_refused(mov(op="permute", slice=":", perm_dim=[1, 0]), "/slice", "mov")
        self.move(mov(slice="1:", offset=[], size=[], sub_sample_step=[]))

    def test_in_defaults(self):
        self.write("job.json", {"defaults": {"op": "mov", "slice": "1:2", "src": {"file": "in.npy"}},
                                "jobs": [{"dst": {"file": "a.npy"}},
                                         {"dst": {"file": "b.npy"}, "slice": ":,::4"}]})
        shapes = [fact["dst"]["shape"] for fact in self.ctl("run", "--json", "job.json").json]
        self.assertEqual(shapes, [[1, 9], [4, 3]])

    def test_explain_shows_the_window(self):
        slice_job = mov(slice="...,-6:-1:2", padding_pre=[1, 0])
        window = mov(offset=[0, 3], size=[5, 5], sub_sample_step=[1, 2], padding_pre=[1, 0])
        printed = []
        for job in (slice_job, window):
            self.write("job.json", job)
            printed.append(self.ctl("explain", "--no-memcpy", "--json", "job.json", code=0).json)
        self.assertEqual(*printed)

    def test_of_raw_files(self):
        self.write("in.bin", bytes(range(36)))
        self.move(mov({"file": "in.bin", "shape": [4, 9], "type": "fx8"}, "out.bin",
                      slice="1:3,-2:"))
        self.assertEqual(self.read("out.bin"), bytes((16, 17, 25, 26)))


if __name__ == "__main__":
    main()
