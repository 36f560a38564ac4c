#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples: they do what their READMEs describe, and `run` and `submit` write the same bytes."""
import json
import re
import subprocess

from harness import MLICTL, SOURCE, Case, main, needs_numpy, numpy

EXAMPLES = SOURCE / "examples"
FOLDERS = sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))
JOBS = sorted(path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.glob("*/*.json"))
# The only one of the negative examples that can be run.
RUNNING = [job for job in JOBS if not job.startswith("negative/") or "just_fits" in job]


class Examples(Case):
    def setUp(self):
        super().setUp()
        self.make(self.dir)

    def make(self, directory):
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, directory], check=True)

    def test_readmes_describe_each_example(self):
        readme = (EXAMPLES / "README.md").read_text()
        self.assertEqual(sorted(set(re.findall(r"^\| \[`(\w+)`\]", readme, re.M))), FOLDERS)
        for job in JOBS:
            folder, name = job.split("/")
            self.assertIn(f"`{name}`", (EXAMPLES / folder / "README.md").read_text(), job)

    def test_all_are_valid_and_run(self):
        self.ctl("validate", *RUNNING, code=0)
        result = self.ctl("run", "--json", *RUNNING, code=0)
        self.assertEqual({fact["state"] for fact in result.json}, {"done"})

    def test_run_and_submit_write_the_same_bytes(self):
        with_daemon = self.dir / "submit"
        self.make(with_daemon)
        for name in RUNNING:
            before = self.listing().keys()
            self.ctl("run", name, code=0)
            self.submit("submit/" + name, code=0)
            written = self.listing().keys() - before
            outputs = [p for p in written if not p.startswith("submit/")]
            self.assertTrue(outputs or name == "space_to_depth/blocks.json", name)
            self.assertEqual(sorted(written), sorted(outputs + ["submit/" + p for p in outputs]))
        for path in self.dir.glob("*/*.*"):
            if path.parent.parent == self.dir and path.parent != with_daemon:
                there = with_daemon / path.relative_to(self.dir)
                self.assertEqual(path.read_bytes(), there.read_bytes(), path)

    def test_batch_runs_all_examples(self):
        before = self.listing()
        for where in ([], ["--socket", self.daemon.socket]):
            done = self.ctl("batch", "--json", *where, ".", code=0)
            cases = {e["name"]: e["status"] for e in done.json if e["event"] == "case"}
            self.assertEqual(cases, {job.removesuffix(".json"): "passed" for job in JOBS})
        self.assertEqual(self.listing(), before)

    def test_make_inputs_requires_two_arguments(self):
        done = subprocess.run([EXAMPLES / "make_inputs.sh"], capture_output=True)
        self.assertEqual(done.returncode, 2)


class Pictures(Case):
    """The pictures in the READMEs are equal to those that explain draws."""

    def test_pictures(self):
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, self.dir], check=True)
        for folder in FOLDERS:
            shown = re.findall(r"^!\[.*\]\((.*)\)$", (EXAMPLES / folder / "README.md").read_text(),
                               re.M)
            self.assertEqual(sorted(shown),
                             sorted(path.name for path in (EXAMPLES / folder).glob("*.svg")))
            self.assertTrue(shown, folder)
            for name in shown:
                job, dash, part = name.removesuffix(".svg").partition("-")
                which = ["--job", part] if dash else []
                drawn = f"{folder}/{name}"
                self.ctl("explain", *which, "--svg", drawn, f"{folder}/{job}.json", code=0)
                self.assertEqual((self.dir / drawn).read_text(), (EXAMPLES / drawn).read_text(),
                                 "examples/draw_pictures.sh makes it anew")


@needs_numpy
class WithNumpy(Case):
    """Compares the examples with NumPy."""

    def setUp(self):
        super().setUp()
        subprocess.run([EXAMPLES / "make_inputs.sh", MLICTL, self.dir], check=True)

    def check(self, job, **wanted):
        self.ctl("run", job, code=0)
        for name, value in wanted.items():
            out = self.load(job.split("/")[0] + "/" + name)
            self.assertEqual((out.dtype, out.shape), (value.dtype, value.shape))
            numpy.testing.assert_array_equal(out, value)

    def load(self, name):
        return numpy.load(self.path(name + ".npy"))

    def params(self, name):
        return json.loads(self.read(f"weights/{name}_nhwc.quant"))

    def test_basics(self):
        features, small = self.load("basics/features_hwc"), self.load("basics/map_chw")
        self.check("basics/copy.json", copy=features)
        self.check("basics/slice.json", slice=features[2:6, 3:8])
        self.check("basics/subsample.json", subsample=features[::2, ::3])
        self.check("basics/permute_hwc_to_chw.json",
                   image_chw=self.load("basics/image_hwc").transpose(2, 0, 1))
        self.check("basics/pad.json", pad=numpy.pad(small, ((0, 0), (1, 1), (2, 2))))
        padded = numpy.pad(small, ((0, 0), (1, 1), (1, 1)))
        self.check("basics/combined.json", combined=padded[1:3, ::2, 0:7:2].transpose(1, 2, 0))

    def test_halo_tiles(self):
        padded = numpy.pad(self.load("halo_tiles/map_chw"), ((0, 0), (1, 1), (1, 1)))
        self.check("halo_tiles/tiles.json", **{
            f"tile_{i}_{j}": padded[:, 3 * i:3 * i + 5, 3 * j:3 * j + 5]
            for i in range(3) for j in range(3)})

    def test_nhwc_nchw(self):
        images = self.load("nhwc_nchw/images_nhwc")
        self.check("nhwc_nchw/to_nchw.json", images_nchw=images.transpose(0, 3, 1, 2))
        self.check("nhwc_nchw/there_and_back.json", back=images)

    def test_concat(self):
        self.check("concat/maps.json", both_hwc=numpy.concatenate(
            [self.load("concat/left_hwc"), self.load("concat/right_hwc")], axis=1))

    def test_space_to_depth(self):
        image = self.load("space_to_depth/image_hwc")
        self.check("space_to_depth/blocks.json", blocks_hwc=image.reshape(
            16, 2, 16, 2, 3).transpose(0, 2, 1, 3, 4).reshape(16, 16, 12))

    def test_double_buffer(self):
        padded = numpy.pad(self.load("double_buffer/map_hwc"), ((1, 1), (1, 1), (0, 0)))
        self.check("double_buffer/tile.json",
                   tile_2_3=padded[32:50, 48:66].transpose(2, 0, 1))

    def test_weights(self):
        weights = self.load("weights/weights_hwcn").transpose(3, 0, 1, 2)
        self.check("weights/fixed_point.json", fixed_point_nhwc=self.load(
            "weights/weights_hwcn_16").transpose(3, 0, 1, 2))
        self.assertEqual(self.params("fixed_point"), {"type": "fx16", "frac_bits": 11})
        self.check("weights/per_tensor.json", per_tensor_nhwc=weights)
        self.assertEqual(self.params("per_tensor"), {
            "type": "sa8", "scale": 20215, "scale_frac_bits": 23, "zero_point": -4})
        self.check("weights/per_axis.json", per_axis_nhwc=weights)
        job = json.loads(self.read("weights/per_axis.json"))
        params = self.params("per_axis")
        self.assertEqual((params["axis"], params["scale"]), (0, job["src"]["scale"]))


if __name__ == "__main__":
    main()
