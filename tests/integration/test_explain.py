# SPDX-License-Identifier: BSD-3-Clause
"""Tests mlictl explain: compares its output with NumPy, and with the result of the job.

    MLI_UPDATE_GOLDEN=1 meson test -C build mlictl_explain    # rewrites explain/*.txt
"""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from harness import MLICTL, SOURCE, Case, main, mov, needs_numpy, numpy
from test_numpy import NARROW, NumpyCase, expected, random_job

EXAMPLES = SOURCE / "examples"
GOLDEN = pathlib.Path(__file__).resolve().parent / "explain"
STEPS = ("padded", "window", "sampled", "permuted", "placed")


def coordinates_of(shape, strides):
    """Returns the position of each element, counted in elements from the first element."""
    where = numpy.zeros(shape, numpy.int64)
    for d, stride in enumerate(strides):
        index = [None] * len(shape)
        index[d] = slice(None)
        where = where + numpy.arange(shape[d])[tuple(index)] * stride
    return where


def rows(descriptor):
    """Returns the byte positions (source, destination) of each run of a descriptor of the plan."""
    found = [(descriptor.get("src", 0), descriptor["dst"])]
    for loop in descriptor["loops"]:
        found = [(src + i * loop.get("src_step", 0), dst + i * loop["dst_step"])
                 for src, dst in found for i in range(loop["count"])]
    return found


def execute(plan, source, size):
    """Executes the plan on a destination of `size` zeros. Returns the destination's bytes, and how often the plan has
    written each byte."""
    out, times = bytearray(size), [0] * size
    for descriptor in plan["descriptors"]:
        run, written = descriptor["run"], 0
        for src, dst in rows(descriptor):
            assert 0 <= dst and dst + run <= size
            assert descriptor["kind"] == "zeros" or 0 <= src and src + run <= len(source)
            out[dst:dst + run] = source[src:src + run] if descriptor["kind"] == "copy" else bytes(run)
            for i in range(dst, dst + run):
                times[i] += 1
            written += run
        assert written == descriptor["bytes"]
        assert descriptor["kernel"]
    return bytes(out), times


class Explain(NumpyCase):
    def explain(self, *arguments, code=0, **more):
        return self.ctl("explain", "--no-memcpy", *arguments, code=code, **more)

    def facts(self, *arguments, **more):
        return self.explain("--json", *arguments, **more).json


@needs_numpy
class Claims(Explain):
    """Checks every number in the output of --json."""

    def check_steps(self, fact, array, cfg):
        rank = array.ndim
        get = lambda name, neutral: cfg.get(name) or neutral
        pads = list(zip(get("padding_pre", [0] * rank), get("padding_post", [0] * rank)))
        where = numpy.pad(coordinates_of(array.shape, [s // array.itemsize for s in array.strides]),
                          pads, constant_values=-1)
        steps = [where.shape]
        offset = get("offset", [0] * rank)
        size = [s or n - o for s, n, o in zip(get("size", [0] * rank), where.shape, offset)]
        where = where[tuple(slice(o, o + s) for o, s in zip(offset, size))]
        steps.append(where.shape)
        where = where[tuple(slice(None, None, s) for s in get("sub_sample_step", [1] * rank))]
        steps.append(where.shape)
        where = where.transpose(get("perm_dim", range(rank)))
        steps.append(where.shape)
        steps.append(tuple(n + o for n, o in zip(where.shape, get("dst_offset", [0] * rank))))
        self.assertEqual([tuple(fact["steps"][name]) for name in STEPS], steps)
        return where

    def check_axes(self, fact, array, cfg):
        rank = array.ndim
        perm = cfg.get("perm_dim") or list(range(rank))
        strides = fact["dst"]["strides"]
        for d, axis in enumerate(fact["axes"]):
            get = lambda name, neutral: (cfg.get(name) or [neutral] * rank)[d]
            line = numpy.pad(numpy.arange(array.shape[d]),
                             (get("padding_pre", 0), get("padding_post", 0)), constant_values=-1)
            offset = get("offset", 0)
            window = line[offset:][:get("size", 0) or None]
            samples = window[::get("sub_sample_step", 1)]
            inside = numpy.flatnonzero(samples >= 0)
            to = perm.index(d)
            self.assertEqual(
                {k: axis[k] for k in axis if k not in ("lo", "hi", "first")},
                {"extent": array.shape[d], "pad_pre": get("padding_pre", 0),
                 "pad_post": get("padding_post", 0), "padded": len(line), "offset": offset,
                 "size": len(window), "step": get("sub_sample_step", 1), "count": len(samples),
                 "dst_dim": to, "dst_offset": (cfg.get("dst_offset") or [0] * rank)[to],
                 "src_stride": array.strides[d] // array.itemsize, "dst_stride": strides[to]})
            self.assertEqual(axis["hi"] - axis["lo"], len(inside))
            if len(inside):
                self.assertEqual((axis["lo"], axis["hi"], axis["first"]),
                                 (inside[0], inside[-1] + 1, samples[inside[0]]))

    def check_touched(self, side, where, shape, strides, elem):
        """Checks the elements that explain shows at the positions `where`; negative positions are padding."""
        touched = where[where >= 0]
        self.assertEqual(side["touched"], touched.size * elem)
        if touched.size == 0:
            self.assertEqual(side["range"], [0, 0])
            self.assertNotIn("first", side)
            return
        low, high = int(touched.min()), int(touched.max())
        self.assertEqual(side["range"], [low * elem, (high + 1) * elem])
        places = coordinates_of(shape, strides)
        for name, place in ("first", low), ("last", high):
            self.assertEqual(places[tuple(side[name])], place)

    def check(self, fact, array, job, channels=1):
        cfg, elem = job.get("cfg", {}), array.itemsize
        where = self.check_steps(fact, array, cfg)
        self.check_axes(fact, array, cfg)
        self.assertEqual(fact["elem"], elem)
        self.assertEqual((tuple(fact["src"]["shape"]), fact["src"]["bytes"]),
                         (array.shape, array.nbytes))
        strides = [s // elem for s in array.strides]
        self.check_touched(fact["src"], where, array.shape, strides, elem)
        dst = fact["dst"]
        written = coordinates_of(dst["shape"], dst["strides"])
        inner = tuple(slice(o, None) for o in cfg.get("dst_offset") or [0] * array.ndim)
        self.check_touched(dst, written[inner], dst["shape"], dst["strides"], elem)
        plan = fact["plan"]
        out, times = execute(plan, self.stored(array), dst["bytes"])
        self.assertLessEqual(max(times), 1)
        self.assertEqual(sum(times), plan["bytes"])
        self.assertEqual(out, numpy.ascontiguousarray(expected(array, job)).tobytes())
        parts = fact["channels"]
        self.assertTrue(1 <= len(parts) <= channels)
        self.assertEqual(sum(part["bytes"] for part in parts), plan["bytes"])
        self.assertGreaterEqual(sum(part["descriptors"] for part in parts),
                                len(plan["descriptors"]))
        if len(parts) == 1:
            self.assertEqual(parts[0]["rows"],
                             sum(len(rows(one)) for one in plan["descriptors"]))

    @staticmethod
    def stored(array):
        """Returns the bytes of an array in the order in which a .npy file has them."""
        return array.tobytes(order="F" if array.flags.f_contiguous and not array.flags.c_contiguous
                             else "C")

    def test_random_jobs(self):
        seed = int(os.environ.get("MLI_TEST_SEED", random.randrange(2 ** 32)))
        print("seed", seed)
        rng = random.Random(seed)
        jobs, arrays = [], []
        for i in range(200):
            shape = [rng.randrange(1, 8) for _ in range(rng.randrange(1, 5))]
            array = numpy.arange(numpy.prod(shape)).astype(rng.choice(NARROW[1:])).reshape(shape)
            if rng.random() < 0.3:
                array = numpy.asfortranarray(array)
            self.save(f"in{i}.npy", array)
            job = random_job(rng, shape)
            job["src"]["file"], job["dst"]["file"] = f"in{i}.npy", f"out{i}.npy"
            jobs.append(job)
            arrays.append(array)
        self.write("job.json", jobs)
        before = self.listing()
        channels = rng.randrange(1, 17)
        engine = rng.choice(("inline", "threads:tiny=0", "mock", "mock:loops=0"))
        facts = self.facts("job.json", "-e", engine, "-c", channels)
        self.assertEqual(self.listing(), before, "something was written")
        for i, (fact, array, job) in enumerate(zip(facts, arrays, jobs)):
            with self.subTest(job=json.dumps(job), shape=array.shape, channels=channels):
                self.assertEqual((fact["pointer"], fact["op"]), (f"/{i}", "mov"))
                self.check(fact, array, job, channels)
        self.assertEqual(len(facts), len(jobs))

    def test_the_job_does_what_explain_says(self):
        array = numpy.arange(6 * 9 * 11, dtype="<i2").reshape(6, 9, 11)
        self.save("in.npy", array)
        job = mov(padding_pre=[1, 2, 0], padding_post=[0, 1, 2], offset=[0, 1, 2],
                  sub_sample_step=[2, 1, 3], perm_dim=[2, 0, 1])
        self.write("job.json", job)
        fact, = self.facts("job.json")
        out, _ = execute(fact["plan"], array.tobytes(), fact["dst"]["bytes"])
        self.move(job)
        self.assertEqual(self.read("out.npy")[fact["dst"]["offset"]:], out)

    def test_raw_files_with_gaps(self):
        array = numpy.arange(4 * 5, dtype="<u2").reshape(4, 5)
        self.write("in.raw", b"head" + array.tobytes() + b"tail")
        job = mov(src={"file": "in.raw", "type": "fx16", "shape": [4, 5], "offset": 4},
                  dst={"file": "out.raw", "strides": [8, 1]}, dst_offset=[1, 2], offset=[1, 0])
        self.write("job.json", job)
        fact, = self.facts("job.json")
        self.assertEqual((fact["src"]["offset"], fact["src"]["bytes"], fact["src"]["range"]),
                         (4, 40, [10, 40]))
        self.assertEqual((fact["dst"]["strides"], fact["dst"]["range"]), ([8, 1], [20, 62]))
        out, _ = execute(fact["plan"], array.tobytes(), fact["dst"]["bytes"])
        self.move(job)
        self.assertEqual(self.read("out.raw"), out)

    def test_an_update_writes_a_part(self):
        self.save("in.npy", numpy.arange(6, dtype="i1").reshape(2, 3))
        self.save("out.npy", numpy.full((4, 7), 9, "i1"))
        job = mov(dst={"file": "out.npy", "update": True}, dst_offset=[1, 2])
        self.write("job.json", job)
        fact, = self.facts("job.json")
        self.assertEqual((fact["dst"]["shape"], fact["dst"]["bytes"]), ([4, 7], 28))
        self.assertEqual((fact["dst"]["first"], fact["dst"]["last"]), ([1, 2], [2, 4]))
        self.assertEqual((fact["dst"]["range"], fact["dst"]["touched"]), ([9, 19], 6))
        self.assertEqual(fact["steps"]["placed"], [3, 5])
        self.assertIn("into out.npy", self.explain("job.json").out)
        job = mov(dst={"file": "out.npy", "format": "raw", "update": True, "offset": 130})
        self.write("job.json", job)
        fact, = self.facts("job.json")
        self.assertEqual((fact["dst"]["offset"], fact["dst"]["bytes"]), (130, 26))

    def test_a_permute_is_explained_as_a_move(self):
        self.save("in.npy", numpy.zeros((3, 4, 5), "i1"))
        self.write("job.json", {"op": "permute", "src": {"file": "in.npy"},
                                "cfg": {"perm_dim": [2, 0, 1]}, "dst": {"file": "out.npy"}})
        fact, = self.facts("job.json")
        self.assertEqual((fact["op"], fact["steps"]["permuted"]), ("permute", [5, 3, 4]))

    def test_parameters_follow_their_dimension(self):
        self.save("in.npy", numpy.zeros((3, 4), "i1"))
        self.write("job.json", mov(src={"file": "in.npy", "type": "sa8", "axis": 0,
                                        "scale": [1, 2, 3]}, perm_dim=[1, 0]))
        fact, = self.facts("job.json")
        self.assertEqual((fact["src"]["axis"], fact["dst"]["axis"]), (0, 1))
        self.assertIn("parameters along dimension 1", self.explain("job.json").out)


class Command(Explain):
    def setUp(self):
        super().setUp()
        self.write_npy("in.npy", "<i2", (40, 50, 60))

    def chain(self):
        """Writes a file with three jobs, each of which reads the output of the job before it."""
        return self.write("job.json", [
            mov(dst="a.npy", name="first", perm_dim=[2, 0, 1]),
            mov(src="a.npy", dst="b.npy", name="7", after=["first"], size=[0, 3, 0]),
            mov(src="b.npy", dst="c.npy", after=["7"])])

    def test_jobs_read_outputs_of_earlier_jobs(self):
        facts = self.facts(self.chain())
        self.assertEqual([fact["src"]["shape"] for fact in facts],
                         [[40, 50, 60], [60, 40, 50], [60, 3, 50]])
        self.assertFalse(self.exists("a.npy"))

    def test_no_output_is_opened(self):
        """explain opens no output, also if its directory does not exist or accepts no files."""
        expected = self.facts(self.chain())
        for directory in "none", "none/../none/deep", "/proc":
            jobs = json.loads(self.read("job.json"))
            for job in jobs:
                out = f"{directory}/{job['dst']['file']}"
                job["dst"] = {"file": out, "params": out + ".json"}
            for job in jobs[1:]:
                job["src"]["file"] = f"{directory}/{job['src']['file']}"
            self.write("there.json", jobs)
            before = self.listing()
            for more in [], ["--job", "0", "--svg", "-"], ["--c"], ["--profile", "vpx5-nsim"]:
                self.explain("there.json", *more)
            facts = self.facts("there.json")
            self.assertEqual(*([[fact[key] for key in ("steps", "plan", "axes")] for fact in run]
                               for run in (facts, expected)))
            self.assertEqual(self.listing(), before)

    def test_outputs_of_directories_that_do_not_exist_are_distinct(self):
        same = {"file": "none/out.npy", "params": "none/out.npy"}
        self.assertIn("is the same file as dst.file",
                      self.explain(self.write("job.json", mov(dst=same)), code=2).err)
        self.write("job.json", [mov(dst="none/a.npy"), mov(src="none/deep/a.npy", dst="b.npy")])
        self.assertIn("[1].src.file: none/deep/a.npy", self.explain("job.json", code=2).err)

    def test_one_job(self):
        job = self.chain()
        for name, pointer in ("first", "/0"), ("7", "/1"), ("0", "/0"), ("1", "/1"), ("2", "/2"):
            fact, = self.facts(job, "--job", name)
            self.assertEqual(fact["pointer"], pointer, name)
        for name in "3", "", "second", "-1", "0x1", "1 ", "99999999999999999999999":
            result = self.explain(job, f"--job={name}", code=2)
            self.assertIn(f"--job {name}: no file has a job", result.err)
            self.assertEqual(result.out, "")

    def test_other_jobs_may_be_wrong(self):
        self.write("job.json", [mov(dst="a.npy"), mov(src="none.npy", name="bad"),
                                mov(dst="b.npy", name="waits", after=["bad"])])
        self.assertEqual(len(self.facts("job.json", "--job", "0")), 1)
        result = self.explain("job.json", "--job", "waits", code=2)
        self.assertIn('"bad" failed', result.err)
        self.assertEqual(len(result.err.splitlines()), 1)
        self.assertEqual(len(self.facts("job.json", code=2)), 3)

    def test_a_job_is_refused_as_by_validate(self):
        self.write("job.json", [mov(offset=[0, 50, 0]), mov(src="none.npy")])
        for style in [], ["--json"]:
            ours = self.explain(*style, "job.json", code=2)
            theirs = self.ctl("validate", *style, "job.json", code=2)
            self.assertEqual((ours.err, ours.out), (theirs.err, theirs.out))

    def test_an_expected_refusal_passes(self):
        bad = mov(offset=[0, 50, 0], expect={"error": "MLI_STATUS_BAD_FUNC_CFG"})
        self.write("job.json", [bad, mov(dst="a.npy", expect={"error": "CANCELLED"}),
                                mov(src="a.npy")])
        for style in [], ["--json"]:
            ours = self.explain(*style, "job.json", "--job", "0")
            self.write("one.json", [bad])
            theirs = self.ctl("validate", *style, "one.json", code=0)
            self.assertEqual(ours.out, theirs.out.replace("one.json", "job.json"))
        self.assertEqual(len(self.facts("job.json", "--job", "1")), 1)
        self.assertIn("a.npy", self.explain("job.json", "--job", "2", code=2).err)

    def test_channels_and_engines(self):
        self.write("job.json", mov(channels=2, sub_sample_step=[2, 1, 1]))
        part, other = self.facts("job.json", "-e", "threads")[0]["channels"]
        self.assertEqual(part["bytes"] + other["bytes"], 20 * 50 * 60 * 2)
        self.assertEqual(len(self.facts("job.json", "-e", "threads:tiny=100000")[0]["channels"]), 1)
        self.assertEqual(len(self.facts("job.json", "-e", "inline", "-c", "4")[0]["channels"]), 4)
        one, = self.facts("job.json", "-e", "mock:loops=0", "-c", "1")[0]["channels"]
        self.assertEqual((one["rows"], one["descriptors"]), (20, 20))
        one, = self.facts("job.json", "-e", "mock", "-c", "1")[0]["channels"]
        self.assertEqual((one["rows"], one["descriptors"]), (20, 1))
        text = self.explain("job.json", "-e", "threads:tiny=100000", "-c", "3").out
        self.assertIn("3 channels are requested, but only 1 is worth using", text)
        text = self.explain("job.json", "-e", "threads:tiny=1000000").out
        self.assertIn("the thread that starts a transfer also moves the data", text)
        for engine in "", "nothing", "threads:depth=1":
            ours = self.explain("job.json", "--json", "-e", engine, code=2)
            self.assertRegex(ours.err, "^mlictl: --engine: ")
            self.assertEqual(ours.json[0]["exit"], 2)

    def test_misuse(self):
        for line in "", "job.json -c 0", "job.json -c 17", "job.json -c x", "--job", "- -":
            result = self.explain(*line.split(), code=2)
            self.assertRegex(result.err, r"^mlictl: \S", line)
            self.assertEqual(result.out, "")

    def test_no_picture_removes_the_picture(self):
        self.write("job.json", mov(size=[2, 2, 2]))
        text = self.explain("job.json").out
        numbers = self.explain("job.json", "--no-picture").out
        self.assertTrue(text.startswith(numbers + "\n"))
        self.assertIn("moved", text[len(numbers):])

    def test_views(self):
        self.write_npy("hwc.npy", "|i1", (5, 6, 3))
        self.write("job.json", mov("hwc.npy", perm_dim=[2, 0, 1]))
        for words, source, destination in (
                ([], "[:, :, 0]", "[0, :, :]"), (["--view", "0,1"], "[:, :, 0]", "[0, :, :]"),
                (["--view", "1,2"], "[0, :, :]", "[:, 0, :]"), (["--view=-2,-1"], "[0, :, :]", "[:, 0, :]"),
                (["--view", "HWC:HCW"], "[:, :, 0]", "[:, 0, :]"),
                (["--view", "1,2:1,2"], "[0, :, :]", "[0, :, :]")):
            planes = re.compile(r"\[[:\d], [:\d], [:\d]\]")
            titles = planes.findall(self.explain("job.json", *words).out)
            self.assertEqual(titles[0], source)
            self.assertIn(destination, titles)
            self.drawn("job.json", "--svg", "a.svg", *words)
            self.assertLessEqual({source, destination},
                                 set(planes.findall(self.read("a.svg").decode())))
            os.unlink(self.path("a.svg"))
        result = self.explain("job.json", "--view", "0,3", code=2)
        self.assertEqual(result.err, "mlictl: job.json: --view 0,3: two different dimensions from 0 to "
                         "2 are required, for rows and columns, as in 0,1\n")
        for layout, letter in (("HHW", "H"), ("hWw", "W"), ("HWC:HWW", "W")):
            result = self.explain("job.json", "--view", layout, code=2)
            self.assertIn(f" has the letter {letter} twice\n", result.err)

    def test_colours(self):
        self.write("job.json", mov(size=[2, 2, 2]))
        plain = self.explain("job.json").out
        self.assertNotIn("\033", plain)
        coloured = self.explain("job.json", "--color", "always").out
        self.assertIn("\033[", coloured)
        self.assertEqual(re.sub(r"\033\[[0-9;]*m", "", coloured), plain)
        for words in (["--color", "never"], ["--color", "auto"], ["--json", "--color", "always"]):
            self.assertNotIn("\033", self.explain("job.json", *words).out)
        self.assertIn("auto, always or never is needed",
                      self.explain("job.json", "--color", "red", code=2).err)

    def drawn(self, *arguments, **more):
        """Checks that the drawings of a command are XML, and returns them."""
        before = self.listing()
        self.explain("-q", *arguments, **more)
        files = {name: content for name, content in self.listing().items() if name not in before}
        for name, content in files.items():
            root = xml.etree.ElementTree.fromstring(content)
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg", name)
        self.assertEqual({name: content for name, content in self.listing().items()
                          if name not in files}, before)
        return sorted(files)

    def test_drawings_have_unique_names(self):
        self.write("one.json", mov())
        self.assertEqual(self.drawn("one.json", "--svg", "one.svg"), ["one.svg"])
        self.write("many.json", [mov(name="left", dst="a.npy"), mov(dst="b.npy"),
                                 mov(name="1", dst="c.npy")])
        self.assertEqual(self.drawn("many.json", "--svg", "m.svg"),
                         ["m-1.svg", "m-left.svg", "m.1.svg"])
        self.assertEqual(self.drawn("many.json", "--svg=x.svg", "--job=left"), ["x.svg"])
        self.assertEqual(self.drawn("one.json", "many.json", "--svg", "all.d.svg"),
                         ["all.d.0.0.svg", "all.d.1-1.svg", "all.d.1-left.svg", "all.d.1.1.svg"])
        (self.dir / "dir.d").mkdir()
        self.assertEqual(self.drawn("many.json", "--svg", "dir.d/x"),
                         ["dir.d/x-1", "dir.d/x-left", "dir.d/x.1"])
        self.assertEqual(self.drawn("one.json", "--svg", ".hidden"), [".hidden"])

    def test_a_drawing_is_alone_on_stdout(self):
        self.write("job.json", mov())
        text = self.explain("job.json", "--svg", "-").out
        self.assertTrue(xml.etree.ElementTree.fromstring(text).tag.endswith("svg"))
        self.drawn("job.json", "--svg", "file.svg")
        self.assertEqual(self.read("file.svg").decode(), text)
        self.assertIn("takes one drawing, not 3", self.explain(self.chain(), "--svg", "-", code=2).err)
        self.assertIn("both", self.explain("job.json", "--json", "--svg", "-", code=2).err)
        self.assertIn("--svg", self.explain("job.json", "--svg", "", code=2).err)

    def test_a_drawing_overwrites_no_file_of_its_job(self):
        self.write("job.json", mov())
        os.link(self.path("in.npy"), self.path("link.svg"))
        before = self.listing()
        for path in "job.json", "in.npy", "out.npy", "link.svg", "./in.npy":
            result = self.explain("job.json", "--svg", path, code=2)
            self.assertIn("is a file of the job", result.err)
        result = self.explain("job.json", "--json", "--svg", "none/x.svg", code=2)
        self.assertEqual(result.json[1]["file"], "none/x.svg")
        self.assertEqual(self.listing(), before)

    def test_no_memcpy_skips_the_measurement(self):
        self.write("job.json", mov())
        fact, = self.ctl("explain", "--json", "job.json", code=0).json
        self.assertGreater(fact["memcpy_ns"], 0)
        self.assertLess(fact["memcpy_ns"], 10 ** 9)
        self.assertIn("memcpy of 234 KiB takes", self.ctl("explain", "job.json", code=0).out)
        self.assertNotIn("memcpy_ns", self.facts("job.json")[0])
        self.assertNotIn("memcpy", self.explain("job.json").out)

    def test_quiet(self):
        self.write("job.json", mov())
        self.assertEqual(self.explain("-q", "job.json").out, "")
        self.assertEqual(len(self.facts("-q", "job.json")), 1)

    def test_names_are_escaped_on_a_terminal(self):
        os.rename(self.path("in.npy"), self.path("\x1b[31min\n.npy"))
        self.write("job.json", mov(src="\x1b[31min\n.npy", dst="\x9bout.npy"))
        text = self.explain("job.json").out
        self.assertEqual(text.splitlines()[0],
                         "job.json: mov ?[31min?.npy -> ?out.npy, fx16")

    def test_the_same_job_gives_the_same_text(self):
        self.write("job.json", mov(padding_pre=[1, 1, 1]))
        self.assertEqual(self.explain("job.json").out, self.explain("job.json").out)

    def test_full_output_is_an_error(self):
        self.write("job.json", mov())
        with open("/dev/full", "w") as full:
            done = subprocess.run([MLICTL, "explain", self.path("job.json")], stdout=full,
                                  stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_large_moves_are_explained_without_their_data(self):
        with open(self.path("large.raw"), "wb") as large:
            large.truncate(3 << 30)
        self.write("job.json", mov(src={"file": "large.raw", "type": "fx8",
                                        "shape": [3, 1 << 15, 1 << 15]},
                                   dst="large.npy", perm_dim=[2, 1, 0]))
        fact, = self.ctl("explain", "--json", "job.json", "-e", "mock:loops=0", code=0).json
        self.assertEqual(fact["plan"]["bytes"], 3 << 30)
        self.assertEqual(fact["channels"][0]["descriptors"], 3 << 30)

    @unittest.skipUnless(shutil.which("valgrind"), "there is no valgrind")
    def test_under_valgrind(self):
        self.chain()
        self.write("bad.json", mov(offset=[0, 50, 0]))
        for job, code in ("job.json", 0), ("bad.json", 2):
            for style in [], ["--json"]:
                done = subprocess.run(
                    ["valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", MLICTL,
                     "explain", *style, self.path(job)], capture_output=True)
                if b"Sanitizer" in done.stderr or b"ASan" in done.stderr:
                    self.skipTest("valgrind and sanitizers do not go together")
                self.assertEqual(done.returncode, code, done.stderr.decode())


class Examples(Explain):
    """Compares the examples' expected texts. The kernels are plain C, which every machine has."""

    def setUp(self):
        super().setUp()
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, self.dir], check=True,
                       stdout=subprocess.DEVNULL)

    def test_golden(self):
        goldens = sorted(GOLDEN.glob("*.txt"))
        self.assertGreaterEqual(len(goldens), 6)
        for golden in goldens:
            with self.subTest(job=golden.stem):
                job, = self.dir.rglob(golden.stem + ".json")
                text = self.printed(job)
                if os.environ.get("MLI_UPDATE_GOLDEN"):
                    golden.write_text(text)
                self.assertEqual(text, golden.read_text())

    def printed(self, job):
        process = subprocess.run([MLICTL, "explain", "--no-memcpy", "--no-picture",
                                  job.name], cwd=job.parent,
                                 text=True, capture_output=True,
                                 env=dict(self.environment(), MLI_CPU_MASK="0"))
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return process.stdout


if __name__ == "__main__":
    main()
